package loop

import (
	"fmt"
	"slices"
	"time"

	"git-runr/gitstore"
)

// ReviewStatus is where a review stands; see the state machine in the package comment.
type ReviewStatus string

const (
	ReviewOpen    ReviewStatus = "open"
	ReviewSubmit  ReviewStatus = "submitted"
	ReviewClaim   ReviewStatus = "claimed"
	ReviewResolve ReviewStatus = "resolved"
	ReviewCancel  ReviewStatus = "cancelled"
)

// SubjectKind says what a review is about.
type SubjectKind string

const (
	SubjectCommit   SubjectKind = "commit"
	SubjectRange    SubjectKind = "range"
	SubjectWorktree SubjectKind = "worktree" // tracked and untracked files as they were
	SubjectStaged   SubjectKind = "staged"   // the index as it was
)

// Subject is the change under review: the difference of Base and Tree.
type Subject struct {
	Kind   SubjectKind `json:"kind"`
	Spec   string      `json:"spec"`             // as it was typed: HEAD, main..topic, --staged
	Title  string      `json:"title,omitempty"`  // subject line of the commit
	Base   gitstore.ID `json:"base"`             // what it is compared with: a commit, or the empty tree
	Commit gitstore.ID `json:"commit,omitempty"` // what notes speak of; "" where there is no commit yet
	Tree   gitstore.ID `json:"tree"`             // the tree, or the snapshot commit, under review
	Branch string      `json:"branch,omitempty"`
	Paths  []string    `json:"paths,omitempty"` // only these
}

// ReviewRequest asks for comments. Reviewer is builtin, human or an agent's name.
type ReviewRequest struct {
	Subject  Subject `json:"subject"`
	Message  string  `json:"message,omitempty"`
	Reviewer string  `json:"reviewer"`
}

// Comment is one remark of a person, at a place or (File "") about the whole.
type Comment struct {
	File         string `json:"file,omitempty"`
	StartLine    int    `json:"start_line,omitempty"`
	EndLine      int    `json:"end_line,omitempty"`
	SelectedText string `json:"selected_text,omitempty"`
	Comment      string `json:"comment"`
}

// Submission is one reviewer's answer to a request.
type Submission struct {
	Reviewer  string        `json:"reviewer"`
	Report    Report        `json:"report"`
	Outcome   Outcome       `json:"outcome"`
	Comments  []Comment     `json:"comments,omitempty"`
	Commit    gitstore.ID   `json:"commit,omitempty"`
	Tree      gitstore.ID   `json:"tree,omitempty"` // the tree that was seen
	Census    Census        `json:"census"`
	Checks    []CheckResult `json:"checks,omitempty"`
	At        time.Time     `json:"at,omitzero"` // filled in by the fold
	Duration  Duration      `json:"duration_ms,omitzero"`
	SkippedBy []string      `json:"not_checked,omitempty"` // checks that were not run, and why
}

// Outcome is what a review came to, for exit statuses and lists.
type Outcome string

const (
	OutcomePassed  Outcome = "passed"
	OutcomeFailed  Outcome = "failed"
	OutcomeNothing Outcome = "nothing_to_review"
)

// Claim says who has taken a review to address it.
type Claim struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Lost is an event that the fold skipped because the state did not allow it: it
// arrived from another clone after one that excluded it.
type Lost struct {
	Event gitstore.ID `json:"event"`
	Type  string      `json:"type"`
	By    string      `json:"by"`
	Why   string      `json:"why"`
}

// Review is a request for comments and what came of it, folded from its events.
type Review struct {
	ID          string        `json:"review_id"`
	Status      ReviewStatus  `json:"status"`
	Request     ReviewRequest `json:"request"`
	RequestedBy string        `json:"requested_by"`
	Source      string        `json:"source"`
	Writer      string        `json:"writer"`
	CreatedAt   time.Time     `json:"created_at"`
	UpdatedAt   time.Time     `json:"updated_at"`
	SubmittedAt time.Time     `json:"submitted_at,omitzero"`
	ResolvedAt  time.Time     `json:"resolved_at,omitzero"`
	ResolvedBy  string        `json:"resolved_by,omitempty"`
	Submissions []Submission  `json:"submissions"`
	Claim       *Claim        `json:"claim,omitempty"`
	Failure     *Failure      `json:"failure,omitempty"` // why the reviewer could not be run, last time
	Lost        []Lost        `json:"lost,omitempty"`
}

// Failure is why an agent or a reviewer gave no answer: a stop reason and its detail.
type Failure struct {
	Reason string    `json:"reason"`
	Detail string    `json:"detail,omitempty"`
	At     time.Time `json:"at,omitzero"`
	// LastActivity is when an agent last wrote something, where that is known.
	LastActivity time.Time `json:"last_activity_at,omitzero"`
}

// Outcome is that of the worst submission; "" while there is none.
func (r Review) Outcome() Outcome {
	worst := Outcome("")
	for _, s := range r.Submissions {
		switch {
		case s.Outcome == OutcomeFailed || worst == OutcomeFailed:
			worst = OutcomeFailed
		case s.Outcome == OutcomePassed || worst == "":
			worst = s.Outcome
		}
	}
	return worst
}

// Findings are those of all submissions, in order.
func (r Review) Findings() []Finding {
	var all []Finding
	for _, s := range r.Submissions {
		all = append(all, s.Report.Findings...)
	}
	return all
}

// StateError is a step that the state of a run or review does not allow.
type StateError struct {
	What   string // "review ID" or "run ID"
	Status string
	Cannot string // what was asked: "claimed", "submitted"
	Holder string // who has it, when a claim is in the way
}

func (e *StateError) Error() string {
	if e.Holder != "" {
		return fmt.Sprintf("%s is claimed by %s", e.What, e.Holder)
	}
	return fmt.Sprintf("%s is %s and cannot be %s", e.What, e.Status, e.Cannot)
}

// reviewMoves lists the statuses from which an event may happen.
var reviewMoves = map[string]struct {
	from   []ReviewStatus
	cannot string
}{
	ReviewSubmitted: {[]ReviewStatus{ReviewOpen, ReviewSubmit, ReviewClaim}, "submitted"},
	ReviewFailed:    {[]ReviewStatus{ReviewOpen}, "reviewed"},
	ReviewCancelled: {[]ReviewStatus{ReviewOpen, ReviewCancel}, "cancelled"},
	ReviewClaimed:   {[]ReviewStatus{ReviewSubmit, ReviewClaim}, "claimed"},
	ReviewReleased:  {[]ReviewStatus{ReviewClaim}, "released"},
	ReviewResolved:  {[]ReviewStatus{ReviewSubmit, ReviewClaim, ReviewResolve}, "resolved"},
}

// actorPayload is the payload of claims, releases, resolutions and cancellations.
type actorPayload struct {
	Actor string `json:"actor"`
	Force bool   `json:"force,omitempty"`
	Note  string `json:"note,omitempty"`
}

// allow reports, as a *StateError, why an event of type may not happen now.
func (r Review) allow(eventType string, by actorPayload) error {
	move := reviewMoves[eventType]
	refused := &StateError{What: "review " + r.ID, Status: string(r.Status), Cannot: move.cannot}
	if !slices.Contains(move.from, r.Status) {
		return refused
	}
	held := r.Claim != nil && r.Claim.By != by.Actor && !by.Force && r.Status != ReviewResolve
	if held && (eventType == ReviewClaimed || eventType == ReviewReleased || eventType == ReviewResolved) {
		refused.Holder = r.Claim.By
		return refused
	}
	return nil
}

// apply is one step of the fold. An event that is not allowed is kept in Lost.
func (r *Review) apply(e Event) error {
	if e.Type == ReviewRequested {
		return r.open(e)
	}
	if _, known := reviewMoves[e.Type]; !known || r.ID == "" {
		return nil // of a newer program, of a run, or before its request arrived
	}
	var by actorPayload
	var err error
	if e.Type != ReviewSubmitted && e.Type != ReviewFailed {
		if by, err = payload[actorPayload](e); err != nil {
			return err
		}
	}
	if refused := r.allow(e.Type, by); refused != nil {
		r.Lost = append(r.Lost, Lost{Event: e.ID, Type: e.Type, By: e.Actor, Why: refused.Error()})
		return nil
	}
	if err := r.move(e, by); err != nil {
		return err
	}
	r.UpdatedAt = e.Timestamp
	return nil
}

func (r *Review) open(e Event) error {
	request, err := payload[ReviewRequest](e)
	if err != nil || r.ID != "" {
		return err
	}
	*r = Review{
		ID: e.Review, Status: ReviewOpen, Request: request, RequestedBy: e.Actor, Source: e.Source,
		Writer: e.Writer, CreatedAt: e.Timestamp, UpdatedAt: e.Timestamp, Submissions: []Submission{},
	}
	return nil
}

func (r *Review) move(e Event, by actorPayload) error {
	switch e.Type {
	case ReviewSubmitted:
		return r.submit(e)
	case ReviewFailed:
		failure, err := payload[Failure](e)
		if err != nil {
			return err
		}
		failure.At = e.Timestamp
		r.Failure = &failure
	case ReviewCancelled:
		r.Status = ReviewCancel
	case ReviewClaimed:
		r.Status, r.Claim = ReviewClaim, &Claim{By: by.Actor, At: e.Timestamp}
	case ReviewReleased:
		r.Status, r.Claim = ReviewSubmit, nil
	case ReviewResolved:
		if r.Status != ReviewResolve { // resolving twice is one resolution: the first one counts
			r.Status, r.ResolvedAt, r.ResolvedBy = ReviewResolve, e.Timestamp, by.Actor
		}
	}
	return nil
}

func (r *Review) submit(e Event) error {
	submission, err := payload[Submission](e)
	if err != nil {
		return err
	}
	submission.At = e.Timestamp
	r.Submissions = append(r.Submissions, submission)
	r.Failure = nil
	if r.Status == ReviewOpen {
		r.Status, r.SubmittedAt = ReviewSubmit, e.Timestamp
	}
	return nil
}

// FoldReview is the state of one review after events, which are in order. Events
// that cannot be read are left out and reported.
func FoldReview(events []Event) (Review, []error) {
	var review Review
	var bad []error
	for _, e := range events {
		if err := review.apply(e); err != nil {
			bad = append(bad, fmt.Errorf("read event %s: %w", e.ID.Short(), err))
		}
	}
	return review, bad
}
