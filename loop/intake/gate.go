package intake

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// Gated is a commit that a gate holds back.
type Gated struct {
	lineage.Covered
	Skipped string `json:"skipped,omitempty"` // why no review was requested
	Finding string `json:"finding,omitempty"` // the worst finding that blocks it
	Unread  string `json:"unread,omitempty"`  // for a commit that passes: the files that were not reviewed
	closed  bool   // the review that refuses it is resolved
}

// Passing says what was not looked at of the commits that pass a gate.
type Passing struct {
	Partial []Gated  // those of which a part was not reviewed, at most Named
	NotText []string // files whose contents no reviewer saw because they are not text
}

// Named is the maximum number of held commits that people are shown. Gate does not read the findings of the others.
const Named = 10

// SecretIn describes a secret in the message or the header of a commit, or returns "".
type SecretIn func(ctx context.Context, repo *gitstore.Repo, commit gitstore.ID) (string, error)

// Covered returns the state of each commit as lineage.CoverageBy does. It also refuses commits with a secret in the
// message or header if no review has seen these: commits to which a review was carried, empty ones, and those about
// which a person was asked, because the gate may let these through. Titles are redacted as in the record.
func Covered(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit, bar lineage.Bar,
	secretIn SecretIn) ([]lineage.Covered, error) {
	covered, err := lineage.CoverageBy(ctx, s, commits, bar)
	for i := range covered {
		c := &covered[i]
		if s.Redact != nil {
			c.Title = s.Redact(c.Title)
		}
		asked, _ := c.Asked()
		unseen := c.State == lineage.CoverCarried || c.State == lineage.CoverNothing || asked != ""
		if err != nil || !unseen {
			continue
		}
		if c.InItself, err = secretIn(ctx, s.Repo, c.Commit); c.InItself != "" {
			c.Refused, c.Before, c.Passed, c.Verdict, c.Review, c.Run = true, false, false, reply.CriticalFail, "", ""
		}
	}
	return covered, err
}

// Gate returns the commits that a finding blocks, and after them those that do not reach bar, each oldest first. A
// skipped commit counts as not reviewed: neither a commit nor a file of the repository may let itself through.
func Gate(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit, bar lineage.Bar, skip Skip,
	branch string, secretIn SecretIn) (held []Gated, passing Passing, err error) {
	covered, err := Covered(ctx, s, commits, bar, secretIn)
	if err != nil {
		return nil, passing, err
	}
	var below []Gated
	for i, c := range slices.Backward(covered) {
		gated := Gated{Covered: c, Finding: c.InItself}
		if c.Meets(bar.Level) {
			passing.NotText = append(passing.NotText, c.NotText...)
			if c.Outcome == record.OutcomePartial && c.Review != "" && len(passing.Partial) < Named {
				review, err := s.Review(ctx, c.Review)
				if err != nil {
					return nil, passing, err
				}
				isPartial := func(sub record.Submission) bool { return sub.Outcome == record.OutcomePartial }
				if at := slices.IndexFunc(review.Submissions, isPartial); at >= 0 {
					gated.Unread = review.Submissions[at].Census.Unread()
					passing.Partial = append(passing.Partial, gated)
				}
			}
			continue
		}
		if c.State == lineage.CoverUnreviewed {
			if gated.Skipped, err = skip.Why(ctx, s, commits[i], branch); err != nil {
				return nil, passing, err
			}
		}
		if c.Refused {
			held = append(held, gated)
		} else {
			below = append(below, gated)
		}
	}
	held = append(held, below...)
	for i := range held[:min(len(held), Named)] {
		if err := held[i].readFinding(ctx, s); err != nil {
			return nil, passing, err
		}
	}
	slices.Sort(passing.NotText)
	passing.NotText = slices.Compact(passing.NotText)
	return held, passing, nil
}

// readFinding reads what refuses the commit in the review or run that does.
func (g *Gated) readFinding(ctx context.Context, s *store.Store) error {
	switch {
	case !g.Refused:
	case g.Review != "":
		review, err := s.Review(ctx, g.Review)
		if err != nil {
			return err
		}
		g.Finding, g.closed = cmp.Or(worstOf(review), g.UnsettledWords()), !review.ClosedAt.IsZero()
	case g.Run != "":
		run, err := s.Run(ctx, g.Run)
		if err != nil {
			return err
		}
		g.Finding = objection(run.SaidOf(cmp.Or(g.From, g.Commit)))
	}
	return nil
}

// worstOf returns the worst open or deferred finding of a review, on one line, or else what it asks for.
func worstOf(review record.Review) string {
	open := slices.DeleteFunc(review.Findings(), review.SettledFinding)
	if asked := review.Summary().Asked; len(open) == 0 {
		unconfirmed := ""
		if people, answers := review.Awaited(); answers > 0 {
			unconfirmed = prose.Count(answers, "answer") + " not confirmed by " + strings.Join(people, ", ")
		}
		return cmp.Or(asked, unconfirmed)
	}
	worst := worstFinding(open)
	if !review.IsOpen(worst) {
		return findingWords(worst) + " (" + string(record.AnswerDeferred) + ")"
	}
	return findingWords(worst)
}

func worstFinding(findings []reply.Finding) reply.Finding {
	return slices.MinFunc(findings, func(a, b reply.Finding) int {
		return reply.SeverityRank(a.Severity) - reply.SeverityRank(b.Severity)
	})
}

// objection returns what a round has against its commit, on one line, or "": its worst finding, else its first request,
// else the checks that failed.
func objection(round *record.Round) string {
	switch {
	case round == nil:
		return ""
	case len(round.Report.Findings) > 0:
		return findingWords(worstFinding(round.Report.Findings))
	case len(round.Report.Requests) > 0:
		return strings.Join(strings.Fields(round.Report.Requests[0]), " ")
	case round.ChecksFailed():
		return fmt.Sprintf("check %s failed", record.CheckRun{Results: round.Checks}.Failing())
	}
	return ""
}

// findingWords returns a finding on one line.
func findingWords(f reply.Finding) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", f.Severity, f.Place(), f.Issue)), " ")
}

// ToType returns at most most commands that get commits through to level: one for each kind of obstacle. rules says
// that the configured reviewer is the built-in one.
func ToType(held []Gated, level lineage.Level, rules bool, most int) []string {
	var lines []string
	add := func(line string) {
		if !slices.Contains(lines, line) && len(lines) < most {
			lines = append(lines, line)
		}
	}
	for _, c := range held {
		line := "git runr review --wait " + c.Commit.Short()
		if level == lineage.LevelApproved || level == lineage.LevelReviewed && rules { // rules review and approve nothing
			line = "git runr review --reviewer human " + c.Commit.Short()
		}
		asked, _ := c.Asked()
		switch {
		case c.Stuck():
			continue
		case c.Review == "" && c.InItself != "":
			line = "git rebase -i " + c.Commit.Short() + "~1"
		case c.RefusedIn != "" && c.closed:
			line = "git runr inbox reopen " + c.Review
		case c.Refused && c.Review != "":
			line = "git runr show " + c.Review
		case c.Refused && c.ByAgent(): // a review that its findings can be answered in; the run has none
			line = safetext.ShellLine("git", "runr", "review", "--wait", "--reviewer", c.Reviewer(), c.Commit.Short())
		case asked != "" && !c.RulesLooked(): // rules have to look before it may go to the branch where that person is asked
			add("git runr review --wait " + c.Commit.Short())
			line = "git runr show " + asked
		case asked != "":
			line = "git runr show " + asked
		case c.AwaitsPerson():
			line = "git runr show " + c.Review
		case c.State == lineage.CoverPending || c.State == lineage.CoverStale && c.Review != "":
			line = "git runr work"
		case c.Seen(), c.State == lineage.CoverUnshown: // the same reviewer would give the same answer again
			line = "git runr review --reviewer human " + c.Commit.Short()
		}
		add(line)
	}
	return lines
}
