package gitstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Ignored files are kept outside of git's objects, in the common git directory, so that no push, bundle or clone
// transfers them. Each file is named after the blob that git would make of it. The file system shares blocks with the
// original if it can. The rest of a snapshot is such a file, too.
const keptDir = "kept"

// DefaultKeep is how many bytes of ignored files a snapshot keeps in all by default.
const DefaultKeep = 64 << 20

// keptFile is an ignored file that a snapshot keeps.
type keptFile struct {
	Mode    string // as in a tree
	ID      ID
	Perm    fs.FileMode
	Size    int64
	Time    int64 // of modification, in nanoseconds
	Changed int64 // see inodeChanged
}

func (r *Repo) keptPath(id ID) string {
	return filepath.Join(r.StateDir(), keptDir, string(id[:2]), string(id[2:]))
}

// asKnown reports whether a file is unchanged since it was kept, and returns it with its present permissions.
func (f *workFiles) asKnown(name string, known keptFile) (keptFile, bool) {
	info, err := f.root.Lstat(name)
	if err != nil || known.ID == "" || info.Size() != known.Size || info.ModTime().UnixNano() != known.Time {
		return keptFile{}, false
	}
	changed := inodeChanged(filepath.Join(f.root.Name(), name))
	known.Perm = info.Mode().Perm()
	return known, changed != 0 && changed == known.Changed
}

// keep copies a file into keptDir.
func (f *workFiles) keep(name string) (file keptFile, err error) {
	dir, base, err := f.parent(name, false)
	if err != nil {
		return file, err
	}
	defer dir.Close()
	info, err := dir.Lstat(base)
	if err != nil {
		return file, err
	}
	file = keptFile{
		Mode: ModeSymlink, Perm: info.Mode().Perm(), Size: info.Size(), Time: info.ModTime().UnixNano(),
		Changed: inodeChanged(filepath.Join(f.root.Name(), name)),
	}
	var content io.Reader
	if info.Mode().IsRegular() {
		file.Mode = fileMode(info.Mode())
		open, err := dir.OpenFile(base, os.O_RDONLY|noFollow, 0)
		if err != nil {
			return file, err
		}
		defer open.Close()
		content = open
	} else {
		target, err := dir.Readlink(base)
		if err != nil {
			return file, err
		}
		content = strings.NewReader(target)
	}
	file.ID, err = f.repo.keepCopy(content)
	return file, err
}

// keepCopy stores content in keptDir. It copies first and then names the copy after its hash, so that the file system
// can make a reflink.
func (r *Repo) keepCopy(content io.Reader) (id ID, err error) {
	parent := filepath.Join(r.StateDir(), keptDir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	temp, err := os.CreateTemp(parent, "new-")
	if err != nil {
		return "", err
	}
	defer os.Remove(temp.Name())
	size, err := io.Copy(temp, content)
	if err == nil {
		_, err = temp.Seek(0, io.SeekStart)
	}
	if err == nil {
		id, err = (&workFiles{repo: r}).blobID(size, temp)
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return "", err
	}
	path := r.keptPath(id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return id, os.Rename(temp.Name(), path)
}

// copyBlob writes a blob to to, from a kept file or from git's objects.
func (f *workFiles) copyBlob(ctx context.Context, to io.Writer, id ID) error {
	err := f.copyKept(to, id)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if f.blobs == nil {
		f.blobs = f.repo.objects.OpenBlobs(ctx)
	}
	return f.blobs.Copy(to, id)
}

// copyKept writes a kept file to to, after checking it against its id.
func (f *workFiles) copyKept(to io.Writer, id ID) error {
	kept, err := safefile.Open(f.repo.keptPath(id))
	if err != nil {
		return err
	}
	defer kept.Close()
	info, err := kept.Stat()
	if err != nil {
		return err
	}
	is, err := f.blobID(info.Size(), kept)
	if err == nil && is != id {
		err = fmt.Errorf("kept file %s: %w", id.Short(), ErrCorrupt)
	}
	if err == nil {
		_, err = kept.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = io.Copy(to, kept)
	}
	return err
}

// restDoc is the JSON form of a rest. Paths are bytes, because they need not be UTF-8.
type restDoc struct {
	Deep  bool
	Files []restFile
	Gaps  []restGap
}

type restFile struct {
	Path []byte
	keptFile
}

type restGap struct {
	Path  []byte
	Kind  GapKind
	Bytes int64
	Print string
}

// writeRest stores a rest and returns the name of its file.
func (r *Repo) writeRest(found rest) (string, error) {
	doc := restDoc{Deep: found.deep}
	for _, name := range slices.Sorted(maps.Keys(found.files)) {
		doc.Files = append(doc.Files, restFile{[]byte(name), found.files[name]})
	}
	for _, g := range found.gaps {
		doc.Gaps = append(doc.Gaps, restGap{[]byte(g.Path), g.Kind, g.Bytes, g.print})
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return "", err
	}
	id, err := r.keepCopy(bytes.NewReader(text))
	return string(id), err
}

// readRest reads a rest. A missing file gives an empty rest.
func (r *Repo) readRest(name string) (found rest, err error) {
	if !r.objects.ValidID(ID(name)) {
		return found, nil
	}
	var text bytes.Buffer
	if err = (&workFiles{repo: r}).copyKept(&text, ID(name)); errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	var doc restDoc
	if err == nil {
		err = json.Unmarshal(text.Bytes(), &doc)
	}
	found = rest{name: name, deep: doc.Deep, files: map[string]keptFile{}}
	for _, file := range doc.Files {
		found.files[string(file.Path)] = file.keptFile
	}
	for _, g := range doc.Gaps {
		found.gaps = append(found.gaps, Gap{Path: string(g.Path), Kind: g.Kind, Bytes: g.Bytes, print: g.Print})
	}
	return found, err
}

// restFile returns the file with the name of the rest of the newest snapshot of this working tree that kept files.
func (w *Worktree) restFile() string { return filepath.Join(w.GitDir, "runr", "rest") }
