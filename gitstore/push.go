package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Unpushed lists the commits that tips have and that neither old, what the refs are at on
// the remote, nor the remote's branches as they were seen last have, newest first, at
// most max. remote may be "" or the name of none: then any remote's branches count. A
// tip may be a tag; one that leads to no commit, and an id that is not here, are left out.
func (r *Repo) Unpushed(ctx context.Context, remote string, tips, old []ID, max int) ([]LoggedCommit, error) {
	var revs []ID
	for _, tip := range tips {
		commit, err := r.refs.Resolve(ctx, string(tip)+"^{commit}")
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read what is pushed: %w", err)
		}
		revs = append(revs, commit)
	}
	if len(revs) == 0 { // git would log HEAD
		return nil, nil
	}
	prefix := "refs/remotes/"
	if slices.Contains(r.Remotes(), remote) {
		prefix += remote + "/"
	}
	seen, err := r.Refs(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("list what the remote has: %w", err)
	}
	there := map[ID]bool{}
	for _, id := range seen {
		there[id] = true
	}
	for _, id := range old {
		there[id] = true
	}
	for id := range there {
		if r.objects.ValidID(id) && r.objects.Has(ctx, id) {
			revs = append(revs, "^"+id)
		}
	}
	commits, err := r.logMessages(ctx, revs, fmt.Sprintf("--max-count=%d", max), "--no-patch")
	if err != nil {
		return nil, fmt.Errorf("list what is pushed: %w", err)
	}
	return commits, nil
}

// LastMove is why HEAD was moved last, as its reflog says: "commit: title",
// "merge side: Fast-forward"; "" where there is no reflog.
func (r *Repo) LastMove(ctx context.Context) (string, error) {
	line, err := r.dir.GitLine(ctx, "log", "--walk-reflogs", "--max-count=1", "--format=%gs", "HEAD", "--")
	if err != nil {
		return "", fmt.Errorf("read the reflog of HEAD: %w", err)
	}
	return line, nil
}
