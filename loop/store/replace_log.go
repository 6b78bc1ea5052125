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

// Replacement is the result of ReplaceLogs.
type Replacement struct {
	Logs []ReplacedLog `json:"replaced_logs"`
	// the redactions of others that it followed, each as its review, its actor and its writer
	By []string `json:"redacted_by_others,omitempty"`
	// writers whose logs have texts that are redacted in the same reviews
	Others []string `json:"also_in_logs_of,omitempty"`
}

// ReplaceLogs writes this clone's own logs again without what this clone redacted, or, if id is not "", without all
// that is redacted in that review; and the notes without their history. The last event of each log is signed. It
// returns an *InputError, with nothing changed, if nothing is redacted, if a log cannot be replaced, or if something
// that is redacted now would be shown again: what the logs of others quote is only recognized while the quoted text is
// known.
func (s *Store) ReplaceLogs(ctx context.Context, id, actor string) (done Replacement, err error) {
	ws, err := s.toWithdraw(ctx, id, &done)
	if err != nil {
		return done, err
	}
	if len(ws) == 0 {
		return done, &record.InputError{Why: "this clone has redacted nothing; with ID, what others redacted counts too"}
	}
	for _, w := range ws {
		if err := s.checkQuotes(ctx, w, ws, &done); err != nil {
			return done, err
		}
	}
	for _, writer := range s.Repo.Own() {
		one, err := s.toReplace(ctx, writer, ws)
		if err != nil {
			return done, err
		}
		if one != (ReplacedLog{Writer: writer}) {
			done.Logs = append(done.Logs, one)
		}
	}
	for _, one := range done.Logs {
		if err := s.replaceLog(ctx, one.Writer, ws, actor); err != nil {
			return done, err
		}
	}
	if len(done.Logs) == 0 {
		return done, nil
	}
	if err := s.Rebuild(ctx); err != nil {
		return done, err
	}
	return done, s.Repo.RestartNotes(ctx, NotesRef)
}

// toWithdraw returns what ReplaceLogs leaves out.
func (s *Store) toWithdraw(ctx context.Context, id string, done *Replacement) (ws []*record.Withdrawal, err error) {
	var ids map[string]bool
	if id != "" {
		review, err := s.Review(ctx, id)
		if err != nil {
			return nil, err
		}
		ids = map[string]bool{review.ID: true}
	}
	all, err := s.withdrawals(ctx, ids)
	for _, w := range all {
		events, err := s.entityEvents(ctx, kindReview, w.Review())
		if err != nil {
			return nil, err
		}
		kept := slices.DeleteFunc(slices.Clone(events), func(e record.Event) bool {
			if e.Type != record.EventReviewRedacted.Name || s.Repo.Owns(e.Writer) {
				return false
			}
			if id != "" {
				done.By = append(done.By, fmt.Sprintf("%s of review %s, writer %.7s", e.Actor, e.Review, e.Writer))
			}
			return id == ""
		})
		if review, _ := record.FoldReview(kept); len(review.Redactions) > 0 {
			ws = append(ws, record.NewWithdrawal(review, kept))
		}
	}
	return ws, err
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
	switch {
	case err != nil:
	case archived:
		err = &record.InputError{Why: fmt.Sprintf("log %s is in an archive, which is not replaced", writer)}
	case s.Repo.IsNamed(writer):
		err = &record.InputError{Why: fmt.Sprintf("log %s has the name of a writer, which other clones may share, and is "+
			"not replaced", writer)}
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

// checkQuotes returns an *InputError if an event in the log of somebody else would show what is withdrawn in a review
// once this clone's own logs no longer have the text. It adds the logs with such texts to done.
func (s *Store) checkQuotes(ctx context.Context, w *record.Withdrawal, ws []*record.Withdrawal,
	done *Replacement) error {
	events, err := s.entityEvents(ctx, kindReview, w.Review())
	if err != nil {
		return err
	}
	now := withdrawal(events)
	after := slices.Clone(events)
	for i, e := range after {
		if !s.Repo.Owns(e.Writer) {
			continue
		}
		for _, each := range ws {
			after[i] = each.Event(after[i])
		}
	}
	then := withdrawal(after)
	for _, run := range w.Runs() {
		more, err := s.entityEvents(ctx, kindRun, run)
		if err != nil && !record.Unknown(err) {
			return err
		}
		events = append(events, more...)
	}
	for _, e := range events {
		if s.Repo.Owns(e.Writer) {
			continue
		}
		shown, later := now.Event(e), then.Event(e)
		if string(shown.Payload) != string(later.Payload) || shown.Title != later.Title {
			return &record.InputError{Why: fmt.Sprintf("event %s in the log of %s quotes what is redacted in review %s, and "+
				"would show it again; the owner of that log has to replace it first", e.ID.Short(), e.Writer, w.Review())}
		}
		if now.Changes(e) && !slices.Contains(done.Others, e.Writer) {
			done.Others = append(done.Others, e.Writer)
		}
	}
	return nil
}

func withdrawal(events []record.Event) *record.Withdrawal {
	review, _ := record.FoldReview(events)
	return record.NewWithdrawal(review, events)
}
