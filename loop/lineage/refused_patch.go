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

// maxDecided is how many of the newest reviews in which people refuse, and in which they approve, are read.
const maxDecided = 100

// addRefusedPatches adds to by what people refuse, for commits with the patch of a refused commit: copies by
// cherry-pick, squash or am, also where other lines of the files differ. What these people passed later, of the same
// patch, takes that back. It does not compare what is older than the refused commit in commits, which are newest
// first. It starts git only for commits that change the same paths, and adds nothing where git cannot compute a patch,
// as in a partial clone.
func addRefusedPatches(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit,
	by map[gitstore.ID][]cover) error {
	p := newPatches(ctx, s)
	if err := p.read(record.RequestChanges); err != nil || len(p.said) == 0 {
		return err
	}
	copies := slices.DeleteFunc(p.alike(commits), func(id gitstore.ID) bool {
		return slices.ContainsFunc(by[id], func(own cover) bool { return own.Refused && len(own.refusers) > 0 })
	})
	of, err := p.byPatch(copies)
	if err != nil || len(of) == 0 {
		return err
	}
	copies = each.Where(copies, func(id gitstore.ID) bool { return len(of[id]) > 0 })
	if err := p.read(record.Approve); err != nil {
		return err
	}
	if of, err = p.byPatch(copies); err != nil {
		return err
	}
	for _, id := range copies {
		for _, c := range of[id] {
			had := func(own cover) bool { return own.Review == c.Review }
			replaced := func(later cover) bool { return later.replaces(c) }
			if !c.refusesCopies() || slices.ContainsFunc(by[id], had) || slices.ContainsFunc(of[id], replaced) {
				continue
			}
			c.State, c.ranged = CoverCarried, false
			by[id] = append(by[id], c)
		}
	}
	return nil
}

// refusesCopies reports whether people refuse the commit, or refused it until a fix that a copy may lack settled it.
func (c cover) refusesCopies() bool {
	return len(c.refusers) > 0 && (c.Refused || c.Passed && len(c.settled) > 0)
}

// patches compares commits with those about which people gave a verdict.
type patches struct {
	ctx   context.Context
	store *store.Store
	said  map[gitstore.ID][]cover // the verdicts, by commit
	paths map[gitstore.ID]string  // see pathsOf
}

func newPatches(ctx context.Context, s *store.Store) patches {
	return patches{ctx: ctx, store: s, paths: map[gitstore.ID]string{}, said: map[gitstore.ID][]cover{}}
}

// read adds the newest reviews in which people gave a verdict to said.
func (p *patches) read(decision record.Decision) error {
	reviews, err := p.store.Decided(p.ctx, decision, maxDecided)
	for _, r := range reviews {
		covers := reviewCovers(r)
		if len(covers) == 0 {
			continue
		}
		for id := range each.Set(append(slices.Clone(r.Within), r.Commit)) {
			c := covers[0]
			c.From = id
			p.said[id] = append(p.said[id], c)
		}
	}
	return err
}

// byPatch returns the verdicts about commits with the patch of one of copies, by that one.
func (p *patches) byPatch(copies []gitstore.ID) (map[gitstore.ID][]cover, error) {
	if len(copies) == 0 {
		return nil, p.ctx.Err()
	}
	there := each.SetOf(copies, p.pathsOf)
	var originals []gitstore.ID
	for _, id := range slices.Sorted(maps.Keys(p.said)) {
		if there[p.pathsOf(id)] {
			originals = append(originals, id)
		}
	}
	patch, err := p.store.Repo.PatchIDs(p.ctx, slices.Concat(originals, copies))
	if err != nil {
		return nil, p.ctx.Err()
	}
	of := map[gitstore.ID][]cover{}
	for _, id := range copies {
		for _, original := range originals {
			if original != id && patch[id] != "" && patch[id] == patch[original] {
				of[id] = append(of[id], p.said[original]...)
			}
		}
	}
	return of, nil
}

// pathsOf returns the paths that a commit changes, joined by NUL: "" for a merge, and for a commit whose trees are not
// here, as in a shallow or partial clone.
func (p *patches) pathsOf(id gitstore.ID) string {
	if paths, known := p.paths[id]; known {
		return paths
	}
	commit, err := p.store.Repo.ReadCommit(p.ctx, id)
	if err != nil {
		return ""
	}
	return p.pathsOfListed(gitstore.LoggedCommit{ID: id, Parents: commit.Parents})
}

// pathsOfListed is pathsOf for a commit whose parents are known.
func (p *patches) pathsOfListed(c gitstore.LoggedCommit) string {
	if _, known := p.paths[c.ID]; !known && len(c.Parents) < 2 {
		paths, _ := changedPaths(p.ctx, p.store, c) // none if they cannot be read
		p.paths[c.ID] = strings.Join(paths, "\x00")
	}
	return p.paths[c.ID]
}

// alike returns those of commits, newest first, that change the same paths as a refused commit that is not newer.
func (p *patches) alike(commits []gitstore.LoggedCommit) (found []gitstore.ID) {
	inView := each.SetOf(commits, func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })
	refused := map[string]bool{} // paths of the refused commits that are not newer
	for id, covers := range p.said {
		if !inView[id] && slices.ContainsFunc(covers, cover.refusesCopies) {
			refused[p.pathsOf(id)] = true
		}
	}
	for i, c := range slices.Backward(commits) {
		refuses := slices.ContainsFunc(p.said[c.ID], cover.refusesCopies)
		if len(refused) == 0 && (!refuses || i == 0) { // nothing is refused yet, or nothing is newer
			continue
		}
		paths := p.pathsOfListed(c)
		if refused[paths] && paths != "" {
			found = append(found, c.ID)
		}
		if refuses {
			refused[paths] = true
		}
	}
	return found
}
