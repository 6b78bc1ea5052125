package lineage

import (
	"cmp"
	"context"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// refuseUnsettled makes a review refuse again if the newest of commits have the refused code without what settled it:
// the fix is on another line of history, or a later commit undoes it. Their files decide that; see fixes.missing.
func refuseUnsettled(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit,
	by map[gitstore.ID][]cover) error {
	f := fixes{reader: newReader(ctx, s), commits: commits}
	for _, c := range commits {
		for i := range by[c.ID] {
			said := &by[c.ID][i]
			of := said.State == CoverReviewed || said.State == CoverCarried || said.State == CoverStale
			if !of || said.Outcome != record.OutcomeFailed || !said.Passed || len(said.settled) == 0 {
				continue
			}
			if err := f.judge(c, said); err != nil {
				return err
			}
		}
		by[c.ID] = slices.DeleteFunc(by[c.ID], func(said cover) bool { return said.copied && !said.Refused })
	}
	return nil
}

// fixes looks for what settled refusals in the newest commits of a list.
type fixes struct {
	*reader
	commits []gitstore.LoggedCommit
	heads   map[gitstore.ID]map[gitstore.ID]bool // the newest commits, each with those of commits in its history
}

// judge makes said, which covers c, refuse again if one of its fixes is missing.
func (f *fixes) judge(c gitstore.LoggedCommit, said *cover) error {
	refused, err := f.of(said.origin)
	if err == nil && refused == nil { // what was reviewed is not in this clone
		refused, err = f.ofCommit(c)
	}
	if err != nil {
		return err
	}
	var missing []gitstore.ID
	for head, history := range f.newest() {
		for _, fix := range said.settled {
			if !history[c.ID] || slices.Contains(missing, fix) {
				continue
			}
			path, err := f.missing(refused, said.origin.To, fix, head)
			if err != nil {
				return err
			}
			if path != "" {
				said.RefusedIn, missing = path, append(missing, fix)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	review, err := f.store.Review(f.ctx, said.Review)
	if err != nil {
		return err
	}
	if said.Passed, said.Refused = false, true; said.State == CoverStale {
		said.State, said.From = CoverReviewed, said.origin.To
	}
	said.Open = each.Count(review.Findings(), func(finding reply.Finding) bool {
		answer, _ := review.AnswerTo(finding.ID)
		return slices.Contains(missing, answer.Commit)
	})
	return nil
}

// newest returns the newest of the commits: those that are no parent of another.
func (f *fixes) newest() map[gitstore.ID]map[gitstore.ID]bool {
	if f.heads != nil {
		return f.heads
	}
	f.heads = map[gitstore.ID]map[gitstore.ID]bool{}
	parents, isParent := map[gitstore.ID][]gitstore.ID{}, map[gitstore.ID]bool{}
	for _, c := range f.commits {
		parents[c.ID] = c.Parents
		for _, parent := range c.Parents {
			isParent[parent] = true
		}
	}
	for _, c := range f.commits {
		if isParent[c.ID] {
			continue
		}
		history, next := map[gitstore.ID]bool{}, []gitstore.ID{c.ID}
		for len(next) > 0 {
			id := next[len(next)-1]
			next = next[:len(next)-1]
			if of, listed := parents[id]; listed && !history[id] {
				history[id], next = true, append(next, of...)
			}
		}
		f.heads[c.ID] = history
	}
	return f.heads
}

// missing returns a file of head that has refused code without fix, or "". What a fix removes of the refused code must
// not be there. A fix that removes nothing of it must be in effect: once it is in the history of head it may be changed
// further, but not undone. The refused edits were reviewed in the commit reviewed.
func (f *fixes) missing(refused []edit, reviewed, fix, head gitstore.ID) (path string, err error) {
	commit, _, err := f.commit(fix)
	if err != nil {
		return "", err
	}
	made, err := f.ofCommit(commit)
	if err != nil {
		return "", err
	}
	if shared := inFilesOf(refused, made); len(shared) > 0 { // then nothing else of both counts
		made, refused = inFilesOf(made, refused), nil
		for _, e := range shared {
			fixed, _ := each.First(made, func(m edit) bool { return m.path == e.path })
			left, err := f.at(fix, e.path, reviewed) // the fix may rename the file
			if err != nil {
				return "", err
			}
			bad := e.added.and(fixed.removed).without(left.lines)
			if len(bad) == 0 {
				refused = append(refused, e)
				continue
			}
			at, err := f.at(head, e.path, reviewed)
			if err != nil || 2*at.lines.count(bad) >= len(bad) {
				return at.path, err
			}
		}
	}
	for _, e := range refused {
		at, err := f.at(head, e.path, reviewed)
		if err != nil {
			return "", err
		}
		if !at.holds(e) {
			continue
		}
		inEffect, err := f.inEffect(made, fix, head)
		if err != nil || inEffect {
			return "", err
		}
		return cmp.Or(at.path, e.path), nil // a file that is refused because it is not there has no path
	}
	return "", nil
}

// inFilesOf returns the edits of files that others edit as well.
func inFilesOf(edits, others []edit) []edit {
	return each.Where(edits, func(e edit) bool {
		return slices.ContainsFunc(others, func(o edit) bool { return o.path == e.path })
	})
}

// inEffect reports whether head has what a fix made, or has the fix in its history and does not undo it.
func (f *fixes) inEffect(made []edit, fix, head gitstore.ID) (bool, error) {
	applied, undone := len(made) > 0, len(made) > 0
	for _, e := range made {
		at, err := f.at(head, e.path, fix)
		if err != nil {
			return false, err
		}
		applied, undone = applied && at.applies(e), undone && at.undoes(e)
	}
	if applied || undone {
		return applied, nil
	}
	return f.includes(head, fix)
}

// includes reports whether fix is in the history of head, or a commit there that makes its edits.
func (f *fixes) includes(head, fix gitstore.ID) (bool, error) {
	history := f.newest()[head]
	if history[fix] {
		return true, nil
	}
	commit, here, err := f.commit(fix)
	if err != nil || !here {
		return false, err
	}
	apart, err := f.store.Repo.NotIn(f.ctx, []gitstore.ID{fix}, head)
	if err != nil || len(apart) == 0 {
		return err == nil, err
	}
	made, err := f.ofCommit(commit)
	if err != nil {
		return false, err
	}
	for _, c := range f.commits {
		if !history[c.ID] || !coversPaths(f.pathsOf(c), f.pathsOf(commit)) {
			continue
		}
		if edits, err := f.ofCommit(c); err != nil || contains(edits, made) {
			return err == nil, err
		}
	}
	return false, nil
}

// coversPaths reports whether paths, which are sorted, include all of some, and some are any.
func coversPaths(paths, some []string) bool {
	return len(some) > 0 && !slices.ContainsFunc(some, func(path string) bool {
		_, found := slices.BinarySearch(paths, path)
		return !found
	})
}

// maxDecided is how many of the newest reviews in which people refuse, and in which they approve, are read.
const maxDecided = 100

// addRefusedPatches adds to by what people refuse, for commits that make all edits of a refused commit: copies by
// cherry-pick, squash or am, also between other lines and beside other edits, and the last of several commits into
// which it was cut. What these people passed later, of exactly the same edits, takes that back. What is older than the
// refused commit is no copy of it. commits are newest first.
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
				c.State, c.copied = CoverCarried, true
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
		if len(covers) == 0 || covers[0].aside || decision == record.RequestChanges && !covers[0].refusesCopies() {
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

// copies returns, by commit, what people refuse of commits whose edits it makes, or completes, and that are not newer:
// who refused the second of two commits that make the same edits did not refuse the first.
func (p *patches) copies(refused map[gitstore.ID]*verdict) (map[gitstore.ID][]cover, error) {
	inView := each.SetOf(p.commits, func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })
	found, copiesOf := map[gitstore.ID][]cover{}, map[*verdict][]gitstore.ID{}
	var older verdicts
	for id, v := range refused {
		if !inView[id] {
			older.add(v, p.pathsOf(v.commit))
		}
	}
	for i, c := range slices.Backward(p.commits) {
		for _, v := range older.near(c, p.pathsOf(c)) {
			is, err := p.makes(c, v.commit)
			if err == nil && !is {
				is, err = p.completes(c, v.commit)
			}
			if err != nil {
				return nil, err
			}
			if is {
				copiesOf[v] = append(copiesOf[v], c.ID)
			}
		}
		if v := refused[c.ID]; v != nil && i > 0 {
			older.add(v, p.pathsOf(c))
		}
	}
	for v, ids := range copiesOf {
		newer := ids
		if !inView[v.commit.ID] {
			var err error
			if newer, err = p.store.Repo.NotIn(p.ctx, ids, v.commit.ID); err != nil {
				return nil, err
			}
		}
		for _, id := range newer {
			found[id] = append(found[id], v.said...)
		}
	}
	return found, nil
}

// verdicts are verdicts by the paths that their commits change.
type verdicts struct {
	all []*verdict
	of  map[string][]*verdict
}

func (vs *verdicts) add(v *verdict, paths []string) {
	if vs.of == nil {
		vs.of = map[string][]*verdict{}
	}
	for _, path := range paths {
		vs.of[path] = append(vs.of[path], v)
	}
	if len(paths) > 0 {
		vs.all = append(vs.all, v)
	}
}

// near returns the verdicts on commits that change one of the paths that c changes. A merge may join the parts of any.
func (vs *verdicts) near(c gitstore.LoggedCommit, paths []string) (near []*verdict) {
	if len(c.Parents) > 1 {
		return vs.all
	}
	for _, path := range paths {
		for _, v := range vs.of[path] {
			near = each.Once(near, v)
		}
	}
	return near
}

// completes reports whether a commit has all that another changed, and none of its parents does: that one was cut in
// several, and this is the last of them.
func (p *patches) completes(commit, other gitstore.LoggedCommit) (bool, error) {
	edits, err := p.ofCommit(other)
	if err != nil || len(edits) == 0 {
		return false, err
	}
	files := p.filesOf(commit)
	for _, e := range edits { // most differ here, and no tree has to be read
		if file, edited := files[e.path]; edited {
			if made, err := p.made(file, e); err != nil || !made {
				return false, err
			}
		}
	}
	if all, err := p.allMade(commit.ID, edits); err != nil || !all {
		return false, err
	}
	for _, parent := range commit.Parents {
		if all, err := p.allMade(parent, edits); err != nil || all {
			return false, err
		}
	}
	return true, nil
}

// allMade reports whether a commit has what edits make.
func (p *patches) allMade(commit gitstore.ID, edits []edit) (bool, error) {
	for _, e := range edits {
		file, err := p.store.Repo.File(p.ctx, commit, e.path)
		if err = p.unlessAbsent(err); err != nil {
			return false, err
		}
		if made, err := p.made(content{file.ID, file.Mode}, e); err != nil || !made {
			return false, err
		}
	}
	return true, nil
}

// made reports whether a file has what e makes: the same contents, or all lines that it adds and none that it removes.
func (p *patches) made(file content, e edit) (bool, error) {
	if e.is(file, e.new) || len(e.added)+len(e.removed) == 0 {
		return e.is(file, e.new), nil
	}
	lines, err := p.linesOf(file)
	return err == nil && lines.has(e.added) && lines.count(e.removed) == 0, err
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
