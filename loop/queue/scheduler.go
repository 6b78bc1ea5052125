package queue

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/share"
)

// scheduler carries out one call of Work: it runs reviews in parallel, as many as there are free slots.
type scheduler struct {
	*Worker
	slots    *slots
	seen     map[string]bool // reviews that were tried or are leased
	later    map[string]bool // those in seen that wait for the same change to be reviewed
	running  int
	ended    chan ended
	worked   Worked
	answered []string // reviews that agents answered
	refusals []error  // git's refusals of single reviews
}

// ended is the result of one review.
type ended struct {
	review string
	done   outcome
	err    error
}

// outcome counts the turns of one review by result.
type outcome struct{ answered, failed int }

// run starts one review after another while there are free slots. It looks for work once more after the last slot was
// released: the worker of a request that came meanwhile may have found no free slot.
func (s *scheduler) run(ctx context.Context) (err error) {
	for idle := false; ; {
		var place func()
		next := ""
		if err == nil {
			place, next, err = s.pick(ctx)
		}
		switch {
		case next != "":
			s.start(ctx, next, place)
			idle = false
			continue
		case s.running == 0 && len(s.later) > 0 && place != nil && err == nil: // another process reviews it
			err = duration.Sleep(ctx, lookAgain)
			s.retryLater()
			continue
		case s.running == 0 && (idle || place == nil || err != nil):
			s.worked.Busy = place == nil && s.worked == Worked{}
			return err
		case s.running == 0:
			idle = true
			continue
		}
		end := <-s.ended
		s.running--
		if errors.Is(end.err, errSameChange) {
			s.later[end.review] = true
		} else {
			s.retryLater()
		}
		err = errors.Join(err, s.count(end))
		idle = false
	}
}

// retryLater forgets which requests were postponed, so that the next look tries them again.
func (s *scheduler) retryLater() {
	for id := range s.later {
		delete(s.seen, id)
	}
	clear(s.later)
}

// lookAgain is the pause before checking again whether another process has ended.
const lookAgain = 100 * time.Millisecond

// pick takes a slot and returns the next review for it. place is nil if no slot is free; next is "" if no slot is free
// or nothing is to do.
func (s *scheduler) pick(ctx context.Context) (place func(), next string, err error) {
	if place, err = s.slots.take(); place == nil {
		return nil, "", err
	}
	if next, err = s.next(ctx, s.seen); next == "" {
		place()
	} else if err == nil { // its commit may now consist of reviewed ones: then taking the review closes it
		err = s.follow(ctx)
	}
	return place, next, err
}

// start runs a review in a slot, and in other slots that become free.
func (s *scheduler) start(ctx context.Context, id string, place func()) {
	s.seen[id] = true
	s.running++
	go func() {
		done, err := s.one(ctx, id)
		place()
		s.ended <- ended{id, done, err}
	}()
}

// one runs a review, or examines a noted commit.
func (s *scheduler) one(ctx context.Context, id string) (done outcome, err error) {
	if !strings.Contains(id, "-") {
		return s.takeNoted(ctx, gitstore.ID(id))
	}
	review, err := s.Store.Review(ctx, id)
	if err == nil {
		_, done, err = s.take(ctx, review, s.slots.with())
	}
	return done, err
}

// count adds the result of a review; an error ends the work.
func (s *scheduler) count(end ended) error {
	leased, state, missing, refused := new(share.LeasedError), new(record.StateError), new(gitstore.MissingError),
		new(gitstore.GitError)
	switch err := end.err; {
	case errors.As(err, &leased), errors.As(err, &missing), errors.Is(err, gitstore.ErrBusy): // Queue shows these
	case errors.As(err, &state): // another process was faster
		s.Progress.Say(err.Error())
	case errors.As(err, &refused), errors.Is(err, gitstore.ErrRemote):
		s.refusals = append(s.refusals, err)
	case err != nil:
		return err
	case end.done.failed > 0:
		s.worked.Failed++
	case end.done.answered > 0:
		s.worked.Reviews++
		s.answered = append(s.answered, end.review)
	}
	return nil
}
