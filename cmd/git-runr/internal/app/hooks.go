package app

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/background"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/overview"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/setup"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/hooks"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) hooksCommand() *cli.Command {
	install := p.onHooks(false, func(s *session, repo *gitstore.Repo, gate bool) ([]hooks.Status, error) {
		return hooks.Install(s.ctx, repo, hooks.Setup{Program: setup.Program(s.getenv("PATH")), Gate: gate,
			Write: s.Bool("write")})
	})
	uninstall := p.onHooks(false, func(s *session, repo *gitstore.Repo, _ bool) ([]hooks.Status, error) {
		return hooks.Uninstall(s.ctx, repo)
	})
	status := p.onHooks(true, func(s *session, repo *gitstore.Repo, gate bool) ([]hooks.Status, error) {
		return hooks.StatusOf(s.ctx, repo, gate)
	})
	return &cli.Command{
		Name: "hooks", Usage: "install or remove the git hooks that call git-runr",
		Description: `post-commit and post-merge request reviews of your commits; post-rewrite records where reviewed
commits went after an amend or rebase. They never fail, and never wait for a review. pre-push is a gate, off by
default: set hooks.pre_push to warn or refuse, and install again. If another tool manages the hooks, install prints
what to add to its files; --write adds it for husky, lefthook and pre-commit. If git supports hooks in its
configuration (2.54 and later), they are set there and no file is written.
Exit status of status: 1 if git would not run a hook that should be installed.`,
		Commands: []*cli.Command{
			{Name: "install", Usage: "install the hooks, which review every commit in the background",
				Action: install, Flags: []cli.Flag{
					&cli.BoolFlag{Name: "write", Usage: "also add the calls to the files of husky, lefthook or pre-commit"},
				}},
			{Name: "uninstall", Usage: "remove the hooks", Action: uninstall},
			{Name: "status", Usage: "show whether git would run them", Action: status},
			{Name: "agent", Hidden: true, Usage: "what agent tools call, with their JSON on standard input",
				ArgsUsage: "TOOL EVENT", Action: p.action(agentHook)},
			{Name: "run", Hidden: true, Usage: "what the hooks call", ArgsUsage: "HOOK", Action: p.action(hookRun)},
		},
		Action: status,
	}
}

// onHooks returns the action of a command that calls do and prints the states of the hooks that do returns. With checks
// the exit status is 1 if git would not run one of them. gate is false if the configuration cannot be read.
func (p *program) onHooks(checks bool,
	do func(s *session, repo *gitstore.Repo, gate bool) ([]hooks.Status, error)) cli.ActionFunc {
	return p.inRepo(func(s *session, store *store.Store) error {
		conf, err := s.configuration(store)
		statuses, err := do(s, store.Repo, err == nil && conf.Hooks.PrePush != "off")
		if errors.Is(err, hooks.ErrByHand) {
			refused := exit.Problemf(exit.Conflict, "%w", err)
			for i, st := range statuses {
				if i == 0 { // the same for all
					refused = refused.WithHint(st.Repair)
				}
				if st.Snippet != "" {
					refused.Hint = append(refused.Hint, "add for "+st.Hook+":")
					refused.Hint = append(refused.Hint, splitLines(st.Snippet)...) // with its indentation
				}
			}
			return refused
		}
		if err != nil {
			return err
		}
		failed := checks && slices.ContainsFunc(statuses, func(st hooks.Status) bool { return st.Fails })
		return s.printEnding(map[string]any{"hooks": statuses}, failed, exit.NotPassed, func(w io.Writer) {
			for _, st := range statuses {
				fails := ""
				if st.Fails {
					fails = ", would not run"
				}
				safetext.Fprintf(w, "%s: %s%s  %s\n", st.Hook, st.State, fails, st.Path)
				screen.When(w, st.Detail != "", "  %s\n", st.Detail)
				writeUnhookedWorktrees(w, st)
			}
		})
	})
}

// writeUnhookedWorktrees lists the worktrees that do not have the hook.
func writeUnhookedWorktrees(w io.Writer, st hooks.Status) {
	for _, top := range st.Without {
		safetext.Fprintf(w, "  core.hooksPath is relative, so this worktree has its own hooks, without this one: %s\n", top)
		if line, ok := safetext.CommandLine("git", "-C", top, "runr", "hooks", "install"); ok {
			safetext.Fprintf(w, "    %s\n", line)
		}
	}
}

// hookRuns are the hooks that git runr hooks run accepts.
var hookRuns = map[string]func(*session, *store.Store) error{
	hooks.PostCommit: (*session).postCommit, hooks.PostRewrite: (*session).postRewrite,
	hooks.PostMerge: (*session).postMerge, hooks.PrePush: (*session).prePush,
}

// hookLine returns the hook and its arguments if typed is a command line of our hooks after a commit, merge or
// rewrite, else nil.
func hookLine(typed []string) []string {
	if len(typed) < 4 || typed[1] != "hooks" || typed[2] != "run" || typed[3] == hooks.PrePush ||
		hookRuns[typed[3]] == nil {
		return nil
	}
	if slices.ContainsFunc(typed[4:], func(arg string) bool { return strings.HasPrefix(arg, "-") }) {
		return nil
	}
	return typed[3:]
}

// runHook executes a hookLine. It skips the command line parser, which would build all commands and their flags, and
// signal handling, which starts threads. Together they take a fifth of the process's time. A signal kills the
// process, and review --missing finds what was not recorded.
func (p *program) runHook(ctx context.Context, args []string) int {
	out := &stdio.Output{Writer: p.out}
	p = p.writing(out)
	line := &cli.Command{Name: "run", Hidden: true, HideHelp: true, SkipFlagParsing: true, ExitErrHandler: leftToFinish,
		Action: p.action(hookRun)}
	err := line.Run(ctx, append([]string{line.Name}, args...))
	return out.Finish(err, talk{p}, false)
}

// hookRun is the command that git's hooks call. It records requests and starts the worker. Errors are logged and not
// returned, because git is already done and must not wait. Only prePush can refuse.
func hookRun(s *session) error {
	run := hookRuns[s.Args().First()]
	if run == nil {
		return nil
	}
	store, err := s.open()
	if err != nil {
		return nil
	}
	store.Redact, store.Tell = nil, nil // no free text is recorded, and nobody reads messages of a hook
	hook := s.Args().First()
	if should, _ := hooks.ShouldRun(s.ctx, store.Repo, hook, s.getenv); !should && hook != hooks.PrePush {
		return nil
	}
	if hook == hooks.PostCommit && store.Repo.Operation() == "" && !store.Repo.IsOwnWorktree() {
		if line := overview.Critical(s.ctx, store); line != "" && !s.quiet { // the hook discards standard error
			safetext.Fprintf(s.out, "git-runr: %s\n", line)
		}
	}
	err = run(s, store)
	if err != nil && refuses(err) {
		return err
	}
	if err != nil {
		s.logHook(store, err)
	}
	return nil
}

// postCommit requests a review of the new commit.
func (s *session) postCommit(store *store.Store) error {
	conf, err := s.configuration(store)
	if err != nil || conf.Hooks.PostCommit != "review" {
		return err
	}
	asked, err := intake.AskForCommit(s.ctx, store, conf.Request(), conf.Hooks.Skip, conf.Batch())
	if err != nil || !asked || conf.Review.Reviewer == record.Human {
		return err
	}
	return background.Work(store.Repo)
}

// postRewrite records which commits an amend or rebase replaced. The worker then moves their reviews.
func (s *session) postRewrite(store *store.Store) error {
	pairs, err := hooks.Rewritten(s.in)
	if err == nil {
		err = lineage.NoteRewrite(store, s.Args().Get(1), pairs)
	}
	if err != nil {
		return err
	}
	return background.Work(store.Repo)
}

// postMerge requests a review of a merge commit that was made here. The worker finds what came from elsewhere.
func (s *session) postMerge(store *store.Store) error {
	conf, err := s.configuration(store)
	if err != nil || s.Args().Get(1) == "1" { // --squash creates no commit
		return err
	}
	if conf.Hooks.PostCommit == "review" {
		_, err = intake.AskForMerge(s.ctx, store, conf.Request(), conf.Hooks.Skip, conf.Batch())
	}
	return errors.Join(err, background.Work(store.Repo))
}

// logHook appends an error of a hook to hook.log.
func (c *console) logHook(store *store.Store, err error) {
	file, openErr := os.OpenFile(filepath.Join(store.Repo.StateDir(), "hook.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY,
		0o666)
	if openErr == nil {
		_, openErr = safetext.Fprintf(file, "%s %s\n", c.now().UTC().Format("2006-01-02T15:04:05Z"), err.Error())
		openErr = errors.Join(openErr, file.Close())
	}
	if openErr != nil { // such as a full disk: otherwise nobody would know
		safetext.Fprintf(c.out, "git-runr: nothing could be recorded (%v); later: git runr review --missing\n", err)
	}
}
