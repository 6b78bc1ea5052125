package app

import (
	"errors"
	"slices"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// round is a review that was asked for.
type round struct {
	review record.Review
	number int  // in its conversation; 0 outside of one
	known  bool // somebody requested it before
}

// askRound records a request: if again is set, as the next round of the review before.
func (s *session) askRound(store *store.Store, request record.ReviewRequest, before record.Review,
	again bool) (made round, err error) {
	defer store.Together()()
	var followed lineage.Followed
	waits := false
	if again {
		if followed, err = lineage.Follow(s.ctx, store); err == nil {
			err = s.askSame(store, before, &request)
		}
	} else {
		followed, waits, err = s.follow(store, &request)
	}
	if err != nil {
		return made, err
	}
	made, err = s.requestRound(store, request, waits)
	made.known = made.known && !slices.Contains(followed.Asked, made.review.ID)
	return made, err
}

// follow makes request the next round of the conversation that its change continues, if there is one. With --again
// and no argument, a review of earlier commits of the branch counts as well, and its reviewers are asked again. waits
// is false if no unanswered request of the same commit is known. followed is what became of rewritten commits.
func (s *session) follow(store *store.Store, request *record.ReviewRequest) (followed lineage.Followed, waits bool,
	err error) {
	if request.Subject.Commit == "" || request.Part() {
		return followed, request.Part(), nil
	}
	again := s.Bool("again") && s.NArg() == 0
	if again {
		followed, err = lineage.Follow(s.ctx, store)
	} else {
		followed, err = lineage.FollowRewrites(s.ctx, store)
	}
	if err != nil {
		return followed, false, err
	}
	before, found, waits, err := lineage.Continued(s.ctx, store, *request, again, again && !s.IsSet("reviewer"))
	if err != nil {
		return followed, false, err
	}
	if !found {
		if again && !waits && !s.IsSet("reviewer") {
			s.say("no review of this branch by a person or an agent is open, so this starts a new one")
		}
		return followed, waits, nil
	}
	if !again {
		request.Follows = before.ID
		return followed, false, nil
	}
	review, err := store.Review(s.ctx, before.ID)
	if err != nil {
		return followed, false, err
	}
	return followed, false, s.askSame(store, review, request)
}

// askSame makes request the next round of review, with the same reviewers unless --reviewer names others.
func (s *session) askSame(store *store.Store, review record.Review, request *record.ReviewRequest) error {
	next, err := lineage.NextRound(s.ctx, store, review)
	if err == nil {
		err = store.Here(s.ctx, record.Review{Request: next})
	}
	if err != nil {
		return err
	}
	next.Message, next.NoChecks = request.Message, request.NoChecks
	if s.IsSet("reviewer") {
		next.Reviewer, next.Others, next.Invited = request.Reviewer, request.Others, request.Invited
	}
	*request = next
	return nil
}

// reviewAgain returns the review that the only argument of --again names; ok is false if that is a commit or a range.
func (s *session) reviewAgain(store *store.Store) (review record.Review, ok bool, err error) {
	if !s.Bool("again") || s.NArg() != 1 {
		return review, false, nil
	}
	typed := s.Args().First()
	if _, err := store.Subject(s.ctx, typed); err == nil {
		return review, false, nil
	}
	review, err = store.Review(s.ctx, typed)
	if missing := new(record.NotFoundError); errors.As(err, &missing) && len(missing.Among) == 0 {
		err = exit.Problemf(exit.NotFound, "%q is neither a review nor a commit", typed)
	}
	return review, true, err
}

// requestRound records a request. It closes the earlier rounds, which the new one replaces. It records nothing where
// that request exists and nobody has answered it, unless the command line adds a message. waits is false if no such
// request can exist.
func (s *session) requestRound(records *store.Store, request record.ReviewRequest,
	waits bool) (made round, err error) {
	if request.Follows == "" && !waits {
		made.review, err = records.RequestReview(s.ctx, request, "cli")
		return made, err
	}
	if request.Follows == "" {
		made.review, made.known, err = intake.Request(s.ctx, records, request, "cli")
		if err == nil && !made.known && s.Bool("again") {
			s.say("an open request of this commit stays beside this one: git runr inbox")
		}
		return made, err
	}
	before, err := records.Review(s.ctx, request.Follows)
	if err != nil {
		return made, err
	}
	rounds, err := records.Conversation(s.ctx, before)
	if err != nil {
		return made, err
	}
	last := rounds[len(rounds)-1]
	asked := last.Request
	made = round{review: last, number: len(rounds), known: true}
	if last.Status != record.ReviewOpen || len(last.Submissions) > 0 || asked.Subject.Commit != request.Subject.Commit ||
		asked.Subject.Base != request.Subject.Base ||
		!slices.Equal(asked.Reviewers(), request.Reviewers()) || request.Message != "" ||
		s.IsSet("reviewer") && !slices.Equal(asked.People, request.People) {
		request.Follows = last.ID
		if made.review, err = records.RequestReview(s.ctx, request, "cli"); err != nil {
			return made, err
		}
		rounds = append(rounds, made.review)
		made.number, made.known = len(rounds), false
	}
	for _, earlier := range rounds[:len(rounds)-1] {
		if err := closing.Supersede(s.ctx, records, earlier, made.review); err != nil {
			return made, err
		}
	}
	return made, nil
}
