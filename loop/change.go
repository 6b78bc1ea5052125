package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-runr/gitstore"
)

// Census says what of a change a reviewer saw, and what not and why. A verdict
// without it could be about nothing.
type Census struct {
	Files      int       `json:"files"`      // in the change, within the paths asked for
	Lines      int       `json:"lines"`      // added and deleted in them
	SentFiles  int       `json:"sent_files"` // shown to the reviewer
	SentLines  int       `json:"sent_lines"`
	SentBinary int       `json:"sent_binary,omitempty"` // binary files that a reviewer who can judge them was told of
	LeftOut    []LeftOut `json:"left_out,omitempty"`
	Unmatched  []string  `json:"unmatched_globs,omitempty"` // of what is to be left out: they match no file of the tree
	Overruled  []string  `json:"overruled_globs,omitempty"` // of what is to be left out: see Limits.ExcludedBy
	Checks     int       `json:"checks,omitempty"`          // that there are to run
	ChecksLeft int       `json:"checks_not_run,omitempty"`
}

// NotRun says how many checks were not run, "" when all were.
func (c Census) NotRun() string {
	if c.ChecksLeft == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s not run", c.ChecksLeft, Count(c.Checks, "check"))
}

// countChecks counts checks that say nothing as left out: results that could not be
// run, and others that were not tried.
func (c *Census) countChecks(results []CheckResult, others int) {
	c.Checks, c.ChecksLeft = len(results)+others, notRun(results)+others
}

// LeftOut is a file that the reviewer did not see, or not all of.
type LeftOut struct {
	Path  string `json:"path"`
	Why   string `json:"why"`             // excluded, binary, text_taken_for_binary or too_large
	Lines int    `json:"lines,omitempty"` // of it that were not seen; 0: all
}

// The values of LeftOut.Why.
const (
	LeftExcluded = "excluded"
	LeftBinary   = "binary"
	LeftText     = "text_taken_for_binary" // of NUL bytes or UTF-16: git shows no lines of it, and what runs it reads them
	LeftTooLarge = "too_large"
)

// String is what was left out and why, for people; the path is as it is.
func (l LeftOut) String() string {
	why := strings.ReplaceAll(l.Why, "_", " ")
	if l.Lines > 0 {
		why = fmt.Sprintf("%s of it, %s", Count(l.Lines, "line"), why)
	}
	return fmt.Sprintf("%s (%s)", l.Path, why)
}

// Nothing reports whether the reviewer saw nothing at all: never a pass.
func (c Census) Nothing() bool { return c.SentLines == 0 && c.SentBinary == 0 }

// Partial reports whether something of the change was to be read and could not be shown to
// anybody: what a reviewer then says is never a pass of all of it.
func (c Census) Partial() bool { return c.Unread() != "" }

// Unread names what makes the census partial.
func (c Census) Unread() string { return c.Left(LeftTooLarge, LeftText) }

// Left names what was left out for one of these reasons, for whatever reason without one.
func (c Census) Left(whys ...string) string {
	var left []string
	for _, l := range c.LeftOut {
		if len(whys) == 0 || slices.Contains(whys, l.Why) {
			left = append(left, l.String())
		}
	}
	return names(left)
}

// unseen reports whether something was left out although nobody asked for that.
func (c Census) unseen() bool {
	return slices.ContainsFunc(c.LeftOut, func(l LeftOut) bool { return l.Why != LeftExcluded })
}

// Change is the difference that a reviewer is shown.
type Change struct {
	Base   gitstore.ID // commit or tree
	Tree   gitstore.ID // commit or tree
	Patch  []byte      // unified, as git diff prints it; of the part at hand where there are several
	Files  []string    // shown, in the patch's order
	Parts  []Part      // what is shown at once, in order
	Census Census
}

// Limits bound what a reviewer is shown.
type Limits struct {
	Exclude []string // globs that are left out: see gitstore.Globs
	// ExcludedBy is the file of the repository that asks for Exclude, "" when another
	// source does. A change of that file is shown as if it asked for nothing: it could
	// hide in the same commit whatever it likes.
	ExcludedBy string
	MaxBytes   int64 // of a part of the patch; 0: no limit
	MaxParts   int   // 0: one
	Binary     bool  // whether the reviewer can judge that a binary file is there
	Opens      bool  // whether the reviewer opens what git shows no lines of: a person
}

// LockFiles are generated files whose diff tells an agent nothing. The built-in
// reviewer reads them all the same.
var LockFiles = []string{
	"**/*.lock", "**/package-lock.json", "**/npm-shrinkwrap.json", "**/pnpm-lock.yaml", "**/go.sum",
	"**/*.min.js", "**/*.min.css", "**/*.snap", "**/bun.lockb",
}

// ReadChange is the change of subject, and the census of it. A merge commit's
// change is what it does beyond what git merges by itself.
func (s *Store) ReadChange(ctx context.Context, subject Subject, limits Limits) (Change, error) {
	from, err := s.ComparedWith(ctx, subject)
	change := Change{Base: from, Tree: subject.Tree}
	if err != nil {
		return change, fmt.Errorf("read change: %w", err)
	}
	overruled, err := s.overrule(ctx, from, subject.Tree, &limits)
	if err != nil {
		return change, fmt.Errorf("read change: %w", err)
	}
	spec := gitstore.DiffSpec{From: from, To: subject.Tree, Paths: subject.Paths}
	all, err := s.Repo.DiffStat(ctx, spec)
	if err != nil {
		return change, fmt.Errorf("read change: %w", err)
	}
	spec.Exclude = limits.Exclude
	kept, err := s.Repo.DiffStat(ctx, spec)
	if err != nil {
		return change, fmt.Errorf("read change: %w", err)
	}
	var texts map[string]bool
	if !limits.Opens {
		if texts, err = s.textsTakenForBinary(ctx, subject.Tree, kept); err != nil {
			return change, fmt.Errorf("read change: %w", err)
		}
	}
	change.Census = census(all, kept, texts, limits)
	change.Census.Overruled = overruled
	if change.Census.Unmatched, err = s.unmatched(ctx, subject.Tree, limits, change.Census); err != nil {
		return change, fmt.Errorf("read change: %w", err)
	}
	if change.Census.Nothing() {
		return change, nil
	}
	patch, _, err := s.Repo.Diff(ctx, spec)
	if err != nil {
		return change, fmt.Errorf("read change: %w", err)
	}
	for _, f := range kept {
		if !change.Census.leftOut(f.Path) {
			change.Files = append(change.Files, f.Path)
		}
	}
	change.split(patch, kept, limits)
	change.Patch = change.Parts[0].Patch
	return change, nil
}

// overrule takes the globs out of limits that the change's own file asks for, and
// returns them.
func (s *Store) overrule(ctx context.Context, from, to gitstore.ID, limits *Limits) ([]string, error) {
	if limits.ExcludedBy == "" || len(limits.Exclude) == 0 {
		return nil, nil
	}
	changed, err := s.Repo.DiffStat(ctx, gitstore.DiffSpec{From: from, To: to, Paths: []string{limits.ExcludedBy}})
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	isLockFile := func(glob string) bool { return slices.Contains(LockFiles, glob) }
	overruled := slices.DeleteFunc(slices.Clone(limits.Exclude), isLockFile)
	limits.Exclude = slices.DeleteFunc(slices.Clone(limits.Exclude), func(glob string) bool { return !isLockFile(glob) })
	return overruled, nil
}

// unmatched are the globs of a configuration that leave out nothing here and could
// leave out nothing anywhere in the tree: they are most likely wrong.
func (s *Store) unmatched(ctx context.Context, tree gitstore.ID, limits Limits, c Census) ([]string, error) {
	idle := slices.DeleteFunc(slices.Clone(limits.Exclude), func(glob string) bool {
		matches := gitstore.CompileGlobs([]string{glob}).Match
		return slices.Contains(LockFiles, glob) || slices.ContainsFunc(c.LeftOut, func(l LeftOut) bool { return matches(l.Path) })
	})
	return s.Repo.UnmatchedGlobs(ctx, tree, idle)
}

// ComparedWith is the commit or tree that the files of subject are compared with: its
// base, but for a merge commit what git makes of the parents by itself.
func (s *Store) ComparedWith(ctx context.Context, subject Subject) (gitstore.ID, error) {
	if merge, err := s.isMerge(ctx, subject); err != nil || !merge {
		return subject.Base, err
	}
	return s.Repo.Remerge(ctx, subject.Commit)
}

// isMerge reports whether subject is a merge commit.
func (s *Store) isMerge(ctx context.Context, subject Subject) (bool, error) {
	if subject.Kind != SubjectCommit || subject.Commit == "" {
		return false, nil
	}
	commit, err := s.Repo.ReadCommit(ctx, subject.Commit)
	return len(commit.Parents) > 1, err
}

// census counts what is not excluded; whether all of that can be shown turns out when the
// patch is made.
func census(all, kept []gitstore.FileStat, texts map[string]bool, limits Limits) Census {
	c := Census{Files: len(all)}
	isKept := map[string]bool{}
	for _, f := range kept {
		isKept[f.Path] = true
	}
	for _, f := range all {
		c.Lines += f.Added + f.Deleted
		switch {
		case !isKept[f.Path]:
			c.LeftOut = append(c.LeftOut, LeftOut{Path: f.Path, Why: LeftExcluded})
		case texts[f.Path]:
			c.LeftOut = append(c.LeftOut, LeftOut{Path: f.Path, Why: LeftText})
		case f.Binary && limits.Binary:
			c.SentBinary++
			c.SentFiles++
		case f.Binary:
			c.LeftOut = append(c.LeftOut, LeftOut{Path: f.Path, Why: LeftBinary})
		default:
			c.SentFiles++
			c.SentLines += f.Added + f.Deleted
		}
	}
	return c
}

// leftOut reports whether nothing of the file at path is shown.
func (c Census) leftOut(path string) bool {
	return slices.ContainsFunc(c.LeftOut, func(l LeftOut) bool { return l.Path == path && l.Lines == 0 })
}
