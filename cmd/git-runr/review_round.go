package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// follow makes request the next round of the conversation that it continues. With --again it asks the same people: of the
// review that is named, else of the newest one that HEAD goes on from.
func (s *session) follow(store *store.Store, request *record.ReviewRequest) error {
	if request.Subject.Commit == "" || request.Part() {
		return nil
	}
	again := s.Bool("again") && s.NArg() == 0
	if again { // else what was followed before counts
		if _, err := lineage.Follow(s.ctx, store); err != nil {
			return err
		}
	}
	before, found, err := lineage.Continued(s.ctx, store, *request, again)
	if err != nil || !found {
		return err
	}
	if !again {
		request.Follows = before.ID
		return nil
	}
	review, err := store.Review(s.ctx, before.ID)
	if err != nil {
		return err
	}
	return s.askSame(store, review, request)
}

// askSame makes request the next round of the conversation of a review. What the command line says of whom to ask counts.
func (s *session) askSame(store *store.Store, review record.Review, request *record.ReviewRequest) error {
	next, err := lineage.NextRound(s.ctx, store, review)
	if err != nil {
		return err
	}
	next.Message, next.NoChecks = request.Message, request.NoChecks
	if s.IsSet("reviewer") {
		next.Reviewer, next.Others, next.People = request.Reviewer, request.Others, request.People
	}
	*request = next
	return nil
}

// reviewAgain returns the review that the only argument of --again names; ok is false where that is a commit or a range.
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

// requestRound records a request. A round takes the place of the one that it follows: that leaves the inbox. What lineage has
// asked for by itself of the same commit is the round, where the command line says nothing else.
func (s *session) requestRound(records *store.Store, request record.ReviewRequest) (made record.Review, number int, err error) {
	if request.Follows == "" {
		made, err = records.RequestReview(s.ctx, request, "cli")
		return made, 0, err
	}
	before, err := records.Review(s.ctx, request.Follows)
	if err != nil {
		return made, 0, err
	}
	rounds, err := records.Conversation(s.ctx, before)
	if err != nil {
		return made, 0, err
	}
	made = rounds[len(rounds)-1]
	asked := made.Request
	if !lineage.AskedAgain(made) || asked.Subject.Commit != request.Subject.Commit || !slices.Equal(asked.Reviewers(), request.Reviewers()) || request.Message != "" {
		request.Follows = made.ID
		if made, err = records.RequestReview(s.ctx, request, "cli"); err != nil {
			return made, 0, err
		}
		rounds = append(rounds, made)
	}
	for _, earlier := range rounds[:len(rounds)-1] {
		if err := closing.Supersede(s.ctx, records, earlier, made); err != nil {
			return made, 0, err
		}
	}
	return made, len(rounds), nil
}

// roundOf says which round of which conversation was asked for; "" for the first one.
func roundOf(made record.Review, number int) string {
	if number < 2 {
		return ""
	}
	return fmt.Sprintf("round %d of %s", number, made.Request.Follows)
}
