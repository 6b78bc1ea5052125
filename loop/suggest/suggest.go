// Package suggest reads the replacement lines that comments and findings suggest, and commits them on a branch that is
// checked out nowhere.
//
// A suggestion is a fenced block of Markdown with the language "suggestion".
package suggest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/record"
)

// Change is one suggestion of a review.
type Change struct {
	ID      string   `json:"id"`      // of the comment or finding; with ".2" appended for its second suggestion
	Finding string   `json:"finding"` // the comment or finding
	By      string   `json:"by"`
	Place   string   `json:"place"` // "file:3-5", as in the review
	Lines   []string `json:"lines"` // without line ends; empty to delete the lines

	at   record.Comment // the lines to replace; without their text for a finding
	tree gitstore.ID    // of the finding; "" for a comment
}

// language marks a block as a suggestion.
const language = "suggestion"

// fenceLine matches the first or last line of a fenced block: its indentation, its marks and the words after them.
var fenceLine = lazyre.Compile("^( {0,3})(`{3,}|~{3,})\\s*(.*?)\\s*$")

// In returns the suggestions in a Markdown text, each as lines without their ends. It ignores blocks in quotations and
// nested lists: they are examples or somebody else's.
func In(text string) (found [][]string) {
	var fence string // the open fence
	var indent int   // of the fence
	var at []string
	ours := false
	end := func() {
		if ours {
			found = append(found, at)
		}
		fence, ours, at = "", false, []string{}
	}
	end()
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		line = strings.TrimSuffix(line, "\n")
		m := fenceLine().FindStringSubmatch(line)
		switch {
		case fence == "" && m != nil && !(m[2][0] == '`' && strings.Contains(m[3], "`")):
			word, _, _ := strings.Cut(m[3], " ")
			fence, indent, ours = m[2], len(m[1]), word == language
		case fence == "":
		case m != nil && strings.HasPrefix(m[2], fence) && m[3] == "":
			end()
		default:
			blank := len(line) - len(strings.TrimLeft(line, " "))
			at = append(at, line[min(indent, blank):])
		}
	}
	end()
	return found
}

// Of returns the suggestions in a review's submissions, in the order of its findings.
func Of(review record.Review) (all []Change) {
	add := func(c Change, texts ...string) {
		var found [][]string
		for _, text := range texts {
			found = append(found, In(text)...)
		}
		for i, lines := range found {
			c.ID, c.Lines = c.Finding, lines
			if len(found) > 1 {
				c.ID = fmt.Sprintf("%s.%d", c.Finding, i+1)
			}
			all = append(all, c)
		}
	}
	for i, sub := range review.Submissions {
		for _, j := range review.SaidFirst(i) {
			f := j.Finding
			at := record.Comment{ID: f.ID, File: f.File, StartLine: f.Line, EndLine: max(f.Line, f.EndLine),
				Side: record.SideNew, Commit: sub.Tree}
			add(Change{Finding: f.ID, By: strings.Join(j.SaidBy, ", "), Place: f.Place(), at: at, tree: sub.Tree}, f.Issue,
				f.Fix)
		}
		for _, c := range sub.Comments {
			add(Change{Finding: c.ID, By: sub.Reviewer, Place: c.Place(), at: c}, c.Comment)
		}
	}
	return all
}

// Pick returns the suggestion with the given id: the only one of a comment or finding, or the one with the number after
// the dot.
func Pick(review record.Review, id string) (Change, error) {
	all := Of(review)
	finding, number, numbered := strings.Cut(id, ".")
	_, said, err := review.FindFinding(finding)
	if err != nil {
		return Change{}, err
	}
	all = slices.DeleteFunc(all, func(c Change) bool { return c.Finding != said.ID })
	switch n := len(all); {
	case n == 0:
		return Change{}, &RefusedError{ID: id, Why: "it proposes no lines"}
	case n == 1 && !numbered:
		return all[0], nil
	case !numbered:
		return Change{}, &RefusedError{ID: id, Why: fmt.Sprintf("it proposes %d texts: name one of %s.1 to %s.%d", n, id, id,
			n)}
	}
	i := slices.IndexFunc(all, func(c Change) bool { return c.ID == said.ID+"."+number })
	if i < 0 {
		return Change{}, &record.NotFoundError{What: "proposal", ID: id, Where: "in review " + review.ID}
	}
	return all[i], nil
}

// RefusedError reports that a suggestion cannot be applied.
type RefusedError struct {
	ID    string
	Why   string
	Moved bool // the code has changed since
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s is not applied: %s", e.ID, e.Why) }

// replaced returns a file in which the suggested lines replace lines start to end. They get the line ends of the
// replaced lines, including the last one.
func (c Change) replaced(text string, start, end int) string {
	lines := strings.SplitAfter(text, "\n")
	old := lines[start-1 : end]
	ending := "\n"
	if strings.HasSuffix(old[0], "\r\n") ||
		!strings.HasSuffix(old[0], "\n") && start > 1 && strings.HasSuffix(lines[start-2], "\r\n") {
		ending = "\r\n"
	}
	new := strings.Join(c.Lines, ending)
	if len(c.Lines) > 0 && strings.HasSuffix(old[len(old)-1], "\n") {
		new += ending
	}
	return strings.Join(lines[:start-1], "") + new + strings.Join(lines[end:], "")
}

// hasSecret reports whether a secret was removed from the text, which then is not what the author wrote.
func (c Change) hasSecret() bool { return strings.Contains(strings.Join(c.Lines, "\n"), "[redacted:") }
