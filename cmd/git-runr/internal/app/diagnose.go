package app

import (
	"cmp"
	"errors"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/follow"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/overview"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

func (p *program) diagnoseCommand() *cli.Command {
	return &cli.Command{
		Name: "diagnose", Usage: "explain why a run stopped, what is unmet, what to type", ArgsUsage: "[RUN|REVIEW|COMMIT]",
		Description: `Without an argument: the newest run. For a COMMIT, the runs and reviews that mention it, found
through its notes (refs/notes/runr). --json prints the document that a stop stores as stop_diagnostics.json, --md its
review_digest.md. For the codes of unmet checks: git runr help stop-reasons.`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "md", Usage: "print Markdown"}},
		Action: p.inRepo(diagnoseStop),
	}
}

func diagnoseStop(s *session, store *store.Store) error {
	if s.Bool("md") && s.json {
		return exit.Problemf(exit.Usage, "use either --md or --json, not both")
	}
	about, err := diagnose.Named(s.ctx, store, s.arg(record.Latest))
	missing := new(record.NotFoundError)
	switch {
	case errors.As(err, &missing) && len(missing.Among) == 0 && missing.ID != record.Latest:
		return follow.NoneOf(missing)
	case err != nil:
		return err
	case len(about.Runs) > 0:
		for _, run := range about.Runs[1:] {
			s.say("also about this commit: git runr diagnose %s", run.ID)
		}
		return s.diagnoseRun(store, about.Runs[0])
	case about.Review != nil:
		return s.diagnoseReview(store, *about.Review)
	case about.Note != "":
		lines := splitLines(about.Note)
		s.say("the logs are not in this clone; type: git runr sync")
		return s.print(map[string]any{"commit": about.Commit, "note": lines}, func(w io.Writer) {
			screen.Each(w, "%s\n", lines)
		})
	}
	run, review, err := s.runOrReview(store, s.arg(record.Latest))
	switch {
	case err != nil:
		return err
	case run != nil:
		return s.diagnoseRun(store, *run)
	case review.Request.Subject.Commit != about.Commit && review.At() != about.Commit:
		return s.diagnoseReview(store, *review)
	}
	commit := about.Commit.Short()
	return exit.Problemf(exit.NotFound, "commit %s has no stopped run and no open review", commit).
		WithHint("git runr log " + commit + "   (what is recorded about it)")
}

// diagnoseRun shows why run stopped, or its state if it did not.
func (s *session) diagnoseRun(store *store.Store, run record.Run) error {
	if run.Stop == nil {
		return s.notStopped(store, run)
	}
	run, err := s.offered(store, run)
	if err != nil {
		return err
	}
	return s.showDiagnosis(diagnose.Of(run, *run.Stop), s.placeOf(store, run))
}

func (s *session) showDiagnosis(d diagnose.Diagnosis, place diagnose.Place) error {
	return s.print(d, func(w io.Writer) {
		if s.Bool("md") {
			safetext.Fprintf(w, "%s", safetext.Block(d.Digest()))
			return
		}
		screen.Document(w, d.Block(place))
	})
}

// notStoppedJSON is the result for a run that did not stop.
type notStoppedJSON struct {
	RunID   string           `json:"run_id"`
	Status  record.RunStatus `json:"status"`
	Stopped bool             `json:"stopped"`
	Next    []string         `json:"next"`
}

// notStopped shows the state of run and what to type: the next step, and how to diagnose the newest run that did
// stop.
func (s *session) notStopped(records *store.Store, run record.Run) error {
	others := func(r record.RunSummary) bool { return r.Reason != "" && r.ID != run.ID }
	runs, _, err := records.Runs(s.ctx, store.Filter{Limit: 1, Some: true, Run: others})
	if err != nil {
		return err
	}
	doc := notStoppedJSON{RunID: run.ID, Status: workspace.Status(records, run.Summary()), Next: []string{}}
	live := workspace.Live(records, run.ID)
	cut, err := overview.CutShort(s.ctx, records, run.ID)
	if err != nil {
		return err
	}
	doc.Next = append(doc.Next, cmp.Or(overview.Next(run, live, cut), "git runr show "+run.ID))
	if len(runs) > 0 {
		doc.Next = append(doc.Next, "git runr diagnose "+runs[0].ID)
	}
	return s.print(doc, func(w io.Writer) {
		now := run.Summary()
		now.Status = doc.Status
		state := "it is " + render.RunState(now).Text
		if doc.Status == record.RunDied {
			state = "its process died"
		}
		safetext.Fprintf(w, "Run %s did not stop: %s.\n", run.ID, state)
		screen.Each(w, "  %s\n", doc.Next)
	})
}

// diagnoseReview shows what a review without a run asks for.
func (s *session) diagnoseReview(store *store.Store, review record.Review) error {
	conf, err := s.configuration(store)
	if err != nil {
		return err
	}
	checks, _ := conf.Checks() // unapproved commands must not be suggested
	d, ok := diagnose.OfReview(review, checks, conf.FixLine(review.ID))
	if !ok {
		lines := []string{"git runr show " + review.ID}
		if review.Status == record.ReviewResolved && len(review.Open()) > 0 {
			lines = append(lines, "git runr inbox reopen "+review.ID)
		}
		if s.Args().Len() == 0 { // another one may ask for something
			lines = append(lines, "git runr inbox")
		}
		return exit.Problemf(exit.Nothing, "%s", diagnose.Calm(review)).WithHint(lines...)
	}
	return s.showDiagnosis(d, diagnose.Place{Width: s.width()})
}
