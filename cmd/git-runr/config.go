package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"git-runr/cmd/git-runr/internal/exit"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/urfave/cli/v2"

	"git-runr/loop/agent"
	"git-runr/loop/record"
	"git-runr/loop/role"
	"git-runr/loop/safetext"
)

// config is what is configured, from all layers. See configKeys for what the
// fields mean and what they are by default.
type config struct {
	Loop struct {
		Implementer, Reviewer, Profile string
		Workflow                       []string
		MaxRetries                     int
		OnExhausted                    record.Choice
		TimeBudget                     record.Duration
		Threshold                      record.Threshold
	}
	Scope  struct{ Allow, Deny []string }
	Review struct {
		Reviewer     string
		Exclude      []string
		DetectChecks bool
		MaxBytes     int
		MaxParts     int
	}
	Hooks struct {
		PostCommit string // review or off
		Debounce   record.Duration
	}
	Inbox struct{ Retention record.Duration }
	Sync  struct {
		Remote string
		Notes  bool
	}

	steps    map[string]*record.WorkStep
	agents   map[string]*agentTable
	checks   []checkTable // in the order of the files
	warnings []string     // for the user, one line each: settings of git config that mean nothing

	origins    map[string]string         // key, or table such as agents.mine, to the layer that set it
	layer      string                    // that is being read
	repository bool                      // it is the repository's file
	executed   map[string]map[string]any // what the repository's file runs: table such as agents.mine, then key
}

// agentTable is one [agents.NAME].
type agentTable struct {
	spec           agent.Spec
	fromRepository bool // what it runs is the repository's word: needs trust
}

func (a *agentTable) setModel(profile, model string) {
	if a.spec.Models == nil {
		a.spec.Models = map[string]string{}
	}
	a.spec.Models[profile] = model
}

// checkTable is one [checks.NAME].
type checkTable struct {
	record.Check
	fromRepository bool // its command is the repository's word: needs trust
}

func (c *config) checkTable(name string) *checkTable {
	i := slices.IndexFunc(c.checks, func(t checkTable) bool { return t.Name == name })
	if i < 0 {
		c.checks = append(c.checks, checkTable{})
		i = len(c.checks) - 1
		c.checks[i].Name = name
	}
	return &c.checks[i]
}

// configInput is where configuration comes from. A file that does not exist is nil.
type configInput struct {
	RepoFile []byte
	RepoPath string // as messages name it
	UserFile []byte
	UserPath string
	Git      map[string][]string // git config, key to values in order; keys outside runr.* are ignored
}

// The layers, as origin names them.
const (
	originDefault = "default"
	originGit     = "git config"
	originUser    = "user file "
	originFlag    = "flag"
)

// loadConfig reads all layers, the weakest first. An error is a usage problem of
// one line that names the file, the line and what is allowed.
func loadConfig(in configInput) (*config, error) {
	c := defaultConfig()
	c.layer, c.repository = in.RepoPath, true
	if err := c.readFile(in.RepoPath, in.RepoFile); err != nil {
		return nil, err
	}
	c.layer, c.repository = originUser+in.UserPath, false
	if err := c.readFile(in.UserPath, in.UserFile); err != nil {
		return nil, err
	}
	if err := c.readGit(in.Git); err != nil {
		return nil, err
	}
	return c, nil
}

// defaultConfig gives every key outside [X.NAME] its default from the table.
func defaultConfig() *config {
	c := &config{
		steps: map[string]*record.WorkStep{}, agents: map[string]*agentTable{},
		origins: map[string]string{}, executed: map[string]map[string]any{},
	}
	var text strings.Builder
	for i, k := range configKeys {
		if k.def != "" && !k.named() {
			fmt.Fprintf(&text, "%d = %s\n", i, k.def)
		}
	}
	var values map[string]any
	toml.Decode(text.String(), &values) // a test holds every default to its kind
	for i, k := range configKeys {
		if raw, ok := values[strconv.Itoa(i)]; ok {
			k.take(c, "", raw)
		}
	}
	return c
}

// origin says which layer set key, as "loop.reviewer", or the table "agents.mine":
// "flag", "git config", "user file PATH", the path of the repository's file, or
// "default".
func (c *config) origin(key string) string {
	if from, ok := c.origins[key]; ok {
		return from
	}
	return originDefault
}

// setting is key with its value and, for people who share the run, where it comes from:
// without the paths of this machine.
func (c *config) setting(key, value string) record.Setting {
	from := c.origin(key)
	switch {
	case from == originFlag:
		_, name, _ := strings.Cut(key, ".")
		from = "--" + strings.ReplaceAll(name, "_", "-")
	case strings.HasPrefix(from, originUser):
		from = "the user's file"
	}
	return record.Setting{Name: key, Value: value, From: from}
}

// excludedBy is the repository's file when it names what reviews leave out, else "".
func (c *config) excludedBy() string {
	if c.origin("review.exclude") == configName {
		return configName
	}
	return ""
}

// limits are the settings that can end a run.
func (c *config) limits() []record.Setting {
	limits := []record.Setting{c.setting(record.SettingRetries, strconv.Itoa(c.Loop.MaxRetries))}
	if c.Loop.TimeBudget > 0 {
		limits = append(limits, c.setting(record.SettingBudget, c.Loop.TimeBudget.String()))
	}
	if len(c.Scope.Allow) > 0 {
		limits = append(limits, c.setting(record.SettingAllow, record.GlobList(c.Scope.Allow)))
	}
	if len(c.Scope.Deny) > 0 {
		limits = append(limits, c.setting(record.SettingDeny, record.GlobList(c.Scope.Deny)))
	}
	return limits
}

// readGit takes the settings of git config under runr. A name that means nothing
// is a warning, as git itself ignores what it does not know.
func (c *config) readGit(settings map[string][]string) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		setting, ours := strings.CutPrefix(strings.ToLower(name), "runr.")
		if !ours || setting == "writer" || setting == "sign" || setting == "serve" || setting == "serveidle" || len(settings[name]) == 0 {
			continue
		}
		if setting == "remote" {
			setting = "sync.remote"
		}
		k := gitKey(setting)
		if k == nil {
			c.warnings = append(c.warnings, unknownSetting(name))
			continue
		}
		if !k.take(c, "", k.text(settings[name])) {
			return wrongValue("git config "+name, *k, k.text(settings[name]))
		}
		c.origins[k.name] = originGit
	}
	return nil
}

// gitKey finds the key that git config calls setting: letters of either case and
// no underscores, for git does not allow them.
func gitKey(setting string) *configKey {
	for i, k := range configKeys {
		if !k.named() && squash(k.name) == squash(setting) {
			return &configKeys[i]
		}
	}
	return nil
}

func squash(s string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s))
}

func unknownSetting(name string) string {
	var known []string
	for _, k := range configKeys {
		if !k.named() {
			known = append(known, gitName(k.name))
		}
	}
	for _, g := range gitOnly {
		known = append(known, g.name)
	}
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("git config %s means nothing; did you mean %s?", safetext.Line(name), near)
	}
	return fmt.Sprintf("git config %s means nothing", safetext.Line(name))
}

func wrongValue(where string, k configKey, raw any) error {
	return exit.Problemf(exit.Usage, "%s: must be %s, not %s", safetext.Line(where), k.wants, describe(raw))
}

// flagValue is a flag that stands for a key.
type flagValue struct {
	flag   string // as typed: --max-retries
	key    string
	values []string
}

// override takes flags, the strongest layer.
func (c *config) override(flags []flagValue) error {
	for _, f := range flags {
		k := gitKey(f.key)
		if !k.take(c, "", k.text(f.values)) {
			return wrongValue(f.flag, *k, k.text(f.values))
		}
		c.origins[k.name] = originFlag
	}
	return nil
}

// overrideLoop takes the flags of git runr run that were given.
func (c *config) overrideLoop(given *cli.Context) error {
	var flags []flagValue
	for _, name := range []string{"implementer", "reviewer", "max-retries", "on-exhausted", "profile"} {
		if given.IsSet(name) {
			flags = append(flags, flagValue{"--" + name, "loop." + name, []string{fmt.Sprint(given.Value(name))}})
		}
	}
	return c.override(flags)
}

// agent is how the agent called name is run: as configured, or a preset. What it
// runs may be the repository's word and then needs trust. A person and the
// built-in reviewer are not agents.
func (c *config) agent(name string) (spec agent.Spec, fromRepository, known bool) {
	if table, ok := c.agents[name]; ok {
		return table.spec, table.fromRepository, true
	}
	return agent.Spec{Name: name}, false, slices.Contains(agent.Presets(), name)
}

// knownAgent refuses a name that is no agent; what says what the name is for.
func (c *config) knownAgent(what, name string) error {
	if _, _, known := c.agent(name); known || role.Reserved(name) {
		return nil
	}
	all := append(slices.Sorted(maps.Keys(c.agents)), agent.Presets()...)
	all = append(all, role.Builtin, record.Human)
	unknown := exit.Problemf(exit.Usage, "%s: there is no agent %q", what, name)
	if near := nearest(name, all); near != "" {
		unknown = exit.Problemf(exit.Usage, "%s: there is no agent %q; did you mean %q?", what, name, near)
	}
	slices.Sort(all)
	return unknown.WithHint("agents are "+strings.Join(slices.Compact(all), ", "), "git runr help config")
}

// policy is how a run decides.
func (c *config) policy() (record.Policy, error) {
	p := record.Policy{MaxRetries: c.Loop.MaxRetries, Threshold: c.Loop.Threshold, OnExhausted: c.Loop.OnExhausted, TimeBudget: c.Loop.TimeBudget}
	for i, name := range c.Loop.Workflow {
		step, err := c.workStep(name)
		if err != nil {
			return p, err
		}
		if slices.Contains(c.Loop.Workflow[:i], name) {
			return p, exit.Problemf(exit.Usage, "loop.workflow (%s): step %q is there twice", c.origin("loop.workflow"), name)
		}
		p.Workflow = append(p.Workflow, step)
	}
	if len(p.Workflow) == 0 {
		return p, exit.Problemf(exit.Usage, "loop.workflow (%s) has no steps", c.origin("loop.workflow"))
	}
	return p, nil
}

// workStep is the step of the workflow called name, with what it refers to.
func (c *config) workStep(name string) (record.WorkStep, error) {
	for _, s := range record.DefaultWorkflow() {
		if s.Name == name {
			return s, nil
		}
	}
	step, ok := c.steps[name]
	if !ok {
		return record.WorkStep{}, exit.Problemf(exit.Usage, "loop.workflow (%s): there is no step %q", c.origin("loop.workflow"), name).
			WithHint("add [steps." + name + "], see git runr help config")
	}
	for _, check := range step.Checks {
		if !slices.ContainsFunc(c.checks, func(t checkTable) bool { return t.Name == check }) {
			return *step, exit.Problemf(exit.Usage, "steps.%s (%s): there is no check %q", name, c.origin("steps."+name), check)
		}
	}
	if step.Agent == "" {
		return *step, nil
	}
	return *step, c.knownAgent("steps."+name, step.Agent)
}

// executables is the canonical JSON of what the repository's file wants to run,
// nil when it runs nothing: table, then key. It is what trust approves, so the
// same commands give the same bytes however the file is laid out.
func (c *config) executables() []byte {
	if len(c.executed) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c.executed); err != nil {
		return nil // unreachable: the values are strings and lists of strings
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// userConfigPath is the user's configuration file, "" when there is no home.
func userConfigPath(getenv func(string) string) string {
	return underHome(getenv, "XDG_CONFIG_HOME", ".config", "git-runr/config.toml")
}

// underHome is rest under the directory that the XDG variable names, or else under
// other in the home directory; relative values do not count, "" without either.
func underHome(getenv func(string) string, xdg, other, rest string) string {
	if dir := getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, filepath.FromSlash(rest))
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, other, filepath.FromSlash(rest))
	}
	return ""
}
