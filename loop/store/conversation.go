package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
)

// maxRounds is the maximum length of a conversation: the rounds that another clone wrote may form a cycle.
const maxRounds = 200

// Conversation returns the rounds of the conversation that a review belongs to, oldest first, as far as this clone has
// them. If several reviews follow one round it continues with the newest that was not cancelled.
func (s *Store) Conversation(ctx context.Context, review record.Review) (record.Conversation, error) {
	rounds := record.Conversation{review}
	known := func(id string) bool {
		return id == "" || len(rounds) >= maxRounds ||
			slices.ContainsFunc(rounds, func(r record.Review) bool { return r.ID == id })
	}
	for before := review.Request.Follows; !known(before); before = rounds[0].Request.Follows {
		r, err := s.Review(ctx, before)
		if err := gitstore.IgnoreNotFound(err); err != nil {
			return nil, err
		}
		if err != nil || r.ID != before { // it is not here, or the id is invalid
			break
		}
		rounds = slices.Insert(rounds, 0, r)
	}
	for at := review; ; at = rounds[len(rounds)-1] {
		next, err := s.roundAfter(ctx, at.ID)
		if err != nil || known(next) {
			return rounds, err
		}
		r, err := s.Review(ctx, next)
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, r)
	}
}

// Carried returns the threads carried into a review from earlier rounds.
func (s *Store) Carried(ctx context.Context, review record.Review) ([]record.Thread, error) {
	if review.Request.Follows == "" {
		return nil, nil
	}
	rounds, err := s.Conversation(ctx, review)
	return rounds.Carried(rounds.Place(review.ID)), err
}

// Carrying returns the review with the threads carried into it: see record.Review.Carrying.
func (s *Store) Carrying(ctx context.Context, review record.Review) (record.Review, error) {
	carried, err := s.Carried(ctx, review)
	return review.Carrying(carried), err
}

// ThreadOf returns the round of a conversation that has the finding which word names, and the finding's id. It looks in
// review first and then in the rounds before it. For "" it returns review and "". It returns a *record.NotFoundError if
// word names no finding, or several.
func (s *Store) ThreadOf(ctx context.Context, review record.Review, word string) (record.Review, string, error) {
	if word == "" {
		return review, "", nil
	}
	id, _, missing := review.FindFinding(word)
	if missing == nil || !record.Unknown(missing) || review.Request.Follows == "" {
		return review, id, missing
	}
	rounds, err := s.Conversation(ctx, review)
	if err != nil {
		return review, "", err
	}
	for _, r := range slices.Backward(rounds[:rounds.Place(review.ID)]) {
		if id, _, err := r.FindFinding(word); err == nil || !record.Unknown(err) {
			return r, id, err
		}
	}
	return review, "", missing
}

// maxLooked is how many waiting reviews ReviewAbout looks at.
const maxLooked = 50

// ReviewAbout returns the review that typed names. If that is record.Latest, and its conversation lacks the finding
// that word names, it returns the newest waiting review that has it: a hook may have requested a review meanwhile.
func (s *Store) ReviewAbout(ctx context.Context, typed, word string) (record.Review, error) {
	named, err := s.Review(ctx, typed)
	if err != nil || typed != record.Latest || word == "" {
		return named, err
	}
	if _, _, err := s.ThreadOf(ctx, named, word); err == nil || !record.Unknown(err) {
		return named, nil
	}
	waiting, _, err := s.Reviews(ctx, Filter{Status: record.WaitingStatus, Limit: maxLooked})
	for _, r := range waiting {
		review, err := s.Review(ctx, r.ID)
		if err != nil {
			return named, err
		}
		if _, _, err := s.ThreadOf(ctx, review, word); err == nil {
			return review, nil
		}
	}
	return named, err
}

// roundAfter returns the newest review that follows another and was not cancelled, or "".
func (s *Store) roundAfter(ctx context.Context, id string) (string, error) {
	later, err := s.linesMarked(ctx, markOfText("follows", id), 0, func(line record.ReviewSummary) bool {
		return line.Follows == id && line.Status != record.ReviewCancelled
	})
	if err != nil || len(later) == 0 {
		return "", err
	}
	return slices.MaxFunc(later, func(a, b record.ReviewSummary) int { return cmp.Compare(a.Clock, b.Clock) }).ID, nil
}

// Since is the difference between two rounds of a change, without changes that came only from the base.
type Since struct {
	Files   int      `json:"files"`
	Added   int      `json:"added"`
	Removed int      `json:"removed"`
	Clashes []string `json:"clashes"` // paths where the newer base changed the same lines

	From gitstore.ID `json:"from"` // the tree of the earlier round, transplanted to the base of the later one
	To   gitstore.ID `json:"to"`
}

// String returns the difference in words: "the author changed 2 files (+3 -1)". Where the base changed the same lines,
// it does not name the author, because the differing lines may be the base's.
func (s Since) String() string {
	what := fmt.Sprintf("%s (+%d -%d)", prose.Count(s.Files, "file"), s.Added, s.Removed)
	switch {
	case s.Files == 0:
		return "the author changed nothing"
	case len(s.Clashes) > 0:
		return "the change differs in " + what
	}
	return "the author changed " + what
}

// Since compares two rounds. It returns gitstore.ErrNotFound if one of their commits is not here.
func (s *Store) Since(ctx context.Context, earlier, later record.Subject) (Since, error) {
	was, err := s.ComparedWith(ctx, earlier)
	if err != nil {
		return Since{}, err
	}
	base, err := s.ComparedWith(ctx, later)
	if err != nil {
		return Since{}, err
	}
	moved, err := s.Repo.Transplant(ctx, gitstore.Span{From: was, To: earlier.Tree}, base)
	if err != nil {
		return Since{}, err
	}
	since := Since{Clashes: append([]string{}, moved.Clashes...), From: moved.Tree, To: later.Tree}
	stat, err := s.Repo.DiffStat(ctx, gitstore.DiffSpec{From: since.From, To: since.To})
	for _, f := range stat {
		since.Files, since.Added, since.Removed = since.Files+1, since.Added+f.Added, since.Removed+f.Deleted
	}
	return since, err
}
