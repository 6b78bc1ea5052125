package refdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Refs are read from git's files, without a process, if the repository stores them as files.
// On reftable, for refs of one worktree, and for a file in an unexpected format, git is asked.

var (
	errSymbolic = errors.New("symbolic ref")
	errNotPlain = errors.New("ref file is not plain") // only git can interpret it

	// ErrRefName reports a name that git does not allow for a ref.
	ErrRefName = errors.New("bad ref name")
)

// maxSymbolic is the longest chain of symbolic refs that is followed, as in git.
const maxSymbolic = 5

// Refs returns the refs below prefixes such as "refs/runr/log/" by full name. It leaves out
// names that break git's rules, and lock files.
func (s *Store) Refs(ctx context.Context, prefixes ...string) (map[string]odb.ID, error) {
	refs, err := s.plainRefs(ctx, asDirs(prefixes))
	if err != nil {
		return nil, fmt.Errorf("read refs below %s: %w", strings.Join(prefixes, " and "), err)
	}
	return refs, nil
}

// asDirs returns prefixes with a slash at the end.
func asDirs(prefixes []string) []string {
	return each.Of(prefixes, func(prefix string) string { return strings.TrimSuffix(prefix, "/") + "/" })
}

// plainRefs reads the refs below directories. If one is symbolic or has an unexpected format, git reads them all.
func (s *Store) plainRefs(ctx context.Context, dirs []string) (map[string]odb.ID, error) {
	forGit := func(dir string) bool { return !s.nativeRefs(dir) || strings.Count(dir, "/") < 2 }
	if slices.ContainsFunc(dirs, forGit) {
		return s.gitRefs(ctx, dirs...)
	}
	says, err := s.Sayings(ctx, dirs...)
	refs := make(map[string]odb.ID, len(says))
	for name, value := range says {
		switch {
		case CheckRefName(name) != nil:
		case !odb.IsHex(value):
			if err := safefile.CheckRegular(s.Path(name)); err != nil { // git would wait for it
				return nil, err
			}
			return s.gitRefs(ctx, dirs...)
		default:
			refs[name] = odb.ID(value)
		}
	}
	return refs, err
}

// Ref returns the object that a ref points to, or "" if there is no such ref. It follows
// symbolic refs.
func (s *Store) Ref(ctx context.Context, name string) (odb.ID, error) {
	if err := CheckRefName(name); err != nil {
		return "", err
	}
	for range maxSymbolic {
		if !s.nativeRefs(name) {
			return s.gitRef(ctx, name)
		}
		id, target, err := s.readRef(name)
		if errors.Is(err, errNotPlain) {
			id, gitErr := s.gitRef(ctx, name)
			if gitErr == nil && id == "" { // a broken ref differs from a missing one
				gitErr = fmt.Errorf("%w: %s is not a commit", gitdir.ErrBrokenRef, name)
			}
			return id, gitErr
		}
		if err != nil || target == "" {
			return id, err
		}
		if name = target; CheckRefName(name) != nil {
			return s.gitRef(ctx, name)
		}
	}
	return "", fmt.Errorf("ref %s: too many symbolic refs", name)
}

// nativeRefs reports whether refs of this name are files in the common directory.
func (s *Store) nativeRefs(name string) bool {
	return !s.dir.Reftable && strings.HasPrefix(name, "refs/") &&
		!beginsWith(name, "refs/worktree/", "refs/bisect/", "refs/rewritten/")
}

// readRef reads a ref from its file or from packed-refs. It returns an id, or the target of a
// symbolic ref, or neither if there is no such ref.
func (s *Store) readRef(name string) (id odb.ID, target string, err error) {
	id, target, err = s.readLooseRef(name)
	if err != nil || id != "" || target != "" {
		return id, target, err
	}
	id, err = s.packedRef(name)
	return id, "", err
}

func (s *Store) readLooseRef(name string) (id odb.ID, target string, err error) {
	text, err := safefile.ReadFile(s.Path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return "", "", nil
	case err != nil:
		return "", "", fmt.Errorf("read ref %s: %w", name, err)
	}
	value := strings.TrimRight(string(text), " \t\r\n")
	if target, ok := strings.CutPrefix(value, "ref:"); ok {
		return "", strings.TrimSpace(target), nil
	}
	valid := s.objects.ValidID(odb.ID(value))
	if !valid && name == notesRef {
		return "", "", nil
	}
	if !valid {
		return "", "", fmt.Errorf("ref %s: %w", name, errNotPlain)
	}
	return odb.ID(value), "", nil
}

// Sayings returns the content of the refs below prefixes, by name: an id, "ref: REF" for a symbolic ref, or "?" for
// any other content. It runs no git if refs are files.
func (s *Store) Sayings(ctx context.Context, prefixes ...string) (map[string]string, error) {
	dirs, says := asDirs(prefixes), map[string]string{}
	if slices.ContainsFunc(dirs, func(dir string) bool { return !s.nativeRefs(dir) }) {
		args := []string{"for-each-ref", "--format=%(refname) %(if)%(symref)%(then)ref: %(symref)%(else)%(objectname)%(end)",
			"--"}
		out, err := s.dir.Git(ctx, append(args, dirs...)...)
		for line := range strings.Lines(string(out)) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			says[name] = value
		}
		return says, err
	}
	loose := map[string]string{}
	for _, dir := range dirs {
		if err := s.readLooseRefs(dir, loose); err != nil {
			return says, err
		}
	}
	// Read after the loose refs: packing moves a ref from loose to packed.
	err := s.scanPacked(func(name string, id odb.ID) bool { says[name] = string(id); return true }, dirs...)
	maps.Copy(says, loose)
	return says, err
}

// readLooseRefs adds the loose refs below a directory to loose, with their content as Sayings returns it.
func (s *Store) readLooseRefs(dir string, loose map[string]string) error {
	root := s.Path(dir)
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil // there is none, or gc has just removed the empty directory
		}
		if err != nil || entry.IsDir() {
			return err
		}
		name := dir + filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if CheckRefName(name) != nil { // such as a .lock file
			return nil
		}
		id, target, err := s.readLooseRef(name)
		switch {
		case errors.Is(err, errNotPlain), errors.Is(err, safefile.ErrIrregular):
			loose[name] = "?"
			return nil
		case target != "":
			loose[name] = "ref: " + target
		case id != "":
			loose[name] = string(id)
		}
		return err
	})
}

// Path returns the path of a loose ref's file, which need not exist.
func (s *Store) Path(name string) string {
	return filepath.Join(s.dir.CommonDir, filepath.FromSlash(name))
}

// gitRefs asks git for the named refs and the refs below them.
func (s *Store) gitRefs(ctx context.Context, names ...string) (map[string]odb.ID, error) {
	out, err := s.dir.Git(ctx, append([]string{"for-each-ref", "--format=%(objectname) %(refname)", "--"}, names...)...)
	refs := map[string]odb.ID{}
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if s.objects.ValidID(odb.ID(id)) && CheckRefName(name) == nil {
			refs[name] = odb.ID(id)
		}
	}
	return refs, err
}

func (s *Store) gitRef(ctx context.Context, name string) (odb.ID, error) {
	refs, err := s.gitRefs(ctx, name)
	if err != nil {
		return "", fmt.Errorf("read ref %s: %w", name, err)
	}
	return refs[name], nil
}

// CheckRefName returns ErrRefName if a full ref name breaks git's rules.
func CheckRefName(name string) error {
	bad := fmt.Errorf("%w %q", ErrRefName, name)
	if !strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, ".") ||
		strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsAny(name, " ~^:?*[\\\x7f") ||
		strings.ContainsFunc(name, func(c rune) bool { return c < ' ' }) {
		return bad
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return bad
		}
	}
	return nil
}
