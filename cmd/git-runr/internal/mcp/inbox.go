package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-runr/loop"
	"git-runr/loop/prose"
	"git-runr/loop/record"
)

// inboxReply is what the actions of review_inbox give; its document may be anything.
type inboxReply = outcome[any]

func (s *Server) inbox(ctx context.Context, c call, in inboxArgs) (inboxReply, error) {
	if in.Actor != "" {
		c.actor = in.Actor
	}
	if in.Action == "list" {
		return c.list(ctx, in)
	}
	if strings.TrimSpace(in.ID) == "" {
		return inboxReply{}, refusef("Error: id is required for action %s.", in.Action)
	}
	in.ID = strings.TrimSpace(in.ID)
	switch in.Action {
	case "get":
		return c.get(ctx, in.ID)
	case "claim":
		return s.claim(ctx, c, in)
	case "release":
		return s.release(ctx, c, in)
	case "resolve":
		return s.resolve(ctx, c, in)
	}
	return s.answer(ctx, c, in)
}

// listed is the document of a list.
type listed struct {
	Reviews []record.ReviewSummary `json:"reviews"`
	Total   int                    `json:"total"` // that fit the filter, shown or not
}

func (c call) list(ctx context.Context, in inboxArgs) (inboxReply, error) {
	filter := record.Filter{Limit: cmp.Or(in.Limit, limitDefault), Review: c.wanted(in)}
	var err error
	if filter.Status, err = record.StatusFilter(in.Status); err != nil {
		return inboxReply{}, err
	}
	if filter.ClosedSince, err = loop.ClosedSince(c.Store); err != nil {
		return inboxReply{}, err
	}
	reviews, total, err := c.Store.Reviews(ctx, filter)
	if err != nil {
		return inboxReply{}, err
	}
	return inboxReply{text: listText(reviews, total), doc: document(listed{reviews, total})}, nil
}

// wanted is the filter by names; nil without one.
func (c call) wanted(in inboxArgs) func(record.ReviewSummary) bool {
	if in.ClaimedBy == "" && in.Reviewer == "" {
		return nil
	}
	claimer := in.ClaimedBy
	if claimer == "me" {
		claimer = c.actor
	}
	return func(r record.ReviewSummary) bool {
		asked := in.Reviewer == "" || r.Reviewer == in.Reviewer || slices.Contains(r.Others, in.Reviewer)
		return asked && (claimer == "" || r.ClaimedBy == claimer)
	}
}

// listText is the list in the form that agents know.
func listText(reviews []record.ReviewSummary, total int) string {
	if len(reviews) == 0 {
		return "No submitted reviews found."
	}
	var b strings.Builder
	b.WriteString("## Review Inbox\n")
	for _, r := range reviews {
		b.WriteString(listLine(r) + "\n")
	}
	if total > len(reviews) {
		fmt.Fprintf(&b, "(%d more: pass a higher limit or a status)\n", total-len(reviews))
	}
	b.WriteString("\nUse review_inbox get with an id to retrieve full comments.")
	return b.String()
}

func listLine(r record.ReviewSummary) string {
	about := cmp.Or(strings.Join(r.Files, ", "), strings.TrimSpace(r.Spec+" "+r.Commit.Short()))
	text := fmt.Sprintf("- [%s] %s · %d comment(s) · %s · %s", r.ID, r.Status, r.CommentCount, line(about, 500), isoTime(cmp.Or(r.SubmittedAt, r.CreatedAt)))
	if r.ClaimedBy != "" {
		text += " · claimed by " + line(r.ClaimedBy, 200)
	}
	return text
}

func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// changed is the document of an action that changes a review.
type changed struct {
	ID           string              `json:"review_id"`
	Status       record.ReviewStatus `json:"status"`
	ClaimedBy    string              `json:"claimed_by,omitempty"`
	ClaimedUntil time.Time           `json:"claimed_until,omitzero"`
	ResolvedBy   string              `json:"resolved_by,omitempty"`
	Unanswered   []string            `json:"unanswered"` // ids of findings and comments
}

func changedDocument(r record.Review) any {
	doc := changed{ID: r.ID, Status: r.Status, ResolvedBy: r.ResolvedBy, Unanswered: r.Unanswered()}
	if r.Claim != nil {
		doc.ClaimedBy, doc.ClaimedUntil = r.Claim.By, r.Claim.Until
	}
	return document(doc)
}

// claim takes a review for as long as this process lives and a lease longer.
func (s *Server) claim(ctx context.Context, c call, in inboxArgs) (inboxReply, error) {
	review, provisional, err := c.Claim(ctx, in.ID, record.Hold{Actor: c.actor, Lease: s.Lease, Force: in.Force})
	if err != nil {
		return inboxReply{}, err
	}
	s.claims.add(review.ID, record.Hold{Actor: c.actor, Lease: s.Lease, Claim: review.Claim.ID})
	text := fmt.Sprintf("Claimed review %s (%s).\nclaimed by: %s", review.ID, review.Status, c.actor)
	if until := review.Claim.Until; !until.IsZero() {
		text += fmt.Sprintf(", until %s and for as long as this conversation lives", isoTime(until))
	}
	if provisional != "" {
		text += "\nwarning: the claim counts in this clone only: " + line(provisional, maxString)
	}
	return inboxReply{text: text, doc: changedDocument(review)}, nil
}

// letGo does a step that ends a claim, under the claim that this process has.
func (s *Server) letGo(ctx context.Context, c call, in inboxArgs, step func(ctx context.Context, id string, by record.Hold) (record.Review, error)) (record.Review, error) {
	review, err := c.Store.Review(ctx, in.ID)
	if err != nil {
		return review, err
	}
	review, err = step(ctx, review.ID, record.Hold{Actor: c.actor, Force: in.Force, Claim: s.claims.under(review.ID, c.actor)})
	if err == nil {
		s.claims.drop(review.ID)
	}
	return review, err
}

func (s *Server) release(ctx context.Context, c call, in inboxArgs) (inboxReply, error) {
	review, err := s.letGo(ctx, c, in, c.Release)
	if err != nil {
		return inboxReply{}, err
	}
	return inboxReply{text: fmt.Sprintf("Released review %s (%s).", review.ID, review.Status), doc: changedDocument(review)}, nil
}

func (s *Server) resolve(ctx context.Context, c call, in inboxArgs) (inboxReply, error) {
	review, err := s.letGo(ctx, c, in, func(ctx context.Context, id string, by record.Hold) (record.Review, error) {
		return c.Resolve(ctx, id, by, in.Note)
	})
	if err != nil {
		return inboxReply{}, err
	}
	text := fmt.Sprintf("Resolved review %s.", review.ID)
	if open := review.Unanswered(); len(open) > 0 {
		text += fmt.Sprintf("\nNot answered one by one: %s.", strings.Join(open, ", "))
	}
	return inboxReply{text: text, doc: changedDocument(review)}, nil
}

// answer records what became of one finding.
func (s *Server) answer(ctx context.Context, c call, in inboxArgs) (inboxReply, error) {
	given := record.Answer{Finding: in.Finding, Kind: record.AnswerKind(in.Answer), Reason: in.Reason, Actor: c.actor}
	switch {
	case in.Finding == "":
		return inboxReply{}, refusal("Error: finding is required for action answer: the ids are in review_inbox get.")
	case in.Answer == "":
		return inboxReply{}, refusal("Error: answer is required for action answer: fixed, refuted or deferred.")
	case given.Kind == record.AnswerFixed && in.Commit == "":
		return inboxReply{}, refusal("Error: commit is required for answer fixed: commit the fix and name it, such as HEAD.")
	case given.Kind == record.AnswerRefuted && strings.TrimSpace(in.Reason) == "":
		return inboxReply{}, refusal("Error: reason is required for answer refuted.")
	}
	what := in.Answer
	if given.Kind == record.AnswerFixed {
		commit, err := c.Store.Repo.Resolve(ctx, in.Commit)
		if err != nil {
			return inboxReply{}, refusef("Error: commit %q is not here: %v.", in.Commit, err)
		}
		given.Commit, what = commit, "fixed by "+commit.Short()
	}
	review, err := c.Answer(ctx, in.ID, given, in.Force)
	if err != nil {
		return inboxReply{}, err
	}
	text := fmt.Sprintf("Answered %s of review %s: %s. %s left.", in.Finding, review.ID, what, prose.Count(len(review.Unanswered()), "finding"))
	if review.Status == record.ReviewResolved {
		s.claims.drop(review.ID)
		text += fmt.Sprintf("\nResolved review %s: %s.", review.ID, review.Note)
	}
	return inboxReply{text: text, doc: changedDocument(review)}, nil
}
