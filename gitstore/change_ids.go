package gitstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Span is a change from one commit or tree to another. If From is "", it is from the empty tree.
type Span struct{ From, To ID }

// ChangeIDs returns an id for each change by its content: two changes have the same id exactly if
// they change the same paths from the same content to the same content, whatever else is in the
// trees. If paths are given, only changes to them count. The id of a span without a difference is
// NoChange, and that of a span that cannot be read here is "".
func (r *Repo) ChangeIDs(ctx context.Context, spans []Span, paths ...string) ([]string, error) {
	ids := make([]string, len(spans))
	for i, span := range spans {
		changes, err := r.Changed(ctx, r.orEmptyTree(span.From), r.orEmptyTree(span.To), paths...)
		if err == nil {
			ids[i] = r.changeID(changes)
		}
	}
	return ids, ctx.Err()
}

// NoChange is the id of a span without a difference.
const NoChange = "none"

func (r *Repo) changeID(changes []Change) string {
	if len(changes) == 0 {
		return NoChange
	}
	hash := sha256.New()
	for _, c := range changes {
		fmt.Fprintf(hash, "%s\x00%s\x00", c.raw(r.objects.ZeroID()), c.Path)
	}
	return hex.EncodeToString(hash.Sum(nil))[:40]
}

// PatchIDs returns git's stable patch ids of commits against their first parents, by commit. A
// patch id does not depend on line numbers. Merges, commits without a change, commits that are
// not here, and those after too many bytes of patches have no id.
func (r *Repo) PatchIDs(ctx context.Context, commits []ID) (map[ID]string, error) {
	stdin, ids := odb.IDLines(r.commitsHere(ctx, commits)), map[ID]string{}
	if stdin == "" {
		return ids, ctx.Err()
	}
	patch := &gitdir.LimitWriter{Left: maxPatches}
	_, err := r.dir.Call(ctx, gitdir.Call{
		Args: []string{"diff-tree", "--stdin", "--root", "-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv",
			"--no-color", "--src-prefix=a/", "--dst-prefix=b/"},
		Stdin: strings.NewReader(stdin), Stdout: patch, Env: r.noAttributes(),
	})
	if err != nil && !patch.Full {
		return nil, fmt.Errorf("read %d patches: %w", len(commits), err)
	}
	out, err := r.dir.GitIn(ctx, patch.Kept.Bytes(), "patch-id", "--stable")
	if err != nil {
		return nil, fmt.Errorf("read patch ids: %w", err)
	}
	last := ID("")
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) == 2 && r.objects.ValidID(ID(fields[1])) {
			last = ID(fields[1])
			ids[last] = fields[0]
		}
	}
	if patch.Full { // the last patch is cut
		delete(ids, last)
	}
	return ids, nil
}

// maxPatches is how many bytes of patches one call reads; it drops the rest.
const maxPatches = 64 << 20

// Unreachable returns the commits that no branch, tag, remote branch or worktree's HEAD
// contains any more. It leaves out commits that are not here.
func (r *Repo) Unreachable(ctx context.Context, commits []ID) ([]ID, error) {
	if len(commits) == 0 {
		return nil, ctx.Err()
	}
	tips, err := r.codeTips(ctx)
	if err != nil {
		return nil, err
	}
	return r.NotIn(ctx, commits, tips...)
}

// NotIn returns the commits that are in the history of none of tips. It leaves out commits that are not here. It takes
// one git process.
func (r *Repo) NotIn(ctx context.Context, commits []ID, tips ...ID) ([]ID, error) {
	found, err := r.historyOf(ctx, commits, tips)
	return both(found, commits), err
}

// Pruned returns the commits that are not here and, as every history here is complete, in the history of no ref. It
// returns none if the clone is shallow or damaged.
func (r *Repo) Pruned(ctx context.Context, commits []ID) []ID {
	missing := slices.DeleteFunc(slices.Clone(commits), func(id ID) bool { return r.objects.Has(ctx, id) })
	if len(missing) == 0 || r.objects.Shallow() {
		return nil
	}
	if _, err := r.dir.Git(ctx, "rev-list", "--count", "--all"); err != nil {
		return nil
	}
	return missing
}

// Meets reports whether the histories of commits and of within have a commit in common that is in the history of none
// of outside. It ignores commits that are not here. It takes at most two git processes.
func (r *Repo) Meets(ctx context.Context, commits, within, outside []ID) (bool, error) {
	beyond, err := r.historyOf(ctx, commits, outside)
	if err != nil || len(beyond) == 0 {
		return false, err
	}
	inside, err := r.historyOf(ctx, within, outside)
	return len(both(inside, beyond)) > 0, err
}

// both returns the elements of list that are in other too.
func both(list, other []ID) []ID {
	known := each.Set(other)
	return slices.DeleteFunc(list, func(id ID) bool { return !known[id] })
}

// historyOf returns the commits in the history of commits and of none of tips. It ignores commits that are not here.
func (r *Repo) historyOf(ctx context.Context, commits, tips []ID) ([]ID, error) {
	asked := r.commitsHere(ctx, commits)
	if len(asked) == 0 {
		return nil, ctx.Err()
	}
	stdin := odb.IDLines(asked)
	for _, tip := range tips {
		stdin += "^" + string(tip) + "\n"
	}
	out, err := r.dir.GitIn(ctx, []byte(stdin), "rev-list", "--stdin", "--ignore-missing")
	if err != nil {
		return nil, fmt.Errorf("find what no branch holds: %w", err)
	}
	return odb.Fields(out), nil
}

// codeTips returns the commits of branches, tags, remote branches and worktrees' HEADs that are here, sorted.
func (r *Repo) codeTips(ctx context.Context) ([]ID, error) {
	refs, err := r.refs.Refs(ctx, "refs/heads/", "refs/remotes/", "refs/tags/")
	if err != nil {
		return nil, fmt.Errorf("list branches: %w", err)
	}
	seen := each.Set(slices.Collect(maps.Values(refs)))
	trees, err := r.listWorktrees(ctx)
	if err != nil {
		return nil, err
	}
	for _, tree := range trees {
		seen[ID(tree["HEAD"])] = true
	}
	return r.here(ctx, slices.Sorted(maps.Keys(seen))), nil
}

// here returns those of ids that are objects of this repository.
func (r *Repo) here(ctx context.Context, ids []ID) []ID {
	return slices.DeleteFunc(ids, func(id ID) bool { return !r.objects.Has(ctx, id) })
}

// except returns arguments of git log that leave out the history of ids. It ignores ids that are not here.
func (r *Repo) except(ctx context.Context, ids []ID) []ID {
	return each.Of(r.here(ctx, slices.Clone(ids)), func(id ID) ID { return "^" + id })
}

// NewCommits lists the commits that tags, branches, remote branches and worktrees' HEADs contain
// and seen do not, newest first and at most max. It also returns the current tips, for the next
// call. It ignores commits in seen that are not here any more.
func (r *Repo) NewCommits(ctx context.Context, seen []ID, max int) ([]LoggedCommit, []ID, error) {
	tips, err := r.codeTips(ctx)
	if err != nil || slices.Equal(tips, seen) {
		return nil, tips, err
	}
	revs := slices.DeleteFunc(slices.Clone(tips), func(id ID) bool { return slices.Contains(seen, id) })
	if len(revs) == 0 { // git would log HEAD
		return nil, tips, nil
	}
	revs = append(revs, r.except(ctx, seen)...)
	commits, err := r.logMessages(ctx, revs, fmt.Sprintf("--max-count=%d", max), "--name-only")
	if err != nil {
		return nil, nil, fmt.Errorf("list new commits: %w", err)
	}
	return commits, tips, nil
}

// nearby is how many commits Between reads itself before it asks git.
const nearby = 64

// row returns Between of a few commits that follow each other without a merge. ok is false if they are not known to do
// so.
func (r *Repo) row(ctx context.Context, from, to ID, max int) (row []ID, ok bool) {
	if r.SHA256() { // reading a commit would start a process
		return nil, false
	}
	for id := to; len(row) < min(max, nearby); {
		commit, err := r.ReadCommit(ctx, id)
		if err != nil || len(commit.Parents) != 1 {
			return nil, false
		}
		row = append(row, id)
		if id = commit.Parents[0]; id == from {
			return row, true
		}
	}
	return nil, false
}

// Between returns the commits of to that are not in from, newest first and at most max. If from is
// "" or the empty tree, it returns all commits of to; if from is not here, only to; if to is not
// here, none.
func (r *Repo) Between(ctx context.Context, from, to ID, max int) ([]ID, error) {
	if _, err := r.ReadCommit(ctx, to); err != nil {
		return nil, ctx.Err()
	}
	args := []string{"rev-list", fmt.Sprintf("--max-count=%d", max), "--end-of-options", string(to)}
	if from != "" && from != r.objects.EmptyTreeID() {
		if _, err := r.ReadCommit(ctx, from); err != nil {
			return []ID{to}, ctx.Err()
		}
		if row, ok := r.row(ctx, from, to, max); ok {
			return row, nil
		}
		args = append(args, "^"+string(from))
	}
	out, err := r.dir.Git(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("list commits of %s..%s: %w", from.Short(), to.Short(), err)
	}
	return odb.Fields(out), nil
}
