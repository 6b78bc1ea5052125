package app

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/argv"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/follow"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/overview"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/pick"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/worddiff"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

func (p *program) showCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show a run or review in full, or what is recorded of a commit",
		ArgsUsage: "[RUN|REVIEW|COMMIT]",
		Description: `Without an argument: the newest run. A review is shown as Markdown for an agent or a person to
address: each finding with its id, its answer, and its current place if the code has moved. --steps prints the timeline
of a run: attempts with their files, checks, reviews, stops and what people did, the totals, and where the output of
each check is. Add --md for a pull request.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "steps", Usage: "list what a run did, step by step, and how long it took"},
			&cli.BoolFlag{Name: "md", Usage: "print the steps as Markdown"},
			&cli.BoolFlag{Name: "only-review", Hidden: true, Usage: "a review alone, the newest without an argument"},
		},
		Action: p.inRepo(show),
	}
}

func show(s *session, store *store.Store) error {
	if s.Bool("md") && s.json {
		return exit.Problemf(exit.Usage, "use either --md or --json, not both")
	}
	typed := s.arg(record.Latest)
	if s.Bool("only-review") {
		review, err := store.Review(s.ctx, typed)
		if err != nil {
			return err
		}
		return s.showPlaced(store, review)
	}
	if s.Bool("steps") || s.Bool("md") {
		return s.showSteps(store, typed)
	}
	run, review, err := s.runOrReview(store, typed)
	if err != nil {
		return err
	}
	if run != nil {
		return s.showRun(store, *run)
	}
	return s.showPlaced(store, *review)
}

// runOrReview returns the run or review that typed names. For a commit without one it is the one that countsFor finds.
func (s *session) runOrReview(store *store.Store, typed string) (*record.Run, *record.Review, error) {
	run, review, unknown := store.RunOrReview(s.ctx, typed)
	if !record.Unknown(unknown) {
		return run, review, unknown
	}
	commit, err := store.Repo.Resolve(s.ctx, typed)
	if err != nil {
		return nil, nil, unknown
	}
	of, err := s.countsFor(store, commit)
	if err == nil && of == "" {
		err = exit.Problemf(exit.NotFound, "there is no run or review of commit %s here yet", commit.Short()).
			WithHint("git runr status", "git runr review "+commit.Short())
	}
	if err != nil {
		return nil, nil, err
	}
	return store.RunOrReview(s.ctx, of)
}

// countsFor returns the run or review that counts for a commit, although it is of another commit, and says so. It
// returns "" if there is none.
func (s *session) countsFor(store *store.Store, commit gitstore.ID) (of string, err error) {
	commits, err := store.Repo.LogOnly(s.ctx, []gitstore.ID{commit})
	if err != nil || len(commits) == 0 {
		return "", err
	}
	covered, err := lineage.Coverage(s.ctx, store, commits)
	if err != nil {
		return "", err
	}
	c := covered[0]
	if of = cmp.Or(c.Review, c.Run, c.NotShownBy, c.PartOf); of != "" {
		s.say("no run or review is of commit %s itself; this one %s", commit.Short(), whyCounts(c))
	}
	return of, nil
}

// whyCounts says how a review of other commits concerns a commit.
func whyCounts(c lineage.Covered) string {
	switch {
	case c.State == lineage.CoverCarried && c.From != "":
		return "is of " + c.From.Short() + ", whose edits the commit makes"
	case c.From != "":
		return "is of " + c.From.Short() + ", which the commit replaced"
	case c.NotShownBy != "":
		return "passed a range that does not show all of it"
	case c.PartOf != "":
		return "passed a range that goes on after it"
	}
	return "counts for it"
}

// showPlaced shows a review, each finding with the place where its code is now.
func (s *session) showPlaced(store *store.Store, review record.Review) error {
	doc, err := s.reviewDocument(store, review)
	if err != nil {
		return err
	}
	_ = store.Look(review) // if this fails, review --since-mine only shows more than is new
	return s.printPaged(doc, func(w io.Writer) { render.Review(w, doc) })
}

// runJSON is a run in full, with the state of its task's done criteria.
type runJSON struct {
	record.Run
	Criteria []diagnose.Criterion `json:"criteria,omitempty"`
}

func (s *session) showRun(store *store.Store, run record.Run) error {
	cut, err := overview.CutShort(s.ctx, store, run.ID)
	if err != nil {
		return err
	}
	doc := runJSON{run, diagnose.Criteria(run)}
	doc.Status = workspace.Status(store, run.Summary())
	here := true
	if run.Landed != nil && run.Landed.Commit != "" {
		if here, err = store.Repo.HasCommit(s.ctx, run.Landed.Commit); err != nil {
			return err
		}
	}
	return s.printPaged(doc, func(w io.Writer) {
		render.Run(w, doc.Run, treeDir(store, run.ID))
		screen.When(w, !here, "That commit is not in this clone; once it is pushed: git fetch\n")
		if n := len(run.Rounds); n > 0 {
			render.Words(w, run.Rounds[n-1].Report.Summary, run.Rounds[n-1].Report.Prose())
		}
		render.Criteria(w, doc.Criteria)
		writeStop(w, s, store, run)
		screen.Each(w, "%s was interrupted: git runr undo\n", cut)
		if next := overview.Next(run, workspace.Live(store, run.ID), cut); run.Stop == nil && next != "" {
			screen.Next(w, next)
		}
	})
}

// showSteps shows the timeline of a run.
func (s *session) showSteps(store *store.Store, typed string) error {
	named, err := store.Run(s.ctx, typed)
	if err != nil {
		return err
	}
	events, err := store.RunEvents(s.ctx, named.ID)
	if err != nil {
		return err
	}
	run, unreadable := record.FoldRun(events)
	for _, why := range unreadable {
		s.say("%v", why)
	}
	in, err := diagnose.ReadReport(s.ctx, store, run, events)
	if err != nil {
		return err
	}
	report := diagnose.NewReport(in)
	return s.print(report, func(w io.Writer) {
		if s.Bool("md") {
			safetext.Fprintf(w, "%s", safetext.Block(report.Markdown()))
			return
		}
		screen.Document(w, report.Text())
	})
}

func (p *program) diffCommand() *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "show what a run or a round changed; compare two", ArgsUsage: "[RUN|REVIEW] [N..M] [-- PATH…]",
		Description: `Without attempts: everything that the run changed. 1..2 is what attempt 2 changed after attempt
1; 0 is where the run began. For a review: what its author changed since the previous round, without what only the base
brought. There 1..2 is from round 1 to round 2, and 0 is the base.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stat", Usage: "only list files and counts"},
			&cli.BoolFlag{Name: "words", Usage: "mark the changes within lines"},
		},
		Action: p.inRepo(diff),
	}
}

type diffJSON struct {
	From  gitstore.ID         `json:"from"`
	To    gitstore.ID         `json:"to"`
	Files []gitstore.FileStat `json:"files"`
	Patch string              `json:"patch,omitempty"`
	// Clashes are the paths in which the newer base of two rounds changed the same lines.
	Clashes []string `json:"clashes,omitempty"`
}

func diff(s *session, store *store.Store) error {
	args, paths := argv.SplitPaths(s.Args().Slice())
	id, span := record.Latest, "" // A..B of attempts
	for _, a := range args {
		if strings.Contains(a, "..") {
			span = a
		} else {
			id = a
		}
	}
	doc, err := s.diffEnds(store, id, span)
	if err != nil {
		return err
	}
	if len(doc.Clashes) > 0 {
		s.say("the base changed the same lines: %s", strings.Join(doc.Clashes, ", "))
	}
	spec := gitstore.DiffSpec{From: doc.From, To: doc.To}
	if spec.Paths, err = pathsInside(store, paths); err != nil {
		return err
	}
	if !s.json && !s.Bool("words") && s.columns() > 0 {
		return s.showDiff(store, spec)
	}
	if doc.Files, err = store.Repo.DiffStat(s.ctx, spec); err != nil {
		return err
	}
	if !s.Bool("stat") {
		patch, _, err := store.Repo.Diff(s.ctx, spec)
		if err != nil {
			return err
		}
		doc.Patch = string(patch)
		if s.Bool("words") {
			doc.Patch = worddiff.Mark(doc.Patch)
		}
	}
	return s.print(doc, func(w io.Writer) {
		if s.Bool("stat") {
			for _, f := range doc.Files {
				safetext.Fprintf(w, "%6d %6d  %s\n", f.Added, f.Deleted, safetext.Name(f.Path))
			}
			return
		}
		s.writePatch(w, doc.Patch)
	})
}

// diffEnds returns the two ends that git runr diff compares, for a run or a review.
func (s *session) diffEnds(store *store.Store, id, span string) (doc diffJSON, err error) {
	run, err := store.Run(s.ctx, id)
	if err == nil {
		if err := workHere(s.ctx, store, run); err != nil {
			return doc, err
		}
		if doc.From, doc.To, err = run.Span(span); err != nil {
			return doc, exit.Problemf(exit.NotFound, "%w", err)
		}
		return doc, nil
	}
	review, noReview := store.Review(s.ctx, id)
	if noReview != nil {
		return doc, err
	}
	rounds, err := store.Conversation(s.ctx, review)
	if err != nil {
		return doc, err
	}
	to := rounds.Place(review.ID) + 1
	from := to - 1
	if span != "" {
		if n, err := fmt.Sscanf(span+"\n", "%d..%d\n", &from, &to); n != 2 || err != nil || from < 0 || to <= from ||
			to > len(rounds) {
			return doc, exit.Problemf(exit.NotFound, "review %s has no rounds %s: it has %d", review.ID, span, len(rounds))
		}
	}
	if doc.To = rounds[to-1].Request.Subject.Tree; from == 0 {
		doc.From, err = store.ComparedWith(s.ctx, rounds[to-1].Request.Subject)
		return doc, err
	}
	since, err := store.Since(s.ctx, rounds[from-1].Request.Subject, rounds[to-1].Request.Subject)
	doc.From, doc.Clashes = since.From, since.Clashes
	return doc, err
}

// showDiff shows a diff as git does: with the user's settings, in the user's pager.
func (s *session) showDiff(store *store.Store, spec gitstore.DiffSpec) error {
	look := gitstore.DiffLook{Stat: s.Bool("stat"), Columns: s.columns()}
	plain, err := store.Repo.DiffShown(s.ctx, spec, look)
	if err != nil {
		return err
	}
	coloured := plain
	if look.Colours = s.coloured(true); look.Colours {
		if coloured, err = store.Repo.DiffShown(s.ctx, spec, look); err != nil {
			return err
		}
	}
	return s.paged(func(w *screen.Writer) error {
		_, err := io.WriteString(w.Out, screen.Diff(string(plain), string(coloured)))
		return err
	})
}

// writePatch writes a patch. A pipe gets it byte for byte, as from git.
func (c *console) writePatch(w io.Writer, patch string) {
	if tty, _ := stdio.Terminal(c.out); !tty {
		w.Write([]byte(patch))
		return
	}
	safetext.Fprintf(w, "%s", safetext.Block(patch))
}

func (p *program) logCommand() *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "list events in order: all, or of a run, a review or a commit", ArgsUsage: "[RUN|REVIEW|COMMIT]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"},
				Usage: "follow the run until it ends, with the output of its agents"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, DefaultText: "all", Usage: "the newest `N`"},
			&cli.StringFlag{Name: "since", Usage: "only events since `WHEN`: 7d, 12h, 2026-01-31 or RFC 3339"},
			&cli.BoolFlag{Name: "oneline", Usage: "one line each: the record, its run or review, its title"},
		},
		Action: p.inRepo(showLog),
	}
}

type logJSON struct {
	Events     []render.EventDocument `json:"events"`
	Unreadable []string               `json:"unreadable"` // records that cannot be read
}

func showLog(s *session, store *store.Store) error {
	what, n := s.arg(""), s.Int("limit")
	wanted := func(record.Event) bool { return true }
	if text := s.String("since"); text != "" {
		since, err := pick.Moment(text, s.now())
		if err != nil {
			return err
		}
		wanted = func(e record.Event) bool { return !e.Timestamp.Before(since) }
	}
	switch {
	case s.Bool("follow"):
		return follow.Events(s.ctx, store, what, func(e record.Event) error {
			if !wanted(e) {
				return nil
			}
			if e = store.Titled(s.ctx, e); s.json { // an object on one line
				return stdio.WriteJSON(s.out, render.EventDocuments([]record.Event{e}, 0)[0])
			}
			w := s.screen()
			return cmp.Or(render.Event(w, e, s.eventStyle()), w.Flush())
		}, s.err)
	case what == "" && n > 0 && !s.IsSet("since"):
		return s.showNewest(store, n)
	case what == "" && n == 0 && !s.json:
		none := true
		err := s.paged(func(w *screen.Writer) error {
			style := s.eventStyle()
			bad, err := store.EachEvent(s.ctx, func(e record.Event) error {
				none = false
				if !wanted(e) {
					return nil
				}
				return render.Event(w, store.Titled(s.ctx, e), style)
			})
			printUnreadable(w, bad)
			return err
		})
		if none && err == nil {
			s.say("nothing is recorded here yet; git runr review asks for a review")
		}
		return err
	}
	events, bad, err := follow.About(s.ctx, store, what)
	if err == nil && len(events) == 0 && what != "" {
		events, err = s.countingEvents(store, what)
	}
	if err != nil {
		return err
	}
	docs := render.EventDocuments(events, 0)
	docs = slices.DeleteFunc(docs, func(d render.EventDocument) bool { return !wanted(d.Event) })
	if n > 0 {
		docs = docs[max(len(docs)-n, 0):]
	}
	return s.printEvents(store, docs, bad)
}

// countingEvents returns the events of what counts for a commit about which nothing is recorded.
func (s *session) countingEvents(store *store.Store, typed string) ([]record.Event, error) {
	commit, err := store.Repo.Resolve(s.ctx, typed)
	if err != nil {
		return nil, err
	}
	of, err := s.countsFor(store, commit)
	if err == nil && of == "" {
		s.say("nothing is recorded about commit %s here", commit.Short())
	}
	if err != nil || of == "" {
		return nil, err
	}
	events, _, err := follow.About(s.ctx, store, of)
	return events, err
}

// eventStyle returns the style of events on standard output.
func (s *session) eventStyle() render.EventStyle {
	return render.EventStyle{Now: s.now(), Columns: s.columns(), OneLine: s.Bool("oneline")}
}

// showNewest shows the newest n events without reading the earlier ones.
func (s *session) showNewest(store *store.Store, n int) error {
	events, bad, err := store.Newest(s.ctx, n)
	before := 0
	if err == nil && s.json { // JSON has each event's place among all, and all unreadable records
		var all int
		all, bad, err = store.CountEvents(s.ctx)
		before = max(all-len(events), 0)
	}
	if err != nil {
		return err
	}
	return s.printEvents(store, render.EventDocuments(events, before), bad)
}

// printEvents prints events and the records that cannot be read.
func (s *session) printEvents(store *store.Store, docs []render.EventDocument, bad []error) error {
	events := each.Of(docs, func(d render.EventDocument) record.Event { return d.Event })
	events, err := store.WithoutRedacted(s.ctx, events)
	if err != nil {
		return err
	}
	for i := range docs {
		docs[i].Event = store.Titled(s.ctx, events[i])
		docs[i].Title = docs[i].Event.Title
	}
	doc := logJSON{Events: docs, Unreadable: each.Of(bad, error.Error)}
	return s.printPaged(doc, func(w io.Writer) {
		style := s.eventStyle()
		for _, d := range docs {
			render.Event(w, d.Event, style)
		}
		printUnreadable(w, bad)
	})
}

func printUnreadable(w io.Writer, bad []error) {
	screen.Each(w, "unreadable: %s\n", bad)
}
