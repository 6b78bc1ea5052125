package lineage

import (
	"context"
	"errors"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
)

// ask requests a review of the replacement from the same reviewers, unless that request exists already. It returns the
// id of the review.
func (f *follower) ask(ctx context.Context, review record.Review, now record.Subject) (string, error) {
	for _, r := range f.places[now.Commit] {
		if r.Reviewer == review.Request.Reviewer && r.ReviewKind == review.Request.Kind && r.ID != review.ID &&
			!f.spared[r.ID] {
			return r.ID, nil
		}
	}
	request := record.ReviewRequest{
		Subject: now, Message: review.Request.Message, Reviewer: review.Request.Reviewer, Others: review.Request.Others,
		Invited: review.Request.Invited, Follows: review.ID,
		Panel: review.Request.Panel,
	}
	made, err := f.store.RequestReview(ctx, request, "follow")
	if err != nil {
		return "", err
	}
	f.places[now.Commit] = append(f.places[now.Commit], made.Summary())
	f.done.Asked = append(f.done.Asked, made.ID)
	return made.ID, nil
}

// spare withdraws automatic requests for a commit to which a review, answered or open, was carried. It keeps them if
// that review is closed and what settled its findings does not count for the commit: see Known.
func (f *follower) spare(ctx context.Context, review record.Review, to gitstore.ID) error {
	waits := record.WaitingStatus(string(review.Status))
	if review.Outcome() == "" && !waits || review.Outcome() == record.OutcomeNothing || review.Request.Part() {
		return nil
	}
	why := "the same change was reviewed: "
	if review.Outcome() == "" {
		why = "the same change is asked for already: "
	}
	one := review.Summary()
	for _, r := range f.places[to] {
		if r.ID == one.ID || r.Reviewer != one.Reviewer || r.Part() || r.Status != record.ReviewOpen || f.spared[r.ID] {
			continue
		}
		if !waits {
			asked, err := f.store.Review(ctx, r.ID)
			if err != nil {
				return err
			}
			known, err := Known(ctx, f.store, asked)
			if err != nil {
				return err
			}
			if known == "" {
				continue
			}
		}
		stays, goes := one, r
		if one.Status == record.ReviewOpen && r.Commit != to && r.CreatedAt.Before(one.CreatedAt) { // carried here too
			stays, goes = r, one
		}
		if err := f.withdraw(ctx, goes, why+stays.ID); err != nil {
			return err
		}
	}
	return nil
}

// withdraw cancels an automatic request unless somebody has begun to review.
func (f *follower) withdraw(ctx context.Context, r record.ReviewSummary, why string) error {
	if !asksByItself(r.Source) {
		return nil
	}
	if now, err := f.store.Review(ctx, r.ID); err != nil || f.store.HasDraft(now) {
		return nil
	}
	f.spared[r.ID] = true
	_, err := f.store.CancelReview(ctx, r.ID, record.Itself, why)
	if state := new(record.StateError); err != nil && !errors.As(err, &state) {
		return err
	}
	return nil
}

// subjectNow returns the subject of review after p. It reports whether that is the same change as the reviewed one, or
// as the one of from, to which the review was carried.
func (f *follower) subjectNow(ctx context.Context, review record.Review, from gitstore.ID,
	p pair) (record.Subject, bool, error) {
	old := review.Request.Subject
	now := record.Subject{
		Kind: old.Kind, Spec: p.to.ID.Short(), Title: p.to.Subject, Commit: p.to.ID, Tree: p.to.ID, Branch: old.Branch,
		Paths: old.Paths,
	}
	var err error
	if now.Base, err = f.baseNow(ctx, old, p); err != nil {
		return now, false, err
	}
	if old.Kind == record.SubjectRange {
		now.Spec = now.Base.Short() + ".." + now.Spec
	}
	want := f.store.ChangeID(ctx, old)
	if want == "" {
		for _, sub := range review.Submissions {
			want = sub.Change
		}
	}
	got := f.store.ChangeID(ctx, now)
	same := got != "" && (got == want || got == f.changeOfPlace(ctx, review, from))
	if !same && len(p.from) > 1 {
		same, err = f.sameTogether(ctx, from, p, got)
	}
	return now, same, err
}

// changeOfPlace returns the change of the commit that a review was carried to, or "".
func (f *follower) changeOfPlace(ctx context.Context, review record.Review, place gitstore.ID) string {
	for _, m := range review.Moves {
		if m.State == record.MoveCarried && m.To == place {
			subject := review.Request.Subject
			subject.Base, subject.Commit, subject.Tree = m.Base, place, place
			return f.store.ChangeID(ctx, subject)
		}
	}
	return ""
}

// baseNow returns the base of a subject after p: the parent of the oldest commit that replaced one of its commits.
func (f *follower) baseNow(ctx context.Context, old record.Subject, p pair) (gitstore.ID, error) {
	parent := func(c gitstore.LoggedCommit) (gitstore.ID, error) {
		if len(c.Parents) == 0 {
			return f.store.Repo.EmptyTreeID(), nil
		}
		return c.Parents[0], nil
	}
	if old.Kind != record.SubjectRange {
		return parent(p.to)
	}
	chain, err := f.store.Repo.Between(ctx, old.Base, old.Commit, maxFollowed)
	if err != nil {
		return "", err
	}
	was, err := f.store.Repo.LogOnly(ctx, chain)
	if err != nil {
		return "", err
	}
	mine := each.SetOf(was, func(c gitstore.LoggedCommit) string { return c.Author + "\x00" + c.Subject })
	base, err := parent(p.to)
	for at, n := base, 1; err == nil && n < len(was); n++ {
		next, logErr := f.store.Repo.LogOnly(ctx, []gitstore.ID{at})
		if logErr != nil || len(next) == 0 {
			return base, logErr
		}
		if at, err = parent(next[0]); mine[next[0].Author+"\x00"+next[0].Subject] {
			base = at
		}
	}
	return base, err
}

// sameTogether reports whether p makes the same change as several successive commits that it was made of, including
// from, all of which were reviewed. A squash in steps is also made of the step before, which is not one of these
// commits.
func (f *follower) sameTogether(ctx context.Context, from gitstore.ID, p pair, got string) (bool, error) {
	parts, err := f.store.Repo.LogOnly(ctx, p.from)
	if err != nil || len(parts) != len(p.from) || got == "" {
		return false, err
	}
	row := rowOf(from, parts)
	for _, c := range row {
		answered := func(r record.ReviewSummary) bool { return r.Outcome != "" && !r.Part() && !r.Unshown }
		if len(c.Parents) != 1 || !slices.ContainsFunc(f.places[c.ID], answered) {
			return false, nil
		}
	}
	ids, err := f.store.Repo.ChangeIDs(ctx, []gitstore.Span{{From: row[0].Parents[0], To: row[len(row)-1].ID}})
	return err == nil && ids[0] == got, err
}

// rowOf returns those commits, oldest first, that form a chain of parents with id.
func rowOf(id gitstore.ID, commits []gitstore.LoggedCommit) []gitstore.LoggedCommit {
	at := func(is func(gitstore.LoggedCommit) bool) []gitstore.LoggedCommit {
		i := slices.IndexFunc(commits, is)
		if i < 0 {
			return nil
		}
		return commits[i : i+1]
	}
	row := slices.Clone(at(func(c gitstore.LoggedCommit) bool { return c.ID == id }))
	for len(row) < len(commits) {
		older := at(func(c gitstore.LoggedCommit) bool { return slices.Contains(row[0].Parents, c.ID) })
		newer := at(func(c gitstore.LoggedCommit) bool { return slices.Contains(c.Parents, row[len(row)-1].ID) })
		if len(older)+len(newer) == 0 {
			break
		}
		row = slices.Concat(older, row, newer)
	}
	return row
}
