package share

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/store"
)

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
