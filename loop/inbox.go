package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-runr/gitstore"
)

// RequestReview records a request and returns at once: nobody is asked yet.
// source is who made it: cli, hook, mcp.
func (s *Store) RequestReview(ctx context.Context, request ReviewRequest, source string) (Review, error) {
	event, err := s.append(ctx, func(v *view) (draft, error) {
		id, err := newID(v.now, v.writer, v.clock, request)
		return draft{
			Type: ReviewRequested, Source: source, Review: id, Payload: request, Status: func(Event) string { return string(ReviewOpen) },
			Title: strings.TrimSpace(request.Subject.Spec + " " + request.Subject.Commit.Short() + " " + request.Subject.Title),
		}, err
	})
	if err != nil {
		return Review{}, fmt.Errorf("request review: %w", err)
	}
	review, bad := FoldReview([]Event{event})
	return review, errors.Join(bad...)
}

// SubmitReview records one reviewer's answer. raw is the answer as it came.
func (s *Store) SubmitReview(ctx context.Context, id string, sub Submission, raw string) (Review, error) {
	attachments := map[string][]byte{}
	if raw != "" {
		attachments["review.md"] = []byte(raw)
	}
	addChecks(attachments, sub.Checks)
	sub.Checks = withoutOutput(sub.Checks)
	return s.reviewEvent(ctx, id, draft{
		Type: ReviewSubmitted, Source: sub.Reviewer, Payload: sub, Attachments: attachments, Title: submissionTitle(sub),
	}, actorPayload{})
}

func submissionTitle(sub Submission) string {
	if sub.Outcome == OutcomeNothing {
		return "nothing to review"
	}
	return fmt.Sprintf("%s by %s, %s", sub.Report.Effective, sub.Reviewer, Count(len(sub.Report.Findings)+len(sub.Comments), "finding"))
}

// PinReview keeps what is under review from git's gc, in this clone.
func (s *Store) PinReview(ctx context.Context, review Review) error {
	return s.Repo.Pin(ctx, "review "+review.ID, review.Request.Subject.Tree)
}

// FailReview records that the reviewer could not be run; the review stays open.
func (s *Store) FailReview(ctx context.Context, id, reviewer string, failure Failure) (Review, error) {
	return s.reviewEvent(ctx, id, draft{
		Type: ReviewFailed, Source: reviewer, Payload: failure, Title: failure.Reason + " " + failure.Detail,
	}, actorPayload{})
}

// reviewEvent records d about a review if its newest state allows it.
func (s *Store) reviewEvent(ctx context.Context, id string, d draft, by actorPayload) (Review, error) {
	var before Review
	event, err := s.append(ctx, func(v *view) (draft, error) {
		var err error
		if before, err = v.review(id); err != nil {
			return draft{}, err
		}
		if refused := before.allow(d.Type, by); refused != nil {
			return draft{}, refused
		}
		d.Review = id
		d.Status = func(e Event) string {
			after := before
			_ = after.apply(e) // what cannot be applied changes nothing
			return string(after.Status)
		}
		return d, nil
	})
	if err != nil {
		return before, err
	}
	return before, before.apply(event)
}

// addChecks attaches the whole output of checks, which the event itself leaves out.
func addChecks(attachments map[string][]byte, results []CheckResult) {
	for _, c := range results {
		if c.Output != "" {
			attachments["checks/"+safeName(c.Name)+".log"] = []byte(c.Output)
		}
	}
}

// outputInEvent is how much of a check's output its event carries, in bytes.
const outputInEvent = 4 << 10

func withoutOutput(results []CheckResult) []CheckResult {
	short := make([]CheckResult, len(results))
	for i, c := range results {
		if len(c.Output) > outputInEvent {
			c.Output = "…\n" + strings.ToValidUTF8(c.Output[len(c.Output)-outputInEvent:], "")
		}
		short[i] = c
	}
	return short
}

// safeName is name as a file name of a tree.
func safeName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return strings.TrimLeft(clean, ".")
}

// Attachment reads what an event left behind, by its role: review.md, checks/test.log.
func (s *Store) Attachment(ctx context.Context, event gitstore.ID, role string) ([]byte, error) {
	return s.Repo.Attachment(ctx, event, role)
}
