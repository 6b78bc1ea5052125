package gitstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// What a worktree of the tool's own was given beside its commit is kept in its git directory.
const (
	placedFile = "runr-placed" // a state, and the paths that are no part of any change, each ended by NUL
	readyFile  = "runr-ready"  // the key of the setup that succeeded last

	placedBegun = "begun"
	placedAll   = "all"
)

// UserCheckout returns the user's checkout that the repository was opened in; in a worktree of the tool's own it is
// the main working tree. It is ErrBare where there is none.
func (r *Repo) UserCheckout(ctx context.Context) (*Worktree, error) {
	if !r.IsOwnWorktree() {
		return r.Checkout()
	}
	top, err := r.Top(ctx)
	if err != nil || top == r.CommonDir {
		return nil, errors.Join(ErrBare, err)
	}
	return r.worktreeAt(top, r.CommonDir), nil
}

// Furnish puts files of the user's checkout that git does not track there into a worktree of the tool's own, once:
// those that copies match by copy, those that links match by hard links. Patterns are those of filepath.Match, from
// the top. A directory is made anew, and symbolic links in it are copied as they are, so that nothing that is removed
// in the worktree is removed in the checkout. What is in the worktree already stays. From then on the paths are left
// out of every tree and snapshot of the worktree, ignored or not.
//
// A pattern, a symbolic link in the checkout and one in the worktree's commit can all be a stranger's: what would be
// read or written through one is refused, and refused says why, a line each.
func (w *Worktree) Furnish(ctx context.Context, from *Worktree, copies, links []string) (refused []string, err error) {
	defer wrap(&err, "furnish worktree %q", w.Dir)
	if !w.Own {
		return nil, errNotOwn
	}
	state, paths := w.readPlaced()
	if state == placedAll {
		return nil, nil
	}
	for _, path := range paths { // of a call that was killed
		if !w.realParent(filepath.Dir(path), map[string]bool{}) {
			continue
		}
		if err := removeTree(filepath.Join(w.Dir, path)); err != nil {
			return nil, err
		}
	}
	f := furnisher{to: w, from: from, dirs: map[string]bool{}, fromDirs: map[string]bool{}, tracked: map[string]bool{}}
	if err := f.find(ctx, copies, false); err != nil {
		return nil, err
	}
	if err := f.find(ctx, links, true); err != nil {
		return nil, err
	}
	w.placed = nil
	for _, item := range f.items {
		w.placed = append(w.placed, item.path)
	}
	if err := w.writePlaced(placedBegun); err != nil {
		return nil, err
	}
	for _, item := range f.items {
		if err := f.place(item.source, filepath.Join(w.Dir, item.path), item.path, item.link); err != nil {
			return nil, err
		}
	}
	return f.refused, w.writePlaced(placedAll)
}

// IgnoredBy returns those of the patterns, which are as in Furnish, that match a file that git ignores in the worktree.
func (w *Worktree) IgnoredBy(ctx context.Context, patterns ...string) (found []string, err error) {
	for _, pattern := range patterns {
		matched, err := w.glob(pattern)
		if err != nil || len(matched) == 0 {
			continue
		}
		args := append([]string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--"}, matched...)
		ignored, err := w.listed(gitdir.Call{Worktree: w.Dir}, args...)(ctx)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(ignored, func(path string) bool { return slices.Contains(matched, path) }) {
			found = append(found, pattern)
		}
	}
	return found, nil
}

// glob returns the paths from the top that a pattern matches.
func (w *Worktree) glob(pattern string) (paths []string, err error) {
	names, err := filepath.Glob(filepath.Join(gitdir.GlobQuote(w.Dir), filepath.FromSlash(pattern)))
	for _, name := range names {
		paths = append(paths, filepath.ToSlash(strings.TrimPrefix(name, strings.TrimSuffix(w.Dir, "/")+string(filepath.Separator))))
	}
	return paths, err
}

// furnisher finds what Furnish puts into a worktree, and puts it there.
type furnisher struct {
	to, from       *Worktree
	dirs, fromDirs map[string]bool // which are real directories, see realParent
	tracked        map[string]bool // in the user's checkout
	items          []furnishItem
	refused        []string
}

// furnishItem is one path that is not in the worktree yet.
type furnishItem struct {
	path   string // from the top
	source string // absolute, where a symbolic link leads
	link   bool   // by hard links
}

// find adds what the patterns match.
func (f *furnisher) find(ctx context.Context, patterns []string, link bool) error {
	var matched []string
	for _, pattern := range patterns {
		paths, err := f.from.glob(pattern)
		if err != nil {
			return fmt.Errorf("pattern %q: %w", pattern, err)
		}
		matched = append(matched, paths...)
	}
	if len(matched) == 0 {
		return nil
	}
	tracked, err := f.from.listed(gitdir.Call{Worktree: f.from.Dir}, append([]string{"ls-files", "-z", "--cached", "--"}, matched...)...)(ctx)
	if err != nil {
		return err
	}
	for _, path := range tracked {
		f.tracked[path] = true
	}
	for _, path := range matched {
		f.add(path, link)
	}
	return nil
}

// add adds a path, or what below it the worktree does not have.
func (f *furnisher) add(path string, link bool) {
	known := slices.ContainsFunc(f.items, func(i furnishItem) bool { return i.path == path || strings.HasPrefix(path, i.path+"/") })
	if known || f.tracked[path] || unsafePath(path) {
		return
	}
	source, err := filepath.EvalSymlinks(filepath.Join(f.from.Dir, path))
	top, topErr := filepath.EvalSymlinks(f.from.Dir)
	switch {
	case err != nil || topErr != nil:
		f.refuse(path, "it is a symbolic link that leads nowhere")
		return
	case !gitdir.Below(source, top) || gitdir.Below(source, f.from.repo.CommonDir) || !f.from.realParent(filepath.Dir(path), f.fromDirs):
		f.refuse(path, "a symbolic link leads it out of your checkout")
		return
	}
	info, err := os.Lstat(filepath.Join(f.to.Dir, path))
	switch {
	case err == nil && info.IsDir():
		entries, _ := os.ReadDir(source) // what cannot be read has nothing to give, and is no directory perhaps
		for _, entry := range entries {
			f.add(path+"/"+entry.Name(), link)
		}
	case err == nil:
	case !f.parentsReal(path):
		f.refuse(path, "a symbolic link or a file of the commit stands where its directory would be")
	default:
		f.items = append(f.items, furnishItem{path, source, link})
	}
}

// parentsReal reports whether those directories above a path that the worktree has are real ones.
func (f *furnisher) parentsReal(path string) bool {
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(f.to.Dir, dir)); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return f.to.realParent(dir, f.dirs)
		}
	}
	return true
}

func (f *furnisher) refuse(path, why string) {
	f.refused = append(f.refused, fmt.Sprintf("not put into the worktree: %q: %s", path, why))
}

// place puts the file or directory source at target, which is not there. What is neither of them nor a symbolic link
// below source is left out, and so is what git tracks there.
func (f *furnisher) place(source, target, path string, link bool) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return err
	}
	return filepath.WalkDir(source, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(source, name)
		if err != nil || f.tracked[filepath.ToSlash(filepath.Join(path, rel))] {
			return err
		}
		to := filepath.Join(target, rel)
		switch entry.Type() {
		case fs.ModeDir:
			info, err := entry.Info()
			if err != nil {
				return err
			}
			return os.Mkdir(to, info.Mode().Perm()|0o700)
		case fs.ModeSymlink:
			leads, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(leads, to)
		case 0:
			if link && os.Link(name, to) == nil {
				return nil
			}
			return copyFile(name, to) // also where hard links cannot be made: on another file system
		}
		return nil
	})
}

// copyFile copies a file with its permissions and its time. On Linux the kernel makes it a reflink where the file
// system has them.
func copyFile(source, target string) (err error) {
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	to, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Chmod(info.Mode().Perm()), to.Close(), os.Chtimes(target, info.ModTime(), info.ModTime()))
}

// readPlaced reads which paths are no part of any change in the worktree.
func (w *Worktree) readPlaced() (state string, paths []string) {
	data, err := os.ReadFile(filepath.Join(w.GitDir, placedFile))
	if err != nil {
		return "", nil // nothing was put there
	}
	items := splitNUL(data)
	if len(items) == 0 {
		return "", nil
	}
	return items[0], slices.DeleteFunc(items[1:], unsafePath)
}

func (w *Worktree) writePlaced(state string) error {
	return safefile.WriteFile(filepath.Join(w.GitDir, placedFile), joinNUL(append([]string{state}, w.placed...)), 0o666)
}

// isPlaced reports whether a path is no part of any change, as it was put into the worktree or made by its setup.
func (w *Worktree) isPlaced(path string) bool {
	path = strings.TrimSuffix(path, "/")
	return slices.ContainsFunc(w.placed, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

// trackedPlaced lists the paths of an index that are no part of any change: somebody added them all the same.
func (w *Worktree) trackedPlaced(ctx context.Context, c gitdir.Call) ([]string, error) {
	if len(w.placed) == 0 {
		return nil, nil
	}
	return w.listed(c, append([]string{"ls-files", "-z", "--cached", "--"}, w.placed...)...)(ctx)
}

// CommittedPlaced reports whether a commit that tip has and base has not touches a path that is no part of any change.
func (w *Worktree) CommittedPlaced(ctx context.Context, base, tip ID) (bool, error) {
	if len(w.placed) == 0 || base == "" || tip == "" {
		return false, nil
	}
	out, err := w.git(ctx, append([]string{"rev-list", "--full-history", "--max-count=1", string(base) + ".." + string(tip), "--"}, w.placed...)...)
	if err != nil {
		return false, fmt.Errorf("look for what was put into the worktree: %w", err)
	}
	return len(out) > 0, nil
}

// IsFurnished reports whether Furnish has done its work in the worktree.
func (w *Worktree) IsFurnished() bool {
	state, _ := w.readPlaced()
	return state == placedAll
}

// Placed lists the paths that are no part of any change in the worktree.
func (w *Worktree) Placed() []string { return slices.Clone(w.placed) }

// SetUp has run make the worktree ready, and notes key when it did. What it makes that git neither tracks nor ignores
// is no part of any change from then on: made.
func (w *Worktree) SetUp(ctx context.Context, key func() (string, error), run func() (ok bool, err error)) (made []string, err error) {
	before, err := w.untracked(ctx)
	if err != nil {
		return nil, err
	}
	if ok, err := run(); err != nil || !ok {
		return nil, err
	}
	after, err := w.untracked(ctx)
	if err != nil {
		return nil, err
	}
	made = slices.DeleteFunc(after, func(path string) bool { return slices.Contains(before, path) || w.isPlaced(path) })
	if len(made) > 0 {
		for _, path := range made {
			w.placed = append(w.placed, strings.TrimSuffix(path, "/"))
		}
		if err := w.writePlaced(placedAll); err != nil {
			return nil, err
		}
	}
	is, err := key() // the setup itself may have written to what it depends on
	if err != nil {
		return nil, err
	}
	return made, safefile.WriteFile(filepath.Join(w.GitDir, readyFile), []byte(is), 0o666)
}

func (w *Worktree) untracked(ctx context.Context) ([]string, error) {
	return w.listed(gitdir.Call{Worktree: w.Dir}, "ls-files", "-z", "--others", "--exclude-standard", "--directory", "--no-empty-directory")(ctx)
}

// IsReady reports whether a setup with that key was the last that succeeded in the worktree.
func (w *Worktree) IsReady(key string) bool {
	is, err := os.ReadFile(filepath.Join(w.GitDir, readyFile))
	return err == nil && string(is) == key
}

// InputsKey returns a hash of name and of those files of the worktree that globs match and git does not ignore.
func (w *Worktree) InputsKey(ctx context.Context, name string, globs []string) (string, error) {
	files, err := w.listed(gitdir.Call{Worktree: w.Dir}, "ls-files", "-z", "--cached", "--others", "--exclude-standard")(ctx)
	if err != nil {
		return "", err
	}
	match, hash := CompileGlobs(globs), sha256.New()
	fmt.Fprintf(hash, "%s\x00", name)
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if !match.Match(file) || w.isPlaced(file) || !w.realParent(filepath.Dir(file), map[string]bool{}) {
			continue
		}
		text, err := safefile.ReadFile(filepath.Join(w.Dir, file)) // what cannot be read, or is no file, counts by its name
		fmt.Fprintf(hash, "%s\x00%t %d\x00%s", file, err == nil, len(text), text)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
