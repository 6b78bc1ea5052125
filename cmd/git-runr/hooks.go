package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/gitstore"
	"git-runr/hooks"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

func (p *program) hooksCommand() *cli.Command {
	command := func(name, usage string, do func(context.Context, *gitstore.Repo) ([]hooks.Status, error)) *cli.Command {
		return &cli.Command{Name: name, Usage: usage, Action: p.action(func(s *session) error { return hookAction(s, do) })}
	}
	install := func(ctx context.Context, repo *gitstore.Repo) ([]hooks.Status, error) {
		return hooks.Install(ctx, repo, installedProgram(p.getenv("PATH")))
	}
	return &cli.Command{
		Name: "hooks", Usage: "install, uninstall or status of the post-commit hook",
		Subcommands: []*cli.Command{
			command("install", "review every commit in the background", install),
			command("uninstall", "take the hook out again", hooks.Uninstall),
			command("status", "whether git would run it", hooks.StatusOf),
			{Name: "run", Hidden: true, Usage: "what the hook calls", ArgsUsage: "HOOK", Action: p.action(hookRun)},
		},
		Action: p.action(func(s *session) error { return hookAction(s, hooks.StatusOf) }),
	}
}

// installedProgram is this program as PATH names it, which outlives an upgrade, or
// else where its file is.
func installedProgram(path string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	own, err := os.Stat(self)
	if err != nil {
		return ""
	}
	for _, dir := range filepath.SplitList(path) {
		name := filepath.Join(dir, "git-runr")
		if info, err := os.Stat(name); err == nil && filepath.IsAbs(name) && os.SameFile(info, own) {
			return name
		}
	}
	return self
}

type hooksJSON struct {
	Hooks []hooks.Status `json:"hooks"`
}

func hookAction(s *session, do func(context.Context, *gitstore.Repo) ([]hooks.Status, error)) error {
	if s.NArg() > 0 {
		return exit.Problemf(exit.Usage, "hooks knows no %q", s.Args().First()).WithHint("git runr hooks install|uninstall|status")
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	statuses, err := do(s.ctx, store.Repo)
	if errors.Is(err, hooks.ErrByHand) {
		refused := exit.Problemf(exit.Conflict, "%w", err)
		for _, st := range statuses {
			if st.Snippet != "" {
				refused = refused.WithHint("add:").WithHint(splitLines(st.Snippet)...)
			}
		}
		return refused
	}
	if err != nil {
		return err
	}
	return s.print(hooksJSON{statuses}, func(w io.Writer) {
		for _, st := range statuses {
			safetext.Fprintf(w, "%s: %s  %s\n", st.Hook, st.State, st.Path)
			if st.Detail != "" {
				safetext.Fprintf(w, "  %s\n", st.Detail)
			}
			writeWithout(w, st)
		}
	})
}

// writeWithout names the worktrees that a hook does not reach.
func writeWithout(w io.Writer, st hooks.Status) {
	for _, top := range st.Without {
		safetext.Fprintf(w, "  core.hooksPath is relative, so this worktree has hooks of its own, without it: %s\n", top)
		if line, ok := safetext.CommandLine("git", "-C", top, "runr", "hooks", "install"); ok {
			safetext.Fprintf(w, "    %s\n", line)
		}
	}
}

// hookRun is what git's post-commit hook calls. It records the request and starts
// the worker; whatever goes wrong, the commit is made and must not wait.
func hookRun(s *session) error {
	if s.Args().First() != "post-commit" {
		return nil
	}
	store, err := s.open()
	if err != nil {
		return nil
	}
	store.Redact = nil // no free text
	s.sayCritical(store)
	if err := s.postCommit(store); err != nil {
		s.logHook(store, err)
	}
	return nil
}

func (s *session) postCommit(store *record.Store) error {
	if run, _ := hooks.ShouldRun(s.ctx, store.Repo, s.getenv); !run {
		return nil
	}
	conf, err := s.configuration(store)
	if err != nil {
		return err
	}
	if conf.Hooks.PostCommit != "review" {
		return nil
	}
	request := record.ReviewRequest{Reviewer: conf.Review.Reviewer}
	if request.Subject, err = store.HeadSubject(s.ctx); err != nil {
		return err
	}
	if _, err := store.RequestReview(s.ctx, request, "hook"); err != nil {
		return err
	}
	if request.Reviewer == record.Human {
		return nil
	}
	return startWorker(store.Repo)
}

// logHook keeps what went wrong in a hook where a person can find it.
func (c *console) logHook(store *record.Store, err error) {
	file, openErr := os.OpenFile(filepath.Join(store.Repo.StateDir(), "hook.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if openErr != nil {
		return
	}
	defer file.Close()
	safetext.Fprintf(file, "%s %s\n", c.now().UTC().Format("2006-01-02T15:04:05Z"), err.Error())
}
