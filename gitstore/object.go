package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxObject is the largest object that is read unless the caller says otherwise.
// It is checked before anything is inflated: a few hundred KiB of a fetched pack
// can stand for half a GiB.
const maxObject = 64 << 20

// nativeStore reads and writes the objects of a SHA-1 repository without a git
// process. What it cannot read, it leaves to git.
type nativeStore struct {
	repo *Repo
	mu   sync.Mutex   // held while a pack is read, so that none is closed under a reader
	dirs []*objectDir // our own first, then the alternates; nil until first needed
}

func newNativeStore(r *Repo) *nativeStore { return &nativeStore{repo: r} }

// Close gives back the pack files that reading has opened. The repository can
// still be used afterwards.
func (r *Repo) Close() error {
	r.native.mu.Lock()
	defer r.native.mu.Unlock()
	for _, dir := range r.native.dirs {
		dir.closePacks(0)
	}
	return nil
}

// readObject reads one object of at most 64 MiB. It is ErrNotFound when no place
// has it, ErrTooLarge above the limit and ErrCorrupt when its content does not
// match its id.
func (r *Repo) readObject(ctx context.Context, id ID) (kind string, data []byte, err error) {
	return r.readObjectLimit(ctx, id, maxObject)
}

// readObjectLimit is readObject with a limit of the caller's, in bytes.
func (r *Repo) readObjectLimit(ctx context.Context, id ID, limit int64) (kind string, data []byte, err error) {
	if !r.validID(id) {
		return "", nil, fmt.Errorf("read object: %q is not an object id: %w", id, ErrNotFound)
	}
	own := ErrNotFound
	if !r.SHA256() {
		kind, data, own = r.native.read(id, limit)
		if own == nil || errors.Is(own, ErrTooLarge) {
			return kind, data, r.wrapObject(id, own)
		}
	}
	kind, data, err = r.catFile(ctx, id, limit)
	if err != nil && !errors.Is(own, ErrNotFound) {
		err = own
	}
	return kind, data, r.wrapObject(id, err)
}

// readHere reads an object from this repository's own files and those of its
// alternates, without git.
func (r *Repo) readHere(id ID, limit int64) (kind string, data []byte, err error) {
	return r.native.read(id, limit)
}

func (r *Repo) wrapObject(id ID, err error) error {
	switch known := new(MissingError); {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, ErrNotFound):
		return r.missing(id, "", err)
	}
	return fmt.Errorf("read object %s: %w", id, err)
}

// readKind reads an object that must be of one kind: blob, tree, commit or tag.
func (r *Repo) readKind(ctx context.Context, id ID, want string) ([]byte, error) {
	kind, data, err := r.readObject(ctx, id)
	if err == nil && kind != want {
		err = fmt.Errorf("object %s is a %s, not a %s: %w", id, kind, want, ErrNotFound)
	}
	return data, err
}

// writeObject stores an object durably and returns its id. An object that is
// already there is marked as recently used, so that gc keeps it.
func (r *Repo) writeObject(ctx context.Context, kind string, data []byte) (ID, error) {
	if r.SHA256() {
		return r.hashObject(ctx, kind, data)
	}
	typ, err := plumbing.ParseObjectType(kind)
	if err != nil {
		return "", fmt.Errorf("write object: unknown kind %q", kind)
	}
	id := r.objectID(kind, data)
	if r.native.freshen(id) {
		return id, nil
	}
	if err := r.writeLoose(id, typ, data); err != nil {
		return "", fmt.Errorf("write %s: %w", kind, err)
	}
	return id, nil
}

// hasObject reports whether an object is in this repository or its alternates,
// without asking a promisor remote for it.
func (r *Repo) hasObject(ctx context.Context, id ID) bool {
	if !r.validID(id) {
		return false
	}
	if !r.SHA256() {
		return r.native.has(id)
	}
	if info, err := os.Stat(r.loosePath(id)); err == nil && info.Size() > 0 {
		return true
	}
	_, err := r.git(ctx, "cat-file", "-e", string(id))
	return err == nil
}

// absent gives those of ids that hasObject does not find.
func (r *Repo) absent(ctx context.Context, ids []ID) (gone []ID, err error) {
	if !r.SHA256() {
		for _, id := range ids {
			if !r.hasObject(ctx, id) {
				gone = append(gone, id)
			}
		}
		return gone, nil
	}
	out, err := r.callIDs(ctx, ids, "cat-file", "--batch-check")
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutSuffix(line, " missing\n"); ok {
			gone = append(gone, ID(id))
		}
	}
	return gone, err
}

// callIDs runs a git command that reads object ids, one a line.
func (r *Repo) callIDs(ctx context.Context, ids []ID, args ...string) ([]byte, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return r.call(ctx, gitCall{args: args, stdin: strings.NewReader(idLines(ids))})
}

func idLines(ids []ID) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(string(id) + "\n")
	}
	return b.String()
}

// read looks in all places twice: gc may move an object from one to another
// between two looks.
func (s *nativeStore) read(id ID, limit int64) (kind string, data []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range 2 {
		kind, data, err = s.readOnce(id, limit)
		if err == nil || errors.Is(err, ErrTooLarge) {
			return kind, data, err
		}
	}
	return "", nil, err
}

// readOnce prefers any good copy to a damaged one, and reports damage only when
// there is no other copy.
func (s *nativeStore) readOnce(id ID, limit int64) (kind string, data []byte, err error) {
	err = ErrNotFound
	for _, dir := range s.objectDirs() {
		for _, read := range []func(ID, int64) (string, []byte, error){dir.readLoose, dir.readPacked} {
			kind, data, readErr := read(id, limit)
			if readErr == nil || errors.Is(readErr, ErrTooLarge) {
				return kind, data, readErr
			}
			if !errors.Is(readErr, ErrNotFound) {
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

// freshen sets the time of last use of an object of our own, and reports whether
// it is there. gc prunes unreachable objects by that time.
func (s *nativeStore) freshen(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.objectDirs()[0]
	loose := own.loosePath(id)
	if info, err := os.Stat(loose); err == nil && info.Size() > 0 { // an empty one is what a power cut leaves
		return touch(loose) == nil
	}
	pack, _, err := own.findPacked(id)
	return err == nil && touch(pack.path+".pack") == nil
}
