package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/record"
)

// lookPath returns the file that holds when a review was last looked at in this clone. It is never shared.
func (s *Store) lookPath(review string) string {
	return filepath.Join(s.Repo.StateDir(), "looks", review+".json")
}

// Look records that a review was looked at now in this clone. An earlier look at the same state is kept: events that
// another clone recorded after that look and that arrive later are new.
func (s *Store) Look(review record.Review) error {
	if at, err := s.Looked(review.ID); err == nil && at.After(review.UpdatedAt) {
		return nil
	}
	data, err := json.Marshal(s.Now())
	if err != nil {
		return err
	}
	return safefile.WriteFile(s.lookPath(review.ID), data, 0o644)
}

// Looked returns when a review was last looked at in this clone, or the zero Time.
func (s *Store) Looked(review string) (at time.Time, err error) {
	data, err := safefile.ReadFile(s.lookPath(review))
	if errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	_ = json.Unmarshal(data, &at) // it leaves the zero Time if the file is damaged
	return at, err
}
