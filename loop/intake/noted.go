package intake

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Noted is a commit for which a hook requested only the built-in reviewer. It is a file of this clone until a worker
// has examined the commit: a result without findings is recorded as one event.
type Noted struct {
	Request record.ReviewRequest `json:"request"`
	Source  string               `json:"source"` // of the request
	At      time.Time            `json:"at"`
}

// notedPath returns the file for a commit; "" stands for the directory of all.
func notedPath(s *store.Store, commit gitstore.ID) string {
	return filepath.Join(s.Repo.StateDir(), "asked", string(commit))
}

// note stores a request for the next worker.
func note(s *store.Store, request record.ReviewRequest) error {
	data, err := json.Marshal(Noted{request, "hook", s.EventTime()})
	if err == nil {
		err = os.MkdirAll(notedPath(s, ""), 0o777)
	}
	if err == nil {
		err = safefile.WriteFile(notedPath(s, request.Subject.Commit), data, 0o666)
	}
	if err != nil {
		return fmt.Errorf("note commit %s for review: %w", request.Subject.Commit.Short(), err)
	}
	return nil
}

// ReadNoted returns the noted request for a commit; ok is false if there is none.
func ReadNoted(s *store.Store, commit gitstore.ID) (noted Noted, ok bool) {
	data, err := safefile.ReadFile(notedPath(s, commit))
	ok = err == nil && json.Unmarshal(data, &noted) == nil && noted.Request.Subject.Commit == commit &&
		noted.Request.ByRulesAlone()
	return noted, ok
}

// AllNoted returns the noted requests, oldest first.
func AllNoted(s *store.Store) ([]Noted, error) {
	files, err := os.ReadDir(notedPath(s, ""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Noted
	for _, file := range files {
		if noted, ok := ReadNoted(s, gitstore.ID(file.Name())); ok {
			all = append(all, noted)
		}
	}
	slices.SortStableFunc(all, func(a, b Noted) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(string(a.Request.Subject.Commit), string(b.Request.Subject.Commit)))
	})
	return all, err
}

// Forget removes the noted request for a commit, once it is recorded.
func Forget(s *store.Store, commit gitstore.ID) error {
	if err := os.Remove(notedPath(s, commit)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget that commit %s was noted: %w", commit.Short(), err)
	}
	return nil
}

// AskedFor reports whether a review of a commit by rules alone is recorded, or kept in this clone. It need not be
// requested then.
func AskedFor(ctx context.Context, s *store.Store, commit gitstore.ID) (bool, error) {
	if here, err := s.CheckedHere(); err != nil || here[commit] {
		return here[commit], err
	}
	alone := func(r record.ReviewSummary) bool {
		whole := r.Commit == commit && r.Kind == record.SubjectCommit && !r.Part()
		return whole && r.Reviewer == record.Builtin && r.Status != record.ReviewCancelled
	}
	named := map[string]bool{string(commit): true}
	found, _, err := s.Reviews(ctx, store.Filter{Mention: named, Limit: 1, Some: true, Review: alone})
	return len(found) > 0, err
}
