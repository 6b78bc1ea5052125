package record

import (
	"context"
	"strings"

	"git-runr/gitstore"
	"git-runr/loop/unidiff"
)

// maxSeen is how many commits of a range are looked at; a reviewer of the range speaks for
// none beyond.
const maxSeen = 200

// unseen are the commits of a range that whoever reads the change of the whole has not
// seen: they added a line, or a file that is no text, that is not there at its end.
func (s *Store) unseen(ctx context.Context, subject Subject) []gitstore.ID {
	if subject.Kind != SubjectRange || subject.Commit == "" {
		return nil
	}
	row, err := s.Repo.Between(ctx, subject.Base, subject.Commit, 100*maxSeen)
	if err != nil || len(row) == 0 {
		return nil
	}
	shown, err := s.added(ctx, subject.Base, subject.Tree)
	if err != nil {
		return row[1:]
	}
	var unseen []gitstore.ID
	for i, id := range row[1:] {
		if i >= maxSeen || !s.showsAll(ctx, id, shown) {
			unseen = append(unseen, id)
		}
	}
	return unseen
}

// showsAll reports whether all that a commit adds is among shown. What git makes of a
// merge's parents was added by others.
func (s *Store) showsAll(ctx context.Context, id gitstore.ID, shown map[string]bool) bool {
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
	added, err := s.added(ctx, from, id)
	for line := range added {
		if !shown[line] {
			return false
		}
	}
	return err == nil
}

// added are the lines that a change adds, without the blanks around them, and the headers
// of what is no text.
func (s *Store) added(ctx context.Context, from, to gitstore.ID) (map[string]bool, error) {
	patch, _, err := s.Repo.Diff(ctx, gitstore.DiffSpec{From: from, To: to})
	if err != nil {
		return nil, err
	}
	lines := map[string]bool{}
	for file, err := range unidiff.Files(string(patch)) {
		if err != nil {
			return nil, err
		}
		if len(file.Hunks) == 0 {
			for line := range strings.Lines(file.Text) {
				if _, to, ok := strings.Cut(line, ".."); ok && strings.HasPrefix(line, "index ") {
					lines["blob "+to[:min(len(to), 40)]] = true
				}
			}
		}
		for _, h := range file.Hunks {
			for _, l := range h.Lines {
				if text := strings.TrimSpace(l.Text); l.Kind == '+' && text != "" {
					lines[text] = true
				}
			}
		}
	}
	return lines, nil
}
