package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// ownMarker is a file in a linked worktree's git directory. It shows that this tool made, or is
// making, the worktree: it contains one of the two lines.
const (
	ownMarker = "runr-worktree"
	ownBegun  = "being made by git-runr\n"
	ownMade   = "made by git-runr\n"
)

// errNotOwn refuses an operation that is only allowed on a worktree of this tool.
var errNotOwn = errors.New("not a worktree that git-runr made")

// Worktree is one working tree of a repository with its index and its HEAD. Methods that
// change something must not run concurrently.
type Worktree struct {
	Dir    string // top of the working tree, absolute
	GitDir string // its git directory, absolute: where its index and HEAD are
	Own    bool   // made by AddWorktree, not the user's
	Half   bool   // its AddWorktree was killed before all files were checked out
	repo   *Repo  // view of the repository from this worktree

	placed []string          // paths that belong to no change, see Furnish
	made   perms             // of the files that AddWorktree checked out; unknown for other worktrees
	asMade ID                // tree that AddWorktree checked out, if its index was settled: see settleIndex
	beside func(path string) // see workFiles
}

// Checkout returns the working tree in which the repository was opened, or ErrBare
// if it was opened outside of one.
func (r *Repo) Checkout() (*Worktree, error) {
	switch {
	case r.WorkTree != "":
	case r.GitDir != r.CommonDir:
		return nil, insideError(gitdir.RegisteredDir(r.GitDir))
	case !r.Bare && filepath.Base(r.GitDir) == ".git":
		return nil, insideError(filepath.Dir(r.GitDir))
	default:
		return nil, fmt.Errorf("open working tree of %q: %w", r.GitDir, ErrBare)
	}
	return r.worktreeAt(r.WorkTree, r.GitDir), nil
}

// insideError is ErrBare in the git directory of the working tree with this path.
type insideError string

func (e insideError) Error() string {
	return fmt.Sprintf("this is the git directory of %q; go there", string(e))
}

func (e insideError) Is(target error) bool { return target == ErrBare }

// Repo returns the repository as seen from this worktree: its Head and Branch are
// those of the worktree.
func (w *Worktree) Repo() *Repo { return w.repo }

// AddWorktree creates a linked worktree at commit at. All files are checked out, even if the
// user's checkout is sparse; submodules stay empty. dir is an absolute path, or a name: see
// TreePlace. If branch is given, it is checked out: a new branch at that commit, or an existing
// one wherever it is. Otherwise HEAD is detached. No hook runs, and the user's checkout is not
// touched. The worktree is not locked with git worktree lock, because the lock would outlive a
// directory that somebody removed. It returns ErrConflict if the branch is checked out elsewhere.
func (r *Repo) AddWorktree(ctx context.Context, dir, branch string, at ID) (*Worktree, error) {
	if at == "" {
		return nil, fmt.Errorf("add worktree %q: %w", dir, ErrUnborn)
	}
	name := dir
	dir, err := r.newWorktreeDir(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("add worktree: %w", err)
	}
	dir = gitdir.RealDir(dir)
	if err := r.forgetGone(ctx, name, dir); err != nil {
		return nil, fmt.Errorf("add worktree %q: %w", dir, err)
	}
	branch = strings.TrimPrefix(branch, "refs/heads/")
	args, made, err := r.addArgs(ctx, dir, branch, at)
	if err != nil {
		return nil, fmt.Errorf("add worktree %q: %w", dir, err)
	}
	_, statErr := os.Lstat(dir)
	there := !errors.Is(statErr, fs.ErrNotExist) // a directory that existed before is not removed
	err = r.steady(ctx, func() error { _, err := r.dir.Git(ctx, args...); return err })
	if err != nil && (there || !errors.Is(err, gitdir.ErrKilled) && ctx.Err() == nil) {
		return nil, fmt.Errorf("add worktree %q: %w", dir, err)
	}
	var w *Worktree
	if err == nil {
		w, err = r.fillWorktree(ctx, dir)
	}
	if err == nil && branch != "" { // somebody will work there
		w.seedShadow(ctx)
	}
	if err != nil {
		ctx := context.WithoutCancel(ctx)
		if r.RemoveWorktree(ctx, dir) == nil && made != "" {
			_ = r.refs.SwapAny(ctx, "refs/heads/"+made, "", at) // best effort: an extra branch does no harm
		}
		return nil, fmt.Errorf("add worktree %q: %w", dir, err)
	}
	return w, nil
}

// steady runs a function that lists all worktrees with git, or removes one, under a lock: git fails if a worktree
// disappears after it was listed. In a read-only repository none can disappear, so no lock is needed.
func (r *Repo) steady(ctx context.Context, do func() error) error {
	unlock, err := r.Lock(ctx, "worktrees")
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return do()
	}
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.dropTorn(); err != nil {
		return err
	}
	return do()
}

// dropTorn removes registrations of this tool's worktrees of which a killed git wrote only an empty commondir. With
// one of them git refuses every command about worktrees. The caller holds the lock "worktrees".
func (r *Repo) dropTorn() error {
	registered, err := r.registrations()
	for _, g := range registered {
		info, statErr := os.Stat(filepath.Join(g.gitDir, "commondir"))
		if statErr == nil && info.Size() == 0 && r.inOwnPlace(g.dir) {
			err = errors.Join(err, removeTree(g.gitDir))
		}
	}
	return err
}

// addArgs returns git's arguments for AddWorktree. made is the branch that they create, or "".
func (r *Repo) addArgs(ctx context.Context, dir, branch string, at ID) (args []string, made string, err error) {
	args = []string{"worktree", "add", "--quiet", "--no-checkout"}
	if branch == "" {
		return append(args, "--detach", "--end-of-options", dir, string(at)), "", nil
	}
	tip, err := r.Ref(ctx, "refs/heads/"+branch)
	if err != nil || tip == "" {
		return append(args, "--no-track", "-b", branch, "--end-of-options", dir, string(at)), branch, err
	}
	elsewhere, err := r.CheckedOutIn(ctx, "refs/heads/"+branch)
	if err == nil && elsewhere != "" {
		err = &CheckedOutError{Branch: branch, Dir: elsewhere}
	}
	return append(args, "--end-of-options", dir, branch), "", err
}

// forgetGone removes the registration of a worktree of this tool whose directory somebody has removed.
// Otherwise git would refuse to create another worktree in its place, or with its branch.
func (r *Repo) forgetGone(ctx context.Context, name, dir string) error {
	registered, err := r.registrations()
	for _, g := range registered {
		named := g.dir == dir && (r.inOwnPlace(dir) || g.own()) || filepath.Base(g.dir) == name && r.mine(g)
		if _, statErr := os.Lstat(g.dir); !named || !errors.Is(statErr, fs.ErrNotExist) {
			continue
		}
		if err := r.RemoveWorktree(ctx, g.dir); err != nil {
			return err
		}
	}
	return err
}

// fillWorktree marks a new worktree as ours and checks out its files.
func (r *Repo) fillWorktree(ctx context.Context, dir string) (*Worktree, error) {
	reg, err := r.registration(dir)
	if err != nil {
		return nil, err
	}
	marker := filepath.Join(reg.gitDir, ownMarker)
	if err := safefile.WriteFile(marker, []byte(ownBegun), 0o666); err != nil {
		return nil, err
	}
	w := r.worktreeAt(dir, reg.gitDir)
	if err := w.makeFull(ctx); err != nil {
		return nil, err
	}
	if _, err = w.git(ctx, "read-tree", "-m", "-u", "--no-recurse-submodules", "HEAD"); err != nil {
		return nil, err
	}
	w.Half = false
	if err := w.settleIndex(ctx); err != nil {
		return nil, err
	}
	return w, safefile.WriteFile(marker, []byte(ownMade), 0o666)
}

// makeFull undoes the settings that git copies from the user's sparse checkout.
func (w *Worktree) makeFull(ctx context.Context) error {
	err := os.Remove(filepath.Join(w.GitDir, "info", "sparse-checkout"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	config := filepath.Join(w.GitDir, "config.worktree")
	if _, err := os.Stat(config); err != nil {
		return nil
	}
	for _, key := range []string{"core.sparseCheckout", "core.sparseCheckoutCone", "index.sparse"} {
		if _, err := w.git(ctx, "config", "--file", config, key, "false"); err != nil {
			return err
		}
	}
	return nil
}

// OpenWorktree opens an existing linked worktree of this repository. It returns ErrNotFound if
// there is none at dir. It does not trust the worktree's .git file, because whoever works in the
// worktree can write to it.
func (r *Repo) OpenWorktree(_ context.Context, dir string) (*Worktree, error) {
	path, err := r.worktreeDir(dir)
	if err != nil {
		return nil, err
	}
	reg, err := r.registration(path)
	if err != nil {
		return nil, fmt.Errorf("open worktree %q: %w", dir, err)
	}
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return nil, fmt.Errorf("open worktree %q: its directory is gone: %w", dir, ErrNotFound)
	}
	w := r.worktreeAt(path, reg.gitDir)
	if w.Own {
		if err := relink(reg); err != nil {
			return nil, fmt.Errorf("open worktree %q: %w", dir, err)
		}
	}
	return w, nil
}

// Untouched reports whether commit is checked out and no file differs from it, including staged and untracked files.
// It writes nothing, so it works on a full disk. It returns false if git cannot tell, or if the index hides changes.
func (w *Worktree) Untouched(ctx context.Context, commit ID) bool {
	if head, err := w.repo.Head(ctx); err != nil || head != commit {
		return false
	}
	listed, err := w.git(ctx, "ls-files", "-v", "-z")
	hidden := func(entry string) bool { return !strings.HasPrefix(entry, "H ") } // assume-unchanged, skip-worktree
	if err != nil || slices.ContainsFunc(splitNUL(listed), hidden) {
		return false
	}
	changed, err := w.git(ctx, "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none")
	return err == nil && len(changed) == 0
}

// MendHead points HEAD to the branch ref again if HEAD is missing or names neither a ref nor a
// commit, as a killed git or an agent may leave it. Without a HEAD git does not recognise the
// worktree.
func (w *Worktree) MendHead(ref string) error {
	path := filepath.Join(w.GitDir, "HEAD")
	text, err := safefile.ReadFile(path)
	says := strings.TrimSpace(string(text))
	named := strings.HasPrefix(says, "ref: refs/") || strings.Trim(says, "0") != "" && w.repo.objects.ValidID(ID(says))
	if err != nil && !errors.Is(err, fs.ErrNotExist) || named {
		return err
	}
	return safefile.WriteFile(path, []byte("ref: "+ref+"\n"), 0o666)
}

// RemoveWorktree removes a worktree that AddWorktree made, with all its content, and
// its registration. Its branch stays. Nothing outside is touched: symbolic links
// are removed, not followed. A missing worktree is not an error.
func (r *Repo) RemoveWorktree(ctx context.Context, dir string) error {
	path, err := r.worktreeDir(dir)
	if err != nil {
		return err
	}
	reg, err := r.registration(path)
	known := err == nil
	if !r.inOwnPlace(path) && !(known && reg.own()) || isOthers(path, reg.gitDir) {
		if _, err := os.Lstat(path); !known && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("remove worktree %q: %w", dir, errNotOwn)
	}
	if err := removeTree(path); err != nil {
		return fmt.Errorf("remove worktree: %w", err)
	}
	if place := filepath.Dir(path); filepath.Base(place) == r.treesName() {
		_ = os.Remove(place) // if it is empty now
	}
	if !known {
		return nil
	}
	// git worktree prune would also forget the user's worktrees on a disk that is not mounted now.
	if err := r.steady(ctx, func() error { return removeTree(reg.gitDir) }); err != nil {
		return fmt.Errorf("remove worktree: %w", err)
	}
	return gitdir.RemoveIfThere(filepath.Join(r.StateDir(), shadowLock(reg.gitDir)+".lock"))
}

// OwnWorktrees returns the names of this tool's worktrees that begin with prefix. A name counts if it
// has a directory in one of the places, or a registration. So what a killed AddWorktree or
// RemoveWorktree left is included.
func (r *Repo) OwnWorktrees(prefix string) ([]string, error) {
	names := map[string]bool{}
	for _, place := range r.places() {
		dirs, err := os.ReadDir(place)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return nil, err
		}
		for _, entry := range dirs {
			dir := filepath.Join(place, entry.Name())
			reg, _ := r.registration(gitdir.RealDir(dir))
			names[entry.Name()] = !isOthers(dir, reg.gitDir)
		}
	}
	registered, err := r.registrations()
	if err != nil {
		return nil, err
	}
	for _, g := range registered {
		name := filepath.Base(g.dir)
		names[name] = names[name] || r.inOwnPlace(g.dir) || r.mine(g)
	}
	maps.DeleteFunc(names, func(name string, own bool) bool { return !own || !strings.HasPrefix(name, prefix) })
	return slices.Sorted(maps.Keys(names)), nil
}

// IsOwnWorktree reports whether the repository was opened in a worktree that
// AddWorktree made. Hooks ask this in order not to review the tool's own work.
func (r *Repo) IsOwnWorktree() bool { return r.ownWorktree(r.WorkTree, r.GitDir) }

func (r *Repo) ownWorktree(dir, gitDir string) bool {
	if gitDir == r.CommonDir {
		return false
	}
	return registration{gitDir: gitDir}.own() || dir != "" && r.inOwnPlace(dir)
}

// worktreeAt returns a worktree with its view of the repository.
func (r *Repo) worktreeAt(dir, gitDir string) *Worktree {
	view := *r.Place
	view.GitDir, view.WorkTree, view.Prefix, view.Bare = gitDir, dir, "", false
	if gitDir != r.GitDir {
		view.IndexFile = ""
	}
	w := &Worktree{Dir: dir, GitDir: gitDir, Own: r.ownWorktree(dir, gitDir), repo: r.at(view)}
	if w.Own {
		state, err := safefile.ReadFile(filepath.Join(gitDir, ownMarker))
		w.Half = err != nil || string(state) != ownMade
		_, w.placed = w.readPlaced()
	}
	return w
}

// ID identifies a working tree within its repository: "" is the main one, a linked
// one has git's name for it.
func (w *Worktree) ID() string {
	if w.GitDir == w.repo.CommonDir {
		return ""
	}
	return filepath.Base(w.GitDir)
}

// worktreeDir turns a name into an absolute path, with symbolic links resolved except in its last element.
func (r *Repo) worktreeDir(dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return gitdir.RealDir(filepath.Clean(dir)), nil
	}
	return gitdir.RealDir(r.WorktreeDir(dir)), isTreeName(dir)
}

// registration is git's record of a linked worktree.
type registration struct {
	gitDir string // CommonDir/worktrees/ID
	dir    string // top of the working tree
}

func (g registration) own() bool {
	_, err := os.Stat(filepath.Join(g.gitDir, ownMarker))
	return err == nil
}

// registration returns the record of the linked worktree at dir, a real path, or ErrNotFound.
func (r *Repo) registration(dir string) (registration, error) {
	all, err := r.registrations()
	if err != nil {
		return registration{}, err
	}
	if i := slices.IndexFunc(all, func(g registration) bool { return g.dir == dir }); i >= 0 {
		return all[i], nil
	}
	return registration{}, fmt.Errorf("%w: no worktree is registered there", ErrNotFound)
}

func (r *Repo) registrations() (all []registration, err error) {
	base := filepath.Join(r.CommonDir, "worktrees")
	entries, err := os.ReadDir(base)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		gitDir := filepath.Join(base, entry.Name())
		all = append(all, registration{gitDir, gitdir.RegisteredDir(gitDir)})
	}
	return all, nil
}

// listedWorktree is git's description of a worktree. It maps the first word of each line, such
// as "worktree" (its top), "branch" or "bare", to the rest of the line.
type listedWorktree map[string]string

func (l listedWorktree) has(word string) bool { _, ok := l[word]; return ok }

// listWorktrees lists all worktrees, the main one first.
func (r *Repo) listWorktrees(ctx context.Context) ([]listedWorktree, error) {
	var out []byte
	err := r.steady(ctx, func() (err error) {
		out, err = r.dir.Git(ctx, "worktree", "list", "--porcelain", "-z")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	var trees []listedWorktree
	for _, line := range splitNUL(out) {
		word, rest, _ := strings.Cut(line, " ")
		if word == "worktree" {
			trees = append(trees, listedWorktree{})
		}
		if len(trees) > 0 {
			trees[len(trees)-1][word] = rest
		}
	}
	return trees, nil
}

// removeTree is os.RemoveAll that can also remove directories without write
// permission, as in module caches.
func removeTree(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	filepath.WalkDir(path, func(p string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			os.Chmod(p, 0o700) // before its content is read; RemoveAll reports what stays unreadable
		}
		return nil
	})
	return os.RemoveAll(path)
}

// git runs git in the worktree, with its index.
func (w *Worktree) git(ctx context.Context, args ...string) ([]byte, error) {
	return w.repo.dir.Call(ctx, gitdir.Call{Args: args, Worktree: w.Dir})
}

// CheckedOutIn returns the working tree in which a branch is checked out, or "".
func (r *Repo) CheckedOutIn(ctx context.Context, ref string) (string, error) {
	trees, err := r.listWorktrees(ctx)
	for _, tree := range trees {
		if tree["branch"] == ref && !tree.has("bare") {
			return tree["worktree"], nil
		}
	}
	return "", err
}

// notCheckedOut returns ErrConflict if a branch is checked out somewhere.
func (r *Repo) notCheckedOut(ctx context.Context, ref string) error {
	dir, err := r.CheckedOutIn(ctx, ref)
	if err == nil && dir != "" {
		err = &CheckedOutError{Branch: headName(ref), Dir: dir}
	}
	return err
}

// CheckedOutError is an ErrConflict: a branch is not moved while it is checked out, because somebody
// may be working on it.
type CheckedOutError struct {
	Branch string
	Dir    string // where it is checked out
}

func (e *CheckedOutError) Error() string {
	return fmt.Sprintf("%s is checked out in %q: %v", e.Branch, e.Dir, ErrConflict)
}

// Unwrap returns ErrConflict.
func (e *CheckedOutError) Unwrap() error { return ErrConflict }

// shadowLock returns the name of the lock of a worktree's shadow.
func shadowLock(gitDir string) string { return "shadow-" + filepath.Base(gitDir) }

// filesLock returns the name of the lock that serialises operations on the files of a worktree.
func (w *Worktree) filesLock() string { return "revert-" + filepath.Base(w.GitDir) }

func (w *Worktree) indexPath() string { return filepath.Join(w.GitDir, "index") }

func headName(branch string) string {
	if branch == "" {
		return "HEAD"
	}
	return strings.TrimPrefix(branch, "refs/heads/")
}
