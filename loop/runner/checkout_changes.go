package runner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// gapsShown is the number of paths named in the line about files that are not kept.
const gapsShown = 10

// sayGaps warns, before an attempt in the user's checkout, which files could not be restored.
func (t *execution) sayGaps(gaps []gitstore.Gap) {
	if line := gapsLine(gaps); line != "" && line != t.gapsSaid {
		t.gapsSaid = line
		t.Progress.Say("not kept, so it cannot be restored if the agent changes it: " + line)
	}
}

// gapsLine names what a snapshot does not have, with its kind and size.
func gapsLine(gaps []gitstore.Gap) string {
	names := each.Of(gaps, func(g gitstore.Gap) string {
		if g.Bytes > 0 {
			return strings.TrimSuffix(g.String(), ")") + ", " + prose.Bytes(g.Bytes) + ")"
		}
		return g.String()
	})
	return prose.FirstNames(names, gapsShown)
}

// beside finds changes in the user's checkout during the attempt that no commit of the attempt contains: ignored files,
// permissions, and what could not be kept.
func (t *execution) beside(a *record.Attempt, before, after gitstore.Snapshot) error {
	ignored, modes, staged, err := t.tree.Beside(t.ctx, before, after)
	if err != nil {
		return err
	}
	a.Ignored = ignored
	all, err := t.Store.Repo.Changed(t.ctx, before.Tree, after.Tree)
	for _, c := range all { // such as a mode where git is configured to ignore modes
		modes = append(modes, c.Path)
	}
	modes = slices.DeleteFunc(modes, func(path string) bool {
		return slices.Contains(a.Files, path) || slices.Contains(a.Ignored, path)
	})
	slices.Sort(modes)
	a.Modes = slices.Compact(modes)
	staged = slices.DeleteFunc(staged, among(a.Files))
	a.Beside = slices.Concat(a.Ignored, a.Modes, staged)
	for _, g := range before.Touched(after) {
		a.NotKept = append(a.NotKept, g.String())
	}
	return err
}

// coveredBy reports whether one of the claims in said covers path.
func coveredBy(said []string, path string) bool {
	return slices.ContainsFunc(said, func(claim string) bool {
		return runplan.Covers(claim, strings.TrimSuffix(path, "/"))
	})
}

// lostWork records what the attempt in the user's checkout did to the user's own work: where HEAD moved, and which
// files that differed from HEAD before are gone or have HEAD's content again.
func (t *execution) lostWork(a *record.Attempt, before, after gitstore.Snapshot) error {
	if before.Head != after.Head || before.HeadRef != after.HeadRef {
		a.Moved = &record.HeadMove{From: before.Head, FromRef: before.HeadRef, To: after.Head, ToRef: after.HeadRef}
	}
	head := cmp.Or(before.Head, t.Store.Repo.EmptyTreeID())
	var sets [3]map[string]bool // the paths that differ from head
	for i, tree := range []gitstore.ID{t.run.Plan.Base, before.Tree, after.Tree} {
		files, err := t.changedOnDisk(head, tree)
		if err != nil {
			return err
		}
		sets[i] = each.Set(files)
	}
	theirs, mine, differs := sets[0], sets[1], sets[2]
	changes, err := t.Store.Repo.Changed(t.ctx, before.Tree, after.Tree)
	for _, c := range changes {
		agents := slices.Contains(t.run.Files(), c.Path) && !theirs[c.Path] // of an earlier attempt
		if mine[c.Path] && !agents && c.OldMode != "" && (c.NewMode == "" || !differs[c.Path]) {
			a.Lost = append(a.Lost, c.Path)
		}
	}
	return err
}
