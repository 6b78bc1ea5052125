package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// inboxStep is a step that can be taken with several reviews at once.
type inboxStep struct {
	status string // of the reviews that --all means
	ask    string // what --all is about to do: "Resolve"
	do     func(store *store.Store, id, actor string) (record.Review, error)
	show   func(io.Writer, actorDone)
}

// eachFlags are those of a step that can be taken with several reviews at once.
func eachFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.BoolFlag{Name: "all", Usage: "every review that these filters fit; asks once"},
		&cli.BoolFlag{Name: "yes", Usage: "do not ask: for --all where nobody can answer"},
	}, filterFlags()...)
}

// eachJSON is the answer of a step that was taken with several reviews.
type eachJSON struct {
	Reviews []actorDone  `json:"reviews"`
	Failed  []failedStep `json:"failed"`
}

// failedStep is a review with which a step could not be taken.
type failedStep struct {
	ID     string      `json:"review_id"`
	Status exit.Status `json:"status"` // as the exit status of one such step
	Why    string      `json:"message"`
}

// actEach takes a step with the reviews that the arguments name, or with all that the
// filters fit. It goes on after one that fails; the worst status is that of the command.
func (s *session) actEach(step inboxStep) error {
	if s.NArg() == 1 && !s.Bool("all") {
		return s.act(step.do, step.show)
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	actor, err := s.actor(store)
	if err != nil {
		return err
	}
	ids, err := s.chosenReviews(store, step)
	if err != nil {
		return err
	}
	doc, worst := eachJSON{Reviews: []actorDone{}, Failed: []failedStep{}}, exit.OK
	for _, id := range ids {
		review, err := step.do(store, id, actor)
		if err != nil {
			problem := exit.Classify(s.claimedHint(err, review))
			worst = max(worst, problem.Status)
			doc.Failed = append(doc.Failed, failedStep{id, problem.Status, problem.Msg})
			s.failedLine(problem)
			continue
		}
		done := s.acted(store, review, actor)
		doc.Reviews = append(doc.Reviews, done)
		if !s.json {
			step.show(s.out, done)
		}
	}
	if s.json {
		err = stdio.WriteJSON(s.out, doc)
	} else if len(ids) == 0 {
		fmt.Fprintln(s.out, "No reviews found.")
	}
	if worst != exit.OK {
		err = errors.Join(err, exit.With(worst))
	}
	return err
}

// failedLine tells why a step could not be taken with one of several reviews.
func (c *console) failedLine(problem *exit.Problem) {
	if !c.json {
		safetext.Fprintf(talk{c.program}, "git-runr: %s\n", problem.Msg)
	}
}

// chosenReviews are the ids that were typed, each once, or those that --all means.
func (s *session) chosenReviews(store *store.Store, step inboxStep) ([]string, error) {
	usage := func(format string, args ...any) error {
		return exit.Problemf(exit.Usage, format, args...).WithHint("git runr inbox " + s.Command.Name + " -h")
	}
	switch all := s.Bool("all"); {
	case all && s.NArg() > 0:
		return nil, usage("--all chooses by filters: no ids go with it")
	case s.IsSet("claim"):
		return nil, usage("--claim is of one review")
	case all:
		return s.allReviews(store, step)
	case s.NArg() == 0:
		return nil, usage("a review is wanted, or several, or --all")
	}
	var ids []string
	seen := map[string]bool{}
	for _, typed := range s.Args().Slice() {
		if typed == "" {
			return nil, usage("a review is wanted, or several, or --all")
		}
		if !seen[typed] {
			ids = append(ids, typed)
		}
		seen[typed] = true
	}
	return ids, nil
}

// allReviews are those that the filters fit, once somebody has agreed.
func (s *session) allReviews(store *store.Store, step inboxStep) ([]string, error) {
	filter, err := s.inboxFilter(store, step.status)
	if err != nil {
		return nil, err
	}
	found, _, err := store.Reviews(s.ctx, filter)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if !s.Bool("yes") {
		if err := s.agreed(found, step); err != nil {
			return nil, err
		}
	}
	ids := make([]string, len(found))
	for i, r := range found {
		ids[i] = r.ID
	}
	return ids, nil
}

// agreed asks once for all.
func (s *session) agreed(found []record.ReviewSummary, step inboxStep) error {
	what := fmt.Sprintf("%s %s", step.ask, prose.Count(len(found), "review"))
	tty := s.terminal()
	if tty == nil {
		return exit.Problemf(exit.Usage, "%s: nobody can be asked here", what).WithHint("the same with --yes does it")
	}
	defer tty.Close()
	render.Inbox(tty, found[:min(len(found), inboxLimit)], len(found), s.listStyle())
	if !s.agrees(tty, what+"?") {
		return exit.Problemf(exit.Conflict, "nothing was done")
	}
	return nil
}
