package lineage

import (
	"context"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// maxDecided is how many of the newest reviews in which people refuse, and in which they approve, are read.
const maxDecided = 100

// addRefusedPatches adds to by what people refuse, for commits that make all edits of a refused commit: copies by
// cherry-pick, squash or am, also between other lines and beside other edits. What these people passed later, of
// exactly the same edits, takes that back. It does not compare what is older than the refused commit in commits, which
// are newest first.
func addRefusedPatches(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit,
	by map[gitstore.ID][]cover) error {
	p := patches{reader: newReader(ctx, s), commits: commits}
	refused, err := p.decided(record.RequestChanges)
	if err != nil || len(refused) == 0 {
		return err
	}
	copies, err := p.copies(refused)
	if err != nil || len(copies) == 0 {
		return err
	}
	approved, err := p.decided(record.Approve)
	if err != nil {
		return err
	}
	for id, of := range copies {
		passed, err := p.same(id, approved)
		if err != nil {
			return err
		}
		for _, c := range of {
			had := func(own cover) bool { return own.Review == c.Review || own.Refused && len(own.refusers) > 0 }
			replaced := func(later cover) bool { return later.replaces(c) }
			if !slices.ContainsFunc(by[id], had) && !slices.ContainsFunc(passed, replaced) {
				c.State = CoverCarried
				by[id] = append(by[id], c)
			}
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
	*reader
	commits []gitstore.LoggedCommit // newest first
}

// verdict is what people said of a commit.
type verdict struct {
	commit gitstore.LoggedCommit
	said   []cover
}

// decided returns the newest verdicts of people, by commit.
func (p *patches) decided(decision record.Decision) (map[gitstore.ID]*verdict, error) {
	reviews, err := p.store.Decided(p.ctx, decision, maxDecided)
	if err != nil {
		return nil, err
	}
	of := map[gitstore.ID]*verdict{}
	for _, r := range reviews {
		covers := reviewCovers(r)
		if len(covers) == 0 || decision == record.RequestChanges && !covers[0].refusesCopies() {
			continue
		}
		for id := range each.Set(append(slices.Clone(r.Within), r.Commit)) {
			commit, here, err := p.commit(id)
			if err != nil {
				return nil, err
			}
			if !here {
				continue
			}
			if of[id] == nil {
				of[id] = &verdict{commit: commit}
			}
			c := covers[0]
			c.From = id
			of[id].said = append(of[id].said, c)
		}
	}
	return of, nil
}

// copies returns, by commit, what people refuse of commits with the same edits that are not newer.
func (p *patches) copies(refused map[gitstore.ID]*verdict) (map[gitstore.ID][]cover, error) {
	inView := each.SetOf(p.commits, func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })
	older, found := map[string][]*verdict{}, map[gitstore.ID][]cover{} // older by their first path
	add := func(v *verdict) {
		if paths := p.pathsOf(v.commit); len(paths) > 0 {
			older[paths[0]] = append(older[paths[0]], v)
		}
	}
	for id, v := range refused {
		if !inView[id] {
			add(v)
		}
	}
	for i, c := range slices.Backward(p.commits) {
		if len(older) > 0 {
			for _, path := range p.pathsOf(c) {
				for _, v := range older[path] {
					is, err := p.makes(c, v.commit)
					if err != nil {
						return nil, err
					}
					if is {
						found[c.ID] = append(found[c.ID], v.said...)
					}
				}
			}
		}
		if v := refused[c.ID]; v != nil && i > 0 {
			add(v)
		}
	}
	return found, nil
}

// makes reports whether commit makes all edits of another.
func (p *patches) makes(commit, other gitstore.LoggedCommit) (bool, error) {
	if !coversPaths(p.pathsOf(commit), p.pathsOf(other)) {
		return false, nil
	}
	edits, err := p.ofCommit(commit)
	if err != nil {
		return false, err
	}
	of, err := p.ofCommit(other)
	return contains(edits, of), err
}

// same returns what people said of other commits with exactly the edits of commit.
func (p *patches) same(id gitstore.ID, of map[gitstore.ID]*verdict) (said []cover, err error) {
	commit, _, err := p.commit(id)
	for _, v := range of {
		if err != nil || v.commit.ID == id || !slices.Equal(p.pathsOf(commit), p.pathsOf(v.commit)) {
			continue
		}
		var makes, made bool
		if makes, err = p.makes(commit, v.commit); err == nil && makes {
			made, err = p.makes(v.commit, commit)
		}
		if made {
			said = append(said, v.said...)
		}
	}
	return said, err
}
