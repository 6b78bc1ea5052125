package suggest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Branch returns the branch, without refs/heads/, for the suggestions of a review.
func Branch(review record.Review) string {
	_, suffix, _ := strings.Cut(review.ID, "-")
	return "runr/suggestions/" + cmp.Or(suffix, review.ID)
}

// Done is the result for one suggestion.
type Done struct {
	Change
	Commit  gitstore.ID // "" if it was refused
	Already bool        // the branch had it before
	Err     error       // why it was refused
}

// Applied is the result of applying suggestions to a branch.
type Applied struct {
	Branch string
	Base   gitstore.ID // the reviewed code
	Commit gitstore.ID // tip of the branch; "" if nothing could be applied and there is no branch
	Old    gitstore.ID // its tip before, "" for a new branch
	Done   []Done      // in the order of the arguments
	Undo   gitstore.Recorded
}

// retries is how often Apply retries when the branch was moved meanwhile.
const retries = 5

// Apply commits suggestions one after the other on a branch that is checked out nowhere; "" means Branch. A new branch
// starts at the current reviewed code. Apply skips suggestions that do not fit. The branch moves once or not at all;
// the move is recorded and can be undone. HEAD and working trees stay as they are.
func Apply(ctx context.Context, s *store.Store, review record.Review, changes []Change,
	branch string) (Applied, error) {
	branch = cmp.Or(branch, Branch(review))
	var done Applied
	err := gitstore.CheckBranch(branch)
	if err != nil {
		return done, err
	}
	for range retries {
		done, err = apply(ctx, s, review, changes, branch)
		if !errors.Is(err, gitstore.ErrLostRace) {
			break
		}
	}
	if err != nil {
		return done, fmt.Errorf("apply to %s: %w", branch, err)
	}
	return done, nil
}

func apply(ctx context.Context, s *store.Store, review record.Review, changes []Change,
	branch string) (Applied, error) {
	ref := "refs/heads/" + branch
	done := Applied{Branch: branch, Base: review.At()}
	var err error
	if done.Old, err = s.Repo.Ref(ctx, ref); err != nil {
		return done, err
	}
	top := cmp.Or(done.Old, done.Base)
	if top == "" {
		return done, &record.StateError{What: "review " + review.ID, Status: "of files that are in no commit",
			Cannot: "applied without a branch that has them"}
	}
	there, err := on(ctx, s, review, done.Base, done.Old)
	if err != nil {
		return done, err
	}
	tip := top
	for _, c := range changes {
		one := Done{Change: c, Commit: there[c.ID]}
		if one.Already = one.Commit != ""; !one.Already {
			one.Err = commit(ctx, s, review, &one, tip)
		}
		switch refused := new(RefusedError); {
		case one.Err != nil && !errors.As(one.Err, &refused):
			return done, one.Err
		case one.Err == nil && !one.Already:
			tip = one.Commit
			there[c.ID] = tip
		}
		done.Done = append(done.Done, one)
	}
	if done.Commit = done.Old; tip == top {
		return done, nil
	}
	op := gitstore.Operation{Kind: gitstore.OpLand, What: "suggestions of review " + review.ID + " on " + branch}
	done.Undo, err = s.Repo.AdvanceBranch(ctx, op, ref, tip, done.Old)
	done.Commit = tip
	return done, err
}

// commit commits a suggestion on top of a commit, and fills in the commit and the place of its lines. If the file has
// these lines already, it makes no commit and sets Already.
func commit(ctx context.Context, s *store.Store, review record.Review, one *Done, top gitstore.ID) error {
	c := one.Change
	refuse := func(moved bool, format string, args ...any) error {
		return &RefusedError{ID: c.ID, Why: fmt.Sprintf(format, args...), Moved: moved}
	}
	switch {
	case c.at.File == "" || c.at.StartLine == 0:
		return refuse(false, "it is not about lines")
	case c.at.Side == record.SideOld:
		return refuse(false, "it is about lines of the old file")
	case c.hasSecret():
		return refuse(false, "a secret was taken out of its text")
	}
	at, err := c.Anchored(ctx, s, review.Request.Subject)
	if said := new(record.InputError); errors.As(err, &said) {
		return refuse(false, "%s", said.Why)
	}
	if errors.As(err, new(*record.NotFoundError)) {
		return refuse(false, "%v", err)
	}
	if err != nil {
		return err
	}
	placed, err := locate.Place(ctx, s, at, top)
	if err != nil {
		return err
	}
	if placed.Outdated {
		return refuse(true, "%s", placed.Why)
	}
	entry, err := s.Repo.File(ctx, top, placed.File)
	if err != nil {
		return err
	}
	switch entry.Mode {
	case gitstore.ModeSymlink:
		return refuse(false, "%q is no file but a link", placed.File)
	case gitstore.ModeCommit:
		return refuse(false, "%q is no file but a submodule", placed.File)
	}
	text, err := s.Repo.ReadBlob(ctx, entry.ID)
	if err != nil {
		return err
	}
	c.Place = record.Comment{File: placed.File, StartLine: placed.StartLine, EndLine: placed.EndLine}.Place()
	new := c.replaced(string(text), placed.StartLine, placed.EndLine)
	one.Place = c.Place
	if one.Commit, err = s.Repo.CommitFile(ctx, top, placed.File, []byte(new), c.message(review), s.Now()); err == nil &&
		one.Commit == top {
		one.Already, one.Commit = true, wrote(ctx, s, top, placed)
	}
	return err
}

// wrote returns the newest commit that changed the given lines of a file, as of top, or top if git cannot tell.
func wrote(ctx context.Context, s *store.Store, top gitstore.ID, at locate.Placed) gitstore.ID {
	lines, err := s.Repo.Blame(ctx, top, at.File, [][2]int{{at.StartLine, at.EndLine}})
	if err != nil {
		return top
	}
	newest := &gitstore.Blame{Commit: top}
	for _, line := range lines {
		if line.When.After(newest.When) {
			newest = line
		}
	}
	return newest.Commit
}

// Anchored returns the comment that the suggestion belongs to. For an agent's finding, which has line numbers only, it
// reads the lines.
func (c Change) Anchored(ctx context.Context, s *store.Store, subject record.Subject) (record.Comment, error) {
	if c.tree == "" {
		return c.at, nil
	}
	subject.Tree = c.tree
	return locate.AnchorComment(ctx, s, subject, c.at)
}

// The trailers that record the origin of a commit.
const (
	reviewTrailer  = "Runr-Review: "
	findingTrailer = "Runr-Finding: "
)

func (c Change) message(review record.Review) string {
	return fmt.Sprintf("Apply a suggestion to %s\n\nSuggested-by: %s\n%s%s\n%s%s\n",
		prose.OneLine(c.Place), prose.OneLine(c.By), reviewTrailer, review.ID, findingTrailer, c.ID)
}

// maxCommits is the maximum number of commits of a branch to search for suggestions of a review.
const maxCommits = 2000

// on returns the suggestions of a review that a branch has on top of base, with their commits. It returns none if the
// branch does not exist.
func on(ctx context.Context, s *store.Store, review record.Review,
	base, tip gitstore.ID) (map[string]gitstore.ID, error) {
	there := map[string]gitstore.ID{}
	if tip == "" || tip == base {
		return there, nil
	}
	commits, err := s.Repo.Commits(ctx, base, tip, maxCommits)
	if err != nil {
		return nil, err
	}
	for _, c := range commits {
		_, said, ours := strings.Cut(c.Message, "\n"+reviewTrailer+review.ID+"\n"+findingTrailer)
		if id, _, _ := strings.Cut(said, "\n"); ours {
			there[id] = c.ID
		}
	}
	return there, nil
}

// On returns the suggestions that the Branch of a review has, with their commits.
func On(ctx context.Context, s *store.Store, review record.Review) (map[string]gitstore.ID, error) {
	tip, err := s.Repo.Ref(ctx, "refs/heads/"+Branch(review))
	if err != nil {
		return nil, err
	}
	return on(ctx, s, review, review.At(), tip)
}
