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
	maxRefusals = 300   // how many reviews peopleSaid reads, first those that wait for somebody
	maxPatches  = 1_000 // how many of the newest commits are compared with what people refuse
)

// addRefusedPatches adds to by what people refuse, for commits with the patch of a refused commit: copies by
// cherry-pick, squash or am, also where other lines of the files differ. What these people passed later, of the same
// patch, takes that back. It does not compare what is older than the refused commit in commits, which are newest
// first. It starts git only for commits that change the same paths, and adds nothing where git cannot compute a patch,
// as in a partial clone.
func addRefusedPatches(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit,
	by map[gitstore.ID][]cover) error {
	said, err := peopleSaid(ctx, s)
	if err != nil {
		return err
	}
	p := pathsOf{ctx, s, map[gitstore.ID]string{}}
	copies := p.alike(commits[:min(len(commits), maxPatches)], said)
	if len(copies) == 0 {
		return ctx.Err()
	}
	originals := p.same(slices.Sorted(maps.Keys(said)), copies)
	patches, err := s.Repo.PatchIDs(ctx, slices.Concat(originals, copies))
	if err != nil {
		return ctx.Err()
	}
	of := map[string][]cover{} // by patch
	for _, id := range originals {
		of[patches[id]] = append(of[patches[id]], said[id]...)
	}
	delete(of, "") // of commits that have no patch
	for _, id := range copies {
		for _, c := range of[patches[id]] {
			had := func(own cover) bool { return own.Review == c.Review }
			replaced := func(later cover) bool { return later.replaces(c) }
			if !c.refusesCopies() || slices.ContainsFunc(by[id], had) || slices.ContainsFunc(of[patches[id]], replaced) {
				continue
			}
			if c.Passed { // its fix counts only with it: see refuseElsewhere
				c.span.To = id
			}
			c.State = CoverCarried
			by[id] = append(by[id], c)
		}
	}
	return nil
}

// refusesCopies reports whether people refuse the commit, or refused it until a fix that a copy may lack settled it.
func (c cover) refusesCopies() bool {
	return len(c.refusers) > 0 && (c.Refused || c.Passed && len(c.settled) > 0)
}

// peopleSaid returns what people refuse and approve, by commit.
func peopleSaid(ctx context.Context, s *store.Store) (map[gitstore.ID][]cover, error) {
	counts := func(status string) bool {
		return record.WaitingStatus(status) || status == string(record.ReviewResolved)
	}
	reviews, _, err := s.Reviews(ctx, store.Filter{Status: counts, ByNeed: true, Limit: maxRefusals})
	said := map[gitstore.ID][]cover{}
	for _, r := range reviews {
		covers := reviewCovers(r)
		if len(r.Refusers)+len(r.Approvers) == 0 || len(covers) == 0 {
			continue
		}
		for id := range each.Set(append(slices.Clone(r.Within), r.Commit)) {
			c := covers[0]
			c.From = id
			said[id] = append(said[id], c)
		}
	}
	return said, err
}

// pathsOf finds commits by the paths that they change, joined by NUL. A merge, and a commit whose trees are not here, as
// in a shallow or partial clone, changes "".
type pathsOf struct {
	ctx   context.Context
	store *store.Store
	known map[gitstore.ID]string
}

// of returns the paths of a commit.
func (p pathsOf) of(id gitstore.ID) string {
	if paths, known := p.known[id]; known {
		return paths
	}
	p.known[id] = ""
	commit, err := p.store.Repo.ReadCommit(p.ctx, id)
	if err != nil || len(commit.Parents) > 1 {
		return ""
	}
	paths, err := changedPaths(p.ctx, p.store, gitstore.LoggedCommit{ID: id, Parents: commit.Parents})
	if err == nil {
		p.known[id] = strings.Join(paths, "\x00")
	}
	return p.known[id]
}

// alike returns those of commits, newest first, that change the same paths as a refused commit that is not newer.
func (p pathsOf) alike(commits []gitstore.LoggedCommit, said map[gitstore.ID][]cover) (found []gitstore.ID) {
	inView := each.SetOf(commits, func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })
	refused := map[string]bool{} // paths of the refused commits that are not newer
	for id, covers := range said {
		if !inView[id] && slices.ContainsFunc(covers, cover.refusesCopies) {
			refused[p.of(id)] = true
		}
	}
	for _, c := range slices.Backward(commits) {
		refuses := slices.ContainsFunc(said[c.ID], cover.refusesCopies)
		if len(refused) == 0 && !refuses {
			continue
		}
		paths := p.of(c.ID)
		if refused[paths] && paths != "" {
			found = append(found, c.ID)
		}
		if refuses {
			refused[paths] = true
		}
	}
	return found
}

// same returns those of ids that change the same paths as one of others.
func (p pathsOf) same(ids, others []gitstore.ID) []gitstore.ID {
	paths := each.SetOf(others, p.of)
	return each.Where(ids, func(id gitstore.ID) bool { return paths[p.of(id)] })
}
