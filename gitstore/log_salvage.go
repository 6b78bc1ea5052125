package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Salvage visits what can be read of a log in which objects are missing or damaged,
// oldest first, and names those. Below such an object nothing leads to the older
// entries any more: they are found among all commits here, by what of says.
func (r *Repo) Salvage(ctx context.Context, writer string, tip ID, of Recognize, visit func(Entry) error) ([]*DamagedError, error) {
	found, err := r.findEntries(ctx, writer, of)
	if err != nil {
		return nil, fmt.Errorf("salvage log %s: %w", writer, err)
	}
	var damaged []*DamagedError
	chains := [][]Entry{found.chain(ctx, r, tip, &damaged)}
	for end := found.newestEnd(); end != ""; end = found.newestEnd() {
		chains = append(chains, found.chain(ctx, r, end, &damaged))
	}
	for _, chain := range slices.Backward(chains) {
		for _, entry := range slices.Backward(chain) {
			if err := visit(entry); err != nil {
				return damaged, err
			}
		}
	}
	return damaged, nil
}

// foundEntries are the entries of one log that are here, whether anything leads to
// them or not, less those that were asked for already.
type foundEntries struct {
	writer string
	left   map[ID]Entry
	given  map[ID]bool
}

// findEntries reads every commit that is here and keeps the entries of one log. What
// only other logs lead to is theirs, whatever it says.
func (r *Repo) findEntries(ctx context.Context, writer string, of Recognize) (*foundEntries, error) {
	commits, err := r.allCommits(ctx)
	if err != nil {
		return nil, err
	}
	found := &foundEntries{writer: writer, left: map[ID]Entry{}, given: map[ID]bool{}}
	parents := map[ID]ID{}
	_, err = r.readSound(ctx, commits, func(id ID, _ string, data []byte) error {
		entry, err := decodeEntry(id, data)
		if err != nil {
			return nil // it is no entry of anybody's
		}
		entry.Writer = writer
		parents[id] = entry.Parent
		if of(entry) {
			found.left[id] = entry
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, r.withoutOthers(ctx, found, parents)
}

// withoutOthers takes out what the logs of others lead to.
func (r *Repo) withoutOthers(ctx context.Context, found *foundEntries, parents map[ID]ID) error {
	for _, prefix := range []string{logPrefix, remotesPrefix} {
		refs, err := r.Refs(ctx, prefix)
		if err != nil {
			return err
		}
		for name, id := range refs {
			if path.Base(name) == found.writer {
				continue
			}
			for ; id != "" && !found.given[id]; id = parents[id] {
				found.given[id] = true
				delete(found.left, id)
			}
		}
	}
	return nil
}

// chain gives the entries from one back to the first, or to one that was given or
// cannot be read, newest first.
func (f *foundEntries) chain(ctx context.Context, r *Repo, from ID, damaged *[]*DamagedError) (entries []Entry) {
	for id := from; id != "" && !f.given[id]; {
		f.given[id] = true
		entry, ok := f.left[id]
		delete(f.left, id)
		if !ok { // it leads on, also when it is no entry that of knows
			var err error
			if entry, err = r.Entry(ctx, id); err != nil {
				*damaged = append(*damaged, &DamagedError{Writer: f.writer, ID: id, Err: err})
				return entries
			}
			entry.Writer = f.writer
		}
		entries = append(entries, entry)
		id = entry.Parent
	}
	return entries
}

// newestEnd is the newest of the entries left that no other comes from; "" when none
// is left. An entry that comes from one that was given is none: its writer was killed
// before the log's ref moved to it.
func (f *foundEntries) newestEnd() ID {
	inner := map[ID]bool{}
	for _, entry := range f.left {
		inner[entry.Parent] = true
	}
	var newest Entry
	depth := 0
	for id, entry := range f.left {
		if inner[id] {
			continue
		}
		d, aside := f.descent(entry)
		later := cmp.Or(entry.When.Compare(newest.When), cmp.Compare(d, depth), strings.Compare(string(id), string(newest.ID))) > 0
		if !aside && (newest.ID == "" || later) {
			newest, depth = entry, d
		}
	}
	return newest.ID
}

// descent is how many entries that are left one comes from, and whether the first of
// them comes from one that was given.
func (f *foundEntries) descent(e Entry) (depth int, aside bool) {
	for ok := true; ok; depth++ {
		aside = f.given[e.Parent]
		e, ok = f.left[e.Parent]
	}
	return depth, aside
}

// allCommits lists every commit that is here, whether a ref leads to it or not.
func (r *Repo) allCommits(ctx context.Context) ([]ID, error) {
	out, err := r.call(ctx, gitCall{
		args: []string{"cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname)"},
	})
	var ids []ID
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(line, "commit "); ok {
			ids = append(ids, ID(strings.TrimSpace(id)))
		}
	}
	return ids, err
}

// readSound visits those of the objects that can be read, and gives the others.
func (r *Repo) readSound(ctx context.Context, ids []ID, visit visitObject) (damaged []*DamagedError, err error) {
	for len(ids) > 0 {
		done := 0
		var stop error
		err := r.readObjects(ctx, []byte(idLines(ids)), func(id ID, kind string, data []byte) error {
			done++
			if r.objectID(kind, data) != id {
				damaged = append(damaged, &DamagedError{ID: id, Err: fmt.Errorf("object %s: %w: content does not match its id", id, ErrCorrupt)})
				return nil
			}
			stop = visit(id, kind, data)
			return stop
		})
		if err == nil || stop != nil {
			return damaged, stop
		}
		if !isDamage(err) {
			return damaged, err
		}
		damaged = append(damaged, &DamagedError{ID: ids[done], Err: err})
		ids = ids[done+1:] // git ends at the first that it cannot read
	}
	return damaged, nil
}

// isDamage tells an object that cannot be read from everything else that can go wrong.
func isDamage(err error) bool {
	var git *GitError
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTooLarge) || errors.As(err, &git)
}

// setAside takes a damaged loose object out of the way, for git writes none that it
// believes to have. It is kept in the state directory.
func (r *Repo) setAside(id ID) error {
	aside := filepath.Join(r.StateDir(), "aside", string(id))
	err := r.mkdirShared(filepath.Dir(aside))
	if err == nil {
		err = os.Rename(r.loosePath(id), aside)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it is in no file of its own
		return fmt.Errorf("set aside object %s: %w", id, readOnly(err))
	}
	return nil
}

// mend writes those of the objects again that are missing or damaged.
func (r *Repo) mend(ctx context.Context, objects objectBatch) error {
	for _, object := range objects {
		if r.AnyReadable(ctx, []ID{object.id}) {
			continue
		}
		if err := r.setAside(object.id); err != nil {
			return err
		}
		if err := r.writeAgain(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// writeAgain writes an object also when a damaged pack seems to have it.
func (r *Repo) writeAgain(ctx context.Context, object batchedObject) error {
	if r.SHA256() {
		_, err := r.hashObject(ctx, object.kind, object.data)
		return err
	}
	typ, err := plumbing.ParseObjectType(object.kind)
	if err != nil {
		return err
	}
	return r.writeLoose(object.id, typ, object.data)
}

// readableTries bounds how many objects AnyReadable tries.
const readableTries = 16

// AnyReadable reports whether one of the objects can be read now; of many it tries a
// few: what a fetch brings again, it brings together.
func (r *Repo) AnyReadable(ctx context.Context, ids []ID) bool {
	return slices.ContainsFunc(ids[:min(len(ids), readableTries)], func(id ID) bool {
		var err error
		switch {
		case !r.validID(id):
			return false
		case r.SHA256():
			_, _, err = r.catFile(ctx, id, maxObject)
		default: // not through git, which would ask a promisor remote
			_, _, err = r.readHere(id, maxObject)
		}
		return err == nil
	})
}
