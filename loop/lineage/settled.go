package lineage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

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
	f := fixes{ctx: ctx, store: s, commits: commits, edits: map[gitstore.Span][]edit{}, lines: map[gitstore.ID]lineSet{}}
	for _, c := range commits {
		for i := range by[c.ID] {
			said := &by[c.ID][i]
			here := said.State == CoverReviewed || said.State == CoverCarried
			if !here || said.Outcome != record.OutcomeFailed || !said.Passed || len(said.settled) == 0 {
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
	ctx     context.Context
	store   *store.Store
	commits []gitstore.LoggedCommit
	heads   map[gitstore.ID]map[gitstore.ID]bool // the newest commits, each with those of commits in its history
	edits   map[gitstore.Span][]edit             // read before
	lines   map[gitstore.ID]lineSet              // of files of the newest commits, read before
}

// edit is what a change does to a file. The id of a file that is not there is "".
type edit struct {
	path           string
	old, new       gitstore.ID
	added, removed lineSet // lines that only one of the two versions has
}

// lineSet is the lines of a file without the white space around them, and without those that have no letter or digit.
type lineSet map[string]bool

// judge makes said, which covers c, refuse again if one of its fixes is missing.
func (f *fixes) judge(c gitstore.LoggedCommit, said *cover) error {
	refused, err := f.refused(c, *said)
	if err != nil {
		return err
	}
	var missing []gitstore.ID
	for head, history := range f.newest() {
		for _, fix := range said.settled {
			if !history[c.ID] || slices.Contains(missing, fix) {
				continue
			}
			lacks, undone, err := f.missing(refused, fix, head)
			if err != nil {
				return err
			}
			if lacks {
				missing = append(missing, fix)
				said.Undone, said.Elsewhere = said.Undone || undone, said.Elsewhere || !undone
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
	said.Passed, said.Refused = false, true
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

// missing reports whether head has refused edits and not those of fix, and whether that is because head undoes the fix.
// Of a fix in refused files only the edits of these count. A fix in the history of head may be changed further: it is
// missing only where it is undone.
func (f *fixes) missing(refused []edit, fix, head gitstore.ID) (lacks, undone bool, err error) {
	made, err := f.ofCommit(fix)
	if err != nil {
		return false, false, err
	}
	in := func(edits []edit) map[string]bool { return each.SetOf(edits, func(e edit) string { return e.path }) }
	if there := in(refused); slices.ContainsFunc(made, func(e edit) bool { return there[e.path] }) {
		made = each.Where(made, func(e edit) bool { return there[e.path] })
		mended := in(made)
		refused = each.Where(refused, func(e edit) bool { return mended[e.path] })
	}
	holds := false
	for _, e := range refused {
		at, err := f.at(head, e.path)
		if err != nil {
			return false, false, err
		}
		holds = holds || at.holds(e)
	}
	if !holds {
		return false, false, nil
	}
	applied, undone := len(made) > 0, len(made) > 0
	for _, e := range made {
		at, err := f.at(head, e.path)
		if err != nil {
			return false, false, err
		}
		applied, undone = applied && at.applies(e), undone && at.undoes(e)
	}
	if applied {
		return false, false, nil
	}
	included, err := f.includes(head, fix)
	return !included || undone, included && undone, err
}

// version is a file of a commit; its id is "" if the commit does not have it.
type version struct {
	id    gitstore.ID
	lines lineSet
}

// holds reports whether v has what e does: at least half of the lines that it adds, or none of those that it removes.
func (v version) holds(e edit) bool {
	switch {
	case v.id == e.new:
		return true
	case len(e.added) > 0:
		return 2*v.lines.count(e.added) >= len(e.added)
	}
	return len(e.removed) > 0 && v.lines.count(e.removed) == 0
}

// applies reports whether v has all that e adds, and nothing that it removes.
func (v version) applies(e edit) bool {
	return v.id == e.new || v.id != e.old && v.lines.count(e.added) == len(e.added) && v.lines.count(e.removed) == 0
}

// undoes reports whether v is as before e, or has all that e removes and nothing that it adds.
func (v version) undoes(e edit) bool {
	back := len(e.removed) > 0 && v.lines.count(e.removed) == len(e.removed) && v.lines.count(e.added) == 0
	return v.id == e.old || v.id != e.new && back
}

// count returns how many of lines are in l.
func (l lineSet) count(lines lineSet) (n int) {
	for line := range lines {
		if l[line] {
			n++
		}
	}
	return n
}

// includes reports whether fix is in the history of head, or a commit there with the same patch.
func (f *fixes) includes(head, fix gitstore.ID) (bool, error) {
	history := f.newest()[head]
	if history[fix] {
		return true, nil
	}
	_, err := f.store.Repo.ReadCommit(f.ctx, fix)
	if err != nil {
		return false, f.unlessAbsent(err)
	}
	apart, err := f.store.Repo.NotIn(f.ctx, []gitstore.ID{fix}, head)
	if err != nil || len(apart) == 0 {
		return err == nil, err
	}
	p := newPatches(f.ctx, f.store)
	paths := p.pathsOf(fix)
	alike := []gitstore.ID{fix}
	for _, c := range f.commits {
		if history[c.ID] && paths != "" && p.pathsOfListed(c) == paths {
			alike = append(alike, c.ID)
		}
	}
	if len(alike) == 1 {
		return false, nil
	}
	patch, err := f.store.Repo.PatchIDs(f.ctx, alike)
	if err != nil {
		return false, f.ctx.Err()
	}
	return slices.ContainsFunc(alike[1:], func(id gitstore.ID) bool {
		return patch[id] != "" && patch[id] == patch[fix]
	}), nil
}

// refused returns what the cover of a commit refuses: the edits of its range, or of the commit.
func (f *fixes) refused(c gitstore.LoggedCommit, said cover) ([]edit, error) {
	if said.ranged {
		return f.of(said.span)
	}
	return f.ofListed(c)
}

// ofCommit returns the edits of a commit, or none if it cannot be read here.
func (f *fixes) ofCommit(id gitstore.ID) ([]edit, error) {
	commit, err := f.store.Repo.ReadCommit(f.ctx, id)
	if err != nil {
		return nil, f.unlessAbsent(err)
	}
	return f.ofListed(gitstore.LoggedCommit{ID: id, Parents: commit.Parents})
}

// ofListed is ofCommit for a commit whose parents are known.
func (f *fixes) ofListed(c gitstore.LoggedCommit) ([]edit, error) {
	base, err := parentOf(f.ctx, f.store, c)
	if err != nil {
		return nil, f.unlessAbsent(err)
	}
	return f.of(gitstore.Span{From: base, To: c.ID})
}

// of returns the edits of a change, or none if it cannot be read here.
func (f *fixes) of(span gitstore.Span) ([]edit, error) {
	if known, ok := f.edits[span]; ok {
		return known, nil
	}
	changes, err := f.store.Repo.Changed(f.ctx, span.From, span.To)
	if err != nil {
		return nil, f.unlessAbsent(err)
	}
	edits := make([]edit, len(changes))
	for i, change := range changes {
		old, err := f.read(change.OldID)
		if err != nil {
			return nil, err
		}
		now, err := f.read(change.NewID)
		if err != nil {
			return nil, err
		}
		edits[i] = edit{path: change.Path, old: change.OldID, new: change.NewID}
		edits[i].removed, edits[i].added = differentLines(old, now)
	}
	f.edits[span] = edits
	return edits, nil
}

// differentLines returns the lines that only old has, and those that only now has.
func differentLines(old, now string) (onlyOld, onlyNow lineSet) {
	was, is := strings.Split(old, "\n"), strings.Split(now, "\n")
	head, tail, most := 0, 0, min(len(was), len(is))
	for head < most && was[head] == is[head] {
		head++
	}
	for tail < most-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	onlyOld, onlyNow = linesOf(was[head:len(was)-tail]), linesOf(is[head:len(is)-tail])
	for line := range onlyOld {
		if onlyNow[line] {
			delete(onlyOld, line)
			delete(onlyNow, line)
		}
	}
	for _, line := range slices.Concat(was[:head], was[len(was)-tail:]) {
		line = strings.TrimSpace(line)
		delete(onlyOld, line)
		delete(onlyNow, line)
	}
	return onlyOld, onlyNow
}

// linesOf returns lines as a set.
func linesOf(lines []string) lineSet {
	set := lineSet{}
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for _, line := range lines {
		if strings.ContainsFunc(line, word) {
			set[strings.TrimSpace(line)] = true
		}
	}
	return set
}

// at returns a file of a commit.
func (f *fixes) at(commit gitstore.ID, path string) (version, error) {
	file, err := f.store.Repo.File(f.ctx, commit, path)
	if err != nil {
		return version{}, f.unlessAbsent(err)
	}
	lines, err := f.linesOf(file.ID)
	return version{file.ID, lines}, err
}

// linesOf returns the lines of a file.
func (f *fixes) linesOf(blob gitstore.ID) (lineSet, error) {
	if known, ok := f.lines[blob]; ok {
		return known, nil
	}
	text, err := f.read(blob)
	if err == nil {
		f.lines[blob] = linesOf(strings.Split(text, "\n"))
	}
	return f.lines[blob], err
}

// read returns the text of a file: "" if it cannot be read here, as of a submodule, or is not there.
func (f *fixes) read(blob gitstore.ID) (string, error) {
	if blob == "" {
		return "", nil
	}
	text, err := f.store.Repo.ReadBlob(f.ctx, blob)
	if err != nil {
		return "", f.unlessAbsent(err)
	}
	return string(text), nil
}

// unlessAbsent returns err, unless an object is not here, as in a shallow or partial clone, or cannot be read.
func (f *fixes) unlessAbsent(err error) error {
	if errors.Is(err, gitstore.ErrNotFound) || errors.Is(err, gitstore.ErrTooLarge) {
		return f.ctx.Err()
	}
	return err
}
