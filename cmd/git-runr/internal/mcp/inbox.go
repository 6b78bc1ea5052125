package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// list returns a page of the list of reviews.
func (s *Server) list(ctx context.Context, c call, in listArgs) (outcome, error) {
	filter := store.Filter{Review: c.wanted(in), Carried: true}
	var err error
	if filter.Status, err = record.StatusFilter(in.Status); err != nil {
		return outcome{}, err
	}
	if filter.ClosedSince, err = loop.ClosedSince(c.Store); err != nil {
		return outcome{}, err
	}
	in.Limit = cmp.Or(in.Limit, limitDefault)
	reviews, before, total, err := c.after(ctx, filter, in)
	if err != nil {
		return outcome{}, err
	}
	room, shown := maxAnswer-aroundPage, 0
	rows, plain := []string{}, []any{}
	for _, r := range reviews[:min(len(reviews), in.Limit)] {
		row, doc := listLine(r), document(r, maxHalf/4)
		if room -= tokens(row) + jsonSize(doc) + 2; room < 0 {
			break
		}
		rows, plain, shown = append(rows, row), append(plain, doc), shown+1
	}
	doc := map[string]any{"reviews": plain, "total": total, "left": total - before - shown}
	more := ""
	if left := total - before - shown; left > 0 && shown > 0 {
		in.Cursor = fmt.Sprintf("%d-%s", before+shown, reviews[shown-1].ID)
		doc["next_cursor"] = in.Cursor
		more = fmt.Sprintf("(%d more: review_list %s)\n", left, jsonOf(in))
	}
	text := "No submitted reviews found."
	if total == 0 {
		if why := c.NotHere(ctx); why != "" {
			text += "\n" + line(why, maxString) + " The user can type: git runr sync"
		}
	}
	if len(rows) > 0 {
		text = "## Review Inbox\n" + strings.Join(rows, "\n") + "\n" + more +
			"\nUse review_get with an id to retrieve full comments."
	}
	return outcome{text: text, doc: doc}, nil // agents know this form
}

// after returns the matching reviews from the cursor on, at least one more than the limit if there are as many, and
// how many precede them and how many there are in total.
func (c call) after(ctx context.Context, filter store.Filter,
	in listArgs) (reviews []record.ReviewSummary, before, total int, err error) {
	count, last, _ := strings.Cut(in.Cursor, "-")
	if in.Cursor == "" {
		filter.Limit = in.Limit
	} else if n, err := strconv.Atoi(count); err != nil || n < 1 || len(last) < len(record.IDTime) {
		return nil, 0, 0, refusef("Error: %s is not a cursor of this list: leave it out to start again.",
			line(in.Cursor, 100))
	}
	reviews, total, err = c.Store.Reviews(ctx, filter)
	if err != nil || in.Cursor == "" {
		return reviews, 0, total, err
	}
	before = slices.IndexFunc(reviews, func(r record.ReviewSummary) bool { return r.ID == last }) + 1
	if before == 0 { // the list has changed
		begun := func(id string) string { return id[:min(len(id), len(record.IDTime))] }
		before = slices.IndexFunc(reviews, func(r record.ReviewSummary) bool { return begun(r.ID) <= begun(last) })
		if before < 0 {
			before = len(reviews)
		}
	}
	return reviews[before:], before, total, nil
}

// wanted is the filter by names, and by whose turn it is.
func (c call) wanted(in listArgs) func(record.ReviewSummary) bool {
	claimer := in.ClaimedBy
	if claimer == "me" {
		claimer = c.actor
	}
	return func(r record.ReviewSummary) bool {
		asked := in.Reviewer == "" || r.Reviewer == in.Reviewer || slices.Contains(r.Others, in.Reviewer)
		// a person looks at it again
		if addressed := in.Status == "" || in.Status == "inbox"; addressed && len(r.BackTo) > 0 {
			return false
		}
		return asked && (claimer == "" || r.ClaimedBy == claimer)
	}
}

func listLine(r record.ReviewSummary) string {
	about := cmp.Or(strings.Join(r.Files, ", "), strings.TrimSpace(r.Spec+" "+r.Commit.Short()))
	text := fmt.Sprintf("- [%s] %s · %d comment(s) · %s · %s", r.ID, r.Status, r.CommentCount, line(about, 500),
		isoTime(cmp.Or(r.SubmittedAt, r.CreatedAt)))
	if r.Audience != "" {
		text += " · " + line(render.Audience(r.Audience), 200)
	}
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
	Unanswered   []string            `json:"unanswered"` // ids of unanswered findings and comments
}

// maxUnanswered is how many ids of findings one document lists.
const maxUnanswered = 500

func changedDocument(r record.Review) changed {
	doc := changed{ID: r.ID, Status: r.Status, ResolvedBy: line(r.ResolvedBy, 200), Unanswered: r.Unanswered()}
	doc.Unanswered = doc.Unanswered[:min(len(doc.Unanswered), maxUnanswered)]
	if r.Claim != nil {
		doc.ClaimedBy, doc.ClaimedUntil = line(r.Claim.By, 200), r.Claim.Until
	}
	return doc
}

// claim claims a review until this process ends, and for one lease more.
func (s *Server) claim(ctx context.Context, c call, in claimArgs) (outcome, error) {
	review, provisional, err := c.Claim(ctx, in.id(), record.Hold{Actor: c.actor, Lease: s.Lease, Force: in.Force})
	if err != nil {
		return outcome{}, err
	}
	s.claims.Store(review.ID, record.Hold{Actor: c.actor, Lease: s.Lease, Claim: review.Claim.ID})
	text := fmt.Sprintf("Claimed review %s (%s).\nclaimed by: %s", review.ID, review.Status, c.actor)
	if until := review.Claim.Until; !until.IsZero() {
		text += fmt.Sprintf(", until %s and for as long as this conversation lives", isoTime(until))
	}
	if provisional != "" {
		text += "\nwarning: the claim counts in this clone only: " + line(provisional, maxString)
	}
	return outcome{text: text, doc: changedDocument(review)}, nil
}

// letGo performs a step that ends a claim, under the claim that this process holds.
func (s *Server) letGo(ctx context.Context, c call, in which, force bool,
	step func(ctx context.Context, id string, by record.Hold) (record.Review, error)) (record.Review, error) {
	review, err := c.Store.Review(ctx, in.id())
	if err != nil {
		return review, err
	}
	review, err = step(ctx, review.ID, record.Hold{Actor: c.actor, Force: force,
		Claim: s.claims.under(review.ID, c.actor)})
	if err != nil {
		return review, err
	}
	s.claims.Delete(review.ID)
	return review, nil
}

func (s *Server) release(ctx context.Context, c call, in claimArgs) (outcome, error) {
	review, err := s.letGo(ctx, c, in.which, in.Force, c.Release)
	if err != nil {
		return outcome{}, err
	}
	return outcome{text: fmt.Sprintf("Released review %s (%s).", review.ID, review.Status), doc: changedDocument(review)},
		nil
}

// resolve closes a review, unless it waits for a person: only people can answer it.
func (s *Server) resolve(ctx context.Context, c call, asked record.Review, in resolveArgs) (outcome, error) {
	if asked.Status != record.ReviewOpen && slices.Contains(asked.Waiting(), record.Human) && asked.ClosedAt.IsZero() {
		return outcome{}, refusef("Error: review %s waits for a person who has not answered or approved (%s): the user can "+
			"type: git runr inbox resolve %s.", asked.ID, line(strings.Join(asked.Summary().WaitsFor(), ", "), 500), asked.ID)
	}
	review, err := s.letGo(ctx, c, in.which, in.Force,
		func(ctx context.Context, id string, by record.Hold) (record.Review, error) {
			return c.Resolve(ctx, id, by, in.Note)
		})
	if err != nil {
		return outcome{}, err
	}
	text := fmt.Sprintf("Resolved review %s.", review.ID)
	if asked.Status == record.ReviewResolved {
		text = fmt.Sprintf("Review %s was resolved by %s before. Nothing was recorded.", review.ID,
			line(review.ResolvedBy, 200))
	}
	if open := review.Unanswered(); len(open) > 0 {
		text += fmt.Sprintf("\nNot answered one by one: %s.", clip(strings.Join(open, ", "), maxString))
	}
	return outcome{text: text, doc: changedDocument(review)}, nil
}

// answer records answers to findings: all of them, or none if one is invalid.
func (s *Server) answer(ctx context.Context, c call, review record.Review, in answerArgs) (outcome, error) {
	answers := []record.Answer{}
	for i, g := range in.Answers {
		answer, err := c.checkedAnswer(ctx, review, g)
		if err != nil {
			return outcome{}, refusef("Error: answers[%d]: %v. No answer was recorded.", i,
				strings.TrimSuffix(explain(err).Error(), "."))
		}
		answers = append(answers, answer)
	}
	var text strings.Builder
	for i, answer := range answers {
		thread, err := c.Answer(ctx, review.ID, answer, in.Force)
		if err != nil {
			return outcome{}, refusef("%sanswers[%d]: %v", text.String(), i, explain(err))
		}
		recorded, _ := thread.AnswerTo(answer.Finding)
		fmt.Fprintf(&text, "Answered %s of review %s: %s.\n", answer.Finding, review.ID, recorded.What())
	}
	review, err := c.Store.Review(ctx, review.ID)
	if err != nil {
		return outcome{}, err
	}
	fmt.Fprintf(&text, "%s left.", prose.Count(len(review.Unanswered()), "finding"))
	if review.Status == record.ReviewResolved {
		s.claims.Delete(review.ID)
		fmt.Fprintf(&text, "\nResolved review %s: %s.", review.ID, review.Note)
	}
	return outcome{text: text.String(), doc: changedDocument(review)}, nil
}

// reply says something in a thread.
func (s *Server) reply(ctx context.Context, c call, in replyArgs) (outcome, error) {
	review, err := c.Store.Reply(ctx, in.id(), record.Reply{Finding: in.Finding, Text: in.Text, Actor: c.actor})
	if err != nil {
		return outcome{}, err
	}
	return outcome{text: fmt.Sprintf("Replied to %s of review %s.", cmp.Or(in.Finding, "the whole"), review.ID),
		doc: changedDocument(review)}, nil
}

// checkedAnswer returns an answer as it is recorded, or says what it lacks.
func (c call) checkedAnswer(ctx context.Context, review record.Review, g given) (record.Answer, error) {
	answer := record.Answer{Finding: g.Finding, Kind: record.AnswerKind(g.Answer), Reason: g.Reason, Actor: c.actor}
	_, id, err := c.Store.ThreadOf(ctx, review, g.Finding)
	if err != nil {
		return answer, err
	}
	answer.Finding = id
	switch answer.Kind {
	case record.AnswerFixed:
		if g.Commit == "" {
			return answer, refusal("commit is required for answer fixed: commit the fix and name it, such as HEAD")
		}
		commit, err := c.Store.Repo.Resolve(ctx, g.Commit)
		if err != nil {
			return answer, refusef("commit %q is not here: %v", g.Commit, err)
		}
		answer.Commit = commit
	case record.AnswerRefuted:
		if strings.TrimSpace(g.Reason) == "" {
			return answer, refusal("reason is required for answer refuted")
		}
	}
	return answer, nil
}

// commented is the document of review_comment.
type commented struct {
	ID       string `json:"review_id"`
	Reviewer string `json:"reviewer"` // whose draft it is
	Comment  string `json:"comment_id"`
	Place    string `json:"place"`
	Draft    int    `json:"draft"` // comments in it
}

func (s *Server) comment(ctx context.Context, c call, review record.Review, in commentArgs) (outcome, error) {
	comment, err := c.anchored(ctx, review, in.remark)
	if err != nil {
		return outcome{}, err
	}
	draft, err := c.Store.EditDraft(ctx, review.ID, c.actor, func(d *store.Draft) error {
		comment = d.Add(comment)
		return nil
	})
	if errors.Is(err, store.ErrDraftFull) {
		return outcome{}, refusef("Error: %v: review_submit.", err)
	}
	if err != nil {
		return outcome{}, err
	}
	doc := commented{review.ID, line(draft.Actor, 200), comment.ID, line(cmp.Or(comment.Place(), "the whole"), 500),
		len(draft.Comments)}
	return outcome{doc: doc,
		text: fmt.Sprintf("Added %s to your draft of review %s, on %s (%s). Nobody sees it before review_submit.",
			doc.Comment, doc.ID, doc.Place, prose.Count(doc.Draft, "comment"))}, nil
}

// anchored returns a remark as a comment on the lines that it names.
func (c call) anchored(ctx context.Context, review record.Review, r remark) (record.Comment, error) {
	comment := record.Comment{
		File: r.File, StartLine: r.Line, EndLine: r.EndLine, Side: record.Side(r.Side), Severity: reply.Severity(r.Severity),
		Comment: strings.TrimSpace(r.Text),
	}
	if comment.Comment == "" {
		return comment, refusal("Error: text is required: the comment is empty.")
	}
	if r.File == "" && r.Line > 0 {
		return comment, refusal("Error: file is required with line.")
	}
	placed, err := locate.AnchorComment(ctx, c.Store, review.Request.Subject, comment)
	if !record.Unknown(err) {
		return placed, err
	}
	paths, pathsErr := c.changedPaths(ctx, review.Request.Subject)
	if pathsErr != nil {
		return placed, pathsErr
	}
	if path, known := named(paths, r.File); known && path != r.File { // named as it was shown
		comment.File = path
		return locate.AnchorComment(ctx, c.Store, review.Request.Subject, comment)
	}
	return placed, err
}

// changedPaths returns the paths of files in the change under review, on both sides.
func (c call) changedPaths(ctx context.Context, subject record.Subject) ([]string, error) {
	from, err := c.Store.ComparedWith(ctx, subject)
	if err != nil {
		return nil, err
	}
	changes, err := c.Store.Repo.Changed(ctx, from, subject.Tree)
	return each.Of(changes, func(change gitstore.Change) string { return change.Path }), err
}

// submit submits a review as an agent: the draft's comments and those of the call. The review still waits for a person
// who was asked. An agent cannot approve.
func (s *Server) submit(ctx context.Context, c call, in submitArgs) (outcome, error) {
	person := record.Person{Actor: c.actor, Agent: true, Decision: record.Decision(in.Verdict), Message: in.Message}
	if person.Decision == record.Approve {
		return outcome{},
			refusal("Error: only people approve: submit request_changes or comment; the user can type: git runr inbox submit " +
				"ID --approve.")
	}
	review, err := c.Store.Review(ctx, in.id())
	if err != nil {
		return outcome{}, err
	}
	draft, err := c.Store.Draft(review, person.Actor)
	if err != nil {
		return outcome{}, err
	}
	person.Comments, person.Message = draft.Comments, cmp.Or(in.Message, draft.Message)
	for i, r := range in.Comments {
		comment, err := c.anchored(ctx, review, r)
		if err != nil {
			return outcome{}, refusef("comments[%d]: %v", i, explain(err))
		}
		person.Comments = append(person.Comments, comment)
	}
	if review, err = c.Submit(ctx, review.ID, person); err != nil {
		return outcome{}, err
	}
	sub, _ := review.Newest(person.Actor)
	text := strings.TrimSpace(fmt.Sprintf("Submitted to review %s: %s, %s. It is %s. %s", review.ID, sub.Decision.Words(),
		prose.Count(len(sub.Comments), "comment"), review.Status, review.Uncounted(sub)))
	if why := review.Overruled(person); why != "" {
		text = fmt.Sprintf("Submitted to review %s: %s. %s", review.ID, person.Decision.Words(), why)
	}
	return outcome{text: text, doc: changedDocument(review)}, nil
}
