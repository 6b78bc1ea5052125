package record

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// InputError is a request that says too little, or what cannot be.
type InputError struct{ Why string }

func (e *InputError) Error() string { return e.Why }

// StateError is a step that the state of a run or review does not allow.
type StateError struct {
	What   string // "review ID" or "run ID"
	Status string
	Cannot string // what was asked: "claimed", "submitted"
	Holder string // who has it, when a claim is in the way
}

func (e *StateError) Error() string {
	if e.Holder != "" {
		return fmt.Sprintf("%s is claimed by %s", e.What, e.Holder)
	}
	return fmt.Sprintf("%s is %s and cannot be %s", e.What, e.Status, e.Cannot)
}

// Reopen is the line that opens a closed review again; "" where that is not in the way.
func (e *StateError) Reopen() string {
	review, ok := strings.CutPrefix(e.What, "review ")
	if !ok || e.Status != string(ReviewCancelled) && e.Status != string(ReviewResolved) {
		return ""
	}
	return "git runr inbox reopen " + review
}

// Meant is a run or review that somebody may have meant.
type Meant struct {
	What     string // "run" or "review"
	ID       string
	Status   string
	Verdict  reply.Verdict // "" while nobody gave one
	Reviewer string        // those who were asked; of a run, of its newest round
	Age      time.Duration // since it began
	Title    string        // what was asked for, else what it is of
}

// Lines are what those may be, a line each: its id, where it stands, who reviews it, how old it is
// and its title.
func (e *NotFoundError) Lines() []string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.DiscardEmptyColumns)
	for _, m := range e.Among[:min(len(e.Among), meantShown)] {
		cells := []string{m.ID, m.What, strings.TrimRight(m.Status+" "+string(m.Verdict), " "), prose.Cut(m.Reviewer, 40), duration.Age(m.Age), prose.Cut(m.Title, 60)}
		for i := range cells {
			cells[i] = prose.OneRow(cells[i])
		}
		fmt.Fprintln(table, strings.Join(cells, "\v"))
	}
	_ = table.Flush() // into memory
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if more := len(e.Among) - meantShown; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// meantShown is how many are listed of those that somebody may have meant.
const meantShown = 10

// NotFoundError is a run or review that no log speaks of, or a name that fits several.
type NotFoundError struct {
	What  string  // "run" or "review"
	ID    string  // as it was asked for
	Where string  // "in" and what was looked into; "" is here
	Older bool    // older events were not fetched, and it may be among them
	Among []Meant // what the name fits, when it fits more than one
}

func (e *NotFoundError) Error() string {
	if len(e.Among) > 0 {
		return fmt.Sprintf("%s %q is ambiguous: it may be one of %d", e.What, e.ID, len(e.Among))
	}
	if e.ID == Latest {
		return fmt.Sprintf("there is no %s yet", e.What)
	}
	if e.Older {
		return fmt.Sprintf("%s %q is not here: older events were not fetched (sync.since); git runr sync --archived brings them", e.What, e.ID)
	}
	return fmt.Sprintf("%s %q does not exist %s", e.What, e.ID, cmp.Or(e.Where, "here"))
}

func (e *NotFoundError) Is(target error) bool { return target == gitstore.ErrNotFound }

// Latest is accepted for an id: the newest.
const Latest = "latest"
