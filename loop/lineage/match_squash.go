package lineage

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
)

// maxSquashes bounds how many new commits are compared with how many branches.
const maxSquashes = 30

// squashes returns the commits that make the change of a row of reviewed commits, as when a forge squashes a branch.
// For taken commits, which have a match already but may be an unreviewed step, it looks only for rows of lost commits.
func (f *follower) squashes(ctx context.Context, commits []gitstore.LoggedCommit,
	taken map[gitstore.ID]bool) ([]pair, error) {
	tips := f.rowTips(ctx)
	rows, err := f.lostRows(ctx)
	if len(tips) == 0 || err != nil {
		return nil, err
	}
	var single []gitstore.LoggedCommit
	for _, c := range commits {
		if len(c.Parents) == 1 && len(single) < maxSquashes {
			single = append(single, c)
		}
	}
	changes, err := changesOf(ctx, f.store, single)
	if err != nil {
		return nil, err
	}
	heads := slices.Clone(tips)
	for _, c := range single {
		heads = append(heads, c.ID)
	}
	known := tipRows{f: f, bases: f.store.Repo.Ancestry(heads), rows: map[gitstore.Span]tipRow{},
		patches: map[gitstore.ID]string{}}
	var pairs []pair
	for i, c := range single {
		if row := rows[changes[i]]; len(row) > 0 && changes[i] != gitstore.NoChange {
			pairs = append(pairs, pair{to: c, from: row, how: "squash"})
			continue
		}
		if taken[c.ID] || changes[i] == gitstore.NoChange {
			continue
		}
		row, err := known.squashOf(ctx, c, changes[i], tips)
		if err != nil {
			return nil, err
		}
		if len(row) > 0 {
			pairs = append(pairs, pair{to: c, from: row, how: "squash"})
		}
	}
	return pairs, nil
}

// maxRow is the longest row of lost commits whose parts are all compared.
const maxRow = 20

// lostRows returns the rows of two or more consecutive reviewed commits that no branch holds any more, by their
// combined change.
func (f *follower) lostRows(ctx context.Context) (map[string][]gitstore.ID, error) {
	var spans []gitstore.Span
	var rows [][]gitstore.ID
	for _, end := range slices.Sorted(maps.Keys(f.orphans)) {
		row := []gitstore.ID{end}
		for len(row) < maxRow && len(spans) < maxRow*maxRow {
			c, err := f.store.Repo.ReadCommit(ctx, row[0])
			if err != nil || len(c.Parents) != 1 {
				break
			}
			if len(row) > 1 {
				spans, rows = append(spans, gitstore.Span{From: c.Parents[0], To: end}), append(rows, row)
			}
			if !f.orphans[c.Parents[0]] {
				break
			}
			row = append([]gitstore.ID{c.Parents[0]}, row...)
		}
	}
	changes, err := f.store.Repo.ChangeIDs(ctx, spans)
	byChange := map[string][]gitstore.ID{}
	for i, change := range changes {
		byChange[change] = rows[i]
	}
	delete(byChange, "")
	return byChange, err
}

// rowTips returns the branches here and the newest reviewed commits: those that are not the parent of a reviewed one.
func (f *follower) rowTips(ctx context.Context) []gitstore.ID {
	stoodOn := map[gitstore.ID]bool{}
	var at []gitstore.ID
	if branches, err := f.store.Repo.Refs(ctx, "refs/heads/"); err == nil {
		at = slices.Sorted(maps.Values(branches))
		at = slices.Compact(at[:min(len(at), maxSquashes/2)])
	}
	for _, r := range f.reviews[:min(len(f.reviews), 10*maxSquashes)] {
		c, err := f.store.Repo.ReadCommit(ctx, r.At())
		if err != nil || slices.Contains(at, r.At()) {
			continue
		}
		at = append(at, r.At())
		for _, p := range c.Parents {
			stoodOn[p] = true
		}
	}
	at = slices.DeleteFunc(at, func(id gitstore.ID) bool { return stoodOn[id] })
	return at[:min(len(at), maxSquashes)]
}

// tipRows caches the rows that new commits are compared with: most new commits have the same base with a tip.
type tipRows struct {
	f     *follower
	bases interface {
		MergeBase(ctx context.Context, a, b gitstore.ID) (gitstore.ID, error)
	}
	rows    map[gitstore.Span]tipRow
	patches map[gitstore.ID]string // by commit
}

// tipRow is the row of commits from a base to a tip.
type tipRow struct {
	commits []gitstore.ID // oldest first; a single one is no row
	change  string        // their combined change
	one     gitstore.ID   // a commit with the combined change; made on demand
}

// squashOf returns the row of commits that c was made of, oldest first, or nil.
func (k *tipRows) squashOf(ctx context.Context, c gitstore.LoggedCommit, change string,
	tips []gitstore.ID) ([]gitstore.ID, error) {
	var spans []gitstore.Span
	for _, tip := range tips {
		if tip == c.ID || slices.Contains(c.Parents, tip) {
			continue // one contains the other
		}
		base, err := k.bases.MergeBase(ctx, tip, c.ID)
		if missing := new(gitstore.MissingError); errors.As(err, &missing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if base != tip && base != c.ID {
			spans = append(spans, gitstore.Span{From: base, To: tip})
		}
	}
	if err := k.read(ctx, spans); err != nil {
		return nil, err
	}
	spans = slices.DeleteFunc(spans, func(s gitstore.Span) bool { return len(k.rows[s].commits) < 2 })
	for _, span := range spans {
		if k.rows[span].change == change {
			return k.rows[span].commits, nil
		}
	}
	return k.squashAlike(ctx, c, spans)
}

// read reads the rows of spans that were not read before.
func (k *tipRows) read(ctx context.Context, spans []gitstore.Span) error {
	var fresh []gitstore.Span
	for _, span := range spans {
		if _, known := k.rows[span]; known {
			continue
		}
		row, err := k.f.store.Repo.Between(ctx, span.From, span.To, maxFollowed)
		if err == nil && len(row) > 1 {
			fresh = append(fresh, span)
		}
		slices.Reverse(row)
		k.rows[span] = tipRow{commits: row}
	}
	changes, err := k.f.store.Repo.ChangeIDs(ctx, fresh)
	for i, change := range changes {
		row := k.rows[fresh[i]]
		row.change = change
		k.rows[fresh[i]] = row
	}
	return err
}

// squashAlike is squashOf by patch ids: it makes commits with the combined changes of the rows.
func (k *tipRows) squashAlike(ctx context.Context, c gitstore.LoggedCommit,
	spans []gitstore.Span) ([]gitstore.ID, error) {
	ask := []gitstore.ID{c.ID}
	for _, span := range spans {
		row := k.rows[span]
		if row.one != "" {
			continue
		}
		var err error
		if row.one, err = k.f.store.KeepTree(ctx, span.To, span.From, "squash"); err != nil {
			return nil, err
		}
		k.rows[span] = row
		ask = append(ask, row.one)
	}
	if len(spans) == 0 {
		return nil, nil
	}
	patches, err := k.f.patchIDs(ctx, ask)
	if err != nil {
		return nil, err
	}
	maps.Copy(k.patches, patches)
	for _, span := range spans {
		if patch := k.patches[k.rows[span].one]; patch != "" && patch == k.patches[c.ID] {
			return k.rows[span].commits, nil
		}
	}
	return nil, nil
}
