package loop

import (
	"context"
	"strings"

	"git-runr/loop/record"
	"git-runr/loop/reply"
	"git-runr/loop/safetext"
)

// ask has the judge look at each finding that still stands.
func (s *scene) ask(ctx context.Context, open []reply.Finding, results []Verified) error {
	var asked []examined
	var of []*Verified
	for i, f := range open {
		if results[i].Kind != "" {
			continue
		}
		material, err := s.material(ctx, f, results[i])
		if err != nil {
			return err
		}
		asked, of = append(asked, examined{f, material}), append(of, &results[i])
	}
	if len(asked) == 0 {
		return nil
	}
	said, _, _, failure, err := exam{
		store: s.v.Store, progress: s.v.Progress, agent: s.v.Judge, name: s.v.Name, at: s.at,
		lead:  "Earlier reviews found the faults below. Say of each whether it is still there: fixed, when it cannot happen any more, or open.",
		words: reply.RulingWords{Settles: "fixed", Stands: "open"},
	}.ask(ctx, asked)
	if err != nil {
		return err
	}
	for i, r := range of {
		switch {
		case failure != nil:
			r.Reason = "not judged: " + failure.Detail
		case !said[i].Said:
			r.Reason = "not judged: the answer says nothing of it in the form that was asked for"
		case said[i].Settles:
			r.settle(record.AnswerFixed, s.v.Name, said[i].Why)
		default:
			r.By, r.Reason = s.v.Name, said[i].Why
		}
	}
	return nil
}

// material is what the judge is shown of a finding.
func (s *scene) material(ctx context.Context, f reply.Finding, known Verified) (string, error) {
	var b strings.Builder
	if err := writeLines(ctx, &b, s.v.Store, "code_that_was_reviewed", s.review.Request.Subject.Tree, f, 3); err != nil {
		return "", err
	}
	if err := writeLines(ctx, &b, s.v.Store, "code_of_now_at_these_lines", s.at, f, shownAround); err != nil {
		return "", err
	}
	writeBlock(&b, "where_it_is_now", safetext.Line(strings.TrimSpace(known.Now+" "+known.Reason)))
	return b.String(), nil
}
