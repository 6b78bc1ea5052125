package web

import (
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// movedJSON is a review after a change of its state, with the drafts that remain if it was closed.
type movedJSON struct {
	summaryJSON
	Drafts []store.KeptDraft `json:"drafts,omitempty"`
}

func (s *Server) moved(review record.Review, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return movedJSON{summary(review.Summary()), s.keptDrafts(review)}, nil
}

// keptDrafts returns the drafts that remain of a closed review. It only logs an error, because closing has succeeded.
func (s *Server) keptDrafts(review record.Review) []store.KeptDraft {
	kept, err := s.Store.KeptDrafts(review, s.Actor)
	if err != nil {
		s.log("review %s: %v", review.ID, err)
	}
	return kept
}

// summaryJSON is a review in a list: first the names that existing clients know, then ours.
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

	ClaimedUntil *int64   `json:"claimedUntil"` // null: until released
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
	Failure      string   `json:"failure,omitempty"` // stop reason, if the reviewer could not be run
}

func summary(r record.ReviewSummary) summaryJSON {
	return summaryJSON{
		ID: r.ID, Status: string(r.Status), CreatedAt: millis(r.CreatedAt), UpdatedAt: millis(r.UpdatedAt),
		SubmittedAt: millis(r.SubmittedAt), ClaimedAt: millis(r.ClaimedAt), ClaimedBy: text(r.ClaimedBy),
		ResolvedAt: millis(r.ResolvedAt), ResolvedBy: text(r.ResolvedBy),
		FileCount: len(r.Files), Files: append([]string{}, r.Files...), Message: r.Message, CommentCount: r.CommentCount,
		ClaimedUntil: millis(r.ClaimedUntil), Reviewer: r.Reviewer, WaitingFor: r.Waiting, RequestedBy: r.RequestedBy,
		Source: r.Source,
		Kind:   string(r.Kind), Revision: r.Spec, Commit: string(r.Commit), Title: r.Title,
		Outcome: string(r.Outcome), Verdict: string(r.Verdict), Failure: r.Failure,
	}
}
