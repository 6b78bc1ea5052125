package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"git-runr/gitstore"
)

// Synced is what an exchange with a remote did.
type Synced struct {
	Remote   string               `json:"remote"`
	Taken    int                  `json:"taken"`   // events of others, new here
	Writers  []string             `json:"writers"` // whose events they are
	Pushed   int                  `json:"pushed"`  // own events that the remote did not have
	Rejected []gitstore.Rejection `json:"rejected"`
	Lost     []string             `json:"lost"` // own steps that the fold of all logs does not count
	Renewed  bool                 `json:"renewed_writer"`
	Notes    bool                 `json:"notes"` // whether the remote has the notes as they are here
}

// syncRetries bounds the attempts to push what others pushed at the same time.
const syncRetries = 5

// Sync exchanges logs with a remote: afterwards this clone folds the union of
// both, and the remote has this clone's log. notes says whether to push the notes,
// which never stops a sync.
func (s *Store) Sync(ctx context.Context, remote string, notes bool) (Synced, error) {
	done := Synced{Remote: remote, Writers: []string{}, Rejected: []gitstore.Rejection{}, Lost: []string{}}
	if err := s.Repo.FetchLogs(ctx, remote); err != nil {
		return done, err
	}
	adopted, err := s.Repo.AdoptLogs(ctx, remote, checkEntry)
	if err != nil {
		return done, fmt.Errorf("take over logs: %w", err)
	}
	done.Taken, done.Writers = adopted.Events, append(done.Writers, adopted.Writers...)
	done.Rejected = append(done.Rejected, adopted.Rejected...)
	if adopted.Diverged {
		if err := s.separate(ctx, remote); err != nil {
			return done, fmt.Errorf("take a new writer id: %w", err)
		}
		done.Renewed = true
	}
	if done.Pushed, err = s.unpushed(ctx, remote); err != nil {
		return done, err
	}
	if err := s.Repo.PushLogs(ctx, remote); err != nil {
		return done, err
	}
	if err := s.Project(ctx); err != nil {
		return done, err
	}
	if notes {
		done.Notes = s.pushNotes(ctx, remote) == nil
	}
	done.Lost, err = s.lostSteps(ctx)
	return done, err
}

func checkEntry(entry gitstore.Entry) error {
	_, err := DecodeEvent(entry)
	if errors.Is(err, gitstore.ErrNewerFormat) {
		return err
	}
	return nil // a record that cannot be read is kept, and reported by log and fsck
}

// unpushed counts the own events that the remote did not have at the last fetch.
func (s *Store) unpushed(ctx context.Context, remote string) (int, error) {
	own := s.Repo.Writer()
	tips, err := s.Repo.Tips(ctx)
	if err != nil || tips[own] == "" {
		return 0, err
	}
	known, err := s.Repo.Ref(ctx, stagedLog(remote, own))
	if err != nil {
		return 0, err
	}
	count := 0
	err = s.Repo.Walk(ctx, own, tips[own], known, func(gitstore.Entry) error { count++; return nil })
	return count, err
}

func stagedLog(remote, writer string) string { return "refs/runr-remotes/" + remote + "/log/" + writer }

// separate gives a clone that was copied with its configuration an id of its own,
// and records under it what only this clone knows. The shared id is the other's.
func (s *Store) separate(ctx context.Context, remote string) error {
	shared := s.Repo.Writer()
	own, err := s.onlyHere(ctx, remote, shared)
	if err != nil {
		return err
	}
	if _, err := s.Repo.RenewWriter(ctx, remote); err != nil {
		return err
	}
	for _, entry := range own {
		if err := s.recordAgain(ctx, entry); err != nil {
			return err
		}
	}
	return nil
}

// onlyHere are this clone's entries that the remote's log of the same id does not have.
func (s *Store) onlyHere(ctx context.Context, remote, writer string) ([]gitstore.Entry, error) {
	tips, err := s.Repo.Tips(ctx)
	if err != nil || tips[writer] == "" {
		return nil, err
	}
	theirs, err := s.Repo.Ref(ctx, stagedLog(remote, writer))
	if err != nil {
		return nil, err
	}
	from, err := s.Repo.MergeBase(ctx, tips[writer], theirs)
	if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return nil, err
	}
	var own []gitstore.Entry
	err = s.Repo.Walk(ctx, writer, tips[writer], from, func(e gitstore.Entry) error {
		own = append(own, e)
		return nil
	})
	return own, err
}

// recordAgain appends an event once more, as it was but for its writer and clock.
func (s *Store) recordAgain(ctx context.Context, entry gitstore.Entry) error {
	old, err := DecodeEvent(entry)
	if err != nil {
		return err
	}
	attachments := map[string][]byte{}
	roles, err := s.Repo.Attachments(ctx, entry.ID)
	if err != nil {
		return err
	}
	for _, role := range roles {
		if attachments[role], err = s.Repo.Attachment(ctx, entry.ID, role); err != nil {
			return err
		}
	}
	_, err = s.Repo.Append(ctx, func(ctx context.Context, tips gitstore.Tips, writer string) (gitstore.Record, error) {
		again := old
		again.Writer = writer
		var err error
		if again.Clock, err = s.nextClock(ctx, tips); err != nil {
			return gitstore.Record{}, err
		}
		message, err := again.message("")
		return gitstore.Record{Author: entry.Author, When: entry.When, Message: message, Attachments: attachments}, err
	})
	return err
}

func (s *Store) pushNotes(ctx context.Context, remote string) error {
	var err error
	for range syncRetries {
		if err = s.Repo.PushNotes(ctx, remote, NotesRef); !errors.Is(err, gitstore.ErrLostRace) {
			break
		}
	}
	return err
}

// lostSteps are this clone's steps in open reviews that lost to another clone's.
func (s *Store) lostSteps(ctx context.Context) ([]string, error) {
	lost := []string{}
	reviews, _, err := s.Reviews(ctx, Filter{Status: inboxStatus})
	if err != nil {
		return lost, err
	}
	me, err := s.Repo.Identity(ctx)
	if err != nil {
		return lost, nil // nobody to tell
	}
	for _, line := range reviews {
		if line.Lost == 0 {
			continue
		}
		review, err := s.Review(ctx, line.ID)
		if err != nil {
			return lost, err
		}
		for _, l := range review.Lost {
			if l.By == me.String() {
				lost = append(lost, fmt.Sprintf("%s of %s: %s", l.Type, review.ID, l.Why))
			}
		}
	}
	return lost, nil
}

// EventsOfCommit are the events that speak of commit.
func EventsOfCommit(events []Event, commit gitstore.ID) []Event {
	return slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return !speaksOf(e, commit) })
}

// subjectOf is the part of any payload that names commits.
type subjectOf struct {
	Commit  gitstore.ID `json:"commit"`
	Base    gitstore.ID `json:"base"`
	Subject Subject     `json:"subject"`
}

func speaksOf(e Event, commit gitstore.ID) bool {
	p, err := payload[subjectOf](e)
	return err == nil && (p.Commit == commit || p.Subject.Commit == commit || p.Base == commit && e.Type == RunStarted)
}

// Span is the pair of commits that a span of attempts means: "" is from the run's
// base to its head, "1..2" from what attempt 1 left to what attempt 2 left, 0 the base.
func (r Run) Span(span string) (from, to gitstore.ID, err error) {
	if span == "" {
		return r.Plan.Base, r.Head(), nil
	}
	var a, b int
	if n, err := fmt.Sscanf(span, "%d..%d", &a, &b); n != 2 || err != nil {
		return "", "", fmt.Errorf("%q is no span of attempts such as 1..2", span)
	}
	if from, err = r.after(a); err != nil {
		return "", "", err
	}
	to, err = r.after(b)
	return from, to, err
}

func (r Run) after(number int) (gitstore.ID, error) {
	if number == 0 {
		return r.Plan.Base, nil
	}
	for _, a := range r.Attempts {
		if a.Number != number {
			continue
		}
		if a.Commit == "" {
			return a.From, nil // it changed nothing
		}
		return a.Commit, nil
	}
	return "", fmt.Errorf("run %s has %d attempts, not attempt %d", r.ID, len(r.Attempts), number)
}
