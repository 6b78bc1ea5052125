package loop

import (
	"slices"

	"git-runr/gitstore"
	"git-runr/loop/record"
)

// lostWork names what the attempt in the user's checkout did to the user's own work: files
// that differed from HEAD before it and are as there again, or gone, and where HEAD went.
func (t *turn) lostWork(a *record.Attempt, before, after gitstore.Snapshot) error {
	if before.Head != after.Head || before.HeadRef != after.HeadRef {
		a.Moved = &record.HeadMove{From: before.Head, FromRef: before.HeadRef, To: after.Head, ToRef: after.HeadRef}
	}
	head := before.Head
	if head == "" {
		var err error
		if head, err = t.Store.Repo.EmptyTree(t.ctx); err != nil {
			return err
		}
	}
	theirs, err := t.paths(head, t.run.Plan.Base)
	if err != nil {
		return err
	}
	mine, err := t.paths(head, before.Tree)
	if err != nil {
		return err
	}
	differs, err := t.paths(head, after.Tree)
	if err != nil {
		return err
	}
	changes, err := t.Store.Repo.Changed(t.ctx, before.Tree, after.Tree)
	for _, c := range changes {
		agents := slices.Contains(t.run.Files(), c.Path) && !theirs[c.Path] // of an earlier attempt
		if mine[c.Path] && !agents && c.OldMode != "" && (c.NewMode == "" || !differs[c.Path]) {
			a.Lost = append(a.Lost, c.Path)
		}
	}
	return err
}

// paths are those that differ between two trees or commits.
func (t *turn) paths(from, to gitstore.ID) (map[string]bool, error) {
	files, err := t.changedOnDisk(from, to)
	all := map[string]bool{}
	for _, f := range files {
		all[f] = true
	}
	return all, err
}
