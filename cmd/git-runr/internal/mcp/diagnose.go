package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
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
	run, err := c.Store.RunByID(ctx, id)
	if err == nil {
		return c.ofRun(run)
	}
	if !absent(err) {
		return d, "", err
	}
	review, err := c.Store.ReviewByID(ctx, id)
	if err == nil {
		return c.ofReview(ctx, review)
	}
	if !absent(err) {
		return d, "", err
	}
	commit, err := c.Store.Repo.Resolve(ctx, id)
	if err != nil {
		return d, "", refusef("%q is no run, review or commit here.", id)
	}
	return c.ofCommit(ctx, commit)
}

// absent reports whether err means that the thing does not exist, rather than an ambiguous id or a fault.
func absent(err error) bool {
	var missing *record.NotFoundError
	return errors.As(err, &missing) && len(missing.Among) == 0
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
		return d, fmt.Sprintf("Run %s did not stop: it is %s. The user can type: git runr show %s", run.ID, run.Status, run.ID), nil
	}
	if run, err = c.Offered(run); err != nil {
		return d, "", err
	}
	return diagnose.Of(run, *run.Stop), "", nil
}

// ofReview diagnoses the run that was started from a review, or else the review.
func (c call) ofReview(ctx context.Context, review record.Review) (d diagnose.Diagnosis, calm string, err error) {
	events, err := c.Store.ReviewEvents(ctx, review.ID)
	if err != nil {
		return d, "", err
	}
	run, found, err := newest(ctx, events, func(e record.Event) string { return e.Run }, c.Store.Run, func(record.Run) bool { return true })
	if err != nil {
		return d, "", err
	}
	if found {
		return c.ofRun(run)
	}
	d, asks := diagnose.OfReview(review, c.Checks, c.Fix(review.ID))
	if !asks {
		calm = fmt.Sprintf("Review %s is %s and asks for nothing.", review.ID, review.Status)
	}
	return d, calm, nil
}

// ofCommit diagnoses the newest stopped run about commit, or else the newest review about it that requests changes.
func (c call) ofCommit(ctx context.Context, commit gitstore.ID) (d diagnose.Diagnosis, calm string, err error) {
	about, _, err := c.Store.EventsAbout(ctx, commit)
	if err != nil {
		return d, "", err
	}
	run, found, err := newest(ctx, about, func(e record.Event) string { return e.Run }, c.Store.Run, func(r record.Run) bool { return r.Stop != nil })
	if err != nil {
		return d, "", err
	}
	if found {
		return c.ofRun(run)
	}
	review, found, err := newest(ctx, about, func(e record.Event) string { return e.Review }, c.Store.Review, diagnose.Asks)
	if err != nil {
		return d, "", err
	}
	if found {
		return c.ofReview(ctx, review)
	}
	return d, fmt.Sprintf("No run that stopped and no review that asks for anything speaks of commit %s.", commit.Short()), nil
}

// newest returns the newest run or review in events that fits, read by its id.
func newest[T any](ctx context.Context, events []record.Event, of func(record.Event) string, read func(context.Context, string) (T, error), fits func(T) bool) (one T, found bool, err error) {
	for _, e := range slices.Backward(events) {
		if of(e) == "" {
			continue
		}
		if one, err = read(ctx, of(e)); err != nil || fits(one) {
			return one, err == nil, err
		}
	}
	return one, false, nil
}
