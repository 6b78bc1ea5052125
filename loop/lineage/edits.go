package lineage

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/store"
)

// edit is what a change does to a file.
type edit struct {
	path           string
	old, new       content
	added, removed lineSet // lines that only one of the two versions has
}

// content is what a tree says of a file. It is empty for a file that is not there.
type content struct {
	id   gitstore.ID
	mode string
}

// is reports whether c is one side of e. What e changes of the mode counts.
func (e edit) is(c, side content) bool { return c.id == side.id && e.modeOf(c) == e.modeOf(side) }

// modeOf returns what e changes of the mode of c: "" for nothing, the kind of file, or else the whole mode.
func (e edit) modeOf(c content) string {
	switch {
	case e.old.mode == e.new.mode:
		return ""
	case e.old.kind() != e.new.kind(): // also that of a new file
		return c.kind()
	}
	return c.mode
}

// kind returns the part of the mode that tells a file from a symbolic link and a submodule.
func (c content) kind() string { return c.mode[:min(3, len(c.mode))] }

// lineSet is the lines of a file without the white space around them, and without those that have no letter or digit.
// The mode of the file and its kind are more lines.
type lineSet map[string]bool

func (l lineSet) and(lines lineSet) lineSet {
	both := lineSet{}
	for line := range lines {
		if l[line] {
			both[line] = true
		}
	}
	return both
}

func (l lineSet) without(lines lineSet) lineSet {
	rest := lineSet{}
	for line := range l {
		if !lines[line] {
			rest[line] = true
		}
	}
	return rest
}

func (l lineSet) count(lines lineSet) int { return len(l.and(lines)) }

func (l lineSet) has(lines lineSet) bool { return l.count(lines) == len(lines) }

// contains reports whether a change makes all edits of another, and maybe more, wherever the lines are in their files.
func contains(change, other []edit) bool {
	return len(other) > 0 && !slices.ContainsFunc(other, func(e edit) bool {
		in, same := each.First(change, func(c edit) bool { return c.path == e.path })
		lines := len(e.added)+len(e.removed) > 0 && in.added.has(e.added) && in.removed.has(e.removed)
		return !same || !e.is(in.new, e.new) && !lines
	})
}

// version is a file of a commit; its content is empty if the commit does not have it.
type version struct {
	path string
	content
	lines lineSet
}

// holds reports whether v has what e does: at least half of the lines that it adds, or none of those that it removes.
func (v version) holds(e edit) bool {
	switch {
	case e.is(v.content, e.new):
		return true
	case len(e.added) > 0:
		return 2*v.lines.count(e.added) >= len(e.added)
	}
	return len(e.removed) > 0 && v.lines.count(e.removed) == 0
}

// applies reports whether v has all that e adds, and nothing that it removes.
func (v version) applies(e edit) bool {
	made := v.lines.has(e.added) && v.lines.count(e.removed) == 0
	return e.is(v.content, e.new) || !e.is(v.content, e.old) && made
}

// undoes reports whether v is as before e, or has all that e removes and nothing that it adds.
func (v version) undoes(e edit) bool {
	back := len(e.removed) > 0 && v.lines.has(e.removed) && v.lines.count(e.added) == 0
	return e.is(v.content, e.old) || !e.is(v.content, e.new) && back
}

// reader reads edits, and keeps what it has read. What is not in this clone has no edits.
type reader struct {
	ctx     context.Context
	store   *store.Store
	edits   map[gitstore.Span][]edit
	paths   map[gitstore.ID][]string
	files   map[gitstore.ID]map[string]content
	lines   map[content]lineSet
	renames map[gitstore.Span]map[string]string // new paths by old ones
}

func newReader(ctx context.Context, s *store.Store) *reader {
	return &reader{ctx: ctx, store: s, edits: map[gitstore.Span][]edit{}, paths: map[gitstore.ID][]string{},
		files: map[gitstore.ID]map[string]content{}, lines: map[content]lineSet{},
		renames: map[gitstore.Span]map[string]string{}}
}

// pathsOf returns the paths that a commit changes, sorted: none for a merge.
func (r *reader) pathsOf(c gitstore.LoggedCommit) []string {
	r.filesOf(c)
	return r.paths[c.ID]
}

// filesOf returns the files of pathsOf as the commit has them; the content of a deleted file is empty.
func (r *reader) filesOf(c gitstore.LoggedCommit) map[string]content {
	if _, known := r.files[c.ID]; !known && len(c.Parents) < 2 {
		changes, _ := changesIn(r.ctx, r.store, c) // none if they cannot be read
		files := make(map[string]content, len(changes))
		for _, change := range changes {
			files[change.Path] = content{change.NewID, change.NewMode}
		}
		r.files[c.ID], r.paths[c.ID] = files, slices.Sorted(maps.Keys(files))
	}
	return r.files[c.ID]
}

// commit returns a commit with its parents; without them if it cannot be read here.
func (r *reader) commit(id gitstore.ID) (c gitstore.LoggedCommit, here bool, err error) {
	read, err := r.store.Repo.ReadCommit(r.ctx, id)
	return gitstore.LoggedCommit{ID: id, Parents: read.Parents}, err == nil, r.unlessAbsent(err)
}

func (r *reader) ofCommit(c gitstore.LoggedCommit) ([]edit, error) {
	base, err := parentOf(r.ctx, r.store, c)
	if err != nil {
		return nil, r.unlessAbsent(err)
	}
	return r.of(gitstore.Span{From: base, To: c.ID})
}

func (r *reader) of(span gitstore.Span) ([]edit, error) {
	if known, ok := r.edits[span]; ok {
		return known, nil
	}
	changes, err := r.store.Repo.Changed(r.ctx, span.From, span.To)
	if err != nil {
		return nil, r.unlessAbsent(err)
	}
	edits := make([]edit, len(changes))
	for i, change := range changes {
		old, err := r.text(change.OldID)
		if err != nil {
			return nil, err
		}
		now, err := r.text(change.NewID)
		if err != nil {
			return nil, err
		}
		e := edit{path: change.Path, old: content{change.OldID, change.OldMode},
			new: content{change.NewID, change.NewMode}}
		e.removed, e.added = differentLines(old, now)
		if was, is := e.modeOf(e.old), e.modeOf(e.new); was != "" && is != "" {
			e.removed[modeLine(was)], e.added[modeLine(is)] = true, true
		}
		edits[i] = e
	}
	r.edits[span] = edits
	return edits, nil
}

// at returns a file of a commit, also if it was renamed after since.
func (r *reader) at(commit gitstore.ID, path string, since gitstore.ID) (version, error) {
	file, err := r.store.Repo.File(r.ctx, commit, path)
	if errors.Is(err, gitstore.ErrNotFound) {
		span := gitstore.Span{From: since, To: commit}
		if _, known := r.renames[span]; !known {
			r.renames[span], _ = r.store.Repo.Renames(r.ctx, since, commit, false) // none if git finds none
		}
		path = r.renames[span][path]
		file, err = r.store.Repo.File(r.ctx, commit, path)
	}
	if err != nil {
		return version{}, r.unlessAbsent(err)
	}
	c := content{file.ID, file.Mode}
	lines, err := r.linesOf(c)
	return version{path, c, lines}, err
}

// linesOf returns the lines of a file.
func (r *reader) linesOf(file content) (lineSet, error) {
	if _, known := r.lines[file]; !known {
		text, err := r.text(file.id)
		if err != nil {
			return nil, err
		}
		r.lines[file] = linesOf(strings.Split(text, "\n"))
		r.lines[file][modeLine(file.mode)], r.lines[file][modeLine(file.kind())] = true, true
	}
	return r.lines[file], nil
}

// modeLine stands for a file's mode, or a part of it, among its lines. It ends in a line break, so that no line of a
// text is equal.
func modeLine(mode string) string { return "mode " + mode + "\n" }

// text returns the text of a file: "" if it cannot be read here, as of a submodule, or is not there.
func (r *reader) text(blob gitstore.ID) (string, error) {
	if blob == "" {
		return "", nil
	}
	text, err := r.store.Repo.ReadBlob(r.ctx, blob)
	if err != nil {
		return "", r.unlessAbsent(err)
	}
	return string(text), nil
}

// unlessAbsent returns err, unless an object is not here, as in a shallow or partial clone, or cannot be read.
func (r *reader) unlessAbsent(err error) error {
	if errors.Is(err, gitstore.ErrNotFound) || errors.Is(err, gitstore.ErrTooLarge) {
		return r.ctx.Err()
	}
	return err
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
	both := onlyOld.and(onlyNow)
	for _, line := range slices.Concat(was[:head], was[len(was)-tail:]) {
		both[strings.TrimSpace(line)] = true
	}
	return onlyOld.without(both), onlyNow.without(both)
}

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
