package app

import (
	"cmp"
	"errors"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/progress"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) verifyCommand() *cli.Command {
	return &cli.Command{
		Name: "verify", Usage: "check unanswered and claimed-fixed findings against the code", ArgsUsage: "ID | --all",
		Description: `Checks each finding that is unanswered or claimed fixed against HEAD, or the branch that was
reviewed, and answers it if the result is clear: fixed, if the built-in reviewer's rule finds nothing there any more or
the failed check passes; gone, if the code was deleted. A secret stays open while a branch has a commit with it. The
worker does this after each commit for findings of rules and checks. With --reviewer an agent judges the other findings
one by one; they count as fixed only if it says so in the requested form. In doubt a finding stays open; a wrong claim
is answered open. A review whose findings are all answered is resolved.`,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "every review with open findings that the filters match"},
			&cli.StringFlag{Name: "reviewer", Usage: "let the agent `NAME` judge findings that no rule can"},
		}, changeFlags()...),
		Action: p.withConfig(verify),
	}
}

type verifiedJSON struct {
	Findings []reviewing.Verified `json:"findings"`
	Open     int                  `json:"open"`           // findings that still stand
	Usage    spend.Usage          `json:"usage,omitzero"` // by the agent's calls
}

func verify(s *session, store *store.Store, conf *config.Config) error {
	progress := s.progress()
	defer progress.Close()
	verifier, err := s.verifier(store, conf, progress)
	if err != nil {
		return err
	}
	ids, err := s.verifiable(store)
	if err != nil {
		return err
	}
	doc := verifiedJSON{Findings: []reviewing.Verified{}}
	for _, id := range ids {
		review, err := store.Review(s.ctx, id)
		if err != nil {
			return err
		}
		found, took, err := verifier.Verify(s.ctx, review)
		if missing := new(gitstore.MissingError); errors.As(err, &missing) {
			s.say("%v", err)
			err = nil
		}
		if err != nil {
			return err
		}
		doc.Findings, doc.Usage = append(doc.Findings, found...), doc.Usage.Add(took)
	}
	failed := ""
	for _, f := range doc.Findings {
		if f.Stands() {
			doc.Open++
		}
		failed = cmp.Or(failed, f.Failure)
	}
	progress.Close()
	s.project(s.ctx, store)
	err = s.print(doc, func(w io.Writer) {
		for _, f := range doc.Findings {
			safetext.Fprintf(w, "%-5s  %s  %s  %s\n", cmp.Or(string(f.Kind), "open"), screen.Suffix(f.Review),
				cmp.Or(f.Now, f.Place, f.Finding), f.Reason)
		}
		safetext.Fprintf(w, "%s checked again, %d of them still open.\n", prose.Count(len(doc.Findings), "finding"), doc.Open)
		screen.When(w, doc.Usage.String() != "", "The calls took %s\n", doc.Usage.String())
	})
	if err == nil && failed != "" {
		err = stopStatus(failed)
	}
	return err
}

func (s *session) verifier(store *store.Store, conf *config.Config,
	progress *progress.Display) (*reviewing.Verifier, error) {
	rules, _ := conf.Reviewer(role.Builtin)
	verifier := &reviewing.Verifier{Store: store, Rules: rules, Closing: conf.Inbox.Closing, Progress: progress,
		Reviewer: conf.Reviewer, Terms: conf.Terms()}
	name := s.String("reviewer")
	if name == "" || name == role.Builtin {
		return verifier, nil
	}
	if err := conf.KnownAgent("reviewer", name); err != nil {
		return nil, err
	}
	if name == record.Human {
		return nil, exit.Problemf(exit.Usage, "reviewer: %s is not an agent", name).
			WithHint("git runr inbox answer ID FINDING fixed --commit REV")
	}
	if failure := conf.Ready(name, agent.Reviewer); failure != nil {
		status := exit.Status(record.ReasonOf(failure.Reason).Status)
		return nil, exit.Problemf(status, "%s", cmp.Or(failure.Detail, failure.Reason)).WithHint(failure.Next().Commands...)
	}
	verifier.Judge = name
	return verifier, nil
}

// verifiable returns the ids of the reviews to check.
func (s *session) verifiable(records *store.Store) ([]string, error) {
	if !s.Bool("all") {
		return s.Args().Slice(), nil
	}
	wish, err := s.wish(records)
	if err != nil {
		return nil, err
	}
	wanted, err := wish.Test(s.ctx, records)
	if err != nil {
		return nil, err
	}
	found, _, err := records.Reviews(s.ctx,
		store.Filter{Status: record.WaitingStatus, ByNeed: true, Review: func(r record.ReviewSummary) bool {
			return r.Critical+r.Warnings+r.Notes+r.Claimed > 0 && (wanted == nil || wanted(r))
		}})
	return each.Of(found, func(r record.ReviewSummary) string { return r.ID }), err
}
