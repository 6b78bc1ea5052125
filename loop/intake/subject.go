package intake

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// NothingError reports that a subject contains nothing to review.
type NothingError struct {
	Why string            // one line
	Try []record.NextStep // what the user may have meant
}

func (e *NothingError) Error() string { return "nothing to review: " + e.Why }

// Text returns the reason and the suggested commands in one line.
func (e *NothingError) Text() string {
	text := e.Why
	for _, step := range e.Try {
		text += fmt.Sprintf("; %s: %s", step.What, step.Command)
	}
	return text
}

// CheckSubject checks a subject before a review is requested. It returns a *NothingError if no file differs, and an
// *InputError for a path that is neither in the change nor in the working tree.
func CheckSubject(ctx context.Context, s *store.Store, subject record.Subject) error {
	from, err := s.ComparedWith(ctx, subject)
	if err != nil {
		return fmt.Errorf("read change: %w", err)
	}
	changed, err := s.Repo.Differs(ctx, gitstore.DiffSpec{From: from, To: subject.Tree, Paths: subject.Paths})
	if err != nil {
		return fmt.Errorf("read change: %w", err)
	}
	for _, path := range subject.Paths {
		if there, err := isPath(ctx, s, path, from, subject.Tree); err != nil {
			return fmt.Errorf("read change: %w", err)
		} else if !there {
			return &record.InputError{Why: fmt.Sprintf("no file is called %q, neither in %s nor in the working tree", path,
				subject.Spec)}
		}
	}
	if changed {
		return nil
	}
	return Nothing(ctx, s, subject)
}

// isPath reports whether path exists in one of trees or in the working tree.
func isPath(ctx context.Context, s *store.Store, path string, trees ...gitstore.ID) (bool, error) {
	if s.Repo.WorkTree != "" {
		if _, err := os.Lstat(filepath.Join(s.Repo.WorkTree, path)); err == nil {
			return true, nil
		}
	}
	for _, tree := range trees {
		there, err := s.Repo.HasPath(ctx, tree, path)
		if there || err != nil {
			return there, err
		}
	}
	return false, nil
}

// Nothing returns a *NothingError that says why no file of subject differs.
func Nothing(ctx context.Context, s *store.Store, subject record.Subject) error {
	none := &NothingError{Why: subject.Spec + " changes no file"}
	merge, err := s.IsMerge(ctx, subject)
	left, right := rangeEnds(subject.Spec)
	switch {
	case err != nil:
		return err
	case len(subject.Paths) > 0 && !slices.Contains(subject.Paths, "."):
		none.Why = fmt.Sprintf("%s changes nothing in %s", subject.Spec, strings.Join(subject.Paths, ", "))
	case subject.Kind == record.SubjectStaged:
		none.Why = "nothing is staged"
	case subject.Kind == record.SubjectWorktree:
		none.Why = "the working tree has no changes"
	case merge:
		none.Why = subject.Spec + " is a clean merge, which does nothing by itself"
		none.Try, err = merged(ctx, s, subject)
	case subject.Kind == record.SubjectRange && subject.Base == subject.Commit:
		none.Why = fmt.Sprintf("%s contains no commit", subject.Spec)
		none.Try, err = reversed(ctx, s, left, right, subject.Commit)
	}
	if err != nil {
		return err
	}
	return none
}

// rangeEnds returns the two revisions of a range.
func rangeEnds(spec string) (left, right string) {
	left, right, _ = strings.Cut(spec, "..")
	return cmp.Or(left, "HEAD"), cmp.Or(strings.TrimPrefix(right, "."), "HEAD")
}

// reversed suggests the reverse range if it is not empty.
func reversed(ctx context.Context, s *store.Store, left, right string, end gitstore.ID) ([]record.NextStep, error) {
	begin, err := s.Repo.Resolve(ctx, left)
	if err != nil || begin == end {
		return nil, err
	}
	return tryReview("the other way round", right+".."+left), nil
}

// merged suggests the ranges of the branches that a merge brought in.
func merged(ctx context.Context, s *store.Store, subject record.Subject) ([]record.NextStep, error) {
	commit, err := s.Repo.ReadCommit(ctx, subject.Commit)
	if err != nil {
		return nil, err
	}
	var steps []record.NextStep
	for _, parent := range commit.Parents[1:] { // by ids, because HEAD may move
		steps = append(steps, tryReview("what it merged", fmt.Sprintf("%.12s..%.12s", commit.Parents[0], parent))...)
	}
	return steps, nil
}

// tryReview suggests a review of spec, or nothing if spec cannot be pasted safely.
func tryReview(what, spec string) []record.NextStep {
	line, ok := safetext.CommandLine("git", "runr", "review", spec)
	if !ok {
		return nil
	}
	return []record.NextStep{{Command: line, What: what}}
}
