package lineage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Continued returns the newest waiting review whose change the request's subject continues, by a rewrite or by more
// commits on the same base; ok is false without one. The review asked one of the same reviewers, and waits for no
// other. With again, more commits on its branch suffice, and the review asked somebody besides the built-in reviewer;
// with anybody, a verdict on the very commit suffices too. unanswered reports whether a request of the very commit is
// still open.
func Continued(ctx context.Context, s *store.Store, request record.ReviewRequest,
	again, anybody bool) (found record.ReviewSummary, ok, unanswered bool, err error) {
	subject := request.Subject
	other := func(name string) bool { return !slices.Contains(request.Reviewers(), name) }
	asks := func(r record.ReviewSummary) bool {
		if !again && slices.ContainsFunc(r.Waiting, other) {
			return false
		}
		return slices.ContainsFunc(append(slices.Clone(r.Others), r.Reviewer), func(name string) bool {
			return again && name != record.Builtin || !again && slices.Contains(request.Reviewers(), name)
		})
	}
	replaced := func(r record.ReviewSummary) bool {
		return slices.ContainsFunc(r.Moves, func(m record.Move) bool {
			return m.State == record.MoveStale && m.To == subject.Commit
		})
	}
	grown := func(r record.ReviewSummary) bool {
		longer := subject.Kind == record.SubjectRange && r.Base == subject.Base && !onlyAskedByItself(r)
		sameChange := again && r.Branch == subject.Branch || longer
		switch r.At() {
		case "":
			return false
		case subject.Commit: // also where it was rewritten and has the same change
			return anybody && r.Outcome != ""
		}
		if !sameChange {
			return false
		}
		before, err := s.Repo.IsAncestor(ctx, r.At(), subject.Commit)
		return err == nil && before
	}
	about := map[string]bool{string(subject.Commit): true}
	switch {
	case again: // any review of the branch
		about = nil
	case subject.Kind == record.SubjectRange && subject.Base != "":
		about[string(subject.Base)] = true
	}
	continued := func(r record.ReviewSummary) bool {
		unanswered = unanswered || r.Status == record.ReviewOpen && r.At() == subject.Commit
		return r.Run == "" && !r.Part() && r.Commit != "" && asks(r) && (replaced(r) || grown(r))
	}
	lines, _, err := s.Reviews(ctx, store.Filter{Status: record.WaitingStatus, Mention: about, Review: continued})
	for _, r := range lines {
		if !ok || r.Clock > found.Clock {
			found, ok = r, true
		}
	}
	return found, ok, unanswered, err
}

// onlyAskedByItself reports whether a review of one commit was requested automatically, is no later round and is
// unanswered. A range that goes on from the commit does not replace it: the range shows only what is left at its end.
func onlyAskedByItself(r record.ReviewSummary) bool {
	return asksByItself(r.Source) && r.Follows == "" && r.Kind == record.SubjectCommit && r.Outcome == ""
}

// NextRound returns a request that asks those whom a review asked about its change as it is now: up to the newest
// commit of its branch, and where its commit was rewritten from what took its place on. Without that branch here, it is
// about the newest version that is known here: see Newest.
func NextRound(ctx context.Context, s *store.Store, review record.Review) (record.ReviewRequest, error) {
	rounds, err := s.Conversation(ctx, review)
	if err != nil {
		return record.ReviewRequest{}, err
	}
	last := rounds[len(rounds)-1]
	request := last.Request
	request.Follows, request.Message = last.ID, ""
	if request.Subject, err = subjectOfRound(ctx, s, last); err == nil {
		request.Subject, err = sinceAsked(ctx, s, rounds, request.Subject)
	}
	request.Subject.Paths = last.Request.Subject.Paths
	if now := request.Subject; err == nil && now.Commit != "" && now.Base == now.Commit {
		err = &record.InputError{Why: fmt.Sprintf("the change of review %s is not in the history of %s any more: "+
			"name a commit or a branch that has it", last.ID, cmp.Or(now.Branch, "HEAD"))}
	}
	return request, err
}

// askedAgain reports whether Follow requested the review, without a person, and nobody has begun with it.
func askedAgain(r record.Review) bool {
	return r.Source == "follow" && r.Status == record.ReviewOpen && r.Claim == nil && len(r.Submissions) == 0
}

// sinceAsked returns now, or the change since the base that somebody last asked about, if now goes on from there on the
// same branch: a commit that was split is asked about as a whole.
func sinceAsked(ctx context.Context, s *store.Store, rounds record.Conversation,
	now record.Subject) (record.Subject, error) {
	asked := rounds[0]
	for _, r := range rounds {
		if !askedAgain(r) {
			asked = r
		}
	}
	base := asked.Request.Subject.Base
	if before, err := isAncestor(ctx, s, base, now.Base); err != nil || !before || base == now.Base || now.Branch == "" {
		return now, err
	}
	point, _, err := s.Repo.BranchPointOf(ctx, "refs/heads/"+now.Branch, now.Commit)
	if err != nil {
		return now, err
	}
	if own, err := isAncestor(ctx, s, point, base); err != nil || !own { // a trunk brought what is between
		return now, err
	}
	return changeUpTo(ctx, s, now, base, now.Commit)
}

func subjectOfRound(ctx context.Context, s *store.Store, last record.Review) (record.Subject, error) {
	old := last.Request.Subject
	if old.Commit == "" {
		return s.WorkingSubject(ctx, old.Kind)
	}
	var tip gitstore.ID
	var err error
	if old.Branch == "" {
		tip, err = s.Repo.Head(ctx)
	} else if tip, err = s.Repo.Resolve(ctx, "refs/heads/"+old.Branch); errors.Is(err, gitstore.ErrNotFound) {
		return Newest(ctx, s, record.Conversation{last})
	}
	if err != nil {
		return old, err
	}
	for i, at := range slices.Backward(placesOf(last)) {
		if at.To == tip && i == 0 {
			return old, nil
		}
		within, err := s.Repo.IsAncestor(ctx, at.To, tip)
		if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
			return old, err
		}
		if within {
			return changeUpTo(ctx, s, old, at.From, tip)
		}
	}
	if old.Branch == "" {
		return Newest(ctx, s, record.Conversation{last})
	}
	base, err := s.Repo.MergeBase(ctx, old.Base, tip)
	if err != nil {
		return old, err
	}
	return changeUpTo(ctx, s, old, base, tip)
}

// changeUpTo is the change from base to tip: a commit where it is one.
func changeUpTo(ctx context.Context, s *store.Store, old record.Subject,
	base, tip gitstore.ID) (record.Subject, error) {
	one, err := s.SubjectOn(ctx, string(tip), old.Branch)
	if err != nil {
		return one, err
	}
	now := one
	if one.Base != base {
		if now, err = s.SubjectOn(ctx, string(base)+".."+string(tip), old.Branch); err != nil {
			return now, err
		}
	}
	now.Spec = tip.Short()
	if now.Kind == record.SubjectRange {
		now.Spec = base.Short() + ".." + now.Spec
	}
	return now, nil
}

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
		if here, err := s.Branch(ctx); err != nil || here != "" {
			return nil, err
		}
		head, err := s.Repo.Head(ctx)
		return []gitstore.ID{head}, err
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
