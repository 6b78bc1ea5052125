package record

import (
	"cmp"
	"fmt"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// RunSummary is one line of a list of runs.
type RunSummary struct {
	ID        string         `json:"run_id"`
	Status    RunStatus      `json:"status"`
	Result    string         `json:"result,omitempty"`
	Reason    string         `json:"stop_reason,omitempty"`
	Entity    runplan.Entity `json:"entity"`
	Branch    string         `json:"branch"`
	Commit    gitstore.ID    `json:"commit,omitempty"`
	Attempts  int            `json:"attempts"`
	Rounds    int            `json:"rounds"`
	Verdict   reply.Verdict  `json:"verdict,omitempty"`    // effective verdict of the newest round
	Unread    bool           `json:"unreadable,omitempty"` // nobody could read what that round answered
	Landed    bool           `json:"landed"`
	LandedAs  *Landed        `json:"landed_as,omitempty"` // where it landed
	Base      gitstore.ID    `json:"base,omitempty"`      // the commit that its work began from
	Reviewer  string         `json:"reviewer,omitempty"`  // reviewer of the newest round
	Looked    Looked         `json:"looked,omitempty"`    // as from Run.Looked
	InPlace   bool           `json:"in_place,omitempty"`  // it worked in the checkout, so there is nothing to land
	Accepted  *Accepted      `json:"accepted,omitempty"`  // nil unless somebody accepted what no reviewer passed
	Usage     spend.Usage    `json:"usage,omitzero"`
	Spending  spend.Spending `json:"usage_by_agent,omitempty"`
	Writer    string         `json:"writer"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
}

// Accepted says who accepted a run that no reviewer passed, and how many findings were open.
type Accepted struct {
	By     string `json:"by"`
	Policy bool   `json:"by_policy,omitempty"` // the run's workflow did, no person
	Open   int    `json:"findings_open"`
	Unread bool   `json:"review_unreadable,omitempty"` // the newest review could not be read, and no finding is open
}

// String goes on from "accepted": "by Ann, with 1 open finding".
func (a Accepted) String() string {
	if a.Unread {
		return "by " + a.By + ", although its review could not be read"
	}
	return fmt.Sprintf("by %s, with %s", a.By, prose.Count(a.Open, "open finding"))
}

// Summary returns the run as one line of a list.
func (r Run) Summary() RunSummary {
	s := RunSummary{
		ID: r.ID, Status: r.Status, Result: r.Result, Entity: r.Plan.Entity, Branch: r.Plan.Branch, Commit: r.Commit,
		Attempts: len(r.Attempts), Rounds: len(r.Rounds), Landed: r.Landed != nil, InPlace: r.Plan.InPlace, Writer: r.Writer,
		Usage: r.Usage, Spending: r.Spending, Base: r.Plan.Base, Looked: r.Looked(), CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt,
	}
	if r.Result == ResultWithIssues {
		findings, _ := r.Open()
		last := r.LastRound()
		unread := last != nil && last.Failure == nil && last.Report.Unreadable() && len(findings) == 0
		s.Accepted = &Accepted{cmp.Or(r.AnsweredBy, "a person"), r.ByPolicy, len(findings), unread}
	}
	if r.Landed != nil {
		landed := *r.Landed
		landed.Carried = nil
		s.LandedAs = &landed
	}
	if r.Stop != nil {
		s.Reason = r.Stop.Reason
	}
	if round := r.LastRound(); round != nil {
		s.Verdict, s.Reviewer, s.Unread = round.Report.Effective, round.Reviewer, round.Report.Unreadable()
	}
	return s
}
