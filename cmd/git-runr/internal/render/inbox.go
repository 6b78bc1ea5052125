package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// InboxStyle is how a list of reviews is written.
type InboxStyle struct {
	Now   time.Time
	Width int  // columns of the terminal; 0: no line is cut
	ASCII bool // only what every terminal shows
}

const (
	narrowList = 60 // columns below which commit and age are left out, and verdicts shortened
	leastTitle = 12 // columns that a title has at least
)

// Inbox shows one line a review: what came of it, its open findings by severity,
// its id, commit, age and title.
func Inbox(w io.Writer, reviews []record.ReviewSummary, total int, style InboxStyle) {
	if total == 0 {
		fmt.Fprintln(w, "No reviews found.")
		return
	}
	rows, widths := make([][]string, len(reviews)), []int{}
	for i, r := range reviews {
		rows[i] = style.cells(r)
		for j, cell := range rows[i][:len(rows[i])-1] {
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for j, width := range widths {
			if width > 0 {
				line.WriteString(row[j] + strings.Repeat(" ", width-utf8.RuneCountInString(row[j])+2))
			}
		}
		title := row[len(widths)]
		if style.Width > 0 {
			title = cutColumns(title, max(leastTitle, style.Width-utf8.RuneCountInString(line.String())))
		}
		safetext.Fprintf(w, "%s\n", strings.TrimRight(line.String()+title, " "))
	}
	if total > len(reviews) {
		safetext.Fprintf(w, "… and %d more (--limit 0 shows all)\n", total-len(reviews))
	}
}

// cells are the columns of a review's line; the last is its title.
func (l InboxStyle) cells(r record.ReviewSummary) []string {
	title := cmp.Or(r.Title, r.Spec)
	if r.ReviewKind != "" {
		title = r.ReviewKind + ": " + title
	}
	if r.Asked != "" {
		title += ": " + r.Asked
	}
	title = safetext.Line(strings.TrimSpace(besideTitle(r) + " " + title))
	state := reviewState(r)
	if l.Width > 0 && l.Width < narrowList {
		return []string{cmp.Or(narrowStates[state], state), l.counts(r), ShortID(r.ID), title}
	}
	age := shortAge(l.Now.Sub(cmp.Or(r.SubmittedAt, r.CreatedAt)))
	return []string{state, l.counts(r), ShortID(r.ID), r.Commit.Short(), age, title}
}

// narrowStates are the longer words of reviewState on a narrow terminal.
var narrowStates = map[string]string{"CRITICAL": "CRIT", "NEEDS_FIX": "FIX", "PASS_WITH_NOTES": "NOTES"}

// counts are the open findings by severity: ✗2 !1 ·3.
func (l InboxStyle) counts(r record.ReviewSummary) string {
	signs := []string{"✗", "!", "·"}
	if l.ASCII {
		signs = []string{"x", "!", "."}
	}
	var parts []string
	for i, n := range []int{r.Critical, r.Warnings, r.Notes} {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s%d", signs[i], n))
		}
	}
	return strings.Join(parts, " ")
}

// ShortID is the part of a review's id that no other has; every command takes it.
func ShortID(id string) string {
	_, short, found := strings.Cut(id, "-")
	if !found {
		return id
	}
	return short
}

// shortAge is how long ago something was, in its largest unit.
func shortAge(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%dm", max(0, int(d.Minutes())))
	case d < day:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d < 1000*day:
		return fmt.Sprintf("%dd", int(d/day))
	}
	return fmt.Sprintf("%dy", int(d/(365*day)))
}

// cutColumns is text in at most n columns of a terminal.
func cutColumns(text string, n int) string {
	at, columns := 0, 0
	for i, r := range text {
		if columns += prose.RuneColumns(r); columns > n {
			return strings.TrimRight(text[:at], " ") + "…"
		}
		if columns < n {
			at = i + utf8.RuneLen(r)
		}
	}
	return text
}

// reviewState is what came of a review, in a word.
func reviewState(r record.ReviewSummary) string {
	switch {
	case !record.WaitingStatus(string(r.Status)), r.Outcome == "" && r.Failure == "":
		return string(r.Status)
	case r.Failure != "" && r.Outcome == "":
		return "failed"
	case r.Verdict == "" || r.Outcome == record.OutcomeNothing || r.Outcome == record.OutcomePartial || r.Outcome == record.OutcomeCommented:
		return VerdictName(r)
	}
	return string(r.Verdict)
}

// VerdictNames are what --verdict may say of a review.
var VerdictNames = []string{"critical", "needs_fix", "pass_with_notes", "pass", "partial", "commented", "nothing", "none"}

// VerdictName is what came of a review, in one of VerdictNames.
func VerdictName(r record.ReviewSummary) string {
	switch r.Outcome {
	case record.OutcomeNothing:
		return "nothing"
	case record.OutcomePartial, record.OutcomeCommented:
		return string(r.Outcome)
	}
	return cmp.Or(strings.ToLower(string(r.Verdict)), "none")
}

// besideTitle says who a review waits for or who has it, in brackets.
func besideTitle(r record.ReviewSummary) string {
	var parts []string
	switch {
	case !record.WaitingStatus(string(r.Status)):
		if said := VerdictName(r); said != "none" {
			parts = append(parts, said)
		}
	case len(r.Absent) > 0:
		parts = append(parts, "without "+strings.Join(r.Absent, ", "))
	case r.Failure != "":
		parts = append(parts, r.Failure)
	case len(r.Waiting) > 0:
		parts = append(parts, "for "+strings.Join(r.Waiting, ", "))
	}
	if r.Status == record.ReviewClaimed {
		parts = append(parts, "claimed by "+r.ClaimedBy)
	}
	if r.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%d not counted", r.Lost))
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, "; ") + ")"
}
