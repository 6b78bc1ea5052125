package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	known, err := s.ownLost(ctx)
	if err != nil {
		return done, err
	}
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
		if _, err := s.Repo.RenewWriter(ctx, remote); err != nil {
			return done, fmt.Errorf("take a new writer id: %w", err)
		}
		done.Renewed = true
	}
	if err := s.recordDiverged(ctx); err != nil {
		return done, err
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
	lost, err := s.ownLost(ctx)
	done.Lost = append(done.Lost, lostLines(lost, known)...)
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

// divergedRefs hold what a clone that was copied with its configuration recorded
// under the id that it shared: refs/runr-local/diverged/<old id>/<tip>.
const divergedRefs = "refs/runr-local/diverged/"

// recordDiverged records under this clone's new id what only it knows. It is done
// at every sync, so that a process that was killed in the middle loses nothing.
func (s *Store) recordDiverged(ctx context.Context) error {
	refs, err := s.Repo.Refs(ctx, divergedRefs)
	if err != nil {
		return err
	}
	for ref, tip := range refs {
		shared, _, _ := strings.Cut(strings.TrimPrefix(ref, divergedRefs), "/")
		if err := s.recordOnlyHere(ctx, shared, tip); err != nil {
			return fmt.Errorf("record again what %s wrote here: %w", shared, err)
		}
		if err := s.Repo.SwapRef(ctx, ref, "", tip); err != nil {
			return err
		}
	}
	return nil
}

// recordOnlyHere records the entries up to tip that the log of the shared id does
// not have, and that were not recorded again before.
func (s *Store) recordOnlyHere(ctx context.Context, shared string, tip gitstore.ID) error {
	tips, err := s.Repo.Tips(ctx)
	if err != nil {
		return err
	}
	from, err := s.Repo.MergeBase(ctx, tip, tips[shared])
	if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return err
	}
	own := s.Repo.Writer()
	again := map[string]bool{}
	if tips[own] != "" {
		err = s.Repo.Walk(ctx, own, tips[own], "", func(e gitstore.Entry) error { again[likeness(e)] = true; return nil })
		if err != nil {
			return err
		}
	}
	return s.Repo.Walk(ctx, shared, tip, from, func(e gitstore.Entry) error {
		if again[likeness(e)] {
			return nil
		}
		return s.recordAgain(ctx, e)
	})
}

// likeness is what an event and its copy under another id have in common.
func likeness(entry gitstore.Entry) string {
	e, err := DecodeEvent(gitstore.Entry{Message: entry.Message})
	if err != nil {
		return string(entry.ID)
	}
	return fmt.Sprintf("%s %s %s %s %s", e.Timestamp, e.Type, e.Run, e.Review, e.Payload)
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

// lostStep is a step of this clone's in a review that the fold does not count.
type lostStep struct {
	Lost
	review ReviewSummary
}

// ownLost are this clone's steps in reviews that lost to another clone's.
func (s *Store) ownLost(ctx context.Context) ([]lostStep, error) {
	var lost []lostStep
	reviews, _, err := s.Reviews(ctx, Filter{Review: func(r ReviewSummary) bool { return r.Lost > 0 }})
	if err != nil {
		return nil, err
	}
	own := s.Repo.Writer()
	for _, line := range reviews {
		review, err := s.Review(ctx, line.ID)
		if err != nil {
			return nil, err
		}
		for _, l := range review.Lost {
			if l.Writer == own {
				lost = append(lost, lostStep{l, line})
			}
		}
	}
	return lost, nil
}

// lostLines tell of lost steps: of those in reviews that still wait for somebody,
// and of those that are not among known.
func lostLines(lost, known []lostStep) []string {
	var lines []string
	for _, l := range lost {
		told := slices.ContainsFunc(known, func(k lostStep) bool { return k.Event == l.Event })
		if waitingStatus(string(l.review.Status)) || !told {
			lines = append(lines, fmt.Sprintf("%s of %s: %s", l.Type, l.review.ID, l.Why))
		}
	}
	return lines
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
