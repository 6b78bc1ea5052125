package lineage

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// Followed is the result of Follow.
type Followed struct {
	Carried int      `json:"carried"`
	Stale   int      `json:"stale"`
	Gone    int      `json:"gone"`
	Asked   []string `json:"asked"` // the reviews requested for stale ones
	// Made lists commits that a rebase created, not rewrote, oldest first. No hook requests
	// a review for them, because hooks do not act during a rebase.
	Made []gitstore.ID `json:"made"`
}

// Limits of one pass; the newest come first.
const (
	maxFollowed = 2000 // reviews
	maxFresh    = 2000 // commits
)

// pair is a new commit and the commits that it replaced.
type pair struct {
	to   gitstore.LoggedCommit
	from []gitstore.ID // the replaced commits, oldest first
	how  string        // kind of rewrite; "" if git did not report it
	same bool          // found by the same change: the old commit may still exist
}

// follower is one pass of Follow.
type follower struct {
	store   *store.Store
	tips    []gitstore.ID                          // of the branches when the pass began
	reviews []record.ReviewSummary                 // newest first
	places  map[gitstore.ID][]record.ReviewSummary // by the commits with their code
	told    map[gitstore.ID]gitstore.ID
	how     map[gitstore.ID]string
	made    []gitstore.ID        // created by rebases beside the rewritten commits, newest first
	spared  map[string]bool      // reviews withdrawn in this pass
	orphans map[gitstore.ID]bool // reviewed commits that no branch holds
	// left maps reviewed commits that their branch here no longer holds, although another branch does, to the tip of
	// their branch
	left map[gitstore.ID]gitstore.ID
	// explained are the commits of which git reported what they replaced
	explained map[gitstore.ID]bool
	dropped   map[gitstore.ID]record.ReviewSummary // requests withdrawn because their code was gone
	done      Followed
}

// Follow records where the code of reviews went since the last call. It does nothing during a rebase or another
// rewrite in this worktree.
func Follow(ctx context.Context, s *store.Store) (Followed, error) {
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
	now := seenTips{slices.Clip(tips), s.Repo.LastRewritten()}
	if len(noted) == 0 && slices.Equal(tips, seen.Tips) { // no branch has moved
		if now.Rewritten == seen.Rewritten {
			return Followed{}, nil
		}
		return Followed{}, writeSeen(s, now)
	}
	f := &follower{store: s, spared: map[string]bool{}, tips: tips}
	if err := f.readRebases(ctx, noted); err != nil {
		return Followed{}, err
	}
	f.told, f.how = finally(noted)
	f.explained = each.SetOf(slices.Collect(maps.Values(f.told)), func(id gitstore.ID) gitstore.ID { return id })
	if err := f.run(ctx, fresh); err != nil {
		return f.done, err
	}
	for _, file := range files {
		_ = os.Remove(file) // reading a file twice does no harm
	}
	return f.done, writeSeen(s, now)
}

// FollowRewrites calls Follow if git reported a rewrite that no call has read, or if this worktree's HEAD was rewritten
// since the last call: that call may have come between the rewrite and git's report. A clone without our hooks has
// no other sign of that.
func FollowRewrites(ctx context.Context, s *store.Store) (Followed, error) {
	noted, _, err := notedRewrites(s)
	if err != nil {
		return Followed{}, err
	}
	if last := s.Repo.LastRewritten(); len(noted) == 0 && (last == "" || last == readSeen(s).Rewritten) {
		return Followed{}, nil
	}
	return Follow(ctx, s)
}

func (f *follower) run(ctx context.Context, fresh []gitstore.LoggedCommit) error {
	if err := f.load(ctx); err != nil || len(f.reviews)+len(f.dropped)+len(f.made) == 0 {
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
	f.findMade(pairs)
	if err := f.askAgain(ctx, fresh); err != nil {
		return err
	}
	return f.settleOrphans(ctx)
}

// askAgain requests a review again for a commit that is back after its request was withdrawn as gone, unless it has
// another review.
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

// readRebases finds the commits that each rebase created beside the rewritten ones: at a stop, or by exec. At a stop
// git reports that the final HEAD replaced the commit there, even if that commit still exists; such pairs are removed
// from noted.
func (f *follower) readRebases(ctx context.Context, noted []rewrite) error {
	for i, r := range noted {
		if r.onto == "" {
			continue
		}
		now, err := f.store.Repo.Between(ctx, r.onto, r.head, maxFresh)
		if err != nil {
			return err
		}
		before, err := f.store.Repo.Between(ctx, r.onto, r.was, maxFresh)
		if err != nil {
			return err
		}
		noted[i].pairs = slices.DeleteFunc(r.pairs, func(p gitstore.Moved) bool { return slices.Contains(now, p.From) })
		f.made = append(f.made, slices.DeleteFunc(now, func(id gitstore.ID) bool { return slices.Contains(before, id) })...)
	}
	return nil
}

// findMade lists the commits created by rebases that have no review and replaced nothing.
func (f *follower) findMade(pairs []pair) {
	told := slices.Collect(maps.Values(f.told))
	for _, id := range slices.Backward(f.made) {
		paired := slices.ContainsFunc(pairs, func(p pair) bool { return p.to.ID == id })
		_, replaced := f.told[id]
		if !paired && !replaced && !slices.Contains(told, id) && len(f.places[id]) == 0 {
			f.done.Made = append(f.done.Made, id)
		}
	}
}

// load reads the reviews of commits, and where their code is.
func (f *follower) load(ctx context.Context) error {
	all, _, err := f.store.Reviews(ctx, store.Filter{Limit: maxFollowed, Status: func(string) bool { return true }})
	f.places, f.dropped = map[gitstore.ID][]record.ReviewSummary{}, map[gitstore.ID]record.ReviewSummary{}
	for _, r := range all {
		if r, err = f.revived(ctx, r); err != nil {
			return err
		}
		switch {
		case r.Commit == "" || r.Run != "": // a run records this itself
			continue
		case r.Status == record.ReviewCancelled:
			if isGone(r) && f.store.Repo.Owns(r.Writer) {
				f.dropped[r.Commit] = r
			}
			continue
		}
		f.reviews = append(f.reviews, r)
		for _, id := range r.Places() {
			f.places[id] = append(f.places[id], r)
		}
	}
	f.placeRefused()
	return err
}

// placeRefused adds to places the commits that replaced what people refuse, if no later round is open or answered
// there: whoever cancels that round does not end the refusal.
func (f *follower) placeRefused() {
	for _, r := range f.reviews {
		if r.Outcome != record.OutcomeFailed || len(r.Refusers) == 0 {
			continue
		}
		for _, m := range r.Moves {
			later := func(other record.ReviewSummary) bool { return other.ID == r.ID || other.Follows == r.ID }
			if m.State == record.MoveStale && m.To != "" && !slices.ContainsFunc(f.places[m.To], later) {
				f.places[m.To] = append(f.places[m.To], r)
			}
		}
	}
}

// withTold adds the replacements that git reported to the fresh commits.
func (f *follower) withTold(ctx context.Context, fresh []gitstore.LoggedCommit) ([]gitstore.LoggedCommit, error) {
	known := each.SetOf(fresh, func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })
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

// follow records for each review of the replaced commits of p where its code went.
func (f *follower) follow(ctx context.Context, p pair) error {
	followed := map[string]bool{}
	for _, from := range p.from {
		for _, r := range f.places[from] {
			if followed[r.ID] || from == p.to.ID { // it was rewritten while this pass began
				continue
			}
			if len(p.from) > 1 && r.Change == gitstore.NoChange { // a squash is not what an empty commit was
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
	same = same && !review.AccusesMessage() // the message may be another one now
	if err != nil || p.same && !same {
		return err
	}
	m := record.Move{From: from, To: p.to.ID, Base: now.Base, State: record.MoveStale, How: p.how, When: p.to.When}
	if same {
		m.State = record.MoveCarried
		events, err := f.store.ReviewEvents(ctx, review.ID)
		if err != nil {
			return err
		}
		m.Said = record.NewestSayings(events) // the notes of the old commit
		m.Unseen = f.unseenNow(ctx, review, m)
		f.done.Carried++
	} else {
		m.Again = review.SupersededBy() // the conversation has gone on
		if m.Again == "" {
			m.Again, err = f.ask(ctx, review, now)
		}
		if err != nil {
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
	if err == nil && review.Status == record.ReviewSubmitted && f.gone(from) {
		err = f.supersede(ctx, review, p.to.ID)
	}
	if err != nil || same {
		return err
	}
	if review.Status == record.ReviewOpen && !f.isHere(review.Summary()) && !f.store.HasDraft(review) {
		_, err = f.store.CancelReview(ctx, review.ID, record.Itself, "its commit was rewritten: asked again as "+m.Again)
	}
	return err
}

// unseenNow returns the commits of a carried range that its reviewer did not see: those at the positions of the unseen
// ones before, or all if the positions do not match.
func (f *follower) unseenNow(ctx context.Context, review record.Review, m record.Move) []gitstore.ID {
	unseen, was := review.Summary().Unseen,
		gitstore.Span{From: review.Request.Subject.Base, To: review.Request.Subject.Commit}
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

// supersede resolves a review if the same reviewer has answered a later review of the replacement. That may have
// happened since the reviews were listed, by somebody who did not see the move. A review with an open secret stays
// open while a ref, such as a remote's branch, still holds the commit.
func (f *follower) supersede(ctx context.Context, review record.Review, to gitstore.ID) error {
	isSecret := func(found reply.Finding) bool { return found.Rule == record.RuleSecret }
	if slices.ContainsFunc(review.Open(), isSecret) && f.isHere(review.Summary()) {
		return nil
	}
	for _, r := range f.places[to] {
		if r.Commit != to || r.Reviewer != review.Request.Reviewer || r.ReviewKind != review.Request.Kind ||
			r.Clock <= review.Clock {
			continue
		}
		newer, err := f.store.Review(ctx, r.ID)
		if err != nil {
			return err
		}
		if newer.Outcome() != "" {
			_, err = f.store.ResolveReview(ctx, review.ID, record.Hold{Actor: record.Itself}, record.ByRound+r.ID)
			return err
		}
	}
	return nil
}

// isGone reports whether the code of a review was gone when it was last looked for.
func isGone(r record.ReviewSummary) bool {
	return len(r.Moves) > 0 && r.Moves[len(r.Moves)-1].State == record.MoveGone
}

// findOrphans finds the commits of this clone's reviews that no branch holds any more, and those that a rewrite
// took off their branch here while a remote's branch still holds them. Git's post-rewrite hook reports the latter,
// but not every clone has it, and a reset does not call it.
func (f *follower) findOrphans(ctx context.Context) error {
	f.orphans, f.left = map[gitstore.ID]bool{}, map[gitstore.ID]gitstore.ID{}
	heads, err := f.store.Repo.Refs(ctx, "refs/heads/")
	if err != nil {
		return err
	}
	off, err := f.store.Repo.NotIn(ctx, slices.Collect(maps.Keys(f.places)), slices.Collect(maps.Values(heads))...)
	if err != nil {
		return err
	}
	own := func(r record.ReviewSummary) bool { return f.store.Repo.Owns(r.Writer) }
	var were []gitstore.ID // here, when their reviews were requested
	for _, r := range f.reviews {
		if own(r) && record.WaitingStatus(string(r.Status)) && !isGone(r) {
			were = append(were, r.Commit)
		}
	}
	for _, id := range f.store.Repo.Pruned(ctx, were) {
		f.orphans[id] = true
	}
	gone, err := f.store.Repo.Unreachable(ctx, off)
	for _, id := range gone {
		if f.told[id] != "" || slices.ContainsFunc(f.places[id], own) {
			f.orphans[id] = true
		}
	}
	for _, id := range off {
		for _, r := range f.places[id] {
			if tip := heads["refs/heads/"+r.Branch]; tip != "" && !f.gone(id) {
				f.left[id] = tip
			}
		}
	}
	return err
}

// gone reports whether a commit was replaced: git said so, or no branch holds it.
func (f *follower) gone(id gitstore.ID) bool { return f.told[id] != "" || f.orphans[id] }

// isHere reports whether a branch holds a commit that has the code of a review.
func (f *follower) isHere(r record.ReviewSummary) bool {
	return slices.ContainsFunc(r.Places(), func(id gitstore.ID) bool { return !f.orphans[id] })
}

// settleOrphans closes the reviews whose commits are on no branch and have no replacement, and reopens those whose
// commits are back.
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
		case !f.store.Repo.Owns(r.Writer):
		case here == "" && !gone:
			if _, tips, tipErr := f.store.Repo.NewCommits(ctx, f.tips, 1); tipErr != nil || !slices.Equal(tips, f.tips) {
				return tipErr // a branch moved meanwhile: the next pass knows what replaced the commit
			}
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

// goneNote begins the note of a review that is closed because its code is gone.
const goneNote = "its code is gone"

func (f *follower) letGo(ctx context.Context, r record.ReviewSummary, at gitstore.ID) error {
	if slices.ContainsFunc(r.Moves, func(m record.Move) bool { return m.State == record.MoveStale && m.From == at }) {
		return nil // it was replaced
	}
	if _, err := f.store.MoveReview(ctx, r.ID,
		record.Move{From: at, State: record.MoveGone, When: f.store.EventTime()}); err != nil {
		return err
	}
	f.done.Gone++
	note := goneNote + ": " + record.NoBranch + " has commit " + at.Short()
	switch r.Status {
	case record.ReviewOpen:
		review, err := f.store.Review(ctx, r.ID)
		if err != nil || f.store.HasDraft(review) { // keep a request that has a draft
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

// revived reopens a review that letGo closed in the moment between a rewrite and git's report of it.
func (f *follower) revived(ctx context.Context, r record.ReviewSummary) (record.ReviewSummary, error) {
	if !isGone(r) || !f.store.Repo.Owns(r.Writer) || f.told[r.Moves[len(r.Moves)-1].From] == "" {
		return r, nil
	}
	review, err := f.store.Review(ctx, r.ID)
	if err != nil || review.ClosedAt.IsZero() || !strings.HasPrefix(review.Note, goneNote) {
		return r, err
	}
	if review, err = f.store.ReopenReview(ctx, r.ID, record.Itself); err != nil {
		return r, err
	}
	now := review.Summary()
	now.Moves = now.Moves[:len(now.Moves)-1] // it is not gone
	return now, nil
}

// back undoes letGo when the commit is on a branch again.
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
