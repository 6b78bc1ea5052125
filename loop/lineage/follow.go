package lineage

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"git-runr/gitstore"
	"git-runr/loop/record"
)

// Followed is what Follow recorded.
type Followed struct {
	Carried int      `json:"carried"`
	Stale   int      `json:"stale"`
	Gone    int      `json:"gone"`
	Asked   []string `json:"asked"` // reviews that look at what is stale
	// Made are commits that a rebase made of none, oldest first: while one goes on no hook
	// asks for a review.
	Made []gitstore.ID `json:"made"`
}

// Limits of what is looked at in one go, newest first.
const (
	maxFollowed = 2000 // reviews
	maxFresh    = 2000 // commits
)

// pair is a commit that took the place of others.
type pair struct {
	to   gitstore.LoggedCommit
	from []gitstore.ID // that it was made of, oldest first
	how  string        // what git said; "" where it was found
	same bool          // it does the same: what it was found by may well be there still
}

// follower is one pass of Follow.
type follower struct {
	store   *record.Store
	reviews []record.ReviewSummary                 // newest first
	places  map[gitstore.ID][]record.ReviewSummary // by the commits that have their code
	told    map[gitstore.ID]gitstore.ID
	how     map[gitstore.ID]string
	rebased []gitstore.ID                        // where HEAD was when a rebase had ended
	spared  map[string]bool                      // reviews that were withdrawn in this pass
	orphans map[gitstore.ID]bool                 // reviewed commits that no branch holds
	dropped map[gitstore.ID]record.ReviewSummary // requests that were withdrawn because their code was gone
	done    Followed
}

// Follow records where the code of reviews went since it was called last. It does
// nothing while git is in the middle of a rewrite here.
func Follow(ctx context.Context, s *record.Store) (Followed, error) {
	unlock, err := s.Repo.Lock(ctx, "follow")
	if err != nil {
		return Followed{}, err
	}
	defer unlock()
	if op := s.Repo.Operation(); op != "" && op != "bisect" && op != "merge" {
		return Followed{}, nil
	}
	noted, files, err := notedRewrites(s)
	if err != nil {
		return Followed{}, err
	}
	seen := readSeen(s)
	fresh, tips, err := s.Repo.NewCommits(ctx, seen.Tips, maxFresh)
	if err != nil {
		return Followed{}, err
	}
	if len(noted) == 0 && slices.Equal(tips, seen.Tips) { // branches are where they were
		return Followed{}, nil
	}
	f := &follower{store: s, spared: map[string]bool{}}
	f.told, f.how = finally(noted)
	for _, r := range noted {
		if r.how == "rebase" && r.head != "" && len(seen.Tips) > 0 { // else all of history is new
			f.rebased = append(f.rebased, r.head)
		}
	}
	if err := f.run(ctx, fresh); err != nil {
		return f.done, err
	}
	for _, file := range files {
		_ = os.Remove(file) // what is told twice comes to the same
	}
	return f.done, writeSeen(s, tips)
}

func (f *follower) run(ctx context.Context, fresh []gitstore.LoggedCommit) error {
	if err := f.load(ctx); err != nil || len(f.reviews)+len(f.dropped) == 0 {
		return err
	}
	fresh, err := f.withTold(ctx, fresh)
	if err != nil {
		return err
	}
	if err := f.findOrphans(ctx); err != nil {
		return err
	}
	pairs, err := f.pairs(ctx, fresh)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		if err := f.follow(ctx, p); err != nil {
			return err
		}
	}
	if err := f.findMade(ctx, fresh, pairs); err != nil {
		return err
	}
	if err := f.askAgain(ctx, fresh); err != nil {
		return err
	}
	return f.settleOrphans(ctx)
}

// askAgain asks for what was withdrawn when its code was gone, where that is back and
// nobody else was asked.
func (f *follower) askAgain(ctx context.Context, fresh []gitstore.LoggedCommit) error {
	for _, c := range slices.Backward(fresh) {
		r, was := f.dropped[c.ID]
		if !was || len(f.places[c.ID]) > 0 {
			continue
		}
		review, err := f.store.Review(ctx, r.ID)
		if err != nil {
			return err
		}
		if _, err := f.ask(ctx, review, review.Request.Subject); err != nil {
			return err
		}
	}
	return nil
}

// isGone reports whether the code of a review was gone when it was last looked for.
func isGone(r record.ReviewSummary) bool {
	return len(r.Moves) > 0 && r.Moves[len(r.Moves)-1].State == record.MoveGone
}

// findMade finds what a rebase made beside what it was told to.
func (f *follower) findMade(ctx context.Context, fresh []gitstore.LoggedCommit, pairs []pair) error {
	var own []gitstore.ID
	for _, head := range f.rebased {
		only, err := f.store.Repo.OnlyAtHead(ctx)
		if err != nil {
			return err
		}
		made, err := f.store.Repo.Between(ctx, "", head, maxFresh)
		if err != nil {
			return err
		}
		own = append(own, slices.DeleteFunc(made, func(id gitstore.ID) bool { return !slices.Contains(only, id) })...)
	}
	told := slices.Collect(maps.Values(f.told))
	for _, c := range slices.Backward(fresh) {
		paired := slices.ContainsFunc(pairs, func(p pair) bool { return p.to.ID == c.ID })
		if slices.Contains(own, c.ID) && !paired && !slices.Contains(told, c.ID) && len(f.places[c.ID]) == 0 {
			f.done.Made = append(f.done.Made, c.ID)
		}
	}
	return nil
}

// load reads the reviews of commits, and where their code is.
func (f *follower) load(ctx context.Context) error {
	all, _, err := f.store.Reviews(ctx, record.Filter{Limit: maxFollowed, Status: func(string) bool { return true }})
	f.places, f.dropped = map[gitstore.ID][]record.ReviewSummary{}, map[gitstore.ID]record.ReviewSummary{}
	for _, r := range all {
		switch {
		case r.Commit == "" || r.Run != "": // a run says itself where its work went
			continue
		case r.Status == record.ReviewCancelled:
			if isGone(r) && r.Writer == f.store.Repo.Writer() {
				f.dropped[r.Commit] = r
			}
			continue
		}
		f.reviews = append(f.reviews, r)
		for _, id := range r.Places() {
			f.places[id] = append(f.places[id], r)
		}
	}
	return err
}

// withTold adds to the commits that are new those that git named.
func (f *follower) withTold(ctx context.Context, fresh []gitstore.LoggedCommit) ([]gitstore.LoggedCommit, error) {
	known := map[gitstore.ID]bool{}
	for _, c := range fresh {
		known[c.ID] = true
	}
	var named []gitstore.ID
	for from, to := range f.told {
		if len(f.places[from]) > 0 && !known[to] {
			known[to] = true
			named = append(named, to)
		}
	}
	slices.Sort(named)
	commits, err := f.store.Repo.LogOnly(ctx, named)
	return append(fresh, commits...), err
}

// findOrphans finds the commits of this clone's reviews that no branch holds any more.
func (f *follower) findOrphans(ctx context.Context) error {
	var at []gitstore.ID
	for id, reviews := range f.places {
		own := func(r record.ReviewSummary) bool { return r.Writer == f.store.Repo.Writer() }
		if f.told[id] != "" || slices.ContainsFunc(reviews, own) {
			at = append(at, id)
		}
	}
	gone, err := f.store.Repo.Unreachable(ctx, at)
	f.orphans = map[gitstore.ID]bool{}
	for _, id := range gone {
		f.orphans[id] = true
	}
	return err
}

// follow records of each review of what p was made of where it went.
func (f *follower) follow(ctx context.Context, p pair) error {
	followed := map[string]bool{}
	for _, from := range p.from {
		for _, r := range f.places[from] {
			if followed[r.ID] {
				continue
			}
			followed[r.ID] = true
			if err := f.move(ctx, r, from, p); err != nil {
				return err
			}
		}
		delete(f.orphans, from)
	}
	return nil
}

func (f *follower) move(ctx context.Context, r record.ReviewSummary, from gitstore.ID, p pair) error {
	review, err := f.store.Review(ctx, r.ID)
	if err != nil {
		return err
	}
	now, same, err := f.subjectNow(ctx, review, from, p)
	if err != nil || p.same && !same {
		return err
	}
	m := record.Move{From: from, To: p.to.ID, Base: now.Base, State: record.MoveStale, How: p.how, When: p.to.When}
	if same {
		m.State = record.MoveCarried
		if m.Said, err = f.store.SaidOf(ctx, review.ID); err != nil {
			return err
		}
		m.Unseen = f.unseenNow(ctx, review, m)
		f.done.Carried++
	} else {
		if m.Again, err = f.ask(ctx, review, now); err != nil {
			return err
		}
		f.done.Stale++
	}
	if review, err = f.store.MoveReview(ctx, review.ID, m); err != nil {
		return err
	}
	if same {
		err = f.spare(ctx, review, p.to.ID)
		f.places[p.to.ID] = append(f.places[p.to.ID], review.Summary())
	}
	if newer := f.answeredBy(review, p.to.ID); err == nil && newer != "" && review.Status == record.ReviewSubmitted && f.gone(from) {
		_, err = f.store.ResolveReview(ctx, review.ID, record.Hold{Actor: record.Itself}, "superseded by "+newer)
	}
	if err != nil || same {
		return err
	}
	if review.Status == record.ReviewOpen && f.gone(from) && !f.store.HasDraft(review) {
		_, err = f.store.CancelReview(ctx, review.ID, record.Itself, "its commit was rewritten: asked again as "+m.Again)
	}
	return err
}

// unseenNow are those of a carried range's commits that whoever read it did not see: those
// in the places of the ones that were named, and all of them where there is no such place.
func (f *follower) unseenNow(ctx context.Context, review record.Review, m record.Move) []gitstore.ID {
	unseen, was := review.Summary().Unseen, gitstore.Span{From: review.Request.Subject.Base, To: review.Request.Subject.Commit}
	for _, earlier := range review.Moves {
		if earlier.State == record.MoveCarried && earlier.To == m.From {
			unseen, was = earlier.Unseen, gitstore.Span{From: earlier.Base, To: earlier.To}
		}
	}
	if len(unseen) == 0 {
		return nil
	}
	before, err := f.store.Repo.Between(ctx, was.From, was.To, maxCovered)
	now, errNow := f.store.Repo.Between(ctx, m.Base, m.To, maxCovered)
	if err != nil || errNow != nil || len(before) != len(now) {
		return now
	}
	var places []gitstore.ID
	for i, id := range before {
		if slices.Contains(unseen, id) {
			places = append(places, now[i])
		}
	}
	return places
}

// answeredBy is a later review of the commit by the same reviewer that has its answer.
func (f *follower) answeredBy(review record.Review, to gitstore.ID) string {
	for _, r := range f.places[to] {
		if r.Commit == to && r.ID != review.ID && r.Outcome != "" && r.Reviewer == review.Request.Reviewer && r.ReviewKind == review.Request.Kind && r.CreatedAt.After(review.CreatedAt) {
			return r.ID
		}
	}
	return ""
}

// gone reports whether a commit was replaced: git said so, or no branch holds it.
func (f *follower) gone(id gitstore.ID) bool { return f.told[id] != "" || f.orphans[id] }

// ask asks the same reviewers for a review of what took the place of a commit; one that
// is asked for already is not asked for again.
func (f *follower) ask(ctx context.Context, review record.Review, now record.Subject) (string, error) {
	for _, r := range f.places[now.Commit] {
		if r.Reviewer == review.Request.Reviewer && r.ReviewKind == review.Request.Kind && r.ID != review.ID && !f.spared[r.ID] {
			return r.ID, nil
		}
	}
	request := record.ReviewRequest{
		Subject: now, Message: review.Request.Message, Reviewer: review.Request.Reviewer, Others: review.Request.Others, Follows: review.ID,
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

// spare withdraws what was asked for without a person: to look at a commit whose review,
// answered or still to be, was carried to it.
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
		stays, goes := one, r
		if one.Status == record.ReviewOpen && r.Commit != to && r.CreatedAt.Before(one.CreatedAt) { // it was carried here as well
			stays, goes = r, one
		}
		if err := f.withdraw(ctx, goes, why+stays.ID); err != nil {
			return err
		}
	}
	return nil
}

// withdraw takes back what was asked for without a person, unless somebody has begun with it.
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

// subjectNow is what review would be of after p, and whether that is the same change as
// the one that it saw, or as that of from, which it was carried to.
func (f *follower) subjectNow(ctx context.Context, review record.Review, from gitstore.ID, p pair) (record.Subject, bool, error) {
	old := review.Request.Subject
	now := record.Subject{
		Kind: old.Kind, Spec: p.to.ID.Short(), Title: p.to.Subject, Commit: p.to.ID, Tree: p.to.ID, Branch: old.Branch, Paths: old.Paths,
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

// changeOfPlace is what the commit does that a review was carried to; "" where it is none.
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

// baseNow is what the change of a subject is compared with after p: the commit before
// the oldest one that took the place of one of its own.
func (f *follower) baseNow(ctx context.Context, old record.Subject, p pair) (gitstore.ID, error) {
	parent := func(c gitstore.LoggedCommit) (gitstore.ID, error) {
		if len(c.Parents) == 0 {
			return f.store.Repo.EmptyTree(ctx)
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
	mine := map[string]bool{}
	for _, c := range was {
		mine[c.Author+"\x00"+c.Subject] = true
	}
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

// sameTogether reports whether p does what a row of the commits that it was made of did,
// from among them, each of which was reviewed. A squash in steps is made of the step before
// as well, which is no part of that row.
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

// rowOf are those of commits that follow each other with id among them, oldest first.
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

// settleOrphans says of reviews whose commits nothing took the place of that their code is
// gone, and closes them; and of those that are back that they are.
func (f *follower) settleOrphans(ctx context.Context) error {
	for _, r := range f.reviews {
		gone := isGone(r)
		here := ""
		for _, id := range r.Places() {
			if !f.orphans[id] {
				here = string(id)
			}
		}
		var err error
		switch {
		case r.Writer != f.store.Repo.Writer():
		case here == "" && !gone:
			err = f.letGo(ctx, r, r.At())
		case here != "" && gone:
			err = f.back(ctx, r, gitstore.ID(here))
		}
		if state := new(record.StateError); err != nil && !errors.As(err, &state) {
			return err
		}
	}
	return nil
}

// goneNote begins the note of what is closed because its code is gone.
const goneNote = "its code is gone"

func (f *follower) letGo(ctx context.Context, r record.ReviewSummary, at gitstore.ID) error {
	if slices.ContainsFunc(r.Moves, func(m record.Move) bool { return m.State == record.MoveStale && m.From == at }) {
		return nil // something took its place
	}
	if _, err := f.store.MoveReview(ctx, r.ID, record.Move{From: at, State: record.MoveGone, When: f.store.EventTime()}); err != nil {
		return err
	}
	f.done.Gone++
	note := goneNote + ": no branch has commit " + at.Short()
	switch r.Status {
	case record.ReviewOpen:
		review, err := f.store.Review(ctx, r.ID)
		if err != nil || f.store.HasDraft(review) { // what somebody has begun stays
			return err
		}
		_, err = f.store.CancelReview(ctx, r.ID, record.Itself, note)
		return err
	case record.ReviewSubmitted:
		_, err := f.store.ResolveReview(ctx, r.ID, record.Hold{Actor: record.Itself}, note)
		return err
	}
	return nil
}

// back takes back what letGo did, when the commit is on a branch again.
func (f *follower) back(ctx context.Context, r record.ReviewSummary, at gitstore.ID) error {
	here, err := f.store.Repo.LogOnly(ctx, []gitstore.ID{at})
	if err != nil || len(here) == 0 {
		return err
	}
	review, err := f.store.Review(ctx, r.ID)
	if err != nil {
		return err
	}
	m := record.Move{From: at, To: at, Base: r.Base, State: record.MoveCarried, When: here[0].When}
	m.Unseen = f.unseenNow(ctx, review, m)
	review, err = f.store.MoveReview(ctx, r.ID, m)
	if err != nil || review.ResolvedBy != record.Itself || !strings.HasPrefix(review.Note, goneNote) {
		return err
	}
	_, err = f.store.ReopenReview(ctx, r.ID, record.Itself)
	return err
}
