package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/spend"
)

// Kinds of entries.
const (
	entryStarted    = "started"
	entryAttempt    = "attempt"
	entryChecks     = "checks"
	entryReview     = "review"
	entryReverted   = "reverted"
	entryStopped    = "stopped"
	entryResumed    = "resumed"
	entryIntervened = "intervention"
	entryAnswered   = "answered"
	entryCompleted  = "completed"
	entryLanded     = "landed"
	entryUnlanded   = "unlanded"
	entryAborted    = "aborted"
	entryNotCounted = "not_counted" // the run's state no longer allowed it
	entryUnreadable = "unreadable"
	entryOther      = "other" // from a newer version of this program
)

// ReportEntry is one event of a run's timeline. Kind is started, attempt, checks, review, reverted, stopped, resumed,
// intervention, answered, completed, landed, unlanded, aborted, not_counted, unreadable or other; the field with the
// name of the kind has the details.
type ReportEntry struct {
	Kind        string            `json:"kind"`
	At          time.Time         `json:"at"`          // when it began
	Offset      duration.Duration `json:"offset_ms"`   // from the run's start
	Duration    duration.Duration `json:"duration_ms"` // 0 for an event without a duration
	Event       gitstore.ID       `json:"event"`
	By          string            `json:"by,omitempty"` // agent or person
	Title       string            `json:"title"`        // a summary on one line, safe to show
	Attachments []string          `json:"attachments,omitempty"`

	Attempt      *ReportAttempt      `json:"attempt,omitempty"`
	Checks       []ReportCheck       `json:"checks,omitempty"` // or the commands of an intervention
	Review       *ReportRound        `json:"review,omitempty"`
	Reverted     *record.Reverted    `json:"reverted,omitempty"`
	Stop         *record.Stop        `json:"stop,omitempty"`
	Intervention *ReportIntervention `json:"intervention,omitempty"`
	Landed       *record.Landed      `json:"landed,omitempty"`

	details []string
}

// ReportAttempt is one turn of an implementer. If its commit is not in this clone, the files have no line counts.
type ReportAttempt struct {
	Number    int                  `json:"attempt"`
	Mode      record.AttemptMode   `json:"mode"`
	Agent     string               `json:"agent"`
	Finished  bool                 `json:"finished"` // false: it was killed
	Commit    gitstore.ID          `json:"commit,omitempty"`
	Files     []gitstore.FileStat  `json:"files"`
	Counted   bool                 `json:"counted"` // the files have line counts
	Added     int                  `json:"lines_added"`
	Deleted   int                  `json:"lines_deleted"`
	Claimed   []string             `json:"claimed,omitempty"`
	Unclaimed []string             `json:"unclaimed,omitempty"`
	Unchanged []string             `json:"unchanged,omitempty"`
	Status    reply.ExecutorStatus `json:"executor_status,omitempty"`
	Warnings  []string             `json:"parse_warnings,omitempty"`
	Failure   *record.Failure      `json:"failure,omitempty"`
	Reverted  bool                 `json:"reverted"` // later, as a whole
	spend.Spent
}

// ReportCheck is one command's result.
type ReportCheck struct {
	Name     string            `json:"name,omitempty"` // "" for a command that is not a configured check
	Command  string            `json:"command"`
	OK       bool              `json:"ok"`
	Fails    bool              `json:"fails"` // it counts against the work
	State    string            `json:"state"` // how it ended, in a few words
	ExitCode int               `json:"exit_code"`
	Reason   string            `json:"reason,omitempty"`
	NotRun   string            `json:"not_run,omitempty"` // why there is no result
	Said     string            `json:"said,omitempty"`    // its output in a few words
	Tree     string            `json:"tree,omitempty"`
	Log      string            `json:"log,omitempty"` // EVENT:PATH of its output, for git show
	Duration duration.Duration `json:"duration_ms"`
}

// ReportRound is one turn of a reviewer.
type ReportRound struct {
	Number   int             `json:"round"`
	Attempt  int             `json:"attempt"`
	Reviewer string          `json:"reviewer"`
	Verdict  reply.Verdict   `json:"verdict,omitempty"` // effective
	Said     string          `json:"said"`              // the reviewer's verdict and the failed checks
	Severity SeverityCounts  `json:"severities"`
	Findings []reply.Finding `json:"findings"`
	Requests []string        `json:"requests,omitempty"` // of a review without findings
	Census   record.Census   `json:"census"`
	Warnings []string        `json:"parse_warnings,omitempty"`
	Failure  *record.Failure `json:"failure,omitempty"`
	spend.Spent
}

// ReportIntervention is a person's intervention. Its commands are the entry's checks.
type ReportIntervention struct {
	Number     int           `json:"intervention"`
	Reason     string        `json:"reason"`
	Note       string        `json:"note"`
	Commits    []gitstore.ID `json:"commits_in_range"`
	Files      []string      `json:"files_changed"`
	Checkpoint gitstore.ID   `json:"checkpoint,omitempty"`
}

// SeverityCounts counts findings by severity.
type SeverityCounts struct {
	Critical int `json:"critical"`
	Warning  int `json:"warning"`
	Note     int `json:"note"`
}

// add counts one finding. An unknown severity counts as a note.
func (s *SeverityCounts) add(severity reply.Severity) {
	switch severity {
	case reply.Critical:
		s.Critical++
	case reply.Warning:
		s.Warning++
	default:
		s.Note++
	}
}

// String formats the counts as "1 critical, 2 warnings", without zeros.
func (s SeverityCounts) String() string {
	var parts []string
	if s.Critical > 0 {
		parts = append(parts, fmt.Sprintf("%d critical", s.Critical))
	}
	if s.Warning > 0 {
		parts = append(parts, prose.Count(s.Warning, "warning"))
	}
	if s.Note > 0 {
		parts = append(parts, prose.Count(s.Note, "note"))
	}
	if len(parts) == 0 {
		return "no findings"
	}
	return strings.Join(parts, ", ")
}

// goesOn reports whether e ends the waiting of a stopped run.
func (e ReportEntry) goesOn() bool {
	switch e.Kind {
	case entryAttempt, entryChecks, entryReview, entryReverted, entryResumed, entryCompleted, entryAborted:
		return true
	}
	return false
}

// ends reports whether e may be the end of the run.
func (e ReportEntry) ends() bool {
	switch e.Kind {
	case entryStopped, entryCompleted, entryAborted, entryAnswered:
		return true
	}
	return false
}

// detailsShown is the maximum number of files or findings of a step in a report for people.
const detailsShown = 10

// took formats a duration for people, with about three digits.
func took(d duration.Duration) string {
	t := time.Duration(d)
	switch {
	case t >= 48*time.Hour:
		return fmt.Sprintf("%dd%dh", int(t.Hours())/24, int(t.Hours())%24)
	case t >= time.Hour:
		return fmt.Sprintf("%dh%02dm", int(t.Hours()), int(t.Minutes())%60)
	case t >= time.Minute:
		return fmt.Sprintf("%dm%02ds", int(t.Minutes()), int(t.Seconds())%60)
	case t >= time.Second || t < time.Millisecond:
		return fmt.Sprintf("%ds", int(t.Round(time.Second).Seconds()))
	}
	return fmt.Sprintf("%dms", t.Milliseconds())
}

func (a ReportAttempt) title() string {
	title := fmt.Sprintf("attempt %d (%s) by %s", a.Number, a.Mode, a.By(a.Agent))
	switch {
	case a.Failure != nil:
		title += ": " + strings.TrimSpace(a.Failure.Reason+" "+a.Failure.Detail)
	case !a.Finished:
		return title + ": begun, not finished"
	default:
		title += ": " + prose.Count(len(a.Files), "file")
		if a.Counted {
			title += fmt.Sprintf(", +%d -%d", a.Added, a.Deleted)
		}
	}
	if a.Commit != "" {
		title += ", " + a.Commit.Short()
	}
	if a.Reverted {
		title += ", reverted later"
	}
	return title
}

func (a ReportAttempt) lines() []string {
	var lines []string
	for _, f := range a.Files[:min(len(a.Files), detailsShown)] {
		lines = append(lines, fileLine(f, a.Counted))
	}
	lines = appendMore(lines, len(a.Files), "file")
	if len(a.Unclaimed) > 0 {
		lines = append(lines, "changed, but not said: "+shortList(a.Unclaimed))
	}
	if len(a.Unchanged) > 0 {
		lines = append(lines, "said, but not changed: "+shortList(a.Unchanged))
	}
	for _, w := range a.Warnings {
		lines = append(lines, "note: "+w)
	}
	return append(lines, spentLines(a.Spent)...)
}

// spentLines returns why other agents gave no answer, and the usage of all.
func spentLines(spent spend.Spent) []string {
	lines := spent.PassedOver()
	if took := spent.Usage.String(); took != "" {
		lines = append(lines, took)
	}
	return lines
}

// fileLine formats one file with its line counts.
func fileLine(f gitstore.FileStat, counted bool) string {
	name := f.Path
	if f.OldPath != "" {
		name = f.OldPath + " → " + f.Path
	}
	switch {
	case !counted:
		return name
	case f.Binary:
		return name + "  binary"
	}
	return fmt.Sprintf("%s  +%d -%d", name, f.Added, f.Deleted)
}

func appendMore(lines []string, total int, noun string) []string {
	if more := total - detailsShown; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %s more", prose.Count(more, noun)))
	}
	return lines
}

func shortList(names []string) string {
	text := strings.Join(names[:min(len(names), detailsShown)], ", ")
	if more := len(names) - detailsShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (c ReportCheck) line() string {
	return fmt.Sprintf("%s: %s (%s)", cmp.Or(c.Name, c.Command), c.State, took(c.Duration))
}

func (r ReportRound) title() string {
	who := fmt.Sprintf("round %d by %s: ", r.Number, r.By(r.Reviewer))
	switch {
	case r.Failure != nil:
		return who + strings.TrimSpace(r.Failure.Reason+" "+r.Failure.Detail)
	case r.Census.Nothing():
		return who + "nothing to review"
	}
	return fmt.Sprintf("%s%s, %s", who, r.Said, r.Severity)
}

func (r ReportRound) lines() []string {
	var lines []string
	if r.Failure == nil {
		c := r.Census
		seen := fmt.Sprintf("saw %d of %s, %d of %s", c.SentFiles, prose.Count(c.Files, "file"), c.SentLines, prose.Count(c.Lines, "line"))
		if len(c.LeftOut) > 0 {
			seen += fmt.Sprintf(", %d left out: %s", len(c.LeftOut), c.Left())
		}
		lines = append(lines, seen)
	}
	for _, f := range r.Findings[:min(len(r.Findings), detailsShown)] {
		lines = append(lines, findingLine(f))
	}
	lines = appendMore(lines, len(r.Findings), "finding")
	for _, asked := range r.Requests {
		lines = append(lines, "asked: "+asked)
	}
	for _, w := range r.Warnings {
		lines = append(lines, "note: "+w)
	}
	return append(lines, spentLines(r.Spent)...)
}

func findingLine(f reply.Finding) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s", f.Severity, strings.TrimSpace(f.Place()+"  "+f.Issue)))
}

// tookSuffix returns how long a step took, or returns "".
func (e ReportEntry) tookSuffix() string {
	if e.Duration == 0 {
		return ""
	}
	return " (" + took(e.Duration) + ")"
}

// between returns the time from one moment to another, or 0 if a clock went backwards.
func between(from, to time.Time) duration.Duration { return duration.Duration(max(0, to.Sub(from))) }

// addDurations returns a + b, or the maximum instead of an overflow: a log may claim any number.
func addDurations(a, b duration.Duration) duration.Duration {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// person returns an actor without the address, which does not belong in a pull request.
func person(actor string) string {
	return cmp.Or(record.PersonName(actor), actor)
}
