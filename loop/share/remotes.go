package share

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Remotes returns the remotes to exchange logs with by default: the elected one, the one that earlier records belong
// to, and every other remote that this clone has asked or answered something on.
func Remotes(ctx context.Context, s *store.Store, elected string) ([]string, error) {
	remotes := []string{elected}
	tips, err := s.Repo.Tips(ctx)
	for _, writer := range s.Repo.Own() {
		at := s.Repo.RemoteOf(s.Repo.Audience(writer))
		if at != "" && tips[writer] != "" && !slices.Contains(remotes, at) {
			remotes = append(remotes, at)
		}
	}
	return remotes, err
}

// SyncAll calls Sync for each of Remotes, until one cannot be reached.
func SyncAll(ctx context.Context, s *store.Store, elected string, notes bool) (all []Synced, err error) {
	remotes, err := Remotes(ctx, s, elected)
	for _, remote := range remotes {
		if err != nil {
			return all, err
		}
		done, failed := Sync(ctx, s, remote, notes)
		all, err = append(all, done), failed
	}
	return all, err
}

// Kept counts the events that stay in this clone: those of private logs, and of logs whose remote was removed. It
// leaves out the originals of reviews that were shared: others have the copy.
func Kept(ctx context.Context, s *store.Store) (kept int, err error) {
	tips, err := s.Repo.Tips(ctx)
	if err != nil {
		return 0, err
	}
	events, copies := map[string]int{}, map[string]string{} // by review
	for writer, tip := range tips {
		if s.Repo.Audience(writer) != (gitstore.Audience{Private: true}) {
			continue
		}
		err := s.Repo.Walk(ctx, writer, tip, "", func(entry gitstore.Entry) error {
			event, _ := record.DecodeEvent(entry) // an event that cannot be read stays here as well
			events[event.Review]++
			if copied := copyOf(event); copied != "" {
				copies[event.Review] = copied
			}
			return nil
		})
		if err != nil {
			return kept, err
		}
	}
	for review, count := range events {
		if copied := copies[review]; copied != "" {
			if _, err := s.ReviewByID(ctx, copied); err == nil {
				continue
			}
		}
		kept += count
	}
	return kept, nil
}

// copyOf returns the id of the copy of a private review that event closes because it was shared, or "".
func copyOf(event record.Event) string {
	if event.Type != record.EventReviewResolved.Name && event.Type != record.EventReviewCancelled.Name {
		return ""
	}
	by, err := record.EventReviewResolved.Payload(event)
	if id, shared := strings.CutPrefix(by.Note, store.SharedAs); err == nil && shared && record.ValidID(id) {
		return id
	}
	return ""
}

// Retirement says which logs of a remote to retire: those of writers that come and go.
type Retirement struct {
	After time.Duration // age of a log's newest event; 0 means never
	Asked bool          // a person asked: do it now, even for few logs
}

// Limits for retiring logs automatically: retiring few logs gains nothing, and each attempt reads the end of every log.
const (
	retireMany   = 64
	retireSome   = 512 // at once: with 10,000 refs git needs 5 s for so many
	retireAgain  = time.Hour
	retireDenied = 24 * time.Hour // how long to wait after a remote has refused
)

// Retire moves logs that have not changed for long into the remote's archive. Call it after a Sync. If the remote
// refuses, the result says so and there is no error.
func Retire(ctx context.Context, s *store.Store, remote string, r Retirement) (gitstore.Retired, error) {
	var done gitstore.Retired
	rule := gitstore.RetireRule{Before: s.EventTime().Add(-r.After)}
	if !r.Asked {
		rule.Least, rule.Most = retireMany+1, retireSome
		if many, err := s.Repo.SharedLogs(ctx, remote); err != nil || r.After == 0 || many <= retireMany || !retireDue(s) {
			return done, err
		}
	}
	for try := 1; ; try++ {
		some, err := retireOnce(ctx, s, remote, rule)
		done.Logs, done.Refs, done.Refused = done.Logs+some.Logs, done.Refs+some.Refs, some.Refused
		switch {
		case done.Refused != nil:
			lookAgain(s, retireDenied)
			return done, nil
		case err == nil:
			lookAgain(s, retireAgain)
			return done, nil
		case !errors.Is(err, gitstore.ErrLostRace) || try == syncRetries:
			return done, err
		}
		if _, err := Sync(ctx, s, remote, false); err != nil { // another clone interfered
			return done, err
		}
	}
}

func retireOnce(ctx context.Context, s *store.Store, remote string,
	rule gitstore.RetireRule) (gitstore.Retired, error) {
	unlock, err := s.Repo.Lock(ctx, "sync")
	if err != nil {
		return gitstore.Retired{}, err
	}
	defer unlock()
	return s.Repo.Retire(ctx, remote, rule)
}

// retirePath returns the file that holds when to look again for logs to retire. It can be deleted at any time.
func retirePath(s *store.Store) string {
	return filepath.Join(s.Repo.StateDir(), "cache", "retire-after")
}

func retireDue(s *store.Store) bool {
	text, err := safefile.ReadFile(retirePath(s))
	after, wrong := time.Parse(time.RFC3339, string(text))
	return err != nil || wrong != nil || s.EventTime().After(after) || after.Sub(s.EventTime()) > retireDenied
}

func lookAgain(s *store.Store, in time.Duration) {
	_ = safefile.WriteFile(retirePath(s), []byte(s.EventTime().Add(in).Format(time.RFC3339)), 0o666)
}
