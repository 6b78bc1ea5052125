package reviewing

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// Change is the difference that a reviewer is shown.
type Change struct {
	Base    gitstore.ID // commit or tree
	Tree    gitstore.ID // commit or tree
	Subject record.Subject
	Patch   []byte   // as git diff prints it; the current part's if there are several
	Rest    []byte   // the same for generated and vendored files
	Files   []string // shown, in the patch's order
	Parts   []Part   // in the order in which they are shown
	Census  record.Census
}

// ReadChange reads the change of subject and its census. The change of a merge commit is its difference from git's
// automatic merge.
func ReadChange(ctx context.Context, s *store.Store, subject record.Subject, limits role.Limits) (Change, error) {
	change, err := readChange(ctx, s, subject, limits)
	if err != nil {
		return change, fmt.Errorf("read change: %w", err)
	}
	return change, nil
}

func readChange(ctx context.Context, s *store.Store, subject record.Subject, limits role.Limits) (Change, error) {
	from, err := s.ComparedWith(ctx, subject)
	change := Change{Base: from, Tree: subject.Tree, Subject: subject}
	if err != nil {
		return change, err
	}
	overruled, err := overrule(ctx, s, from, subject.Tree, &limits)
	if err != nil {
		return change, err
	}
	spec := gitstore.DiffSpec{From: from, To: subject.Tree, Paths: subject.Paths, LargeBinary: true}
	files, err := listFiles(ctx, s, spec, limits)
	if err != nil {
		return change, err
	}
	if change.Census, err = files.census(ctx, s, limits); err != nil {
		return change, err
	}
	if change.Census.Overruled = overruled; change.Census.Nothing() {
		return change, nil
	}
	if err := measure(ctx, s, change); err != nil {
		return change, err
	}
	patch, err := s.Repo.DiffWithin(ctx, files.spec, gitstore.PatchBounds)
	if err != nil {
		return change, err
	}
	if patch, change.Rest, err = without(patch, files.left); err != nil {
		return change, err
	}
	if err := change.leaveOut(ctx, patch, files.kept, limits); err != nil {
		return change, err
	}
	for _, f := range files.kept {
		if !change.Census.Hides(f.Path) {
			change.Files = append(change.Files, f.Path)
		}
	}
	if err := change.split(patch, limits); err != nil {
		return change, err
	}
	change.Patch = change.Parts[0].Patch
	return change, nil
}

// leaveOut adds to the census what patch does not show: the files of submodules, of which it has only the commits, and
// the lines of files beyond bounds, unless the reviewer opens files.
func (c *Change) leaveOut(ctx context.Context, patch []byte, files []gitstore.FileStat, limits role.Limits) error {
	cut := map[string]bool{}
	for f, err := range unidiff.Files(string(patch)) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if f.NewMode == gitstore.ModeCommit {
			c.Census.LeftOut = append(c.Census.LeftOut, record.LeftOut{Path: f.New + "/", Why: record.LeftSubmodule})
		}
		cut[f.Path()] = cut[f.Path()] || f.Cut && !limits.Opens
	}
	for _, f := range files {
		if cut[f.Path] {
			c.Census.LeaveTooLarge(f.Path)
			c.Census.SentLines -= f.Added + f.Deleted
		}
	}
	return nil
}

// fileList holds the files of a change: all, those to show, and why others are left out, by path.
type fileList struct {
	spec gitstore.DiffSpec
	all  []gitstore.FileStat
	kept []gitstore.FileStat
	left map[string]string
}

// listFiles lists the files that differ. A file that was moved from an excluded path is listed as new, with all its
// lines: nobody has reviewed them.
func listFiles(ctx context.Context, s *store.Store, spec gitstore.DiffSpec,
	limits role.Limits) (files fileList, err error) {
	if files.all, err = s.Repo.DiffStat(ctx, spec); err != nil {
		return files, err
	}
	if spec.NoRenames, err = movedIn(ctx, s, spec.From, files.all, limits); err != nil {
		return files, err
	}
	if spec.NoRenames {
		if files.all, err = s.Repo.DiffStat(ctx, spec); err != nil {
			return files, err
		}
	}
	files.kept = slices.Clone(files.all)
	if spec.Exclude = limits.Exclude; len(spec.Exclude) > 0 {
		if files.kept, err = s.Repo.DiffStat(ctx, spec); err != nil {
			return files, err
		}
	}
	if files.spec = spec; limits.Generated {
		return files, nil
	}
	files.left, err = generated(ctx, s, spec.From, files.kept)
	files.kept = slices.DeleteFunc(files.kept, func(f gitstore.FileStat) bool { return files.left[f.Path] != "" })
	return files, err
}

// census counts what a reviewer is shown of the files.
func (files fileList) census(ctx context.Context, s *store.Store, limits role.Limits) (c record.Census, err error) {
	var texts map[string]string
	if !limits.Opens {
		if texts, err = textsTakenForBinary(ctx, s, files.spec.To, files.kept); err != nil {
			return c, err
		}
	}
	c = census(files.all, files.kept, files.left, texts, limits)
	c.Unmatched, err = unmatched(ctx, s, files.spec.To, limits, c)
	return c, err
}

// movedIn reports whether a file came from a path that limits exclude from reviews.
func movedIn(ctx context.Context, s *store.Store, from gitstore.ID, all []gitstore.FileStat,
	limits role.Limits) (bool, error) {
	excluded := gitstore.CompileGlobs(limits.Exclude)
	var old []gitstore.FileStat
	for _, f := range all {
		if f.OldPath == "" {
			continue
		}
		if excluded.Match(f.OldPath) {
			return true, nil
		}
		old = append(old, gitstore.FileStat{Path: f.OldPath})
	}
	if len(old) == 0 || limits.Generated {
		return false, nil
	}
	left, err := generated(ctx, s, from, old)
	return len(left) > 0, err
}

// measure fills in the sizes of the binary files that are left out of change.
func measure(ctx context.Context, s *store.Store, change Change) error {
	binary := each.Where(change.Census.LeftOut, func(l record.LeftOut) bool { return l.Why == record.LeftBinary })
	if len(binary) == 0 {
		return nil
	}
	paths := each.Of(binary, func(l record.LeftOut) string { return l.Path })
	is, err := s.Repo.FileSizes(ctx, change.Tree, paths)
	if err != nil || change.Base == "" {
		return err
	}
	was, err := s.Repo.FileSizes(ctx, change.Base, paths)
	for i := range change.Census.LeftOut {
		l := &change.Census.LeftOut[i]
		l.Bytes, l.Was = is[l.Path], was[l.Path]
	}
	return err
}

// overrule removes the exclusions from limits if the change modifies the file that configures them, and returns them.
func overrule(ctx context.Context, s *store.Store, from, to gitstore.ID, limits *role.Limits) ([]string, error) {
	if limits.ExcludedBy == "" || len(limits.Exclude) == 0 {
		return nil, nil
	}
	changed, err := s.Repo.Differs(ctx, gitstore.DiffSpec{From: from, To: to, Paths: []string{limits.ExcludedBy}})
	if err != nil || !changed {
		return nil, err
	}
	overruled := limits.Exclude
	limits.Exclude = nil
	return overruled, nil
}

// unmatched returns the configured globs that match no file in the tree: they are most likely wrong.
func unmatched(ctx context.Context, s *store.Store, tree gitstore.ID, limits role.Limits,
	c record.Census) ([]string, error) {
	idle := slices.DeleteFunc(slices.Clone(limits.Exclude), func(glob string) bool {
		matches := gitstore.CompileGlobs([]string{glob}).Match
		return slices.ContainsFunc(c.LeftOut, func(l record.LeftOut) bool { return matches(l.Path) })
	})
	return s.Repo.UnmatchedGlobs(ctx, tree, idle)
}

// census counts the files that are neither excluded nor in left. Making the patch shows whether all of them can be
// shown.
func census(all, kept []gitstore.FileStat, left map[string]string, texts map[string]string,
	limits role.Limits) record.Census {
	c := record.Census{Files: len(all)}
	isKept := each.SetOf(kept, func(f gitstore.FileStat) string { return f.Path })
	for _, f := range all {
		c.Lines += f.Added + f.Deleted
		why := cmp.Or(left[f.Path], texts[f.Path])
		switch {
		case !isKept[f.Path]:
			why = cmp.Or(left[f.Path], record.LeftExcluded)
		case why != "":
		case !f.Binary:
			c.SentLines += f.Added + f.Deleted
		case limits.Binary:
			c.SentBinary, c.Binary = c.SentBinary+1, append(c.Binary, f.Path)
		default:
			why = record.LeftBinary
		}
		if why != "" {
			c.LeftOut = append(c.LeftOut, record.LeftOut{Path: f.Path, Why: why})
		}
		if why == "" || limits.Binary && why == record.LeftTooLarge { // its name and size are judged
			c.SentFiles++
		}
	}
	return c
}
