package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
)

// InterventionPayload is an intervention and the commit that gets its note.
type InterventionPayload struct {
	Intervention
	On gitstore.ID `json:"commit"`
}

// words returns what the next prompt says about the intervention, one item per line.
func (iv Intervention) words() []string {
	lines := []string{fmt.Sprintf("%s (%s): %s", prose.OneLine(iv.By), iv.Reason, strings.TrimSpace(iv.Note))}
	if iv.Lines != nil && iv.Lines.StartLine > 0 {
		for line := range strings.SplitSeq(iv.Lines.SelectedText, "\n") {
			lines = append(lines, "> "+line)
		}
	}
	if theirs := iv.Theirs(); len(theirs) > 0 {
		lines = append(lines, "they changed: "+prose.Names(theirs))
	}
	for _, c := range iv.Commands {
		lines = append(lines, fmt.Sprintf("they ran %q: %s", c.Command, c.State()))
	}
	for _, e := range iv.Evidence {
		lines = append(lines, e.words())
	}
	return lines
}

// Proof reports whether the intervention shows anything about the work, and whether that is good. Commands count
// by how they ended; evidence is good unless it reports a failure.
func (iv Intervention) Proof() (shown, good bool) {
	good = !slices.ContainsFunc(iv.Commands, func(c CheckResult) bool { return !c.OK() })
	shown = len(iv.Commands) > 0
	for _, e := range iv.Evidence {
		if e.Counts() {
			shown, good = true, good && !e.Failing
		}
	}
	return shown, good
}

// Evidence is the output of a check that a person ran: a file next to those of a stopped run, written as
// git runr diagnose suggests. How the check ended is unknown, and anybody who can write to the repository's
// directory can write the file. So reviewers see it labelled as such, and it never makes a check pass.
// A file that existed when the run stopped does not count, because an agent may have left it.
type Evidence struct {
	Check     string      `json:"check"`
	Command   string      `json:"command"`
	File      string      `json:"file"`
	WrittenAt time.Time   `json:"written_at"`
	Tree      gitstore.ID `json:"tree"`           // the commit in the run's working tree
	Said      string      `json:"said,omitempty"` // a summary of the output: see checklog.Said
	Failing   bool        `json:"failing,omitempty"`
	Excerpt   string      `json:"excerpt,omitempty"` // its end, truncated
	Stale     string      `json:"stale,omitempty"`   // why it does not count

	Text string `json:"-"`
}

// Counts reports whether the evidence applies to the present work.
func (e Evidence) Counts() bool { return e.Stale == "" }

// State describes in a few words what the evidence shows.
func (e Evidence) State() string {
	switch {
	case !e.Counts():
		return "does not count: " + prose.OneLine(e.Stale)
	case e.Said != "":
		return prose.OneLine(e.Said)
	}
	return "its output"
}

func (e Evidence) words() string {
	head := fmt.Sprintf(
		"they left what check %q printed (%s, written %s; git-runr did not run it and does not know how it ended): %s",
		e.Check, prose.OneLine(e.File), e.WrittenAt.UTC().Format(time.RFC3339), e.State())
	if !e.Counts() {
		return head
	}
	return head + "\n" + prose.Indent(prose.Cut(e.Excerpt, OutputInEvent))
}

// Intervention is what a person did for a run that had stopped. Field names are those of runr's receipts where
// these have the field.
type Intervention struct {
	Number   int           `json:"intervention"` // from 1
	Reason   string        `json:"reason"`       // one of InterventionReasons
	Note     string        `json:"note"`
	Lines    *Comment      `json:"lines,omitempty"` // what the note asks to change; the note begins with their place
	By       string        `json:"by"`
	Attempts int           `json:"attempts"`         // the number of attempts before it
	Since    gitstore.ID   `json:"base_sha"`         // where the range of commits begins, exclusive
	Head     gitstore.ID   `json:"head_sha"`         // where the range ends
	Branch   string        `json:"branch,omitempty"` // of the checkout in which the commits were made
	Commits  []gitstore.ID `json:"commits_in_range"` // the commits in the range made by people, newest first
	Files    []string      `json:"files_changed"`    // in those commits and in the run's working tree
	// LeftByAttempt lists those of Files that are as a failed attempt left them: no person changed them.
	LeftByAttempt []string `json:"left_by_attempt,omitempty"`
	// the commit on the run's branch of what a person did in the run's working tree
	Commit gitstore.ID `json:"checkpoint,omitempty"`
	Tree   gitstore.ID `json:"tree,omitempty"`   // of Commit
	Change string      `json:"change,omitempty"` // as in Attempt
	// commands run as part of it; Name is the check's, or "" for another command
	Commands []CheckResult `json:"commands"`
	Evidence []Evidence    `json:"evidence,omitempty"` // output of checks that the person left
	At       time.Time     `json:"at,omitzero"`
}

// Theirs returns the files that people changed.
func (iv Intervention) Theirs() []string {
	return slices.DeleteFunc(slices.Clone(iv.Files), func(f string) bool { return slices.Contains(iv.LeftByAttempt, f) })
}
