package gitstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

// Writing is the claimed authorship of a commit, and what this clone knows about it.
type Writing struct {
	ID                ID
	Author, Committer Identity
	work, move        string // work: the author's line, which a rewrite keeps; move: the reflog's message
	Here              bool   // a reflog shows that the commit was made in this clone, by the committer
	Own               bool   // and by its author: see Writings
}

// Writings lists the commits of tips that are not in known, newest first, at most limit of them.
//
// An author's line is a claim by whoever made the object. The reflog is reliable: no fetch, pull or clone writes
// "commit" there. A commit that git commit, revert or a merge made here is Own if author and committer are the same
// person. A rebase, a cherry-pick, am or an amended commit copies an earlier author's line, which may be somebody
// else's under any name. Such a copy is Own only if a commit that was written here has the same author's line,
// including its time.
func (r *Repo) Writings(ctx context.Context, tips, known []ID, limit int) ([]Writing, error) {
	args := []string{"--max-count=" + strconv.Itoa(limit)}
	for _, id := range tips {
		args = append(args, string(id))
	}
	for _, id := range known {
		args = append(args, "^"+string(id))
	}
	found, err := r.logWritings(ctx, "", args...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	moves, err := r.logWritings(ctx, "%gs", "--walk-reflogs", "--branches", "HEAD")
	if err != nil {
		return nil, err
	}
	here, written := map[ID]bool{}, map[string]bool{}
	for _, w := range moves {
		wrote := writingMove().MatchString(w.move)
		copied := copyingMove().MatchString(w.move) && !strings.HasSuffix(w.move, ": fast-forward")
		here[w.ID] = here[w.ID] || wrote || copied
		written[w.work] = written[w.work] || wrote && w.Author == w.Committer
	}
	for i, w := range found {
		found[i].Here = here[w.ID]
		found[i].Own = here[w.ID] && written[w.work] && w.Author == w.Committer
	}
	return found, nil
}

// logWritings reads the commits that git log lists, with their reflog messages if move asks for them. It leaves
// author and committer empty if a name contains a field separator.
func (r *Repo) logWritings(ctx context.Context, move string, args ...string) (all []Writing, err error) {
	args = append([]string{"log", "-z", "--no-mailmap", "--format=%H%x01" + move + "%x01%an%x01%ae%x01%at%x01%cn%x01%ce"},
		args...)
	out, err := r.dir.Git(ctx, append(args, "--")...)
	if err != nil {
		return nil, fmt.Errorf("who wrote commits: %w", err)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		f := strings.Split(line, "\x01")
		w := Writing{ID: ID(f[0])}
		if len(f) == 7 {
			w.move, w.Author, w.Committer = f[1], Identity{Name: f[2], Email: f[3]}, Identity{Name: f[5], Email: f[6]}
			w.work = w.Author.String() + " " + f[4]
		}
		if w.ID != "" {
			all = append(all, w)
		}
	}
	return all, nil
}

// writingMove matches the reflog message of a commit that somebody wrote here, including git-runr's own commits of a
// run's working tree.
var writingMove = lazyre.Compile(
	`^(?:commit(?: \((?:initial|merge)\))?: |revert: |(?:merge|pull)\b.*: Merge made by |runr: commit$)`)

// copyingMove matches the reflog message of a commit that was made here from another one.
var copyingMove = lazyre.Compile(
	`^(?:commit \(|cherry-pick: |am: |rebase: |runr: land |(?:rebase|pull)\b.* \((?:pick|reword|edit|squash|fixup|continue|merge)\): )`)
