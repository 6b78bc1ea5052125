package lineage

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

const (
	maxRefusals = 300   // how many reviews refusedCommits reads, first those that wait for somebody
	maxPatches  = 1_000 // how many of the newest commits are compared with what people refuse
)

// addRefusedPatches adds to by what people refuse, for commits with the patch of a refused commit: copies by
// cherry-pick, squash or am, also where other lines of the files differ. It does not compare what is older than the
// refused commit in commits, which are newest first. It starts git only for commits that change the same paths.
func addRefusedPatches(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit,
	by map[gitstore.ID][]cover) error {
	refused, err := refusedCommits(ctx, s)
	if err != nil || len(refused) == 0 {
		return err
	}
	alike, err := alikePaths(ctx, s, commits[:min(len(commits), maxPatches)], refused)
	if err != nil || len(alike) == 0 {
		return err
	}
	order := slices.Sorted(maps.Keys(refused))
	patches, err := s.Repo.PatchIDs(ctx, slices.Concat(order, alike))
	if err != nil { // as in a partial clone
		return ctx.Err()
	}
	for _, id := range alike {
		for _, was := range order {
			if was == id || patches[id] == "" || patches[was] != patches[id] {
				continue
			}
			for _, same := range refused[was] {
				if same.Passed { // its fix counts only with it: see refuseElsewhere
					same.span.To = id
				}
				if !slices.ContainsFunc(by[id], func(c cover) bool { return c.Review == same.Review }) {
					by[id] = append(by[id], same)
				}
			}
		}
	}
	return nil
}

// refusedCommits returns what people refuse in reviews that wait for somebody, and what they refused until a fix
// settled it, by commit, as it counts for a copy.
func refusedCommits(ctx context.Context, s *store.Store) (map[gitstore.ID][]cover, error) {
	counts := func(status string) bool {
		return record.WaitingStatus(status) || status == string(record.ReviewResolved)
	}
	reviews, _, err := s.Reviews(ctx, store.Filter{Status: counts, ByNeed: true, Limit: maxRefusals})
	refused := map[gitstore.ID][]cover{}
	for _, r := range reviews {
		covers := reviewCovers(r)
		fixed := len(r.FixedBy) > 0
		if len(r.Refusers) == 0 || len(covers) == 0 || !covers[0].Refused && !(covers[0].Passed && fixed) {
			continue
		}
		ids := each.SetOf(append(slices.Clone(r.Within), r.Commit), func(id gitstore.ID) gitstore.ID { return id })
		for id := range ids {
			same := covers[0]
			same.From, same.State = id, CoverCarried
			refused[id] = append(refused[id], same)
		}
	}
	return refused, err
}

// alikePaths returns those of commits, newest first, that change the same paths as a refused commit that is not newer.
func alikePaths(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit,
	refused map[gitstore.ID][]cover) (alike []gitstore.ID, err error) {
	pathsOf := func(c gitstore.LoggedCommit) string {
		if len(c.Parents) > 1 { // a merge has no patch id
			return ""
		}
		paths, err := changedPaths(ctx, s, c)
		if err != nil { // as in a shallow or partial clone
			return ""
		}
		return strings.Join(paths, "\x00")
	}
	inView := each.SetOf(commits, func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })
	known := map[string]bool{} // paths of the refused commits that are not newer
	for id := range refused {
		if inView[id] {
			continue
		}
		if commit, err := s.Repo.ReadCommit(ctx, id); err == nil { // else it is not in this clone
			known[pathsOf(gitstore.LoggedCommit{ID: id, Parents: commit.Parents})] = true
		}
	}
	for i, c := range slices.Backward(commits) {
		if len(known) == 0 && (len(refused[c.ID]) == 0 || i == 0) { // nothing that is not newer, or nothing newer
			continue
		}
		paths := pathsOf(c)
		if known[paths] && paths != "" {
			alike = append(alike, c.ID)
		}
		if len(refused[c.ID]) > 0 {
			known[paths] = true
		}
	}
	return alike, ctx.Err()
}
