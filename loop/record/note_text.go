package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/notes"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
)

func resolvedNote(e Event, p ActorPayload) (gitstore.ID, string) {
	return p.Commit, fmt.Sprintf("review %s resolved by %s%s", e.Review, prose.OneLine(p.Actor), afterColon(p.Note))
}

func reopenedNote(e Event, p ActorPayload) (gitstore.ID, string) {
	return p.Commit, fmt.Sprintf("review %s reopened by %s", e.Review, prose.OneLine(p.Actor))
}

func afterColon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + prose.OneLine(text)
}

func afterComma(text string) string {
	if text == "" {
		return ""
	}
	return ", " + text
}

func submissionNote(e Event, sub Submission) (gitstore.ID, string) {
	if sub.Commit == "" {
		return "", ""
	}
	if sub.Outcome == OutcomeNothing {
		return sub.Commit, fmt.Sprintf("review %s by %s: %s", e.Review, prose.OneLine(sub.Reviewer),
			prose.OneLine(sub.Census.NothingSaid()))
	}
	by := prose.OneLine(sub.By(sub.Reviewer))
	limits := afterComma(prose.OneLine(sub.Limits)) + leftOut(sub.Census) + afterComma(sub.Census.NotRun()) +
		failOnBase(sub.Checks)
	head := "review " + e.Review + " " + Says(by, sub.Said(), len(sub.Report.Findings)) + limits
	if sub.Decision != "" {
		if ByAnother(sub.Reviewer, e.Actor) {
			by += " (recorded by " + prose.OneLine(e.Actor) + ")"
		}
		head = fmt.Sprintf("review %s by %s: %s%s%s", e.Review, by, sub.Decision.Words(), limits,
			afterColon(sub.Report.Summary))
		sub.Report.Requests = nil
	}
	return sub.Commit, head + unmetNote(sub.Findings(), sub.Report.Requests)
}

func roundNote(e Event, round RoundPayload) (gitstore.ID, string) {
	if round.Failure != nil {
		return "", ""
	}
	by := prose.OneLine(round.By(round.Reviewer))
	head := fmt.Sprintf("run %s round %d %s%s", e.Run, round.Number,
		Says(by, prose.OneLine(round.Said()), len(round.Report.Findings)), afterComma(round.Census.NotRun())+
			failOnBase(round.Checks))
	return round.Commit, head + unmetNote(round.Report.Findings, round.Report.Requests)
}

// leftOut names the files that the reviewer was not shown although nobody asked to leave them out.
func leftOut(c Census) string {
	if !c.Unseen() {
		return ""
	}
	return prose.OneLine(c.Omissions())
}

// failOnBase names the checks that do not count because they fail in the same way without the change.
func failOnBase(checks []CheckResult) string {
	names := each.Of(each.Where(checks, func(c CheckResult) bool { return c.FailsOnBase }),
		func(c CheckResult) string { return c.Name })
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(", check %s failed as on the base", prose.OneLine(strings.Join(names, ", ")))
}

// findingsInNote is the maximum number of findings or requests that a note's line lists.
const findingsInNote = 5

// unmetNote lists the findings, or the requests if there are none.
func unmetNote(findings []reply.Finding, requests []string) string {
	if len(findings) == 0 {
		return listNote(requests)
	}
	return listNote(each.Of(findings, func(f reply.Finding) string {
		return fmt.Sprintf("%s %s %s", f.Severity, f.Place(), f.Issue)
	}))
}

// listNote returns the first few items as a list in parentheses.
func listNote(items []string) string {
	if len(items) == 0 {
		return ""
	}
	parts := each.Of(items[:min(len(items), findingsInNote)], prose.OneLine)
	text := " (" + strings.Join(parts, "; ")
	if more := len(items) - findingsInNote; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + ")"
}

// stopNote writes the whole diagnosis, so that people who have only the notes know what is unmet and what to
// type. What they type or search for is not shortened.
func stopNote(e Event, p StopPayload) (gitstore.ID, string) {
	head := "STOPPED: " + prose.OneLine(p.Reason)
	if p.Round > 0 {
		head += " (" + RoundOf(p.Round, p.MaxRounds) + ")"
	}
	lines := []string{head + afterColon(p.Detail)}
	typed := func(label, text string) {
		if text != "" {
			lines = append(lines, label+": "+safetext.Line(text))
		}
	}
	if p.Setting != nil {
		lines = append(lines, "ended by "+p.Setting.String())
	}
	if !p.ResumeAfter.IsZero() {
		lines = append(lines, "resume after "+p.ResumeAfter.UTC().Format(time.DateTime+"Z"))
	}
	if p.Said != "" {
		lines = append(lines, prose.OneLine(cmp.Or(p.SaidBy, "the agent")+" said: "+p.Said))
	}
	typed("failing checks", strings.Join(p.FailingChecks, ", "))
	for i, r := range p.Unmet {
		lines = append(lines, fmt.Sprintf("unmet %d: %s", i+1, prose.OneLine(r)))
	}
	typed("unmet checks", strings.Join(p.UnmetChecks, ", "))
	for _, c := range p.Commands {
		typed("command", c)
	}
	typed("intervene", p.Intervention)
	for i, step := range p.NextSteps {
		typed(fmt.Sprintf("next %d", i+1), step)
	}
	prefix := "run " + e.Run + " "
	return p.Commit, prefix + strings.Join(lines, "\n"+prefix)
}

func completedNote(e Event, p CompletedPayload) (gitstore.ID, string) {
	text := fmt.Sprintf("run %s completed: %s", e.Run, ResultWords(p.Result))
	if p.By != "" {
		text += " by " + prose.OneLine(p.By)
	}
	return p.Commit, text + unmetNote(p.Open, p.Requests)
}

func interventionNote(e Event, p InterventionPayload) (gitstore.ID, string) {
	text := fmt.Sprintf("run %s intervention (%s): %s", e.Run, prose.OneLine(p.Reason), prose.OneLine(p.Note))
	for _, c := range p.Commands {
		text += fmt.Sprintf("\nrun %s ran: %s: %s", e.Run, prose.OneLine(c.Command), c.State())
	}
	for _, left := range p.Evidence {
		text += fmt.Sprintf("\nrun %s was given output of %s: %s", e.Run, prose.OneLine(left.Check), left.State())
	}
	return p.On, text
}

// landedText says where a run landed, and as which commit it was reviewed.
func landedText(e Event, landed Landed, reviewed gitstore.ID) string {
	text := "run " + e.Run + " landed on " + cmp.Or(landed.Branch, "a detached HEAD")
	if reviewed != "" {
		text += ", reviewed as " + reviewed.Short()
	}
	if landed.Stale {
		text += ", with other contents: others had changed the same files"
	}
	return text
}

func landedNote(e Event, landed Landed) (gitstore.ID, string) {
	return landed.Commit, landedText(e, landed, landed.reviewedAs(landed.Commit))
}

func unlandedNote(e Event, landed Landed) (gitstore.ID, string) {
	return landed.Commit, fmt.Sprintf("run %s taken back from %s", e.Run, cmp.Or(landed.Branch, "a detached HEAD"))
}

// A commit that is squashed, or lands on a branch that moved, becomes another commit than the reviewed one. The
// event of the landing carries the reviewed commit's notes, so that every clone writes them on the landed commit.

// carriedTypes are the events whose notes are carried: results of the work, not stops on the way.
var carriedTypes = []string{
	EventRoundCompleted.Name, EventRunCompleted.Name, EventRunIntervened.Name, EventReviewSubmitted.Name,
	EventReviewChecked.Name, EventReviewResolved.Name, EventReviewReopened.Name,
}

// Limits of carried notes; the newest are kept.
const (
	MaxCarried = 200 // commits
	MaxSayings = 20  // lines of each commit
)

// SayingsOf returns the newest carried lines of events, which must be in order, by commit.
func SayingsOf(events []Event) map[gitstore.ID][]Saying {
	said := map[gitstore.ID][]Saying{}
	for _, e := range events {
		if lines := sayingsOf(e); len(lines) > 0 {
			commit, _ := NoteOf(e)
			said[commit] = newestSayings(append(said[commit], lines...))
		}
	}
	return said
}

// NewestSayings returns the newest carried lines of events, which must be in order, for all commits together.
func NewestSayings(events []Event) []Saying {
	return newestSayings(slices.Concat(each.Of(events, sayingsOf)...))
}

func newestSayings(said []Saying) []Saying { return said[max(0, len(said)-MaxSayings):] }

// carriedNotes returns the lines that a landing adds to the notes of the landed commits.
func carriedNotes(e Event, landed Landed) []notes.Line {
	var lines []notes.Line
	from := map[gitstore.ID]gitstore.ID{}
	for _, c := range landed.Carried[:min(len(landed.Carried), MaxCarried)] {
		from[c.To] = c.From
		for _, said := range c.Said[:min(len(c.Said), MaxSayings)] {
			lines = append(lines, notes.Line{Commit: c.To, At: said.At, Text: said.Text})
		}
	}
	for to, from := range from {
		if to != landed.Commit { // landedNote writes this line for landed.Commit
			lines = append(lines, notes.Line{Commit: to, At: e.Timestamp, Text: landedText(e, landed, from)})
		}
	}
	return lines
}

// sayingsOf returns the lines of an event's note, if notes of its type are carried.
func sayingsOf(e Event) []Saying {
	if !slices.Contains(carriedTypes, e.Type) {
		return nil
	}
	return each.Of(NotesOf(e), func(line notes.Line) Saying { return Saying{line.At, line.Text} })
}

// carriedHere ends a line that was said of another commit, according to whoever recorded that the code moved.
const carriedHere = " (of another commit, carried here)"

// movedNotes returns the lines that a move adds to notes. Their time comes from the code, so that clones that notice
// the same move write the same line.
func movedNotes(e Event, m Move) []notes.Line {
	line := func(on gitstore.ID, format string, args ...any) []notes.Line {
		return []notes.Line{{Commit: on, At: m.When, Text: "review " + e.Review + fmt.Sprintf(format, args...)}}
	}
	switch m.State {
	case MoveCarried:
		lines := line(m.To, " carried from %s, recorded as the same change", m.From.Short())
		for _, said := range m.Said[:min(len(m.Said), MaxSayings)] {
			text := strings.TrimSuffix(said.Text, carriedHere)
			lines = append(lines, notes.Line{Commit: m.To, At: said.At, Text: text + carriedHere})
		}
		return lines
	case MoveStale:
		again := ""
		if m.Again != "" {
			again = ", asked again as " + m.Again
		}
		return line(m.To, " of %s is stale, recorded as another change%s", m.From.Short(), again)
	case MoveGone:
		return line(m.From, ": the code is gone, "+NoBranch+" has it")
	}
	return nil
}

// NotesOf returns the lines that an event adds to the notes of commits. It depends on the event alone, so that the
// notes do not depend on the order in which events arrived.
func NotesOf(e Event) []notes.Line {
	var lines []notes.Line
	if commit, text := NoteOf(e); commit != "" {
		for line := range strings.Lines(text) {
			lines = append(lines, notes.Line{Commit: commit, At: e.Timestamp, Text: strings.TrimRight(line, "\n")})
		}
	}
	if e.Type == EventReviewMoved.Name {
		if m, err := EventReviewMoved.Payload(e); err == nil {
			lines = append(lines, movedNotes(e, m)...)
		}
	}
	if e.Type == EventRunLanded.Name {
		if landed, err := EventRunLanded.Payload(e); err == nil {
			lines = append(lines, carriedNotes(e, landed)...)
		}
	}
	return lines
}

// Landed says where a run's result landed.
type Landed struct {
	Commit gitstore.ID `json:"commit,omitempty"` // "": the branch had nothing to take from the run
	Onto   gitstore.ID `json:"onto"`
	Branch string      `json:"branch,omitempty"`
	Squash bool        `json:"squash,omitempty"`
	// the landed change differs from the reviewed one: others had changed the same files
	Stale   bool      `json:"stale,omitempty"`
	Carried []Carried `json:"carried,omitempty"` // commits that landed as other commits, oldest first
	At      time.Time `json:"at,omitzero"`
	By      string    `json:"by,omitempty"` // who landed it, on a branch of their clone; the fold fills it in
}

// Carried is a commit of a run that landed as another commit, with the lines of its note about its review. They are
// copied to the note of the landed commit.
type Carried struct {
	From gitstore.ID `json:"from"`
	To   gitstore.ID `json:"to"`
	Said []Saying    `json:"said,omitempty"`
}

// Saying is one line of a note, without the time at its beginning.
type Saying struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// TitleOf describes the landing in a few words.
func (l Landed) TitleOf() string {
	return fmt.Sprintf("%s onto %s", cmp.Or(l.Commit.Short(), "nothing"), cmp.Or(l.Branch, "a detached HEAD"))
}

// Words says as which commit, where and by whom a run landed.
func (l Landed) Words() string {
	onto := cmp.Or(l.Branch, "a detached HEAD")
	if l.Commit == "" {
		return onto + " has nothing to take from the run"
	}
	words := fmt.Sprintf("landed as %s on %s", l.Commit.Short(), onto)
	if l.By != "" {
		words += " by " + l.By
	}
	return words
}

// reviewedAs returns the commit as which the landed commit to was reviewed, or "" if that is to itself.
func (l Landed) reviewedAs(to gitstore.ID) gitstore.ID {
	for _, c := range slices.Backward(l.Carried) {
		if c.To == to {
			return c.From
		}
	}
	return ""
}

// EventsOfCommit returns the events about commit. If commit took the place of others, the events about those are
// included, since its review may be there. So are all events of a review that was requested on such a commit,
// because later events name only the review.
func EventsOfCommit(events []Event, commit gitstore.ID) []Event {
	reviewed := each.Set(Predecessors(events, commit))
	var about []Event
	reviews := map[string]bool{}
	for _, e := range events {
		speaks := speaksOf(e, commit, reviewed)
		if speaks && (e.Type == EventReviewRequested.Name || e.Type == EventReviewChecked.Name) {
			reviews[e.Review] = true
		}
		if speaks || reviews[e.Review] {
			about = append(about, e)
		}
	}
	return about
}

// subjectOf holds the fields of any payload that name commits.
type subjectOf struct {
	Commit  gitstore.ID `json:"commit"`
	Base    gitstore.ID `json:"base"`
	Subject Subject     `json:"subject"`
	Carried []Carried   `json:"carried"`
	From    gitstore.ID `json:"from"`
	To      gitstore.ID `json:"to"`
}

// speaksOf reports whether e is about commit or about one of the commits that it was reviewed as.
func speaksOf(e Event, commit gitstore.ID, reviewed map[gitstore.ID]bool) bool {
	p, err := payloadOf[subjectOf](e)
	if err != nil {
		return false
	}
	if p.Base == commit && e.Type == EventRunStarted.Name {
		return true
	}
	meant := func(id gitstore.ID) bool { return id == commit || reviewed[id] }
	moved := e.Type == EventReviewMoved.Name && (p.From == commit || p.To == commit)
	return meant(p.Commit) || meant(p.Subject.Commit) || moved ||
		slices.ContainsFunc(p.Carried, func(c Carried) bool { return c.From == commit || c.To == commit })
}

// Predecessors returns the commits that commit took the place of, according to events.
func Predecessors(events []Event, commit gitstore.ID) []gitstore.ID {
	var from []gitstore.ID
	for _, e := range events {
		switch e.Type {
		case EventReviewMoved.Name:
			if m, err := EventReviewMoved.Payload(e); err == nil && m.To == commit {
				from = append(from, m.From)
			}
		case EventRunLanded.Name:
			landed, err := EventRunLanded.Payload(e)
			for _, c := range landed.Carried {
				if err == nil && c.To == commit {
					from = append(from, c.From)
				}
			}
		}
	}
	return from
}
