// Package landing brings a run's result to a branch (Land) and undoes what was done to a working tree. Undo reverses
// landings, reverts and restores with the snapshots taken before them, Restore restores files from a snapshot, and
// Settle first finishes operations that a killed process left half done. An undo can be undone. Undoing a landing puts
// the run back into its state before it landed.
package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Spec says how to land.
type Spec struct {
	Squash         bool   // as one commit
	Onto           string // branch; "": the current one
	AllowDeletions bool   // even if that removes most of the branch's files
}

// Land brings a completed run's result to a branch. Nothing else ever lands. Undo reverses it. The caller must have
// called Settle.
func Land(ctx context.Context, s *store.Store, run record.Run, spec Spec) (record.Run, gitstore.Landed, error) {
	none := gitstore.Landed{}
	run, err := sayUnlanded(ctx, s, run)
	if err != nil {
		return run, none, err
	}
	if refused := run.Allow(record.EventRunLanded.Name); refused != nil {
		return run, none, refused
	}
	if run.Plan.InPlace {
		return run, none, &record.StateError{What: "run " + run.ID, Status: "in your checkout already" +
			notInHead(ctx, s, run), Cannot: "landed"}
	}
	if run.Head() == run.Plan.Base {
		return run, none, fmt.Errorf("run %s: %w", run.ID, gitstore.ErrNoChange)
	}
	done, branch, err := land(ctx, s, run, spec)
	if err != nil {
		return run, none, err
	}
	landed := carry(ctx, s, run, record.Landed{Commit: done.Commit, Onto: done.Old, Branch: branch, Squash: spec.Squash})
	if landed.Commit == landed.Onto {
		landed.Commit = "" // it has nothing of the run
	}
	run, err = s.RunEvent(ctx, run, record.EventRunLanded.New("cli", landed.TitleOf(), landed))
	if err != nil {
		return run, done, err
	}
	return run, done, afterLanding(ctx, s, run)
}

// notInHead names in parentheses the files of a run in place that HEAD of its checkout does not have as the run left
// them: they are uncommitted, or changed since. It is "" if there are none or nobody can tell.
func notInHead(ctx context.Context, s *store.Store, run record.Run) string {
	tree, err := s.Repo.Checkout()
	if err != nil || tree.ID() != run.Plan.Checkout {
		return ""
	}
	head, err := s.Repo.Head(ctx)
	if err != nil {
		return ""
	}
	changes, err := s.Repo.Changed(ctx, head, run.Commit)
	files := each.Of(changes, func(c gitstore.Change) string { return c.Path })
	files = slices.DeleteFunc(files, func(file string) bool { return !slices.Contains(run.Files(), file) })
	if err != nil || len(files) == 0 {
		return ""
	}
	return " (not in HEAD as the run left them: " + prose.Names(files) + ")"
}

// land also returns the name of the branch, "" for a detached HEAD.
func land(ctx context.Context, s *store.Store, run record.Run,
	how Spec) (done gitstore.Landed, branch string, err error) {
	author, err := s.Repo.Identity(ctx)
	if err != nil {
		return done, "", err
	}
	spec := gitstore.LandSpec{
		Result: run.Commit, Base: run.Plan.Base, Squash: how.Squash, Author: author, When: s.Now(),
		AllowDeletions: how.AllowDeletions, Reword: withTrailers(run),
		Message: fmt.Sprintf("%s\n\nRunr-Run: %s\n", prose.OneLine(run.Name()), run.ID),
	}
	here, err := s.Branch(ctx)
	if err != nil {
		return done, "", err
	}
	branch = cmp.Or(how.Onto, here)
	if s.Repo.Bare {
		branch, here = cmp.Or(how.Onto, run.Plan.Target), ""
	}
	spec.Op = gitstore.Operation{Kind: gitstore.OpLand, Run: run.ID, What: "on " + cmp.Or(branch, "a detached HEAD")}
	if branch != here {
		if id, err := s.Repo.Ref(ctx, "refs/heads/"+branch); err != nil || id == "" {
			return done, branch, errors.Join(err, gitstore.NotFoundf("there is no branch %q", branch))
		}
		done, err = s.Repo.LandRef(ctx, "refs/heads/"+branch, spec)
		return done, branch, err
	}
	tree, err := s.Repo.Checkout()
	if err != nil {
		return done, branch, err
	}
	free, err := workspace.HoldCheckout(s, tree)
	if err != nil {
		return done, branch, err
	}
	defer free()
	if spec.Started, err = startedFrom(ctx, s, tree, run); err != nil {
		return done, branch, fmt.Errorf("land: %w", err)
	}
	done, err = tree.Land(ctx, spec)
	return done, branch, err
}

// carry fills in what a landing carries along: what was said about the run's commits, if the files that landed have the
// same content.
func carry(ctx context.Context, s *store.Store, run record.Run, landed record.Landed) record.Landed {
	if landed.Commit != run.Commit && landed.Commit != landed.Onto {
		ids, err := s.Repo.ChangeIDs(ctx, []gitstore.Span{{From: run.Plan.Base, To: run.Commit},
			{From: landed.Onto, To: landed.Commit}})
		landed.Stale = err != nil || ids[0] != ids[1] || ids[0] == ""
	}
	landed.Carried = carried(ctx, s, run, landed)
	return landed
}

// carried returns the commits of run that landed as other commits, with what was said about them. It skips what it
// cannot read, because the branch has moved already.
func carried(ctx context.Context, s *store.Store, run record.Run, landed record.Landed) (along []record.Carried) {
	spec := gitstore.LandSpec{Result: run.Commit, Base: run.Plan.Base, Squash: landed.Squash, Reword: withTrailers(run)}
	moved, err := s.Repo.LandedAs(ctx, spec, gitstore.Landed{Commit: landed.Commit, Old: landed.Onto})
	if err != nil || len(moved) == 0 {
		return nil
	}
	var said map[gitstore.ID][]record.Saying
	if !landed.Stale { // else another content landed
		said = record.SayingsOf(eventsOf(ctx, s, run, moved))
	}
	for _, m := range moved[max(0, len(moved)-record.MaxCarried):] {
		along = append(along, record.Carried{From: m.From, To: m.To, Said: said[m.From]})
	}
	return along
}

// eventsOf returns the events of run and of the reviews of its moved commits, in order.
func eventsOf(ctx context.Context, s *store.Store, run record.Run, moved []gitstore.Moved) []record.Event {
	events, _ := s.RunEvents(ctx, run.ID)
	reviews, _, _ := s.Reviews(ctx, store.Filter{Review: func(r record.ReviewSummary) bool {
		return slices.ContainsFunc(moved, func(m gitstore.Moved) bool { return m.From == r.Commit })
	}})
	for _, review := range reviews {
		of, _ := s.ReviewEvents(ctx, review.ID)
		events = append(events, of...)
	}
	record.Sort(events)
	return events
}

// follow moves the reviews of a run's commits, and of the result, to where those landed. If what landed differs from
// what was reviewed, it requests a review.
func follow(ctx context.Context, s *store.Store, run record.Run) error {
	landed := run.Landed
	pairs := each.Of(landed.Carried, func(c record.Carried) gitstore.Moved {
		return gitstore.Moved{From: c.From, To: c.To}
	})
	if err := lineage.NoteRewrite(s, "land", pairs); err != nil {
		return err
	}
	if landed.Stale {
		subject, err := s.Subject(ctx, string(landed.Onto)+".."+string(landed.Commit))
		if err != nil {
			return err
		}
		subject.Spec = landed.Onto.Short() + ".." + landed.Commit.Short()
		request := record.ReviewRequest{
			Subject: subject, Reviewer: run.Plan.Reviewer,
			Message: fmt.Sprintf("Run %s was reviewed as %s; others had changed the same files when it landed.", run.ID,
				run.Commit.Short()),
		}
		if _, err := s.RequestReview(ctx, request, "land"); err != nil {
			return err
		}
	}
	_, err := lineage.Follow(ctx, s)
	return err
}

// Conflicts reports whether a result conflicts with the current HEAD.
func Conflicts(ctx context.Context, s *store.Store, id string) bool {
	run, err := s.Run(ctx, id)
	if err != nil {
		return false
	}
	head, err := s.Repo.Head(ctx)
	if err != nil {
		return false
	}
	err = s.Repo.LandConflicts(ctx, head, gitstore.LandSpec{Result: run.Commit, Base: run.Plan.Base})
	return errors.Is(err, gitstore.ErrConflict)
}

// startedFrom returns the part of the user's checkout from which the run started, or nil: an executor's files as they
// were, and nothing else.
func startedFrom(ctx context.Context, s *store.Store, tree *gitstore.Worktree,
	run record.Run) (*gitstore.Snapshot, error) {
	c := run.Plan.Context
	if c == nil || c.Snapshot == "" {
		return nil, nil
	}
	started, err := s.Repo.ReadSnapshot(ctx, c.Snapshot)
	if err == nil {
		started.Tree, err = tree.TreeWith(ctx, run.Plan.Base, started.Tree, func(file string) bool {
			return slices.Contains(c.Files, file)
		})
	}
	return &started, err
}

// sayUnlanded records that a run's landing was undone, if a killed undo has not recorded it.
func sayUnlanded(ctx context.Context, s *store.Store, run record.Run) (record.Run, error) {
	if run.Landed == nil {
		return run, nil
	}
	last, err := newest(ctx, s.Repo, run.ID)
	if err != nil || last == nil || !last.Undoes {
		return run, err
	}
	if err := recordLanding(ctx, s, *last); err != nil {
		return run, err
	}
	return s.Run(ctx, run.ID)
}

// newest returns the newest operation of a worktree, or on a run if run is not "", or nil.
func newest(ctx context.Context, repo *gitstore.Repo, run string) (*gitstore.Recorded, error) {
	list, err := repo.Operations(ctx)
	if op, ok := each.First(list, func(op gitstore.Recorded) bool { return run == "" || op.Run == run }); ok {
		return &op, err
	}
	return nil, err
}

// ends reads the snapshots from before and after an operation.
func ends(ctx context.Context, s *store.Store, op gitstore.Recorded) (before, after gitstore.Snapshot, err error) {
	before, beforeErr := s.Repo.ReadSnapshot(ctx, op.Before)
	after, afterErr := s.Repo.ReadSnapshot(ctx, op.After)
	return before, after, cmp.Or(beforeErr, afterErr)
}

// recordLanding records that a run has landed, or that its landing was undone: op is the operation that did it. It does
// nothing if the run has the event already.
func recordLanding(ctx context.Context, s *store.Store, op gitstore.Recorded) error {
	if op.Kind != gitstore.OpLand || op.Run == "" {
		return nil
	}
	run, err := s.Run(ctx, op.Run)
	if errors.Is(err, gitstore.ErrNotFound) {
		return nil // its log is no longer in this clone
	}
	if err != nil {
		return err
	}
	landed, err := landedBy(ctx, s, op)
	if err != nil {
		return err
	}
	kind := record.EventRunUnlanded
	if !op.Undoes {
		kind, landed = record.EventRunLanded, carry(ctx, s, run, landed)
	}
	if run.Allow(kind.Name) != nil {
		return nil
	}
	if run, err = s.RunEvent(ctx, run, kind.New("cli", landed.TitleOf(), landed)); err != nil {
		return err
	}
	if op.Undoes {
		err = closing.ReopenFixed(ctx, s, run, landed.Commit)
		back := s.Repo.SwapRef(ctx, run.Plan.BranchRef(), run.Commit, "")
		if errors.Is(back, gitstore.ErrLostRace) { // another branch has this name
			back = nil
		}
		return errors.Join(err, back)
	}
	return afterLanding(ctx, s, run)
}

// landedBy returns where an operation landed a run, or where it undid the landing.
func landedBy(ctx context.Context, s *store.Store, op gitstore.Recorded) (record.Landed, error) {
	onto, at, err := ends(ctx, s, op)
	if err != nil {
		return record.Landed{}, err
	}
	if op.Undoes {
		onto, at = at, onto
	}
	landed := record.Landed{Commit: at.Head, Onto: onto.Head, Branch: strings.TrimPrefix(at.HeadRef, "refs/heads/")}
	events, err := s.RunEvents(ctx, op.Run)
	for _, e := range events {
		if before, readErr := record.EventRunLanded.Payload(e); e.Type == record.EventRunLanded.Name && readErr == nil &&
			before.Commit == landed.Commit {
			landed.Squash = before.Squash
		}
	}
	return landed, err
}

// afterLanding ends everything that waits for a run that has landed.
func afterLanding(ctx context.Context, s *store.Store, run record.Run) error {
	if err := closing.SettleAsked(ctx, s, run,
		fmt.Sprintf("run %s: %s", run.ID, run.Landed.Words())); err != nil {
		return err
	}
	if err := closing.CloseFixed(ctx, s, run); err != nil {
		return err
	}
	if err := follow(ctx, s, run); err != nil {
		return err
	}
	return dropBranch(ctx, s, run)
}

// dropBranch removes the run's branch; its commits stay, for diff and undo. A branch with commits that are not the
// run's stays, because nothing else may have them, and so does one that is checked out.
func dropBranch(ctx context.Context, s *store.Store, run record.Run) error {
	head, err := s.Repo.Ref(ctx, run.Plan.BranchRef())
	if err != nil || head == "" {
		return err
	}
	if its, err := s.Repo.IsAncestor(ctx, head, run.Commit); err != nil || !its {
		return err
	}
	if at, err := s.Repo.CheckedOutIn(ctx, run.Plan.BranchRef()); err != nil || at != "" {
		return err
	}
	if err := s.Repo.Pin(ctx, "run "+run.ID, head); err != nil {
		return err
	}
	return s.Repo.SwapRef(ctx, run.Plan.BranchRef(), "", head)
}

// withTrailers returns a function that adds the run's trailers to those of its commits, oldest first, that an attempt's
// agent made without them. It does not change the messages of commits by people.
func withTrailers(run record.Run) func([]gitstore.Commit) []gitstore.Commit {
	ours := fmt.Sprintf("Runr-Run: %s\n", run.ID)
	return func(work []gitstore.Commit) []gitstore.Commit {
		work = slices.Clone(work)
		var of record.Attempt // the attempt of the commit; its Number is 0 for none
		for i, c := range slices.Backward(work) {
			a, ends := each.First(run.GoodAttempts(), func(a record.Attempt) bool { return a.Commit == c.ID })
			if ends || c.ID == of.From {
				of = a
			}
			if of.Number > 0 && !strings.Contains(c.Message+"\n", "\n"+ours) {
				work[i].Message = withTrailer(c.Message, fmt.Sprintf("%sRunr-Attempt: %d\n", ours, of.Number))
			}
		}
		return work
	}
}

// endsInTrailers matches a message whose last paragraph consists of trailers.
var endsInTrailers = lazyre.Compile(`\n\n(?:[^ \t\n]+: .*\n)*[^ \t\n]+: .*$`)

// withTrailer adds lines to message: to its last paragraph if that consists of trailers, else as a new paragraph. It
// leaves an empty message empty, because the lines would become its subject.
func withTrailer(message, lines string) string {
	text := strings.TrimRight(message, " \t\r\n")
	if text == "" {
		return message
	}
	if endsInTrailers().MatchString(text) {
		return text + "\n" + lines
	}
	return text + "\n\n" + lines
}
