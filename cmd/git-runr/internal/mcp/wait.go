package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-runr/cmd/git-runr/internal/steps"
	"git-runr/loop/record"
	"git-runr/loop/reply"
)

// How long review_wait waits: less than what clients give a call, unless told.
const (
	waitDefault = 50 * time.Second
	waitMost    = 10 * time.Minute
	waitTold    = 2 * time.Second // between two notices of progress
)

// waited is the document of review_wait.
type waited struct {
	ID         string              `json:"review_id"`
	Status     record.ReviewStatus `json:"status"`
	Outcome    record.Outcome      `json:"outcome,omitempty"`
	Verdict    reply.Verdict       `json:"verdict,omitempty"`
	Done       bool                `json:"done"` // no agent is waited for any more
	WaitingFor []string            `json:"waiting_for"`
	Open       int                 `json:"open_findings"` // without an answer
}

// agents are those of whom a review waits; people are not waited for here.
func agents(r record.Review) []string {
	if !r.ClosedAt.IsZero() {
		return nil
	}
	return slices.DeleteFunc(r.Pending(), func(name string) bool { return name == record.Human })
}

// wait waits until the agents have reviewed, for a time.
func (s *Server) wait(ctx context.Context, c call, in waitArgs) (outcome, error) {
	most := cmp.Or(time.Duration(in.Seconds)*time.Second, waitDefault)
	review, err := c.Store.Review(ctx, strings.TrimSpace(in.ID))
	if err != nil {
		return outcome{}, err
	}
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	began, told := time.Now(), -waitTold
	read, err := steps.Await(limited, c.Store, review.ID, func(r record.Review) bool {
		pending := agents(r)
		if past := time.Since(began); past-told >= waitTold && len(pending) > 0 {
			told = past
			c.tell("waiting for "+line(strings.Join(pending, ", "), 500), past, most)
		}
		return len(pending) == 0
	})
	if err == nil {
		review = read
	} else if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return outcome{}, err
	}
	doc := waited{
		ID: review.ID, Status: review.Status, Outcome: review.Outcome(), Verdict: review.Verdict(), Done: len(agents(review)) == 0,
		WaitingFor: lines(review.Waiting()), Open: len(review.Unanswered()),
	}
	return outcome{text: doc.text(most), doc: doc}, nil
}

func (d waited) text(most time.Duration) string {
	waiting := strings.Join(d.WaitingFor, ", ")
	switch {
	case !d.Done:
		return fmt.Sprintf("Review %s is not done after %v: it waits for %s. Go on with something else, or wait again with review_wait.", d.ID, most, waiting)
	case d.Status == record.ReviewOpen:
		return fmt.Sprintf("Review %s waits for %s, for whom this does not wait: go on, and look with review_get another time.", d.ID, waiting)
	}
	return fmt.Sprintf("Review %s is %s: %s. Read it with review_get.", d.ID, d.Status, cmp.Or(string(d.Verdict), string(d.Outcome), "no verdict"))
}
