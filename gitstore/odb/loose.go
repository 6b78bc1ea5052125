package odb

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

func (d *objectDir) loosePath(id ID) string {
	return filepath.Join(d.path, string(id[:2]), string(id[2:]))
}

// LoosePath returns the path of a loose object in our own directory.
func (s *Store) LoosePath(id ID) string { return (&objectDir{path: s.ObjectsPath()}).loosePath(id) }

// readLoose reads an object from its file, or from memory if it has read the file before and the file has not changed:
// a command reads the same commits and trees several times.
func (d *objectDir) readLoose(id ID, limit int64) (kind string, data []byte, err error) {
	path := d.loosePath(id)
	if known, ok := d.bases.get(baseKey{loose: path}); ok && int64(len(known.data)) <= limit {
		info, err := os.Stat(path) // gc may have removed it
		if err == nil && info.Size() == known.file.Size() && info.ModTime().Equal(known.file.ModTime()) {
			return known.kind.String(), bytes.Clone(known.data), nil
		}
	}
	f, err := safefile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, gitdir.ErrNotFound
	}
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	kind, data, err = decodeLoose(f, id, limit)
	if err != nil && !errors.Is(err, gitdir.ErrTooLarge) {
		err = fmt.Errorf("%w: loose: %w", gitdir.ErrCorrupt, err)
	}
	if err == nil && len(data) <= maxBase {
		typ, _ := plumbing.ParseObjectType(kind)
		if info, err := f.Stat(); err == nil {
			d.bases.put(baseKey{loose: path}, packBase{typ, bytes.Clone(data), info})
		}
	}
	return kind, data, err
}

// decodeLoose inflates a loose object and checks it against its id.
func decodeLoose(f io.Reader, id ID, limit int64) (kind string, data []byte, err error) {
	r, err := objfile.NewReader(f)
	if err != nil {
		return "", nil, err
	}
	defer r.Close()
	typ, size, err := r.Header()
	if err != nil {
		return "", nil, err
	}
	if size > limit {
		return "", nil, gitdir.ErrTooLarge
	}
	data, err = io.ReadAll(io.LimitReader(r, size+1))
	if err != nil {
		return "", nil, err
	}
	if int64(len(data)) != size || r.Hash().String() != string(id) {
		return "", nil, errors.New("content does not match its id")
	}
	return typ.String(), data, nil
}

// Durability says whether a write must be on disk when it returns.
type Durability bool

// Synced is for objects that cannot be regenerated. Unsynced is for the others and costs no sync.
const (
	Synced   Durability = true
	Unsynced Durability = false
)

// WriteLoose writes a loose object: complete and on disk before it gets its name.
func (s *Store) WriteLoose(object BatchedObject) error {
	w := looseWriter{store: s, keep: Synced}
	return errors.Join(w.write(object), w.sync())
}

// looseWriter writes loose objects. It syncs each directory once, after all of them.
type looseWriter struct {
	store *Store
	keep  Durability
	dirs  []string // with new names; sync syncs them
}

func (w *looseWriter) write(object BatchedObject) error {
	typ, err := plumbing.ParseObjectType(object.Kind)
	if err != nil {
		return fmt.Errorf("write object: unknown kind %q", object.Kind)
	}
	final := w.store.LoosePath(object.ID)
	for range gitdir.RenameTries {
		var temp string
		if temp, err = w.writeTemp(typ, object.Data); err != nil {
			break
		}
		if err = w.rename(temp, final); err == nil {
			return nil
		}
		os.Remove(temp)
		if !errors.Is(err, fs.ErrNotExist) { // else `git prune` took the temporary file
			break
		}
	}
	return fmt.Errorf("write %s: %w", object.Kind, err)
}

// writeTemp writes an object to a temporary file. git's own clean-up recognises the name, in case this
// process is killed. It compresses into the file, so it cannot use safefile.Create.
func (w *looseWriter) writeTemp(typ plumbing.ObjectType, data []byte) (path string, err error) {
	path = filepath.Join(w.store.ObjectsPath(), "tmp_obj_"+strconv.FormatUint(rand.Uint64(), 36))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return "", err
	}
	err = encodeLoose(f, typ, data)
	if err == nil && w.keep == Synced {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = w.store.dir.Share(path)
	}
	if err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

// oneBlock is one block of the disk. A file of at most this size uses one block, however well it is compressed.
const oneBlock = 4096

// encodeLoose compresses with a fast level. Single objects are small, git repacks them later,
// and the tables of a stronger level cost more time than the rest of an append.
func encodeLoose(f io.Writer, typ plumbing.ObjectType, data []byte) error {
	level := zlib.BestSpeed
	if len(data) <= oneBlock {
		level = zlib.HuffmanOnly
	}
	out := bufio.NewWriter(f)
	w, err := zlib.NewWriterLevel(out, level)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w, "%s %d\x00", typ, len(data))
	_, _ = w.Write(data)
	return cmp.Or(w.Close(), out.Flush()) // Close returns the error of Write again
}

// rename gives a finished temporary file its final name, and creates the directory if needed.
func (w *looseWriter) rename(temp, final string) (err error) {
	dir := filepath.Dir(final)
	for range gitdir.RenameTries {
		if err = os.Rename(temp, final); err == nil {
			w.dirs = append(w.dirs, dir)
			return nil
		}
		if _, gone := os.Lstat(temp); !errors.Is(err, fs.ErrNotExist) || gone != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := w.store.dir.Share(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		w.dirs = append(w.dirs, filepath.Dir(dir))
	}
	return err
}

// sync makes the new names durable. It syncs each directory once, parents before children.
func (w *looseWriter) sync() error {
	if w.keep == Unsynced {
		return nil
	}
	slices.Sort(w.dirs)
	for _, dir := range slices.Compact(w.dirs) {
		// if it is gone, gc has packed its objects
		if err := safefile.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
