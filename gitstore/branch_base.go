package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// BranchBase is where a branch, by its short name, whose end is tip, left what it is to go
// into: its upstream, where that has another name, else the default branch; for the
// default branch itself its upstream. onto is the ref. ErrNotFound: there is none of them.
func (r *Repo) BranchBase(ctx context.Context, branch string, tip ID) (base ID, onto string, err error) {
	for _, ref := range r.basesOf(ctx, branch) {
		at, err := r.Resolve(ctx, ref)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return "", "", fmt.Errorf("find where %s began: %w", branch, err)
		}
		base, err := r.MergeBase(ctx, at, tip)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		return base, ref, err
	}
	return "", "", fmt.Errorf("where %s began: %w", cmp.Or(branch, "HEAD"), ErrNotFound)
}

// basesOf are the refs that a branch may have left, the likeliest first.
func (r *Repo) basesOf(ctx context.Context, branch string) []string {
	remote, merge := r.Config.Get("branch."+branch+".remote"), r.Config.Get("branch."+branch+".merge")
	upstream := "refs/remotes/" + remote + "/" + strings.TrimPrefix(merge, "refs/heads/")
	if remote == "." {
		upstream = merge
	}
	hasUpstream := branch != "" && remote != "" && merge != ""
	if hasUpstream && !strings.HasSuffix(upstream, "/"+branch) {
		return []string{upstream}
	}
	elected := "refs/remotes/" + cmp.Or(remote, "origin") + "/HEAD"
	names := []string{cmp.Or(r.Config.Get("init.defaultBranch"), "main"), "main", "master"}
	var found []string
	if line, err := r.dir.GitLine(ctx, "symbolic-ref", "--quiet", elected); err == nil {
		found, names = []string{line}, []string{line[strings.LastIndex(line, "/")+1:]}
	}
	if !slices.Contains(names, branch) {
		for _, name := range names {
			found = append(found, "refs/heads/"+name)
		}
		return found
	}
	if hasUpstream {
		return []string{upstream}
	}
	return nil
}
