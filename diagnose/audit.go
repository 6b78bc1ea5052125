package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

// AuditClass says how a commit is accounted for.
type AuditClass string

const (
	AuditCheckpoint   AuditClass = "checkpoint"   // a run made it, according to its events or the commit's trailers
	AuditIntervention AuditClass = "intervention" // a person made it for a stopped run
	AuditAttributed   AuditClass = "attributed"   // it names its run, or a review or a run's round looked at it
	AuditInferred     AuditClass = "inferred"     // it looks like a run's work, or mentions a run
	AuditGap          AuditClass = "gap"          // nothing is known about it
	AuditNothing      AuditClass = "nothing"      // it changes nothing, as a clean merge: nothing has to be known
)

// auditMarks are the marks at the start of each line.
var auditMarks = map[AuditClass]string{AuditCheckpoint: "✓", AuditIntervention: "!", AuditAttributed: "·",
	AuditInferred: "~", AuditGap: "?", AuditNothing: "-"}

// Audit is the output of `git runr audit --json` after "v":1. Coverage is in percent, rounded down to one decimal; it
// is 100 if there is nothing to audit.
type Audit struct {
	Range    string              `json:"range"` // as the user gave it
	Run      string              `json:"run_id,omitempty"`
	Commits  []AuditedCommit     `json:"commits"` // newest first
	Counts   AuditCounts         `json:"counts"`
	Coverage AuditCoverage       `json:"coverage"`
	Reviews  lineage.CoverCounts `json:"reviews"`
	Shallow  bool                `json:"shallow,omitempty"` // commits before the oldest are not in this clone
	Failed   bool                `json:"failed"`            // coverage is below --fail-under or --require

	// Unsynced is the remote that reviews come from, if nothing has been fetched from it.
	Unsynced string `json:"nothing_fetched,omitempty"`
}

// AuditedCommit is one commit and the reason for its class.
type AuditedCommit struct {
	Commit  gitstore.ID     `json:"commit"`
	Subject string          `json:"subject"`
	Merge   bool            `json:"merge"`
	Class   AuditClass      `json:"class"`
	Why     string          `json:"why"` // in words
	Run     string          `json:"run_id,omitempty"`
	Attempt int             `json:"attempt,omitempty"`
	Review  string          `json:"review_id,omitempty"` // the review that accounts for it
	Covered lineage.Covered `json:"reviewed"`            // its review coverage
}

// AuditCounts are the numbers of commits by class.
type AuditCounts struct {
	Total        int `json:"total"`
	Checkpoint   int `json:"checkpoint"`
	Intervention int `json:"intervention"`
	Attributed   int `json:"attributed"`
	Inferred     int `json:"inferred"`
	Gap          int `json:"gap"`
	Nothing      int `json:"nothing"` // of Total; coverage leaves them out
}

// AuditCoverage is the share of commits that are accounted for.
type AuditCoverage struct {
	Explicit     float64 `json:"explicit"` // checkpoints, interventions and attributed commits
	WithInferred float64 `json:"with_inferred"`
}

// auditor knows what runs and reviews say about commits.
type auditor struct {
	recorded map[gitstore.ID]AuditedCommit // according to the events of runs
	runs     map[string]bool
	accepted map[string]*record.Accepted
	looks    map[string]string // subject and files → run
	foreign  map[gitstore.ID]bool
}

// NewAudit classifies commits, newest first; covered is the review coverage of each, and foreign is from ForeignTo.
func NewAudit(commits []gitstore.LoggedCommit, runs []record.Run, covered []lineage.Covered,
	foreign map[gitstore.ID]bool) Audit {
	a := auditor{recorded: map[gitstore.ID]AuditedCommit{}, runs: map[string]bool{},
		accepted: map[string]*record.Accepted{}, looks: map[string]string{}, foreign: foreign}
	for _, run := range runs {
		a.addRun(run)
	}
	audit := Audit{Commits: []AuditedCommit{}, Reviews: lineage.CountCovered(covered)}
	for i, c := range commits {
		audited := a.classify(c, covered[i])
		audited.Why += a.refusal(audited, covered[i])
		audited.Commit, audited.Subject, audited.Merge, audited.Covered = c.ID, prose.OneRow(c.Subject), len(c.Parents) > 1,
			covered[i]
		audit.Counts.Total++
		*audit.Counts.of(audited.Class)++
		audit.Commits = append(audit.Commits, audited)
	}
	n := audit.Counts
	audit.Coverage = AuditCoverage{Explicit: percentDown(n.explicit(), n.counted()),
		WithInferred: percentDown(n.explicit()+n.Inferred, n.counted())}
	return audit
}

// addRun adds what the events of one run say. An attempt or a person's work has precedence over the landing, which may
// be the same commit.
func (a *auditor) addRun(run record.Run) {
	a.runs[run.ID], a.accepted[run.ID] = true, run.Summary().Accepted
	for _, at := range run.Attempts {
		a.record(at.Commit, AuditedCommit{Class: AuditCheckpoint, Run: run.ID, Attempt: at.Number,
			Why: fmt.Sprintf("run %s, attempt %d", run.ID, at.Number)})
		a.look(run, at.Files)
	}
	a.look(run, run.Files())
	for _, iv := range run.Interventions {
		why := fmt.Sprintf("run %s, intervention %d (%s)", run.ID, iv.Number, iv.Reason)
		for _, id := range append([]gitstore.ID{iv.Commit}, iv.Commits...) {
			a.record(id, AuditedCommit{Class: AuditIntervention, Run: run.ID, Why: why})
		}
	}
	byPerson := func(iv record.Intervention) bool { return run.Landed.Commit == iv.Commit }
	if run.Landed != nil && run.Landed.Commit != run.Landed.Onto && !slices.ContainsFunc(run.Interventions, byPerson) {
		a.record(run.Landed.Commit, AuditedCommit{Class: AuditCheckpoint, Run: run.ID, Why: "run " + run.ID + ", landed"})
	}
	if given := run.Plan.Context; given != nil {
		a.record(given.Commit, AuditedCommit{Class: AuditAttributed, Run: run.ID, Why: "given to run " + run.ID})
	}
}

// strength orders classes: the strongest class of a commit counts.
var strength = map[AuditClass]int{AuditCheckpoint: 3, AuditIntervention: 2, AuditAttributed: 1}

// record keeps the first claim of the strongest class. A commit that a run made stays the run's even if a later
// intervention lists it.
func (a *auditor) record(id gitstore.ID, c AuditedCommit) {
	if id == "" || strength[a.recorded[id].Class] >= strength[c.Class] {
		return
	}
	a.recorded[id] = c
}

// look remembers what a landed copy of the run's work would look like.
func (a *auditor) look(run record.Run, files []string) {
	if len(files) > 0 {
		a.looks[looksLike(run.Name(), files)] = run.ID
	}
}

// looksLike joins a subject, which may be shortened, and the changed files into a key.
func looksLike(subject string, files []string) string {
	return store.NameForMatch(subject) + "\x00" + strings.Join(slices.Sorted(slices.Values(files)), "\x00")
}

// namedRun returns the run that trailers name.
func namedRun(trailers map[string]string) string {
	return oneLine(cmp.Or(trailers["runr-run"], trailers["runr-run-id"]))
}

// RunsFor returns the runs that an audit of commits needs, and errors for unreadable records. covered is the review
// coverage of each commit.
func RunsFor(ctx context.Context, store *store.Store, commits []gitstore.LoggedCommit,
	covered []lineage.Covered) ([]record.Run, []error, error) {
	var ids []gitstore.ID
	var names, runs []string
	for _, c := range commits {
		ids, names = append(ids, c.ID), append(names, c.Subject)
		if run := namedRun(trailersOf(c.Message)); run != "" {
			runs = append(runs, run)
		}
	}
	for _, c := range covered {
		if c.Run != "" {
			runs = append(runs, c.Run)
		}
	}
	return store.RunsAbout(ctx, ids, names, runs)
}

// ForeignTo returns those of commits whose trailers name an attempt of one of runs, although no commit of that run
// makes the same change, nor all of them together: a rebased or cherry-picked one has the patch id of the run's, and no
// attempt makes an empty commit. Where the run's commits are not here, or a patch is too large, nobody can tell, and
// the trailers count.
func ForeignTo(ctx context.Context, store *store.Store, runs []record.Run,
	commits []gitstore.LoggedCommit) (map[gitstore.ID]bool, error) {
	claims, foreign := map[string][]gitstore.LoggedCommit{}, map[gitstore.ID]bool{}
	for _, c := range commits {
		if trailers := trailersOf(c.Message); trailers["runr-attempt"] != "" {
			claims[namedRun(trailers)] = append(claims[namedRun(trailers)], c)
		}
	}
	var ids []gitstore.ID
	var spans []gitstore.Span // of each claim, after that of its whole run
	for _, run := range runs {
		own := madeBy(run)
		claims[run.ID] = each.Where(claims[run.ID],
			func(c gitstore.LoggedCommit) bool { return run.Head() != "" && !slices.Contains(own, c.ID) })
		if len(claims[run.ID]) > 0 {
			ids = append(ids, own...)
		}
		for _, c := range claims[run.ID] {
			ids = append(ids, c.ID)
			spans = append(spans, gitstore.Span{From: run.Plan.Base, To: run.Head()},
				gitstore.Span{From: slices.Concat(c.Parents, []gitstore.ID{""})[0], To: c.ID})
		}
	}
	if len(ids) == 0 {
		return foreign, nil
	}
	patches, err := store.Repo.PatchIDs(ctx, ids)
	changes, changesErr := store.Repo.ChangeIDs(ctx, spans)
	if err != nil || changesErr != nil {
		return foreign, ctx.Err()
	}
	for _, run := range runs {
		own := each.SetOf(madeBy(run), func(id gitstore.ID) string { return patches[id] })
		delete(own, "") // not here, or without a change
		for _, c := range claims[run.ID] {
			patch := patches[c.ID]
			read := patch != "" || len(c.Parents) > 1 || changes[1] == gitstore.NoChange
			foreign[c.ID] = len(own) > 0 && !own[patch] && read && changes[0] != changes[1]
			changes = changes[2:]
		}
	}
	return foreign, nil
}

// madeBy returns the commits that a run's record names: of its attempts, of interventions, and as which they landed.
func madeBy(run record.Run) []gitstore.ID {
	all := each.Of(run.Attempts, func(at record.Attempt) gitstore.ID { return at.Commit })
	for _, iv := range run.Interventions {
		all = append(append(all, iv.Commit), iv.Commits...)
	}
	if run.Landed != nil {
		all = append(all, run.Landed.Commit)
		for _, c := range run.Landed.Carried {
			all = append(all, c.From, c.To)
		}
	}
	return all
}

// CommitsOf returns a run's commits and those that people made for it, newest first, or none if the start of the run
// has not arrived in this clone. limit is the maximum number; 0 means all.
func CommitsOf(ctx context.Context, store *store.Store, run record.Run, limit int) ([]gitstore.LoggedCommit, error) {
	if run.Head() == "" {
		return nil, nil
	}
	commits, err := store.Repo.LogMessages(ctx, run.Plan.Base, run.Head(), limit)
	if err != nil {
		return nil, err
	}
	listed := map[gitstore.ID]bool{"": true}
	for _, c := range commits {
		listed[c.ID] = true
	}
	var others []gitstore.ID
	for _, iv := range run.Interventions {
		for _, id := range append([]gitstore.ID{iv.Commit}, iv.Commits...) {
			if !listed[id] {
				listed[id] = true
				others = append(others, id)
			}
		}
	}
	theirs, err := store.Repo.LogOnly(ctx, others)
	commits = append(commits, theirs...)
	slices.SortStableFunc(commits, func(a, b gitstore.LoggedCommit) int { return b.When.Compare(a.When) })
	if limit > 0 && len(commits) > limit {
		commits = commits[:limit]
	}
	return commits, err
}

// refusal says what refused a commit that a run accounts for, and who accepted the run nevertheless. It goes on from
// audited.Why; "" if there is nothing to say.
func (a *auditor) refusal(audited AuditedCommit, covered lineage.Covered) (text string) {
	switch {
	case audited.Run == "":
		return ""
	case covered.Refused && covered.Review == "" && covered.Run == audited.Run:
		text = standingText(covered)
	case covered.Refused:
		text = "; " + coverText(covered)
	}
	if accepted := a.accepted[audited.Run]; accepted != nil && !covered.Earlier { // the result is what was accepted
		text += ", accepted " + accepted.String()
	}
	return text
}

func (a *auditor) classify(c gitstore.LoggedCommit, covered lineage.Covered) AuditedCommit {
	if known, ok := a.recorded[c.ID]; ok && known.Class != AuditAttributed {
		return known
	}
	trailers := trailersOf(c.Message)
	run := namedRun(trailers)
	attempt := oneLine(trailers["runr-attempt"])
	switch {
	case a.foreign[c.ID] && (covered.Run != run || covered.Level == ""):
		return AuditedCommit{Class: AuditInferred, Run: run, Why: fmt.Sprintf(
			"its trailers name run %s, attempt %s, whose record does not hold this change", run, attempt)}
	case attempt != "" && a.runs[run]:
		number, _ := strconv.Atoi(attempt) // 0 if it is not a number
		return AuditedCommit{Class: AuditCheckpoint, Run: run, Attempt: number,
			Why: fmt.Sprintf("run %s, attempt %s, by its trailers", run, attempt)}
	case strings.EqualFold(trailers["runr-intervention"], "true"):
		return AuditedCommit{Class: AuditIntervention, Run: run,
			Why: strings.TrimSpace("by its trailers " + cmp.Or(run, "(no run named)"))}
	case run != "" && a.runs[run]:
		return AuditedCommit{Class: AuditAttributed, Run: run, Why: "trailer of run " + run}
	case run != "":
		return AuditedCommit{Class: AuditAttributed, Run: run, Why: "trailer of run " + run + ", which is not known here"}
	}
	if known, ok := a.recorded[c.ID]; ok {
		return known
	}
	switch {
	case covered.Level == "":
	case covered.Review == "" && covered.Refused: // refusal goes on
		return AuditedCommit{Class: AuditAttributed, Run: covered.Run, Why: "run " + covered.Run}
	case covered.Review+covered.Run != "":
		return AuditedCommit{Class: AuditAttributed, Run: covered.Run, Review: covered.Review, Why: coverText(covered)}
	}
	audited := a.infer(c)
	if audited.Class == AuditGap &&
		(covered.State != lineage.CoverUnreviewed || covered.Refused || covered.Beside != nil) {
		audited.Why = coverText(covered)
		if covered.State == lineage.CoverNothing && !covered.Refused {
			audited.Class = AuditNothing
		}
	}
	return audited
}

// coverText describes the review coverage of a commit.
func coverText(c lineage.Covered) string {
	if c.Beside != nil && c.State == lineage.CoverUnreviewed && !c.Refused && c.Review+c.Run == "" {
		return "no verdict here counts for it: " + c.Beside.Of + " " + c.Beside.Why
	}
	return coverState(c)
}

func coverState(c lineage.Covered) string {
	if c.InItself != "" {
		return string(c.Verdict) + ": " + c.InItself
	}
	of := "review " + c.Review
	if c.Review == "" {
		of = "run " + c.Run
	}
	if c.Before && c.From != "" {
		return of + " asked for changes of it as " + c.From.Short() + ", and that is not settled"
	}
	if c.Before {
		return of + " has no verdict, and what refused the round before it is not settled"
	}
	of += standingText(c)
	switch c.State {
	case lineage.CoverNothing:
		return "there is nothing in it to review"
	case lineage.CoverUnshown:
		return "nothing of it was shown, " + of
	case lineage.CoverPending:
		return "no verdict yet, " + of
	case lineage.CoverStale:
		if c.From == "" {
			return "what was looked at had other contents, " + of
		}
		return fmt.Sprintf("stale, what was looked at as %s had other contents, %s", c.From.Short(), of)
	case lineage.CoverCarried:
		if c.From == "" {
			return of + ", before it was committed"
		}
		return of + ", carried from " + c.From.Short()
	case lineage.CoverUnreviewed:
		if c.Refused {
			return of + " of a part of it"
		}
		if c.Review+c.Run != "" {
			return of
		}
		return "no verdict on it is here"
	}
	return of
}

// standingText says what a review or a run of a commit said, and what of that is settled. It goes on from their name.
func standingText(c lineage.Covered) (of string) {
	said := cmp.Or(string(c.Verdict), strings.ReplaceAll(string(c.Outcome), "_", " "))
	if c.Level == lineage.LevelChecked && c.Verdict.Passed() && c.Outcome == record.OutcomePassed {
		switch {
		case c.NotCompared:
			said += " of commits that are not here to compare"
		case c.ByAgent():
			said = "checked by name and size, without the contents: " + said
		case c.Beside != nil && c.Beside.Read:
			said = fmt.Sprintf("checked by rules; review %s, which %s, does not count for it", c.Beside.Of, c.Beside.Why)
		default:
			said = "checked by rules, which read no code"
		}
	}
	words := c.ApprovalWords()
	for _, part := range []struct {
		is   bool
		text string
	}{
		{said != "", ": " + said},
		{c.Passed && c.Outcome == record.OutcomeFailed, ", and every finding is answered"},
		{c.Refused && c.Open == 0 && c.Unconfirmed > 0, ", every finding is answered, and who asked for changes " +
			"has not confirmed " + prose.Count(c.Unconfirmed, "answer")},
		{c.RefusedIn != "", ", and " + c.UnsettledWords()},
		{c.Claimed > 0, fmt.Sprintf(", %d claimed fixed", c.Claimed)},
		{words != "" && !c.Refused, ", " + words},
		{words != "" && c.Refused, "; " + words}, // of the commit, also in other reviews than the one that refuses it
		{c.LeftOut > 0, ", " + prose.Count(c.LeftOut, "file") + " left out"},
		{len(c.NotText) > 0, ", " + prose.Count(len(c.NotText), "file") + " not text"},
		{c.Outcome == record.OutcomePartial, ", a part was not looked at"},
	} {
		if part.is {
			of += part.text
		}
	}
	return of
}

// Unmet describes the commits that were not reviewed up to level, and those that a finding blocks.
func (a Audit) Unmet(level lineage.Level) []string {
	var unmet []string
	for _, c := range a.Commits {
		if !c.Covered.Meets(level) {
			unmet = append(unmet, fmt.Sprintf("%s: %s %s: %s", c.Covered.Missing(level), c.Commit.Short(),
				prose.OneLine(cmp.Or(c.Subject, "(no subject)")), coverText(c.Covered)))
		}
	}
	return unmet
}

// infer looks for a run from which a commit may come.
func (a *auditor) infer(c gitstore.LoggedCommit) AuditedCommit {
	if run := a.named(c.Message); run != "" {
		return AuditedCommit{Class: AuditInferred, Run: run, Why: "its message names run " + run}
	}
	if run := a.looks[looksLike(c.Subject, c.Files)]; run != "" {
		return AuditedCommit{Class: AuditInferred, Run: run, Why: "subject and files are those of run " + run}
	}
	return AuditedCommit{Class: AuditGap, Why: "no verdict on it is recorded here"}
}

// named returns the first known run that a text mentions.
func (a *auditor) named(text string) string {
	isPart := func(r rune) bool { return r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' }
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isPart(r) }) {
		if word = strings.Trim(word, "-"); a.runs[word] {
			return word
		}
	}
	return ""
}

// trailersOf returns the trailers of a commit message, by name in lower case; of equal names the last counts. Trailers
// are the lines of the last paragraph, unless that is the subject.
func trailersOf(message string) map[string]string {
	message = strings.TrimSpace(strings.ReplaceAll(message, "\r\n", "\n"))
	at := strings.LastIndex(message, "\n\n")
	if at < 0 {
		return nil
	}
	found := map[string]string{}
	for line := range strings.Lines(message[at:]) {
		name, value, ok := strings.Cut(line, ":")
		if ok && !strings.ContainsAny(name, " \t") {
			found[strings.ToLower(name)] = strings.TrimSpace(value)
		}
	}
	return found
}

// of returns the number of commits of a class.
func (c *AuditCounts) of(class AuditClass) *int {
	return map[AuditClass]*int{AuditCheckpoint: &c.Checkpoint, AuditIntervention: &c.Intervention,
		AuditAttributed: &c.Attributed, AuditInferred: &c.Inferred, AuditGap: &c.Gap, AuditNothing: &c.Nothing}[class]
}

// counted returns how many commits coverage counts.
func (c AuditCounts) counted() int { return c.Total - c.Nothing }

func (c AuditCounts) explicit() int { return c.Checkpoint + c.Intervention + c.Attributed }

// percentDown returns n of total in percent, rounded down to one decimal so that 100 means all. It returns 100 if total
// is 0.
func percentDown(n, total int) float64 {
	if total == 0 {
		return 100
	}
	return math.Floor(1000*float64(n)/float64(total)) / 10
}

// Below reports whether the share of commits that are accounted for, optionally with inferred ones, is less than
// percent. It is false if there are no commits.
func (c AuditCounts) Below(percent float64, inferred bool) bool {
	n := c.explicit()
	if inferred {
		n += c.Inferred
	}
	return float64(n)*100 < percent*float64(c.counted())
}

// Text formats the audit for a terminal: one line for each commit, then the coverage.
func (a Audit) Text() string {
	if a.Counts.Total == 0 {
		return fmt.Sprintf("Nothing to audit: there are no commits in %s.\n", oneLine(a.Range))
	}
	var b strings.Builder
	for _, c := range a.Commits {
		subject := cmp.Or(c.Subject, "(no subject)")
		if c.Merge {
			subject += " (merge)"
		}
		safetext.Fprintf(&b, "%s %-12s  %s  %s — %s\n", auditMarks[c.Class], c.Class, c.Commit.Short(),
			prose.OneLine(subject), oneLine(c.Why))
	}
	n := a.Counts
	safetext.Fprintf(&b, "\nCoverage: %v%% of %s (%d checkpoint, %d intervention, %d attributed)",
		a.Coverage.Explicit, prose.Count(n.counted(), "commit"), n.Checkpoint, n.Intervention, n.Attributed)
	safetext.Fprintf(&b, "; %v%% with %d inferred; %s.\n", a.Coverage.WithInferred, n.Inferred,
		prose.Count(n.Gap, "gap"))
	safetext.Fprintf(&b, "Reviews: %s.\n", CoverLine(a.Reviews))
	if a.Shallow {
		b.WriteString("This clone is shallow: earlier commits are not here and not counted (git fetch --unshallow).\n")
	}
	if a.Unsynced != "" {
		safetext.Fprintf(&b, "%s\n  git runr sync\n", share.NotHere(a.Unsynced))
	}
	return b.String()
}

// CoverLine formats counts of commits for people. The levels, stale and without a verdict are printed even if they are
// zero.
func CoverLine(n lineage.CoverCounts) string {
	var of []string
	if n.ByAuthor > 0 {
		of = append(of, fmt.Sprintf("%d by the author alone", n.ByAuthor))
	}
	if n.Carried > 0 {
		of = append(of, fmt.Sprintf("%d carried", n.Carried))
	}
	reviewed := fmt.Sprintf("%d reviewed", n.Reviewed)
	if len(of) > 0 {
		reviewed += " (" + strings.Join(of, ", ") + ")"
	}
	line := fmt.Sprintf("%d checked, %s, %d approved", n.Checked, reviewed, n.Approved)
	line += fmt.Sprintf(", %d stale, %d without a verdict", n.Stale, n.Unreviewed)
	for i, count := range []int{n.Refused, n.Pending, n.Unshown, n.Nothing} {
		if count > 0 {
			what := []string{"refused", "waiting for review", "with nothing shown", "with nothing to review"}[i]
			line += fmt.Sprintf(", %d %s", count, what)
		}
	}
	return line
}
