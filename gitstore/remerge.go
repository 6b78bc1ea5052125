package gitstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Remerge returns the tree that git makes of a merge commit's parents by itself, with conflict
// markers where it fails. The difference from the merge commit is what a person did in the merge:
// how conflicts were resolved, and what else was changed. A combined diff shows less: it omits a
// side that was dropped as a whole. Every clone makes the same tree, which gc may delete. The
// project's .gitattributes, which could name a merge driver, are ignored. A commit that is
// not a merge is ErrNotFound, and so is one of a shallow clone that lacks its parents or what they have in common.
func (r *Repo) Remerge(ctx context.Context, id ID) (ID, error) {
	commit, err := r.ReadCommit(ctx, id)
	if err != nil {
		return "", err
	}
	parents := commit.Parents
	if len(parents) < 2 {
		return "", fmt.Errorf("merge %s: %w", id.Short(), ErrNotFound)
	}
	if err := r.reachMergeBase(ctx, parents); err != nil {
		return "", fmt.Errorf("merge %s again: %w", id.Short(), err)
	}
	merged, tree := parents[0], ID("")
	for i, parent := range parents[1:] { // merge more than two parents one after the other
		if i > 0 {
			merged, err = r.scratchCommit(ctx, tree, merged, parents[i])
		}
		if err == nil {
			tree, err = r.mergeCommits(ctx, merged, parent)
		}
		if err != nil {
			return "", fmt.Errorf("merge %s again: %w", id.Short(), err)
		}
	}
	return tree, nil
}

// reachMergeBase returns a *MissingError if a shallow clone lacks one of parents, or their common ancestor. Without it
// git would merge them as unrelated, and show what each of them has as the work of who merged.
func (r *Repo) reachMergeBase(ctx context.Context, parents []ID) error {
	if !r.objects.Shallow() {
		return nil
	}
	for _, parent := range parents {
		if _, err := r.ReadCommit(ctx, parent); err != nil {
			return err
		}
	}
	for _, parent := range parents[1:] {
		if _, err := r.MergeBase(ctx, parents[0], parent); err != nil {
			return err
		}
	}
	return nil
}

// CleanMerges returns the merges that equal what git makes of their parents by itself: those whose
// tree is Remerge's. It always takes one git process. It leaves out merges with more than two
// parents.
func (r *Repo) CleanMerges(ctx context.Context, merges []ID) (map[ID]bool, error) {
	var stdin strings.Builder
	for _, id := range merges {
		if c, err := r.ReadCommit(ctx, id); err == nil && len(c.Parents) == 2 {
			fmt.Fprintln(&stdin, id)
		}
	}
	clean := map[ID]bool{}
	if stdin.Len() == 0 { // git would log HEAD
		return clean, ctx.Err()
	}
	args := append(append([]string{}, mergeOptions...), "log", "-z", "--stdin", "--no-walk=unsorted", "--remerge-diff",
		"--raw", "--no-abbrev", "--no-renames",
		"--format=tformat:commit %H", "--no-notes", "--no-show-signature", "--no-color", "--no-decorate", "--no-ext-diff",
		"--")
	out, err := r.dir.Call(ctx, gitdir.Call{Args: args, Stdin: strings.NewReader(stdin.String()), Env: r.noAttributes()})
	if err != nil {
		return nil, fmt.Errorf("merge %d commits again: %w", len(merges), err)
	}
	var at ID
	for tokens := strings.Split(string(out), "\x00"); len(tokens) > 0; tokens = tokens[1:] {
		token := strings.TrimPrefix(tokens[0], "\n")
		if id, ok := strings.CutPrefix(token, "commit "); ok {
			at = ID(strings.TrimSpace(id))
			clean[at] = true
		} else if strings.HasPrefix(token, ":") && len(tokens) > 1 { // the next token is the path
			delete(clean, at)
			tokens = tokens[1:]
		}
	}
	return clean, nil
}

// mergeOptions make the result of a merge independent of the configuration.
var mergeOptions = []string{
	"-c", "merge.default=text", "-c", "merge.conflictStyle=merge", "-c", "merge.renames=true", "-c",
	"merge.directoryRenames=conflict",
}

// mergeCommits merges two commits and returns the tree, with conflict markers if there are conflicts.
func (r *Repo) mergeCommits(ctx context.Context, ours, theirs ID) (ID, error) {
	args := append(append([]string{}, mergeOptions...), "merge-tree", "--write-tree", "--no-messages",
		"--allow-unrelated-histories", "-z", "--end-of-options")
	out, err := r.dir.Call(ctx, gitdir.Call{Args: append(args, string(ours), string(theirs)), Env: r.noAttributes()})
	tree, _, _ := strings.Cut(string(out), "\x00")
	if gitdir.ExitStatus(err) == 1 { // with conflicts
		err = nil
	}
	if err == nil && !r.objects.ValidID(ID(tree)) {
		err = fmt.Errorf("git answered %q", tree)
	}
	return ID(tree), err
}
