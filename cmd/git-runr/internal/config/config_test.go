package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

func repoConfig(t *testing.T, file string) *Config {
	t.Helper()
	return loaded(t, input{RepoFile: []byte(file), RepoPath: ".runr.toml"})
}

func loaded(t *testing.T, in input) *Config {
	t.Helper()
	c, err := load(in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConfigDefaults(t *testing.T) {
	c := loaded(t, input{})
	want := defaults()
	want.Loop.Reviewer, want.Review.Reviewer = "builtin", "builtin"
	want.Loop.Workflow = []string{"implement", "check", "review"}
	want.Loop.MaxRetries, want.Loop.OnExhausted, want.Loop.Profile, want.Loop.Threshold = 2, runplan.ChoiceAsk, "balanced",
		runplan.ThresholdVerdict
	want.Scope.Allow, want.Scope.Deny, want.Review.Exclude = []string{}, []string{}, []string{}
	want.Review.DetectChecks, want.Review.MaxBytes = true, 400<<10
	want.Hooks.PostCommit, want.Hooks.Debounce = "review", 0
	want.Inbox.Retention = duration.Duration(30 * 24 * time.Hour)
	want.Sync.Notes = true
	for _, part := range [][2]any{{c.Loop, want.Loop}, {c.Scope, want.Scope}, {c.Review, want.Review},
		{c.Hooks, want.Hooks}, {c.Inbox, want.Inbox}, {c.Sync, want.Sync}} {
		if !reflect.DeepEqual(part[0], part[1]) {
			t.Errorf("got %+v, want %+v", part[0], part[1])
		}
	}
	if c.Loop.Implementer != "" || len(c.checks)+len(c.agents)+len(c.steps) > 0 || c.executables() != nil {
		t.Errorf("something is configured: %+v", c)
	}
	if from := c.origin("loop.reviewer"); from != "default" {
		t.Errorf("origin %q", from)
	}
}

func TestConfigTableHoldsTogether(t *testing.T) {
	for _, k := range keys {
		c := loaded(t, input{})
		c.begin("agents", "x")
		c.begin("steps", "x")
		var doc map[string]any
		if _, err := toml.Decode("x = "+cmp.Or(k.def, `"x"`), &doc); err != nil || !k.take(c, "x", doc["x"]) && k.def != "" {
			t.Errorf("%s: default %s is not %s (%v)", k.name, k.def, k.wants, err)
		}
		taken := k.def != "" // every key finds its field with a value of its kind
		for _, value := range []any{"codex", "off", "acp", "/x", "1m", int64(5000), int64(1), true, []any{"x"}} {
			taken = k.take(c, "x", value) || taken
		}
		if !taken {
			t.Errorf("%s takes no value", k.name)
		}
	}
	if agent.DefaultTimeout != 30*time.Minute {
		t.Error("the default timeout of agents is another than the table says")
	}
}

// begin creates the tables in which keys of named tables are set.
func (c *Config) begin(section, name string) {
	f := file{Config: c}
	f.begin(section, name)
}

// wholeConfig sets every key.
const wholeConfig = `
[loop]
implementer = "codex"
reviewer = "claude"
workflow = ["implement", "tests", "security", "review"]
max_retries = 3
on_exhausted = "stop"
profile = "quality"
threshold = "warning"

[steps.tests]
check = ["test", "lint"]
[steps.security]
agent = "mine"
prompt = "look for holes"
review = true

[agents.mine]
command = ["my-agent", "--flag"]
timeout = "20m"
idle_timeout = "1m"
env = ["MY_API_KEY"]
models = { quality = "big", balanced = "middle", budget = "small" }
[agents.codex]
preset = "codex"
timeout = "5m"

[checks.test]
command = "npm test"
match = ["unit"]
timeout = "90s"
[checks.lint]
command = "npm run lint"

[scope]
allow = ["src/**"]
deny = "**/*.lock"

[review]
reviewer = "human"
exclude = ["vendor/**"]
detect_checks = false
max_bytes = 5000

[hooks]
post_commit = "off"
debounce = "3s"

[inbox]
retention = "7d"

[sync]
remote = "up/stream"
notes = false
`

func TestConfigWhole(t *testing.T) {
	c := repoConfig(t, wholeConfig)
	if c.Loop.Implementer != "codex" || c.Loop.Reviewer != "claude" || c.Loop.MaxRetries != 3 ||
		c.Loop.OnExhausted != runplan.ChoiceStop ||
		c.Loop.Profile != "quality" || c.Loop.Threshold != runplan.ThresholdWarning {
		t.Errorf("loop: %+v", c.Loop)
	}
	if !slices.Equal(c.Scope.Allow, []string{"src/**"}) || !slices.Equal(c.Scope.Deny, []string{"**/*.lock"}) {
		t.Errorf("scope: %+v", c.Scope)
	}
	if c.Review.Reviewer != "human" || c.Review.DetectChecks || c.Review.MaxBytes != 5000 ||
		!slices.Equal(c.Review.Exclude, []string{"vendor/**"}) {
		t.Errorf("review: %+v", c.Review)
	}
	if c.Hooks.PostCommit != "off" || c.Hooks.Debounce != duration.Duration(3*time.Second) ||
		c.Inbox.Retention != duration.Duration(7*24*time.Hour) || c.Sync.Remote != "up/stream" || c.Sync.Notes {
		t.Errorf("hooks %+v, inbox %+v, sync %+v", c.Hooks, c.Inbox, c.Sync)
	}
}

func TestConfigAgents(t *testing.T) {
	c := repoConfig(t, wholeConfig)
	mine, fromRepository, known := c.agent("mine")
	want := agent.Spec{
		Name: "mine", Command: []string{"my-agent", "--flag"}, Timeout: 20 * time.Minute, Idle: time.Minute,
		Env:    []string{"MY_API_KEY"},
		Models: map[string]string{"quality": "big", "balanced": "middle", "budget": "small"},
	}
	if !reflect.DeepEqual(mine, want) || !fromRepository || !known {
		t.Errorf("mine: %+v, %v, %v", mine, fromRepository, known)
	}
	codex, fromRepository, known := c.agent("codex")
	if codex.Preset != "codex" || codex.Timeout != 5*time.Minute || fromRepository || !known {
		t.Errorf("a preset with a timeout needs no trust: %+v, %v, %v", codex, fromRepository, known)
	}
	if pi, fromRepository, known := c.agent("pi"); pi.Name != "pi" || fromRepository || !known {
		t.Errorf("pi: %+v, %v, %v", pi, fromRepository, known)
	}
	for _, name := range []string{"nobody", "human", "builtin", ""} {
		if _, _, known := c.agent(name); known {
			t.Errorf("%q is an agent", name)
		}
	}
}

func TestConfigChecksKeepTheirOrder(t *testing.T) {
	c := repoConfig(t,
		"[checks.zeta]\ncommand=\"z\"\n[checks.alpha]\ncommand=\"a\"\n[checks.\"test:some/dir\"]\ncommand=\"t\"\n")
	var names []string
	for _, check := range c.checks {
		names = append(names, check.Name)
	}
	if want := []string{"zeta", "alpha", "test:some/dir"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func TestConfigCheck(t *testing.T) {
	got := repoConfig(t, wholeConfig).checks[0]
	want := runplan.Check{Name: "test", Command: "npm test", Match: []string{"unit"},
		Timeout: duration.Duration(90 * time.Second)}
	if !reflect.DeepEqual(got.Check, want) || !got.fromRepository {
		t.Errorf("got %+v, want %+v from the repository", got, want)
	}
}

func TestConfigPolicy(t *testing.T) {
	got, err := repoConfig(t, wholeConfig).policy()
	if err != nil {
		t.Fatal(err)
	}
	want := runplan.Policy{MaxRetries: 3, Threshold: runplan.ThresholdWarning, OnExhausted: runplan.ChoiceStop,
		Workflow: []runplan.WorkStep{
			{Name: "implement", Kind: runplan.StepAgent},
			{Name: "tests", Kind: runplan.StepCheck, Checks: []string{"test", "lint"}},
			{Name: "security", Kind: runplan.StepReview, Agent: "mine", Prompt: "look for holes"},
			{Name: "review", Kind: runplan.StepReview},
		}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestConfigPolicyErrors(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"no such step", "loop.workflow = [\"implement\", \"polish\"]",
			`loop.workflow (.runr.toml): there is no step "polish"`},
		{"twice", "loop.workflow = [\"review\", \"review\"]", `loop.workflow (.runr.toml): step "review" is listed twice`},
		{"none", "loop.workflow = []", `loop.workflow (.runr.toml) has no steps`},
		{"no such check", "loop.workflow = [\"s\"]\n[steps.s]\ncheck = \"test\"",
			`steps.s (.runr.toml): there is no check "test"`},
		{"no such agent", "loop.workflow = [\"s\"]\n[steps.s]\nagent = \"clade\"",
			`steps.s: there is no agent "clade"; did you mean "claude"?`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := repoConfig(t, tt.file).policy()
			var p *exit.Problem
			if !errors.As(err, &p) || p.Msg != tt.want || p.Status != exit.Usage {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestConfigKnownAgent(t *testing.T) {
	c := repoConfig(t, wholeConfig)
	for _, name := range []string{"mine", "codex", "gemini", "builtin", "human"} {
		if err := c.KnownAgent("--reviewer", name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var p *exit.Problem
	if err := c.KnownAgent("--reviewer", "x\x1b"); !errors.As(err, &p) || p.Status != exit.Usage ||
		p.Msg != `--reviewer: there is no agent "x\x1b"` ||
		p.Hint[0] != "agents are aider, amp, builtin, claude, codex, copilot, cursor-agent, droid, gemini, goose, human, "+
			"kilo, mine, opencode, pi, qwen" {
		t.Errorf("got %+v", p)
	}
}

func TestConfigErrors(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"unknown key", "[loop]\n\nmax_retrys = 1",
			`.runr.toml:3: unknown key "loop.max_retrys"; did you mean "max_retries"?`},
		{"key of another section", "[loop]\ndebounce = \"1s\"",
			`.runr.toml:2: unknown key "loop.debounce"; did you mean "hooks.debounce"?`},
		{"nothing like it", "[loop]\nqqqqqqqq = 1", `.runr.toml:2: unknown key "loop.qqqqqqqq"`},
		{"case counts", "[Loop]\nreviewer = \"x\"", `.runr.toml:1: unknown key "Loop"; did you mean "loop"?`},
		{"unknown section", "\n[lop]\n", `.runr.toml:2: unknown key "lop"; did you mean "loop"?`},
		{"unknown section by its subtable", "\n\n[lop.x]\na=1", `.runr.toml:3: unknown key "lop"; did you mean "loop"?`},
		{"unknown key of an agent", "[agents.a]\ncommand=[\"x\"]\ntimout=\"1m\"",
			`.runr.toml:3: unknown key "agents.a.timout"; did you mean "timeout"?`},
		{"unknown profile", "[agents.a]\ncommand=[\"x\"]\nmodels = {\n  huge = \"x\" }",
			`.runr.toml:4: unknown key "agents.a.models.huge"`},
		{"first mistake first", "[sync]\nx = 1\n[loop]\ny = 1", `.runr.toml:2: unknown key "sync.x"`},
		{"wrong type", "[loop]\nmax_retries = \"two\"",
			`.runr.toml:2: "loop.max_retries" must be a whole number from 0 to 100, not "two"`},
		{"negative", "[loop]\nmax_retries = -1",
			`.runr.toml:2: "loop.max_retries" must be a whole number from 0 to 100, not -1`},
		{"fraction", "[loop]\nmax_retries = 1.5",
			`.runr.toml:2: "loop.max_retries" must be a whole number from 0 to 100, not 1.5`},
		{"enum", "[hooks]\npost_commit = \"on\"", `.runr.toml:2: "hooks.post_commit" must be "review" or "off", not "on"`},
		{"dotted key", "loop.profile = \"best\"",
			`.runr.toml:1: "loop.profile" must be "quality", "balanced" or "budget", not "best"`},
		{"bool", "[sync]\nnotes = \"yes\"", `.runr.toml:2: "sync.notes" must be true or false, not "yes"`},
		{"list of numbers", "[scope]\nallow = [1]", `.runr.toml:2: "scope.allow" must be a list of text, not this list`},
		{"duration without unit", "[inbox]\nretention = \"30\"",
			`.runr.toml:2: "inbox.retention" must be a duration above 0 such as "90s", "10m", "2h" or "30d", not "30"`},
		{"duration as number", "[hooks]\ndebounce = 3",
			`.runr.toml:2: "hooks.debounce" must be a duration such as "90s", "10m", "2h" or "30d", not 3`},
		{"no duration at all", "[inbox]\nretention = \"0s\"",
			`.runr.toml:2: "inbox.retention" must be a duration above 0 such as "90s", "10m", "2h" or "30d", not "0s"`},
		{"date", "[inbox]\nretention = 2026-01-02",
			`.runr.toml:2: "inbox.retention" must be a duration above 0 such as "90s", "10m", "2h" or "30d", not a date or time`},
		{"command with quotes", "[agents.a]\ncommand = \"my-agent 'a'\"",
			`.runr.toml:2: "agents.a.command" must be words such as "my-agent --flag", or a list such as ["my-agent", "--flag"] if they have quotes or shell characters, not "my-agent 'a'"`},
		{"value in env", "[agents.a]\ncommand=[\"x\"]\nenv=[\"A=b\"]",
			`.runr.toml:3: "agents.a.env" must be a list of names of environment variables, without values, not this list`},
		{"model as option", "[agents.codex]\nmodels.quality=\"--yolo\"",
			`.runr.toml:2: "agents.codex.models.quality" must be the name of a model, not "--yolo"`},
		{"remote as URL", "[sync]\nremote=\"https://evil.example/x\"",
			`.runr.toml:2: "sync.remote" must be the name of a configured remote, not "https://evil.example/x"`},
		{"remote as path", "[sync]\nremote=\"a/../../x\"",
			`.runr.toml:2: "sync.remote" must be the name of a configured remote, not "a/../../x"`},
		{"section as value", "loop = 1", `.runr.toml:1: "loop" must be a table, not 1`},
		{"list of tables", "[[checks]]\nname = \"x\"",
			`.runr.toml:1: "checks" must be a table, not a list of tables: write one pair of brackets`},
		{"table as value", "[loop.reviewer]\nx = 1",
			`.runr.toml:1: "loop.reviewer" must be a name, or NAME@MODEL, not a table`},
		{"agent as value", "[agents]\nmine = \"x\"", `.runr.toml:2: "agents.mine" must be a table, not "x"`},
		{"reserved agent", "[agents.human]\ncommand=[\"x\"]",
			`.runr.toml:1: agent "human" is built in and cannot be redefined`},
		{"built-in step", "[steps.review]\nagent=\"x\"", `.runr.toml:1: step "review" is built in and cannot be redefined`},
		{"bad name", "[agents.\"a b\"]\ncommand=[\"x\"]",
			`.runr.toml:1: agent "a b" is not a name: letters, digits, dots, underscores and dashes, at most 100`},
		{"empty agent", "[agents.a]\n", `.runr.toml:1: "agents.a" needs a command or a preset`},
		{"preset under another's name", "[agents.claude]\npreset=\"pi\"",
			`.runr.toml:1: "agents.claude" has the name of another preset`},
		{"check without command", "\n[checks.a]\nmatch=\"x\"", `.runr.toml:2: "checks.a" needs a command`},
		{"empty step", "[steps.a]", `.runr.toml:1: "steps.a" needs an agent, a prompt or a check`},
		{"step of both kinds", "[steps.a]\ncheck=\"x\"\nagent=\"y\"",
			`.runr.toml:1: "steps.a" has a check, so it cannot have agent, prompt or review`},
		{"syntax", "[loop]\nreviewer = \n", `.runr.toml:2: expected value but found '\n' instead`},
		{"defined twice", "[loop]\nprofile='budget'\nprofile='quality'",
			`.runr.toml:3: Key 'loop.profile' has already been defined.`},
		{"not UTF-8", "a = '\xff'", `.runr.toml:1: invalid UTF-8 byte: 0xff`},
		{"NUL in a command", "[checks.a]\ncommand = \"a\\u0000b\"",
			`.runr.toml:2: "checks.a.command" must be a command line for sh, or a list of words, not "a\x00b"`},
		{"control characters in a key", "\"\\u001b[2K\\u202e\" = 1", `.runr.toml:1: unknown key "\x1b[2K\u202e"`},
		{"line feed in a value", "[hooks]\npost_commit = \"\"\"a\nb\"\"\"",
			`.runr.toml:3: "hooks.post_commit" must be "review" or "off", not "a\nb"`},
		{"long value", "[hooks]\npost_commit = \"" + strings.Repeat("é", 100) + "\"",
			`.runr.toml:2: "hooks.post_commit" must be "review" or "off", not "` + strings.Repeat("é", 60) + `…"`},
		{"large file", strings.Repeat("#\n", 1<<20), `.runr.toml: larger than 1 MiB`},
		{"many tables", manyChecks(1001), `.runr.toml:1: "checks" has more than 1000 entries`},
		{"deep keys", "\na" + strings.Repeat(".a", 10000) + " = 1",
			`.runr.toml:2: keys or brackets within more than 8 others`},
		{"deep brackets", "\n\na = " + strings.Repeat("[", 10000),
			`.runr.toml:3: keys or brackets within more than 8 others`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(input{RepoFile: []byte(tt.file), RepoPath: ".runr.toml"})
			var p *exit.Problem
			if !errors.As(err, &p) || p.Status != exit.Usage || p.Msg != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func manyChecks(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[checks.c%d]\ncommand = 'x'\n", i)
	}
	return b.String()
}

// Dots and brackets in strings and comments do not count as nesting.
func TestConfigNestingIsOfKeysOnly(t *testing.T) {
	marks := strings.Repeat("a.[{", 20)
	file := "# " + marks + "'''\n[scope]\nallow = [\"" + marks + "\", '" + marks + "']\n" +
		"[steps.a]\nprompt = \"\"\"" + marks + "\\\"\"\"\\\n" + marks + "\"\"\"\"\"\n" +
		"[steps.b]\nprompt = '''" + marks + "'\n" + marks + "'''\n[scope2]\n"
	_, err := load(input{RepoFile: []byte(file), RepoPath: "f"})
	if err == nil || err.Error() != `f:10: unknown key "scope2"; did you mean "scope"?` {
		t.Errorf("got %v", err)
	}
}

func TestConfigLayers(t *testing.T) {
	in := input{
		RepoPath: ".runr.toml",
		RepoFile: []byte("[loop]\nreviewer='r1'\nimplementer='i1'\nprofile='budget'\nmax_retries=1\n[scope]\ndeny=['a','b']"),
		UserPath: "/home/ann/config.toml",
		UserFile: []byte("[loop]\nimplementer='i2'\nprofile='quality'\nmax_retries=4\n[scope]\ndeny=['c']"),
		Git:      map[string][]string{"runr.loop.profile": {"budget", "balanced"}, "runr.loop.maxretries": {"5"}},
	}
	c := loaded(t, in)
	if err := c.SetFlag("loop", "max-retries", "6"); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		key       string
		got, want any
		origin    string
	}{
		{"loop.reviewer", c.Loop.Reviewer, "r1", ".runr.toml"},
		{"loop.implementer", c.Loop.Implementer, "i2", "user file /home/ann/config.toml"},
		{"scope.deny", strings.Join(c.Scope.Deny, " "), "c", "user file /home/ann/config.toml"},
		{"loop.profile", c.Loop.Profile, "balanced", "git config"},
		{"loop.max_retries", c.Loop.MaxRetries, 6, "flag"},
		{"loop.threshold", c.Loop.Threshold, runplan.ThresholdVerdict, "default"},
	}
	for _, tt := range tests {
		if tt.got != tt.want || c.origin(tt.key) != tt.origin {
			t.Errorf("%s is %v from %q, want %v from %q", tt.key, tt.got, c.origin(tt.key), tt.want, tt.origin)
		}
	}
}

// A user's table replaces the repository's table of the same name completely and needs no trust. In particular no
// environment variable of the repository's table reaches the user's command.
func TestConfigUserTableReplacesTheRepositorys(t *testing.T) {
	c := loaded(t, input{
		RepoPath: ".runr.toml",
		RepoFile: []byte(
			"[agents.mine]\ncommand=['evil']\nenv=['AWS_SECRET_ACCESS_KEY']\nmodels.quality='m'\n[checks.a]\ncommand='evil'\n" +
				"match=['x']\n[checks.b]\ncommand='b'"),
		UserPath: "user.toml",
		UserFile: []byte("[agents.mine]\ncommand=['good']\n[checks.a]\ncommand='good'"),
	})
	spec, fromRepository, _ := c.agent("mine")
	if want := (agent.Spec{Name: "mine", Command: []string{"good"}}); !reflect.DeepEqual(spec, want) || fromRepository {
		t.Errorf("agent is %+v, from repository %v", spec, fromRepository)
	}
	want := []checkTable{{Check: runplan.Check{Name: "a", Command: "good"}},
		{Check: runplan.Check{Name: "b", Command: "b"}, fromRepository: true}}
	if !reflect.DeepEqual(c.checks, want) {
		t.Errorf("checks are %+v", c.checks)
	}
	if from := c.origin("agents.mine"); from != "user file user.toml" {
		t.Errorf("agents.mine is from %q", from)
	}
	if from := c.origin("agents.mine.env"); from != "default" {
		t.Errorf("agents.mine.env is from %q", from)
	}
}

func TestConfigExecutables(t *testing.T) {
	got := string(repoConfig(t, wholeConfig).executables())
	want := `{"agents.mine":{"command":["my-agent","--flag"],"env":["MY_API_KEY"],"models.balanced":"middle","models.budget":"small","models.quality":"big"},` +
		`"checks.lint":{"command":"npm run lint"},"checks.test":{"command":"npm test"}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestConfigExecutablesAreTheRepositorysOnly(t *testing.T) {
	c := loaded(t, input{UserPath: "u", UserFile: []byte(wholeConfig), RepoPath: "r",
		RepoFile: []byte("[agents.codex]\ntimeout='1m'")})
	if got := c.executables(); got != nil {
		t.Errorf("got %s", got)
	}
	if _, fromRepository, _ := c.agent("mine"); fromRepository || c.checks[0].fromRepository {
		t.Error("the user's own commands need trust")
	}
}

func TestConfigGit(t *testing.T) {
	c := loaded(t, input{Git: map[string][]string{
		"runr.loop.Max-Retries": {"7"}, "runr.hooks.postcommit": {"off"}, "runr.review.exclude": {"a/**", "b c"},
		"runr.review.detectchecks": {"no"}, "runr.sync.notes": {"true"}, "runr.remote": {"upstream"},
		"runr.writer": {"abc"}, "runr.sign": {"true"}, "core.bare": {"false"}, "runrx.loop": {"x"},
	}})
	if c.Loop.MaxRetries != 7 || c.Hooks.PostCommit != "off" || c.Review.DetectChecks || !c.Sync.Notes ||
		c.Sync.Remote != "upstream" {
		t.Errorf("got %+v %+v %+v %+v", c.Loop, c.Hooks, c.Review, c.Sync)
	}
	if !slices.Equal(c.Review.Exclude, []string{"a/**", "b c"}) {
		t.Errorf("exclude is %q", c.Review.Exclude)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings: %q", c.Warnings)
	}
}

func TestConfigGitErrors(t *testing.T) {
	tests := []struct{ key, value, want string }{
		{"runr.loop.maxretries", "many", `git config runr.loop.maxretries: must be a whole number from 0 to 100, not "many"`},
		{"runr.sync.notes", "perhaps", `git config runr.sync.notes: must be true or false, not "perhaps"`},
		{"runr.hooks.debounce", "-1s",
			`git config runr.hooks.debounce: must be a duration such as "90s", "10m", "2h" or "30d", not "-1s"`},
		{"runr.inbox.retention", "-3d",
			`git config runr.inbox.retention: must be a duration above 0 such as "90s", "10m", "2h" or "30d", not "-3d"`},
		{"runr.inbox.retention", "220000d",
			`git config runr.inbox.retention: must be a duration above 0 such as "90s", "10m", "2h" or "30d", not "220000d"`},
	}
	for _, tt := range tests {
		_, err := load(input{Git: map[string][]string{tt.key: {tt.value}}})
		if err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

// Unknown settings in git's configuration are warnings, and agents and checks cannot be defined there.
func TestConfigGitUnknownIsAWarning(t *testing.T) {
	c := loaded(t, input{Git: map[string][]string{"runr.loop.maxretrys": {"7"}, "runr.checks.test.command": {"evil"},
		"runr.checks.name.command": {"evil"}, "runr.odd": {"x"}, "runr.Review.reviewer": {"x"}}})
	want := []string{
		"unknown git config key runr.Review.reviewer; did you mean runr.review.reviewer?",
		"unknown git config key runr.checks.name.command", "unknown git config key runr.checks.test.command",
		"unknown git config key runr.loop.maxretrys; did you mean runr.loop.maxRetries?", "unknown git config key runr.odd",
	}
	if !slices.Equal(c.Warnings, want) || len(c.checks) > 0 {
		t.Errorf("got %q, checks %v", c.Warnings, c.checks)
	}
}

func overridden(t *testing.T, args ...string) (*Config, error) {
	t.Helper()
	c := loaded(t, input{})
	for i := 0; i < len(args); i += 2 {
		if err := c.SetFlag("loop", strings.TrimPrefix(args[i], "--"), args[i+1]); err != nil {
			return c, err
		}
	}
	return c, nil
}

func TestConfigOverrideLoop(t *testing.T) {
	c, err := overridden(t, "--reviewer", "claude", "--max-retries", "0", "--on-exhausted", "skip")
	if err != nil || c.Loop.Reviewer != "claude" || c.Loop.MaxRetries != 0 || c.Loop.OnExhausted != runplan.ChoiceSkip ||
		c.Loop.Profile != "balanced" {
		t.Errorf("got %+v, %v", c.Loop, err)
	}
	if c.origin("loop.on_exhausted") != "flag" || c.origin("loop.profile") != "default" {
		t.Errorf("origins %v", c.origins)
	}
}

func TestConfigOverrideLoopErrors(t *testing.T) {
	for _, tt := range []struct{ flag, value, want string }{
		{"--max-retries", "-1", `--max-retries: must be a whole number from 0 to 100, not -1`},
		{"--on-exhausted", "go", `--on-exhausted: must be "ask", "commit", "skip" or "stop", not "go"`},
		{"--reviewer", "a b", `--reviewer: must be a name, or NAME@MODEL, not "a b"`},
	} {
		if _, err := overridden(t, tt.flag, tt.value); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestConfigUserPath(t *testing.T) {
	for _, tt := range []struct{ xdg, home, want string }{
		{"/conf", "/home/ann", "/conf/git-runr/config.toml"},
		{"", "/home/ann", "/home/ann/.config/git-runr/config.toml"},
		{"conf", "/home/ann", "/home/ann/.config/git-runr/config.toml"},
		{"", "", ""},
	} {
		getenv := func(name string) string { return map[string]string{"XDG_CONFIG_HOME": tt.xdg, "HOME": tt.home}[name] }
		if got := userPath(getenv); got != tt.want {
			t.Errorf("%q, %q: got %q, want %q", tt.xdg, tt.home, got, tt.want)
		}
	}
}

func TestConfigHelp(t *testing.T) {
	help := Help()
	for _, k := range keys {
		head := k.name
		if k.def != "" {
			head += " = " + k.def
		}
		if !strings.Contains(help, "\n"+head+"\n") {
			t.Errorf("%s is not in the help", k.name)
		}
	}
	for _, want := range []string{
		"\nloop.max_retries = 2\n    fixes after a review that did not pass; the last fix is reviewed as well (a whole " +
			"number from 0 to 100; in files and as git config runr.loop.maxRetries)\n",
		"(a command line for sh, or a list of words; in files, in the repository's after git runr trust)\n",
		"\nrunr.sign\n",
	} {
		if !strings.Contains(help, want) {
			t.Errorf("%q is not in\n%s", want, help)
		}
	}
}

// Every name that the help gives for git config is recognized.
func TestConfigGitNames(t *testing.T) {
	for _, k := range keys {
		if found := gitKey(strings.TrimPrefix(strings.ToLower(gitName(k.name)), "runr.")); !k.named() &&
			(found == nil || found.name != k.name) {
			t.Errorf("%s is not found as %s", k.name, gitName(k.name))
		}
	}
}

func FuzzConfig(f *testing.F) {
	for _, s := range []string{
		wholeConfig, approvedConfig, "", "[loop]\nx=1", "\"a b\".c = 1", "[[agents]]\n[[agents]]",
		"[agents.a.models]\nquality = 1",
		"a = \"\"\"\n\\\n\"\"\"\"\"\n", "loop = { reviewer = \"x\", }", "checks.a.command = 'x'", "steps.a.check = []",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := load(input{RepoFile: file, RepoPath: ".runr.toml"})
		if err != nil {
			if !strings.HasPrefix(err.Error(), ".runr.toml:") || safetext.Line(err.Error()) != err.Error() {
				t.Errorf("error %q does not name the file in one safetext.Text line", err)
			}
			return
		}
		if again := repoConfig(t, string(file)); string(again.executables()) != string(c.executables()) {
			t.Error("the same file gives two lists of commands")
		}
		for _, check := range c.checks {
			if !check.fromRepository || check.Command == "" {
				t.Errorf("check %+v would run untrusted", check)
			}
		}
		for name, table := range c.agents {
			if !table.fromRepository && (table.Command != nil || table.Env != nil) {
				t.Errorf("agent %q would run untrusted: %+v", name, table.Spec)
			}
		}
	})
}

// TestFormerKeys: a file that an earlier version understood is read, and a former key is not listed.
func TestFormerKeys(t *testing.T) {
	for _, name := range formerKeys {
		if key, _ := findKey(strings.Split(name, ".")); key != nil {
			t.Errorf("%s is a key", name)
		}
	}
	c, err := load(input{RepoFile: []byte("[sync]\nsince = \"1y\"\nnotes = false\n"), RepoPath: "f"})
	if err != nil || c.Sync.Notes {
		t.Errorf("%v", err)
	}
}
