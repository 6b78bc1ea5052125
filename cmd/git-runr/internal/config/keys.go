package config

import (
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/duration"
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
	take := func(c *Config, table string, raw any) bool {
		v, ok := k.parse(raw)
		if ok {
			set(c, table, v)
		}
		return ok
	}
	return key{name: name, wants: k.wants, def: def, means: means, take: take, text: k.text}
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
var keys = slices.Concat(loopKeys, stepKeys, agentKeys, checkKeys, worktreeKeys, scopeKeys, reviewKeys, sharingKeys, teamKeys)

var loopKeys = []key{
	keyOf("loop.implementer", agentKind, "", "the agent that does the work: a name of [agents.NAME] or a preset",
		func(c *Config, _, v string) { c.Loop.Implementer = v }),
	keyOf("loop.reviewer", agentKind, `"builtin"`, "the agent that reviews in a run; human asks a person in the inbox, and the run goes on from the answer",
		func(c *Config, _, v string) { c.Loop.Reviewer = v }),
	keyOf("loop.workflow", namesKind, `["implement", "check", "review"]`, "the steps of a run: these three, or names of [steps.NAME]",
		func(c *Config, _ string, v []string) { c.Loop.Workflow = v }),
	keyOf("loop.max_retries", numberKind(0, 100), "2", "fixes after a review that did not pass; reviews are one more",
		func(c *Config, _ string, v int64) { c.Loop.MaxRetries = int(v) }),
	keyOf("loop.time_budget", durationKind, `"0s"`, "how long a run may take from its start or resumption; 0s is no limit",
		func(c *Config, _ string, v duration.Duration) { c.Loop.TimeBudget = v }),
	keyOf("loop.max_cost", dollarsKind, "0", "US dollars that the agents of a run may cost by their tools' own account, all in all; what a tool does not tell does not count; no call begins beyond it; 0 is no limit",
		func(c *Config, _ string, v float64) { c.Loop.Budget.Cost = v }),
	keyOf("loop.max_tokens", tokensKind, "0", "the same in tokens, of input and output",
		func(c *Config, _ string, v int64) { c.Loop.Budget.Tokens = v }),
	keyOf("loop.max_cost_per_day", dollarsKind, "0", "US dollars that all runs and reviews of this clone may cost from midnight to midnight, by the clock of this machine; reviews wait for the next day",
		func(c *Config, _ string, v float64) { c.Loop.Day.Cost = v }),
	keyOf("loop.max_tokens_per_day", tokensKind, "0", "the same in tokens",
		func(c *Config, _ string, v int64) { c.Loop.Day.Tokens = v }),
	keyOf("loop.time_budget_per_day", durationKind, `"0s"`, "the same in time: that of all calls of agents, one after the other",
		func(c *Config, _ string, v duration.Duration) { c.Loop.Day.Time = v }),
	keyOf("loop.wait_for_quota", durationKind, `"0s"`, "how long a step of a run, git runr review --wait or git runr verify waits for an agent whose quota is used up and that says when it comes back; a longer one stops the run",
		func(c *Config, _ string, v duration.Duration) { c.Loop.WaitForQuota = v }),
	keyOf("loop.on_exhausted", oneOf("ask", "commit", "skip", "stop"), `"ask"`, "what becomes of a run whose retries are used up; without a terminal, ask is stop",
		func(c *Config, _, v string) { c.Loop.OnExhausted = runplan.Choice(v) }),
	keyOf("loop.profile", oneOf("quality", "balanced", "budget"), `"balanced"`, "which of an agent's models is used",
		func(c *Config, _, v string) { c.Loop.Profile = v }),
	keyOf("loop.instructions", oneOf("base", "none"), `"base"`, "base: an implementer is told .runr/implementer.md, else AGENTS.md, CLAUDE.md or GEMINI.md, as the commit has it that the run began from, the first 16 KiB. none: it is told none of them, and its tool is kept from reading instructions and skills of the checkout by itself where an argument does that",
		func(c *Config, _, v string) { c.Loop.Instructions = v }),
	keyOf("loop.resume_session", boolKind, "false", "a fix goes on with the session of its agent, where the tool can (claude, codex, copilot, cursor-agent, droid, kilo, opencode, pi, qwen), and the tool stores sessions for that; a reviewer always begins anew",
		func(c *Config, _ string, v bool) { c.Loop.ResumeSession = v }),
	keyOf("loop.parallel", numberKind(1, 100), "2", "how many reviewers are at work at once in this clone",
		func(c *Config, _ string, v int64) { c.Loop.Parallel = int(v) }),
	keyOf("loop.commit_hooks", boolKind, "false", "run your pre-commit hook over each attempt's work, as the check pre-commit; what it rewrites is taken over, and a hook whose own files the run changes is not run",
		func(c *Config, _ string, v bool) { c.Loop.CommitHooks = v }),
	keyOf("loop.keep_ignored", numberKind(0, 1<<40), "67108864", "how many bytes of ignored files are kept in all while an agent works in your checkout, to be given back; what is beyond is named before it begins, and again if it changed",
		func(c *Config, _ string, v int64) { c.Loop.KeepIgnored = v }),
	keyOf("loop.worktrees", textKind, "", "the directory in which runs and reviews get their working trees, from the top of the main working tree; by default $XDG_CACHE_HOME/git-runr/worktrees, else ~/.cache/git-runr/worktrees; .runr.toml can name one below the top, or ../NAME beside it",
		func(c *Config, _, v string) { c.Loop.Worktrees = v }),
	keyOf("loop.threshold", oneOf("verdict", "warning", "critical"), `"verdict"`, "what needs a fix: what the reviewer says, any warning, or only what is critical",
		func(c *Config, _, v string) { c.Loop.Threshold = runplan.Threshold(v) }),
}

var stepKeys = []key{
	keyOf("steps.NAME.agent", agentKind, "", "who takes the step",
		func(c *Config, name, v string) { c.steps[name].Agent = v }),
	keyOf("steps.NAME.prompt", textKind, "", "what the agent is told before the task",
		func(c *Config, name, v string) { c.steps[name].Prompt = v }),
	keyOf("steps.NAME.review", boolKind, "false", "the agent reviews and does not change files",
		func(c *Config, name string, v bool) { c.steps[name].Kind = agentSteps[v] }),
	keyOf("steps.NAME.check", namesKind, "", "the checks to run; such a step has no agent",
		func(c *Config, name string, v []string) { c.steps[name].Checks = v }),
}

var agentKeys = []key{
	executable(keyOf("agents.NAME.command", argvKind, "", "program and arguments, run without a shell, as a list, or as text where blanks alone separate them; {model} is the model, and the prompt comes on standard input, or in a file in place of {prompt_file}, or as text of at most 128 KiB in place of {prompt}, where others on the machine can read it",
		func(c *Config, name string, v []string) { c.agents[name].spec.Command = v })),
	shaping(keyOf("agents.NAME.preset", oneOf(agent.Presets()...), "", "the known tool that the command is, or that is run when there is no command",
		func(c *Config, name, v string) { c.agents[name].spec.Preset = v })),
	executable(keyOf("agents.NAME.protocol", oneOf(agent.ACP), "", "how the command, or the preset, is talked to: acp is the Agent Client Protocol, JSON-RPC on standard input and output. Without it the prompt goes to standard input",
		func(c *Config, name, v string) { c.agents[name].spec.Protocol = v })),
	executable(keyOf("agents.NAME.args", textsKind, "[]", "more arguments, after those of the command or the preset",
		func(c *Config, name string, v []string) { c.agents[name].spec.Args = v })),
	executable(keyOf("agents.NAME.reviewer_args", textsKind, "[]", "of a command that is no preset: more arguments for a reviewer, such as one that keeps it from writing",
		func(c *Config, name string, v []string) { c.agents[name].spec.Own.Reviewer = v })),
	executable(keyOf("agents.NAME.implementer_args", textsKind, "[]", "of a command that is no preset: more arguments for an implementer",
		func(c *Config, name string, v []string) { c.agents[name].spec.Own.Implementer = v })),
	executable(keyOf("agents.NAME.requires", textsKind, "[]", "of a command that is no preset: arguments without which it is not called, where its --help does not name them",
		func(c *Config, name string, v []string) { c.agents[name].spec.Own.Requires = v })),
	executable(keyOf("agents.NAME.aside", textsKind, "[]", "of a command that is no preset: files of the checkout that it obeys and that no reviewer is to see: /PATH at the top, or a name anywhere",
		func(c *Config, name string, v []string) { c.agents[name].spec.Own.Aside = v })),
	shaping(keyOf("agents.NAME.answer", textKind, "", `where the answer stands in what a command that is no preset writes as JSON, one value or one a line: "result", "message.content.0.text" or "item.text where item.type=agent_message"; the last one counts`,
		func(c *Config, name, v string) { c.agents[name].spec.Own.Answer = v })),
	usageKey("input", "tokens, with cached ones, that the model was sent"),
	usageKey("cached", "tokens of these that were cached"),
	usageKey("output", "tokens that the model wrote"),
	usageKey("cost", "US dollars"),
	executable(keyOf("agents.NAME.env", variablesKind, "[]", "names of environment variables to pass on",
		func(c *Config, name string, v []string) { c.agents[name].spec.Env = v })),
	keyOf("agents.NAME.backup", agentsKind, "[]", "agents that are asked in its place, one after the other, when it gives no answer: not found, not signed in, quota, killed, too slow",
		func(c *Config, name string, v []string) { c.agents[name].backup = v }),
	keyOf("agents.NAME.timeout", timeoutKind, `"30m"`, "wall time of one call",
		func(c *Config, name string, v duration.Duration) { c.agents[name].spec.Timeout = time.Duration(v) }),
	keyOf("agents.NAME.idle_timeout", timeoutKind, "", "time without output before it is stopped; presets: 10m",
		func(c *Config, name string, v duration.Duration) { c.agents[name].spec.Idle = time.Duration(v) }),
	ofGit(shaping(keyOf("agents.NAME.model", modelKind, "", "the model; without one the tool chooses as it is configured. NAME@MODEL in place of an agent's name is that agent with another model",
		func(c *Config, name, v string) { c.agents[name].spec.Model = v }))),
	shaping(keyOf("agents.NAME.models.quality", modelKind, "", "the model under this profile, in place of model",
		func(c *Config, name, v string) { c.agents[name].setModel("quality", v) })),
	shaping(keyOf("agents.NAME.models.balanced", modelKind, "", "the model under this profile, in place of model",
		func(c *Config, name, v string) { c.agents[name].setModel("balanced", v) })),
	shaping(keyOf("agents.NAME.models.budget", modelKind, "", "the model under this profile, in place of model",
		func(c *Config, name, v string) { c.agents[name].setModel("budget", v) })),
}

// usageKey returns a key for the place of a usage number in a command's JSON output.
func usageKey(of, means string) key {
	return shaping(keyOf("agents.NAME.usage."+of, textKind, "", "where that JSON says how many "+means+"; in the form of answer, and summed up", func(c *Config, name, v string) {
		own := &c.agents[name].spec.Own
		if own.Usage == nil {
			own.Usage = map[string]string{}
		}
		own.Usage[of] = v
	}))
}

var checkKeys = []key{
	executable(keyOf("checks.NAME.command", commandKind, "", "run at the top of the tree, text by sh -c and a list of words as it is; status 0 passes",
		func(c *Config, name, v string) { c.checkTable(name).Command = v })),
	keyOf("checks.NAME.match", textsKind, "[]", "more words by which a request means this check",
		func(c *Config, name string, v []string) { c.checkTable(name).Match = v }),
	keyOf("checks.NAME.timeout", timeoutKind, `"10m"`, "wall time of the check",
		func(c *Config, name string, v duration.Duration) { c.checkTable(name).Timeout = v }),
	keyOf("checks.sandbox", boolKind, "false", "run checks without network and with an empty home, by bwrap or unshare; where neither works none is run",
		func(c *Config, _ string, v bool) { c.sandbox = v }),
}

var worktreeKeys = []key{
	executable(keyOf("worktree.setup", commandKind, "", "run by sh -c at the top of a worktree before an agent or a check runs there, such as npm ci; not again there until it failed or what it depends on changed. What it makes that git neither tracks nor ignores is left out of the change",
		func(c *Config, _, v string) { c.worktree.Setup = v })),
	keyOf("worktree.setup_timeout", timeoutKind, `"10m"`, "wall time of the setup",
		func(c *Config, _ string, v duration.Duration) { c.worktree.Timeout = v }),
	keyOf("worktree.setup_inputs", textsKind, "[]", "globs as in .gitignore of the files that the setup depends on, beside the manifests and lock files of package managers and those that its words name",
		func(c *Config, _ string, v []string) { c.worktree.Inputs = v }),
	executable(keyOf("worktree.copy", placesKind, "[]", "files and directories of your checkout that git does not track and that each worktree gets a copy of (reflinks, on Linux, where the file system has them), such as .env*; an agent can read them, a secret in a line NAME=VALUE is masked in what is recorded",
		func(c *Config, _ string, v []string) { c.worktree.Copy = v })),
	executable(keyOf("worktree.link", placesKind, "[]", "the same by hard links, which take no room: what is removed or replaced in a worktree stays in your checkout, but a program that writes into such a file in place writes into yours; copied where the worktrees lie on another file system",
		func(c *Config, _ string, v []string) { c.worktree.Link = v })),
	keyOf("worktree.post_checkout", boolKind, "false", "run your post-checkout hook in a run's new worktree, as git worktree add does",
		func(c *Config, _ string, v bool) { c.worktree.PostCheckout = v }),
}

var scopeKeys = []key{
	keyOf("scope.allow", textsKind, "[]", "globs of the paths that an implementer may change, as in .gitignore; none means all",
		func(c *Config, _ string, v []string) { c.Scope.Allow = v }),
	keyOf("scope.deny", textsKind, "[]", "globs of the paths that an implementer may not change, as in .gitignore",
		func(c *Config, _ string, v []string) { c.Scope.Deny = v }),
}

var reviewKeys = []key{
	keyOf("review.reviewer", reviewersKind, `"builtin"`, "who does what git runr review asks for, several side by side with commas between: claude,codex; human leaves it to a person",
		func(c *Config, _, v string) { c.Review.Reviewer = v }),
	keyOf("review.exclude", textsKind, "[]", "globs of the paths that no review looks at, as in .gitignore: *.pb.go is every one, /gen/*.go those of one directory; a change of .runr.toml itself is shown whole",
		func(c *Config, _ string, v []string) { c.Review.Exclude = v }),
	keyOf("review.generated", boolKind, "false", "look at generated and vendored files as well: lock files, vendor/ and node_modules/, and what .gitattributes calls linguist-generated or linguist-vendored",
		func(c *Config, _ string, v bool) { c.Review.Generated = v }),
	keyOf("review.detect_checks", boolKind, "true", "without [checks.NAME], run the project's standard ones for commits of this clone",
		func(c *Config, _ string, v bool) { c.Review.DetectChecks = v }),
	keyOf("review.max_bytes", numberKind(1000, 100_000_000), "409600", "the most of a diff that an agent is sent at once; a larger one is reviewed in parts",
		func(c *Config, _ string, v int64) { c.Review.MaxBytes = int(v) }),
	keyOf("review.max_parts", numberKind(1, 1000), "10", "the most parts of one diff: what is beyond them is not reviewed, and that is no pass",
		func(c *Config, _ string, v int64) { c.Review.MaxParts = int(v) }),
	keyOf("review.quorum", numberKind(1, 100), "1", "how many agents of several must find that a change does not pass for that to count: 1 is the worst verdict of all, with 2 that of one alone is shown as disputed and is a pass with notes; a person's always counts. A review is complete when all have answered, or as many as this and the others failed for good",
		func(c *Config, _ string, v int64) { c.Review.Quorum = int(v) }),
	keyOf("review.judge", agentKind, "", "an agent that looks at each finding after the reviewers, with the code at hand: what it refutes is kept, folded away, and does not count for the verdict",
		func(c *Config, _, v string) { c.Review.Judge = v }),
	keyOf("review.kinds.NAME.prompt", textKind, "", "what git runr review --kind NAME looks for; security, tests, design and performance are there without it",
		func(c *Config, name, v string) { c.kinds[name] = v }),
	keyOf("review.owners", boolKind, "false", "approved asks for the approvals of the owners of what changed as well, as CODEOWNERS of the base has them; [teams] says who @NAME is",
		func(c *Config, _ string, v bool) { c.Review.Owners = v }),
	keyOf("review.instructions", oneOf("none", "base"), `"none"`, "base: .runr/review.md as the base of a change has it is told to reviewers as the project's own instructions, the first 16 KiB; what the change itself says is never one",
		func(c *Config, _, v string) { c.Review.Instructions = v }),
}

var sharingKeys = []key{
	keyOf("hooks.post_commit", oneOf("review", "off"), `"review"`, "what the post-commit and post-merge hooks ask for",
		func(c *Config, _, v string) { c.Hooks.PostCommit = v }),
	keyOf("hooks.pre_push", oneOf("off", "warn", "refuse"), `"off"`, "what a push does with commits that pre_push_require does not let through; git runr hooks install then writes the pre-push hook",
		func(c *Config, _, v string) { c.Hooks.PrePush = v }),
	keyOf("hooks.pre_push_require", levelKind, `"checked"`, "how far a commit must have been looked at before it is pushed: checked by rules, reviewed by an agent or a person, or approved by a person who is none of its authors, approved=2 by two; what a NEEDS_FIX or CRITICAL stands against is never pushed; passed is an old word for reviewed",
		func(c *Config, _, v string) { c.Hooks.PrePushRequire = v }),
	keyOf("hooks.debounce", durationKind, `"0s"`, "how long the worker waits for further commits of a branch, and then makes one review of those that came",
		func(c *Config, _ string, v duration.Duration) { c.Hooks.Debounce = v }),
	executable(keyOf("hooks.notify", argvKind, "", "program and arguments, run after a review by the worker that did not pass, with what came of it as JSON on standard input; it has 10 seconds",
		func(c *Config, _ string, v []string) { c.notify = v })),
	keyOf("hooks.desktop", boolKind, "true", "tell of such a review on the desktop, where there is one",
		func(c *Config, _ string, v bool) { c.Hooks.Desktop = v }),
	keyOf("hooks.scope", oneOf("commit", "branch"), `"commit"`, "what the hook's reviews are of: each commit, or the branch since it left its upstream or the default branch",
		func(c *Config, _, v string) { c.Hooks.Scope = v }),
	keyOf("hooks.skip_paths", textsKind, "[]", "globs as in review.exclude: a commit that changes nothing else is not asked to be reviewed",
		func(c *Config, _ string, v []string) { c.Hooks.Skip.Paths = v }),
	keyOf("hooks.skip_authors", textsKind, "[]", "commits are skipped whose author's name or address has this text in it, such as dependabot[bot]",
		func(c *Config, _ string, v []string) { c.Hooks.Skip.Authors = v }),
	keyOf("hooks.skip_messages", textsKind, `["[skip runr]"]`, "commits are skipped whose message has this text in it",
		func(c *Config, _ string, v []string) { c.Hooks.Skip.Messages = v }),
	keyOf("hooks.skip_lines", numberKind(0, 100_000_000), "0", "commits are skipped that add and delete more lines than this; 0 is no limit",
		func(c *Config, _ string, v int64) { c.Hooks.Skip.Lines = int(v) }),
	keyOf("hooks.skip_branches", textsKind, "[]", "globs of the branches whose commits are skipped: wip/**",
		func(c *Config, _ string, v []string) { c.Hooks.Skip.Branches = v }),

	keyOf("inbox.auto_resolve", oneOf(string(closing.OnPass), string(closing.Never)), `"pass"`, "pass closes by itself what needs nobody any more: a review that passed without notes, one whose findings are all answered, an older one of the same change by the same reviewers; it stays in git runr log, in the notes and in inbox list --status all",
		func(c *Config, _, v string) { c.Inbox.Closing = closing.Rule(v) }),
	keyOf("inbox.retention", timeoutKind, `"30d"`, "how long closed reviews are listed",
		func(c *Config, _ string, v duration.Duration) { c.Inbox.Retention = v }),

	keyOf("sync.remote", remoteKind, "", "the configured remote where reviews live, which may be a repository of its own; by default origin, else the only one",
		func(c *Config, _, v string) { c.Sync.Remote = v }),
	keyOf("sync.private", textsKind, "[]", "globs of branches, such as secret/*: reviews and runs that begin there stay in this clone, as with --private",
		func(c *Config, _ string, v []string) { c.Sync.Private = v }),
	keyOf("sync.notes", boolKind, "true", "push the readable notes as well",
		func(c *Config, _ string, v bool) { c.Sync.Notes = v }),
	keyOf("sync.checked", boolKind, "true", "share that rules and checks found nothing in a commit; false keeps that in the clone whose hook had it looked at, where audit and the gate know it; any other clone can look again",
		func(c *Config, _ string, v bool) { c.Sync.Checked = v }),
	keyOf("sync.verify", oneOf("off", "warn", "require"), `"off"`, "what an approval counts that is not signed by the approver's address, see runr.sign: require does not count it, warn counts and marks it",
		func(c *Config, _, v string) { c.Sync.Verify = v }),
	keyOf("sync.signers", textKind, "", "the path of a file of allowed signers, as ssh-keygen(1) has it, in the commit that a change is based on; without it gpg.ssh.allowedSignersFile of this clone",
		func(c *Config, _, v string) { c.Sync.Signers = v }),
	keyOf("sync.retire", durationKind, `"30d"`, "the logs of writers that have recorded nothing for so long, CI jobs mostly, are put into one archive when there are more than 64; 0s is never",
		func(c *Config, _ string, v duration.Duration) { c.Sync.Retire = v }),
}

var teamKeys = []key{
	ofGit(keyOf("teams.NAME", peopleKind, "", "who is meant by a name: addresses, or other names; \"@ada\" is a name of a forge, as CODEOWNERS has it",
		func(c *Config, name string, v []string) { c.Teams[name] = v })),
}

// agentSteps has the kinds of steps with an agent, by whether it reviews.
var agentSteps = map[bool]runplan.StepKind{true: runplan.StepReview, false: runplan.StepAgent}

// gitSetting is a setting that only git config has.
type gitSetting struct{ name, means string }

// gitOnly are settings of git config that other packages read.
var gitOnly = []gitSetting{
	{"runr.program", "where git-runr is, for hooks of other tools that do not find it on PATH"},
	{"runr.home", "the remote to which what was recorded before goes, where another one is elected now: git runr help files"},
	{"runr.privateWriter", "the id under which this clone records what never leaves it"},
	{"runr.remote", "short for runr.sync.remote"},
	{"runr.serve", "false: git runr review starts no server by itself"},
	{"runr.serveIdle", "how long such a server lives that nobody asks anything: 1h, 30m"},
	{"runr.sign", "sign events as commits are signed; without it commit.gpgSign counts"},
	{"runr.writer", "the id of this clone, made at its first write; or a name that several clones share, as GIT_RUNR_WRITER gives one to the jobs of a pipeline"},
}

// Help returns the text of git runr help config.
func Help() string {
	var b strings.Builder
	b.WriteString(intro)
	for _, k := range keys {
		safetext.Fprintf(&b, "\n%s%s\n    %s (%s; %s)\n", k.name, defaultText(k.def), k.means, k.wants, k.setBy())
	}
	b.WriteString("\nOnly in git config:\n")
	for _, g := range gitOnly {
		safetext.Fprintf(&b, "\n%s\n    %s\n", g.name, g.means)
	}
	return b.String()
}

const intro = `A value comes from the first of these that gives it:

  the command line
  git config              runr.SECTION.KEY, such as runr.loop.maxRetries
  the user's file         $XDG_CONFIG_HOME/git-runr/config.toml,
                          else ~/.config/git-runr/config.toml
  the repository's file   .runr.toml at the top

A table such as [checks.test] in the user's file replaces the repository's whole
table of that name. Commands that only the repository's file gives are run after
git runr trust.
`

func defaultText(def string) string {
	if def == "" {
		return ""
	}
	return " = " + def
}

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
