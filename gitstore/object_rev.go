package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Resolve gives the commit that a revision means, such as a branch, "HEAD~2" or
// an abbreviated id. It is ErrNotFound, with the revision as it was given, when
// there is none; a revision that begins with "-" is refused. HEAD needs no git
// process, and is ErrUnborn before the first commit.
func (r *Repo) Resolve(ctx context.Context, rev string) (ID, error) {
	if rev == "HEAD" {
		return r.Head(ctx)
	}
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\x00\n") {
		return "", fmt.Errorf("revision %q: %w", rev, ErrNotFound)
	}
	out, err := r.gitLine(ctx, "rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	var exit *GitError
	if errors.As(err, &exit) && strings.ContainsAny(rev, "~^") && r.shallow() {
		return "", &MissingError{fmt.Sprintf("revision %q is not in this clone, which is shallow", rev), "git fetch --unshallow", ErrNotFound, err}
	}
	if errors.As(err, &exit) {
		return "", fmt.Errorf("revision %q: %w", rev, ErrNotFound)
	}
	if err != nil {
		return "", err
	}
	if !r.validID(ID(out)) {
		return "", fmt.Errorf("revision %q: git answered %q", rev, out)
	}
	return ID(out), nil
}

// Head is the commit that is checked out; ErrUnborn before the first one.
func (r *Repo) Head(ctx context.Context) (ID, error) {
	branch, id, err := r.readHead(ctx)
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	if branch != "" {
		id, err = r.Ref(ctx, branch)
	}
	if err == nil && id == "" {
		err = ErrUnborn
	}
	return id, err
}

// Branch is the ref that HEAD stands on, such as refs/heads/main, also before its
// first commit; "" when HEAD is detached.
func (r *Repo) Branch(ctx context.Context) (string, error) {
	branch, _, err := r.readHead(ctx)
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	return branch, nil
}

// readHead gives the ref that HEAD names, or else the commit. Both are read from
// the file, for this is on the hook's path; git is asked when that is not plain.
func (r *Repo) readHead(ctx context.Context) (branch string, id ID, err error) {
	path := filepath.Join(r.GitDir, "HEAD")
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() && !r.reftable {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", "", err
		}
		value := strings.TrimSpace(string(text))
		if ref, ok := strings.CutPrefix(value, "ref: "); ok && strings.HasPrefix(ref, "refs/") {
			return ref, "", nil
		}
		if r.validID(ID(value)) {
			return "", ID(value), nil
		}
	}
	branch, err = r.gitLine(ctx, "symbolic-ref", "-q", "HEAD")
	if err == nil {
		return branch, "", nil
	}
	id, err = r.Resolve(ctx, "HEAD")
	return "", id, err
}

// Blob reads a file of a commit or tree at a slash-separated path. ErrNotFound
// when there is none, or something else than a file or symbolic link.
func (r *Repo) Blob(ctx context.Context, treeish ID, path string) ([]byte, error) {
	tree, err := r.treeOf(ctx, treeish)
	if err != nil {
		return nil, err
	}
	entry, err := r.findPath(ctx, tree, path)
	if err == nil && (entry.isTree() || entry.Mode == ModeCommit) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read %q of %s: %w", path, treeish.Short(), err)
	}
	return r.readKind(ctx, entry.ID, "blob")
}

// treeOf gives the tree of a commit, and a tree itself.
func (r *Repo) treeOf(ctx context.Context, treeish ID) (ID, error) {
	kind, data, err := r.readObject(ctx, treeish)
	if err != nil || kind == "tree" {
		return treeish, err
	}
	if kind != "commit" {
		return "", fmt.Errorf("object %s is a %s: %w", treeish, kind, ErrNotFound)
	}
	commit, err := decodeCommit(data)
	return commit.Tree, err
}
