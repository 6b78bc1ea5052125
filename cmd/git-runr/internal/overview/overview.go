// Package overview shows the state of a repository at a glance: its branch, reviews, runs and workers, and what to
// type next. `git runr` alone prints it.
package overview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/hooks"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/landing"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/queue"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Maximum numbers of runs, reviews and waiting agents listed.
const (
	runsShown    = 10
	reviewsShown = 5
	queueShown   = 5
)

// Overview is the state of a repository, with up to three commands to type next.
type Overview struct {
	Branch     string                 `json:"branch"`
	Head       gitstore.ID            `json:"head,omitempty"`
	Problem    string                 `json:"problem,omitempty"`        // why HEAD cannot be read
	Config     string                 `json:"config_problem,omitempty"` // why the configuration cannot be read
	Under      string                 `json:"operation,omitempty"`      // git's own unfinished operation: merge, rebase …
	Altered    string                 `json:"altered,omitempty"`        // changes that stop work here; see git runr guard
	guard      string                 // the command that shows them
	Hook       hooks.State            `json:"post_commit_hook"`
	Hooks      string                 `json:"hooks_problem,omitempty"` // which installed hook would not run, and why
	Covered    *Branch                `json:"branch_reviews,omitempty"`
	Inbox      int                    `json:"inbox"` // number of open, submitted and claimed reviews
	Reviews    []record.ReviewSummary `json:"reviews"`
	Runs       []record.RunSummary    `json:"runs"`
	Queue      []queue.Entry          `json:"queue"`                      // agents for which reviews of this clone wait
	Working    bool                   `json:"worker_at_work"`             // a worker of this clone is running
	Critical   string                 `json:"critical,omitempty"`         // critical findings on this branch, in one line
	Cut        []string               `json:"cut_short"`                  // unfinished operations, such as "land RUN: on main"
	Unsynced   string                 `json:"nothing_fetched,omitempty"`  // remote of which no reviews are here
	Stranded   []string               `json:"drafts_of_closed,omitempty"` // drafts of closed reviews, a line each
	ClosedOver []string               `json:"closed_over,omitempty"`      // as from store.ClosedOver
	Next       []string               `json:"next"`
}

// Given is what the overview needs from the command line and the configuration.
type Given struct {
	Skip intake.Skip // commits that get no review requests
	Gate bool        // the gate before pushes is on
	// Bar returns what approves a commit in this repository, by the files of a base; nil: one person approves it.
	Bar func(ctx context.Context, base gitstore.ID) (lineage.Bar, error)
	// Secret describes the first secret in the message of a commit, or returns "".
	Secret func(ctx context.Context, repo *gitstore.Repo, commit gitstore.ID) (string, error)
	Config string // why the configuration cannot be read
	Remote string // remote for leases, "" for none
	Actor  string // whose drafts are listed
	// Unsynced is the remote that git runr sync would use, if no log of others is here.
	Unsynced string
	// Unshared counts the events of this clone that the remote does not have; nil without a remote.
	Unshared func(context.Context) (int, error)
	Say      func(format string, args ...any) // prints errors that do not stop the overview
}

// Of returns the overview of a repository now.
func Of(ctx context.Context, records *store.Store, given Given) (Overview, error) {
	doc := Overview{Config: given.Config, Unsynced: given.Unsynced}
	var err error
	if doc.Branch, err = records.Branch(ctx); err != nil {
		return doc, err
	}
	if doc.Head, err = records.Repo.Head(ctx); err != nil && !errors.Is(err, gitstore.ErrUnborn) {
		doc.Problem = err.Error()
	}
	doc.Under = records.Repo.Operation()
	if err := records.Repo.AlteredForUser(ctx); err != nil {
		doc.Altered, doc.guard = err.Error(), checking.GuardLines(err)[0]
	}
	statuses, err := hooks.StatusOf(ctx, records.Repo, given.Gate)
	if err == nil && len(statuses) > 0 && !records.Repo.Bare { // nobody commits in a bare repository
		doc.Hook, doc.Hooks = statuses[0].State, hooks.Problem(statuses)
	}
	if doc.Problem == "" {
		if doc.Covered, err = reviewsOfBranch(ctx, records, given); err != nil {
			given.Say("the reviews of this branch cannot be counted: %v", err)
		}
	}
	waiting, err := record.StatusFilter(record.StatusWaiting)
	if err != nil {
		return doc, err
	}
	if doc.Reviews, doc.Inbox, err = records.Reviews(ctx,
		store.Filter{Status: waiting, Limit: reviewsShown, ByNeed: true, Carried: true}); err != nil {
		return doc, err
	}
	if doc.Stranded, err = records.Stranded(ctx, given.Actor); err != nil {
		return doc, err
	}
	doc.ClosedOver = records.ClosedOver(given.Actor) // Reviews has just updated the cache
	doc.Critical = Critical(ctx, records)
	waits, err := (&queue.Worker{Store: records, Remote: given.Remote}).Queue(ctx) // it does not ask the remote
	if err != nil {
		return doc, err
	}
	doc.Queue = append([]queue.Entry{}, waits...)
	for i, t := range doc.Queue {
		if t.State == queue.StateRunning {
			doc.Queue[i].Elapsed = duration.Duration(max(0, records.Now().Sub(t.Since)))
		}
	}
	doc.Working = queue.AtWork(records)
	if doc.Runs, _, err = records.Runs(ctx, store.Filter{Limit: runsShown, Some: true}); err != nil {
		return doc, err
	}
	for i, r := range doc.Runs {
		doc.Runs[i].Status = workspace.Status(records, r)
	}
	if doc.Cut, err = CutShort(ctx, records, ""); err != nil {
		return doc, err
	}
	doc.Next = doc.next(ctx, records, given)
	return doc, nil
}

// nextShown is the maximum number of commands to suggest.
const nextShown = 3

// next returns the commands that are most useful now.
func (d Overview) next(ctx context.Context, store *store.Store, given Given) []string {
	var lines []string
	switch unfinished := store.Repo.Unfinished(); {
	case d.busy() && unfinished != nil && unfinished.While != "":
		lines = exit.BegunLines
	case d.busy():
		lines = exit.Endings(d.Under)
	}
	if d.Altered != "" {
		lines = append(lines, d.guard)
	}
	if len(d.Cut) > 0 {
		lines = append(lines, "git runr undo")
	}
	if d.Unsynced != "" {
		lines = append(lines, "git runr sync")
	}
	if d.idle() {
		lines = append(lines, "git runr work")
	}
	for _, r := range d.Runs {
		if len(lines) >= nextShown {
			break
		}
		if line := d.afterRun(ctx, store, r); line != "" {
			lines = append(lines, line)
		}
	}
	for _, r := range d.Reviews {
		switch {
		case r.Status == record.ReviewSubmitted && r.Outcome == record.OutcomeFailed, waitsFor(r, given.Actor):
			lines = append(lines, "git runr show "+r.ID)
		case d.Unsynced == "" && waitsForOthers(r, given.Actor) && given.unshared(ctx):
			lines = each.Once(lines, "git runr sync")
		}
	}
	if d.Hook == hooks.Absent && d.Hooks == "" {
		lines = append(lines, "git runr hooks install")
	}
	if d.Covered != nil && len(d.Covered.Refused) > 0 && d.Covered.Refused[0].Review != "" {
		// the review that refuses the newest refused commit may be closed: no list of open reviews has it
		lines = each.Once(lines, "git runr show "+d.Covered.Refused[0].Review)
	}
	running := slices.IndexFunc(d.Queue, func(t queue.Entry) bool { return t.State == queue.StateRunning })
	switch {
	case running >= 0 && d.Queue[running].Review == "": // nothing is recorded yet
	case running >= 0:
		lines = append(lines, "git runr log --follow "+d.Queue[running].Review)
	case d.Head != "" && d.Config == "" && d.Covered.unseen(d.Head): // with a faulty configuration review fails
		lines = append(lines, "git runr review")
	}
	lines = append(lines, "git runr inbox", "git runr help")
	return lines[:min(nextShown, len(lines))]
}

// waitsFor reports whether a review waits for actor by name.
func waitsFor(r record.ReviewSummary, actor string) bool {
	return slices.ContainsFunc(r.WaitsFor(), func(who string) bool { return record.SameActor(who, actor) })
}

// waitsForOthers reports whether a review waits for people who are asked by name, and not for actor.
func waitsForOthers(r record.ReviewSummary, actor string) bool {
	return r.Audience == "" && len(r.StillAsked) > 0 && len(r.WaitsFor()) > 0 && !waitsFor(r, actor)
}

// unshared reports whether the remote lacks events of this clone. What cannot be read is not suggested.
func (g Given) unshared(ctx context.Context) bool {
	if g.Unshared == nil {
		return false
	}
	count, err := g.Unshared(ctx)
	return err == nil && count > 0
}

// busy reports whether git is in the middle of something during which nothing can land.
func (d Overview) busy() bool { return d.Under != "" && d.Under != "bisect" }

// afterRun returns the command that continues a run, or "" if there is none.
func (d Overview) afterRun(ctx context.Context, store *store.Store, r record.RunSummary) string {
	switch {
	case slices.ContainsFunc(d.Cut, func(op string) bool { return strings.Contains(op, r.ID) }):
		return ""
	case r.Status == record.RunReviewing, r.Status == record.RunStopped:
		return "git runr diagnose " + r.ID
	case r.Status == record.RunDied, r.Status == record.RunRunning && !workspace.Live(store, r.ID):
		return "git runr resume " + r.ID
	case r.Status != record.RunCompleted, r.Landed, r.InPlace, d.busy():
		return ""
	}
	if here, err := store.Repo.HasCommit(ctx, r.Commit); err == nil && !here {
		return "" // it was not pushed, or git has removed it
	}
	if landing.Conflicts(ctx, store, r.ID) { // land would refuse it
		return "git merge " + r.Branch
	}
	return "git runr land " + r.ID
}

// idle reports whether work is due and no worker is running.
func (d Overview) idle() bool {
	due := func(t queue.Entry) bool { return t.State == queue.StateDue }
	return !d.Working && slices.ContainsFunc(d.Queue, due)
}

// Write prints the overview for people.
func (d Overview) Write(w io.Writer, style render.ListStyle) {
	on, at := cmp.Or(d.Branch, "a detached HEAD"), d.Head.Short()
	switch {
	case d.Problem != "":
		safetext.Fprintf(w, "On %s, which cannot be read: %s.\n", on, d.Problem)
	case d.Head == "":
		safetext.Fprintf(w, "On %s, no commit yet.\n", on)
	default:
		if d.Under != "" {
			at += ", in the middle of a " + d.Under
		}
		safetext.Fprintf(w, "On %s at %s; post-commit hook %s.\n", on, at, cmp.Or(string(d.Hook), "unknown"))
	}
	screen.When(w, d.Altered != "", "%s\n", screen.Critical.Of(d.Altered))
	screen.When(w, d.Hooks != "", "%s; type: git runr hooks status\n", d.Hooks)
	screen.When(w, d.Config != "", "\n%s\n  repair it first: reviews and runs need it\n", d.Config)
	screen.When(w, d.Unsynced != "", "%s\n", share.NotHere(d.Unsynced))
	d.Covered.write(w)
	screen.When(w, d.Critical != "", "\n%s\n", screen.Critical.Of(d.Critical))
	screen.Each(w, "%s was interrupted: git runr undo\n", d.Cut)
	screen.When(w, len(d.Runs) > 0, "\n%s\n", screen.Strong.Of("Runs:"))
	render.Runs(w, d.Runs, style)
	if d.Inbox > 0 {
		safetext.Fprintf(w, "\n%s\n", screen.Strong.Of(fmt.Sprintf("Inbox (%d):", d.Inbox)))
		render.Inbox(w, d.Reviews, d.Inbox, style)
	}
	screen.Each(w, "\n%s\n", d.Stranded)
	screen.Each(w, "\n%s\n", d.ClosedOver)
	if len(d.Queue) > 0 {
		safetext.Fprintf(w, "\n%s\n", screen.Strong.Of(fmt.Sprintf("Queue (%d):", len(d.Queue))))
		for _, t := range d.Queue[:min(len(d.Queue), queueShown)] {
			safetext.Fprintf(w, "%s  %s: %s\n", t.Of(), t.Reviewer, turnWords(t))
		}
		render.More(w, "", len(d.Queue)-queueShown)
		screen.When(w, d.idle(), "No worker has taken it yet; if none does, type: git runr work\n")
	}
	safetext.Fprintf(w, "\n%s\n", screen.Strong.Of("Next:"))
	screen.Each(w, "  %s\n", d.Next)
}

// CutShort returns the operations that a killed command left unfinished in this working tree, for run or, with "",
// all.
func CutShort(ctx context.Context, store *store.Store, run string) ([]string, error) {
	lines := []string{}
	unfinished, err := landing.Unfinished(ctx, store)
	for _, op := range unfinished {
		if run == "" || op.Run == run {
			lines = append(lines, op.String())
		}
	}
	return lines, err
}

// Next returns the command to type for a run that did not stop, or "" if there is none. cut is the unfinished
// operations for it.
func Next(run record.Run, live bool, cut []string) string {
	switch {
	case len(cut) > 0:
		return "git runr undo"
	case run.Status == record.RunRunning && live:
		return "git runr log --follow " + run.ID
	case run.Status == record.RunRunning:
		return "git runr resume " + run.ID
	case run.Status == record.RunCompleted && run.Landed == nil && !run.Plan.InPlace:
		return "git runr land " + run.ID
	}
	return ""
}

// Critical returns one line about unanswered critical findings on this branch, or "". The hook calls it, so it reads
// only the cache.
func Critical(ctx context.Context, store *store.Store) string {
	branch, err := store.Branch(ctx)
	if err != nil {
		return ""
	}
	reviews := store.Critical(branch)
	if len(reviews) == 0 {
		return ""
	}
	count, newest := 0, reviews[0]
	for _, r := range reviews {
		count += r.Critical
	}
	line := prose.Count(count, "critical finding")
	if len(reviews) > 1 {
		line += fmt.Sprintf(" in %d reviews, the newest", len(reviews))
	}
	if newest.Commit != "" {
		line += " on " + newest.At().Short()
	}
	line = fmt.Sprintf("%s \"%s\"", line, prose.CutColumns(safetext.Line(newest.Title), 60))
	if newest.Claimed > 0 {
		line += fmt.Sprintf(" (%d claimed fixed)", newest.Claimed)
	}
	return line + ": git runr show " + screen.Suffix(newest.ID)
}

// turnWords describes the state of an agent in the queue.
func turnWords(t queue.Entry) string {
	at := func(t time.Time) string { return t.UTC().Format(time.DateTime + "Z") }
	switch t.State {
	case queue.StateRunning:
		return strings.TrimSuffix(fmt.Sprintf("at work for %s: %s", time.Duration(t.Elapsed).Truncate(time.Second), t.Line),
			": ")
	case queue.StateElsewhere:
		return fmt.Sprintf("at work in the clone of %s, until %s or longer", t.By, at(t.Until))
	case queue.StateDue:
		return "waits for a worker"
	}
	why := prose.OneLine(cmp.Or(t.Failure.Detail, t.Failure.Reason))
	if t.State == queue.StateLater && !t.Wants() {
		return fmt.Sprintf("waits until %s: %s", at(t.Until), why)
	}
	next := t.Failure.Next()
	return fmt.Sprintf("gave no answer that counts: %s; %s %s", why, next.What, strings.Join(next.Commands, ", then "))
}
