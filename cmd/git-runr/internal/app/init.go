package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/register"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/setup"
	"github.com/git-runr/git-runr/hooks"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) initCommand() *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "set up this repository: .runr.toml, hooks and notes",
		Description: `Writes .runr.toml with the checks that the project seems to have (an existing file is kept),
installs the git hooks that call git-runr, makes git log show the notes and rebases keep them. On a terminal it asks
first whether you trust the commands that it writes; elsewhere they do not run before git runr trust. It prints what it
did and what each commit does from now on; --dry-run only prints it. git runr uninstall takes all of it back.

--agents does something else: it tells the agent tools that it finds here about git-runr, in their own files in this
repository: a skill, the server git runr mcp, and with --hooks commands that they run. It shows a diff first, and
--remove removes exactly what was written.`,
		Flags:  append([]cli.Flag{&cli.BoolFlag{Name: "no-hooks", Usage: "install no git hooks"}}, agentsFlags()...),
		Action: p.inRepo(initialise),
	}
}

type initJSON struct {
	Config   string          `json:"config"`
	Written  bool            `json:"written"`
	Checks   []runplan.Check `json:"checks"`
	Setup    string          `json:"setup"` // command that prepares a worktree
	Copy     []string        `json:"copy"`  // patterns of files that are copied into worktrees
	Hooks    []hooks.Status  `json:"hooks"`
	Trusted  bool            `json:"trusted"`
	Agents   []string        `json:"agents"`   // agent tools that init --agents can tell
	Reviewer string          `json:"reviewer"` // reviewer of each commit
	DryRun   bool            `json:"dry_run,omitempty"`
	commands bool            // .runr.toml has, or would have, commands that wait for trust
	shown    bool            // git log showed the notes before
	each     bool            // each commit gets a review request
	absent   bool            // there was no configuration
	unready  *record.Failure // why the reviewer cannot review now, or nil
	skip     []string        // texts in a message that leave a commit out
	refuses  bool            // the gate refuses a push
	required string          // what the gate requires of a commit
}

func initialise(s *session, store *store.Store) error {
	if _, err := store.Repo.Checkout(); err != nil {
		return exit.Problemf(exit.State, "%w", err).WithHint("run init in a checkout")
	}
	if s.Bool("agents") {
		return s.initAgents(store)
	}
	for _, flag := range []string{"for", "hooks", "read-only", "remove", "yes"} {
		if s.IsSet(flag) {
			next := map[string]string{"yes": "git runr init", "remove": "git runr uninstall",
				"for": "git runr init --agents"}[flag]
			return exit.Problemf(exit.Usage, "--%s needs --agents", flag).
				WithHint(cmp.Or(next, "git runr init --agents --"+flag))
		}
	}
	doc := initJSON{Config: filepath.Join(store.Repo.WorkTree, config.FileName), Checks: []runplan.Check{},
		Copy: []string{}, Hooks: []hooks.Status{}, DryRun: s.Bool("dry-run")}
	doc.shown = setup.ShowsNotes(store.Repo)
	var given runplan.Worktree
	var err error
	if _, absent := os.Lstat(doc.Config); absent != nil {
		doc.absent, doc.Written = true, !doc.DryRun
		doc.Checks, given, err = setup.Detect(s.ctx, store.Repo)
		doc.Setup, doc.Copy = given.Setup, append(doc.Copy, given.Copy...)
	}
	if err != nil {
		return err
	}
	trusted := s.askTrust(store, doc) // before anything is written
	if s.ctx.Err() != nil {
		s.say("nothing was written")
		return s.ctx.Err()
	}
	if err := s.setUp(store, doc, given); err != nil {
		return err
	}
	conf, err := s.configuration(store)
	if err != nil {
		return err
	}
	if trusted {
		if err := conf.Approve(s.ctx, s.now()); err != nil {
			return err
		}
	}
	state, _ := conf.Trust()
	doc.Trusted = state == config.Trusted
	doc.commands = conf.Executes() || doc.found()
	if err := s.initHooks(store, conf, &doc); err != nil {
		return err
	}
	doc.Agents = register.Found(store.Repo.WorkTree, s.getenv)
	return s.print(doc, func(w io.Writer) { writeInit(w, doc) })
}

// setUp writes the configuration, if there is none, and makes git show the notes; with --dry-run it writes nothing.
func (s *session) setUp(store *store.Store, doc initJSON, given runplan.Worktree) error {
	if doc.DryRun {
		return nil
	}
	if err := setup.Remember(store.Repo); err != nil {
		return err
	}
	if doc.Written {
		if err := setup.WriteConfig(store.Repo, doc.Checks, given); err != nil {
			return err
		}
	}
	return setup.ShowNotes(s.ctx, store)
}

// initHooks installs the hooks; with --dry-run it only reads their status.
func (s *session) initHooks(store *store.Store, conf *config.Config, doc *initJSON) (err error) {
	doc.Reviewer, doc.each = conf.Review.Reviewer, conf.Hooks.PostCommit == "review"
	doc.unready, doc.skip = conf.Ready(doc.Reviewer, agent.Reviewer), conf.Hooks.Skip.Messages
	doc.refuses, doc.required = conf.Hooks.PrePush == "refuse", conf.Hooks.PrePushRequire
	gate := conf.Hooks.PrePush != "off"
	switch {
	case s.Bool("no-hooks"):
		return nil
	case doc.DryRun:
		doc.Hooks, err = hooks.StatusOf(s.ctx, store.Repo, gate)
		return err
	}
	doc.Hooks, err = hooks.Install(s.ctx, store.Repo, hooks.Setup{Program: setup.Program(s.getenv("PATH")), Gate: gate})
	if errors.Is(err, hooks.ErrByHand) {
		return nil
	}
	return err
}

// found reports whether .runr.toml gets commands.
func (d initJSON) found() bool { return len(d.Checks)+len(d.Setup)+len(d.Copy) > 0 }

// askTrust asks a person at a terminal to trust the commands that init will write. Elsewhere nobody has said yes to
// them.
func (s *session) askTrust(store *store.Store, doc initJSON) bool {
	if doc.DryRun || !doc.absent || !doc.found() || s.requirePerson(store) != nil {
		return false
	}
	yes, _ := s.askPerson(func(w io.Writer) { writeFound(w, doc) },
		"Run these commands on the code that is checked out and on what you commit, with your rights?")
	return yes
}

// writeFound writes what init found in the project: checks, and what worktrees are given.
func writeFound(w io.Writer, doc initJSON) {
	for _, c := range doc.Checks {
		safetext.Fprintf(w, "  %s: %s\n", c.Name, c.Command)
	}
	screen.When(w, doc.Setup != "", "  setup of each worktree: %s\n", doc.Setup)
	screen.When(w, len(doc.Copy) > 0, "  copied into each worktree: %s   (agents that work there can read them)\n",
		strings.Join(doc.Copy, ", "))
}

// writeHooks writes the state of each hook, and reports whether commits are reviewed from now on.
func writeHooks(w io.Writer, doc initJSON) (calls bool) {
	for _, st := range doc.Hooks {
		state := string(st.State)
		if doc.DryRun && st.State != hooks.Installed && st.Snippet == "" {
			state += ", would be installed"
		}
		calls = calls || st.Hook == hooks.PostCommit && (doc.DryRun || st.State == hooks.Installed)
		safetext.Fprintf(w, "%s hook: %s  %s\n", st.Hook, state, st.Path)
		switch {
		case st.Snippet != "":
			safetext.Fprintf(w, "  %s; add:\n%s\n", st.Detail, safetext.Block(st.Snippet))
		case st.State == hooks.Dead && st.Detail != "":
			safetext.Fprintf(w, "  %s\n", st.Detail)
		}
		writeUnhookedWorktrees(w, st)
	}
	return calls
}

// writeFromNowOn says what a commit does when the hooks are installed.
func writeFromNowOn(w io.Writer, doc initJSON) {
	checks := "."
	switch {
	case len(doc.Checks) > 0 && doc.Trusted:
		checks = ", and the checks run."
	case len(doc.Checks) > 0:
		checks = ", and the checks run once they are trusted."
	}
	when := map[bool]string{true: "After git runr init", false: "From now on"}[doc.DryRun]
	switch {
	case doc.Reviewer == record.Human:
		safetext.Fprintf(w, "\n%s a review of each commit is requested from a person%s\n", when, checks)
	case doc.Reviewer == record.Builtin:
		safetext.Fprintf(w, "\n%s each commit is checked in the background by builtin%s\n", when, checks)
	default:
		safetext.Fprintf(w, "\n%s each commit is reviewed in the background by %s%s\n", when, doc.Reviewer, checks)
	}
	if doc.unready != nil {
		safetext.Fprintf(w, "%s cannot review yet: %s\n", doc.Reviewer, doc.unready.Detail)
	}
	waits := "No commit and no push waits for it"
	gate := func(st hooks.Status) bool {
		return st.Hook == hooks.PrePush && (st.State == hooks.Installed || doc.DryRun && st.Snippet == "")
	}
	if doc.refuses && slices.ContainsFunc(doc.Hooks, gate) {
		waits = "A push is refused until its commits are " + doc.required
	}
	left := ""
	if len(doc.skip) > 0 {
		left = fmt.Sprintf("; %s in a message leaves a commit out", doc.skip[0])
	}
	safetext.Fprintf(w, "%s%s.\n", waits, left)
	screen.When(w, doc.Reviewer == record.Builtin, "%s\n", safetext.Block(render.BuiltinIs))
}

func writeInit(w io.Writer, doc initJSON) {
	would := map[bool]string{true: "Would write", false: "Wrote"}[doc.DryRun]
	switch {
	case doc.absent && len(doc.Checks) == 0:
		safetext.Fprintf(w, "%s %s. No checks were found here: git runr help config explains how to add them.\n", would,
			doc.Config)
	case doc.absent:
		safetext.Fprintf(w, "%s %s with %s:\n", would, doc.Config, prose.Count(len(doc.Checks), "check"))
	default:
		safetext.Fprintf(w, "Kept %s.\n", doc.Config)
	}
	writeFound(w, doc)
	calls := writeHooks(w, doc)
	shows := map[bool]string{true: "shows the notes already", false: "shows the notes"}[doc.shown]
	if doc.DryRun && !doc.shown {
		shows = "would show the notes"
	}
	safetext.Fprintf(w, "git log %s: git config notes.displayRef %s\n", shows, store.NotesRef)
	if calls && doc.each {
		writeFromNowOn(w, doc)
	}
	screen.When(w, len(doc.Agents) > 0, "To set up %s, type: git runr init --agents\n", strings.Join(doc.Agents, ", "))
	if !doc.DryRun {
		fmt.Fprint(w, "Undo it: git runr uninstall\nTry: git runr review --wait\n")
	}
	switch {
	case !doc.commands || doc.Trusted:
	case doc.DryRun && doc.absent:
		fmt.Fprint(w, "init would ask on a terminal whether you trust its commands; elsewhere type: git runr trust\n")
	default:
		safetext.Fprintf(w, "The commands of %s are not trusted yet, so they do not run; type: git runr trust\n",
			config.FileName)
	}
}
