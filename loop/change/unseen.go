package change

import (
	"cmp"
	"context"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// maxSeen is how many commits of a range are looked at; a reviewer of the range speaks for
// none beyond.
const maxSeen = 200

// Unseen are the commits of a range that whoever reads the change of the whole has not
// seen: they added a line, or a file that is no text, that is not there at its end, or all
// that they did is in files of which hidden says that nothing was shown, or has no lines.
func (s Source) Unseen(ctx context.Context, subject Subject, hidden func(path string) bool) []gitstore.ID {
	if subject.Kind != Range || subject.Commit == "" {
		return nil
	}
	row, err := s.Repo.Between(ctx, subject.Base, subject.Commit, 100*maxSeen)
	if err != nil || len(row) == 0 {
		return nil
	}
	whole, err := s.deedsOf(ctx, subject.Base, subject.Tree, hidden)
	if err != nil {
		return row
	}
	var unseen []gitstore.ID
	for i, id := range row {
		if i >= maxSeen || !s.showsAll(ctx, id, whole, hidden) {
			unseen = append(unseen, id)
		}
	}
	return unseen
}

// deeds are what a change does, of the files that are shown.
type deeds struct {
	added map[string]bool // lines, without the blanks around them, and the headers of what is no text
	files int             // that are changed, shown or not
	shown int             // of them, those of which there is something to read
}

// showsAll reports whether all that a commit adds is in whole, and there is something of it
// to see. What git makes of a merge's parents was added by others.
func (s Source) showsAll(ctx context.Context, id gitstore.ID, whole deeds, hidden func(path string) bool) bool {
	from := gitstore.ID("") // nothing
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
		if !whole.added[line] {
			return false
		}
	}
	return true
}

// deedsOf are those of the change between two trees.
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
		if hidden(file.Path()) {
			continue
		}
		before := len(d.added)
		d.take(file)
		if len(file.Hunks) > 0 || len(d.added) > before {
			d.shown++
		}
	}
	return d, nil
}

// take adds what a file's part of a patch adds.
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
