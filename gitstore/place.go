package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Repo is an open repository. It keeps the pack files that it has read from open
// until Close. Its methods may be called from several goroutines.
type Repo struct {
	GitDir    string // of this worktree, absolute
	CommonDir string // shared by all worktrees, absolute; GitDir in the main one
	WorkTree  string // top of the checkout, absolute; "" when bare or inside the git directory
	Prefix    string // where the command was started, below WorkTree: "" or "dir/sub/"
	IndexFile string // the index that GIT_INDEX_FILE names, absolute; "" when it is GitDir's own
	Bare      bool
	Config    Config // as it was when the repository was opened
	format    string // sha1 or sha256
	reftable  bool
	native    *nativeStore
	writer    *writerID
}

// Open finds the repository of dir as git itself does (so that GIT_DIR, ceilings,
// safe.directory, worktrees, submodules and symbolic links count) and reads its
// configuration. It is ErrNotRepository when git finds none or refuses it; the
// message is git's.
//
// In a hook git's variables say which repository, working tree and index are meant.
// They count as far as they are about dir: a hook that goes to another repository
// gets that one.
func Open(ctx context.Context, dir string) (*Repo, error) {
	repo, err := openIn(ctx, gitCall{dir: dir, bare: true})
	if err == nil && os.Getenv("GIT_DIR") != "" && !repo.isOf(dir) {
		repo, err = openIn(ctx, gitCall{dir: dir, bare: true, unlocated: true})
	}
	if err != nil {
		return nil, err
	}
	repo.IndexFile = repo.namedIndex(os.Getenv("GIT_INDEX_FILE"))
	return repo, nil
}

func openIn(ctx context.Context, c gitCall) (*Repo, error) {
	config := make(chan configAnswer, 1)
	go func() { config <- readConfig(ctx, c) }() // the two processes run side by side: it is on the hook's path
	repo, err := discover(ctx, c)
	answer := <-config
	if err != nil {
		return nil, err
	}
	if answer.err != nil {
		return nil, fmt.Errorf("read git configuration: %w", answer.err)
	}
	repo.Config = answer.config
	repo.reftable = repo.Config.Get("extensions.refstorage") == "reftable"
	repo.native, repo.writer = newNativeStore(repo), new(writerID)
	return repo, nil
}

// discover asks git where the repository of c's directory is.
func discover(ctx context.Context, c gitCall) (*Repo, error) {
	c.args = []string{
		"rev-parse", "--path-format=absolute", "--is-bare-repository", "--show-object-format",
		"--git-dir", "--git-common-dir", "--show-prefix", "--show-toplevel"}
	out, err := c.run(ctx)
	fields := strings.Split(string(out), "\n")
	var exit *GitError
	noTree := errors.As(err, &exit) && len(fields) >= 6 // all answered but --show-toplevel
	if err != nil && !noTree {
		return nil, notRepository(c.dir, err)
	}
	if len(fields) < 6 {
		return nil, fmt.Errorf("find repository of %q: git answered %q", c.dir, out)
	}
	if len(fields) > 7 || noTree && len(fields) > 6 { // there is a line end in a path
		if fields, err = discoverEach(ctx, c, fields[:2], noTree); err != nil {
			return nil, fmt.Errorf("find repository of %q: %w", c.dir, err)
		}
	}
	repo := &Repo{Bare: fields[0] == "true", format: fields[1], GitDir: fields[2], CommonDir: fields[3], Prefix: fields[4]}
	if !noTree {
		repo.WorkTree = fields[5]
	}
	return repo, repo.resolveLinks()
}

// discoverEach asks git for one path at a time, and adds the paths to fields.
func discoverEach(ctx context.Context, c gitCall, fields []string, noTree bool) ([]string, error) {
	options := []string{"--git-dir", "--git-common-dir", "--show-prefix", "--show-toplevel"}
	if noTree {
		options = options[:3]
	}
	for _, option := range options {
		c.args = []string{"rev-parse", "--path-format=absolute", option}
		out, err := c.run(ctx)
		if err != nil {
			return nil, err
		}
		fields = append(fields, strings.TrimSuffix(string(out), "\n"))
	}
	return fields, nil
}

// isOf reports whether a repository that GIT_DIR names is the one of dir. It is not
// where a hook, whose GIT_INDEX_FILE lies in that git directory, went to a place
// outside the working tree: git would take that place for the working tree. Below the
// working tree it takes the place for its top, which is mended here.
func (r *Repo) isOf(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || r.WorkTree == "" {
		return true
	}
	top := r.ownTree()
	if rel, err := filepath.Rel(top, real); err == nil && filepath.IsLocal(rel) {
		r.WorkTree, r.Prefix = top, strings.TrimPrefix(filepath.ToSlash(rel)+"/", "./")
		return true
	}
	return !below(realDir(r.fromTop(os.Getenv("GIT_INDEX_FILE"))), r.GitDir)
}

// ownTree is the working tree that the git directory was made for, unless something
// says that it is another one.
func (r *Repo) ownTree() string {
	switch linked := registeredDir(r.GitDir); {
	case os.Getenv("GIT_WORK_TREE") != "" || r.Config.Get("core.worktree") != "":
		return r.WorkTree
	case linked != "":
		return linked
	case filepath.Base(r.GitDir) == ".git":
		return filepath.Dir(r.GitDir)
	}
	return r.WorkTree
}

// namedIndex is the index file that value, of GIT_INDEX_FILE, names; "" where that is
// our own, or one that lies in the git directory of another repository.
func (r *Repo) namedIndex(value string) string {
	if value == "" {
		return ""
	}
	path := realDir(r.fromTop(value))
	dir := filepath.Dir(path)
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil && dir != r.GitDir || path == filepath.Join(r.GitDir, "index") {
		return ""
	}
	return path
}

// fromTop is a path of a variable of git's, which counts from the top of the working tree.
func (r *Repo) fromTop(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(cmp.Or(r.WorkTree, r.GitDir), path)
}

// resolveLinks makes the paths the same however the repository was reached.
func (r *Repo) resolveLinks() error {
	for _, p := range []*string{&r.GitDir, &r.CommonDir, &r.WorkTree} {
		if *p == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(*p)
		if err != nil {
			return fmt.Errorf("find repository: %w", err)
		}
		*p = real
	}
	return nil
}

func notRepository(dir string, err error) error {
	var exit *GitError
	if errors.Is(err, exec.ErrNotFound) {
		return ErrNoGit
	}
	if info, statErr := os.Stat(dir); errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("%w: %q does not exist", ErrNotRepository, dir)
	} else if statErr != nil {
		return fmt.Errorf("%w: %w", ErrNotRepository, statErr)
	} else if !info.IsDir() {
		return fmt.Errorf("%w: %q is no directory", ErrNotRepository, dir)
	}
	if !errors.As(err, &exit) {
		return fmt.Errorf("run git: %w", err)
	}
	if strings.Contains(exit.Stderr, "dubious ownership") {
		return fmt.Errorf("%w: git refuses %q, another user owns it", ErrNotRepository, dir)
	}
	said, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(exit.Stderr), "fatal: "), "\n")
	if strings.HasPrefix(said, "not a git repository") {
		return fmt.Errorf("%w: %q", ErrNotRepository, dir)
	}
	return fmt.Errorf("%w: %s", ErrNotRepository, said)
}

// StateDir is where the tool keeps files of its own: caches, transcripts, locks.
// Nothing in it is the truth about an event. It is shared by all worktrees.
func (r *Repo) StateDir() string { return filepath.Join(r.CommonDir, "runr") }

// SHA256 reports whether the repository names its objects by SHA-256.
func (r *Repo) SHA256() bool { return r.format == "sha256" }
