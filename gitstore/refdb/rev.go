package refdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Resolve gives the commit that a revision means, such as a branch, "HEAD~2" or
// an abbreviated id. It is ErrNotFound, with the revision as it was given, when
// there is none; a revision that begins with "-" is refused. HEAD needs no git
// process, and is ErrUnborn before the first commit.
func (s *Store) Resolve(ctx context.Context, rev string) (odb.ID, error) {
	if rev == "HEAD" {
		return s.Head(ctx)
	}
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\x00\n") {
		return "", fmt.Errorf("revision %q: %w", rev, gitdir.ErrNotFound)
	}
	return s.askRev(ctx, rev)
}

// askRev has git say which commit rev is.
func (s *Store) askRev(ctx context.Context, rev string) (odb.ID, error) {
	out, err := s.dir.GitLine(ctx, "rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	var exit *gitdir.GitError
	if errors.As(err, &exit) && strings.ContainsAny(rev, "~^") && s.objects.Shallow() {
		return "", odb.NewMissing(fmt.Sprintf("revision %q is not in this clone, which is shallow", rev), "git fetch --unshallow", gitdir.ErrNotFound, err)
	}
	if errors.As(err, &exit) {
		return "", fmt.Errorf("revision %q: %w", rev, gitdir.ErrNotFound)
	}
	if err != nil {
		return "", err
	}
	if !s.objects.ValidID(odb.ID(out)) {
		return "", fmt.Errorf("revision %q: git answered %q", rev, out)
	}
	return odb.ID(out), nil
}

// Head is the commit that is checked out; ErrUnborn before the first one.
func (s *Store) Head(ctx context.Context) (odb.ID, error) {
	branch, id, err := s.readHead(ctx)
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	if branch != "" {
		id, err = s.Ref(ctx, branch)
	}
	if err == nil && id == "" {
		err = gitdir.ErrUnborn
	}
	return id, err
}

// Branch is the ref that HEAD stands on, such as refs/heads/main, also before its
// first commit; "" when HEAD is detached.
func (s *Store) Branch(ctx context.Context) (string, error) {
	branch, _, err := s.readHead(ctx)
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	return branch, nil
}

// readHead gives the ref that HEAD names, or else the commit. Both are read from
// the file, for this is on the hook's path; git is asked when that is not plain.
func (s *Store) readHead(ctx context.Context) (branch string, id odb.ID, err error) {
	path := filepath.Join(s.dir.GitDir, "HEAD")
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() && !s.dir.Reftable {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", "", err
		}
		value := strings.TrimSpace(string(text))
		if ref, ok := strings.CutPrefix(value, "ref: "); ok && strings.HasPrefix(ref, "refs/") {
			return ref, "", nil
		}
		if id := odb.ID(value); s.objects.ValidID(id) && id != s.objects.ZeroID() { // the null id is what a killed git leaves
			return "", id, nil
		}
	}
	branch, err = s.dir.GitLine(ctx, "symbolic-ref", "-q", "HEAD")
	if err == nil {
		return branch, "", nil
	}
	id, err = s.askRev(ctx, "HEAD")
	return "", id, err
}

// Blob reads a file of a commit or tree at a slash-separated path. ErrNotFound
// when there is none, or something else than a file or symbolic link.
func (s *Store) Blob(ctx context.Context, treeish odb.ID, path string) ([]byte, error) {
	tree, err := s.TreeOf(ctx, treeish)
	if err != nil {
		return nil, err
	}
	entry, err := s.objects.FindPath(ctx, tree, path)
	if err == nil && (entry.IsTree() || entry.Mode == odb.ModeCommit) {
		err = gitdir.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read %q of %s: %w", path, treeish.Short(), err)
	}
	return s.objects.ReadKind(ctx, entry.ID, "blob")
}

// TreeOf gives the tree of a commit, and a tree itself.
func (s *Store) TreeOf(ctx context.Context, treeish odb.ID) (odb.ID, error) {
	kind, data, err := s.objects.Read(ctx, treeish)
	if err != nil || kind == "tree" {
		return treeish, err
	}
	if kind != "commit" {
		return "", fmt.Errorf("object %s is a %s: %w", treeish, kind, gitdir.ErrNotFound)
	}
	commit, err := odb.DecodeCommit(data)
	return commit.Tree, err
}
