package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

// key is one key of the configuration. NAME in its name is a placeholder for the user's name of a table.
type key struct {
	name       string
	wants      string // completes "must be …"
	def        string // in TOML; "" for none
	means      string
	executable bool // decides what runs: requires trust in the repository's file
	inGit      bool // git config may set it although the user names its table
	shapes     bool // changes the arguments of what runs: approved with it

	take func(c *Config, name string, raw any) bool // stores a TOML value in a table; false if it is wrong
	text func(values []string) any                  // converts values of git config or a flag to a TOML value
}

// keyOf returns a key of kind k, so that the parser and the setter have the same type.
func keyOf[T any](name string, k valueKind[T], def, means string, set func(c *Config, name string, v T)) key {
	parse := k.parse
	take := func(c *Config, table string, raw any) bool {
		v, ok := parse(raw)
		if ok {
			set(c, table, v)
		}
		return ok
	}
	return key{name: name, wants: k.wants, def: def, means: means, take: take, text: k.text}
}

// keyAt returns a key that sets the field or the entry of a map at path, in what a key of its section is about.
func keyAt[T any](name, path string, k valueKind[T], def, means string) key {
	return keyOf(name, k, def, means, func(c *Config, table string, v T) { c.put(name, path, table, reflect.ValueOf(v)) })
}

// plainKey is keyAt for the field of the key's name: loop.max_retries is Loop.MaxRetries of Config.
func plainKey[T any](name string, k valueKind[T], def, means string) key {
	return keyOf(name, k, def, means, func(c *Config, table string, v T) { c.put(name, "", table, reflect.ValueOf(v)) })
}

// put sets what keyAt describes; path is "" for a plainKey.
func (c *Config) put(name, path, table string, v reflect.Value) {
	if path == "" {
		path = strings.TrimPrefix(strings.ReplaceAll(name, "_", ""), "worktree.")
		if _, of, named := strings.Cut(path, ".NAME."); named {
			path = of
		}
	}
	field := reflect.ValueOf(c.about(name, table)).Elem()
	for part := range strings.SplitSeq(path, ".") {
		if field.Kind() == reflect.Map {
			if field.IsNil() {
				field.Set(reflect.MakeMap(field.Type()))
			}
			field.SetMapIndex(reflect.ValueOf(part), v)
			return
		}
		field = field.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, part) })
	}
	field.Set(v.Convert(field.Type()))
}

// about returns what a key is about: the table that the user names, the settings of worktrees, or c.
func (c *Config) about(name, table string) any {
	switch section, _, _ := strings.Cut(name, "."); section {
	case "steps":
		return c.steps[table]
	case "agents":
		return c.agents[table]
	case "checks":
		return c.checkTable(table)
	case "worktree":
		return &c.worktree
	}
	return c
}

// executable marks a key that decides what runs.
func executable(k key) key {
	k.executable = true
	return k
}

// shaping marks a key that only changes how something runs.
func shaping(k key) key {
	k.shapes = true
	return k
}

// ofGit marks a key of a user-named table that git config may set as well.
func ofGit(k key) key {
	k.inGit = true
	return k
}

// named reports whether the key belongs to a table that the user names.
func (k key) named() bool { return strings.Contains(k.name+".", ".NAME.") }

// keys is the single table of everything that can be configured. It defines the validation, the suggestions and the
// text of git runr help config.
var keys = slices.Concat(loopKeys, stepKeys, agentKeys, checkKeys, worktreeKeys, scopeKeys, reviewKeys, sharingKeys,
	teamKeys)

var loopKeys = []key{
	plainKey("loop.implementer", agentKind, "", "the agent that does the work: a name from [agents.NAME] or a preset"),
	plainKey("loop.reviewer", agentKind, `"builtin"`,
		"the agent that reviews in a run; human asks a person in the inbox, and the run goes on with the answer"),
	plainKey("loop.workflow", namesKind, `["implement", "check", "review"]`,
		"the steps of a run: these three, or names from [steps.NAME]"),
	plainKey("loop.max_retries", numberKind(0, 100), "2",
		"fixes after a review that did not pass; the last fix is reviewed as well"),
	plainKey("loop.time_budget", durationKind, `"0s"`,
		"how long a run may take, from its start or the last resume; 0s is no limit"),
	keyAt("loop.max_cost", "Loop.Budget.Cost", dollarsKind, "0",
		"US dollars that the agents of a whole run may cost, as their tools report it; unreported cost does not count; no "+
			"call starts above the limit; 0 is no limit"),
	keyAt("loop.max_tokens", "Loop.Budget.Tokens", tokensKind, "0", "the same in tokens, input and output"),
	keyAt("loop.max_cost_per_day", "Loop.Day.Cost", dollarsKind, "0",
		"US dollars that all runs and reviews of this clone may cost a day, by the clock of this machine; reviews then "+
			"wait for the next day"),
	keyAt("loop.max_tokens_per_day", "Loop.Day.Tokens", tokensKind, "0", "the same in tokens"),
	keyAt("loop.time_budget_per_day", "Loop.Day.Time", durationKind, `"0s"`,
		"the same in time: the sum of all agents' calls"),
	plainKey("loop.wait_for_quota", durationKind, `"0s"`,
		"how long a run, git runr review --wait or git runr verify waits for an agent that is out of quota and says until "+
			"when; a longer wait stops the run"),
	plainKey("loop.on_exhausted", oneOf("ask", "commit", "skip", "stop"), `"ask"`,
		"what to do with a run whose retries are used up; without a terminal, ask means stop"),
	plainKey("loop.profile", oneOf("quality", "balanced", "budget"), `"balanced"`, "which of an agent's models to use"),
	plainKey("loop.instructions", oneOf("base", "none"), `"base"`,
		"base: an implementer's prompt contains the first 16 KiB of .runr/implementer.md, else of AGENTS.md, CLAUDE.md or "+
			"GEMINI.md, from the commit that the run started from. none: it contains none of them, and where an argument of "+
			"the tool can do it, the tool does not read instructions and skills of the checkout either"),
	plainKey("loop.resume_session", boolKind, "false",
		"a fix continues its agent's session, if the tool can (claude, codex, copilot, cursor-agent, droid, kilo, "+
			"opencode, pi, qwen); the tool then stores sessions. A reviewer always starts a new one"),
	plainKey("loop.parallel", numberKind(1, 100), "2", "how many reviewers work at once in this clone"),
	plainKey("loop.commit_hooks", boolKind, "false",
		"run your pre-commit hook on each attempt, as the check pre-commit; files that it rewrites are kept; a hook whose "+
			"own files the run changes is not run"),
	plainKey("loop.keep_ignored", numberKind(0, 1<<40), "67108864",
		"how many bytes of ignored files are copied before an agent works in your checkout, or the worktree of a run that "+
			"stopped is removed, so that they can be restored; files beyond the limit are named"),
	plainKey("loop.worktrees", textKind, "",
		"the directory for the worktrees of runs and reviews, relative to the top of the main working tree; by default "+
			"$XDG_CACHE_HOME/git-runr/worktrees, else ~/.cache/git-runr/worktrees; .runr.toml can set one below the top, or "+
			"../NAME beside it"),
	plainKey("loop.threshold", oneOf("verdict", "warning", "critical"), `"verdict"`,
		"what needs a fix before a run completes: what the reviewer decides, any warning, or only critical findings; audit "+
			"and the gate still count the reviewer's NEEDS_FIX"),
}

var stepKeys = []key{
	plainKey("steps.NAME.agent", agentKind, "", "the agent of the step"),
	plainKey("steps.NAME.prompt", textKind, "", "text that comes before the task in the prompt"),
	keyOf("steps.NAME.review", boolKind, "false", "the agent reviews and does not change files",
		func(c *Config, name string, v bool) { c.steps[name].Kind = agentSteps[v] }),
	keyAt("steps.NAME.check", "Checks", namesKind, "", "the checks to run; a step with checks has no agent"),
}

var agentKeys = []key{
	executable(plainKey("agents.NAME.command", argvKind, "",
		"the program and its arguments, run without a shell: a list, or text split at blanks. {model} is replaced by the "+
			"model. The prompt comes on standard input, or in a file whose name replaces {prompt_file}, or replaces {prompt}, "+
			"with at most 128 KiB and readable by others on the machine")),
	shaping(plainKey("agents.NAME.preset", oneOf(agent.Presets()...), "",
		"the known tool that the command runs, or that is run without a command")),
	executable(plainKey("agents.NAME.protocol", oneOf(agent.ACP), "",
		"how to talk to the command or preset: acp is the Agent Client Protocol, JSON-RPC on standard input and output. "+
			"Without it the prompt goes to standard input")),
	executable(plainKey("agents.NAME.args", textsKind, "[]",
		"more arguments, after those of the command or the preset")),
	executable(keyAt("agents.NAME.reviewer_args", "Own.Reviewer", textsKind, "[]",
		"without a preset: more arguments for a reviewer, such as one that keeps it from writing")),
	executable(keyAt("agents.NAME.implementer_args", "Own.Implementer", textsKind, "[]",
		"without a preset: more arguments for an implementer")),
	executable(keyAt("agents.NAME.requires", "Own.Requires", textsKind, "[]",
		"without a preset: arguments that its --help must list; otherwise it is not called")),
	executable(keyAt("agents.NAME.aside", "Own.Aside", textsKind, "[]",
		"without a preset: files that instruct the tool, hidden from reviewers: /PATH at the top of the checkout, or a "+
			"name anywhere")),
	shaping(keyAt("agents.NAME.answer", "Own.Answer", textKind, "",
		`without a preset: where the answer is in the JSON that the command writes, one value or one a line: "result", "message.content.0.text" or "item.text where item.type=agent_message"; the last one counts`)),
	usageKey("input", "the number of input tokens, cached ones included"),
	usageKey("cached", "the number of cached input tokens"),
	usageKey("output", "the number of output tokens"),
	usageKey("cost", "US dollars"),
	executable(plainKey("agents.NAME.env", variablesKind, "[]", "names of environment variables to pass to the command")),
	plainKey("agents.NAME.backup", agentsKind, "[]",
		"agents to ask instead, one after the other, if it gives no answer: not found, not signed in, quota, killed, "+
			"too slow"),
	plainKey("agents.NAME.timeout", timeoutKind, `"30m"`, "time limit of one call"),
	keyAt("agents.NAME.idle_timeout", "Idle", timeoutKind, "",
		"how long a call may print nothing before it is stopped; presets: 10m"),
	ofGit(shaping(plainKey("agents.NAME.model", modelKind, "",
		"the model; by default the tool's own choice. NAME@MODEL in place of an agent's name uses another model"))),
	shaping(plainKey("agents.NAME.models.quality", modelKind, "", "the model under this profile, in place of model")),
	shaping(plainKey("agents.NAME.models.balanced", modelKind, "", "the model under this profile, in place of model")),
	shaping(plainKey("agents.NAME.models.budget", modelKind, "", "the model under this profile, in place of model")),
}

// usageKey returns a key for the place of a usage number in a command's JSON output.
func usageKey(of, means string) key {
	return shaping(keyAt("agents.NAME.usage."+of, "Own.Usage."+of, textKind, "",
		"where that JSON has "+means+", written as for answer; all values are added up"))
}

var checkKeys = []key{
	executable(plainKey("checks.NAME.command", commandKind, "",
		"run at the top of the tree: text by sh -c, a list of words without a shell; exit status 0 passes")),
	plainKey("checks.NAME.match", textsKind, "[]", "more words by which a reviewer's request refers to this check"),
	plainKey("checks.NAME.timeout", timeoutKind, `"10m"`, "time limit of the check"),
	keyOf("checks.sandbox", boolKind, "false",
		"run checks without network and with an empty home, by bwrap or unshare; if neither works, no check runs",
		func(c *Config, _ string, v bool) { c.sandbox = v }),
}

var worktreeKeys = []key{
	executable(plainKey("worktree.setup", commandKind, "",
		"run by sh -c at the top of a worktree, before an agent or a check runs there, such as npm ci; again only after a "+
			"failure or if its inputs changed. Untracked files that it creates are left out of the change")),
	keyAt("worktree.setup_timeout", "Timeout", timeoutKind, `"10m"`, "time limit of the setup"),
	keyAt("worktree.setup_inputs", "Inputs", textsKind, "[]",
		"globs as in .gitignore of files that the setup depends on, besides the manifests and lock files of package "+
			"managers, and files and directories named in its command, except those that it enters with cd or -C"),
	executable(plainKey("worktree.copy", placesKind, "[]",
		"untracked files and directories of your checkout, such as .env*, to copy into each worktree (as reflinks, where "+
			"Linux and the file system support them). Agents can read them; secrets in NAME=VALUE lines are masked in records")),
	executable(plainKey("worktree.link", placesKind, "[]",
		"the same with hard links, which take no space. Removing or replacing such a file in a worktree leaves yours "+
			"alone, but a program that writes into it in place changes yours. On another file system they are copied")),
	plainKey("worktree.post_checkout", boolKind, "false",
		"run your post-checkout hook in a run's new worktree, as git worktree add does"),
}

var scopeKeys = []key{
	plainKey("scope.allow", textsKind, "[]",
		"globs as in .gitignore of paths that an implementer may change; an empty list allows all"),
	plainKey("scope.deny", textsKind, "[]", "globs as in .gitignore of paths that an implementer must not change"),
}

var reviewKeys = []key{
	plainKey("review.reviewer", reviewersKind, `"builtin"`,
		"who reviews by default; several, separated by commas, review side by side: claude,codex; human asks a person"),
	plainKey("review.exclude", textsKind, "[]",
		"globs as in .gitignore of paths that reviews leave out: *.pb.go anywhere, /gen/*.go in one directory. A change to "+
			".runr.toml is always shown in full"),
	plainKey("review.generated", boolKind, "false",
		"also review generated and vendored files: lock files, vendor/, node_modules/, and files marked linguist-generated "+
			"or linguist-vendored in .gitattributes"),
	plainKey("review.detect_checks", boolKind, "true",
		"without any [checks.NAME], run the project's standard checks on commits of this clone"),
	plainKey("review.max_bytes", numberKind(1000, 100_000_000), "409600",
		"the largest diff, in bytes, to send to an agent at once; a larger one is reviewed in parts"),
	plainKey("review.max_parts", numberKind(1, 1000), "10",
		"the largest number of parts of one diff; the rest is not reviewed, and the review does not pass"),
	plainKey("review.quorum", numberKind(1, 100), "1",
		"how many of several agents must refuse a change for the refusal to count. With 1 the worst verdict counts; with 2 "+
			"a single refusal is shown as disputed, and the result is a pass with notes. A person's verdict always counts. A "+
			"review is complete when all have answered, or when this many have and the others failed for good"),
	plainKey("review.judge", agentKind, "",
		"an agent that checks each finding against the code after the reviewers; a finding that it refutes is kept, folded "+
			"away, and does not count for the verdict"),
	keyOf("review.kinds.NAME.prompt", textKind, "",
		"what git runr review --kind NAME looks for; security, tests, design and performance are built in",
		func(c *Config, name, v string) { c.kinds[name] = v }),
	plainKey("review.owners", boolKind, "false",
		"approved also requires the owners of the changed files, according to CODEOWNERS of the base; [teams] says who "+
			"@NAME is"),
	plainKey("review.instructions", oneOf("none", "base"), `"none"`,
		"base: the reviewers' prompt contains the first 16 KiB of .runr/review.md, from the base of the change, as the "+
			"project's instructions; never from the change itself"),
}

var sharingKeys = []key{
	plainKey("hooks.post_commit", oneOf("review", "off"), `"review"`, "what the post-commit and post-merge hooks request"),
	plainKey("hooks.pre_push", oneOf("off", "warn", "refuse"), `"off"`,
		"what a push does with commits that do not meet pre_push_require; run git runr hooks install afterwards. It looks "+
			"at commits that no branch of the remote has, and for main, master and the remote's default branch at all that "+
			"the branch does not have. A commit that a person was asked about, and that rules have checked, may be pushed to "+
			"the branch on which it was asked, unless that is one of these. warn and refuse both refuse to push private refs"),
	plainKey("hooks.pre_push_require", levelKind, `"checked"`,
		"what a commit needs before it is pushed: checked by rules, reviewed by an agent or a person, approved by a person "+
			"who is not one of its authors, approved=2 by two. A commit with an unanswered NEEDS_FIX or CRITICAL never meets "+
			"it. passed is an old word for reviewed"),
	plainKey("hooks.debounce", durationKind, `"0s"`,
		"how long the worker waits for more commits on a branch, to review them together"),
	executable(keyOf("hooks.notify", argvKind, "",
		"program and arguments, run after a background review that did not pass, with its result as JSON on standard "+
			"input; limited to 10 seconds",
		func(c *Config, _ string, v []string) { c.notify = v })),
	plainKey("hooks.desktop", boolKind, "true", "show a desktop notification of such a review"),
	plainKey("hooks.scope", oneOf("commit", "branch"), `"commit"`,
		"what a hook's review covers: each commit, or the branch since it left its upstream or the default branch"),
	keyAt("hooks.skip_paths", "Hooks.Skip.Paths", textsKind, "[]",
		"globs as in review.exclude: skip commits that change nothing else"),
	keyAt("hooks.skip_authors", "Hooks.Skip.Authors", textsKind, "[]",
		"skip commits whose author's name or address contains this text, such as dependabot[bot]"),
	keyAt("hooks.skip_messages", "Hooks.Skip.Messages", textsKind, `["[skip runr]"]`,
		"skip commits whose message contains this text"),
	keyAt("hooks.skip_lines", "Hooks.Skip.Lines", numberKind(0, 100_000_000), "0",
		"skip commits that add and delete more lines than this; 0 is no limit"),
	keyAt("hooks.skip_branches", "Hooks.Skip.Branches", textsKind, "[]",
		"globs of branches whose commits are skipped, such as wip/**"),

	keyAt("inbox.auto_resolve", "Inbox.Closing", oneOf(string(closing.OnPass), string(closing.Never)), `"pass"`,
		"pass closes reviews that need nobody any more: a pass without notes, all findings answered, or a newer review of "+
			"the same change by the same reviewers. They stay in git runr log, in the notes and in inbox list --status all"),
	plainKey("inbox.retention", timeoutKind, `"30d"`, "how long closed reviews stay in the lists"),

	plainKey("sync.remote", remoteKind, "",
		"the remote to share reviews at, which may be a separate repository; by default origin, else the only remote"),
	plainKey("sync.private", textsKind, "[]",
		"globs of branches, such as secret/*: their reviews and runs, and those of commits that no other branch contains, "+
			"stay in this clone, as with --private"),
	plainKey("sync.notes", boolKind, "true", "also push the notes"),
	plainKey("sync.checked", boolKind, "true",
		"share that rules and checks found nothing in a commit. With false only the clone that checked it knows, for its "+
			"audit and gate; other clones can check again"),
	plainKey("sync.verify", oneOf("off", "warn", "require"), `"off"`,
		"what to do with approvals that are not signed by the approver (see runr.sign): with require, audit, status, show "+
			"and the gate do not count them; warn counts and marks them. Lists look at no signature"),
	plainKey("sync.signers", textKind, "",
		"the path of a file of allowed signers (see ssh-keygen(1)) in the commit that a change is based on; by default "+
			"gpg.ssh.allowedSignersFile of this clone"),
	plainKey("sync.retire", durationKind, `"30d"`,
		"archive the logs of writers, mostly CI jobs, that have recorded nothing for this long, once there are more than "+
			"64; 0s is never"),
}

var teamKeys = []key{
	ofGit(keyOf("teams.NAME", peopleKind, "",
		"the people that a name stands for: addresses, or other names; \"@ada\" is the name on a forge, as in CODEOWNERS",
		func(c *Config, name string, v []string) { c.Teams[name] = v })),
}

// agentSteps maps whether an agent reviews to the kind of its step.
var agentSteps = map[bool]runplan.StepKind{true: runplan.StepReview, false: runplan.StepAgent}

// gitSetting is a setting that only git config has.
type gitSetting struct{ name, means string }

// gitOnly are settings of git config that other packages read.
var gitOnly = []gitSetting{
	{"runr.program", "the path of git-runr, for hooks of other tools that do not find it on PATH"},
	{"runr.home", "the remote for what was recorded before another one was elected: git runr help files"},
	{"runr.privateWriter", "the id of the log that never leaves this clone"},
	{"runr.remote", "short for runr.sync.remote"},
	{"runr.serve", "false: git runr review does not start the server"},
	{"runr.serveIdle", "how long such a server runs without requests: 1h, 30m"},
	{"runr.sign", "sign events as git signs commits; by default as commit.gpgSign says"},
	{"runr.writer",
		"the id of this clone, made at its first write; or a name that several clones share, as the jobs of a pipeline do " +
			"with GIT_RUNR_WRITER"},
}

// Help returns the text of git runr help config.
func Help() string {
	var b strings.Builder
	b.WriteString(intro)
	for _, k := range keys {
		head := k.name
		if k.def != "" {
			head += " = " + k.def
		}
		safetext.Fprintf(&b, "\n%s\n    %s (%s; %s)\n", head, k.means, k.wants, k.setBy())
	}
	b.WriteString("\nOnly in git config:\n")
	for _, g := range gitOnly {
		safetext.Fprintf(&b, "\n%s\n    %s\n", g.name, g.means)
	}
	return b.String()
}

const intro = `A value comes from the first of these that sets it:

  the command line
  git config              runr.SECTION.KEY, such as runr.loop.maxRetries
  the user's file         $XDG_CONFIG_HOME/git-runr/config.toml,
                          else ~/.config/git-runr/config.toml
  the repository's file   .runr.toml at the top

A table such as [checks.test] in the user's file replaces the repository's whole
table of that name. Commands set only in the repository's file run after
git runr trust.
`

// setBy describes where the key may be set.
func (k key) setBy() string {
	switch {
	case k.executable && !k.named():
		return "in files, in the repository's after git runr trust, and as git config " + gitName(k.name)
	case k.executable:
		return "in files, in the repository's after git runr trust"
	case k.inGit:
		return "in files and as git config runr." + k.name
	case k.named():
		return "in files"
	}
	return "in files and as git config " + gitName(k.name)
}

// gitName returns a key as git config spells it: without underscores, in camel case.
func gitName(name string) string {
	section, rest, _ := strings.Cut(name, ".")
	words := strings.Split(rest, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return "runr." + section + "." + strings.Join(words, "")
}
