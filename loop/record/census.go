package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
)

// Census counts what a reviewer saw of a change, and lists what it did not see and why. Without it nobody
// could tell what a verdict covers.
type Census struct {
	Files      int       `json:"files"`      // in the change, within the paths asked for
	Lines      int       `json:"lines"`      // lines added and deleted in those files
	SentFiles  int       `json:"sent_files"` // shown to the reviewer
	SentLines  int       `json:"sent_lines"`
	SentBinary int       `json:"sent_binary,omitempty"` // binary files described to a reviewer that can judge them
	Parts      int       `json:"parts,omitempty"`       // the number of parts it was shown in, if more than one
	Cut        []string  `json:"cut_files,omitempty"`   // files larger than a part, shown in pieces
	LeftOut    []LeftOut `json:"left_out,omitempty"`
	Unmatched  []string  `json:"unmatched_globs,omitempty"` // exclusion patterns that match no file of the tree
	// exclusion patterns that do not apply: see role.Limits.ExcludedBy
	Overruled  []string `json:"overruled_globs,omitempty"`
	Checks     int      `json:"checks,omitempty"` // checks configured to run
	ChecksLeft int      `json:"checks_not_run,omitempty"`
}

// NotRun returns how many checks were not run in words, or "" if all were.
func (c Census) NotRun() string {
	if c.ChecksLeft == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s not run", c.ChecksLeft, prose.Count(c.Checks, "check"))
}

// CountChecks records how many checks there are and how many gave no result: results that say "not run", and
// others that were not tried.
func (c *Census) CountChecks(results []CheckResult, others int) {
	c.Checks, c.ChecksLeft = len(results)+others, notRun(results)+others
}

// LeftOut is a file that the reviewer did not see, or saw only in part.
type LeftOut struct {
	Path string `json:"path"`
	// excluded, generated, vendored, binary, text_taken_for_binary, in_submodule or too_large
	Why   string `json:"why"`
	Lines int    `json:"lines,omitempty"` // lines of it that were not seen; 0: all
	Bytes int64  `json:"bytes,omitempty"` // size, for a binary file
	Was   int64  `json:"was_bytes,omitempty"`
}

// The values of LeftOut.Why.
const (
	LeftExcluded  = "excluded"
	LeftGenerated = "generated"
	LeftVendored  = "vendored"
	LeftBinary    = "binary"
	// contains NUL bytes or is UTF-16: git shows no lines of it, but an interpreter reads them
	LeftText      = "text_taken_for_binary"
	LeftSubmodule = "in_submodule" // Path is the submodule's, with a trailing slash; its files are not recorded here
	LeftTooLarge  = "too_large"
)

// LeaveTooLarge records a file as too large, in place of any other reason. The file still counts as sent, because its
// name, mode and size were shown.
func (c *Census) LeaveTooLarge(path string) {
	c.LeftOut = slices.DeleteFunc(c.LeftOut, func(l LeftOut) bool { return l.Path == path })
	c.LeftOut = append(c.LeftOut, LeftOut{Path: path, Why: LeftTooLarge})
}

// String describes what was left out and why, for people. The path is not escaped.
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

// Nothing reports whether the reviewer learned of no file of the change, which is never a pass. Files without
// lines to show, such as binary or renamed ones, are described by name, mode and size.
func (c Census) Nothing() bool { return c.SentFiles+c.SentLines == 0 && c.Left(LeftBinary) == "" }

// Partial reports whether readable parts of the change could not be shown to anybody. Such a review never passes
// the whole change.
func (c Census) Partial() bool { return c.Unread() != "" }

// Unread names the files that make the census partial.
func (c Census) Unread() string { return c.Left(LeftTooLarge, LeftText) }

// Left names the files left out for one of the reasons whys, or for any reason if whys is empty.
func (c Census) Left(whys ...string) string {
	var left []string
	for _, l := range c.LeftOut {
		if len(whys) == 0 || slices.Contains(whys, l.Why) {
			left = append(left, l.String())
		}
	}
	return prose.Names(left)
}

// Unseen reports whether something was left out that nobody asked to leave out. A submodule's files do not count:
// they belong to another repository's change.
func (c Census) Unseen() bool {
	asked := []string{LeftExcluded, LeftGenerated, LeftVendored, LeftSubmodule}
	return slices.ContainsFunc(c.LeftOut, func(l LeftOut) bool { return !slices.Contains(asked, l.Why) })
}

// Hides reports whether the file at path is not shown at all.
func (c Census) Hides(path string) bool {
	return slices.ContainsFunc(c.LeftOut, func(l LeftOut) bool { return l.Path == path && l.Lines == 0 })
}
