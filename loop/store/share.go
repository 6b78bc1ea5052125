package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// notShared lists the events of a private review that mean nothing elsewhere.
var notShared = []string{record.EventReviewClaimed.Name, record.EventReviewReleased.Name,
	record.EventReviewRedacted.Name}

// SharedAs is the prefix of the note of a private review that was shared. The id of the copy follows.
const SharedAs = "shared as "

// ShareReview copies a private review into the log for an audience: requests, answers and replies, without redacted
// texts. It returns the copy, which has its own id, and closes the private review.
func (s *Store) ShareReview(ctx context.Context, id string, to gitstore.Audience, actor string) (record.Review, error) {
	review, err := s.Review(ctx, id)
	if err != nil {
		return review, err
	}
	if s.Repo.Audience(review.Writer) != (gitstore.Audience{Private: true}) {
		return review, &record.InputError{Why: fmt.Sprintf("review %s is not private", review.ID)}
	}
	if err := record.CheckActor(actor); err != nil {
		return review, err
	}
	events, err := s.ReviewEvents(ctx, review.ID)
	if err != nil {
		return review, err
	}
	copied := ""
	for _, e := range events {
		if !strings.HasPrefix(e.Type, "review_") || slices.Contains(notShared, e.Type) {
			continue
		}
		if copied, err = s.shareEvent(ctx, to, review, e, copied); err != nil {
			return review, err
		}
	}
	by := record.ActorPayload{Actor: actor, Note: SharedAs + copied, Force: true}
	switch review.Status {
	case record.ReviewOpen:
		_, err = s.actorEvent(ctx, review.ID, record.EventReviewCancelled, by)
	case record.ReviewSubmitted, record.ReviewClaimed:
		_, err = s.actorEvent(ctx, review.ID, record.EventReviewResolved, by)
	}
	if err != nil {
		return review, err
	}
	return s.ReviewByID(ctx, copied)
}

// shareEvent copies one event of a private review. The first call, with an empty id, makes the copy's id.
func (s *Store) shareEvent(ctx context.Context, to gitstore.Audience, review record.Review, e record.Event,
	id string) (string, error) {
	entry, err := s.Repo.Entry(ctx, e.ID)
	if err != nil {
		return id, err
	}
	attachments := map[string][]byte{}
	if len(review.Redactions) == 0 {
		if attachments, err = s.attachments(ctx, e.ID); err != nil {
			return id, err
		}
	}
	_, err = s.appendCopy(ctx, to, e, entry, attachments, func(again *record.Event) (err error) {
		if id == "" {
			id, err = record.NewID(s.EventTime(), again.Writer, again.Clock, review.Request)
		}
		again.Review, again.Run = id, ""
		return err
	})
	return id, err
}
