package store

import (
	"context"
	"maps"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
)

// withdrawals returns the redactions of the reviews called ids; nil means of all reviews.
func (s *Store) withdrawals(ctx context.Context, ids map[string]bool) (ws []*record.Withdrawal, err error) {
	if ids != nil && len(ids) == 0 {
		return nil, nil
	}
	mentioned := ids
	if len(ids) > eachAlone { // reading all summaries costs less
		mentioned = nil
	}
	lines, _, err := s.Reviews(ctx, Filter{Mention: mentioned, Review: func(r record.ReviewSummary) bool {
		return r.Redacted && (ids == nil || ids[r.ID])
	}})
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		review, err := s.ReviewByID(ctx, line.ID)
		if err != nil {
			return nil, err
		}
		events, err := s.entityEvents(ctx, kindReview, line.ID)
		if err != nil {
			return nil, err
		}
		ws = append(ws, record.NewWithdrawal(review, events))
	}
	return ws, nil
}

// runsEach is the maximum number of runs that concerned reads one by one.
const runsEach = 50

// concerned returns the ids of the reviews that events are about, themselves or through their runs. It returns nil, for
// all reviews, if these are too many runs.
func (s *Store) concerned(ctx context.Context, events []record.Event) (map[string]bool, error) {
	ids, runs := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		if e.Review != "" {
			ids[e.Review] = true
		}
		if e.Run == "" || runs[e.Run] {
			continue
		}
		if runs[e.Run] = true; len(runs) > runsEach {
			return nil, nil
		}
		st, err := s.entityState(ctx, kindRun, e.Run)
		if record.Unknown(err) { // its beginning is not here
			continue
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(ids, st.run.ReviewIDs())
	}
	return ids, nil
}

// withdrawalsIn returns the redactions of the reviews that events are about.
func (s *Store) withdrawalsIn(ctx context.Context, events []record.Event) ([]*record.Withdrawal, error) {
	ids, err := s.concerned(ctx, events)
	if err != nil {
		return nil, err
	}
	return s.withdrawals(ctx, ids)
}

// WithoutRedacted returns events without texts that were redacted since.
func (s *Store) WithoutRedacted(ctx context.Context, events []record.Event) ([]record.Event, error) {
	ws, err := s.withdrawalsIn(ctx, events)
	for _, w := range ws {
		for i, e := range events {
			events[i] = w.Event(e)
		}
	}
	return events, err
}

// shownRun returns the run with its audience, and without texts that were redacted in reviews that it is about.
func (s *Store) shownRun(ctx context.Context, run record.Run) (record.Run, error) {
	ws, err := s.withdrawals(ctx, run.ReviewIDs())
	for _, w := range ws {
		if err == nil {
			run, err = w.Run(run)
		}
	}
	return s.seenRun(run), err
}

// Withheld returns what to show in place of what is attached to an event, or was kept when it was recorded; "" if
// nothing of it was withdrawn.
func (s *Store) Withheld(ctx context.Context, id gitstore.ID) (string, error) {
	entry, err := s.Repo.Entry(ctx, id)
	if err != nil {
		return "", err
	}
	event, err := record.DecodeEvent(entry)
	if err != nil {
		return "", err
	}
	ws, err := s.withdrawalsIn(ctx, []record.Event{event})
	for _, w := range ws {
		if notice := w.Attached(event); notice != "" {
			return notice, nil
		}
	}
	return "", err
}

// Attached returns the paths of what is attached to each of events and was not withdrawn.
func (s *Store) Attached(ctx context.Context, events []record.Event) (map[gitstore.ID][]string, error) {
	ws, err := s.withdrawalsIn(ctx, events)
	if err != nil {
		return nil, err
	}
	attached := map[gitstore.ID][]string{}
	for _, e := range events {
		if slices.ContainsFunc(ws, func(w *record.Withdrawal) bool { return w.Attached(e) != "" }) {
			continue
		}
		if attached[e.ID], err = s.Repo.Attachments(ctx, e.ID); err != nil {
			return nil, err
		}
	}
	return attached, nil
}

// WithheldOutput is Withheld for a file with the output or the prompt of one of a run's agents. An agent that did not
// finish has no event: its output is withheld once anything about the run was redacted.
func (s *Store) WithheldOutput(ctx context.Context, run record.Run, file string) (string, error) {
	if event := run.OutputOf(file); event != "" {
		return s.Withheld(ctx, event)
	}
	if ws, err := s.withdrawals(ctx, run.ReviewIDs()); len(ws) == 0 || err != nil {
		return "", err
	}
	return record.Redacted, nil
}

// Attachment reads an event's attachment by its role: review.md, checks/test.log. If it was withdrawn, it returns a
// notice in its place.
func (s *Store) Attachment(ctx context.Context, event gitstore.ID, role string) ([]byte, error) {
	if notice, err := s.Withheld(ctx, event); err != nil || notice != "" {
		return []byte(notice), err
	}
	return s.Repo.Attachment(ctx, event, role)
}

// RedactReview redacts texts of a review: all of them, a finding's thread, or those that contain a text. See
// record.Review.RedactionOf. It also redacts what quotes them in other rounds of the conversation, and in what the runs
// about the review asked.
func (s *Store) RedactReview(ctx context.Context, id, target, actor string) (record.Review, error) {
	review, err := s.Review(ctx, id)
	if err != nil {
		return review, err
	}
	if err := record.CheckActor(actor); err != nil {
		return review, err
	}
	p, texts, err := review.RedactionOf(target)
	if err != nil {
		return review, err
	}
	others, err := s.rounds(ctx, review)
	if err != nil {
		return review, err
	}
	p.Actor = s.redacted(actor)
	for _, other := range others {
		quotes, err := other.RedactionOfQuotes(texts)
		if err != nil {
			return review, err
		}
		if quotes.Actor = p.Actor; len(quotes.Texts) == 0 {
			continue
		}
		if _, err := s.reviewEvent(ctx, other.ID, record.EventReviewRedacted.New("cli", "by "+p.Actor, quotes)); err != nil {
			return review, err
		}
	}
	return s.reviewEvent(ctx, review.ID, record.EventReviewRedacted.New("cli", "by "+p.Actor, p))
}

// rounds returns the other reviews of a review's conversation and of the runs about it.
func (s *Store) rounds(ctx context.Context, review record.Review) (others []record.Review, err error) {
	conversation, err := s.Conversation(ctx, review)
	if err != nil {
		return nil, err
	}
	ids := each.SetOf(conversation, func(round record.Review) string { return round.ID })
	runs, err := s.RunsOf(ctx, review.ID)
	if err != nil {
		return nil, err
	}
	if review.Request.Run != "" {
		runs[review.Request.Run] = true
	}
	for run := range runs {
		events, err := s.entityEvents(ctx, kindRun, run)
		if err != nil && !record.Unknown(err) { // the run's beginning may not be here
			return nil, err
		}
		for _, e := range events {
			ids[e.Review] = true
		}
	}
	delete(ids, review.ID)
	delete(ids, "")
	for id := range ids {
		other, err := s.ReviewByID(ctx, id)
		if err != nil && !record.Unknown(err) {
			return nil, err
		}
		if err == nil {
			others = append(others, other)
		}
	}
	return others, nil
}
