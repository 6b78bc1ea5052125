package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
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

	Attempt      *record.Attempt      `json:"attempt,omitempty"`
	Files        []gitstore.FileStat  `json:"files,omitempty"`  // of an attempt, if its commits are in this clone
	Checks       []record.CheckResult `json:"checks,omitempty"` // or the commands of an intervention
	Review       *record.Round        `json:"review,omitempty"`
	Reverted     *record.Reverted     `json:"reverted,omitempty"`
	Stop         *record.Stop         `json:"stop,omitempty"`
	Intervention *record.Intervention `json:"intervention,omitempty"`
	Landed       *record.Landed       `json:"landed,omitempty"`

	details []string
}

// Unfinished reports whether the entry is an attempt that never ended.
func (e ReportEntry) Unfinished() bool { return e.Attempt != nil && e.Attempt.EndedAt.IsZero() }

// goesOn reports whether e ends the waiting of a stopped run.
func (e ReportEntry) goesOn() bool {
	return slices.Contains([]string{entryAttempt, entryChecks, entryReview, entryReverted, entryResumed, entryCompleted,
		entryAborted}, e.Kind)
}

// ends reports whether e may be the end of the run.
func (e ReportEntry) ends() bool {
	return slices.Contains([]string{entryStopped, entryCompleted, entryAborted, entryAnswered}, e.Kind)
}

// detailsShown is the maximum number of files or findings of a step in a report for people.
const detailsShown = 10

// took formats a duration for people, in minutes from an hour on, and in milliseconds below a second.
func took(d duration.Duration) string {
	unit := time.Second
	switch t := time.Duration(d); {
	case t < time.Second:
		unit = time.Millisecond
	case t >= time.Hour:
		unit = time.Minute
	}
	return duration.Duration(time.Duration(d).Truncate(unit)).String()
}

// describeAttempt fills in the title and the lines of an attempt.
func (e *ReportEntry) describeAttempt() {
	a := *e.Attempt
	e.Title = a.Label()
	e.details = e.attemptLines(a)
	switch {
	case a.Failure != nil:
		e.Title += ": " + strings.TrimSpace(a.Failure.Reason+" "+a.Failure.Detail)
	case e.Unfinished():
		e.Title += ": begun, not finished"
		return
	default:
		e.Title += ": " + prose.Count(len(a.Files), "file")
		if added, deleted := sums(e.Files); len(e.Files) > 0 {
			e.Title += fmt.Sprintf(", +%d -%d", added, deleted)
		}
	}
	if a.Commit != "" {
		e.Title += ", " + a.Commit.Short()
	}
	if a.Reverted != nil {
		e.Title += ", reverted later"
	}
}

func (e *ReportEntry) attemptLines(a record.Attempt) (lines []string) {
	lines = each.Of(e.Files[:min(len(e.Files), detailsShown)], fileLine)
	if len(e.Files) == 0 {
		lines = append(lines, a.Files[:min(len(a.Files), detailsShown)]...)
	}
	lines = appendMore(lines, max(len(e.Files), len(a.Files)), "file")
	if len(a.Unclaimed) > 0 {
		lines = append(lines, "changed, but not reported: "+prose.FirstNames(a.Unclaimed, detailsShown))
	}
	if len(a.Unchanged) > 0 {
		lines = append(lines, "reported, but not changed: "+prose.FirstNames(a.Unchanged, detailsShown))
	}
	return slices.Concat(lines, prefixed("note: ", a.Warnings), spentLines(a.Spent))
}

func prefixed(prefix string, lines []string) []string {
	return each.Of(lines, func(line string) string { return prefix + line })
}

// sums returns the lines added and deleted in files.
func sums(files []gitstore.FileStat) (added, deleted int) {
	for _, f := range files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	return added, deleted
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
func fileLine(f gitstore.FileStat) string {
	name := f.Path
	if f.OldPath != "" {
		name = f.OldPath + " → " + f.Path
	}
	if f.Binary {
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

// describeRound fills in the title and the lines of a review.
func (e *ReportEntry) describeRound() {
	r := *e.Review
	e.Title = fmt.Sprintf("round %d by %s: ", r.Number, r.By(r.Reviewer))
	c := r.Census
	seen := fmt.Sprintf("saw %d of %s, %d of %s", c.SentFiles, prose.Count(c.Files, "file"), c.SentLines,
		prose.Count(c.Lines, "line")) + c.Omissions()
	switch {
	case r.Failure != nil:
		e.Title += strings.TrimSpace(r.Failure.Reason + " " + r.Failure.Detail)
	case c.Nothing():
		e.Title += "nothing to review"
	default:
		e.Title += r.Said() + ", " + cmp.Or(reply.CountSeverities(r.Report.Findings), "no findings")
	}
	if r.Failure == nil {
		e.details = append(e.details, seen)
	}
	e.details = append(e.details, each.Of(r.Report.Findings[:min(len(r.Report.Findings), detailsShown)], findingLine)...)
	e.details = appendMore(e.details, len(r.Report.Findings), "finding")
	if len(r.Report.Findings) == 0 {
		e.details = append(e.details, prefixed("asked: ", r.Report.Requests)...)
	}
	e.details = slices.Concat(e.details, prefixed("note: ", r.Report.Warnings), spentLines(r.Spent))
}

func findingLine(f reply.Finding) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s", f.Severity, strings.TrimSpace(f.Place()+"  "+f.Issue)))
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

// person returns an actor without the address, which does not belong in a pull request.
func person(actor string) string {
	return cmp.Or(record.PersonName(actor), actor)
}
