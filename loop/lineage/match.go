package lineage

import (
	"context"
	"maps"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
)

// pairs returns the replacements of reviewed commits: those that git reported, those with the same change, and those
// that look alike. It chooses from fresh, newest first.
func (f *follower) pairs(ctx context.Context, fresh []gitstore.LoggedCommit) ([]pair, error) {
	byID := map[gitstore.ID]gitstore.LoggedCommit{}
	for _, c := range fresh {
		byID[c.ID] = c
	}
	pairs, err := f.sameChanges(ctx, fresh)
	if err != nil {
		return nil, err
	}
	taken := map[gitstore.ID]bool{}
	take := func(found []pair) {
		pairs = append(pairs, found...)
		for _, p := range pairs {
			taken[p.to.ID] = true
		}
	}
	take(f.toldPairs(byID))
	squashed, err := f.squashes(ctx, fresh, taken)
	if err != nil {
		return nil, err
	}
	take(squashed)
	left := slices.DeleteFunc(slices.Clone(fresh), func(c gitstore.LoggedCommit) bool { return taken[c.ID] })
	alike, err := f.lookalikes(ctx, pairs, left)
	if err != nil {
		return nil, err
	}
	take(alike)
	left = slices.DeleteFunc(left, func(c gitstore.LoggedCommit) bool { return taken[c.ID] || len(f.places[c.ID]) > 0 })
	more, err := f.partsOfReplaced(ctx, left)
	return append(pairs, more...), err
}

// partsOfReplaced returns the unexplained commits that leave a file as a replaced commit left it: git reports only one
// replacement for a commit that was split.
func (f *follower) partsOfReplaced(ctx context.Context, fresh []gitstore.LoggedCommit) ([]pair, error) {
	var replaced []gitstore.ID
	for id := range f.told {
		if len(f.places[id]) > 0 {
			replaced = append(replaced, id)
		}
	}
	if len(replaced) == 0 || len(fresh) == 0 {
		return nil, nil
	}
	slices.Sort(replaced)
	was, err := f.store.Repo.LogOnly(ctx, replaced)
	if err != nil {
		return nil, err
	}
	return f.parts(ctx, was, fresh)
}

// toldPairs returns the replacements of reviewed commits that git reported, each with its oldest commit first.
func (f *follower) toldPairs(byID map[gitstore.ID]gitstore.LoggedCommit) []pair {
	made := map[gitstore.ID]*pair{}
	var order []gitstore.ID
	for from, to := range f.told {
		c, here := byID[to]
		if !here {
			continue
		}
		if made[to] == nil {
			made[to] = &pair{to: c, how: f.how[from]}
			order = append(order, to)
		}
		if len(f.places[from]) > 0 { // the intermediate steps of a squash have no review
			made[to].from = append(made[to].from, from)
		}
	}
	slices.Sort(order)
	var pairs []pair
	for _, to := range order {
		p := made[to]
		if len(p.from) > 0 {
			f.sortRow(p.from)
			pairs = append(pairs, *p)
		}
	}
	return pairs
}

// sortRow sorts commits that follow each other, oldest first.
func (f *follower) sortRow(row []gitstore.ID) {
	slices.Sort(row)
	depth := map[gitstore.ID]int{}
	for _, id := range row {
		n := 0
		for at := id; n < len(row); n++ {
			c, err := f.store.Repo.ReadCommit(context.Background(), at)
			if err != nil || len(c.Parents) != 1 || !slices.Contains(row, c.Parents[0]) {
				break
			}
			at = c.Parents[0]
		}
		depth[id] = n
	}
	slices.SortStableFunc(row, func(a, b gitstore.ID) int { return depth[a] - depth[b] })
}

// sameChanges returns the commits that make exactly the change of a reviewed one.
func (f *follower) sameChanges(ctx context.Context, commits []gitstore.LoggedCommit) ([]pair, error) {
	changes, err := changesOf(ctx, f.store, commits)
	if err != nil {
		return nil, err
	}
	known, err := f.knownChanges(ctx)
	if err != nil {
		return nil, err
	}
	var pairs []pair
	for i, c := range commits {
		from := slices.DeleteFunc(slices.Clone(known[changes[i]]), func(id gitstore.ID) bool { return id == c.ID })
		if len(from) > 0 {
			pairs = append(pairs, pair{to: c, from: from, same: true})
		}
	}
	return pairs, nil
}

// knownChanges returns the commits with the code of reviews by the change that they make. These include commits that
// no branch holds and whose review is not done, and those that reviews were carried to: a squash does more than each
// of its reviews saw.
func (f *follower) knownChanges(ctx context.Context) (map[string][]gitstore.ID, error) {
	known := map[string][]gitstore.ID{}
	add := func(change string, at gitstore.ID) {
		if change != "" && change != gitstore.NoChange {
			known[change] = each.Once(known[change], at)
		}
	}
	var undone []gitstore.ID
	var places []gitstore.Span
	for _, r := range f.reviews {
		if r.Part() {
			continue
		}
		add(r.Change, r.At())
		if r.Change == "" && r.Kind == record.SubjectCommit && f.orphans[r.At()] {
			undone = append(undone, r.At())
		}
		for _, m := range r.Moves {
			if m.State == record.MoveCarried && m.Base != "" {
				places = append(places, gitstore.Span{From: m.Base, To: m.To})
			}
		}
	}
	commits, err := f.store.Repo.LogOnly(ctx, undone)
	if err != nil {
		return nil, err
	}
	changes, err := changesOf(ctx, f.store, commits)
	if err != nil {
		return nil, err
	}
	for i, change := range changes {
		add(change, commits[i].ID)
	}
	changes, err = f.store.Repo.ChangeIDs(ctx, places)
	for i, change := range changes {
		add(change, places[i].To)
	}
	return known, err
}

// patchIDs returns the patch ids of commits, or nil if they cannot be computed, as in a partial clone.
func (f *follower) patchIDs(ctx context.Context, commits []gitstore.ID) (map[gitstore.ID]string, error) {
	patches, err := f.store.Repo.PatchIDs(ctx, commits)
	if err != nil && ctx.Err() == nil {
		return nil, nil
	}
	return patches, err
}

// lookalikes returns likely replacements of reviewed commits that no branch holds any more, or that their own
// branch here does not hold; that branch then holds the replacement. It matches, in this order, by patch id, by
// author and time with the subject, by author and time with a file, by subject and a file, and by what a file holds.
func (f *follower) lookalikes(ctx context.Context, found []pair, fresh []gitstore.LoggedCommit) ([]pair, error) {
	was, err := f.lost(ctx, found)
	if err != nil || len(was) == 0 {
		return nil, err
	}
	all := fresh
	if fresh, err = f.news(ctx, was, all); err != nil || len(fresh) == 0 {
		return nil, err
	}
	onBranch, err := f.freshOf(ctx, fresh)
	if err != nil {
		return nil, err
	}
	likes, err := f.likenesses(ctx, was, fresh, all)
	if err != nil {
		return nil, err
	}
	var pairs []pair
	for _, alike := range likes {
		was = slices.DeleteFunc(was, func(old gitstore.LoggedCommit) bool {
			i := slices.IndexFunc(fresh, func(c gitstore.LoggedCommit) bool {
				return alike(old, c) && onBranch(old.ID, c.ID)
			})
			if i >= 0 {
				pairs = append(pairs, pair{to: fresh[i], from: []gitstore.ID{old.ID}})
			}
			return i >= 0
		})
	}
	parts, err := f.parts(ctx, was, fresh)
	pairs = append(pairs, slices.DeleteFunc(parts, func(p pair) bool { return !onBranch(p.from[0], p.to.ID) })...)
	for _, p := range pairs {
		if old := p.from[0]; f.left[old] != "" { // as if the hook had reported it
			f.told[old] = p.to.ID
		}
	}
	return pairs, err
}

// lost returns the orphans and what left its branch, without those whose replacement is known: a pair in found has
// it, or an earlier pass recorded it.
func (f *follower) lost(ctx context.Context, found []pair) ([]gitstore.LoggedCommit, error) {
	lost := slices.AppendSeq(slices.Collect(maps.Keys(f.orphans)), maps.Keys(f.left))
	replaced := map[gitstore.ID]bool{}
	for _, p := range found {
		for _, id := range p.from {
			replaced[id] = true
		}
	}
	for _, r := range f.reviews {
		for _, m := range r.Moves {
			replaced[m.From] = replaced[m.From] || m.To != "" && m.To != m.From
		}
	}
	lost = slices.DeleteFunc(lost, func(id gitstore.ID) bool { return replaced[id] })
	if len(lost) == 0 {
		return nil, nil
	}
	slices.Sort(lost)
	return f.store.Repo.LogOnly(ctx, lost)
}

// news returns the fresh commits that may replace one of was: git did not report what they replaced, they change
// something, and none of was is on top of them. A commit that was dropped has no replacement, and a local branch may
// only be behind that of the remote.
func (f *follower) news(ctx context.Context, was, fresh []gitstore.LoggedCommit) ([]gitstore.LoggedCommit, error) {
	id := func(c gitstore.LoggedCommit) gitstore.ID { return c.ID }
	apart, err := f.store.Repo.NotIn(ctx, each.Of(fresh, id), each.Of(was, id)...)
	return slices.DeleteFunc(slices.Clone(fresh), func(c gitstore.LoggedCommit) bool {
		empty := len(c.Parents) < 2 && len(c.Files) == 0
		return empty || !slices.Contains(apart, c.ID) || f.explained[c.ID]
	}), err
}

// freshOf returns the test whether a fresh commit may replace an old one: it has to be on the branch that the old one
// left.
func (f *follower) freshOf(ctx context.Context,
	fresh []gitstore.LoggedCommit) (func(old, c gitstore.ID) bool, error) {
	ids := each.Of(fresh, func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })
	off := map[gitstore.ID]map[gitstore.ID]bool{} // the tip of a branch → fresh commits that the branch does not hold
	for _, tip := range f.left {
		if off[tip] != nil {
			continue
		}
		not, err := f.store.Repo.NotIn(ctx, ids, tip)
		if err != nil {
			return nil, err
		}
		off[tip] = each.SetOf(not, func(id gitstore.ID) gitstore.ID { return id })
	}
	return func(old, c gitstore.ID) bool { return f.left[old] == "" || !off[f.left[old]][c] }, nil
}

// likenesses returns the tests whether a commit of was looks like one of fresh, the surest first. all are the commits
// that are new since the last call: an author and a time tell nothing where several of them have both.
func (f *follower) likenesses(ctx context.Context,
	was, fresh, all []gitstore.LoggedCommit) ([]func(a, b gitstore.LoggedCommit) bool, error) {
	ids := each.Of(slices.Concat(fresh, was), func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })
	patches, err := f.patchIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	ofOne := map[string]int{} // an agent can make several commits in one second
	for _, c := range all {
		ofOne[c.Author]++
	}
	shareFile := func(a, b gitstore.LoggedCommit) bool {
		return slices.ContainsFunc(a.Files, func(name string) bool { return slices.Contains(b.Files, name) })
	}
	return []func(a, b gitstore.LoggedCommit) bool{
		func(a, b gitstore.LoggedCommit) bool { return patches[a.ID] != "" && patches[a.ID] == patches[b.ID] },
		func(a, b gitstore.LoggedCommit) bool { return a.Author == b.Author && a.Subject == b.Subject },
		func(a, b gitstore.LoggedCommit) bool {
			return a.Author == b.Author && ofOne[b.Author] == 1 && len(b.Parents) == 1 && shareFile(a, b)
		},
		func(a, b gitstore.LoggedCommit) bool { return a.Subject == b.Subject && shareFile(a, b) },
	}, nil
}

// maxParted is how many commits are compared file by file.
const maxParted = 50

// leftFile is a file as a commit leaves it, by its name or, for one that was renamed, by the commit's author and time.
type leftFile struct {
	name, author string
	id           gitstore.ID
}

// parts returns the commits that leave a file as a lost commit left it: that one was split, folded into them, or its
// file was renamed.
func (f *follower) parts(ctx context.Context, was, fresh []gitstore.LoggedCommit) ([]pair, error) {
	made := map[leftFile][]gitstore.LoggedCommit{}
	for _, c := range fresh[:min(len(fresh), maxParted)] {
		changed, err := f.leaves(ctx, c)
		if err != nil {
			return nil, err
		}
		for _, file := range changed {
			made[file] = append(made[file], c)
		}
	}
	var pairs []pair
	for _, old := range was[:min(len(was), maxParted)] {
		changed, err := f.leaves(ctx, old)
		if err != nil {
			return nil, err
		}
		taken := map[gitstore.ID]bool{}
		for _, file := range changed {
			for _, c := range made[file] {
				if !taken[c.ID] {
					taken[c.ID] = true
					pairs = append(pairs, pair{to: c, from: []gitstore.ID{old.ID}})
				}
			}
		}
	}
	return pairs, nil
}

// leaves returns the files that a commit changes, as it leaves them.
func (f *follower) leaves(ctx context.Context, c gitstore.LoggedCommit) ([]leftFile, error) {
	if len(c.Parents) != 1 {
		return nil, nil
	}
	changed, err := f.store.Repo.Changed(ctx, c.Parents[0], c.ID)
	var left []leftFile
	for _, file := range changed {
		if file.NewID != "" {
			left = append(left, leftFile{name: file.Path, id: file.NewID}, leftFile{author: c.Author, id: file.NewID})
		}
	}
	return left, err
}
