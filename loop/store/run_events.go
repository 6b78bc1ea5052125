package store

import (
	"context"
	"errors"
	"time"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// BeginRun records the beginning of a run of plan. when returns, for the present time, the time in the run's id and the
// time of its beginning.
func (s *Store) BeginRun(ctx context.Context, source, title string, plan runplan.Plan,
	when func(now time.Time) (id, at time.Time)) (record.Run, error) {
	branch, err := s.Branch(ctx)
	if err != nil {
		return record.Run{}, err
	}
	to, err := s.audienceOn(ctx, branch, plan.Base)
	if err != nil {
		return record.Run{}, err
	}
	if plan.FromReview != "" && s.Asks == nil { // the task repeats what the review says
		review, err := s.ReviewByID(ctx, plan.FromReview)
		if err != nil {
			return record.Run{}, err
		}
		to = s.Repo.Audience(review.Writer)
	}
	event, err := s.Append(ctx, to, func(v *View) (record.NewEvent, error) {
		of, at := when(v.Now)
		plan.Branch = ""
		id, err := record.NewID(of, v.Writer, v.Clock, plan)
		plan.Branch = "runr/" + id
		d := record.EventRunStarted.New(source, title, plan)
		d.Run, d.At, d.Status = id, at, record.Run{}.StatusAfter
		return d, err
	})
	if err != nil {
		return record.Run{}, err
	}
	run, bad := record.FoldRun([]record.Event{event})
	return s.seenRun(run), errors.Join(bad...)
}

// RunEvent records d for a run, and returns the run after it. The newest state decides, since somebody else may have
// ended the run meanwhile.
func (s *Store) RunEvent(ctx context.Context, run record.Run, d record.NewEvent) (record.Run, error) {
	return s.runEvent(ctx, run, d, func(v *View) (record.Run, error) {
		st, err := v.state(entity{kindRun, run.ID})
		return st.run, err
	})
}

// NextRunEvent is RunEvent for a run that nobody else knows or may change. It does not read the run again, so that
// each of many events costs the same.
func (s *Store) NextRunEvent(ctx context.Context, run record.Run, d record.NewEvent) (record.Run, error) {
	return s.runEvent(ctx, run, d, func(*View) (record.Run, error) { return run, nil })
}

func (s *Store) runEvent(ctx context.Context, run record.Run, d record.NewEvent,
	read func(*View) (record.Run, error)) (record.Run, error) {
	event, err := s.Append(ctx, s.Repo.Audience(run.Writer), func(v *View) (record.NewEvent, error) {
		newest, err := read(v)
		if err != nil {
			return record.NewEvent{}, err
		}
		if err := newest.Allow(d.Type); err != nil {
			return record.NewEvent{}, err
		}
		run = newest
		d.Run, d.Review, d.Status = run.ID, run.Plan.FromReview, run.StatusAfter
		return d, nil
	})
	if err != nil {
		return run, err
	}
	err = run.Apply(event)
	return s.seenRun(run), err
}
