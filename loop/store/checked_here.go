package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// checkedHerePath returns the file that lists commits in which rules and checks found nothing, if sync.checked keeps
// that in the clone: one id a line, oldest first. A lost line costs only another check.
func (s *Store) checkedHerePath() string { return filepath.Join(s.Repo.StateDir(), "checked") }

// KeepChecked records in this clone only that rules and checks found nothing in a commit.
func (s *Store) KeepChecked(commit gitstore.ID) error {
	file, err := os.OpenFile(s.checkedHerePath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("keep that commit %s was checked: %w", commit.Short(), err)
	}
	_, err = file.WriteString(string(commit) + "\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("keep that commit %s was checked: %w", commit.Short(), err)
	}
	return nil
}

// CheckedHere returns the commits recorded by KeepChecked.
func (s *Store) CheckedHere() (map[gitstore.ID]bool, error) {
	data, err := safefile.ReadFile(s.checkedHerePath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what was checked here: %w", err)
	}
	checked := map[gitstore.ID]bool{}
	for line := range strings.Lines(string(data)) {
		checked[gitstore.ID(strings.TrimSuffix(line, "\n"))] = true
	}
	return checked, nil
}
