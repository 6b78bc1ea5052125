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

// Retirement says which logs of a remote are retired: those of writers that come and go.
type Retirement struct {
	After time.Duration // since the newest event of a log; 0 is never
	Asked bool          // now, and however few they are
	Terms Terms         // of a Sync when somebody else is at it
}

// Limits of what is retired without being asked: below so many logs nothing is gained, and
// each look reads the end of every log.
const (
	retireMany   = 64
	retireSome   = 512 // at once: git takes 5 s for so many where there are 10,000 refs
	retireAgain  = time.Hour
	retireDenied = 24 * time.Hour // after which a remote is asked again that did not let us
)

// Retire puts logs that have not moved for long into the remote's archive, after a Sync.
// The remote's no is in what it gives.
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
		if _, err := Sync(ctx, s, remote, Terms{Since: r.Terms.Since}); err != nil { // somebody else is at it
			return done, err
		}
	}
}

func retireOnce(ctx context.Context, s *store.Store, remote string, rule gitstore.RetireRule) (gitstore.Retired, error) {
	unlock, err := s.Repo.Lock(ctx, "sync")
	if err != nil {
		return gitstore.Retired{}, err
	}
	defer unlock()
	return s.Repo.Retire(ctx, remote, rule)
}

// retirePath is the file that says when to look for logs to retire again. It can be deleted
// at any time.
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
