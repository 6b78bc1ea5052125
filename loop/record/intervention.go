package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
)

// InterventionPayload is an intervention and the commit that its note goes to.
type InterventionPayload struct {
	Intervention
	On gitstore.ID `json:"commit"`
}

// words are what the next prompt says of an intervention, a line each.
func (iv Intervention) words() []string {
	lines := []string{fmt.Sprintf("%s (%s): %s", prose.OneLine(iv.By), iv.Reason, strings.TrimSpace(iv.Note))}
	if len(iv.Files) > 0 {
		lines = append(lines, "they changed: "+prose.Names(iv.Files))
	}
	for _, c := range iv.Commands {
		lines = append(lines, fmt.Sprintf("they ran %q: %s", c.Command, c.State()))
	}
	for _, e := range iv.Evidence {
		lines = append(lines, e.words())
	}
	return lines
}

// Proof is what the intervention shows of the work: whether anything, and whether that
// is good. Commands count by how they ended, evidence as long as it tells of no failure.
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

// Evidence is what a check printed when a person ran it: a file among those of a run
// that stopped, as git runr diagnose suggests to write it. It is no more than that:
// how the check ended is not known, and whoever can write to the repository's
// directory can write it. So it is shown to reviewers as what it is, and never makes
// a check pass. A file that was there when the run stopped is none: an agent may have
// left it.
type Evidence struct {
	Check     string      `json:"check"`
	Command   string      `json:"command"`
	File      string      `json:"file"`
	WrittenAt time.Time   `json:"written_at"`
	Tree      gitstore.ID `json:"tree"`           // the commit that the run's working tree held
	Said      string      `json:"said,omitempty"` // what it says in a few words: see checklog.Said
	Failing   bool        `json:"failing,omitempty"`
	Excerpt   string      `json:"excerpt,omitempty"` // its end, capped
	Stale     string      `json:"stale,omitempty"`   // why it does not count

	Text string `json:"-"`
}

// Counts reports whether it is evidence of the work as it is.
func (e Evidence) Counts() bool { return e.Stale == "" }

// State is what it shows, in a few words.
func (e Evidence) State() string {
	switch {
	case !e.Counts():
		return "does not count: " + prose.OneLine(e.Stale)
	case e.Said != "":
		return prose.OneLine(e.Said)
	}
	return "its output"
}

// words are what prompts say of it.
func (e Evidence) words() string {
	head := fmt.Sprintf("they left what check %q printed (%s, written %s; git-runr did not run it and does not know how it ended): %s",
		e.Check, prose.OneLine(e.File), e.WrittenAt.UTC().Format(time.RFC3339), e.State())
	if !e.Counts() {
		return head
	}
	return head + "\n" + prose.Indent(prose.Cut(e.Excerpt, OutputInEvent))
}

// Intervention is what a person did for a run that had stopped. Field names are
// those of runr's receipts where it has them.
type Intervention struct {
	Number   int           `json:"intervention"` // from 1
	Reason   string        `json:"reason"`       // one of InterventionReasons
	Note     string        `json:"note"`
	By       string        `json:"by"`
	Attempts int           `json:"attempts"`             // how many there were before it
	Since    gitstore.ID   `json:"base_sha"`             // where the commits in range begin, exclusive
	Head     gitstore.ID   `json:"head_sha"`             // where they end
	Branch   string        `json:"branch,omitempty"`     // of the checkout that they were made in
	Commits  []gitstore.ID `json:"commits_in_range"`     // made by people since, newest first
	Files    []string      `json:"files_changed"`        // by those commits and in the run's working tree
	Commit   gitstore.ID   `json:"checkpoint,omitempty"` // what a person did in the run's working tree, on the run's branch
	Tree     gitstore.ID   `json:"tree,omitempty"`       // of Commit
	Commands []CheckResult `json:"commands"`             // run as part of it; Name is the check's, "" for another command
	Evidence []Evidence    `json:"evidence,omitempty"`   // that was left for it
	At       time.Time     `json:"at,omitzero"`
}
