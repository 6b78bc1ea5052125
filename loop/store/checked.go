package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-runr/git-runr/loop/record"
)

// RecordChecked records a submission for which FoundNothing is true as one event.
func (s *Store) RecordChecked(ctx context.Context, request record.ReviewRequest, sub record.Submission, source string) (record.Review, error) {
	whole := sub.Checks
	p := record.NewChecked(request, sub)
	p.Change = s.ChangeID(ctx, request.Subject)
	author, err := s.Repo.Identity(ctx)
	if err != nil {
		return record.Review{}, err
	}
	if p.Author == author.String() {
		p.Author = ""
	}
	event, err := s.Append(ctx, func(v *View) (record.NewEvent, error) {
		id, err := record.NewID(v.Now, v.Writer, v.Clock, request)
		d := record.EventReviewChecked.New(source, p.Commit.Short()+" "+p.Title, p).AttachChecks(whole)
		d.Review, d.Status = id, record.Review{}.StatusAfter
		return d, err
	})
	if err != nil {
		return record.Review{}, fmt.Errorf("record what was checked: %w", err)
	}
	review, bad := record.FoldReview([]record.Event{event})
	return review, errors.Join(bad...)
}
