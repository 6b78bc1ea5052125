package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// errNoStop is the answer if no run has stopped.
const errNoStop = refusal("No run of the loop has stopped here.")

func (s *Server) diagnose(ctx context.Context, c call, in diagnoseArgs) (outcome, error) {
	d, calm, err := c.diagnosis(ctx, strings.TrimSpace(in.ID))
	if err != nil || calm != "" {
		return outcome{text: calm, doc: map[string]any{"explanation": calm}}, err
	}
	return outcome{text: bounded(d.Digest(), maxHalf), doc: document(d, maxHalf)}, nil
}

// diagnosis returns the diagnosis of what id names. If nothing is wrong, calm says so.
func (c call) diagnosis(ctx context.Context, id string) (d diagnose.Diagnosis, calm string, err error) {
	if id == "" {
		return c.newestStop(ctx)
	}
	about, err := diagnose.Named(ctx, c.Store, id)
	switch {
	case record.Unknown(err):
		return d, "", refusef("there is no run, review or commit %q here.", id)
	case err != nil:
		return d, "", err
	case len(about.Runs) > 0:
		return c.ofRun(about.Runs[0])
	case about.Review == nil:
		return d, fmt.Sprintf("Commit %s has no stopped run and no open review.", about.Commit.Short()), nil
	}
	review := *about.Review
	d, asks := diagnose.OfReview(review, c.Checks, c.Fix(review.ID))
	if !asks {
		calm = fmt.Sprintf("Review %s is %s and asks for nothing.", review.ID, review.Status)
	}
	return d, calm, nil
}

func (c call) newestStop(ctx context.Context) (d diagnose.Diagnosis, calm string, err error) {
	stopped := func(r record.RunSummary) bool { return r.Reason != "" }
	runs, _, err := c.Store.Runs(ctx, store.Filter{Limit: 1, Some: true, Run: stopped})
	if err != nil {
		return d, "", err
	}
	if len(runs) == 0 {
		return d, string(errNoStop), nil
	}
	run, err := c.Store.Run(ctx, runs[0].ID)
	if err != nil {
		return d, "", err
	}
	return c.ofRun(run)
}

func (c call) ofRun(run record.Run) (d diagnose.Diagnosis, calm string, err error) {
	if run.Stop == nil {
		return d, fmt.Sprintf("Run %s did not stop: it is %s. The user can type: git runr show %s", run.ID, run.Status,
			run.ID), nil
	}
	if run, err = c.Offered(run); err != nil {
		return d, "", err
	}
	return diagnose.Of(run, *run.Stop), "", nil
}
