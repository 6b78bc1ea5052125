package lineage

import (
	"context"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/store"
)

// addSameRows adds to by the covers of the change that the commits of one run make together, as after a rebase. It adds
// none to a commit whose code an agent or a person looked at, or that is refused.
func addSameRows(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit,
	by map[gitstore.ID][]cover) error {
	left := each.Where(commits, func(c gitstore.LoggedCommit) bool {
		return !slices.ContainsFunc(by[c.ID], func(c cover) bool { return isReviewed(c) || c.Refused })
	})
	rows := runRows(ctx, s, left)
	changes, err := s.Repo.ChangeIDs(ctx, each.Of(rows, runRow.span))
	if err != nil || len(rows) == 0 {
		return err
	}
	changeOf := map[gitstore.ID]string{}
	for i, row := range rows {
		changeOf[row.span().To] = changes[i]
	}
	known, err := coversOfChanges(ctx, s, changeOf)
	if err != nil {
		return err
	}
	inView := each.SetOf(left, func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })
	for i, row := range rows {
		for _, same := range known[changes[i]] {
			made, err := row.madeAs(ctx, s, same)
			if err != nil {
				return err
			}
			if !made || same.State != CoverReviewed || len(same.unseen) > 0 {
				continue
			}
			same.From, same.State, same.span, same.row, same.ranged = same.span.To, CoverCarried, row.span(), row.ids, true
			for _, id := range row.ids {
				if inView[id] {
					by[id] = append(by[id], same)
				}
			}
		}
	}
	return nil
}

// runRow is commits that name the same run and follow each other, newest first, after the commit from.
type runRow struct {
	ids  []gitstore.ID
	from gitstore.ID
}

func (r runRow) span() gitstore.Span { return gitstore.Span{From: r.from, To: r.ids[0]} }

// maxRunRow is how many commits of one run are taken together.
const maxRunRow = 20

// runRows returns the rows of two or more commits that end with one of commits, which are newest first.
func runRows(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit) (rows []runRow) {
	inRow := map[gitstore.ID]bool{}
	for _, c := range commits {
		run := namedRun(c.Message)
		if inRow[c.ID] || run == "" || len(c.Parents) != 1 {
			continue
		}
		row := runRow{[]gitstore.ID{c.ID}, c.Parents[0]}
		for len(row.ids) < maxRunRow {
			parent, err := s.Repo.ReadCommit(ctx, row.from)
			if err != nil || len(parent.Parents) != 1 || namedRun(parent.Message) != run {
				break
			}
			inRow[row.from] = true
			row.ids, row.from = append(row.ids, row.from), parent.Parents[0]
		}
		if len(row.ids) > 1 {
			rows = append(rows, row)
		}
	}
	return rows
}

// namedRun returns the run that a commit's message names, or "". Anybody can write that; it only tells where to look.
func namedRun(message string) string {
	_, rest, _ := strings.Cut(message, "\nRunr-Run: ")
	run, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(run)
}

// madeAs reports whether the run of c made its change in exactly the steps of r: nobody looked at what another step
// adds and the next one removes.
func (r runRow) madeAs(ctx context.Context, s *store.Store, c cover) (bool, error) {
	steps, err := s.Repo.ChangeIDs(ctx, each.Of(r.ids, func(id gitstore.ID) gitstore.Span {
		return gitstore.Span{From: r.from, To: id}
	}))
	slices.Reverse(steps)
	return slices.Equal(steps, c.steps), err
}
