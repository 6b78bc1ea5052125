package odb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// MissingError is an object or a remote that cannot be had: not here, damaged, or promised by a
// remote that does not give it. It wraps ErrNotFound, ErrCorrupt or ErrRemote.
type MissingError struct {
	What string // is missing, and what is the matter with it
	Try  string // a command that may mend it, "" when none is known
	is   error
	err  error
}

// NewMissing says what cannot be had, and what may mend it; it wraps both errors, of which the second may be nil.
func NewMissing(what, try string, is, err error) *MissingError {
	return &MissingError{what, try, is, err}
}

func (e *MissingError) Error() string   { return e.What }
func (e *MissingError) Unwrap() []error { return []error{e.is, e.err} }

// missing is what git calls an object that it cannot have.
var missing = []string{
	"bad object ", "bad tree object ", "not a valid commit name ", "unable to read ", "could not read ", "could not fetch ", "missing ", "could not parse ",
	"failed to read object ", "is corrupt", "unable to unpack ",
}

// explain makes git's complaint about an object that it cannot have a *MissingError.
// Any other error stays as it is.
func (s *Store) explain(err error) error {
	var exit *gitdir.GitError
	if !errors.As(err, &exit) {
		return err
	}
	for line := range strings.Lines(exit.Stderr) {
		kind, said, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if kind != "fatal" && kind != "error" {
			continue
		}
		for _, words := range missing {
			if id := s.idIn(said); id != "" && strings.Contains(strings.ToLower(said), words) {
				return s.missing(id, said, err)
			}
		}
	}
	return err
}

// idIn is the first object id in a text.
func (s *Store) idIn(text string) ID {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'z') }) {
		if s.ValidID(ID(word)) {
			return ID(word)
		}
	}
	return ""
}

// missing says what may be the matter with an object, by what git said of it and by
// what kind of clone this is.
func (s *Store) missing(id ID, said string, err error) *MissingError {
	what := fmt.Sprintf("object %s ", id)
	switch {
	case strings.Contains(said, "promisor"):
		return &MissingError{what + "was left out of this partial clone, and its remote does not give it", "", gitdir.ErrRemote, err}
	case strings.Contains(said, "corrupt") || strings.Contains(said, "unpack"):
		return &MissingError{what + "is damaged", "git fsck", gitdir.ErrCorrupt, err}
	case s.Shallow():
		return &MissingError{what + "is not in this clone, which is shallow", "git fetch --deepen 1", gitdir.ErrNotFound, err}
	case len(s.dir.Remotes()) > 0:
		return &MissingError{what + "is not in this clone", "git fetch --all", gitdir.ErrNotFound, err}
	}
	return &MissingError{what + "is not in this clone", "", gitdir.ErrNotFound, err}
}

// Unrelated is the error of two commits without a common ancestor.
func (s *Store) Unrelated(a, b ID, err error) *MissingError {
	what := fmt.Sprintf("%s and %s have no commit in common", a.Short(), b.Short())
	if s.Shallow() {
		return &MissingError{what + " in this clone, which is shallow", "git fetch --unshallow", gitdir.ErrNotFound, err}
	}
	return &MissingError{what, "", gitdir.ErrNotFound, err}
}

// Shallow reports whether history is cut off in this clone.
func (s *Store) Shallow() bool { return len(s.CutOff()) > 0 }

// CutOff lists the commits whose parents are not in this clone because it is shallow.
func (s *Store) CutOff() []ID {
	text, err := os.ReadFile(filepath.Join(s.dir.CommonDir, "shallow"))
	if err != nil {
		return nil
	}
	var ids []ID
	for _, word := range strings.Fields(string(text)) {
		ids = append(ids, ID(word))
	}
	return ids
}
