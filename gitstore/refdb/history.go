package refdb

import (
	"context"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// MergeBase returns the best common ancestor of two commits, or a *MissingError if they have
// none here.
func (s *Store) MergeBase(ctx context.Context, a, b odb.ID) (odb.ID, error) {
	if a == b && s.objects.Has(ctx, a) {
		return a, nil
	}
	out, err := s.dir.GitLine(ctx, "merge-base", "--end-of-options", string(a), string(b))
	if gitdir.ExitStatus(err) == 1 {
		return "", s.objects.Unrelated(a, b, err)
	}
	return odb.ID(out), err
}

// nearby is how many commits IsAncestor reads itself before it asks git.
const nearby = 64

// IsAncestor reports whether commit a is b or an ancestor of it. Most callers ask about commits
// close to each other; these are answered without a git process.
func (s *Store) IsAncestor(ctx context.Context, a, b odb.ID) (bool, error) {
	if s.isNear(ctx, a, b) {
		return true, nil
	}
	_, err := s.dir.Git(ctx, "merge-base", "--is-ancestor", "--end-of-options", string(a), string(b))
	if gitdir.ExitStatus(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// isNear reports whether a is among the nearest commits of b's history. It returns false if a
// commit cannot be read; git then decides.
func (s *Store) isNear(ctx context.Context, a, b odb.ID) bool {
	if s.dir.SHA256() { // reading a commit would start a process
		return a == b
	}
	if _, err := s.objects.ReadCommit(ctx, a); err != nil {
		return false
	}
	seen := map[odb.ID]bool{}
	for queue := []odb.ID{b}; len(queue) > 0 && len(seen) < nearby; queue = queue[1:] {
		if queue[0] == a {
			return true
		}
		if seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		commit, err := s.objects.ReadCommit(ctx, queue[0])
		if err != nil {
			return false
		}
		queue = append(queue, commit.Parents...)
	}
	return false
}

// Ancestry answers MergeBase for many pairs of a set of commits with two git processes in all.
// It is for one goroutine.
type Ancestry struct {
	store   *Store
	heads   []odb.ID
	asked   int            // number of calls of MergeBase
	at      map[odb.ID]int // index of each commit in ids, children before their parents
	ids     []odb.ID
	parents [][]int
	reach   map[odb.ID][]bool // for each head: which commits it reaches, itself included
}

// fewBases is the number of questions up to which one process for each is cheaper.
const fewBases = 2

// Ancestry returns an Ancestry of heads. It reads nothing before the first question.
func (s *Store) Ancestry(heads []odb.ID) *Ancestry { return &Ancestry{store: s, heads: heads} }

// MergeBase returns what MergeBase of the repository returns.
func (a *Ancestry) MergeBase(ctx context.Context, one, other odb.ID) (odb.ID, error) {
	if a.asked++; a.asked > fewBases && a.at == nil {
		a.read(ctx)
	}
	if best := a.best(one, other); len(best) == 1 {
		return best[0], nil
	}
	return a.store.MergeBase(ctx, one, other) // git chooses one of several
}

// read reads the commits from heads down to one that all heads have in common. If there is none, or
// git fails, git answers every question.
func (a *Ancestry) read(ctx context.Context) {
	a.at, a.reach = map[odb.ID]int{}, map[odb.ID][]bool{}
	args := []string{"merge-base", "--octopus", "--end-of-options"}
	for _, id := range a.heads {
		args = append(args, string(id))
	}
	floor, err := a.store.dir.GitLine(ctx, args...)
	if err != nil {
		return
	}
	stdin := strings.Join(args[3:], "\n") + "\n^" + floor + "\n"
	out, err := a.store.dir.GitIn(ctx, []byte(stdin), "rev-list", "--parents", "--topo-order", "--stdin")
	if err != nil {
		return
	}
	a.take(string(out) + floor + "\n")
}

// take stores lines of the form "COMMIT PARENT...", children before their parents.
func (a *Ancestry) take(lines string) {
	rows := strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
	for i, row := range rows {
		id, _, _ := strings.Cut(row, " ")
		a.at[odb.ID(id)], a.ids = i, append(a.ids, odb.ID(id))
	}
	a.parents = make([][]int, len(rows))
	for i, row := range rows {
		for _, parent := range strings.Fields(row)[1:] {
			if n, here := a.at[odb.ID(parent)]; here { // else it is below the commit that all heads have
				a.parents[i] = append(a.parents[i], n)
			}
		}
	}
}

// best returns the best common ancestors of two heads: those without a child that is a common
// ancestor too. It returns nil if a head was not read.
func (a *Ancestry) best(one, other odb.ID) (best []odb.ID) {
	left, right := a.reached(one), a.reached(other)
	if left == nil || right == nil {
		return nil
	}
	below := make([]bool, len(a.ids))
	for i, id := range a.ids {
		if !left[i] || !right[i] {
			continue
		}
		if !below[i] {
			best = append(best, id)
		}
		for _, parent := range a.parents[i] {
			below[parent] = true
		}
	}
	return best
}

// reached marks a head and its ancestors. It returns nil if the head was not read.
func (a *Ancestry) reached(head odb.ID) []bool {
	start, here := a.at[head]
	if have := a.reach[head]; have != nil || !here {
		return have
	}
	marks := make([]bool, len(a.ids))
	marks[start] = true
	for i := start; i < len(marks); i++ {
		for _, parent := range a.parents[i] {
			marks[parent] = marks[parent] || marks[i]
		}
	}
	a.reach[head] = marks
	return marks
}
