package app

import (
	"errors"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/suggest"
)

func (p *program) inboxApplyCommand() *cli.Command {
	return &cli.Command{
		Name: "apply", Usage: "commit the suggestions of comments, on a separate branch", ArgsUsage: "ID FINDING… | ID --all",
		Description: `A suggestion is a fenced block of the language suggestion, in a comment or finding; it replaces
the lines that the comment is on. Each becomes a commit of yours on runr/suggestions/…, a branch that starts at the
reviewed code. Suggestions that no longer fit are left out (exit status 3). HEAD, working trees and checked-out
branches are not touched. If a comment has several, FINDING.2 is the second. git runr undo takes them back.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "all suggestions of findings that are not settled"},
			&cli.StringFlag{Name: "onto", Usage: "commit to `BRANCH`, which must not be checked out; a missing one is created"},
		},
		Action: p.inRepo(inboxApply),
	}
}

type appliedJSON struct {
	ID      string       `json:"review_id"`
	Branch  string       `json:"branch"`
	Base    gitstore.ID  `json:"base"`   // the code of the review
	Commit  gitstore.ID  `json:"commit"` // tip of the branch, "" if there is none
	Applied []appliedOne `json:"applied"`
	Refused []refusedOne `json:"refused"`
	Undo    string       `json:"undo,omitempty"`
}

type appliedOne struct {
	suggest.Change
	Commit  gitstore.ID `json:"commit"`
	Already bool        `json:"already"` // the branch had it before
}

type refusedOne struct {
	ID     string      `json:"id"`
	Status exit.Status `json:"status"`
	Why    string      `json:"message"`
}

func inboxApply(s *session, store *store.Store) error {
	review, err := store.Review(s.ctx, s.Args().First())
	if err != nil {
		return err
	}
	ids := s.Args().Slice()[1:]
	if s.Bool("all") {
		ids = nil
		for _, c := range suggest.Of(review) {
			if said, _ := review.Finding(c.Finding); !review.SettledFinding(said.Finding) {
				ids = each.Once(ids, c.Finding)
			}
		}
	}
	doc := appliedJSON{ID: review.ID, Branch: s.String("onto"), Applied: []appliedOne{}, Refused: []refusedOne{}}
	var changes []suggest.Change
	var problems []*exit.Problem
	refuse := func(id string, err error) {
		problem := exit.Classify(applyProblem(review, err))
		problems = append(problems, problem)
		doc.Refused = append(doc.Refused, refusedOne{id, problem.Status, problem.Msg})
	}
	for _, id := range ids {
		change, err := suggest.Pick(review, id)
		if err != nil {
			refuse(id, err)
			continue
		}
		changes = append(changes, change)
	}
	done, err := suggest.Apply(s.ctx, store, review, changes, doc.Branch)
	if err != nil {
		return applyProblem(review, err)
	}
	doc.Branch, doc.Base, doc.Commit = done.Branch, done.Base, done.Commit
	for _, one := range done.Done {
		if one.Err != nil {
			refuse(one.ID, one.Err)
			continue
		}
		doc.Applied = append(doc.Applied, appliedOne{one.Change, one.Commit, one.Already})
	}
	if done.Undo.Name != "" {
		doc.Undo = "git runr undo"
	}
	return s.showApplied(review, doc, problems)
}

// showApplied shows what was applied. If nothing was, and one suggestion was refused, that is the error; otherwise it
// prints a line for each refusal.
func (s *session) showApplied(review record.Review, doc appliedJSON, problems []*exit.Problem) error {
	if len(problems) == 1 && len(doc.Applied) == 0 {
		return problems[0]
	}
	err := s.print(doc, func(w io.Writer) { writeApplied(w, review, doc) })
	worst := exit.OK
	for _, problem := range problems {
		s.failedLine(problem)
		if worst = max(worst, problem.Status); len(doc.Applied) > 0 {
			worst = exit.Conflict
		}
	}
	if worst != exit.OK {
		err = errors.Join(err, exit.With(worst))
	}
	return err
}

func writeApplied(w io.Writer, review record.Review, doc appliedJSON) {
	var next []string
	for _, one := range doc.Applied {
		how := "Applied"
		if one.Already {
			how = "There already:"
		}
		safetext.Fprintf(w, "%s %s to %s, %s\n", how, one.ID, one.Place, one.Commit.Short())
		if _, answered := review.AnswerTo(one.Finding); !answered {
			next = append(next, "git runr inbox answer "+doc.ID+" "+one.Finding+" fixed --commit "+one.Commit.Short())
		}
	}
	if doc.Commit == "" {
		safetext.Fprintf(w, "Nothing was applied.\n")
		return
	}
	safetext.Fprintf(w, "%s is at %s.\n", doc.Branch, doc.Commit.Short())
	if line, ok := safetext.CommandLine("git", "merge", doc.Branch); ok {
		next = append([]string{line}, next...)
	}
	screen.Next(w, next...)
}

// applyProblem adds to err what to type if a suggestion could not be applied.
func applyProblem(review record.Review, err error) error {
	refused, elsewhere := new(suggest.RefusedError), new(gitstore.CheckedOutError)
	switch {
	case errors.As(err, &refused):
		status := exit.State
		if refused.Moved {
			status = exit.Conflict
		}
		finding, _, _ := strings.Cut(refused.ID, ".") // without the number of the suggestion
		return exit.Problemf(status, "%w", err).
			WithHint("git runr run --review " + review.ID + " --finding " + finding + "   lets an agent do it")
	case errors.As(err, &elsewhere):
		problem := exit.Problemf(exit.Conflict, "%w", err)
		if line, ok := safetext.CommandLine("git", "-C", elsewhere.Dir, "switch", "--detach"); ok {
			problem = problem.WithHint(line + "   leaves the branch where it is")
		}
		return problem.WithHint("git runr inbox apply " + review.ID + " FINDING --onto BRANCH   another branch")
	}
	return err
}
