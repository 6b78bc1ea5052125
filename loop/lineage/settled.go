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
