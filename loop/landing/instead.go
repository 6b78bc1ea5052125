package landing

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// InsteadOfLand returns lines with commands to use when landing a run as in spec failed with err, or none if no command
// helps. acceptable is the result of CanAccept.
func InsteadOfLand(run record.Run, spec Spec, err, acceptable error) []string {
	state, elsewhere := new(record.StateError), new(gitstore.CheckedOutError)
	switch {
	case errors.As(err, &elsewhere):
		spec.Onto = "" // it is checked out there
		return []string{spec.Line(elsewhere.Dir, run.ID)}
	case errors.Is(err, gitstore.ErrDeletions):
		from := "HEAD"
		if spec.Onto != "" {
			from = switchTo(spec.Onto, "")
		}
		spec.AllowDeletions = true
		return []string{"git diff --stat --diff-filter=D " + from + " " + run.Commit.Short() +
			"   shows what would be deleted", spec.Line("", run.ID) + "   lands it anyway"}
	case errors.Is(err, gitstore.ErrDirty):
		return []string{"commit, stash or move these files, then: " + spec.Line("", run.ID)}
	case errors.Is(err, gitstore.ErrConflict):
		return []string{"merge it by hand: " + onBranch(spec.Onto, "git merge "+run.Commit.Short())}
	case errors.As(err, &state) && (run.Status == record.RunStopped || run.Status == record.RunReviewing):
		return goOn(run, acceptable == nil)
	}
	return nil
}

// CanAccept returns a *record.StateError if the run has no commit to accept, or if its branch has commits that no
// attempt made: accepting the run would leave them out.
func CanAccept(ctx context.Context, s *store.Store, run record.Run) error {
	refused := &record.StateError{What: "run " + run.ID, Cannot: record.CannotAccept, Status: "without a commit"}
	if !run.HasWork() {
		return refused
	}
	tip, err := s.Repo.Ref(ctx, run.Plan.BranchRef())
	if err != nil || tip == "" || tip == run.Head() || run.Plan.InPlace {
		return err
	}
	more, err := s.Repo.IsAncestor(ctx, run.Head(), tip)
	if err != nil || !more {
		return err
	}
	refused.Status = "behind its branch, which has commits that no attempt made,"
	return refused
}

// goOn returns the commands that go on with a run that gave up, or accept what it has if that is acceptable.
func goOn(run record.Run, acceptable bool) (lines []string) {
	if run.Stop != nil {
		lines = append(lines, run.Stop.Undo...)
	}
	if acceptable {
		lines = append(lines, "git runr resume "+run.ID+" --commit   to accept it as it is")
	}
	if run.Allow(record.EventRunResumed.Name) == nil {
		lines = append(lines, "git runr resume "+run.ID)
	}
	return lines
}

// Line returns the command that lands a run as s says, in directory dir or, if dir is "", here.
func (s Spec) Line(dir, run string) string {
	argv := []string{"git", "runr", "land", run}
	if dir != "" {
		argv = slices.Insert(argv, 1, "-C", dir)
	}
	if s.Squash {
		argv = append(argv, "--squash")
	}
	if s.Onto != "" {
		argv = append(argv, "--onto", s.Onto)
	}
	if s.AllowDeletions {
		argv = append(argv, "--allow-deletions")
	}
	if line, ok := safetext.CommandLine(argv...); ok {
		return line
	}
	return "the same command again" // a name that cannot be pasted safely
}

// InsteadOfUndo returns the command to use when the landing op could not be undone because its branch has moved, which
// is the reason why; "" if there is none. run is the run given to undo, or "".
func InsteadOfUndo(ctx context.Context, s *store.Store, op gitstore.Recorded, run string, why error) (string, error) {
	before, after, err := ends(ctx, s, op)
	if err != nil {
		return "", err
	}
	here, err := s.Branch(ctx)
	if err != nil {
		return "", err
	}
	branch := strings.TrimPrefix(after.HeadRef, "refs/heads/")
	switch {
	case op.Branch == "" && here != branch:
		return "git switch " + switchTo(branch, after.Head) + "   then undo it there", nil
	case op.Undoes && here == branch:
		return "git runr land " + op.Run + "   lands it on what is there now", nil
	case op.Undoes:
		return "git runr land " + op.Run + " --onto " + switchTo(branch, "") + "   lands it on what is there now", nil
	}
	at, err := s.Repo.Ref(ctx, cmp.Or(after.HeadRef, "HEAD"))
	if err != nil || before.Head == "" {
		return "", err
	}
	if at == "" {
		return "git branch " + switchTo(branch, "") + " " + before.Head.Short() + "   creates it again, as it was before", nil
	}
	span := before.Head.Short() + ".." + after.Head.Short()
	has, err := s.Repo.IsAncestor(ctx, after.Head, at)
	if !has {
		return "git log --stat " + span + "   shows what landed: " + cmp.Or(branch, "HEAD") + " no longer has these commits",
			err
	}
	return revertLine(span, branch, here, why), nil
}

// revertLine returns the command that reverts commits of a branch, in the worktree that has it checked out or after a
// switch.
func revertLine(span, branch, here string, why error) string {
	elsewhere := new(gitstore.CheckedOutError)
	line, told := "git revert --no-edit "+span, "   undoes what landed with a new commit"
	switch {
	case branch == here:
		return line + told
	case errors.As(why, &elsewhere):
		line = safetext.ShellLine("git", "-C", elsewhere.Dir, "revert", "--no-edit", span)
		return line + told
	}
	return onBranch(branch, line) + told
}

// switchTo returns the argument of git switch for a branch, or for a commit without one.
func switchTo(branch string, commit gitstore.ID) string {
	if branch == "" {
		return "--detach " + commit.Short()
	}
	word, ok := safetext.ShellWord(branch)
	if !ok {
		return "BRANCH"
	}
	return word
}

// onBranch returns line with a switch to branch before it; "" is the current branch.
func onBranch(branch, line string) string {
	if branch == "" {
		return line
	}
	return "git switch " + switchTo(branch, "") + " && " + line
}
