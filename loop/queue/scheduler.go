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

// scheduler carries out one call of Work: it starts reviews side by side, as many as there are free slots.
type scheduler struct {
	*Worker
	slots    *slots
	seen     map[string]bool // reviews that were tried, or that are leased
	later    map[string]bool // of seen, those that wait for what is being looked at
	running  int
	ended    chan ended
	worked   Worked
	answered []string // reviews that agents answered
	refusals []error  // git's refusals of single reviews
}

// ended says how one review ended.
type ended struct {
	review string
	done   outcome
	err    error
}

// outcome counts what came of the turns of one review.
type outcome struct{ answered, failed int }

// run takes one review after the other as long as there is a place for it. It looks once
// more after the last place was given back: a request that came while all were taken found
// its own worker without a place.
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
		case s.running == 0 && len(s.later) > 0 && place != nil && err == nil: // another process is looking
			err = s.waitAndRetry(ctx)
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

// lookAgain is the pause before a look at whether another process has ended.
const lookAgain = 100 * time.Millisecond

// waitAndRetry waits a while, then forgets which requests were postponed.
func (s *scheduler) waitAndRetry(ctx context.Context) error {
	if err := duration.Sleep(ctx, lookAgain); err != nil {
		return err
	}
	s.retryLater()
	return nil
}

// pick takes a place and the review to be done there; place is nil when there is none, and
// next "" when nothing is to be done, or there is no place.
func (s *scheduler) pick(ctx context.Context) (place func(), next string, err error) {
	if place, err = s.slots.take(); place == nil {
		return nil, "", err
	}
	if next, err = s.nextNoted(s.seen); next == "" && err == nil {
		next, err = s.next(ctx, s.seen)
	}
	if next == "" {
		place()
	} else if err == nil { // its commit may have been made of reviewed ones since: then it is closed when it is taken
		err = s.follow(ctx)
	}
	return place, next, err
}

// start does a review in a place, and in others that become free.
func (s *scheduler) start(ctx context.Context, id string, place func()) {
	s.seen[id] = true
	s.running++
	go func() {
		done, err := s.one(ctx, id)
		place()
		s.ended <- ended{id, done, err}
	}()
}

// one does a review, or looks at a noted commit.
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

// count takes the end of a review into account; an error ends the work.
func (s *scheduler) count(end ended) error {
	leased, state, missing, refused := new(share.LeasedError), new(record.StateError), new(gitstore.MissingError), new(gitstore.GitError)
	switch err := end.err; {
	case errors.As(err, &leased), errors.As(err, &missing), errors.Is(err, gitstore.ErrBusy): // see Queue
	case errors.As(err, &state): // somebody else was quicker
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
