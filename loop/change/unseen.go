package change

import (
	"cmp"
	"context"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// maxSeen is the maximum number of commits of a range that are compared. Older ones count as unseen.
const maxSeen = 1_000

// Unseen returns the commits of a range that a reader of the whole change has not seen. Such a commit added a line or a
// binary file that the whole change does not add, or changed only files without visible lines. The newest commit adds
// nothing else, because the whole change leads to its tree. hidden reports whether nothing of a file was shown; if it
// is nil, every file counts as shown, also one without visible lines.
func (s Source) Unseen(ctx context.Context, subject Subject, hidden func(path string) bool) []gitstore.ID {
	if subject.Kind != Range || subject.Commit == "" {
		return nil
	}
	row, err := s.Repo.Between(ctx, subject.Base, subject.Commit, 20*maxSeen)
	if err != nil || len(row) == 0 {
		return nil
	}
	whole, err := s.deedsOf(ctx, subject.Base, subject.Tree, hidden)
	if err != nil {
		return row
	}
	var unseen []gitstore.ID
	for i, id := range row {
		all := whole
		if id == subject.Commit {
			all = deeds{}
		}
		if i >= maxSeen || !s.showsAll(ctx, id, all, hidden) {
			unseen = append(unseen, id)
		}
	}
	return unseen
}

// deeds are the additions of a change in the files that are shown.
type deeds struct {
	added map[string]bool // lines without the blanks around them, and the blobs of files without lines; nil: any
	files int             // changed files, shown or not
	shown int             // shown files with something to read
}

// showsAll reports whether whole contains everything that a commit adds, and something of the commit was shown. A merge
// is compared with git's own merge of its parents, because other commits added the rest.
func (s Source) showsAll(ctx context.Context, id gitstore.ID, whole deeds, hidden func(path string) bool) bool {
	from := gitstore.ID("") // the empty tree
	switch c, err := s.Repo.ReadCommit(ctx, id); {
	case err != nil:
		return false
	case len(c.Parents) == 1:
		from = c.Parents[0]
	case len(c.Parents) > 1:
		if from, err = s.Repo.Remerge(ctx, id); err != nil {
			return false
		}
	}
	its, err := s.deedsOf(ctx, from, id, hidden)
	if err != nil || its.files > 0 && its.shown == 0 {
		return false
	}
	for line := range its.added {
		if whole.added != nil && !whole.added[line] {
			return false
		}
	}
	return true
}

// deedsOf returns the deeds of the change between two trees.
func (s Source) deedsOf(ctx context.Context, from, to gitstore.ID, hidden func(path string) bool) (deeds, error) {
	patch, err := s.Repo.DiffWithin(ctx, gitstore.DiffSpec{From: from, To: to}, gitstore.PatchBounds)
	if err != nil {
		return deeds{}, err
	}
	d := deeds{added: map[string]bool{}}
	for file, err := range unidiff.Files(string(patch)) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return d, err
		}
		d.files++
		if hidden != nil && hidden(file.Path()) {
			continue
		}
		before := len(d.added)
		d.take(file)
		if hidden == nil || len(file.Hunks) > 0 || len(d.added) > before {
			d.shown++
		}
	}
	return d, nil
}

// take adds to d what a file's part of a patch adds.
func (d deeds) take(file unidiff.File) {
	if len(file.Hunks) == 0 && file.NewID != "" {
		d.added["blob "+file.NewID] = true
	}
	for _, h := range file.Hunks {
		for _, l := range h.Lines {
			if text := strings.TrimSpace(l.Text); l.Kind == '+' && text != "" {
				d.added[text] = true
			}
		}
	}
}
