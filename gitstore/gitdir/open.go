package gitdir

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
	"sync"
)

// Open finds the repository of dir; see gitstore.Open.
func Open(ctx context.Context, dir string) (*Dir, error) {
	repo, err := OpenIn(ctx, Call{Dir: dir, Bare: true})
	if err == nil && os.Getenv("GIT_DIR") != "" && !repo.isOf(dir) {
		repo, err = OpenIn(ctx, Call{Dir: dir, Bare: true, Unlocated: true})
	}
	if err != nil {
		if repo = openAltered(ctx, dir); repo == nil {
			return nil, err
		}
	}
	repo.IndexFile = repo.namedIndex(os.Getenv("GIT_INDEX_FILE"))
	return repo, nil
}

// openAltered opens a repository that git cannot open any more because of a change that was made while an agent
// worked, such as core.worktree. The result is enough to show the change and put it back. It returns nil if no change
// was recorded.
func openAltered(ctx context.Context, dir string) *Dir {
	c := Call{Dir: dir, Bare: true}
	place := look(c)
	if place == nil {
		return nil
	}
	if _, err := os.Lstat(place.AlterationsFile()); err != nil {
		return nil
	}
	c.Args = []string{"config", "--list", "-z", "--show-scope"}
	out, _ := c.Run(ctx) // an unreadable configuration counts as empty
	return newDir(place, parseListing(string(out)))
}

// OpenIn is Open for the directory of a call of git. It avoids git processes where it can, because the
// hook needs it.
func OpenIn(ctx context.Context, c Call) (*Dir, error) {
	place := look(c)
	if place != nil {
		if config, ok := readListing(place, os.LookupEnv); ok && config.plain() {
			return newDir(place, config), nil
		}
	}
	list := c
	list.Args = []string{"config", "--list", "-z", "--show-scope"}
	var repo *Dir
	var err error
	var discovered sync.WaitGroup
	if place == nil {
		discovered.Go(func() { repo, err = discover(ctx, c) }) // in parallel
	}
	out, configErr := list.Run(ctx)
	discovered.Wait()
	config := parseListing(string(out))
	if place != nil && configErr == nil && config.plain() {
		return newDir(place, config), nil
	}
	if place != nil {
		repo, err = discover(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	if configErr != nil {
		return nil, fmt.Errorf("read git configuration: %w", configErr)
	}
	return newDir(repo.Place, config), nil
}

func newDir(place *Place, config listing) *Dir {
	place.Config = config.all
	place.Reftable = place.Config.Get("extensions.refstorage") == "reftable"
	return &Dir{Gate: new(Gate), Place: place, turns: new(turns)}
}

// discover asks git where the repository of c's directory is.
func discover(ctx context.Context, c Call) (*Dir, error) {
	c.Args = []string{
		"rev-parse", "--path-format=absolute", "--is-bare-repository", "--show-object-format",
		"--git-dir", "--git-common-dir", "--show-prefix", "--show-toplevel"}
	out, err := c.Run(ctx)
	fields := strings.Split(string(out), "\n")
	var exit *GitError
	noTree := errors.As(err, &exit) && len(fields) >= 6 // git answered everything except --show-toplevel
	if err != nil && !noTree {
		return nil, notRepository(c.Dir, err)
	}
	if len(fields) < 6 {
		return nil, fmt.Errorf("find repository of %q: git answered %q", c.Dir, out)
	}
	if len(fields) > 7 || noTree && len(fields) > 6 { // a path contains a newline
		if fields, err = discoverEach(ctx, c, fields[:2], noTree); err != nil {
			return nil, fmt.Errorf("find repository of %q: %w", c.Dir, err)
		}
	}
	repo := &Dir{Place: &Place{Bare: fields[0] == "true", Format: fields[1], GitDir: fields[2], CommonDir: fields[3],
		Prefix: fields[4]}}
	if !noTree {
		repo.WorkTree = fields[5]
	}
	return repo, repo.resolveLinks()
}

// discoverEach asks git for one path at a time and appends the paths to fields.
func discoverEach(ctx context.Context, c Call, fields []string, noTree bool) ([]string, error) {
	options := []string{"--git-dir", "--git-common-dir", "--show-prefix", "--show-toplevel"}
	if noTree {
		options = options[:3]
	}
	for _, option := range options {
		c.Args = []string{"rev-parse", "--path-format=absolute", option}
		out, err := c.Run(ctx)
		if err != nil {
			return nil, err
		}
		fields = append(fields, strings.TrimSuffix(string(out), "\n"))
	}
	return fields, nil
}

// isOf reports whether the repository that GIT_DIR names is the one of dir. It is not if a hook,
// whose GIT_INDEX_FILE is in that git directory, changed to a directory outside of the working
// tree: git would treat that directory as the working tree. If dir is inside the working tree, git
// would treat dir as its top; isOf corrects WorkTree and Prefix.
func (d *Dir) isOf(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || d.WorkTree == "" {
		return true
	}
	top := d.ownTree()
	if rel, err := filepath.Rel(top, real); err == nil && filepath.IsLocal(rel) {
		d.WorkTree, d.Prefix = top, strings.TrimPrefix(filepath.ToSlash(rel)+"/", "./")
		return true
	}
	return !Below(RealDir(d.fromTop(os.Getenv("GIT_INDEX_FILE"))), d.GitDir)
}

// ownTree returns the working tree for which the git directory was made, unless the environment or
// the configuration names another one.
func (d *Dir) ownTree() string {
	switch linked := RegisteredDir(d.GitDir); {
	case os.Getenv("GIT_WORK_TREE") != "" || d.Config.Get("core.worktree") != "":
		return d.WorkTree
	case linked != "":
		return linked
	case filepath.Base(d.GitDir) == ".git":
		return filepath.Dir(d.GitDir)
	}
	return d.WorkTree
}

// namedIndex returns the index file that GIT_INDEX_FILE names, from its value. It returns "" for
// our own index and for one in the git directory of another repository.
func (d *Dir) namedIndex(value string) string {
	if value == "" {
		return ""
	}
	path := RealDir(d.fromTop(value))
	dir := filepath.Dir(path)
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil && dir != d.GitDir ||
		path == filepath.Join(d.GitDir, "index") {
		return ""
	}
	return path
}

// fromTop resolves a path from one of git's variables, which is relative to the top of the working tree.
func (d *Dir) fromTop(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(cmp.Or(d.WorkTree, d.GitDir), path)
}

// resolveLinks resolves symbolic links, so that the paths do not depend on how the repository was reached.
func (d *Dir) resolveLinks() error {
	for _, p := range []*string{&d.GitDir, &d.CommonDir, &d.WorkTree} {
		if *p == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(*p)
		if err != nil {
			return fmt.Errorf("find repository: %w: %w", ErrNotFound, err)
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
		return fmt.Errorf("%w: %q is not a directory", ErrNotRepository, dir)
	}
	if !errors.As(err, &exit) {
		return fmt.Errorf("run git: %w", err)
	}
	if strings.Contains(exit.Stderr, "dubious ownership") {
		return fmt.Errorf("%w: git refuses %q, another user owns it: git config --global --add safe.directory %q",
			ErrNotRepository, dir, dir)
	}
	said, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(exit.Stderr), "fatal: "), "\n")
	if strings.HasPrefix(said, "not a git repository") {
		return fmt.Errorf("%w: %q", ErrNotRepository, dir)
	}
	return fmt.Errorf("%w: %s", ErrUnopened, said)
}
