package odb

import (
	"cmp"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"

	"git-runr/gitstore/gitdir"
	"git-runr/gitstore/safefile"
)

func (d *objectDir) loosePath(id ID) string {
	return filepath.Join(d.path, string(id[:2]), string(id[2:]))
}

// LoosePath is where our own directory has an object that is in no pack.
func (s *Store) LoosePath(id ID) string { return (&objectDir{path: s.ObjectsPath()}).loosePath(id) }

func (d *objectDir) readLoose(id ID, limit int64) (kind string, data []byte, err error) {
	f, err := os.Open(d.loosePath(id))
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

// WriteLoose writes a new loose object: whole and on disk before it gets its name.
func (s *Store) WriteLoose(id ID, typ plumbing.ObjectType, data []byte) (err error) {
	objects, final := s.ObjectsPath(), s.LoosePath(id)
	for range gitdir.RenameTries {
		var temp string
		if temp, err = s.writeTempObject(objects, typ, data); err != nil {
			return err
		}
		if err = s.renameInto(temp, final); err == nil {
			return nil
		}
		os.Remove(temp)
		if !errors.Is(err, fs.ErrNotExist) { // else `git prune` took the temporary file
			return err
		}
	}
	return err
}

// writeTempObject uses a name that git's own clean-up knows, should we be killed. It
// compresses into the file, so it cannot be safefile.Create.
func (s *Store) writeTempObject(dir string, typ plumbing.ObjectType, data []byte) (path string, err error) {
	path = filepath.Join(dir, "tmp_obj_"+strconv.FormatUint(rand.Uint64(), 36))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return "", err
	}
	err = encodeLoose(f, typ, data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = s.dir.Share(path)
	}
	if err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

// encodeLoose compresses fast: what is written one by one is small, git repacks it,
// and the tables of a stronger level cost more than the rest of an append.
func encodeLoose(f io.Writer, typ plumbing.ObjectType, data []byte) error {
	w, err := zlib.NewWriterLevel(f, zlib.BestSpeed)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s %d\x00", typ, len(data))
	if err == nil {
		_, err = w.Write(data)
	}
	return cmp.Or(err, w.Close()) // which gives the same error again
}

// renameInto gives a finished temporary file its name, makes the directory when
// it is missing, and makes the name durable.
func (s *Store) renameInto(temp, final string) (err error) {
	dir := filepath.Dir(final)
	for range gitdir.RenameTries {
		err = os.Rename(temp, final)
		if err == nil {
			return safefile.SyncDir(dir)
		}
		if _, gone := os.Lstat(temp); !errors.Is(err, fs.ErrNotExist) || gone != nil {
			return err
		}
		if err := s.dir.MkdirShared(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}
