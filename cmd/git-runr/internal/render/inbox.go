package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// ListStyle is the format of lists.
type ListStyle struct {
	Now     time.Time
	Columns int    // width of the terminal; 0: lines are not cut
	ASCII   bool   // only ASCII signs
	Me      string // the reader
	// Short returns short forms of ids, where they exist. If it is nil, lists of reviews shorten all ids and other
	// lists none.
	Short func(ids []string) map[string]string
}

// narrowList is the width below which lists omit commit and age and shorten verdicts.
const narrowList = 60

func (l ListStyle) narrow() bool { return l.Columns > 0 && l.Columns < narrowList }

// Inbox prints one line for each review: state, open findings by severity, id, commit, age and title.
func Inbox(w io.Writer, reviews []record.ReviewSummary, total int, style ListStyle) {
	if total == 0 {
		fmt.Fprintln(w, "No reviews found.")
		return
	}
	short := shortIDs(style, reviews, func(r record.ReviewSummary) string { return r.ID })
	rows := make([][]screen.Cell, len(reviews))
	for i, r := range reviews {
		id := cmp.Or(short[r.ID], r.ID)
		if style.Short == nil {
			id = screen.Suffix(r.ID)
		}
		rows[i] = style.cells(r, id)
	}
	screen.Table(w, style.Columns, rows)
	screen.When(w, total > len(reviews), "… and %d more (--limit 0 shows all)\n", total-len(reviews))
}

// shortIDs returns the short forms of the ids of a list.
func shortIDs[T any](style ListStyle, list []T, id func(T) string) map[string]string {
	if style.Short == nil {
		return nil
	}
	return style.Short(each.Of(list, id))
}

// cells returns the columns of a review's line. The last one is its title.
func (l ListStyle) cells(r record.ReviewSummary, id string) []screen.Cell {
	title := cmp.Or(r.Title, r.Spec)
	if r.ReviewKind != "" {
		title = r.ReviewKind + ": " + title
	}
	if r.Asked != "" {
		title += ": " + r.Asked
	}
	title = prose.OneLine(strings.TrimSpace(l.besideTitle(r) + " " + title))
	state := reviewState(r)
	name, last := screen.Cell{screen.Name.Of(id)}, screen.Cell{screen.Plain.Of(title)}
	if l.narrow() {
		state.Text = cmp.Or(narrowStates[state.Text], state.Text)
		return []screen.Cell{{state}, l.counts(r), name, last}
	}
	age := duration.Age(l.Now.Sub(cmp.Or(r.SubmittedAt, r.CreatedAt)))
	return []screen.Cell{{state}, l.counts(r), name, {screen.Plain.Of(r.Commit.Short())}, {screen.Faint.Of(age)}, last}
}

// narrowStates are the short forms of reviewState for narrow terminals.
var narrowStates = map[string]string{"CRITICAL": "CRIT", "NEEDS_FIX": "FIX", "PASS_WITH_NOTES": "NOTES"}

// counts returns the open findings by severity, such as ✗2 !1 ·3.
func (l ListStyle) counts(r record.ReviewSummary) (parts screen.Cell) {
	signs := []string{"✗", "!", "·"}
	if l.ASCII {
		signs = []string{"x", "!", "."}
	}
	meanings := []screen.Meaning{screen.Critical, screen.Warning, screen.Notice}
	for i, n := range []int{r.Critical, r.Warnings, r.Notes} {
		if n > 0 {
			parts = append(parts, meanings[i].Of(fmt.Sprintf("%s%d", signs[i], n)))
		}
	}
	return parts
}

// reviewState returns the state of a review in a word.
func reviewState(r record.ReviewSummary) screen.Text {
	switch {
	case !record.WaitingStatus(string(r.Status)), r.Outcome == "" && r.Failure == "":
		return screen.MeaningOf(r.Status).Of(string(r.Status))
	case r.Failure != "" && r.Outcome == "":
		return screen.Critical.Of("failed")
	case r.Unreadable || r.Verdict == "" || r.Outcome == record.OutcomeNothing ||
		r.Outcome == record.OutcomePartial || r.Outcome == record.OutcomeCommented:
		return screen.Warning.Of(VerdictName(r))
	}
	return screen.MeaningOf(r.Verdict).Of(string(r.Verdict))
}

// VerdictNames are the values of --verdict.
var VerdictNames = []string{
	"critical", "needs_fix", "pass_with_notes", "pass", "checked", "partial", "commented", "nothing", "unreadable", "none",
}

// VerdictName returns the result of a review as one of VerdictNames.
func VerdictName(r record.ReviewSummary) string {
	switch r.Outcome {
	case record.OutcomeNothing:
		return "nothing"
	case record.OutcomePartial, record.OutcomeCommented:
		return string(r.Outcome)
	}
	if r.Unreadable {
		return "unreadable"
	}
	return cmp.Or(strings.ToLower(string(r.Verdict)), "none")
}

// backTo says who has to confirm answers: "you" if that is me.
func backTo(r record.ReviewSummary, me string) string {
	to := strings.Join(r.BackTo, ", ")
	if r.IsBackTo(me) {
		to = "you"
	}
	return fmt.Sprintf("back to %s: %s to confirm", to, prose.Count(r.Back, "answer"))
}

// besideTitle returns remarks in brackets: whom a review waits for, who holds it and the like; "" for none.
func (l ListStyle) besideTitle(r record.ReviewSummary) string {
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
		if words := r.ApprovedWords(); words != "" {
			parts = append(parts, words)
		}
		parts = append(parts, "for "+strings.Join(r.WaitsFor(), ", "))
	}
	if r.ByAuthor() {
		parts = append(parts, "by its author")
	}
	if r.Audience == "private" {
		parts = append(parts, r.Audience)
	} else if r.Audience != "" {
		parts = append(parts, "at "+r.Audience)
	}
	if r.ClaimedBy != "" {
		parts = append(parts, "claimed by "+r.ClaimedBy)
	}
	if len(r.BackTo) > 0 {
		return "(" + backTo(r, l.Me) + ")"
	}
	if r.Claimed > 0 {
		parts = append(parts, fmt.Sprintf("%d claimed fixed", r.Claimed))
	}
	if r.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%d not counted", r.Lost))
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, "; ") + ")"
}

// EventStyle is the format of a log's lines.
type EventStyle struct {
	Now     time.Time
	Columns int  // width of the terminal; 0 for a pipe or file
	OneLine bool // event id, run or review, and title, cut to Columns
}

// Event prints an event in one line.
func Event(w io.Writer, e record.Event, style EventStyle) error {
	at, about := e.Timestamp.UTC().Format(time.DateTime), cmp.Or(e.Run, e.Review)
	age := duration.Age(style.Now.Sub(e.Timestamp))
	title := screen.Plain.Of(e.Title)
	if email := gitstore.ParseIdentity(e.Actor).Email; strings.Contains(e.Title, "@") &&
		!strings.Contains(strings.ToLower(e.Title), "<"+strings.ToLower(email)+">") {
		title.Text += " (recorded by " + e.Actor + ")" // it speaks of somebody else
	}
	switch e.Type {
	case record.EventRunStopped.Name, record.EventReviewLoopDetected.Name:
		title.Meaning = screen.Critical
	case record.EventRunLanded.Name, record.EventReviewResolved.Name:
		title.Meaning = screen.Good
	}
	var err error
	switch {
	case style.OneLine:
		short := about
		if style.Columns > 0 { // the screen shortens ids
			short = screen.Suffix(about)
			title.Text = prose.CutColumns(safetext.Line(title.Text), max(style.Columns-len(e.ID.Short())-len(short)-2, 1))
		}
		_, err = safetext.Fprintf(w, "%s %s %s\n", screen.Name.Of(e.ID.Short()), about, title)
	case style.Columns == 0:
		_, err = safetext.Fprintf(w, "%s  %s  %s\n", at, about, title)
	case style.Columns < narrowList:
		_, err = safetext.Fprintf(w, "%s  %s  %s\n", screen.Faint.Of(age), screen.Name.Of(about), title)
	default:
		_, err = safetext.Fprintf(w, "%s  %3s  %s  %s\n", screen.Faint.Of(at), screen.Faint.Of(age), screen.Name.Of(about),
			title)
	}
	return err
}
