package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Transplanted is a change as it would look on another base.
type Transplanted struct {
	Tree ID // gc may delete it
	// Clashes are the paths, sorted, in which the new base changed the same lines. There Tree has the lines of the
	// change, so that a comparison with it shows how the two were merged.
	Clashes []string
}

// Transplant applies a change, from one tree or commit to another, to base. The difference between the result and a
// newer version of the change is what its author changed: what only the base brought is on both sides.
func (r *Repo) Transplant(ctx context.Context, change Span, base ID) (Transplanted, error) {
	var trees [3]ID
	for i, id := range []ID{change.From, base, change.To} {
		tree, err := r.treeOrEmpty(ctx, id)
		if err != nil {
			return Transplanted{}, fmt.Errorf("transplant %s: %w", change.To.Short(), err)
		}
		trees[i] = tree
	}
	if trees[0] == trees[1] {
		return Transplanted{Tree: trees[2]}, nil
	}
	merged, sides, err := r.mergeSides(ctx, trees[0], trees[1], trees[2])
	if err != nil || len(sides) == 0 {
		return Transplanted{Tree: merged}, err
	}
	tree, err := r.preferTheirs(ctx, merged, sides)
	if err != nil {
		return Transplanted{}, fmt.Errorf("transplant %s: %w", change.To.Short(), err)
	}
	return Transplanted{Tree: tree, Clashes: slices.Sorted(maps.Keys(sides))}, nil
}

// mergeSides merges three trees as git does. For each unmerged path it returns the base's side, ours and theirs.
func (r *Repo) mergeSides(ctx context.Context, base, ours, theirs ID) (ID, map[string][3]fileState, error) {
	left, right, err := r.mergeHeads(ctx, base, ours, theirs)
	if err != nil {
		return "", nil, err
	}
	args := append(slices.Clone(mergeOptions), "merge-tree", "--write-tree", "-z", "--no-messages", "--end-of-options")
	out, err := r.dir.Call(ctx, gitdir.Call{Args: append(args, string(left), string(right)), Env: r.noAttributes()})
	if err != nil && gitdir.ExitStatus(err) != 1 { // 1: some paths have conflicts
		return "", nil, fmt.Errorf("merge: %w", err)
	}
	items := splitNUL(out)
	if len(items) == 0 || !r.objects.ValidID(ID(items[0])) {
		return "", nil, fmt.Errorf("merge: git answered %q", out)
	}
	sides := map[string][3]fileState{}
	for _, item := range items[1:] { // "mode id stage\tpath"
		about, path, _ := strings.Cut(item, "\t")
		fields := strings.Fields(about)
		if len(fields) != 3 || len(fields[2]) != 1 || fields[2] < "1" || fields[2] > "3" {
			return "", nil, fmt.Errorf("merge: git answered %q", item)
		}
		of := sides[path]
		of[fields[2][0]-'1'] = fileState{fields[0], ID(fields[1])}
		sides[path] = of
	}
	return ID(items[0]), sides, nil
}

// preferTheirs returns tree with each unmerged path replaced by their side, merged with ours as far as possible.
func (r *Repo) preferTheirs(ctx context.Context, tree ID, sides map[string][3]fileState) (ID, error) {
	dir, err := os.MkdirTemp("", "git-runr-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	var index bytes.Buffer
	for path, of := range sides {
		theirs, err := r.joinSides(ctx, dir, of)
		if err != nil {
			return "", fmt.Errorf("join %q: %w", path, err)
		}
		if theirs.ID == "" {
			theirs = fileState{"0", r.objects.ZeroID()}
		}
		fmt.Fprintf(&index, "%s %s\t%s\x00", theirs.Mode, theirs.ID, path)
	}
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	for _, c := range []gitdir.Call{
		{Args: []string{"read-tree", "--end-of-options", string(tree)}},
		{Args: []string{"update-index", "-z", "--index-info"}, Stdin: &index},
		{Args: []string{"write-tree"}},
	} {
		c.Env = env
		out, err := r.dir.Call(ctx, c)
		if err != nil {
			return "", err
		}
		tree = ID(bytes.TrimSpace(out))
	}
	return tree, nil
}

// joinSides merges the three versions of a file. If both sides changed the same lines, theirs win. If a side is
// missing or is not a text file, the result is their whole file.
func (r *Repo) joinSides(ctx context.Context, dir string, of [3]fileState) (fileState, error) {
	theirs := of[2]
	args := []string{"merge-file", "-p", "-q", "--theirs"}
	for i, side := range of {
		if side.Mode != ModeFile && side.Mode != ModeExecutable {
			return theirs, nil
		}
		_, data, err := r.objects.Read(ctx, side.ID)
		if err != nil {
			return theirs, err
		}
		if bytes.IndexByte(data, 0) >= 0 {
			return theirs, nil
		}
		if err := os.WriteFile(filepath.Join(dir, string('a'+rune(i))), data, 0o600); err != nil {
			return theirs, err
		}
	}
	// git merge-file requires ours, the base and theirs, in this order.
	args = append(args, filepath.Join(dir, "b"), filepath.Join(dir, "a"), filepath.Join(dir, "c"))
	out, err := r.dir.Git(ctx, args...)
	if err != nil {
		return theirs, err
	}
	theirs.ID, err = r.objects.Write(ctx, "blob", out)
	return theirs, err
}
