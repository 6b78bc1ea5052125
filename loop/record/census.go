package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
)

// Census says what of a change a reviewer saw, and what not and why. A verdict
// without it could be about nothing.
type Census struct {
	Files      int       `json:"files"`      // in the change, within the paths asked for
	Lines      int       `json:"lines"`      // added and deleted in them
	SentFiles  int       `json:"sent_files"` // shown to the reviewer
	SentLines  int       `json:"sent_lines"`
	SentBinary int       `json:"sent_binary,omitempty"` // binary files that a reviewer who can judge them was told of
	Parts      int       `json:"parts,omitempty"`       // in which it was shown, where that is not at once
	Cut        []string  `json:"cut_files,omitempty"`   // that are larger than a part: shown in pieces
	LeftOut    []LeftOut `json:"left_out,omitempty"`
	Unmatched  []string  `json:"unmatched_globs,omitempty"` // of what is to be left out: they match no file of the tree
	Overruled  []string  `json:"overruled_globs,omitempty"` // of what is to be left out: see role.Limits.ExcludedBy
	Checks     int       `json:"checks,omitempty"`          // that there are to run
	ChecksLeft int       `json:"checks_not_run,omitempty"`
}

// NotRun says how many checks were not run, "" when all were.
func (c Census) NotRun() string {
	if c.ChecksLeft == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s not run", c.ChecksLeft, prose.Count(c.Checks, "check"))
}

// CountChecks counts checks that say nothing as left out: results that could not be
// run, and others that were not tried.
func (c *Census) CountChecks(results []CheckResult, others int) {
	c.Checks, c.ChecksLeft = len(results)+others, notRun(results)+others
}

// LeftOut is a file that the reviewer did not see, or not all of.
type LeftOut struct {
	Path  string `json:"path"`
	Why   string `json:"why"`             // excluded, generated, vendored, binary, text_taken_for_binary, in_submodule or too_large
	Lines int    `json:"lines,omitempty"` // of it that were not seen; 0: all
	Bytes int64  `json:"bytes,omitempty"` // of a binary file
	Was   int64  `json:"was_bytes,omitempty"`
}

// The values of LeftOut.Why.
const (
	LeftExcluded  = "excluded"
	LeftGenerated = "generated"
	LeftVendored  = "vendored"
	LeftBinary    = "binary"
	LeftText      = "text_taken_for_binary" // of NUL bytes or UTF-16: git shows no lines of it, and what runs it reads them
	LeftSubmodule = "in_submodule"          // the path is the submodule's, with a slash: its files are in no tree of ours
	LeftTooLarge  = "too_large"
)

// String is what was left out and why, for people; the path is as it is.
func (l LeftOut) String() string {
	why := strings.ReplaceAll(l.Why, "_", " ")
	if l.Lines > 0 {
		why = fmt.Sprintf("%s of it, %s", prose.Count(l.Lines, "line"), why)
	}
	if l.Bytes > 0 {
		why += fmt.Sprintf(", %d bytes", l.Bytes)
	}
	if l.Was > 0 {
		why += fmt.Sprintf(", was %d bytes", l.Was)
	}
	return fmt.Sprintf("%s (%s)", l.Path, why)
}

// Nothing reports whether the reviewer was told of no file of the change: never a pass. A file
// without lines to show, such as a binary one or one that was only renamed, is told by name, mode and size.
func (c Census) Nothing() bool { return c.SentFiles+c.SentLines == 0 && c.Left(LeftBinary) == "" }

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
	return prose.Names(left)
}

// Unseen reports whether something of the change was left out although nobody asked for that. What a submodule holds
// is part of another repository's change.
func (c Census) Unseen() bool {
	asked := []string{LeftExcluded, LeftGenerated, LeftVendored, LeftSubmodule}
	return slices.ContainsFunc(c.LeftOut, func(l LeftOut) bool { return !slices.Contains(asked, l.Why) })
}

// Hides reports whether nothing of the file at path is shown.
func (c Census) Hides(path string) bool {
	return slices.ContainsFunc(c.LeftOut, func(l LeftOut) bool { return l.Path == path && l.Lines == 0 })
}
