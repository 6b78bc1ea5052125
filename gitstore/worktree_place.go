package gitstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// ErrPlace reports a directory that cannot contain worktrees. The wrapping error says why.
var ErrPlace = errors.New("worktrees cannot be kept there")

// TreePlace is where worktrees with a name are created: in a directory for the repository below
// Root, which several repositories can share. They are not in the git directory, because agents
// refuse to edit there.
type TreePlace struct {
	Root string // absolute; "" means below StateDir
	Name string // the setting that gives Root; "" if nobody set it
	// gets the reason if worktrees are below StateDir after all; if Root was set, that is an error instead
	Tell func(line string)
}

// PutTrees sets where worktrees are created from now on. Existing ones stay.
func (r *Repo) PutTrees(place TreePlace) { r.trees.Store(&place) }

func (r *Repo) treePlace() TreePlace {
	if place := r.trees.Load(); place != nil {
		return *place
	}
	return TreePlace{}
}

// Top returns the top of the main working tree, or the directory of a bare repository.
func (r *Repo) Top(ctx context.Context) (string, error) {
	if r.GitDir == r.CommonDir && r.WorkTree != "" {
		return r.WorkTree, nil
	}
	all, err := r.listWorktrees(ctx)
	if err != nil || len(all) == 0 {
		return r.CommonDir, err
	}
	return all[0]["worktree"], nil
}

// WorktreeDir returns where this tool's worktree with a name is, also after git worktree move, or would be created.
func (r *Repo) WorktreeDir(name string) string {
	registered, _ := r.registrations() // on an error only the directories count
	var dirs []string
	for _, g := range registered {
		moved := filepath.Base(g.gitDir) == name && sameDir(linkedTo(g.dir), g.gitDir)
		if (filepath.Base(g.dir) == name || moved) && r.mine(g) {
			dirs = append(dirs, g.dir)
		}
	}
	for _, place := range r.places() {
		dirs = append(dirs, filepath.Join(place, name))
	}
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); err == nil {
			return gitdir.RealDir(dir)
		}
	}
	return filepath.Join(r.places()[0], name)
}

// mine reports whether AddWorktree made a registered worktree for this repository under a
// name. A copy of a repository also has the original's registrations.
func (r *Repo) mine(g registration) bool {
	return g.own() && g.dir != "" && (r.inOwnPlace(g.dir) || !gitdir.Below(g.dir, r.stateTrees())) &&
		!isOthers(g.dir, g.gitDir)
}

// isOthers reports whether the worktree at dir belongs to another git directory than gitDir, and
// that directory confirms it.
func isOthers(dir, gitDir string) bool {
	linked := linkedTo(dir)
	return linked != "" && !sameDir(linked, gitDir) && gitdir.RegisteredDir(linked) == gitdir.RealDir(dir)
}

// linkedTo returns the git directory that the .git file of a worktree names, or "".
func linkedTo(dir string) string {
	path := filepath.Join(dir, ".git")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<14 {
		return ""
	}
	data, err := safefile.ReadFile(path)
	gitDir, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	switch {
	case err != nil || !ok:
		return ""
	case filepath.IsAbs(gitDir):
		return filepath.Clean(gitDir)
	}
	return filepath.Join(dir, gitDir)
}

func sameDir(a, b string) bool {
	return a == b || gitdir.RealDir(a) == gitdir.RealDir(b)
}

// relink points the .git file of a worktree of this tool to its git directory again, after the
// repository was moved or somebody removed the file.
func relink(g registration) error {
	path := filepath.Join(g.dir, ".git")
	if info, err := os.Lstat(path); err == nil && info.IsDir() || sameDir(linkedTo(g.dir), g.gitDir) {
		return nil
	}
	return safefile.WriteFile(path, []byte("gitdir: "+g.gitDir+"\n"), 0o666) // does not follow a link
}

// places returns the directories that may contain this tool's worktrees. New ones are created in the
// first.
func (r *Repo) places() []string {
	root := r.treePlace().Root
	if root == "" {
		return []string{r.stateTrees()}
	}
	return []string{filepath.Join(root, r.treesName()), r.stateTrees()}
}

func (r *Repo) stateTrees() string { return filepath.Join(r.StateDir(), "worktrees") }

// treesName returns the name of a repository's directory below a TreePlace: a readable part and a
// hash, which distinguishes it from other repositories with that name.
func (r *Repo) treesName() string {
	name := strings.TrimSuffix(filepath.Base(r.CommonDir), ".git")
	if name == "" {
		name = filepath.Base(filepath.Dir(r.CommonDir))
	}
	plain := func(c rune) rune {
		if c < 128 && (c == '.' || c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
			return c
		}
		return '-'
	}
	name = strings.TrimLeft(strings.Map(plain, name), ".-")
	sum := sha256.Sum256([]byte(r.CommonDir))
	return strings.TrimLeft(name[:min(len(name), 40)]+"-"+hex.EncodeToString(sum[:6]), "-")
}

// inOwnPlace reports whether path is below one of the places.
func (r *Repo) inOwnPlace(path string) bool {
	for _, place := range r.places() {
		rel, err := filepath.Rel(gitdir.RealDir(place), path)
		if err == nil && rel != "." && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// newWorktreeDir returns where to create a worktree: dir itself, or, for a name, a path in a place,
// which it creates.
func (r *Repo) newWorktreeDir(ctx context.Context, dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir), os.MkdirAll(filepath.Dir(dir), 0o777)
	}
	if err := isTreeName(dir); err != nil {
		return "", err
	}
	trees := r.treePlace()
	err := r.makePlace(ctx, trees)
	switch {
	case err == nil:
		return filepath.Join(r.places()[0], dir), nil
	case trees.Name != "" || ctx.Err() != nil:
		return "", err
	case trees.Tell != nil:
		trees.Tell(fmt.Sprintf("worktrees are made below %s, where some agents do not edit: %v", r.StateDir(), err))
	}
	return filepath.Join(r.stateTrees(), dir), os.MkdirAll(r.stateTrees(), 0o777)
}

func isTreeName(name string) error {
	if name == "" || name != filepath.Base(name) || !filepath.IsLocal(name) || name == "." {
		return fmt.Errorf("worktree %q: not a name", name)
	}
	return nil
}

// makePlace creates the repository's directory below Root, accessible only to the user.
func (r *Repo) makePlace(ctx context.Context, trees TreePlace) error {
	if trees.Root == "" {
		return errors.New("neither HOME nor XDG_CACHE_HOME is set")
	}
	place := r.places()[0]
	info, err := os.Lstat(place)
	if errors.Is(err, fs.ErrNotExist) {
		if err = r.mayLie(ctx, place); err == nil {
			err = os.MkdirAll(place, 0o700)
		}
	} else if err == nil && !info.IsDir() {
		err = fmt.Errorf("%q is not a directory", place)
	}
	if err == nil {
		err = os.Chmod(place, 0o700) // fails if somebody else created it before
	}
	if err != nil && trees.Name != "" {
		err = fmt.Errorf("%s: %w: %w", trees.Name, ErrPlace, err)
	}
	return err
}

// mayLie returns an error for a directory in a git directory, or in a working tree of any
// repository in which git would list it as untracked.
func (r *Repo) mayLie(ctx context.Context, place string) error {
	there := place
	for {
		if info, err := os.Stat(there); err == nil && info.IsDir() {
			break
		}
		if there == filepath.Dir(there) {
			return nil
		}
		there = filepath.Dir(there)
	}
	real, err := filepath.EvalSymlinks(there)
	if err != nil {
		return nil // creating the directory will report it
	}
	outer, err := Open(ctx, real)
	if err != nil {
		return ctx.Err() // there is no repository around it, or git does not trust it
	}
	defer outer.Close()
	rest, _ := filepath.Rel(there, place)
	real = filepath.Join(real, rest)
	if outer.WorkTree == "" || gitdir.Below(real, outer.CommonDir) {
		return fmt.Errorf("%q is inside the git directory %q", place, outer.CommonDir)
	}
	if listed, err := outer.wouldCommit(ctx, real); err != nil || listed {
		return fmt.Errorf("%q is inside the working tree %q, and not ignored there", place, outer.WorkTree)
	}
	return nil
}

// LostTree is a directory of a worktree whose repository is no longer in its place.
type LostTree struct {
	Dir        string `json:"dir"`
	Repository string `json:"repository"` // the missing common git directory
	Empty      bool   `json:"-"`          // it contains only its .git file
}

// LostTrees returns the directories below the TreePlace's Root whose repository is gone: it was
// removed, or it was moved and not used since.
func (r *Repo) LostTrees() ([]LostTree, error) {
	registered, err := r.registrations()
	known := each.SetOf(registered, func(g registration) string { return g.dir })
	root := r.treePlace().Root
	dirs, _ := filepath.Glob(filepath.Join(gitdir.GlobQuote(root), "*", "*")) // the pattern is always valid
	lost := []LostTree{}
	for _, dir := range dirs {
		linked := linkedTo(dir)
		if root == "" || linked == "" || known[gitdir.RealDir(dir)] {
			continue
		}
		common := filepath.Dir(filepath.Dir(linked))
		if _, err := os.Lstat(common); errors.Is(err, fs.ErrNotExist) {
			entries, err := os.ReadDir(dir)
			lost = append(lost, LostTree{Dir: dir, Repository: common, Empty: err == nil && len(entries) == 1})
		}
	}
	return lost, err
}

// DropLostTree removes one of LostTrees.
func (r *Repo) DropLostTree(lost LostTree) error {
	if err := removeTree(lost.Dir); err != nil {
		return fmt.Errorf("remove worktree: %w", err)
	}
	_ = os.Remove(filepath.Dir(lost.Dir)) // succeeds only if it was the last one there
	return nil
}

// RelinkWorktrees links this tool's worktrees to this repository again after it was moved, and
// returns their directories.
func (r *Repo) RelinkWorktrees() (dirs []string, err error) {
	registered, err := r.registrations()
	for _, g := range registered {
		if _, statErr := os.Lstat(g.dir); statErr != nil || !r.mine(g) || sameDir(linkedTo(g.dir), g.gitDir) {
			continue
		}
		if err := relink(g); err != nil {
			return dirs, fmt.Errorf("repair worktree: %w", err)
		}
		dirs = append(dirs, g.dir)
	}
	return dirs, err
}
