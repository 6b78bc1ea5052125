package web

import (
	"context"

	"git-runr/loop/record"
)

// These are the steps of a review with what belongs to them beside the event, for the
// API and the page alike.

func (s *Server) submitPerson(ctx context.Context, id string, p record.Person) (record.Review, error) {
	return s.closed(s.Store.SubmitPerson(ctx, id, p))
}

// claimReview also says why the claim counts in this clone only, "" where it does not.
func (s *Server) claimReview(ctx context.Context, id string, by record.Hold) (review record.Review, provisional string, err error) {
	if s.Claim != nil {
		return s.Claim(ctx, id, by)
	}
	review, err = s.Store.ClaimReview(ctx, id, by)
	return review, "", err
}

// heldElsewhere refuses a step on a review that somebody else has where clones decide it.
func (s *Server) heldElsewhere(ctx context.Context, id string, by record.Hold, ask bool) error {
	if s.Held == nil {
		return nil
	}
	return s.Held(ctx, id, by, ask)
}

func (s *Server) releaseReview(ctx context.Context, id string, by record.Hold) (record.Review, error) {
	if err := s.heldElsewhere(ctx, id, by, true); err != nil {
		return record.Review{}, err
	}
	return s.unclaimed(by)(s.Store.ReleaseReview(ctx, id, by))
}

func (s *Server) resolveReview(ctx context.Context, id string, by record.Hold, note string) (record.Review, error) {
	if err := s.heldElsewhere(ctx, id, by, true); err != nil {
		return record.Review{}, err
	}
	return s.closed(s.unclaimed(by)(s.Store.ResolveReview(ctx, id, by, note)))
}

func (s *Server) answerFinding(ctx context.Context, id string, given record.Answer, force bool) (record.Review, error) {
	if err := s.heldElsewhere(ctx, id, record.Hold{Actor: given.Actor, Force: force}, false); err != nil {
		return record.Review{}, err
	}
	return s.Store.AnswerFinding(ctx, id, given, force)
}

func (s *Server) reopenReview(ctx context.Context, id, actor string) (record.Review, error) {
	return s.closed(s.Store.ReopenReview(ctx, id, actor))
}

func (s *Server) closed(review record.Review, err error) (record.Review, error) {
	if err == nil && s.Closed != nil {
		s.Closed()
	}
	return review, err
}

func (s *Server) unclaimed(by record.Hold) func(record.Review, error) (record.Review, error) {
	return func(review record.Review, err error) (record.Review, error) {
		if err == nil && s.Unclaim != nil {
			s.Unclaim(review, by)
		}
		return review, err
	}
}

// movedJSON is a review after a step, with the drafts that closing it left.
type movedJSON struct {
	summaryJSON
	Drafts []record.KeptDraft `json:"drafts,omitempty"`
}

func (s *Server) moved(review record.Review, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return movedJSON{summary(review.Summary()), s.keptDrafts(review)}, nil
}

// keptDrafts are those of a review that is closed already: what cannot be read is no
// failure of that.
func (s *Server) keptDrafts(review record.Review) []record.KeptDraft {
	kept, err := s.Store.KeptDrafts(review, s.Actor)
	if err != nil {
		s.log("review %s: %v", review.ID, err)
	}
	return kept
}

// summaryJSON is a review in a list: the names that existing clients know, then ours.
type summaryJSON struct {
	ID           string   `json:"id"`
	Status       string   `json:"status"`
	CreatedAt    *int64   `json:"createdAt"`
	UpdatedAt    *int64   `json:"updatedAt"`
	SubmittedAt  *int64   `json:"submittedAt"`
	ClaimedAt    *int64   `json:"claimedAt"`
	ClaimedBy    *string  `json:"claimedBy"`
	ResolvedAt   *int64   `json:"resolvedAt"`
	ResolvedBy   *string  `json:"resolvedBy"`
	FileCount    int      `json:"fileCount"`
	Files        []string `json:"files"` // at most ten
	Message      string   `json:"message"`
	CommentCount int      `json:"commentCount"`

	ClaimedUntil *int64   `json:"claimedUntil"` // null: until it is released
	Reviewer     string   `json:"reviewer"`
	WaitingFor   []string `json:"waitingFor,omitempty"`
	RequestedBy  string   `json:"requestedBy"`
	Source       string   `json:"source"`
	Kind         string   `json:"kind"` // commit, range, worktree or staged
	Revision     string   `json:"revision"`
	Commit       string   `json:"commit,omitempty"`
	Title        string   `json:"title,omitempty"`
	Outcome      string   `json:"outcome,omitempty"`
	Verdict      string   `json:"verdict,omitempty"`
	Failure      string   `json:"failure,omitempty"` // stop reason, when the reviewer could not be run
}

func summary(r record.ReviewSummary) summaryJSON {
	return summaryJSON{
		ID: r.ID, Status: string(r.Status), CreatedAt: millis(r.CreatedAt), UpdatedAt: millis(r.UpdatedAt),
		SubmittedAt: millis(r.SubmittedAt), ClaimedAt: millis(r.ClaimedAt), ClaimedBy: text(r.ClaimedBy),
		ResolvedAt: millis(r.ResolvedAt), ResolvedBy: text(r.ResolvedBy),
		FileCount: len(r.Files), Files: append([]string{}, r.Files...), Message: r.Message, CommentCount: r.CommentCount,
		ClaimedUntil: millis(r.ClaimedUntil), Reviewer: r.Reviewer, WaitingFor: r.Waiting, RequestedBy: r.RequestedBy, Source: r.Source,
		Kind: string(r.Kind), Revision: r.Spec, Commit: string(r.Commit), Title: r.Title,
		Outcome: string(r.Outcome), Verdict: string(r.Verdict), Failure: r.Failure,
	}
}
