package lineage

import (
	"context"
	"errors"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Newest returns the newest version of the change of a conversation that this clone knows: the newest round, where that
// was moved to, or a branch of the same name, here or as last fetched, that has more commits or a rewrite of it. What
// is checked out does not matter, and an older branch does not count. Nothing has to be in this clone.
func Newest(ctx context.Context, s *store.Store, rounds record.Conversation) (record.Subject, error) {
	last := rounds[len(rounds)-1]
	subject := last.Request.Subject
	if subject.Commit == "" {
		if last.Writer != s.Repo.Writer() { // the working tree of another clone
			return subject, nil
		}
		return s.WorkingSubject(ctx, subject.Kind)
	}
	at := placesOf(last)
	newest := at[len(at)-1]
	tips, err := tipsOf(ctx, s, subject.Branch)
	if err != nil {
		return subject, err
	}
	for _, tip := range tips {
		if newest, err = newerOf(ctx, s, rounds, newest, tip); err != nil {
			return subject, err
		}
	}
	if newest.To == subject.Commit {
		return subject, nil
	}
	now, err := changeUpTo(ctx, s, subject, newest.From, newest.To)
	now.Paths = subject.Paths
	if errors.Is(err, gitstore.ErrNotFound) { // it was moved to a commit that is not here
		return subject, nil
	}
	return now, err
}

// placesOf returns where the code of a review was and went, oldest first.
func placesOf(r record.Review) []gitstore.Span {
	places := []gitstore.Span{{From: r.Request.Subject.Base, To: r.Request.Subject.Commit}}
	for _, m := range r.Moves {
		if m.To != "" {
			places = append(places, gitstore.Span{From: m.Base, To: m.To})
		}
	}
	return places
}

// tipsOf returns the commits of the branches of a name: the local one first, then those of remotes. A change that was
// on no branch goes on in a HEAD that is on none.
func tipsOf(ctx context.Context, s *store.Store, branch string) (tips []gitstore.ID, err error) {
	if branch == "" {
		return detached(ctx, s)
	}
	refs, err := s.Repo.Refs(ctx, "refs/heads/", "refs/remotes/")
	if err != nil {
		return nil, err
	}
	for ref, tip := range refs {
		if store.BranchOf(ref) == branch && ref != "refs/heads/"+branch {
			tips = append(tips, tip)
		}
	}
	slices.Sort(tips)
	if tip := refs["refs/heads/"+branch]; tip != "" {
		tips = slices.Insert(tips, 0, tip)
	}
	return tips, nil
}

// detached returns HEAD if it is on no branch.
func detached(ctx context.Context, s *store.Store) ([]gitstore.ID, error) {
	if branch, err := s.Branch(ctx); err != nil || branch != "" {
		return nil, err
	}
	head, err := s.Repo.Head(ctx)
	return []gitstore.ID{head}, err
}

// newerOf returns the change up to tip if it goes on from newest or replaces it, else newest.
func newerOf(ctx context.Context, s *store.Store, rounds record.Conversation, newest gitstore.Span,
	tip gitstore.ID) (gitstore.Span, error) {
	for _, r := range rounds {
		for _, at := range append(placesOf(r), newest) {
			if old, err := isAncestor(ctx, s, tip, at.To); err != nil || old {
				return newest, err
			}
		}
	}
	if grown, err := isAncestor(ctx, s, newest.To, tip); err != nil || grown {
		return gitstore.Span{From: newest.From, To: tip}, err
	}
	base, err := s.Repo.MergeBase(ctx, newest.From, tip)
	if err != nil {
		return newest, gitstore.IgnoreNotFound(err)
	}
	replaces, err := replacedBy(ctx, s, newest, gitstore.Span{From: base, To: tip})
	if err != nil || !replaces {
		return newest, gitstore.IgnoreNotFound(err)
	}
	return gitstore.Span{From: base, To: tip}, nil
}

// isAncestor reports whether commit a is b or an ancestor of it; false if one of them is not here.
func isAncestor(ctx context.Context, s *store.Store, a, b gitstore.ID) (bool, error) {
	if a == "" || b == "" {
		return false, nil
	}
	is, err := s.Repo.IsAncestor(ctx, a, b)
	return is && err == nil, gitstore.IgnoreNotFound(err)
}

// maxCompared is the maximum number of commits in which replacedBy looks for a rewritten one.
const maxCompared = 200

// replacedBy reports whether a branch that does not contain was is a later version of it. Its newest commit is not
// older, and no branch contains was any more, or a commit has the same author's line, which a rewrite keeps, or title.
func replacedBy(ctx context.Context, s *store.Store, was, now gitstore.Span) (bool, error) {
	before, err := s.Repo.Commits(ctx, was.From, was.To, maxCompared)
	if err != nil || len(before) == 0 {
		return false, err
	}
	after, err := s.Repo.Commits(ctx, now.From, now.To, maxCompared)
	if err != nil || len(after) == 0 || after[0].When.Before(before[0].When) {
		return false, err
	}
	for _, a := range after {
		if slices.ContainsFunc(before, func(b gitstore.LoggedCommit) bool {
			return a.Author == b.Author || a.Subject == b.Subject
		}) {
			return true, nil
		}
	}
	lost, err := s.Repo.Unreachable(ctx, []gitstore.ID{was.To})
	return len(lost) > 0, err
}
