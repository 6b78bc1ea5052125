package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// CommitFile commits new content of one file on top of a commit, in the user's name and
// without a working tree. No ref points to the commit yet. It returns top if the file has that
// content already. The file keeps its mode. A missing file is ErrNotFound.
func (r *Repo) CommitFile(ctx context.Context, top ID, path string, content []byte, message string,
	when time.Time) (id ID, err error) {
	defer wrap(&err, "commit %q on %s", path, top.Short())
	author, err := r.Identity(ctx)
	if err != nil {
		return "", err
	}
	tree, err := r.TreeOf(ctx, top)
	if err != nil {
		return "", err
	}
	blob, err := r.objects.Write(ctx, "blob", content)
	if err != nil {
		return "", err
	}
	if tree, err = r.withBlob(ctx, tree, path, blob); err != nil {
		return "", err
	}
	return r.landCommit(ctx, top, Commit{Tree: tree, Author: author, AuthorWhen: when, Message: message}, when)
}

// maxNamePart limits a component of a branch's name, in bytes, so that its lock file can have a name too.
const maxNamePart = 240

// CheckBranch returns ErrRefName for a name that is unsuitable for a branch. It also refuses some
// names that git allows, because they mean something else on a command line.
func CheckBranch(name string) error {
	long := slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return len(part) > maxNamePart })
	if long || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "refs/") || name == "HEAD" || name == "@" {
		return fmt.Errorf("%w %q of a branch", ErrRefName, name[:min(len(name), maxNamePart)])
	}
	return refdb.CheckRefName("refs/heads/" + name)
}

// AdvanceBranch moves a branch that is not checked out from one commit to another and records the
// move, so that it can be undone. If from is "", it creates the branch. It returns ErrLostRace if
// the branch is elsewhere by now.
func (r *Repo) AdvanceBranch(ctx context.Context, op Operation, ref string, to, from ID) (Recorded, error) {
	if err := r.notCheckedOut(ctx, ref); err != nil {
		return Recorded{}, err
	}
	return r.moveRecorded(ctx, op, ref, to, from)
}

// withBlob returns a tree in which the file at a slash-separated path holds blob. odb.Named matches the path.
func (r *Repo) withBlob(ctx context.Context, tree ID, path string, blob ID) (ID, error) {
	name, rest, nested := strings.Cut(path, "/")
	entries, err := r.objects.ReadTree(ctx, tree)
	if err != nil {
		return "", err
	}
	i := odb.Named(entries, name)
	if i < 0 || entries[i].IsTree() != nested || entries[i].Mode == ModeSymlink || entries[i].Mode == ModeCommit {
		return "", fmt.Errorf("no file: %w", ErrNotFound)
	}
	if nested {
		blob, err = r.withBlob(ctx, entries[i].ID, rest, blob)
	}
	if err != nil || entries[i].ID == blob {
		return tree, err
	}
	entries[i].ID = blob
	return r.objects.WriteTree(ctx, entries)
}
