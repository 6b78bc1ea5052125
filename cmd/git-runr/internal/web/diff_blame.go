package web

import (
	"context"

	"github.com/git-runr/git-runr/gitstore"
)

// blamed adds the authors of the lines on the new side to rows. It returns the reason if that failed; the diff is
// shown without them.
func (p *pages) blamed(ctx context.Context, c comparison, f changedFile, hunks []hunkView) (why string) {
	ranges := newLines(hunks)
	if len(ranges) == 0 {
		return ""
	}
	if c.at == "" {
		return "it is not committed"
	}
	found, err := p.repo.Blame(ctx, c.at, f.Path, ranges)
	if err != nil {
		return gitstore.BlameFailure(err)
	}
	for _, h := range hunks {
		var above *gitstore.Blame
		for i := range h.Rows {
			blame := found[h.Rows[i].New]
			if blame == nil || h.Rows[i].New == 0 {
				continue
			}
			h.Rows[i].Blame = &blameView{blame, blame.Commit == c.unnamed, blame == above}
			above = blame
		}
	}
	return ""
}

// blameView is the author of a line.
type blameView struct {
	*gitstore.Blame
	Uncommitted bool // in an uncommitted tree
	Again       bool // the same as for the line above
}

// blameIn is the page's table cell for the author of a line; Blame may be nil.
type blameIn struct {
	page
	Blame *blameView
}

// newLines returns the line numbers of the new side in rows, as ranges.
func newLines(hunks []hunkView) (ranges [][2]int) {
	for _, h := range hunks {
		for _, row := range h.Rows {
			switch n := row.New; {
			case n == 0:
			case len(ranges) > 0 && ranges[len(ranges)-1][1] == n-1:
				ranges[len(ranges)-1][1] = n
			default:
				ranges = append(ranges, [2]int{n, n})
			}
		}
	}
	return ranges
}
