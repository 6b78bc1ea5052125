package reviewing

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/spend"
)

// ask has the judge examine each open finding, and returns the usage of the calls.
func (s *scene) ask(ctx context.Context, open []reply.Finding, results []Verified) (spend.Usage, error) {
	var asked []ExaminedFinding
	var of []*Verified
	for i, f := range open {
		if results[i].Kind != "" {
			continue
		}
		material, err := s.material(ctx, f, results[i])
		if err != nil {
			return spend.Usage{}, err
		}
		asked, of = append(asked, ExaminedFinding{f, material}), append(of, &results[i])
	}
	if len(asked) == 0 {
		return spend.Usage{}, nil
	}
	said, told, err := s.examine(ctx, asked)
	if err != nil {
		return told.Usage, err
	}
	for i, r := range of {
		switch {
		case told.Failure != nil:
			r.Failure, r.Reason = told.Failure.Reason, "not judged: "+cmp.Or(told.Failure.Detail, told.Failure.Reason)
		case !said[i].Said:
			r.Reason = "not judged: the answer does not mention it in the requested form"
		case said[i].Settles:
			r.settle(record.AnswerFixed, told.Spent.By(told.By), said[i].Why)
		default:
			r.remains(told.Spent.By(told.By), said[i].Why)
		}
	}
	return told.Usage, nil
}

// examine returns the judge's rulings on the findings, and records them if the judge was called.
func (s *scene) examine(ctx context.Context,
	asked []ExaminedFinding) (said []reply.Ruling, told record.Verification, err error) {
	v := s.v
	told = record.Verification{By: v.Judge, Commit: s.at}
	c := v.Terms.Calls(v.Store, v.Progress, v.Judge)
	c.Pause = v.Terms.Patience(v.Store, v.Progress).Wait
	judge, failure, err := c.Relay(ctx, v.Judge, v.Reviewer)
	if told.Failure = failure; failure != nil || err != nil {
		return nil, told, err
	}
	said, raw, calls, failure, err := Examination{
		Store: v.Store, Progress: v.Progress, Agent: judge, Name: v.Judge, At: s.at,
		Lead: "Earlier reviews found the faults below. Say for each whether the code still has it: fixed if it cannot " +
			"happen any more, else open.",
		Words: reply.RulingWords{Settles: string(record.Fixed), Stands: string(record.StillOpen)},
	}.Ask(ctx, asked)
	told.Failure, told.Spent = failure, spend.NewSpent(v.Judge, calls)
	if err == nil && failure == nil {
		told.Rulings = Rulings(asked, said, record.Fixed, record.StillOpen)
	}
	if len(calls) > 0 {
		_, failed := v.Store.VerifyReview(context.WithoutCancel(ctx), s.review.ID, told, raw) // also after an interrupt
		err = errors.Join(err, failed)
	}
	return said, told, err
}

// Rulings converts rulings to their recorded form.
func Rulings(asked []ExaminedFinding, said []reply.Ruling, settled, stands record.RulingKind) []record.Ruling {
	all := make([]record.Ruling, len(said))
	for i, r := range said {
		all[i] = record.Ruling{Finding: asked[i].ID, Kind: record.Unsaid, Reason: r.Why}
		switch {
		case r.Settles:
			all[i].Kind = settled
		case r.Said:
			all[i].Kind = stands
		}
	}
	return all
}

// material returns what the judge is shown of a finding.
func (s *scene) material(ctx context.Context, f reply.Finding, known Verified) (string, error) {
	var b strings.Builder
	if err := WriteLines(ctx, &b, s.v.Store, "code_that_was_reviewed", s.review.Request.Subject.Tree, f, 3); err != nil {
		return "", err
	}
	if err := WriteLines(ctx, &b, s.v.Store, "code_of_now_at_these_lines", s.at, f, ShownAround); err != nil {
		return "", err
	}
	WriteBlock(&b, "where_it_is_now", safetext.Line(strings.TrimSpace(known.Now+" "+known.Reason)))
	return b.String(), nil
}
