package odb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// MaxObject is the default limit for the size of an object, in bytes.
// It is checked before anything is inflated: a few hundred KiB of a fetched pack
// can inflate to half a GiB.
const MaxObject = 64 << 20

// New returns the objects of an open repository. It sets dir.Explain, so that git errors of dir
// about an unavailable object become a *MissingError.
func New(dir *gitdir.Dir) *Store {
	s := &Store{dir: dir, native: &nativeStore{}}
	s.native.own = s.ObjectsPath()
	dir.Explain = s.explain
	return s
}

// At returns the same objects for another worktree of the repository.
func (s *Store) At(dir *gitdir.Dir) *Store { return &Store{dir: dir, native: s.native} }

// Close closes the open pack files. The store can still be used afterwards: it opens them again.
func (s *Store) Close() error {
	s.native.mu.Lock()
	defer s.native.mu.Unlock()
	for _, dir := range s.native.dirs {
		dir.closePacks(0)
	}
	return nil
}

// Read reads one object of at most 64 MiB. It returns ErrNotFound if the object is nowhere,
// ErrTooLarge above the limit, and ErrCorrupt if the content does not match the id.
func (s *Store) Read(ctx context.Context, id ID) (kind string, data []byte, err error) {
	return s.ReadLimit(ctx, id, MaxObject)
}

// ReadLimit is Read with the caller's limit, in bytes.
func (s *Store) ReadLimit(ctx context.Context, id ID, limit int64) (kind string, data []byte, err error) {
	if !s.ValidID(id) {
		return "", nil, fmt.Errorf("read object: %q is not an object id: %w", id, gitdir.ErrNotFound)
	}
	own := gitdir.ErrNotFound
	if !s.dir.SHA256() {
		kind, data, own = s.native.read(id, limit)
		if own == nil || errors.Is(own, gitdir.ErrTooLarge) {
			return kind, data, s.wrapObject(id, own)
		}
	}
	kind, data, err = s.CatFile(ctx, id, limit)
	if err != nil && !errors.Is(own, gitdir.ErrNotFound) {
		err = own
	}
	return kind, data, s.wrapObject(id, err)
}

// ReadHere reads an object without fetching it from a promisor remote, except in a SHA-256 repository.
func (s *Store) ReadHere(ctx context.Context, id ID) (kind string, data []byte, err error) {
	switch {
	case !s.ValidID(id):
		return "", nil, gitdir.ErrNotFound
	case s.dir.SHA256():
		return s.CatFile(ctx, id, MaxObject)
	}
	return s.native.read(id, MaxObject)
}

func (s *Store) wrapObject(id ID, err error) error {
	if err == nil || errors.As(err, new(*MissingError)) {
		return err
	}
	if errors.Is(err, gitdir.ErrNotFound) {
		return s.missing(id, "", err)
	}
	return fmt.Errorf("read object %s: %w", id, err)
}

// ReadKind reads an object of the given kind: blob, tree, commit or tag. Another kind is ErrNotFound.
func (s *Store) ReadKind(ctx context.Context, id ID, want string) ([]byte, error) {
	kind, data, err := s.Read(ctx, id)
	if err != nil || kind == want {
		return data, err
	}
	return nil, fmt.Errorf("object %s is a %s, not a %s: %w", id, kind, want, gitdir.ErrNotFound)
}

// Write stores an object durably and returns its id. An existing object is marked as
// recently used, so that gc keeps it.
func (s *Store) Write(ctx context.Context, kind string, data []byte) (ID, error) {
	if s.dir.SHA256() {
		return s.HashObject(ctx, kind, data)
	}
	var object Batch
	id := object.Add(s, kind, data)
	return id, s.storeLoose(object, Synced)
}

// Has reports whether an object is in this repository or its alternates,
// without asking a promisor remote for it.
func (s *Store) Has(ctx context.Context, id ID) bool {
	if !s.ValidID(id) {
		return false
	}
	if !s.dir.SHA256() {
		return s.native.has(id)
	}
	if info, err := os.Stat(s.LoosePath(id)); err == nil && info.Size() > 0 {
		return true
	}
	_, err := s.dir.Git(ctx, "cat-file", "-e", string(id))
	return err == nil
}

// Absent returns the ids that Has does not find.
func (s *Store) Absent(ctx context.Context, ids []ID) (gone []ID, err error) {
	if !s.dir.SHA256() || len(ids) == 0 {
		return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return s.Has(ctx, id) }), nil
	}
	list := strings.NewReader(IDLines(ids))
	out, err := s.dir.Call(ctx, gitdir.Call{Args: []string{"cat-file", "--batch-check"}, Stdin: list})
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutSuffix(line, " missing\n"); ok {
			gone = append(gone, ID(id))
		}
	}
	return gone, err
}

// Fields returns the ids in what git printed, one a line.
func Fields(out []byte) (ids []ID) {
	for word := range strings.FieldsSeq(string(out)) {
		ids = append(ids, ID(word))
	}
	return ids
}

// IDLines formats ids for git's standard input, one a line.
func IDLines(ids []ID) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(string(id) + "\n")
	}
	return b.String()
}

// read looks for an object in all places, twice if needed: gc may move it from one to another
// between two looks.
func (s *nativeStore) read(id ID, limit int64) (kind string, data []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range 2 {
		kind, data, err = s.readOnce(id, limit)
		if err == nil || errors.Is(err, gitdir.ErrTooLarge) {
			return kind, data, err
		}
	}
	return "", nil, err
}

// readOnce reads an object from the first place with a good copy. It reports damage only if
// there is no good copy.
func (s *nativeStore) readOnce(id ID, limit int64) (kind string, data []byte, err error) {
	err = gitdir.ErrNotFound
	for _, dir := range s.objectDirs() {
		for i := range 2 {
			packed := dir.packed != (i > 0)
			read := dir.readLoose
			if packed {
				read = dir.readPacked
			}
			kind, data, readErr := read(id, limit)
			if readErr == nil || errors.Is(readErr, gitdir.ErrTooLarge) {
				dir.packed = packed
				return kind, data, readErr
			}
			if !errors.Is(readErr, gitdir.ErrNotFound) {
				err = readErr
			}
		}
	}
	return "", nil, err
}

func (s *nativeStore) has(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, dir := range s.objectDirs() {
		if info, err := os.Stat(dir.loosePath(id)); err == nil && info.Size() > 0 {
			return true
		}
		if _, _, err := dir.findPacked(id); err == nil {
			return true
		}
	}
	return false
}

// freshen marks one of our own objects as recently used and reports whether it exists. gc
// prunes unreachable objects by that time.
func (s *nativeStore) freshen(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.objectDirs()[0]
	loose := own.loosePath(id)
	if info, err := os.Stat(loose); err == nil && info.Size() > 0 { // a power cut may leave an empty file
		return safefile.Touch(loose) == nil
	}
	pack, _, err := own.findPacked(id)
	return err == nil && safefile.Touch(pack.path+".pack") == nil
}
