package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/hooks"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// Bounds of what a push is held up for.
const (
	maxPushed  = 1000 // commits that are looked at, the newest
	hintsShown = 3    // lines to type
)

// prePush is the gate before a push: its error is exit.NotPassed, without words, when the
// push is refused. It reads refs, the index and commits. Its words go to standard output,
// which the hook hands to standard error. One that cannot be asked refuses: it may be what
// is pushed that spoils it.
func (s *session) prePush(store *store.Store) error {
	conf, err := s.configuration(store)
	if err != nil {
		return s.closed(err)
	}
	if conf.Hooks.PrePush == "off" {
		return nil
	}
	err = s.gate(store, conf)
	if err != nil && !refuses(err) && conf.Hooks.PrePush == "refuse" {
		return s.closed(err)
	}
	return err
}

// refuses reports whether err is a gate's refusal, which has told why.
func refuses(err error) bool {
	refused := new(exit.Problem)
	return errors.As(err, &refused) && refused.Status == exit.NotPassed && refused.Msg == ""
}

// gate is prePush of one that is on.
func (s *session) gate(store *store.Store, conf *config.Config) error {
	refs, err := hooks.Pushed(s.in)
	if err != nil {
		return err
	}
	remote := s.Args().Get(1)
	tips, old, private := sortPushed(refs)
	commits, err := store.Repo.Unpushed(s.ctx, remote, tips, old, maxPushed)
	if err != nil || len(commits)+len(private) == 0 {
		return err
	}
	branch, err := store.Branch(s.ctx)
	if err != nil {
		return err
	}
	base, err := s.pushedOnto(store, refs)
	if err != nil {
		return err
	}
	bar, err := s.bar(store, conf, conf.Hooks.PrePushRequire, base, commits)
	if err != nil {
		return err
	}
	held, err := intake.Gate(s.ctx, store, commits, bar, conf.Hooks.Skip, branch)
	if err != nil || len(held)+len(private) == 0 {
		return err
	}
	if len(held) > 0 {
		writeHeldUp(s.out, bar, len(commits), held)
	}
	if len(private) > 0 {
		writePrivate(s.out, remote, slices.Contains(store.Repo.Remotes(), remote), private)
	}
	if conf.Hooks.PrePush == "warn" {
		fmt.Fprintln(s.out, "It is pushed all the same: hooks.pre_push is warn.")
		return nil
	}
	fmt.Fprintln(s.out, "Refused; to push all the same: git push --no-verify")
	return exit.With(exit.NotPassed)
}

// bar is how far commits must have been looked at that level is required of. Where base is "" it is the parent of the oldest.
func (s *session) bar(store *store.Store, conf *config.Config, level string, base gitstore.ID, commits []gitstore.LoggedCommit) (lineage.Bar, error) {
	base, err := lineage.BaseOf(s.ctx, store, commits, base)
	if err != nil {
		return lineage.Bar{}, err
	}
	return conf.Bar(s.ctx, level, base)
}

// pushedOnto returns what the remote has of the first branch that is pushed: its files say who is who, and whose approval
// counts. Of a new branch it is where that left the trunk; "" where it left none.
func (s *session) pushedOnto(store *store.Store, refs []hooks.Push) (gitstore.ID, error) {
	for _, ref := range refs {
		if ref.New == "" || !isCode(ref.Remote) {
			continue
		}
		if ref.Old != "" {
			return ref.Old, nil
		}
		base, _, err := store.Repo.BranchPointOf(s.ctx, ref.Local, ref.New)
		return base, err
	}
	return "", nil
}

// closed refuses a push because the gate cannot be asked.
func (s *session) closed(err error) error {
	safetext.Fprintf(s.out, "git runr: the gate before a push cannot be asked: %v\nRefused; to push all the same: git push --no-verify\n", err)
	return exit.With(exit.NotPassed)
}

// isCode reports whether a ref of a remote is one that a gate is for: all that is not
// notes or ours.
func isCode(ref string) bool {
	return !strings.HasPrefix(ref, "refs/notes/") && !strings.HasPrefix(ref, "refs/runr/")
}

// sortPushed returns the tips of code that is pushed, what the refs are at on the remote, and which refs are
// of this clone alone.
func sortPushed(refs []hooks.Push) (tips, old []gitstore.ID, private []string) {
	for _, ref := range refs {
		if ref.Old != "" {
			old = append(old, ref.Old)
		}
		switch {
		case isPrivate(ref.Local):
			private = append(private, ref.Local)
		case ref.New != "" && isCode(ref.Remote):
			tips = append(tips, ref.New)
		}
	}
	return tips, old, private
}

// isPrivate reports whether a ref is of this clone alone. Git has no setting that keeps such refs back from
// push --mirror, and loses in gc what is not below refs/.
func isPrivate(ref string) bool {
	return strings.HasPrefix(ref, "refs/runr-local/") || strings.HasPrefix(ref, "refs/runr-remotes/")
}

// writePrivate names the refs that stay here, and prints the line that pushes what push --mirror does beside them.
func writePrivate(w io.Writer, remote string, named bool, refs []string) {
	what := refs[0] + " is"
	if len(refs) > 1 {
		what = fmt.Sprintf("%s and %d more are", refs[0], len(refs)-1)
	}
	argv := []string{"git"}
	if named { // where it is set, git takes no refspecs
		argv = append(argv, "-c", "remote."+remote+".mirror=false")
	}
	argv = append(argv, "push", "--prune", remote, "+refs/*:refs/*", "^refs/runr-local/*", "^refs/runr-remotes/*")
	safetext.Fprintf(w, "git runr: %s of this clone alone; to push all other refs:\n", what)
	if line, ok := safetext.CommandLine(argv...); ok {
		render.Lines(w, []string{line})
	}
}

// writeHeldUp names the commits that are held up, why, and what to type.
func writeHeldUp(w io.Writer, bar lineage.Bar, all int, held []intake.Gated) {
	refused := 0
	for _, c := range held {
		if c.Refused {
			refused++
		}
	}
	what := "not " + bar.String()
	switch refused {
	case len(held):
		what = "refused"
	case 0:
	default:
		what = fmt.Sprintf("%d refused, %d %s", refused, len(held)-refused, what)
	}
	of := fmt.Sprint(all)
	if all == maxPushed {
		of += " or more"
	}
	safetext.Fprintf(w, "git runr: %d of %s commits that are pushed: %s\n", len(held), of, what)
	for _, c := range held[:min(len(held), intake.Named)] {
		why := ""
		switch {
		case c.Skipped != "":
			why = " (skipped: " + c.Skipped + ")"
		case bar.Level == lineage.LevelApproved && c.ApprovalWords() != "":
			why = " (" + c.ApprovalWords() + ")"
		}
		safetext.Fprintf(w, "  %s  %-13s  %s%s\n", c.Commit.Short(), c.Words(), prose.CutColumns(c.Title, 60), why)
		if c.Finding != "" {
			safetext.Fprintf(w, "    %s\n", prose.CutColumns(c.Finding, 110))
		}
	}
	render.More(w, "  ", len(held)-intake.Named)
	render.Lines(w, intake.ToType(held, hintsShown))
}
