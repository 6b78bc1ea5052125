package gitstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Reverted is the result of a revert. Before and After are the snapshots around it, kept
// under refs/runr-local/snapshots/revert/. Revert(Before, After) undoes it, and touches
// nothing that somebody else changed meanwhile. If there was nothing to do, they are
// the same snapshot, which is not kept.
type Reverted struct {
	Restored  []string // are now as in base
	Skipped   []string // were already as in base
	Conflicts []string // changed by somebody else since end, or impossible to restore: left alone
	Before    Snapshot
	After     Snapshot
	Operation Recorded // the operation it belongs to, for undoing it
	Left      bool     // after a kill: HEAD was moved meanwhile, so nothing was done
}

func (d *Reverted) conflict(path string) {
	d.Conflicts = each.Once(d.Conflicts, path)
}

// randomName returns a unique name that sorts by time.
func randomName() string {
	var random [3]byte
	rand.Read(random[:]) // never fails
	return strings.Replace(time.Now().UTC().Format("20060102150405.000000"), ".", "", 1) + "-" +
		hex.EncodeToString(random[:])
}

// tempPrefix is the prefix of the names of files that are being written.
const tempPrefix = ".git-runr-tmp-"

// Reasons why a path cannot be restored, which make it a conflict.
var (
	// a directory, or something in place of a parent, that is not ours to remove
	errInTheWay = errors.New("something else is in the way")
	errChanged  = errors.New("changed meanwhile")
)

// fileState is the state of a file as a tree records it. The zero value means no file.
type fileState struct {
	Mode string
	ID   ID
}

// workFiles reads and writes the files of a worktree one path component at a time,
// so that no symbolic link is ever followed.
type workFiles struct {
	root  *os.Root
	repo  *Repo
	blobs *odb.BlobStream // opened for the first blob
	lazy  bool            // written files need not be synced: they can be restored again
	perms perms           // to restore; a 0 in most means that the umask's result is right
	were  perms           // that files must have now, otherwise somebody changed them since
	// Test hooks, at moments when somebody could change a file; otherwise nil.
	beside  func(path string) // before the last check of a path
	reading func()            // while a file is read
}

func (w *Worktree) openFiles() (*workFiles, error) {
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return nil, fmt.Errorf("open working tree: %w", err)
	}
	return &workFiles{root: root, repo: w.repo, beside: w.beside}, nil
}

func (f *workFiles) Close() error {
	if f.blobs != nil {
		f.blobs.Close()
	}
	return f.root.Close()
}

// restore restores the old state of each changed path that is still in its new state. It checks
// all paths first, to find those that cannot be restored, and each path again right before
// touching it, because somebody may save a file meanwhile. It removes files before it writes
// others, because a file may have become a directory or the other way round.
func (f *workFiles) restore(ctx context.Context, changed []Change, done *Reverted) error {
	var todo []Change
	for _, c := range changed {
		switch state, err := f.state(c.Path); {
		case err != nil || c.OldMode == ModeCommit || c.NewMode == ModeCommit:
			done.conflict(c.Path)
		case state == fileState{c.NewMode, c.NewID}:
			todo = append(todo, c)
		case state == fileState{c.OldMode, c.OldID}:
			done.Skipped = append(done.Skipped, c.Path)
		default:
			done.conflict(c.Path)
		}
	}
	if err := f.each(todo, done, func(c Change) bool { return c.OldMode == "" }, f.remove); err != nil {
		return err
	}
	err := f.each(todo, done, func(c Change) bool { return c.OldMode != "" }, func(c Change) error {
		return f.write(ctx, c)
	})
	if err != nil {
		return err
	}
	for _, c := range todo {
		if c.OldMode == "" {
			f.prune(path.Dir(c.Path))
		}
	}
	return nil
}

// takeBegun accepts a path as unchanged if a killed git had begun to write it: the file is missing, or
// holds the first bytes of the new content.
func (f *workFiles) takeBegun(ctx context.Context, changed []Change) error {
	for i, c := range changed {
		state, err := f.state(c.Path)
		if err != nil || c.NewMode == "" || state == (fileState{c.NewMode, c.NewID}) ||
			state == (fileState{c.OldMode, c.OldID}) {
			continue
		}
		begun := state == fileState{}
		if !begun && regularMode(state.Mode) && regularMode(c.NewMode) {
			if begun, err = f.beginsBlob(ctx, c.Path, state.ID, c.NewID); err != nil {
				return err
			}
		}
		if begun {
			changed[i].NewMode, changed[i].NewID = state.Mode, state.ID
		}
	}
	return nil
}

func regularMode(mode string) bool { return mode == ModeFile || mode == ModeExecutable }

// beginsBlob reports whether the file name, whose content has the id is, holds the first bytes of a blob.
func (f *workFiles) beginsBlob(ctx context.Context, name string, is, blob ID) (bool, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return false, nil // it was removed meanwhile
	}
	begin := &headHash{Hash: f.blobHash(info.Size()), left: info.Size()}
	if err := f.copyBlob(ctx, begin, blob); err != nil {
		return false, err
	}
	return begin.left == 0 && hashID(begin.Hash) == is, nil
}

// headHash hashes the first bytes that are written and ignores the rest.
type headHash struct {
	hash.Hash
	left int64
}

func (h *headHash) Write(p []byte) (int, error) {
	head := p[:min(int64(len(p)), h.left)]
	h.left -= int64(len(head))
	h.Hash.Write(head)
	return len(p), nil
}

// stillAs returns errChanged if a path is no longer in its new state. Only a system call separates
// this check from the rename that follows.
func (f *workFiles) stillAs(c Change) error {
	if f.beside != nil {
		f.beside(c.Path)
	}
	state, err := f.state(c.Path)
	if err == nil && state != (fileState{c.NewMode, c.NewID}) {
		err = errChanged
	}
	return err
}

// each calls do for the chosen changes and sorts the results into done.
func (f *workFiles) each(todo []Change, done *Reverted, chosen func(Change) bool, do func(Change) error) error {
	for _, c := range todo {
		if !chosen(c) {
			continue
		}
		err := do(c)
		if errors.Is(err, errInTheWay) || errors.Is(err, errChanged) || errors.Is(err, fs.ErrPermission) {
			done.conflict(c.Path)
			continue
		}
		if err != nil {
			return fmt.Errorf("restore %q: %w", c.Path, err)
		}
		done.Restored = append(done.Restored, c.Path)
	}
	return nil
}

// parent opens the directory of a path. If a directory is missing, parent creates it or returns
// fs.ErrNotExist. If something else is in its place, it returns errInTheWay.
func (f *workFiles) parent(name string, create bool) (dir *os.Root, base string, err error) {
	if unsafePath(name) {
		return nil, "", fmt.Errorf("unsafe path %q: %w", name, errInTheWay)
	}
	dir, err = f.root.OpenRoot(".")
	if err != nil {
		return nil, "", err
	}
	parts := strings.Split(name, "/")
	for i, part := range parts[:len(parts)-1] {
		if _, err := dir.Lstat(part); create && errors.Is(err, fs.ErrNotExist) {
			if err := f.mkdir(dir, part, strings.Join(parts[:i+1], "/")); err != nil {
				dir.Close()
				return nil, "", err
			}
		}
		next, err := stepInto(dir, part)
		dir.Close()
		if err != nil {
			return nil, "", err
		}
		dir = next
	}
	return dir, parts[len(parts)-1], nil
}

// stepInto opens a directory in dir and checks that it is not a symbolic link.
func stepInto(dir *os.Root, name string) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errInTheWay
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err != nil || !os.SameFile(info, opened) {
		next.Close()
		return nil, errors.Join(errInTheWay, err)
	}
	return next, nil
}

// mkdir creates a directory with its recorded permissions.
func (f *workFiles) mkdir(dir *os.Root, base, name string) error {
	err := dir.Mkdir(base, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if perm := f.perms.of(name+"/", ""); err == nil && perm != 0 {
		err = dir.Chmod(base, perm)
	}
	return err
}

// state returns the present state of a path. It returns the zero value for a directory and for a path
// whose parent is not a directory.
func (f *workFiles) state(name string) (fileState, error) {
	dir, base, err := f.parent(name, false)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errInTheWay) && !unsafePath(name) {
		return fileState{}, nil
	}
	if err != nil {
		return fileState{}, err
	}
	defer dir.Close()
	info, err := dir.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fileState{}, nil
	case err != nil:
		return fileState{}, err
	case info.IsDir():
		return fileState{}, nil
	case info.Mode()&fs.ModeSymlink != 0:
		return f.linkState(dir, base)
	case !info.Mode().IsRegular():
		return fileState{}, errInTheWay
	}
	return f.regularState(dir, base)
}

func (f *workFiles) linkState(dir *os.Root, base string) (fileState, error) {
	target, err := dir.Readlink(base)
	if err != nil {
		return fileState{}, err
	}
	id, err := f.blobID(int64(len(target)), strings.NewReader(target))
	return fileState{ModeSymlink, id}, err
}

func (f *workFiles) regularState(dir *os.Root, base string) (fileState, error) {
	file, err := dir.OpenFile(base, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return fileState{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fileState{}, err
	}
	if f.reading != nil {
		f.reading()
	}
	id, err := f.blobID(info.Size(), file)
	again, statErr := dir.Lstat(base)
	if err == nil && (statErr != nil || !unchanged(info, again)) { // somebody wrote while a large file was read
		err = errChanged
	}
	return fileState{fileMode(info.Mode()), id}, err
}

// unchanged reports whether a file is the same, judging by two stats of it.
func unchanged(before, after fs.FileInfo) bool {
	return os.SameFile(before, after) && before.ModTime().Equal(after.ModTime()) && before.Size() == after.Size()
}

// fileMode returns the mode that git records for a regular file.
func fileMode(mode fs.FileMode) string {
	if mode&0o100 != 0 {
		return ModeExecutable
	}
	return ModeFile
}

// blobID returns the id of content as a blob. It returns errChanged if the size does not match.
func (f *workFiles) blobID(size int64, content io.Reader) (ID, error) {
	sum := f.blobHash(size)
	n, err := io.Copy(sum, content)
	if err == nil && n != size {
		err = errChanged
	}
	return hashID(sum), err
}

func (f *workFiles) blobHash(size int64) hash.Hash {
	sum := f.repo.objects.NewHash()
	fmt.Fprintf(sum, "blob %d\x00", size)
	return sum
}

func hashID(sum hash.Hash) ID { return ID(hex.EncodeToString(sum.Sum(nil))) }

// remove removes the file at a path.
func (f *workFiles) remove(c Change) error {
	dir, base, err := f.parent(c.Path, false)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errInTheWay) {
		return nil // restore has seen that there is no file at this path
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := f.stillAs(c); err != nil {
		return err
	}
	if info, err := dir.Lstat(base); err != nil || info.IsDir() {
		return nil
	}
	return dir.Remove(base)
}

// write writes the old content to a temporary file and renames it to the path.
func (f *workFiles) write(ctx context.Context, c Change) error {
	dir, base, err := f.parent(c.Path, true)
	if err != nil {
		return err
	}
	defer dir.Close()
	perm := fs.FileMode(0)
	if info, err := dir.Lstat(base); err == nil && info.IsDir() {
		if !removeEmpty(dir, base) {
			return errInTheWay
		}
	} else if err == nil && info.Mode().IsRegular() {
		perm = info.Mode().Perm()
	}
	temp := tempPrefix + randomName()
	if c.OldMode == ModeSymlink {
		err = f.writeLink(ctx, dir, temp, c.OldID)
	} else {
		err = f.writeFile(ctx, dir, temp, c, perm)
	}
	if err == nil {
		err = f.stillAs(c)
	}
	if err == nil {
		err = dir.Rename(temp, base)
	}
	if err != nil {
		dir.Remove(temp)
	}
	return err
}

func (f *workFiles) writeLink(ctx context.Context, dir *os.Root, temp string, id ID) error {
	var target bytes.Buffer
	if err := f.copyBlob(ctx, &target, id); err != nil {
		return err
	}
	return dir.Symlink(target.String(), temp)
}

// writeFile writes a blob to a new file and syncs it. It does not use safefile, which would follow links in the parent
// directories and need the whole content in memory. The file gets its recorded permissions. If these are unknown, it
// gets perm, the permissions of the file that it replaces, with the executable bits set or cleared; perm 0 means none.
func (f *workFiles) writeFile(ctx context.Context, dir *os.Root, temp string, c Change, perm fs.FileMode) error {
	initial := fs.FileMode(0o666)
	if c.OldMode == ModeExecutable {
		initial = 0o777
	}
	switch {
	case f.perms.known && (perm == 0 || !f.were.known || perm == f.were.of(c.Path, fileMode(perm))):
		perm = f.perms.of(c.Path, c.OldMode)
	case perm != 0:
		perm = setExecutable(perm, c.OldMode == ModeExecutable)
	}
	file, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, initial)
	if err != nil {
		return err
	}
	if perm != 0 {
		err = file.Chmod(perm)
	}
	if err == nil {
		err = f.copyBlob(ctx, file, c.OldID)
	}
	if err == nil && !f.lazy {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// setExecutable lets everybody execute who may read, or nobody.
func setExecutable(perm fs.FileMode, on bool) fs.FileMode {
	perm &^= 0o111
	if on {
		perm |= perm & 0o444 >> 2
	}
	return perm
}

// removeEmpty removes a directory that contains only directories. It reports whether it did.
func removeEmpty(dir *os.Root, name string) bool {
	sub, err := stepInto(dir, name)
	if err != nil {
		return false
	}
	defer sub.Close()
	entries, err := fs.ReadDir(sub.FS(), ".")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !e.IsDir() || !removeEmpty(sub, e.Name()) {
			return false
		}
	}
	return dir.Remove(name) == nil
}

// prune removes a directory and its parents as long as they are empty.
func (f *workFiles) prune(name string) {
	for ; name != "."; name = path.Dir(name) {
		dir, base, err := f.parent(name, false)
		if err != nil {
			continue // a parent may still be empty
		}
		info, err := dir.Lstat(base)
		_, stays := f.perms.other[name+"/"]
		if err == nil && info.IsDir() && !stays {
			err = dir.Remove(base)
		}
		dir.Close()
		if stays || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// sweep removes temporary files that a killed revert left in the directories of the changed
// paths.
func (w *Worktree) sweep(ctx context.Context, base, end Snapshot) error {
	changed, err := w.repo.Changed(ctx, base.Tree, end.Tree)
	if err != nil {
		return err
	}
	files, err := w.openFiles()
	if err != nil {
		return err
	}
	defer files.Close()
	swept := map[string]bool{}
	for _, c := range changed {
		name := path.Dir(c.Path)
		dir, _, err := files.parent(c.Path, false)
		if err != nil {
			continue // without a directory there are no files in it
		}
		if !swept[name] {
			swept[name] = true
			sweepDir(dir)
		}
		dir.Close()
	}
	return nil
}

func sweepDir(dir *os.Root) {
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) && !e.IsDir() {
			dir.Remove(e.Name())
		}
	}
}
