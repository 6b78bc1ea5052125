package lineage

import (
	"context"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/store"
)

// runRows finds rows of commits that make the change of a run together, as after a rebase: one commit for each step of
// the run's branch, in order. Nobody looked at what another step adds and the next one takes away.
type runRows struct {
	store    *store.Store
	inView   map[gitstore.ID]bool
	all      map[gitstore.ID]gitstore.LoggedCommit
	children map[gitstore.ID][]gitstore.ID
}

// newRunRows adds to changeOf the changes of the commits below those in view that name the run of a commit above them,
// as far as that has no review of its own.
func newRunRows(ctx context.Context, s *store.Store, commits, unnamed []gitstore.LoggedCommit,
	changeOf map[gitstore.ID]string) (*runRows, error) {
	rows := &runRows{store: s, all: map[gitstore.ID]gitstore.LoggedCommit{}, children: map[gitstore.ID][]gitstore.ID{},
		inView: each.SetOf(commits, func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })}
	below := rows.below(ctx, unnamed)
	changes, err := changesOf(ctx, s, below)
	for i, c := range below {
		changeOf[c.ID] = changes[i]
	}
	for _, c := range slices.Concat(commits, below) {
		if rows.all[c.ID] = c; len(c.Parents) == 1 {
			rows.children[c.Parents[0]] = append(rows.children[c.Parents[0]], c.ID)
		}
	}
	return rows, err
}

// maxRunRow is how many commits of one run are taken together.
const maxRunRow = 40

// below returns the commits that follow the last ones in view downwards and name the same run.
func (r *runRows) below(ctx context.Context, unnamed []gitstore.LoggedCommit) (below []gitstore.LoggedCommit) {
	for _, c := range unnamed {
		run := namedRun(c.Message)
		for n := 0; run != "" && n < maxRunRow && len(c.Parents) == 1 && !r.inView[c.Parents[0]]; n++ {
			parent, err := r.store.Repo.ReadCommit(ctx, c.Parents[0])
			if err != nil || len(parent.Parents) != 1 || namedRun(parent.Message) != run {
				break
			}
			c = gitstore.LoggedCommit{ID: c.Parents[0], Parents: parent.Parents, Message: parent.Message}
			below = append(below, c)
		}
	}
	return below
}

// namedRun returns the run that a commit's message names, or "". Anybody can write that; it only tells where to look.
func namedRun(message string) string {
	_, rest, _ := strings.Cut(message, "\nRunr-Run: ")
	run, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(run)
}

// add adds to by what runs, of which covers are the covers, say of rows of commits. It adds no pass to a commit that
// has another verdict of its own. inRow are the commits that are no longer looked at alone.
func (r *runRows) add(ctx context.Context, changeOf map[gitstore.ID]string, covers []cover,
	by map[gitstore.ID][]cover) (inRow map[gitstore.ID]bool, err error) {
	inRow = map[gitstore.ID]bool{}
	for id := range changeOf { // those below the view have no place in by
		inRow[id] = !r.inView[id]
	}
	for _, run := range runsOf(covers) {
		for id, change := range changeOf {
			if change != run.steps[0] {
				continue
			}
			row, err := r.climb(ctx, r.all[id], run)
			if err != nil {
				return nil, err
			}
			for _, id := range row.ids {
				own := func(c cover) bool { return (isReviewed(c) || c.Refused) && !c.Earlier }
				if !r.inView[id] || !row.said.Refused && slices.ContainsFunc(by[id], own) {
					continue
				}
				inRow[id] = true
				ofRun := func(c cover) bool { return c.Earlier && c.Run == row.said.Run }
				by[id] = append(slices.DeleteFunc(by[id], ofRun), row.cover())
			}
		}
	}
	return inRow, nil
}

// stepped is a run with several steps, and what its reviewer said of the change up to each.
type stepped struct {
	steps []string
	said  map[string]cover
}

// runsOf returns the runs among covers.
func runsOf(covers []cover) map[string]stepped {
	runs := map[string]stepped{}
	for _, c := range covers {
		if c.Run == "" || c.Review != "" || len(c.steps) < 2 || c.change == "" || c.State != CoverReviewed {
			continue
		}
		if runs[c.Run].said == nil {
			runs[c.Run] = stepped{c.steps, map[string]cover{}}
		}
		if _, newer := runs[c.Run].said[c.change]; !newer && (c.Refused || len(c.unseen) == 0) {
			runs[c.Run].said[c.change] = c
		}
	}
	return runs
}

// runRow is commits that make the steps of a run, oldest first, after the commit from, and what is said of the run's
// own.
type runRow struct {
	from gitstore.ID
	ids  []gitstore.ID
	said cover
}

// cover returns what is said of the row.
func (r runRow) cover() cover {
	c := r.said
	c.From, c.State, c.ranged, c.row = c.span.To, CoverCarried, true, r.ids
	c.span = gitstore.Span{From: r.from, To: r.ids[len(r.ids)-1]}
	return c
}

// climb returns the row that begins with a commit which makes the first step of run. It has the verdict of the last
// step that has one, and no commit if that is the first. Commits without a change may stand between the steps.
func (r *runRows) climb(ctx context.Context, first gitstore.LoggedCommit, run stepped) (row runRow, err error) {
	if len(first.Parents) != 1 {
		return row, nil
	}
	ids, step := []gitstore.ID{first.ID}, 0
	for len(ids) < maxRunRow {
		next, made, err := r.next(ctx, first.Parents[0], ids[len(ids)-1], run.steps[step:min(step+2, len(run.steps))])
		if err != nil {
			return row, err
		}
		if next == "" {
			break
		}
		ids, step = append(ids, next), step+made
		if said, known := run.said[run.steps[step]]; known && made > 0 {
			row = runRow{first.Parents[0], slices.Clone(ids), said}
			if said.span.To == next { // the run's own commits, which it covers anyway
				row = runRow{}
			}
		}
	}
	return row, nil
}

// next returns the commit on top of at up to which the change since from is one of steps, and the index of the step.
func (r *runRows) next(ctx context.Context, from, at gitstore.ID, steps []string) (gitstore.ID, int, error) {
	above := r.children[at]
	changes, err := r.store.Repo.ChangeIDs(ctx, each.Of(above, func(id gitstore.ID) gitstore.Span {
		return gitstore.Span{From: from, To: id}
	}))
	for i, change := range changes {
		if made := slices.Index(steps, change); made >= 0 {
			return above[i], made, err
		}
	}
	return "", 0, err
}
