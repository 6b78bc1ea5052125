package gitstore

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Writing is who is said to have written a commit, and whether this clone knows better.
type Writing struct {
	ID                ID
	Author, Committer Identity
	work, move        string // the author's line, which a rewrite keeps; of a reflog, how HEAD came there
	Here              bool   // a reflog of this clone says that the commit was made here: by the committer
	Own               bool   // and by its author: see Writings
}

// Writings lists the commits of tips that none of known has, newest first, at most limit of them.
//
// An author's line is a claim of whoever made the object. What is known is the reflog, into which no fetch, pull or
// clone writes "commit": what git commit, revert or a merge made here is Own where author and committer are one person.
// A rebase, a cherry-pick, am or an amended commit copies what was written before, perhaps by somebody else under
// any name: the copy is Own only where its author's line, with the time in it, is also that of a commit which was
// written here.
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

// logWritings reads what git log lists, and of reflogs what moved there. A name that would be taken for more than
// one field is nobody's.
func (r *Repo) logWritings(ctx context.Context, move string, args ...string) (all []Writing, err error) {
	args = append([]string{"log", "-z", "--no-mailmap", "--format=%H%x01" + move + "%x01%an%x01%ae%x01%at%x01%cn%x01%ce"}, args...)
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

// writingMove is what reflogs say of a commit whose words and files somebody wrote here, git-runr's own commits of a
// run's working tree included.
var writingMove = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:commit(?: \((?:initial|merge)\))?: |revert: |(?:merge|pull)\b.*: Merge made by |runr: commit$)`)
})

// copyingMove is what reflogs say of a commit that was made here from another one.
var copyingMove = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:commit \(|cherry-pick: |am: |rebase: |runr: land |(?:rebase|pull)\b.* \((?:pick|reword|edit|squash|fixup|continue|merge)\): )`)
})
