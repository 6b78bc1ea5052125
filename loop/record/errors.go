package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// InputError is an incomplete or invalid request.
type InputError struct{ Why string }

func (e *InputError) Error() string { return e.Why }

// StateError is an operation that the state of a run or review does not allow.
type StateError struct {
	What   string // "review ID" or "run ID"
	Status string
	Cannot string // the refused operation: "claimed", "submitted"
	Holder string // the holder, if a claim prevents the operation
}

func (e *StateError) Error() string {
	if e.Holder != "" {
		return fmt.Sprintf("%s is claimed by %s", e.What, e.Holder)
	}
	if e.Status == e.Cannot {
		return fmt.Sprintf("%s is %s already", e.What, e.Status)
	}
	if e.Status == string(RunDied) {
		return fmt.Sprintf("the process of %s died, so it cannot be %s", e.What, e.Cannot)
	}
	return fmt.Sprintf("%s is %s and cannot be %s", e.What, e.Status, e.Cannot)
}

// CannotAccept is StateError.Cannot of a run whose result --commit would lose.
const CannotAccept = "accepted as it is"

// CannotComment is StateError.Cannot of a review that takes no comments any more.
const CannotComment = "commented on"

// Next returns the command that helps: it opens a closed review again, cancels an open one that cannot be resolved,
// closes one that cannot be cancelled, or resumes a run that cannot be accepted yet or has died. Else it shows the run
// or review. It returns "" if there is none.
func (e *StateError) Next() string {
	review, ok := strings.CutPrefix(e.What, "review ")
	switch {
	case ok && (e.Status == string(ReviewCancelled) || e.Status == string(ReviewResolved)):
		return "git runr inbox reopen " + review
	case ok && e.Status == string(ReviewOpen) && e.Cannot == "resolved":
		return "git runr inbox cancel " + review
	case ok && e.Status != string(ReviewOpen) && e.Cannot == "cancelled":
		return "git runr inbox resolve " + review
	case ok && e.Status == string(ReviewOpen) && e.Cannot == "claimed": // only people take it, who have an address
		return "git runr inbox claim " + review + ` --as "NAME <ADDRESS>"`
	}
	run, isRun := strings.CutPrefix(e.What, "run ")
	switch {
	case isRun && (e.Cannot == CannotAccept || e.Status == string(RunDied)):
		return "git runr resume " + run
	case ok || isRun:
		return "git runr show " + strings.TrimPrefix(run, "review ")
	}
	return ""
}

// Meant is a run, review or finding that an ambiguous name may mean.
type Meant struct {
	What     string // "run", "review" or "finding"
	ID       string
	Status   string
	Verdict  reply.Verdict // "" until there is one
	Reviewer string        // the reviewers asked; for a run, those of its newest round
	Age      time.Duration // since it began
	Title    string        // of the request, else of its subject
}

// Lines returns a table of the candidates, one per line: id, kind, status, reviewer, age and title.
func (e *NotFoundError) Lines() []string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.DiscardEmptyColumns)
	for _, m := range e.Among[:min(len(e.Among), meantShown)] {
		cells := []string{m.ID, m.What, strings.TrimRight(m.Status+" "+string(m.Verdict), " "), prose.Cut(m.Reviewer, 40),
			"", prose.Cut(m.Title, 60)}
		if m.Status != "" {
			cells[4] = duration.Age(m.Age)
		}
		for i := range cells {
			cells[i] = prose.OneRow(cells[i])
		}
		fmt.Fprintln(table, strings.Join(cells, "\v"))
	}
	_ = table.Flush() // cannot fail: it writes to memory
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if more := len(e.Among) - meantShown; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// meantShown is the maximum number of candidates that Lines lists.
const meantShown = 10

// NotFoundError reports an id that names no run or review in the logs, or a name that fits several.
type NotFoundError struct {
	What  string  // "run", "review" or "finding"
	ID    string  // as the user gave it
	Where string  // "in" and the place that was searched; "" means "here"
	Among []Meant // the candidates, if the name fits more than one
	// Instead is what the id names, "run" or "review", if that is not What.
	Instead string
}

// Unknown reports whether err means that an id names nothing, rather than several things or a fault.
func Unknown(err error) bool {
	var missing *NotFoundError
	return errors.As(err, &missing) && len(missing.Among) == 0
}

func (e *NotFoundError) Error() string {
	if len(e.Among) > 0 {
		return fmt.Sprintf("%s %q is ambiguous: it may be one of %d", e.What, e.ID, len(e.Among))
	}
	if e.Instead != "" {
		return fmt.Sprintf("%s is a %s, not a %s", e.ID, e.Instead, e.What)
	}
	if e.ID == Latest {
		return fmt.Sprintf("there is no %s yet", e.What)
	}
	return fmt.Sprintf("%s %q does not exist %s", e.What, e.ID, cmp.Or(e.Where, "here"))
}

func (e *NotFoundError) Is(target error) bool { return target == gitstore.ErrNotFound }

// Latest is accepted in place of an id and names the newest run or review.
const Latest = "latest"

// IDTime is the time format of the readable part of an id, in UTC.
const IDTime = "20060102150405"

// IDAlphabet omits letters and digits that are easily confused.
const IDAlphabet = "abcdefghijkmnpqrstuvwxyz23456789"

// SuffixLength is how many letters of IDAlphabet an id ends with.
const SuffixLength = 6

var idEncoding = base32.NewEncoding(IDAlphabet).WithPadding(base32.NoPadding)

// NewID returns the id of a run or a review: its time, and a suffix derived from the writer (random per clone), its
// clock (never repeated in one log) and the content. So two things made in the same second, or in two clones at once,
// get different ids.
func NewID(now time.Time, writer string, clock uint64, what any) (string, error) {
	body, err := json.Marshal(what)
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s", writer, clock, body))
	return now.UTC().Format(IDTime) + "-" + idEncoding.EncodeToString(sum[:4])[:SuffixLength], nil
}

// ValidID reports whether s has the form of an id from NewID.
func ValidID(s string) bool {
	digits, suffix, ok := strings.Cut(s, "-")
	if !ok || len(digits) != len(IDTime) || len(suffix) != SuffixLength {
		return false
	}
	return strings.Trim(digits, "0123456789") == "" && strings.Trim(suffix, IDAlphabet) == ""
}
