package store

import (
	"context"
	"errors"
	"fmt"
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
