package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// timeline builds entries from events.
type timeline struct {
	in      ReportInput
	lost    map[gitstore.ID]string
	begun   map[int]int // attempt number → entry without an end
	entries []ReportEntry
}

func newTimeline(in ReportInput, start time.Time) []ReportEntry {
	t := &timeline{in: in, lost: map[gitstore.ID]string{}, begun: map[int]int{}, entries: []ReportEntry{}}
	for _, l := range in.Run.Lost {
		t.lost[l.Event] = l.Why
	}
	for _, e := range in.Events {
		t.add(e)
	}
	for i := range t.entries {
		t.entries[i].finish(start)
	}
	return t.entries
}

// finish fills in the parts of an entry that depend on all of it.
func (e *ReportEntry) finish(start time.Time) {
	e.Duration = max(0, e.Duration)
	e.Offset = between(start, e.At)
	if e.Attempt != nil {
		e.describeAttempt()
	}
	e.Title = oneLine(e.Title)
}

// add adds one event to the timeline.
func (t *timeline) add(e record.Event) {
	entry := ReportEntry{Kind: entryOther, At: e.Timestamp, Event: e.ID, By: e.Actor, Title: e.Title,
		Attachments: t.in.Attachments[e.ID]}
	if why, lost := t.lost[e.ID]; lost {
		entry.Kind, entry.Title = entryNotCounted, fmt.Sprintf("not counted: %s by %s: %s", e.Type, person(e.Actor), why)
		t.entries = append(t.entries, entry)
		return
	}
	if i := slices.IndexFunc(entryReaders, func(r entryReader) bool { return r.eventType == e.Type }); i >= 0 {
		if err := entryReaders[i].fill(t, &entry, e); err != nil {
			entry.Kind, entry.Title = entryUnreadable, fmt.Sprintf("unreadable: %s: %v", e.Type, err)
		}
	}
	if entry.Kind != "" {
		t.entries = append(t.entries, entry)
	}
}

// entryReader fills in an entry from an event of one type. If it leaves Kind empty, it has added the event to an
// earlier entry.
type entryReader struct {
	eventType string
	fill      func(*timeline, *ReportEntry, record.Event) error
}

// entryReaders has a reader for every type of event in a run.
var entryReaders = []entryReader{
	reads(record.EventRunStarted, readActor[runplan.Plan](entryStarted)),
	reads(record.EventAttemptStarted, (*timeline).attemptStarted),
	reads(record.EventAttemptCompleted, (*timeline).attemptCompleted),
	reads(record.EventAttemptReverted, (*timeline).reverted),
	reads(record.EventChecksCompleted, (*timeline).checks),
	reads(record.EventRoundCompleted, (*timeline).round),
	reads(record.EventReviewLoopDetected, (*timeline).stopped),
	reads(record.EventRunStopped, (*timeline).stopped),
	reads(record.EventRunAnswered, (*timeline).answered),
	reads(record.EventRunCompleted, (*timeline).completed),
	reads(record.EventRunLanded, (*timeline).landed),
	reads(record.EventRunUnlanded, (*timeline).unlanded),
	reads(record.EventRunAborted, readActor[struct{}](entryAborted)),
	reads(record.EventRunResumed, readActor[record.ResumedPayload](entryResumed)),
	reads(record.EventRunIntervened, (*timeline).intervened),
}

func reads[P any](of record.EventType[P], fill func(*timeline, *ReportEntry, record.Event, P)) entryReader {
	return entryReader{of.Name, func(t *timeline, entry *ReportEntry, e record.Event) error {
		payload, err := of.Payload(e)
		if err == nil {
			fill(t, entry, e, payload)
		}
		return err
	}}
}

// readActor returns a function that says what somebody did.
func readActor[P any](kind string) func(*timeline, *ReportEntry, record.Event, P) {
	return func(_ *timeline, entry *ReportEntry, e record.Event, _ P) {
		entry.Kind, entry.Title = kind, kind+" by "+person(e.Actor)
	}
}

func (t *timeline) attemptStarted(entry *ReportEntry, _ record.Event, a record.Attempt) {
	a.EndedAt = time.Time{}
	entry.Kind, entry.By, entry.Duration, entry.Attempt = entryAttempt, a.Agent, a.Duration, &a
	t.begun[a.Number] = len(t.entries)
}

// attemptCompleted completes the entry of the attempt's start, which keeps its position in the timeline.
func (t *timeline) attemptCompleted(entry *ReportEntry, e record.Event, a record.Attempt) {
	target := entry
	at, known := t.begun[a.Number]
	if known {
		target = &t.entries[at]
		delete(t.begun, a.Number)
		target.Event, target.Attachments = entry.Event, entry.Attachments
	}
	a.EndedAt = e.Timestamp
	target.Kind, target.By, target.Duration, target.Attempt = entryAttempt, a.Agent, a.Duration, &a
	if a.Commit != "" {
		target.Files = t.in.Attempts[a.Number]
	}
	if target.Duration <= 0 {
		target.Duration = between(target.At, e.Timestamp)
	}
	if known {
		entry.Kind = ""
	} else {
		entry.At = e.Timestamp.Add(-time.Duration(max(0, entry.Duration)))
	}
}

func (t *timeline) reverted(entry *ReportEntry, _ record.Event, r record.Reverted) {
	entry.Kind, entry.By, entry.Reverted = entryReverted, "", &r
	entry.Title = fmt.Sprintf("attempt %d reverted: %s as before it", r.Attempt, prose.Count(len(r.Restored), "file"))
	entry.details = prefixed("left alone, changed since: ", r.Conflicts)
	for i := range t.entries {
		if a := t.entries[i].Attempt; a != nil && a.Number == r.Attempt && len(r.Conflicts) == 0 {
			a.Reverted = &r
		}
	}
}

func (t *timeline) checks(entry *ReportEntry, e record.Event, run record.CheckRun) {
	entry.Kind, entry.By = entryChecks, ""
	entry.addChecks(run.Results)
	entry.At = e.Timestamp.Add(-time.Duration(entry.Duration)) // the event was recorded at their end
	entry.Title = "checks"
	if run.Attempt > 0 {
		entry.Title += fmt.Sprintf(" after attempt %d", run.Attempt)
	}
	state := checksState(run.Results)
	if run.Failure != nil {
		state = run.Failure.Reason + ": " + run.Failure.Detail
	}
	entry.Title += ": " + state
}

// addChecks adds results to entry.
func (e *ReportEntry) addChecks(results []record.CheckResult) {
	e.Duration, e.Checks = 0, results
	for _, c := range results {
		e.Duration = addDurations(e.Duration, max(0, c.Duration))
		line := fmt.Sprintf("%s: %s (%s)", cmp.Or(c.Name, c.Command), c.State(), took(max(0, c.Duration)))
		e.details = append(e.details, line)
	}
}

func checksState(checks []record.CheckResult) string {
	failed := each.Count(checks, record.CheckResult.Fails)
	switch {
	case len(checks) == 0:
		return "none configured"
	case failed == 0:
		return fmt.Sprintf("%d of %d ok", each.Count(checks, record.CheckResult.OK), len(checks))
	}
	return fmt.Sprintf("%d of %d failed", failed, len(checks))
}

func (t *timeline) round(entry *ReportEntry, e record.Event, round record.RoundPayload) {
	entry.Kind, entry.By, entry.Review, entry.Duration = entryReview, round.Reviewer, &round.Round, max(0, round.Duration)
	entry.At = e.Timestamp.Add(-time.Duration(entry.Duration))
	entry.describeRound()
}

func (t *timeline) stopped(entry *ReportEntry, _ record.Event, stop record.StopPayload) {
	entry.Kind, entry.By, entry.Stop, entry.Title = entryStopped, "", &stop.Stop, header(stop.Stop, "")
	why := cmp.Or(stop.Detail, record.ReasonOf(stop.Reason).Explanation)
	entry.details = append([]string{why}, prefixed("unmet: ", stop.Unmet)...)
}

func (t *timeline) answered(entry *ReportEntry, _ record.Event, answer record.AnswerPayload) {
	entry.Kind, entry.Title = entryAnswered, "answered: "+string(answer.Choice)
	if answer.By != "" {
		entry.Title += " (by " + answer.By + ")"
	}
}

func (t *timeline) completed(entry *ReportEntry, _ record.Event, done record.CompletedPayload) {
	result, open := cmp.Or(t.in.Run.Result, done.Result), "open: "
	if result == record.ResultWithIssues {
		open = "accepted: "
	}
	entry.Kind, entry.By, entry.Title = entryCompleted, "", "completed: "+record.ResultWords(result)
	entry.details = prefixed(open, each.Of(done.Open, findingLine))
}

func (t *timeline) landed(entry *ReportEntry, e record.Event, landed record.Landed) {
	landed.At = e.Timestamp
	entry.Kind, entry.Landed, entry.Title = entryLanded, &landed, landed.Words()
	if landed.Squash {
		entry.Title += ", as one commit"
	}
}

func (t *timeline) unlanded(entry *ReportEntry, e record.Event, landed record.Landed) {
	t.landed(entry, e, landed)
	entry.Kind, entry.Title = entryUnlanded, "no longer "+entry.Title
}

func (t *timeline) intervened(entry *ReportEntry, e record.Event, iv record.InterventionPayload) {
	entry.Kind, entry.By = entryIntervened, cmp.Or(iv.By, e.Actor)
	entry.Intervention = &iv.Intervention
	entry.Title = fmt.Sprintf("intervention %d (%s) by %s: %s", iv.Number, iv.Reason, person(entry.By), iv.Note)
	if iv.Commit != "" {
		entry.details = append(entry.details, "committed as "+iv.Commit.Short())
	}
	if len(iv.Commits) > 0 {
		entry.details = append(entry.details, prose.Count(len(iv.Commits), "commit")+" in the checkout")
	}
	if theirs := iv.Theirs(); len(theirs) > 0 {
		entry.details = append(entry.details, "changed: "+prose.FirstNames(theirs, detailsShown))
	}
	entry.addChecks(iv.Commands)
	entry.At = e.Timestamp.Add(-time.Duration(entry.Duration))
}

// ReportEvidence is the newest result of one check. State is ok, failed or never_run.
type ReportEvidence struct {
	Check   string      `json:"check"`
	Command string      `json:"command"`
	State   string      `json:"state"`
	Was     string      `json:"was"`             // in a few words
	Stale   bool        `json:"stale"`           // it ran on another commit than the tip of the run's branch
	Tree    string      `json:"tree,omitempty"`  // what it ran on
	Event   gitstore.ID `json:"event,omitempty"` // the event that contains it
	Log     string      `json:"log,omitempty"`   // EVENT:PATH of its whole output, for git show; "" if there is none
}

// reportEvidence returns the newest result of each check, in the order of the configuration and then of appearance.
func reportEvidence(run record.Run, entries []ReportEntry) []ReportEvidence {
	evidence := []ReportEvidence{}
	slot := func(name string) *ReportEvidence {
		i := slices.IndexFunc(evidence, func(e ReportEvidence) bool { return e.Check == name })
		if i < 0 {
			i, evidence = len(evidence), append(evidence, ReportEvidence{Check: name})
		}
		return &evidence[i]
	}
	for _, c := range run.Plan.Checks {
		e := slot(c.Name)
		e.Command, e.State, e.Was = c.Command, "never_run", never
		if slices.Contains(run.Plan.FailedChecks, c.Name) {
			e.State, e.Was, e.Stale = "failed", failedInReview, run.Head() != run.Plan.Base
		}
	}
	head := string(run.Head())
	for _, entry := range entries {
		for i, c := range entry.Checks {
			if c.Name == "" {
				continue // a person's command, not a check
			}
			e := slot(c.Name)
			*e = ReportEvidence{Check: c.Name, Command: c.Command, State: "failed", Was: c.State(), Tree: c.Tree,
				Event: entry.Event}
			e.Stale = c.Tree != "" && head != "" && c.Tree != head
			if c.OK() {
				e.State = "ok"
			}
			path := record.CheckLog(c.Name)
			if entry.Intervention != nil {
				path = fmt.Sprintf("commands/%d.log", i+1)
			}
			if slices.Contains(entry.Attachments, path) {
				e.Log = string(entry.Event) + ":" + path
			}
		}
	}
	return evidence
}

// ReportInput is the input of a report. Only Run and Events are required.
type ReportInput struct {
	Run    record.Run
	Events []record.Event // of the run, in order
	// Attempts has the files of each attempt, by number, if its commits are in this clone.
	Attempts map[int][]gitstore.FileStat
	Changes  []gitstore.FileStat // from the run's base to its tip
	// Attachments has the paths of each event's attachments.
	Attachments map[gitstore.ID][]string
	Live        bool // a process on this machine is working on the run
	Died        bool // the process of the run has ended before the run did
}
