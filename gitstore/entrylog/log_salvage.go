package entrylog

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

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Recognize reports whether a commit is an entry of the log of its Writer. This
// package does not know what messages say; it asks when it looks for entries that
// nothing leads to any more.
type Recognize func(Entry) bool

// Salvage visits what can be read of a log in which objects are missing or damaged,
// oldest first, and names those. Below such an object nothing leads to the older
// entries any more: they are found among all commits here, by what of says.
func (s *Store) Salvage(ctx context.Context, writer string, tip odb.ID, of Recognize, visit func(Entry) error) ([]*DamagedError, error) {
	found, err := s.findEntries(ctx, writer, of)
	if err != nil {
		return nil, fmt.Errorf("salvage log %s: %w", writer, err)
	}
	var damaged []*DamagedError
	chains := [][]Entry{found.chain(ctx, s, tip, &damaged)}
	for end := found.newestEnd(); end != ""; end = found.newestEnd() {
		chains = append(chains, found.chain(ctx, s, end, &damaged))
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
	left   map[odb.ID]Entry
	given  map[odb.ID]bool
}

// findEntries reads every commit that is here and keeps the entries of one log. What
// only other logs lead to is theirs, whatever it says.
func (s *Store) findEntries(ctx context.Context, writer string, of Recognize) (*foundEntries, error) {
	commits, err := s.allCommits(ctx)
	if err != nil {
		return nil, err
	}
	found := &foundEntries{writer: writer, left: map[odb.ID]Entry{}, given: map[odb.ID]bool{}}
	parents := map[odb.ID]odb.ID{}
	_, err = s.readSound(ctx, commits, func(id odb.ID, _ string, data []byte) error {
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
	return found, s.withoutOthers(ctx, found, parents)
}

// withoutOthers takes out what the logs of others lead to.
func (s *Store) withoutOthers(ctx context.Context, found *foundEntries, parents map[odb.ID]odb.ID) error {
	for _, prefix := range []string{sharedPrefix, remotesPrefix} {
		refs, err := s.refs.Refs(ctx, prefix)
		if err != nil {
			return err
		}
		for name, id := range refs {
			if month := path.Base(name); isMonth(month) && path.Base(path.Dir(name)) == path.Base(archivesPrefix) {
				logs, _ := s.archivedIn(ctx, month, id) // of one that is damaged nothing is known
				for writer, tip := range logs {
					found.take(writer, tip, parents)
				}
			} else {
				found.take(path.Base(name), id, parents)
			}
		}
	}
	return nil
}

// take takes out what the log of a writer holds, but for the one that is looked for.
func (f *foundEntries) take(writer string, tip odb.ID, parents map[odb.ID]odb.ID) {
	if writer == f.writer {
		return
	}
	for id := tip; id != "" && !f.given[id]; id = parents[id] {
		f.given[id] = true
		delete(f.left, id)
	}
}

// chain gives the entries from one back to the first, or to one that was given or
// cannot be read, newest first.
func (f *foundEntries) chain(ctx context.Context, r *Store, from odb.ID, damaged *[]*DamagedError) (entries []Entry) {
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
func (f *foundEntries) newestEnd() odb.ID {
	inner := map[odb.ID]bool{}
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
func (s *Store) allCommits(ctx context.Context) ([]odb.ID, error) {
	out, err := s.dir.Call(ctx, gitdir.Call{
		Args: []string{"cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname)"},
	})
	var ids []odb.ID
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(line, "commit "); ok {
			ids = append(ids, odb.ID(strings.TrimSpace(id)))
		}
	}
	return ids, err
}

// readSound visits those of the objects that can be read, and gives the others.
func (s *Store) readSound(ctx context.Context, ids []odb.ID, visit visitObject) (damaged []*DamagedError, err error) {
	for len(ids) > 0 {
		done := 0
		var stop error
		err := s.readObjects(ctx, strings.NewReader(odb.IDLines(ids)), func(id odb.ID, kind string, data []byte) error {
			done++
			if s.objects.ObjectID(kind, data) != id {
				damaged = append(damaged, &DamagedError{ID: id, Err: fmt.Errorf("object %s: %w: content does not match its id", id, gitdir.ErrCorrupt)})
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

// setAside takes a damaged loose object out of the way, for git writes none that it
// believes to have. It is kept in the state directory.
func (s *Store) setAside(id odb.ID) error {
	aside := filepath.Join(s.dir.StateDir(), "aside", string(id))
	err := s.dir.MkdirShared(filepath.Dir(aside))
	if err == nil {
		err = os.Rename(s.objects.LoosePath(id), aside)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it is in no file of its own
		return fmt.Errorf("set aside object %s: %w", id, gitdir.ReadOnly(err))
	}
	return nil
}

// setAsideTorn sets aside those loose objects that are damaged: git and StoreBatch would take
// them for written.
func (s *Store) setAsideTorn(ctx context.Context, objects odb.Batch) error {
	for _, object := range objects {
		_, err := os.Lstat(s.objects.LoosePath(object.ID))
		if err != nil || s.AnyReadable(ctx, []odb.ID{object.ID}) {
			continue
		}
		if err := s.setAside(object.ID); err != nil {
			return err
		}
	}
	return nil
}

// mend writes those of the objects again that are missing or damaged.
func (s *Store) mend(ctx context.Context, objects odb.Batch) error {
	for _, object := range objects {
		if s.AnyReadable(ctx, []odb.ID{object.ID}) {
			continue
		}
		if err := s.setAside(object.ID); err != nil {
			return err
		}
		if err := s.writeAgain(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// writeAgain writes an object also when a damaged pack seems to have it.
func (s *Store) writeAgain(ctx context.Context, object odb.BatchedObject) error {
	if s.dir.SHA256() {
		_, err := s.objects.HashObject(ctx, object.Kind, object.Data)
		return err
	}
	return s.objects.WriteLoose(object)
}

// readableTries bounds how many objects AnyReadable tries.
const readableTries = 16

// AnyReadable reports whether one of the objects can be read now; of many it tries a
// few: what a fetch brings again, it brings together.
func (s *Store) AnyReadable(ctx context.Context, ids []odb.ID) bool {
	return slices.ContainsFunc(ids[:min(len(ids), readableTries)], func(id odb.ID) bool {
		_, _, err := s.readHere(ctx, id)
		return err == nil
	})
}

// readHere reads an object without asking a promisor remote for it, where the repository is not of SHA-256.
func (s *Store) readHere(ctx context.Context, id odb.ID) (kind string, data []byte, err error) {
	switch {
	case !s.objects.ValidID(id):
		return "", nil, gitdir.ErrNotFound
	case s.dir.SHA256():
		return s.objects.CatFile(ctx, id, odb.MaxObject)
	}
	return s.objects.ReadHere(id, odb.MaxObject)
}
