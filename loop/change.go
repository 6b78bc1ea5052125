package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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

// LeftOut is a file that the reviewer did not see.
type LeftOut struct {
	Path string `json:"path"`
	Why  string `json:"why"` // excluded, binary or too_large
}

// Nothing reports whether the reviewer saw nothing at all: never a pass.
func (c Census) Nothing() bool { return c.SentLines == 0 && c.SentBinary == 0 }

// Change is the difference that a reviewer is shown.
type Change struct {
	Base   gitstore.ID // commit or tree
	Tree   gitstore.ID // commit or tree
	Patch  []byte      // unified, as git diff prints it
	Files  []string    // shown, in the patch's order
	Census Census
}

// Limits bound what a reviewer is shown.
type Limits struct {
	Exclude  []string // globs that are left out: see gitstore.Globs
	MaxBytes int64    // of the patch; 0: no limit
	Binary   bool     // whether the reviewer can judge that a binary file is there
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
	change.Census = census(all, kept, limits)
	if change.Census.Unmatched, err = s.unmatched(ctx, subject.Tree, limits, change.Census); err != nil {
		return change, fmt.Errorf("read change: %w", err)
	}
	spec.Exclude = append(slices.Clone(limits.Exclude), change.Census.tooLarge()...)
	if change.Census.Nothing() {
		return change, nil
	}
	if change.Patch, _, err = s.Repo.Diff(ctx, spec); err != nil {
		return change, fmt.Errorf("read change: %w", err)
	}
	for _, f := range kept {
		if !change.Census.leftOut(f.Path) {
			change.Files = append(change.Files, f.Path)
		}
	}
	return change, nil
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

// bytesPerLine turns the limit of the patch into lines, which is what is known
// before the patch is made.
const bytesPerLine = 60

// census decides what is shown: everything that is not excluded, less the
// largest files while the rest is too large.
func census(all, kept []gitstore.FileStat, limits Limits) Census {
	c := Census{Files: len(all)}
	isKept := map[string]bool{}
	for _, f := range kept {
		isKept[f.Path] = true
	}
	var sent []gitstore.FileStat
	for _, f := range all {
		c.Lines += f.Added + f.Deleted
		switch {
		case !isKept[f.Path]:
			c.LeftOut = append(c.LeftOut, LeftOut{Path: f.Path, Why: "excluded"})
		case f.Binary && limits.Binary:
			c.SentBinary++
			c.SentFiles++
		case f.Binary:
			c.LeftOut = append(c.LeftOut, LeftOut{Path: f.Path, Why: "binary"})
		default:
			sent = append(sent, f)
		}
	}
	slices.SortStableFunc(sent, func(a, b gitstore.FileStat) int { return cmp.Compare(a.Added+a.Deleted, b.Added+b.Deleted) })
	for _, f := range sent {
		if limits.MaxBytes > 0 && int64(c.SentLines+f.Added+f.Deleted)*bytesPerLine > limits.MaxBytes {
			c.LeftOut = append(c.LeftOut, LeftOut{Path: f.Path, Why: "too_large"})
			continue
		}
		c.SentFiles++
		c.SentLines += f.Added + f.Deleted
	}
	return c
}

func (c Census) leftOut(path string) bool {
	return slices.ContainsFunc(c.LeftOut, func(l LeftOut) bool { return l.Path == path })
}

// tooLarge are exact patterns for the files that were left out for their size.
func (c Census) tooLarge() []string {
	var globs []string
	for _, l := range c.LeftOut {
		if l.Why == "too_large" {
			globs = append(globs, gitstore.LiteralGlob(l.Path))
		}
	}
	return globs
}
