// Package intake decides which commits get a review: which ones have none yet (Scan), which need none (Skip), which a
// gate holds back (Gate), which subjects contain nothing to review (CheckSubject), and which requests are joined before
// anybody works on them (Batch).
package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Batch says how requests from the hook are joined before anybody works on them.
type Batch struct {
	Rows   bool // consecutive commits become one review of their range
	Branch bool // the commits of a branch become one review of the whole branch
}

// Join joins several requests into one, and cancels the originals. If it is killed half-way, the next call finishes. It
// leaves requests alone on which somebody works.
func (b Batch) Join(ctx context.Context, s *store.Store) error {
	if !b.Rows && !b.Branch {
		return nil
	}
	open, err := b.open(ctx, s)
	if err != nil {
		return fmt.Errorf("join requests: %w", err)
	}
	for _, group := range open {
		if err := b.joinGroup(ctx, s, group); err != nil {
			return fmt.Errorf("join requests: %w", err)
		}
	}
	return nil
}

// open returns this clone's open requests from the hook, oldest first, grouped by branch and reviewers.
func (b Batch) open(ctx context.Context, s *store.Store) ([][]record.Review, error) {
	mine := func(r record.ReviewSummary) bool {
		return s.Repo.Owns(r.Writer) && (r.Source == "hook" || b.Branch && r.Source == "scan") && len(r.Failed) == 0
	}
	found, _, err := s.Reviews(ctx, store.Filter{Status: isOpen, Review: mine})
	if err != nil {
		return nil, err
	}
	slices.Reverse(found) // they are sorted newest first
	groups, order := map[string][]record.Review{}, []string{}
	for _, r := range found {
		review, err := s.Review(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		key := strings.Join(append([]string{review.Request.Subject.Branch}, review.Request.Reviewers()...), "\x00")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], review)
	}
	return each.Of(order, func(key string) []record.Review { return groups[key] }), nil
}

func (b Batch) joinGroup(ctx context.Context, s *store.Store, group []record.Review) error {
	group, unlock, err := lockAll(s, group)
	defer unlock()
	if err != nil || len(group) == 0 {
		return err
	}
	branch := group[0].Request.Subject.Branch
	if b.Branch && branch != "" {
		joined, err := joinBranch(ctx, s, branch, group)
		if joined || err != nil {
			return err
		}
	}
	return joinRows(ctx, s, group)
}

// lockAll locks the reviews on which nobody works.
func lockAll(s *store.Store, group []record.Review) (free []record.Review, unlock func(), err error) {
	var unlocks []func()
	unlock = func() {
		for _, u := range unlocks {
			u()
		}
	}
	for _, r := range group {
		u, ok, err := s.Repo.TryLock("review-" + r.ID)
		if err != nil {
			return nil, unlock, err
		}
		if ok {
			unlocks, free = append(unlocks, u), append(free, r)
		}
	}
	return free, unlock, nil
}

// joinBranch requests a review of everything that the branch has since it left another branch. joined is false if that
// point is unknown.
func joinBranch(ctx context.Context, s *store.Store, branch string, group []record.Review) (joined bool, err error) {
	newest := group[len(group)-1].Request.Subject
	base, onto, err := s.Repo.BranchPointOf(ctx, "refs/heads/"+branch, newest.Commit)
	if err != nil || base == "" {
		return false, err
	}
	request := group[len(group)-1].Request
	request.Subject = rangeOf(group[len(group)-1:], base)
	request.Subject.Spec = onto + ".." + branch
	if request.Follows, err = newestOfBranch(ctx, s, request.Subject); err != nil {
		return false, err
	}
	return true, joinInto(ctx, s, request, group, group, "the branch grew")
}

// newestOfBranch returns the newest review of the same branch that is answered and not closed, or "".
func newestOfBranch(ctx context.Context, s *store.Store, subject record.Subject) (string, error) {
	answered := func(status string) bool { return status == string(record.ReviewSubmitted) }
	same := func(r record.ReviewSummary) bool {
		return r.Kind == record.SubjectRange && r.Spec == subject.Spec && r.Source == "hook"
	}
	found, _, err := s.Reviews(ctx, store.Filter{Status: answered, Review: same, Limit: 1, Some: true})
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].ID, nil
}

// rangeOf returns the subject of a row of reviews together.
func rangeOf(row []record.Review, base gitstore.ID) record.Subject {
	last := row[len(row)-1].Request.Subject
	return record.Subject{
		Kind: record.SubjectRange, Spec: base.Short() + ".." + last.Commit.Short(), Base: base,
		Commit: last.Commit, Tree: last.Tree, Title: last.Title, Branch: last.Branch,
	}
}

// joinRows joins requests for consecutive commits, and requests that an open range covers already.
func joinRows(ctx context.Context, s *store.Store, group []record.Review) error {
	after := map[gitstore.ID]record.Review{} // by base
	commits := map[gitstore.ID]bool{}
	for _, r := range group {
		subject := r.Request.Subject
		after[subject.Base] = r
		commits[subject.Commit] = true
	}
	for _, first := range group {
		if commits[first.Request.Subject.Base] {
			continue
		}
		row := []record.Review{}
		for r, ok := first, true; ok && len(row) < len(group); r, ok = after[r.Request.Subject.Commit] {
			row = append(row, r)
		}
		if len(row) < 2 {
			continue
		}
		request := row[0].Request
		request.Subject = rangeOf(row, row[0].Request.Subject.Base)
		if err := joinInto(ctx, s, request, group, row, "one review of the range"); err != nil {
			return err
		}
	}
	return nil
}

// joinInto requests a review, unless an open one has the same subject, and cancels its parts, except those with changes
// that the whole does not show.
func joinInto(ctx context.Context, s *store.Store, request record.ReviewRequest, open, parts []record.Review,
	why string) error {
	whole, there := each.First(open, func(r record.Review) bool {
		return r.Request.Subject.Base == request.Subject.Base && r.Request.Subject.Commit == request.Subject.Commit
	})
	if !there {
		var err error
		if whole, err = s.RequestReview(ctx, request, "hook"); err != nil {
			return err
		}
	}
	unseen := s.Unseen(ctx, request.Subject, record.Census{}.Hides)
	for _, r := range parts {
		if r.ID == whole.ID || r.Request.Subject.Kind == record.SubjectCommit &&
			slices.Contains(unseen, r.Request.Subject.Commit) {
			continue
		}
		_, err := s.CancelReview(ctx, r.ID, record.Itself, why+": asked as "+whole.ID)
		if state := new(record.StateError); err != nil && !errors.As(err, &state) {
			return err
		}
	}
	return nil
}
