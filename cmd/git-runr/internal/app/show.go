package app

import (
	"cmp"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/overview"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
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
		Description: `Without an argument: the newest run or review. A review is shown as Markdown for an agent or a person to
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
	if of = cmp.Or(c.Review, c.Run); of == "" && c.Beside != nil {
		of = c.Beside.Of
	}
	if of != "" {
		s.say("no run or review is of commit %s itself; this one %s", commit.Short(), whyCounts(c))
	}
	return of, nil
}

// whyCounts says how a review of other commits concerns a commit.
func whyCounts(c lineage.Covered) string {
	switch {
	case c.State == lineage.CoverCarried && c.From != "":
		return "is of " + c.From.Short() + ", whose edits the commit makes or completes"
	case c.From != "":
		return "is of " + c.From.Short() + ", which the commit replaced"
	case c.Review+c.Run == "" && c.Beside != nil:
		return c.Beside.Why
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
