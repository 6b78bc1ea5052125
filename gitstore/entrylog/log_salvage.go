package entrylog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Recognize reports whether a commit is an entry of the log of its Writer. This package does not parse messages; it
// calls a Recognize to find entries that no ref reaches.
type Recognize func(Entry) bool

// Salvage visits the readable entries of a damaged log, oldest first, and returns the damaged objects. Entries older
// than a damaged one are not reachable, so it searches all commits of the repository and asks of which of them belong
// to the log.
func (s *Store) Salvage(ctx context.Context, writer string, tip odb.ID, of Recognize,
	visit func(Entry) error) ([]*DamagedError, error) {
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

// foundEntries is the search for the entries of one log: the entries found in the repository, reachable or not, and
// those already handed out.
type foundEntries struct {
	writer string
	left   map[odb.ID]Entry
	given  map[odb.ID]bool
}

// findEntries reads every commit of the repository and keeps the entries of one log. It drops commits that only other
// logs reach.
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
			return nil // not an entry
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

// withoutOthers removes the entries that the logs of other writers reach.
func (s *Store) withoutOthers(ctx context.Context, found *foundEntries, parents map[odb.ID]odb.ID) error {
	refs, err := s.refs.Refs(ctx, sharedPrefix, remotesPrefix)
	for name, id := range refs {
		if month := path.Base(name); isMonth(month) && path.Base(path.Dir(name)) == path.Base(archivesPrefix) {
			logs, _ := s.archivedIn(ctx, month, id) // a damaged archive yields no logs
			for writer, tip := range logs {
				found.take(writer, tip, parents)
			}
		} else {
			found.take(path.Base(name), id, parents)
		}
	}
	return err
}

// take removes the entries of a log from f, unless it is the log that f searches for.
func (f *foundEntries) take(writer string, tip odb.ID, parents map[odb.ID]odb.ID) {
	if writer == f.writer {
		return
	}
	for id := tip; id != "" && !f.given[id]; id = parents[id] {
		f.given[id] = true
		delete(f.left, id)
	}
}

// chain returns the entries from one back to the first, newest first. It stops at an entry already handed out, and at
// one that cannot be read, which it adds to damaged.
func (f *foundEntries) chain(ctx context.Context, r *Store, from odb.ID, damaged *[]*DamagedError) (entries []Entry) {
	for id := from; id != "" && !f.given[id]; {
		f.given[id] = true
		entry, ok := f.left[id]
		delete(f.left, id)
		if !ok { // follow its parent even if Recognize rejected it
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

// newestEnd returns the newest remaining entry that is not the parent of another, or "" if there is none. It skips
// entries that descend from one already handed out: their writer was killed before the log's ref moved to them.
func (f *foundEntries) newestEnd() odb.ID {
	inner := each.SetOf(slices.Collect(maps.Values(f.left)), func(e Entry) odb.ID { return e.Parent })
	var newest Entry
	depth := 0
	for id, entry := range f.left {
		if inner[id] {
			continue
		}
		d, aside := f.descent(entry)
		later := cmp.Or(entry.When.Compare(newest.When), cmp.Compare(d, depth),
			strings.Compare(string(id), string(newest.ID))) > 0
		if !aside && (newest.ID == "" || later) {
			newest, depth = entry, d
		}
	}
	return newest.ID
}

// descent counts the remaining entries from e back to the first, and reports whether the parent of the first was
// already handed out.
func (f *foundEntries) descent(e Entry) (depth int, aside bool) {
	for ok := true; ok; depth++ {
		aside = f.given[e.Parent]
		e, ok = f.left[e.Parent]
	}
	return depth, aside
}

// allCommits lists every commit of the repository, reachable or not.
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

// readSound visits the objects that can be read and returns the others.
func (s *Store) readSound(ctx context.Context, ids []odb.ID, visit visitObject) (damaged []*DamagedError, err error) {
	for len(ids) > 0 {
		done := 0
		var stop error
		err := s.readObjects(ctx, strings.NewReader(odb.IDLines(ids)), func(id odb.ID, kind string, data []byte) error {
			done++
			if s.objects.ObjectID(kind, data) != id {
				damaged = append(damaged, &DamagedError{ID: id,
					Err: fmt.Errorf("object %s: %w: content does not match its id", id, gitdir.ErrCorrupt)})
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
		ids = ids[done+1:] // git stops at the first unreadable object
	}
	return damaged, nil
}

// setAside moves a damaged loose object into the state directory, because git does not write an object whose file
// exists.
func (s *Store) setAside(id odb.ID) error {
	aside := filepath.Join(s.dir.StateDir(), "aside", string(id))
	err := s.dir.MkdirShared(filepath.Dir(aside))
	if err == nil {
		err = os.Rename(s.objects.LoosePath(id), aside)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // if the file does not exist, the object is packed
		return fmt.Errorf("set aside object %s: %w", id, gitdir.ReadOnly(err))
	}
	return nil
}

// setAsideTorn sets aside the damaged loose objects among objects, which git and StoreBatch would take for written.
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

// mend writes the missing or damaged ones of objects again.
func (s *Store) mend(ctx context.Context, objects odb.Batch) error {
	for _, object := range objects {
		if s.AnyReadable(ctx, []odb.ID{object.ID}) {
			continue
		}
		if err := s.setAside(object.ID); err != nil {
			return err
		}
		// even if a damaged pack seems to have it
		err := error(nil)
		if s.dir.SHA256() {
			_, err = s.objects.HashObject(ctx, object.Kind, object.Data)
		} else {
			err = s.objects.WriteLoose(object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readableTries bounds how many objects AnyReadable tries.
const readableTries = 16

// AnyReadable reports whether one of the objects can be read now. It tries only the first few: a fetch brings them all
// or none.
func (s *Store) AnyReadable(ctx context.Context, ids []odb.ID) bool {
	return slices.ContainsFunc(ids[:min(len(ids), readableTries)], func(id odb.ID) bool {
		_, _, err := s.objects.ReadHere(ctx, id)
		return err == nil
	})
}
