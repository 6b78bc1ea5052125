package gitstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// These files in the git directory of a worktree of this tool record what the worktree got in addition to its commit.
const (
	placedFile = "runr-placed" // a state, and the paths that belong to no change, each ended by NUL
	readyFile  = "runr-ready"  // the key of the last setup that succeeded

	placedBegun = "begun"
	placedAll   = "all"
)

// UserCheckout returns the user's checkout in which the repository was opened. In a worktree of this tool, it returns
// the main working tree. It returns ErrBare if there is none.
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

// Furnish copies files from the user's checkout that git does not track there into a worktree of this tool, once. It
// copies those that match copies and hard-links those that match links. The patterns are those of filepath.Match,
// from the top. A directory is created anew and its symbolic links are copied as links, so that removing something in
// the worktree removes nothing in the checkout. Existing files of the worktree stay. From then on every tree and
// snapshot of the worktree leaves the paths out, ignored or not.
//
// Patterns, symbolic links in the checkout and those in the worktree's commit may all come from strangers. Furnish
// does not read or write through a link that leads elsewhere; refused has one line for each such path.
func (w *Worktree) Furnish(ctx context.Context, from *Worktree, copies, links []string) (refused []string, err error) {
	defer wrap(&err, "furnish worktree %q", w.Dir)
	if !w.Own {
		return nil, errNotOwn
	}
	state, paths := w.readPlaced()
	if state == placedAll {
		return nil, nil
	}
	for _, path := range paths { // left by a call that was killed
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
	w.placed = each.Of(f.items, func(item furnishItem) string { return item.path })
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

// IgnoredBy returns the patterns, in the form of Furnish, that match a file that git ignores in the worktree.
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

// glob returns the paths, relative to the top, that match a pattern.
func (w *Worktree) glob(pattern string) (paths []string, err error) {
	names, err := filepath.Glob(filepath.Join(gitdir.GlobQuote(w.Dir), filepath.FromSlash(pattern)))
	for _, name := range names {
		paths = append(paths,
			filepath.ToSlash(strings.TrimPrefix(name, strings.TrimSuffix(w.Dir, "/")+string(filepath.Separator))))
	}
	return paths, err
}

// furnisher finds the files for Furnish and puts them into a worktree.
type furnisher struct {
	to, from       *Worktree
	dirs, fromDirs map[string]bool // whether a directory is a real one: see realParent
	tracked        map[string]bool // paths tracked in the user's checkout
	items          []furnishItem
	refused        []string
}

// furnishItem is one path that is not in the worktree yet.
type furnishItem struct {
	path   string // relative to the top
	source string // absolute, with symbolic links resolved
	link   bool   // make a hard link
}

// find adds the files that match the patterns.
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
	tracked, err := f.from.listed(gitdir.Call{Worktree: f.from.Dir},
		append([]string{"ls-files", "-z", "--cached", "--"}, matched...)...)(ctx)
	if err != nil {
		return err
	}
	maps.Copy(f.tracked, each.Set(tracked))
	for _, path := range matched {
		f.add(path, link)
	}
	return nil
}

// add adds a path, or, if the worktree has that directory, the missing paths below it.
func (f *furnisher) add(path string, link bool) {
	known := slices.ContainsFunc(f.items, func(i furnishItem) bool {
		return i.path == path || strings.HasPrefix(path, i.path+"/")
	})
	if known || f.tracked[path] || unsafePath(path) {
		return
	}
	source, err := filepath.EvalSymlinks(filepath.Join(f.from.Dir, path))
	top, topErr := filepath.EvalSymlinks(f.from.Dir)
	switch {
	case err != nil || topErr != nil:
		f.refuse(path, "it is a symbolic link that leads nowhere")
		return
	case !gitdir.Below(source, top) || gitdir.Below(source, f.from.repo.CommonDir) ||
		!f.from.realParent(filepath.Dir(path), f.fromDirs):
		f.refuse(path, "a symbolic link leads it out of your checkout")
		return
	}
	info, err := os.Lstat(filepath.Join(f.to.Dir, path))
	switch {
	case err == nil && info.IsDir():
		entries, _ := os.ReadDir(source) // a source that cannot be read, or is not a directory, adds nothing
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

// parentsReal reports whether the existing directories above a path in the worktree are not symbolic links.
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

// place copies or links the file or directory source to target, which does not exist. Below source it skips tracked
// files and anything that is not a file, a directory or a symbolic link.
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
			return copyFile(name, to) // also if a hard link cannot be made, as on another file system
		}
		return nil
	})
}

// copyFile copies a file with its permissions and modification time. On Linux the kernel makes a reflink if the
// file system supports it.
func copyFile(source, target string) (err error) {
	from, err := safefile.Open(source)
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

// readPlaced reads the paths of the worktree that belong to no change.
func (w *Worktree) readPlaced() (state string, paths []string) {
	data, err := safefile.ReadFile(filepath.Join(w.GitDir, placedFile))
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

// isPlaced reports whether a path belongs to no change, because Furnish or the setup put it into the worktree.
func (w *Worktree) isPlaced(path string) bool {
	path = strings.TrimSuffix(path, "/")
	return slices.ContainsFunc(w.placed, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

// CommittedPlaced reports whether a commit in base..tip touches a path that belongs to no change.
func (w *Worktree) CommittedPlaced(ctx context.Context, base, tip ID) (bool, error) {
	if len(w.placed) == 0 || base == "" || tip == "" {
		return false, nil
	}
	out, err := w.git(ctx,
		append([]string{"rev-list", "--full-history", "--max-count=1", string(base) + ".." + string(tip), "--"},
			w.placed...)...)
	if err != nil {
		return false, fmt.Errorf("look for what was put into the worktree: %w", err)
	}
	return len(out) > 0, nil
}

// IsFurnished reports whether Furnish has completed in the worktree.
func (w *Worktree) IsFurnished() bool {
	state, _ := w.readPlaced()
	return state == placedAll
}

// Placed lists the paths of the worktree that belong to no change.
func (w *Worktree) Placed() []string { return slices.Clone(w.placed) }

// SetUp calls run to prepare the worktree, and records key if run succeeds. New paths that git neither tracks nor
// ignores belong to no change from then on; SetUp returns them.
func (w *Worktree) SetUp(ctx context.Context, key func() (string, error),
	run func() (ok bool, err error)) (made []string, err error) {
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
	return w.listed(gitdir.Call{Worktree: w.Dir}, "ls-files", "-z", "--others", "--exclude-standard", "--directory",
		"--no-empty-directory")(ctx)
}

// Ignored returns what git ignores in the worktree, without what Furnish has placed there. A directory has a trailing
// slash.
func (w *Worktree) Ignored(ctx context.Context) ([]string, error) {
	ignored, err := w.listed(gitdir.Call{Worktree: w.Dir}, "ls-files", "-z", "--others", "--ignored",
		"--exclude-standard", "--directory", "--no-empty-directory")(ctx)
	placed := func(name string) bool { return slices.Contains(w.placed, strings.TrimSuffix(name, "/")) }
	return slices.DeleteFunc(ignored, placed), err
}

// IsReady reports whether the last successful setup of the worktree had that key.
func (w *Worktree) IsReady(key string) bool {
	is, err := safefile.ReadFile(filepath.Join(w.GitDir, readyFile))
	return err == nil && string(is) == key
}

// InputsKey returns a hash of name and of the files of the worktree that match globs and that git does not ignore.
func (w *Worktree) InputsKey(ctx context.Context, name string, globs []string) (string, error) {
	files, err := w.listed(gitdir.Call{Worktree: w.Dir}, "ls-files", "-z", "--cached", "--others",
		"--exclude-standard")(ctx)
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
		text, err := safefile.ReadFile(filepath.Join(w.Dir, file)) // an unreadable file counts only by its name
		fmt.Fprintf(hash, "%s\x00%t %d\x00%s", file, err == nil, len(text), text)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
