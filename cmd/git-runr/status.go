package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/gitstore"
	"git-runr/hooks"
	"git-runr/loop"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// runsShown is how many runs status lists.
const runsShown = 10

func (p *program) statusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "runs and reviews at a glance, or one run", ArgsUsage: "[RUN]",
		Action: p.action(func(s *session) error {
			if s.NArg() > 0 {
				return showRun(s)
			}
			return overview(s)
		}),
	}
}

// overviewJSON is where things stand, and the three next things to type.
type overviewJSON struct {
	Branch   string                 `json:"branch"`
	Head     gitstore.ID            `json:"head,omitempty"`
	Problem  string                 `json:"problem,omitempty"`        // why HEAD cannot be read
	Config   string                 `json:"config_problem,omitempty"` // why the configuration cannot be read
	Under    string                 `json:"operation,omitempty"`      // of git's own that is not finished: merge, rebase …
	Hook     hooks.State            `json:"post_commit_hook"`
	Hooks    string                 `json:"hooks_problem,omitempty"` // which hook would not run, and why, where some were installed
	Covered  *branchReviews         `json:"branch_reviews,omitempty"`
	Inbox    int                    `json:"inbox"` // open, submitted and claimed
	Reviews  []record.ReviewSummary `json:"reviews"`
	Runs     []record.RunSummary    `json:"runs"`
	Queue    []loop.Turn            `json:"queue"`              // agents that reviews of this clone wait for
	Working  bool                   `json:"worker_at_work"`     // whether a process of this clone is at work for them
	Critical string                 `json:"critical,omitempty"` // what is critical on this branch, in a line
	Cut      []string               `json:"cut_short"`          // what a killed command began here, such as "land RUN: on main"
	Next     []string               `json:"next"`
}

// overview is bare git runr.
func overview(s *session) error {
	if s.Bool("version") {
		return showVersion(s)
	}
	if s.NArg() > 0 {
		return unknownCommand(s.Args().First(), s.App.Commands)
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	doc, err := s.overview(store)
	if err != nil {
		return err
	}
	return s.print(doc, func(w io.Writer) {
		writeOverview(w, doc, func(id string) bool { return loop.Live(store, id) }, s.listStyle())
	})
}

func (s *session) overview(store *record.Store) (overviewJSON, error) {
	var doc overviewJSON
	var err error
	if doc.Branch, err = store.Branch(s.ctx); err != nil {
		return doc, err
	}
	if doc.Head, err = store.Repo.Head(s.ctx); err != nil && !errors.Is(err, gitstore.ErrUnborn) {
		doc.Problem = err.Error()
	}
	var skip loop.Skip
	if conf, err := s.configuration(store); err != nil {
		doc.Config = err.Error()
	} else {
		skip = conf.Hooks.Skip
	}
	doc.Under = store.Repo.Operation()
	statuses, err := hooks.StatusOf(s.ctx, store.Repo, s.gated(store))
	if err == nil && len(statuses) > 0 && !store.Repo.Bare { // nobody commits there
		doc.Hook, doc.Hooks = statuses[0].State, hooks.Problem(statuses)
	}
	if doc.Problem == "" {
		if doc.Covered, err = reviewsOfBranch(s.ctx, store, skip); err != nil {
			s.say("the reviews of this branch cannot be counted: %v", err)
		}
	}
	waiting, err := record.StatusFilter(record.StatusWaiting)
	if err != nil {
		return doc, err
	}
	if doc.Reviews, doc.Inbox, err = store.Reviews(s.ctx, record.Filter{Status: waiting, Limit: 5, ByNeed: true}); err != nil {
		return doc, err
	}
	doc.Critical = s.criticalLine(store) // the list has just brought the cache up to date
	if doc.Queue, err = s.queue(store); err != nil {
		return doc, err
	}
	doc.Working = loop.AtWork(store)
	if doc.Runs, _, err = store.Runs(s.ctx, record.Filter{Limit: runsShown}); err != nil {
		return doc, err
	}
	if doc.Cut, err = cutShort(s, store, ""); err != nil {
		return doc, err
	}
	doc.Next = doc.next(func(id string) bool { return loop.Live(store, id) }, func(run record.RunSummary) string { return landLine(s.ctx, store, run) })
	return doc, nil
}

// landLine is what brings a result to what is checked out: where land would refuse it
// for conflicts, a merge by hand.
func landLine(ctx context.Context, store *record.Store, run record.RunSummary) string {
	if loop.LandConflicts(ctx, store, run.ID) {
		return "git merge " + run.Branch
	}
	return "git runr land " + run.ID
}

// nextShown is how many lines to type are suggested.
const nextShown = 3

// next are the things that make most sense to type now.
func (d overviewJSON) next(live func(string) bool, land func(record.RunSummary) string) []string {
	var lines []string
	busy := d.Under != "" && d.Under != "bisect" // then nothing lands
	if busy {
		lines = exit.Endings(d.Under)
	}
	if len(d.Cut) > 0 {
		lines = append(lines, "git runr undo")
	}
	if d.idle() {
		lines = append(lines, "git runr work")
	}
	for _, r := range d.Runs {
		if len(lines) >= nextShown {
			break
		}
		switch {
		case slices.ContainsFunc(d.Cut, func(op string) bool { return strings.Contains(op, r.ID) }):
		case r.Status == record.RunCompleted && !r.Landed && !r.InPlace:
			if !busy {
				lines = append(lines, land(r))
			}
		case r.Status == record.RunReviewing, r.Status == record.RunStopped:
			lines = append(lines, "git runr diagnose "+r.ID)
		case r.Status == record.RunRunning && !live(r.ID):
			lines = append(lines, "git runr resume "+r.ID)
		}
	}
	for _, r := range d.Reviews {
		if r.Status == record.ReviewSubmitted && r.Outcome == record.OutcomeFailed {
			lines = append(lines, "git runr inbox get "+r.ID)
		}
	}
	if d.Hook == hooks.Absent && d.Hooks == "" {
		lines = append(lines, "git runr hooks install")
	}
	if d.Head != "" && d.Config == "" { // it would refuse
		lines = append(lines, "git runr review")
	}
	lines = append(lines, "git runr inbox", "git runr help")
	return lines[:min(nextShown, len(lines))]
}

// idle reports whether something is to be done and nobody does it.
func (d overviewJSON) idle() bool {
	due := func(t loop.Turn) bool { return t.State == loop.TurnDue }
	return !d.Working && slices.ContainsFunc(d.Queue, due)
}

func writeOverview(w io.Writer, d overviewJSON, live func(string) bool, style render.InboxStyle) {
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
	if d.Hooks != "" {
		safetext.Fprintf(w, "%s; type: git runr hooks status\n", d.Hooks)
	}
	if d.Config != "" {
		safetext.Fprintf(w, "\n%s\n  mend it first: reviews and runs do not begin without it\n", d.Config)
	}
	writeBranchReviews(w, d.Covered)
	if d.Critical != "" {
		safetext.Fprintf(w, "\n%s\n", d.Critical)
	}
	render.CutShort(w, d.Cut)
	if len(d.Runs) > 0 {
		fmt.Fprintln(w, "\nRuns:")
		render.Runs(w, d.Runs, live)
	}
	if d.Inbox > 0 {
		safetext.Fprintf(w, "\nInbox (%d):\n", d.Inbox)
		render.Inbox(w, d.Reviews, d.Inbox, style)
	}
	writeQueue(w, d)
	fmt.Fprintln(w, "\nNext:")
	for _, line := range d.Next {
		safetext.Fprintf(w, "  %s\n", line)
	}
}
