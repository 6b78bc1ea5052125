package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// ReplacedLog says what ReplaceLogs left out of a log of this clone.
type ReplacedLog struct {
	Writer      string `json:"writer"`
	Events      int    `json:"events"`      // whose texts were withdrawn
	Attachments int    `json:"attachments"` // files that were attached to events
}

// ReplaceLogs writes this clone's own logs again without what was redacted in reviews, and the notes without their
// history. The last event of each is signed. It returns an *InputError, with nothing changed, if nothing is redacted,
// if an archive has one of the logs, or if something that is redacted now would be shown again: what the logs of others
// quote is only recognized while the quoted text is known.
func (s *Store) ReplaceLogs(ctx context.Context, actor string) (done []ReplacedLog, err error) {
	ws, err := s.withdrawals(ctx, nil)
	if err != nil {
		return nil, err
	}
	if len(ws) == 0 {
		return nil, &record.InputError{Why: "nothing is redacted in this clone"}
	}
	for _, w := range ws {
		if err := s.checkQuotes(ctx, w, ws); err != nil {
			return nil, err
		}
	}
	for _, writer := range s.Repo.Own() {
		one, err := s.toReplace(ctx, writer, ws)
		if err != nil {
			return nil, err
		}
		if one != (ReplacedLog{Writer: writer}) {
			done = append(done, one)
		}
	}
	for _, one := range done {
		if err := s.replaceLog(ctx, one.Writer, ws, actor); err != nil {
			return nil, err
		}
	}
	if len(done) == 0 {
		return nil, nil
	}
	if err := s.Rebuild(ctx); err != nil {
		return done, err
	}
	return done, s.Repo.RestartNotes(ctx, NotesRef)
}

// toReplace counts what ws withdraw from a log.
func (s *Store) toReplace(ctx context.Context, writer string, ws []*record.Withdrawal) (found ReplacedLog, err error) {
	found.Writer = writer
	tips, err := s.tips(ctx)
	if err != nil || tips[writer] == "" {
		return found, err
	}
	err = s.Repo.Walk(ctx, writer, tips[writer], "", func(entry gitstore.Entry) error {
		replaces, files, err := s.withdrawn(ctx, entry, ws, nil)
		if replaces.Message != entry.Message {
			found.Events++
		}
		found.Attachments += files
		return err
	})
	if err != nil || found == (ReplacedLog{Writer: writer}) {
		return found, err
	}
	archived, err := s.Repo.IsArchived(ctx, writer)
	if err == nil && archived {
		err = &record.InputError{Why: fmt.Sprintf("log %s is in an archive, which is not replaced", writer)}
	}
	return found, err
}

// replaceLog is ReplaceLogs for one log.
func (s *Store) replaceLog(ctx context.Context, writer string, ws []*record.Withdrawal, actor string) error {
	author, err := s.Repo.Identity(ctx)
	if err != nil {
		return err
	}
	events, clock := 0, uint64(0)
	rewrite := func(entry gitstore.Entry, ids map[gitstore.ID]gitstore.ID) (gitstore.Record, error) {
		events++
		if event, err := record.DecodeEvent(entry); err == nil {
			clock = max(clock, event.Clock)
		}
		replaces, _, err := s.withdrawn(ctx, entry, ws, ids)
		return replaces, err
	}
	end := func() gitstore.Record {
		now := s.EventTime()
		view := &View{store: s, ctx: ctx, Writer: writer, Clock: min(clock+1, record.MaxClock), Now: now}
		var event record.Event
		event, err = view.event(record.EventLogReplaced.New("cli", "without what was redacted",
			record.LogReplaced{Events: events, Actor: actor}))
		message, textErr := event.CommitText("")
		err = errors.Join(err, textErr)
		return gitstore.Record{Author: author, When: now, Message: message}
	}
	replaceErr := s.Repo.ReplaceLog(ctx, writer, rewrite, end)
	return errors.Join(err, replaceErr)
}

// withdrawn returns what replaces an entry of a log, and how many attached files it lacks.
func (s *Store) withdrawn(ctx context.Context, entry gitstore.Entry, ws []*record.Withdrawal,
	ids map[gitstore.ID]gitstore.ID) (replaces gitstore.Record, files int, err error) {
	replaces = gitstore.Record{Author: entry.Author, When: entry.When}
	if replaces.Message, err = record.Withdrawn(entry, ws, ids); err != nil {
		return replaces, 0, err
	}
	event, decodeErr := record.DecodeEvent(entry)
	hides := func(w *record.Withdrawal) bool { return decodeErr == nil && w.Attached(event) != "" }
	if slices.ContainsFunc(ws, hides) {
		roles, err := s.Repo.Attachments(ctx, entry.ID)
		return replaces, len(roles), err
	}
	replaces.Attachments, err = s.attachments(ctx, entry.ID)
	return replaces, 0, err
}

// checkQuotes returns an *InputError if an event in the log of somebody else would show what w withdraws once this
// clone's own logs no longer have the text.
func (s *Store) checkQuotes(ctx context.Context, w *record.Withdrawal, ws []*record.Withdrawal) error {
	events, err := s.entityEvents(ctx, kindReview, w.Review())
	if err != nil {
		return err
	}
	after := slices.Clone(events)
	for i, e := range after {
		if !s.Repo.Owns(e.Writer) {
			continue
		}
		for _, each := range ws {
			after[i] = each.Event(after[i])
		}
	}
	review, _ := record.FoldReview(after)
	then := record.NewWithdrawal(review, after)
	for _, run := range w.Runs() {
		more, err := s.entityEvents(ctx, kindRun, run)
		if err != nil && !record.Unknown(err) {
			return err
		}
		events = append(events, more...)
	}
	for _, e := range events {
		now, later := w.Event(e), then.Event(e)
		if !s.Repo.Owns(e.Writer) && (string(now.Payload) != string(later.Payload) || now.Title != later.Title) {
			return &record.InputError{Why: fmt.Sprintf("event %s in the log of %s quotes what is redacted in review %s, and "+
				"would show it again; the owner of that log has to replace it first", e.ID.Short(), e.Writer, w.Review())}
		}
	}
	return nil
}
