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
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Resolve returns the commit of a revision, such as a branch, "HEAD~2" or an abbreviated id.
// It returns ErrNotFound, with the revision as given, if there is none, and for a revision that
// begins with "-". HEAD needs no git process, and is ErrUnborn before the first commit.
func (s *Store) Resolve(ctx context.Context, rev string) (odb.ID, error) {
	if rev == "HEAD" {
		return s.Head(ctx)
	}
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\x00\n") {
		return "", fmt.Errorf("revision %q: %w", rev, gitdir.ErrNoRevision)
	}
	return s.askRev(ctx, rev)
}

// askRev asks git which commit rev is.
func (s *Store) askRev(ctx context.Context, rev string) (odb.ID, error) {
	out, err := s.dir.GitLine(ctx, "rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	if errors.As(err, new(*gitdir.GitError)) && strings.ContainsAny(rev, "~^") && s.objects.Shallow() {
		return "", odb.NewMissing(fmt.Sprintf("revision %q is not in this clone, which is shallow", rev),
			"git fetch --unshallow", gitdir.ErrNotFound, err)
	}
	if errors.As(err, new(*gitdir.GitError)) {
		return "", fmt.Errorf("revision %q: %w", rev, gitdir.ErrNoRevision)
	}
	if err != nil {
		return "", err
	}
	if !s.objects.ValidID(odb.ID(out)) {
		return "", fmt.Errorf("revision %q: git answered %q", rev, out)
	}
	return odb.ID(out), nil
}

// Head returns the commit that is checked out, or ErrUnborn before the first one.
func (s *Store) Head(ctx context.Context) (odb.ID, error) {
	branch, id, err := s.readHead(ctx)
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	if branch != "" {
		id, err = s.Ref(ctx, branch)
	}
	if err != nil || id != "" {
		return id, err
	}
	return "", gitdir.ErrUnborn
}

// Branch returns the ref that HEAD points to, such as refs/heads/main, even before its
// first commit. It returns "" if HEAD is detached.
func (s *Store) Branch(ctx context.Context) (string, error) {
	branch, _, err := s.readHead(ctx)
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	return branch, nil
}

// readHead returns the ref that HEAD names, or the commit of a detached HEAD. It reads the file,
// because the hook needs a fast answer, and asks git if the file has an unexpected format.
func (s *Store) readHead(ctx context.Context) (branch string, id odb.ID, err error) {
	path := filepath.Join(s.dir.GitDir, "HEAD")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || s.dir.Reftable {
		return s.askHead(ctx)
	}
	text, err := safefile.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	value := strings.TrimSpace(string(text))
	if ref, ok := strings.CutPrefix(value, "ref: "); ok && strings.HasPrefix(ref, "refs/") {
		return ref, "", nil
	}
	if id := odb.ID(value); s.objects.ValidID(id) && id != s.objects.ZeroID() { // a killed git may leave the null id
		return "", id, nil
	}
	return s.askHead(ctx)
}

// askHead is readHead by git.
func (s *Store) askHead(ctx context.Context) (branch string, id odb.ID, err error) {
	branch, err = s.dir.GitLine(ctx, "symbolic-ref", "-q", "HEAD")
	if err == nil {
		return branch, "", nil
	}
	id, err = s.askRev(ctx, "HEAD")
	return "", id, err
}

// Blob reads a file of a commit or tree at a slash-separated path. It returns ErrNotFound
// if there is nothing, or something other than a file or a symbolic link.
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

// TreeOf returns the tree of a commit, and the id of a tree unchanged.
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
