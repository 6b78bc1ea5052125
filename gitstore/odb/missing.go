package odb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/safetext"
)

// MissingError reports an unavailable object or remote: an object that is not here, is damaged, or is
// promised by a remote that does not provide it. It wraps ErrNotFound, ErrCorrupt or ErrRemote.
type MissingError struct {
	What string // names the missing object or remote and the reason
	Try  string // a command that may help, or ""
	is   error
	err  error
}

// NewMissing returns a MissingError that wraps is and err; err may be nil.
func NewMissing(what, try string, is, err error) *MissingError {
	return &MissingError{what, try, is, err}
}

func (e *MissingError) Error() string   { return e.What }
func (e *MissingError) Unwrap() []error { return []error{e.is, e.err} }

// missing lists phrases with which git reports an unavailable object.
var missing = []string{
	"bad object ", "bad tree object ", "not a valid commit name ", "unable to read ", "could not read ",
	"could not fetch ", "missing ", "could not parse ",
	"failed to read object ", "is corrupt", "unable to unpack ",
}

// explain turns git's error about an unavailable object into a *MissingError and returns any
// other error unchanged.
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
		says := func(words string) bool { return strings.Contains(strings.ToLower(said), words) }
		if id := s.idIn(said); id != "" && slices.ContainsFunc(missing, says) {
			return s.missing(id, said, err)
		}
	}
	return err
}

// idIn returns the first object id in a text, or "".
func (s *Store) idIn(text string) ID {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z')
	}) {
		if s.ValidID(ID(word)) {
			return ID(word)
		}
	}
	return ""
}

// missing returns the error for an unavailable object. The reason comes from git's message and from
// the kind of clone: partial, shallow, with or without remotes.
func (s *Store) missing(id ID, said string, err error) *MissingError {
	e := &MissingError{fmt.Sprintf("object %s is not in this clone", id), "", gitdir.ErrNotFound, err}
	if s.Shallow() {
		e.What += ", which is shallow"
	}
	switch {
	case strings.Contains(said, "promisor"):
		e.What = fmt.Sprintf("object %s was left out of this partial clone, and its remote does not give it", id)
		e.is = gitdir.ErrRemote
	case strings.Contains(said, "corrupt") || strings.Contains(said, "unpack"):
		e.What, e.Try, e.is = fmt.Sprintf("object %s is damaged", id), "git fsck", gitdir.ErrCorrupt
	case s.isCutOff(id):
		e.Try = "git fetch --deepen 1"
	case len(s.dir.Remotes()) > 0:
		remotes := s.dir.Remotes()
		remote := remotes[0]
		if slices.Contains(remotes, "origin") {
			remote = "origin"
		}
		// by its id: after a force-push no branch has it any more
		e.Try = safetext.ShellLine("git", "fetch", remote, string(id))
	}
	return e
}

// isCutOff reports whether a commit is the parent of one whose parents are not here because the clone is shallow.
func (s *Store) isCutOff(id ID) bool {
	plain := s.At(&gitdir.Dir{Place: s.dir.Place, Gate: s.dir.Gate}) // explaining its errors would ask this again
	return slices.ContainsFunc(s.CutOff(), func(cut ID) bool {
		_, data, err := plain.ReadHere(context.Background(), cut)
		c, badErr := DecodeCommit(data)
		return err == nil && badErr == nil && slices.Contains(c.Parents, id)
	})
}

// Unrelated returns the error for two commits without a common ancestor.
func (s *Store) Unrelated(a, b ID, err error) *MissingError {
	what := fmt.Sprintf("%s and %s have no commit in common", a.Short(), b.Short())
	if s.Shallow() {
		return &MissingError{what + " in this clone, which is shallow", "git fetch --unshallow", gitdir.ErrNotFound, err}
	}
	return &MissingError{what, "", gitdir.ErrNotFound, err}
}

// Shallow reports whether this is a shallow clone.
func (s *Store) Shallow() bool { return len(s.CutOff()) > 0 }

// CutOff returns the commits whose parents are not in this clone because it is shallow.
func (s *Store) CutOff() []ID {
	text, err := safefile.ReadFile(filepath.Join(s.dir.CommonDir, "shallow"))
	if err != nil {
		return nil
	}
	return Fields(text)
}
