package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/reply"
)

// ReviewStatus is where a review stands; see the state machine in the package comment.
type ReviewStatus string

const (
	ReviewOpen      ReviewStatus = "open"
	ReviewSubmitted ReviewStatus = "submitted"
	ReviewClaimed   ReviewStatus = "claimed"
	ReviewResolved  ReviewStatus = "resolved"
	ReviewCancelled ReviewStatus = "cancelled"
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
	// Messages are those of the commits under review, oldest first, as far as they say
	// more than Title. They are filled in when the review is asked for.
	Messages    []CommitMessage `json:"messages,omitempty"`
	MoreCommits int             `json:"more_commits,omitempty"` // older ones, whose messages are not among them
}

// CommitMessage is what a commit says of itself.
type CommitMessage struct {
	Commit gitstore.ID `json:"commit"`
	Text   string      `json:"text"` // the middle of a long one is left out
}

// ReviewRequest asks for comments. Reviewer is builtin, human or an agent's name.
type ReviewRequest struct {
	Subject  Subject  `json:"subject"`
	Message  string   `json:"message,omitempty"`
	Reviewer string   `json:"reviewer"`
	Others   []string `json:"other_reviewers,omitempty"` // asked as well
	Run      string   `json:"run_id,omitempty"`          // that goes on from the answer
	Round    int      `json:"round,omitempty"`           // of Run
}

// Reviewers are all who were asked, each once.
func (r ReviewRequest) Reviewers() []string {
	all := []string{r.Reviewer}
	for _, name := range r.Others {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// Submission is one reviewer's answer to a request.
type Submission struct {
	Reviewer  string        `json:"reviewer"`
	Report    reply.Report  `json:"report"`
	Outcome   Outcome       `json:"outcome"`
	Decision  Decision      `json:"decision,omitempty"` // a person's
	Key       string        `json:"key,omitempty"`      // by which a submission that is sent twice is one
	Comments  []Comment     `json:"comments,omitempty"`
	Commit    gitstore.ID   `json:"commit,omitempty"`
	Tree      gitstore.ID   `json:"tree,omitempty"` // the tree that was seen
	Census    Census        `json:"census"`
	Checks    []CheckResult `json:"checks,omitempty"`
	At        time.Time     `json:"at,omitzero"` // filled in by the fold
	Duration  Duration      `json:"duration_ms,omitzero"`
	SkippedBy []string      `json:"not_checked,omitempty"` // checks that were not run, and why
	Event     gitstore.ID   `json:"event,omitempty"`       // that records it and keeps what it left behind; filled in by the fold
}

// Decision is a person's verdict.
type Decision string

const (
	Approve        Decision = "approve"
	RequestChanges Decision = "request_changes"
	CommentOnly    Decision = "comment"
)

// Outcome is what a review came to, for exit statuses and lists.
type Outcome string

const (
	OutcomePassed    Outcome = "passed"
	OutcomeFailed    Outcome = "failed"
	OutcomeCommented Outcome = "commented" // neither: a person left comments and no verdict
	OutcomePartial   Outcome = "partial"   // what was shown passed, and a part could not be shown
	OutcomeNothing   Outcome = "nothing_to_review"
)

// Claim says who has taken a review to address it, and until when: a holder that
// lives renews it.
type Claim struct {
	ID     gitstore.ID `json:"id"` // the event that took it; renewals keep it
	By     string      `json:"by"`
	Writer string      `json:"writer"` // the clone that it was taken in: one name in two clones is two claimants
	At     time.Time   `json:"at"`
	Until  time.Time   `json:"until,omitzero"`   // zero: until it is released
	Shared bool        `json:"shared,omitempty"` // decided on the remote
}

// EndedClaim is a claim that is over: given back, or lost to somebody else.
type EndedClaim struct {
	By     string    `json:"by"`
	Writer string    `json:"writer"`
	At     time.Time `json:"at"` // when it ended
	Lost   bool      `json:"lost,omitempty"`
}

// MaxLease is the longest lease of a claim; a longer one counts as this.
const MaxLease = 366 * 24 * time.Hour

// Lapsed reports whether the claim has run out at now, so that another may take over.
func (c *Claim) Lapsed(now time.Time) bool { return !c.Until.IsZero() && !now.Before(c.Until) }

// Lost is an event that the fold skipped because the state did not allow it: it
// arrived from another clone after one that excluded it.
type Lost struct {
	Event  gitstore.ID `json:"event"`
	Type   string      `json:"type"`
	By     string      `json:"by"`              // author of the event
	Actor  string      `json:"actor,omitempty"` // as whom, where the event says it
	Writer string      `json:"writer,omitempty"`
	At     time.Time   `json:"at,omitzero"`
	Why    string      `json:"why"`
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
	ClosedAt    time.Time     `json:"closed_at,omitzero"` // resolved or cancelled
	Submissions []Submission  `json:"submissions"`
	Claim       *Claim        `json:"claim,omitempty"`
	Ended       []EndedClaim  `json:"ended_claims,omitempty"` // oldest first
	Answers     []Answer      `json:"answers,omitempty"`      // what became of findings and comments, oldest first
	Note        string        `json:"note,omitempty"`         // of the resolution or cancellation
	Failure     *Failure      `json:"failure,omitempty"`      // the newest of Failures
	Failures    []Failure     `json:"failures,omitempty"`     // why reviewers could not be run, last time, one for each
	Lost        []Lost        `json:"lost,omitempty"`
}

// Failure is why an agent or a reviewer gave no answer: a stop reason and its detail.
type Failure struct {
	Reason   string    `json:"reason"`
	Detail   string    `json:"detail,omitempty"`
	Reviewer string    `json:"reviewer,omitempty"` // of a review: who it was
	At       time.Time `json:"at,omitzero"`
	// LastActivity is when an agent last wrote something, where that is known.
	LastActivity time.Time `json:"last_activity_at,omitzero"`
	Setting      *Setting  `json:"setting,omitempty"` // the limit that ended it
	// Transient says that the same may well work later: a rate limit, a broken connection.
	Transient bool      `json:"transient,omitempty"`
	Tries     int       `json:"tries,omitempty"`   // of a review: how often in a row
	RetryAt   time.Time `json:"retry_at,omitzero"` // of a review: when it is tried again by itself
	Try       string    `json:"try,omitempty"`     // a command that may mend it
}

// outcomeRank orders outcomes from the best to the worst.
var outcomeRank = map[Outcome]int{OutcomeNothing: 1, OutcomePassed: 2, OutcomeCommented: 3, OutcomePartial: 4, OutcomeFailed: 5}

// Outcome is the worst of what stands; "" while nothing was submitted.
func (r Review) Outcome() Outcome {
	worst := Outcome("")
	for _, s := range r.Standing() {
		if worst == "" || outcomeRank[s.Outcome] > outcomeRank[worst] {
			worst = s.Outcome
		}
	}
	return worst
}

// Standing are the submissions that count, oldest first: the newest of each
// reviewer. Comments alone take no verdict of their reviewer back.
func (r Review) Standing() []Submission {
	var standing []Submission
	for _, s := range r.Submissions {
		i := slices.IndexFunc(standing, func(o Submission) bool { return o.Reviewer == s.Reviewer })
		switch {
		case i < 0:
			standing = append(standing, s)
		case s.Outcome != OutcomeCommented || standing[i].Outcome == OutcomeCommented:
			standing = append(slices.Delete(standing, i, i+1), s)
		}
	}
	return standing
}

// Findings are those of all submissions, in order, with the comments of people.
func (r Review) Findings() []reply.Finding {
	var all []reply.Finding
	for _, s := range r.Submissions {
		all = append(all, s.Findings()...)
	}
	return all
}

// Findings are what the submission found, with its comments.
func (s Submission) Findings() []reply.Finding {
	all := slices.Clone(s.Report.Findings)
	for _, c := range s.Comments {
		all = append(all, c.finding(s.Decision))
	}
	return all
}

// Comments are those of all submissions, in order.
func (r Review) Comments() []Comment {
	var all []Comment
	for _, s := range r.Submissions {
		all = append(all, s.Comments...)
	}
	return all
}

// Waiting are the reviewers who were asked and have not answered.
func (r Review) Waiting() []string {
	var waiting []string
	for _, name := range r.Request.Reviewers() {
		answered := slices.ContainsFunc(r.Submissions, func(s Submission) bool {
			return s.Reviewer == name || name == Human && s.Decision != ""
		})
		if !answered {
			waiting = append(waiting, name)
		}
	}
	return waiting
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

// actorPayload is the payload of claims, releases, resolutions and cancellations.
type actorPayload struct {
	Actor  string      `json:"actor"`
	Force  bool        `json:"force,omitempty"`
	Note   string      `json:"note,omitempty"`
	Lease  Duration    `json:"lease_ms,omitzero"` // of a claim; 0: until it is released
	Commit gitstore.ID `json:"commit,omitempty"`  // where the note of a resolution goes
	Claim  gitstore.ID `json:"claim,omitempty"`   // the claim under which it is done, or its first digits
	Shared bool        `json:"shared,omitempty"`  // of a claim: the remote decided
	writer string      // the clone in which it is done
}

// by is who does it, held says that a claim of somebody else's keeps them from it.
func (p actorPayload) by() (who actorPayload, held bool) { return p, true }

func (p findingAnswer) by() (who actorPayload, held bool) {
	return actorPayload{Actor: p.Actor, Force: p.Force, Claim: p.Claim}, true
}

func (s Submission) by() (who actorPayload, held bool) { return actorPayload{Actor: s.Reviewer}, false }

func (f Failure) by() (who actorPayload, held bool) { return actorPayload{}, false }

// reviewMove is what an event does to a review.
type reviewMove struct {
	from   []ReviewStatus // in which it may happen
	cannot string         // what cannot be done to a review in any other: "claimed"
	held   bool           // a claim of somebody else's keeps it from happening
	read   func(Event) (payload any, by actorPayload, err error)
	fold   func(*Review, Event, any)
}

// reviewMoves are those of all types of events that a review is folded from, by their names.
var reviewMoves = map[string]reviewMove{}

// reviewEvent makes a type of events of reviews: its fold takes it in where it may happen,
// and note is what it says on a commit, nil for nothing.
func reviewEvent[P interface{ by() (actorPayload, bool) }](name, cannot string, from []ReviewStatus, fold func(*Review, Event, P), note func(Event, P) (gitstore.ID, string)) EventType[P] {
	t := EventType[P]{name}
	var empty P
	_, held := empty.by()
	read := func(e Event) (any, actorPayload, error) {
		p, err := t.Payload(e)
		by, _ := p.by()
		by.writer = e.Writer
		return p, by, err
	}
	reviewMoves[name] = reviewMove{from, cannot, held, read, func(r *Review, e Event, p any) { fold(r, e, p.(P)) }}
	addNote(t, note)
	return t
}

// The events of a review that EventReviewRequested has begun.
var (
	EventReviewSubmitted = reviewEvent("review_submitted", "submitted", untilClosed, (*Review).submit, submissionNote)
	EventReviewFailed    = reviewEvent("review_failed", "reviewed", untilClosed, (*Review).fail, nil) // the reviewer could not be run; the review stays open
	EventReviewCancelled = reviewEvent("review_cancelled", "cancelled", []ReviewStatus{ReviewOpen, ReviewCancelled}, (*Review).cancel, nil)
	EventReviewClaimed   = reviewEvent("review_claimed", "claimed", onceSubmitted, (*Review).claim, nil)
	EventReviewReleased  = reviewEvent("review_released", "released", []ReviewStatus{ReviewClaimed}, (*Review).release, nil)
	EventReviewResolved  = reviewEvent("review_resolved", "resolved", []ReviewStatus{ReviewSubmitted, ReviewClaimed, ReviewResolved}, (*Review).resolve, resolvedNote)
	EventReviewReopened  = reviewEvent("review_reopened", "reopened", []ReviewStatus{ReviewResolved, ReviewCancelled}, (*Review).reopen, reopenedNote)
	EventReviewAnswered  = reviewEvent("review_answered", "answered", onceSubmitted, (*Review).answer, nil)
)

// Statuses in which something may happen to a review.
var (
	untilClosed   = []ReviewStatus{ReviewOpen, ReviewSubmitted, ReviewClaimed}
	onceSubmitted = []ReviewStatus{ReviewSubmitted, ReviewClaimed}
)

// allow reports, as a *StateError, why an event of type may not happen at now.
func (r Review) allow(eventType string, by actorPayload, now time.Time) error {
	move := reviewMoves[eventType]
	refused := &StateError{What: "review " + r.ID, Status: string(r.Status), Cannot: move.cannot}
	if !slices.Contains(move.from, r.Status) {
		return refused
	}
	if eventType == EventReviewClaimed.Name && by.Actor == "" {
		refused.Cannot = "claimed by nobody"
		return refused
	}
	held := r.Status == ReviewClaimed && r.Claim != nil && !by.Force && move.held
	if held && r.fenced(eventType, by, now) {
		refused.Holder = holderFor(r.Claim.By, by.Actor)
		return refused
	}
	return nil
}

// holderFor names the holder to actor, who may have the same name.
func holderFor(holder, actor string) string {
	if holder == actor {
		return holder + " (another claim)"
	}
	return holder
}

// fenced reports whether the claim that stands keeps by from an event of type. Who lost
// a claim has to claim again: what they would do rests on a state that is not there.
func (r Review) fenced(eventType string, by actorPayload, now time.Time) bool {
	switch c := r.Claim; {
	case by.Claim != "" && !c.is(by.Claim):
		return true
	case c.By == by.Actor && c.Writer == by.writer:
		return false
	case eventType == EventReviewClaimed.Name:
		return !c.Lapsed(now) && (c.Shared || !by.Shared) // a provisional one gives way to the remote's
	case c.By == by.Actor || c.Lapsed(now):
		return r.lost(by)
	}
	return true
}

// minClaimID is how many digits name a claim.
const minClaimID = 7

// is reports whether id, or the digits with which it begins, names the claim.
func (c *Claim) is(id gitstore.ID) bool {
	return c.ID == id || len(id) >= minClaimID && strings.HasPrefix(string(c.ID), string(id))
}

// lost reports whether the newest claim of an actor in a clone went to somebody else,
// in the end or at once.
func (r Review) lost(by actorPayload) bool {
	newest := EndedClaim{}
	for _, e := range r.Ended {
		if e.By == by.Actor && e.Writer == by.writer {
			newest = e
		}
	}
	return newest.Lost || slices.ContainsFunc(r.Lost, func(l Lost) bool {
		return l.Type == EventReviewClaimed.Name && l.Actor == by.Actor && l.Writer == by.writer && !l.At.Before(newest.At)
	})
}

// end files a claim that is over.
func (r *Review) end(by, writer string, at time.Time, lost bool) {
	r.Ended = append(slices.Clip(r.Ended), EndedClaim{by, writer, at, lost})
}

// apply is one step of the fold. An event that is not allowed is kept in Lost.
func (r *Review) apply(e Event) error {
	if e.Type == EventReviewRequested.Name {
		return r.open(e)
	}
	move, known := reviewMoves[e.Type]
	if !known || r.ID == "" {
		return nil // of a newer program, of a run, or before its request arrived
	}
	payload, by, err := move.read(e)
	if err != nil && move.held {
		return err
	}
	if refused := r.allow(e.Type, by, e.Timestamp); refused != nil {
		r.Lost = append(r.Lost, Lost{
			Event: e.ID, Type: e.Type, By: e.Actor, Actor: by.Actor, Writer: e.Writer, At: e.Timestamp, Why: refused.Error(),
		})
		return nil
	}
	if err == nil {
		move.fold(r, e, payload)
		r.UpdatedAt = e.Timestamp
	}
	return err
}

func (r *Review) open(e Event) error {
	request, err := EventReviewRequested.Payload(e)
	if err != nil || r.ID != "" {
		return err
	}
	*r = Review{
		ID: e.Review, Status: ReviewOpen, Request: request, RequestedBy: e.Actor, Source: e.Source,
		Writer: e.Writer, CreatedAt: e.Timestamp, UpdatedAt: e.Timestamp, Submissions: []Submission{},
	}
	return nil
}

func (r *Review) cancel(e Event, by actorPayload) {
	if r.Status != ReviewCancelled { // as with resolutions
		r.Status, r.Note, r.ClosedAt = ReviewCancelled, by.Note, e.Timestamp
	}
}

func (r *Review) release(e Event, by actorPayload) {
	r.end(r.Claim.By, r.Claim.Writer, e.Timestamp, r.Claim.By != by.Actor)
	r.Status, r.Claim = ReviewSubmitted, nil
}

func (r *Review) resolve(e Event, by actorPayload) {
	if r.Status != ReviewResolved { // resolving twice is one resolution: the first one counts
		r.Status, r.ResolvedAt, r.ResolvedBy, r.Note = ReviewResolved, e.Timestamp, by.Actor, by.Note
		r.ClosedAt = e.Timestamp
	}
}

func (r *Review) answer(e Event, p findingAnswer) {
	p.At = e.Timestamp
	r.Answers = append(r.Answers, p.Answer)
}

// fail keeps why a reviewer could not be run, the newest reason of each.
func (r *Review) fail(e Event, failure Failure) {
	failure.At, failure.Reviewer = e.Timestamp, e.Source
	earlier := slices.DeleteFunc(slices.Clone(r.Failures), func(f Failure) bool { return f.Reviewer == e.Source })
	r.keepFailures(append(earlier, failure))
}

// keepFailures keeps those that still matter: once somebody has answered, those of
// reviewers who have not.
func (r *Review) keepFailures(failures []Failure) {
	if waiting := r.Waiting(); r.Status != ReviewOpen {
		failures = slices.DeleteFunc(failures, func(f Failure) bool { return !slices.Contains(waiting, f.Reviewer) })
	}
	r.Failures, r.Failure = failures, nil
	if len(failures) > 0 {
		newest := failures[len(failures)-1]
		r.Failure = &newest
	}
}

// claim takes the review, or renews the holder's claim.
func (r *Review) claim(e Event, by actorPayload) {
	claim := Claim{ID: e.ID, By: by.Actor, Writer: e.Writer, At: e.Timestamp, Shared: by.Shared}
	if old := r.Claim; old != nil && old.By == by.Actor && old.Writer == e.Writer {
		claim.ID, claim.At, claim.Shared = old.ID, old.At, old.Shared || by.Shared
	} else if old != nil {
		r.takeOver(*old, e, by)
	}
	if by.Lease > 0 {
		claim.Until = e.Timestamp.Add(min(time.Duration(by.Lease), MaxLease))
		if claim.Until.Year() > 9999 { // JSON knows no later time
			claim.Until = e.Timestamp
		}
	}
	r.Status, r.Claim = ReviewClaimed, &claim
}

// takeOver ends a claim that another took the place of. A provisional one that the
// remote decided against is told of like a step that came too late.
func (r *Review) takeOver(old Claim, e Event, by actorPayload) {
	r.end(old.By, old.Writer, e.Timestamp, true)
	if by.Force || old.Lapsed(e.Timestamp) {
		return
	}
	r.Lost = append(r.Lost, Lost{
		Event: old.ID, Type: e.Type, By: old.By, Actor: old.By, Writer: old.Writer, At: old.At,
		Why: (&StateError{What: "review " + r.ID, Holder: holderFor(by.Actor, old.By)}).Error(),
	})
}

func (r *Review) reopen(Event, actorPayload) {
	r.Status, r.Claim, r.ResolvedAt, r.ResolvedBy, r.ClosedAt, r.Note = ReviewOpen, nil, time.Time{}, "", time.Time{}, ""
	if len(r.Submissions) > 0 {
		r.Status = ReviewSubmitted
	}
}

func (r *Review) submit(e Event, submission Submission) {
	submission.At, submission.Event = e.Timestamp, e.ID
	taken := commentIDs(r.Comments())
	for i := range submission.Comments {
		submission.Comments[i].fillIn(submission.Reviewer, taken)
	}
	r.Submissions = append(r.Submissions, submission)
	if r.Status == ReviewOpen {
		r.Status, r.SubmittedAt = ReviewSubmitted, e.Timestamp
	}
	r.keepFailures(slices.Clone(r.Failures))
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

// Verdicts are the submissions that stand and say more than a comment.
func (r Review) Verdicts() []Submission {
	return slices.DeleteFunc(r.Standing(), func(s Submission) bool { return s.Outcome == OutcomeCommented || s.Outcome == OutcomeNothing })
}

// Human names a person as reviewer or implementer: nothing is started.
const Human = "human"

func EmptyReport() reply.Report {
	return reply.Report{Format: reply.FormatNone, Findings: []reply.Finding{}, Requests: []string{}, Warnings: []string{}}
}

// Retry is what happens after a reviewer gave no answer.
type Retry struct {
	What     string   // when it is asked again
	Commands []string // what to type then, in order
}

// Next says what happens after a reviewer gave no answer, and what to type.
func (f Failure) Next() Retry {
	again := []string{"git runr work --retry"}
	switch {
	case f.Reason == ReasonObjects && f.Try != "":
		return Retry{"when it can be read:", []string{f.Try, "git runr work"}}
	case f.Reason == ReasonObjects:
		return Retry{"when it can be read:", []string{"git runr work"}}
	case !f.RetryAt.IsZero():
		return Retry{fmt.Sprintf("tried again by git runr work after %s; at once:", f.RetryAt.UTC().Format(time.DateTime+"Z")), again}
	case f.Transient:
		return Retry{fmt.Sprintf("tried %d times; once more:", f.Tries), again}
	case f.Reason == ReasonUntrusted:
		return Retry{"when its command is approved:", append([]string{"git runr trust"}, again...)}
	case f.Reason == ReasonAgentNotFound:
		return Retry{"when it is installed:", again}
	}
	return Retry{"when that is mended:", again}
}

// Failed are the reviewers that could not be run, and retryAt when those of them are
// tried again that are.
func (r Review) Failed() (names []string, retryAt map[string]time.Time) {
	for _, f := range r.Failures {
		names = append(names, f.Reviewer)
		if f.RetryAt.IsZero() {
			continue
		}
		if retryAt == nil {
			retryAt = map[string]time.Time{}
		}
		retryAt[f.Reviewer] = f.RetryAt
	}
	return names, retryAt
}

// SettledFinding reports whether f was fixed or refuted since.
func (r Review) SettledFinding(f reply.Finding) bool {
	answer, _ := r.AnswerTo(f.ID)
	return answer.Kind == AnswerFixed || answer.Kind == AnswerRefuted
}
