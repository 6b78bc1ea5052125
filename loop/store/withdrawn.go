package store

import (
	"context"
	"maps"

	"github.com/git-runr/git-runr/gitstore"
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

// concerned returns the ids of the reviews that events are about, themselves or through their runs.
func (s *Store) concerned(ctx context.Context, events []record.Event) (map[string]bool, error) {
	ids, runs := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		if e.Review != "" {
			ids[e.Review] = true
		}
		if e.Run == "" || runs[e.Run] {
			continue
		}
		runs[e.Run] = true
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

// WithoutRedacted returns events without texts that were redacted since.
func (s *Store) WithoutRedacted(ctx context.Context, events []record.Event) ([]record.Event, error) {
	ids, err := s.concerned(ctx, events)
	if err != nil {
		return nil, err
	}
	ws, err := s.withdrawals(ctx, ids)
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
	ids, err := s.concerned(ctx, []record.Event{event})
	if err != nil {
		return "", err
	}
	ws, err := s.withdrawals(ctx, ids)
	for _, w := range ws {
		if notice := w.Attached(event); notice != "" {
			return notice, nil
		}
	}
	return "", err
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
