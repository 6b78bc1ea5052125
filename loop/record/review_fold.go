package record

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/spend"
)

// checked opens a review by rules alone and resolves it.
func (r *Review) checked(e Event) error {
	p, err := EventReviewChecked.Payload(e)
	if err != nil || r.ID != "" {
		return err
	}
	r.begin(e, p.request(e))
	r.submit(e, p.submission())
	r.resolve(e, ActorPayload{Actor: Itself, Note: FoundNothingNote})
	return nil
}

// judge records the rulings of the review's judge on findings without an earlier ruling.
func (r *Review) judge(e Event, j Judgement) {
	if j.By != r.Request.Judge {
		return
	}
	j.At, j.Event = e.Timestamp, e.ID
	j.Rulings = slices.DeleteFunc(j.Rulings, func(ruling Ruling) bool { return r.ruling(ruling.Finding) != nil })
	for _, ruling := range j.Rulings {
		if _, answered := r.AnswerTo(ruling.Finding); ruling.Kind == Refuted && !answered {
			r.Answers = append(r.Answers, Answer{Finding: ruling.Finding, Kind: AnswerRefuted, Reason: ruling.Reason,
				Actor: j.By, At: e.Timestamp})
		}
	}
	r.Judgements = append(r.Judgements, j)
	r.keepFailures(slices.Clone(r.Failures))
}

// reviewMove describes when events of one type are allowed for a review, and what they do to it.
type reviewMove struct {
	from   []ReviewStatus // the statuses that allow it
	cannot string         // the participle for the error in other statuses: "claimed"
	held   bool           // another actor's claim prevents it
	read   func(Event) (payload any, by ActorPayload, err error)
	fold   func(*Review, Event, any)
}

// reviewMoves maps the names of event types to their moves.
var reviewMoves = map[string]reviewMove{}

// reviewEventType returns a type of review events and registers its move. fold applies an event; note writes its
// note, nil for no note.
func reviewEventType[P interface{ by() (ActorPayload, bool) }](name, cannot string, from []ReviewStatus,
	fold func(*Review, Event, P), note func(Event, P) (gitstore.ID, string)) EventType[P] {
	t := newEventType(name, fold == nil, note)
	var empty P
	_, held := empty.by()
	read := func(e Event) (any, ActorPayload, error) {
		p, err := t.Payload(e)
		by, _ := p.by()
		by.writer = e.Writer
		return p, by, err
	}
	reviewMoves[name] = reviewMove{from, cannot, held, read, func(r *Review, e Event, p any) { fold(r, e, p.(P)) }}
	return t
}

// Events of a review after EventReviewRequested.
var (
	EventReviewSubmitted = reviewEventType("review_submitted", "submitted", untilClosed, (*Review).submit, submissionNote)
	// the reviewer could not be run; the review stays open
	EventReviewFailed    = reviewEventType("review_failed", "reviewed", untilClosed, (*Review).fail, nil)
	EventReviewCancelled = reviewEventType("review_cancelled", "cancelled", []ReviewStatus{ReviewOpen, ReviewCancelled},
		(*Review).cancel, nil)
	EventReviewClaimed  = reviewEventType("review_claimed", "claimed", untilClosed, (*Review).claim, nil)
	EventReviewReleased = reviewEventType("review_released", "released", []ReviewStatus{ReviewOpen, ReviewClaimed},
		(*Review).release, nil)
	EventReviewResolved = reviewEventType("review_resolved", "resolved",
		[]ReviewStatus{ReviewSubmitted, ReviewClaimed, ReviewResolved}, (*Review).resolve, resolvedNote)
	EventReviewReopened = reviewEventType("review_reopened", "reopened", []ReviewStatus{ReviewResolved, ReviewCancelled},
		(*Review).reopen, reopenedNote)
	EventReviewAnswered = reviewEventType("review_answered", "answered", onceSubmitted, (*Review).answer, nil)
	EventReviewJudged   = reviewEventType("review_judged", "judged", untilClosed, (*Review).judge, judgementNote)
	EventReviewVerified = reviewEventType("review_verified", "verified", always, (*Review).verified, nil)
	// its commit was rewritten: see Move; movedNotes writes its notes
	EventReviewMoved = reviewEventType("review_moved", "moved", always, (*Review).moved, nil)
)

// Statuses in which events are allowed.
var (
	untilClosed   = []ReviewStatus{ReviewOpen, ReviewSubmitted, ReviewClaimed}
	onceSubmitted = []ReviewStatus{ReviewSubmitted, ReviewClaimed}
	always        = []ReviewStatus{ReviewOpen, ReviewSubmitted, ReviewClaimed, ReviewResolved, ReviewCancelled}
)

// allow returns a *StateError if an event of eventType is not allowed at now.
func (r Review) allow(eventType string, by ActorPayload, now time.Time) error {
	move := reviewMoves[eventType]
	refused := &StateError{What: "review " + r.ID, Status: string(r.Status), Cannot: move.cannot}
	if !slices.Contains(move.from, r.Status) && !(eventType == EventReviewAnswered.Name && r.SupersededBy() != "") {
		return refused
	}
	if eventType == EventReviewClaimed.Name && by.Actor == "" {
		refused.Cannot = "claimed by nobody"
		return refused
	}
	if eventType == EventReviewResolved.Name && r.contradicts(by) {
		return refused // the clone that closed it did not know of a verdict that asks for changes
	}
	open := r.Status == ReviewOpen
	if open && eventType == EventReviewReleased.Name && r.Claim == nil ||
		open && eventType == EventReviewClaimed.Name && !r.mayTake(by.Actor) {
		return refused
	}
	if by.tree != "" && r.answered(by.Actor, by.tree, by.fails) { // two clones answered without knowing of each other
		refused.Cannot = "answered by " + by.Actor + " twice"
		return refused
	}
	held := r.Claim != nil && !by.Force && move.held &&
		(r.Status == ReviewClaimed || r.Status == ReviewOpen && ofReviewer(eventType))
	if held && r.fenced(eventType, by, now) {
		refused.Holder = HolderFor(r.Claim.By, by.Actor)
		return refused
	}
	return nil
}

// settlesPass reports whether git-runr itself closed a review because it passed.
func (p ActorPayload) settlesPass() bool {
	return p.Actor == Itself && (strings.HasPrefix(p.Note, PassedNote) || strings.HasPrefix(p.Note, FoundNothingNote))
}

// settlesAnswers reports whether git-runr itself closed a review because every finding was answered.
func (p ActorPayload) settlesAnswers() bool {
	return p.Actor == Itself && strings.HasPrefix(p.Note, AnsweredNote)
}

// contradicts reports whether git-runr closed the review for a reason that the review does not have.
func (r Review) contradicts(by ActorPayload) bool {
	return by.settlesPass() && r.Outcome() == OutcomeFailed || by.settlesAnswers() && len(r.Open()) > 0
}

// closedAsPassed reports whether git-runr itself closed the review because it passed.
func (r Review) closedAsPassed() bool { return r.Status == ReviewResolved && r.closing().settlesPass() }

// ClosedTooEarly reports whether git-runr closed the review as passed and it does not pass: what refuses it arrived
// later.
func (r Review) ClosedTooEarly() bool { return r.closedAsPassed() && r.Outcome() == OutcomeFailed }

func (r Review) closing() ActorPayload { return ActorPayload{Actor: r.ResolvedBy, Note: r.Note} }

// reopensFor reports whether a verdict reopens the review. Nobody gives one on a review that is known to be closed, so
// this closing did not know of it, or was dated before it. A person's verdict, and any that asks for changes, reopens a
// cancelled review; one that asks for changes reopens a review that git-runr closed because every finding was answered,
// and any verdict one that git-runr closed as passed and that fails now.
func (r Review) reopensFor(sub Submission) bool {
	if r.Status == ReviewCancelled {
		return sub.Decision == Approve || sub.Outcome == OutcomeFailed
	}
	answered := r.Status == ReviewResolved && r.closing().settlesAnswers() && sub.Outcome == OutcomeFailed
	return (answered || r.closedAsPassed()) && r.failsWith(sub)
}

// stands reports whether a verdict counts although a person had closed the review: it asks for changes. The review
// stays closed.
func (r Review) stands(sub Submission) bool {
	return r.Status == ReviewResolved && sub.Outcome == OutcomeFailed && r.failsWith(sub)
}

// failsWith reports whether the review fails once another reviewer's sub is counted too.
func (r Review) failsWith(sub Submission) bool {
	if by, _ := sub.by(); by.tree != "" && r.answered(by.Actor, by.tree, by.fails) {
		return false
	}
	r.Submissions = append(slices.Clip(r.Submissions), sub)
	r.join()
	return r.Outcome() == OutcomeFailed
}

// mayTake reports whether actor may claim a review that nobody has answered: only a person, if it waits for one. Chats
// and agents have no address; they claim submitted reviews to address them, and use leases for their turns as
// reviewers.
func (r Review) mayTake(actor string) bool {
	return slices.Contains(r.Waiting(), Human) && gitstore.ParseIdentity(actor).Email != ""
}

// ofReviewer reports whether an event of an open review is an act of its reviewer. A claim prevents others from it. The
// requester may still cancel the review.
func ofReviewer(eventType string) bool {
	return eventType == EventReviewClaimed.Name || eventType == EventReviewReleased.Name ||
		eventType == EventReviewGiven.Name
}

// HolderFor names the holder of a claim to actor, who may have the same name.
func HolderFor(holder, actor string) string {
	if SameActor(holder, actor) {
		return holder + " (another claim)"
	}
	return holder
}

// fenced reports whether the present claim prevents by from an event of eventType. An actor who lost a claim has to
// claim again, because the actor's decision was based on an outdated state.
func (r Review) fenced(eventType string, by ActorPayload, now time.Time) bool {
	switch c := r.Claim; {
	case by.Claim != "" && !c.Is(by.Claim):
		return true
	case SameActor(c.By, by.Actor) && c.Writer == by.writer:
		return false
	case eventType == EventReviewClaimed.Name:
		return !c.Lapsed(now) && (c.Shared || !by.Shared) // a provisional claim yields to one that the remote granted
	case SameActor(c.By, by.Actor) || c.Lapsed(now):
		return r.lost(by)
	}
	return true
}

// lost reports whether the newest claim of an actor in a clone was lost to somebody else, later or at once.
func (r Review) lost(by ActorPayload) bool {
	newest := EndedClaim{}
	for _, e := range r.Ended {
		if SameActor(e.By, by.Actor) && e.Writer == by.writer {
			newest = e
		}
	}
	return newest.Lost || slices.ContainsFunc(r.Lost, func(l Lost) bool {
		return l.Type == EventReviewClaimed.Name && SameActor(l.Actor, by.Actor) && l.Writer == by.writer &&
			!l.At.Before(newest.At)
	})
}

func (r *Review) end(by, writer string, at time.Time, lost bool) {
	r.Ended = append(slices.Clip(r.Ended), EndedClaim{by, writer, at, lost})
}

// dropClaim ends the claim, if there is one, because of what actor did.
func (r *Review) dropClaim(e Event, actor string) {
	if r.Claim != nil {
		r.end(r.Claim.By, r.Claim.Writer, e.Timestamp, !SameActor(r.Claim.By, actor))
		r.Claim = nil
	}
}

// Apply folds e into the review. An event that is not allowed goes to Lost. Events that sort before the request, whose
// writer chose its place, are folded after it.
func (r *Review) Apply(e Event) error {
	early := r.early
	switch e.Type {
	case EventReviewRequested.Name:
		return errors.Join(r.open(e), r.catchUp(early))
	case EventReviewChecked.Name:
		return errors.Join(r.checked(e), r.catchUp(early))
	}
	move, known := reviewMoves[e.Type]
	if !known {
		return nil // from a newer program, or of a run
	}
	if r.ID == "" {
		r.early = append(early, e)
		return nil
	}
	payload, by, err := move.read(e)
	if err != nil && move.held {
		return err
	}
	r.hears(e)
	if spent, ok := payload.(spender); ok { // whether the event counts or not
		r.took(spent.took(e))
	}
	if sub, verdict := payload.(Submission); verdict {
		r.answersOther(sub)
		if r.reopensFor(sub) {
			r.reopen(e, by)
		}
	}
	if refused := r.refusal(e, by, payload); refused != nil {
		if by.settlesPass() || by.settlesAnswers() {
			return nil // nobody typed it
		}
		r.Lost = append(r.Lost, Lost{
			Event: e.ID, Type: e.Type, By: e.Actor, Actor: by.Actor, Writer: e.Writer, At: e.Timestamp, Why: refused.Error(),
		})
		return nil
	}
	if err == nil {
		move.fold(r, e, payload)
		r.UpdatedAt = e.Timestamp
	}
	if err == nil && len(r.Redactions) > 0 {
		*r, err = r.redacted()
	}
	return err
}

// catchUp folds the events that came before the request, if that is here now.
func (r *Review) catchUp(early []Event) (err error) {
	for _, e := range early {
		if r.ID != "" {
			err = errors.Join(err, r.Apply(e))
		}
	}
	return err
}

// WithoutRequest returns what is known of a review whose request is not here, which only its requester's log has: who
// asked for changes, of which commits, and what was said since. It returns the zero Review if nobody did.
func (r Review) WithoutRequest() Review {
	var known Review
	for _, e := range r.early {
		sub, err := EventReviewSubmitted.Payload(e)
		refuses := e.Type == EventReviewSubmitted.Name && err == nil && sub.Decision == RequestChanges
		switch {
		case refuses && known.ID == "":
			known.begin(e, ReviewRequest{Reviewer: Human, Subject: Subject{Kind: SubjectCommit, Commit: sub.Commit,
				Tree: sub.Tree, Title: "(the request of this review is not here)"}})
			known.RequestedBy, known.Writer = "", ""
		case refuses && sub.Commit != known.Request.Subject.Commit: // nobody knows which of them was asked about
			known.Moves = append(known.Moves, Move{State: MoveCarried, From: known.Request.Subject.Commit, To: sub.Commit})
		}
		_ = known.Apply(e) // what cannot be read is skipped, as in every fold
	}
	return known
}

// hears stores who was the first to speak about the review in the log of an event.
func (r *Review) hears(e Event) {
	if r.Logs[e.Writer] == "" {
		logs := map[string]string{e.Writer: e.Actor} // a copy of the review keeps its own
		maps.Copy(logs, r.Logs)
		r.Logs = logs
	}
}

// refusal returns why an event does not count, or nil.
func (r Review) refusal(e Event, by ActorPayload, payload any) error {
	sub, verdict := payload.(Submission)
	switch {
	case verdict && len(r.others) > 0 && sub.Outcome == OutcomePassed && sub.Tree != r.Request.Subject.Tree:
		return &StateError{What: "review " + r.ID, Status: "of another tree than this answer saw", Cannot: "passed by it"}
	case verdict && r.stands(sub):
		return nil
	}
	return r.allow(e.Type, by, e.Timestamp)
}

// took adds usage, as Run.took does.
func (r *Review) took(agent string, spent spend.Spent) {
	r.Usage = r.Usage.Add(r.Spending.Add(agent, spent))
}

func (r *Review) open(e Event) error {
	request, err := EventReviewRequested.Payload(e)
	if err != nil {
		return err
	}
	if r.ID != "" {
		r.requestedAgain(e, request)
		return nil
	}
	r.begin(e, request.cut())
	return nil
}

// cut returns the request with its free texts cut to what is kept of them.
func (r ReviewRequest) cut() ReviewRequest {
	r.Subject.Title, r.Subject.Author = change.CutTitle(r.Subject.Title), change.CutTitle(r.Subject.Author)
	r.Message = prose.CutMiddle(r.Message, MaxMessage)
	return r
}

// sameIDRequest is a request of something else with the id of a review.
type sameIDRequest struct {
	Event   gitstore.ID   `json:"event"`
	By      string        `json:"by"`
	Source  string        `json:"source"`
	Writer  string        `json:"writer"`
	Clock   uint64        `json:"clock"`
	At      time.Time     `json:"at"`
	Request ReviewRequest `json:"request"`
}

// requestedAgain keeps a request of something else with the id of this review, which its own clone never makes. Which
// of them is the review's shows in what its first answer saw: see answersOther.
func (r *Review) requestedAgain(e Event, request ReviewRequest) {
	asked, other := r.Request.Subject, request.Subject
	if asked.Base == other.Base && asked.Tree == other.Tree && slices.Equal(asked.Paths, other.Paths) {
		return
	}
	r.hears(e)
	r.others = append(r.others, sameIDRequest{e.ID, e.Actor, e.Source, e.Writer, e.Clock, e.Timestamp, request.cut()})
	r.loseRequest(r.others[len(r.others)-1], r.RequestedBy, r.Writer)
}

// loseRequest lists a request that does not count beside that of somebody else.
func (r *Review) loseRequest(lost sameIDRequest, by, writer string) {
	why := fmt.Sprintf("review %s is that of %s (writer %.7s), who asked about something else", r.ID, Plain(by), writer)
	r.Lost = append(r.Lost, Lost{Event: lost.Event, Type: EventReviewRequested.Name, By: lost.By, Actor: lost.By,
		Writer: lost.Writer, At: lost.At, Why: why})
}

// answersOther makes another request with the same id the review's, if the first answer is to that one: a reviewer
// records the tree that it saw.
func (r *Review) answersOther(sub Submission) {
	i := slices.IndexFunc(r.others, func(o sameIDRequest) bool { return o.Request.Subject.Tree == sub.Tree })
	if i < 0 || sub.Tree == "" || len(r.Submissions) > 0 || r.Request.Subject.Tree == sub.Tree {
		return
	}
	asked := r.others[i]
	first := sameIDRequest{r.requestEvent, r.RequestedBy, r.Source, r.Writer, r.Clock, r.CreatedAt, r.Request}
	r.requestEvent, r.RequestedBy, r.Source, r.Writer, r.Clock, r.CreatedAt, r.Request = asked.Event, asked.By,
		asked.Source, asked.Writer, asked.Clock, asked.At, asked.Request
	r.Lost = slices.DeleteFunc(slices.Clone(r.Lost), func(l Lost) bool { return l.Event == asked.Event })
	r.loseRequest(first, r.RequestedBy, r.Writer)
}

func (r *Review) begin(e Event, request ReviewRequest) {
	if request.Follows == e.Review { // forged: as the round after itself it would settle what refuses it
		request.Follows = ""
	}
	*r = Review{
		ID: e.Review, Status: ReviewOpen, Request: request, RequestedBy: e.Actor, Source: e.Source,
		Writer: e.Writer, Clock: e.Clock, CreatedAt: e.Timestamp, UpdatedAt: e.Timestamp, Submissions: []Submission{},
		Logs: map[string]string{e.Writer: e.Actor}, requestEvent: e.ID,
	}
}

// closer returns who closes the review by an event, with whoever recorded that: for git-runr, the log if it is not that
// of the request.
func (r Review) closer(e Event, actor string) string {
	v := r.voice(e, actor)
	if actor == Itself && e.Writer == r.Writer {
		v.Writer = ""
	}
	return v.named(actor)
}

func (r *Review) cancel(e Event, by ActorPayload) {
	if r.Status != ReviewCancelled { // the first cancellation counts
		r.Status, r.Note, r.ClosedAt, r.ClosedBy = ReviewCancelled, by.Note, e.Timestamp, r.closer(e, by.Actor)
		r.dropClaim(e, by.Actor)
	}
}

func (r *Review) release(e Event, by ActorPayload) {
	if r.dropClaim(e, by.Actor); r.Status == ReviewClaimed {
		r.Status = ReviewSubmitted
	}
}

func (r *Review) resolve(e Event, by ActorPayload) {
	// the first resolution counts, but a person's more than one because of a pass
	if r.Status != ReviewResolved || r.closedAsPassed() && !by.settlesPass() {
		r.Status, r.ResolvedAt, r.ResolvedBy, r.Note = ReviewResolved, e.Timestamp, by.Actor, by.Note
		r.ClosedAt, r.ClosedBy = e.Timestamp, r.closer(e, by.Actor)
	}
}

func (r *Review) answer(e Event, p FindingAnswer) {
	if !slices.Contains(answerKinds, p.Kind) {
		return // of a newer program, or of nobody's: it settles nothing
	}
	p.At, p.Voice = e.Timestamp, r.voice(e, p.Actor)
	p.Answer = r.AsItCounts(p.Answer)
	ids := r.sameIDs(p.Finding)
	if p.Claimed() && r.confirms(p.Answer) {
		p.ConfirmedBy = p.Actor
	}
	r.Answers = insertBefore(r.Answers, p.Answer, func(a Answer) bool {
		return a.Kind == AnswerOpen && p.Kind != AnswerOpen && slices.Contains(ids, a.Finding) && saidSince(a.Writer, a.At, e)
	})
}

// saidSince reports whether what one clone recorded is later, by the clocks of both, than an event of another clone
// that is folded after it. If neither knew of the other, their order in the fold is by chance; an approval or answer is
// then put before what still objects. The order within a clone is certain.
func saidSince(writer string, at time.Time, e Event) bool {
	return writer != e.Writer && at.After(e.Timestamp)
}

// insertBefore returns all with one more element, which stands before the first that objects or else at the end.
func insertBefore[T any](all []T, one T, objects func(T) bool) []T {
	at := slices.IndexFunc(all, objects)
	if at < 0 {
		return append(all, one)
	}
	return slices.Concat(all[:at], []T{one}, all[at:]) // a copy of the review keeps its own
}

// fail records why a reviewer could not be run, keeping the newest failure per reviewer and clone.
func (r *Review) fail(e Event, failure Failure) {
	failure.At, failure.Reviewer, failure.Writer = e.Timestamp, e.Source, e.Writer
	earlier := slices.DeleteFunc(slices.Clone(r.Failures), func(f Failure) bool {
		return f.Reviewer == e.Source && f.Writer == e.Writer
	})
	r.keepFailures(append(earlier, failure))
}

// keepFailures sets the review's failures. Once somebody has answered, it keeps only those of reviewers who have not.
func (r *Review) keepFailures(failures []Failure) {
	if waiting := r.Waiting(); r.Status != ReviewOpen {
		failures = slices.DeleteFunc(failures, func(f Failure) bool { return !slices.Contains(waiting, f.Reviewer) })
	}
	r.Failures, r.Failure = failures, nil
	if newest := last(failures); newest != nil {
		failure := *newest
		r.Failure = &failure
	}
}

// claim claims the review, or renews the holder's claim. A review that nobody has answered stays open: its claimant is
// going to review it, and the claim ends with the claimant's answer.
func (r *Review) claim(e Event, by ActorPayload) {
	claim := Claim{ID: e.ID, By: by.Actor, Writer: e.Writer, At: e.Timestamp, Shared: by.Shared,
		Recorder: r.voice(e, by.Actor).Recorder, ToReview: r.Status == ReviewOpen}
	if old := r.Claim; old != nil && SameActor(old.By, by.Actor) && old.Writer == e.Writer {
		claim.ID, claim.At, claim.Shared, claim.ToReview = old.ID, old.At, old.Shared || by.Shared, old.ToReview
	} else if old != nil {
		r.takeOver(*old, e, by)
	}
	if by.Lease > 0 {
		claim.Until = e.Timestamp.Add(min(time.Duration(by.Lease), MaxLease))
		if claim.Until.Year() > 9999 { // JSON has no later time
			claim.Until = e.Timestamp
		}
	}
	if r.Claim = &claim; r.Status != ReviewOpen {
		r.Status = ReviewClaimed
	}
}

// takeOver ends a claim that another one replaces. A provisional claim that the remote decided against is listed
// in Lost.
func (r *Review) takeOver(old Claim, e Event, by ActorPayload) {
	r.end(old.By, old.Writer, e.Timestamp, true)
	if by.Force || old.Lapsed(e.Timestamp) {
		return
	}
	r.Lost = append(r.Lost, Lost{
		Event: old.ID, Type: e.Type, By: old.By, Actor: old.By, Writer: old.Writer, At: old.At,
		Why: (&StateError{What: "review " + r.ID, Holder: HolderFor(by.Actor, old.By)}).Error(),
	})
}

func (r *Review) reopen(Event, ActorPayload) {
	r.Status, r.Claim, r.ResolvedAt, r.ResolvedBy, r.ClosedAt, r.ClosedBy, r.Note, r.Reopened = ReviewOpen, nil,
		time.Time{}, "", time.Time{}, "", "", true
	if len(r.Submissions) > 0 {
		r.Status = ReviewSubmitted
	}
}

func (r *Review) submit(e Event, submission Submission) {
	submission.At, submission.Event, submission.OtherLog, submission.AuthorRecorded = e.Timestamp, e.ID, "", false
	if submission.Decision == "" && e.Writer != r.Writer {
		submission.OtherLog = e.Writer
	}
	if submission.Voice = (Voice{}); submission.Decision != "" {
		submission.Voice = r.voice(e, submission.Reviewer)
		author := func(actor string) bool { return r.Wrote(actor) || hasPerson(submission.Mapped, actor) }
		wrote := author(submission.Reviewer)
		submission.AuthorRecorded = submission.Decision == Approve && !wrote && author(e.Actor)
		if submission.Looked == LookedPerson && (wrote || submission.AuthorRecorded) {
			submission.Looked = LookedAuthor
		}
	}
	if submission.Decision == Approve {
		submission.Recorder = e.Actor
	}
	submission.asComment()
	answers := r.Claim != nil && SameActor(r.Claim.By, submission.Reviewer) &&
		(r.Claim.ToReview || hasPerson(r.StillAsked(), r.Claim.By))
	taken := comment.IDs(r.Comments())
	for i := range submission.Comments {
		submission.Comments[i].FillIn(submission.Reviewer, taken)
	}
	r.Reopened = false
	r.Submissions = insertBefore(r.Submissions, submission, func(s Submission) bool {
		return s.Decision == RequestChanges && submission.Decision == Approve &&
			SameActor(s.Reviewer, submission.Reviewer) && saidSince(s.Writer, s.At, e)
	})
	r.join()
	if submission.Decision == Approve {
		r.takeBack(e, submission)
	}
	if r.Status == ReviewOpen {
		r.SubmittedAt = e.Timestamp
	}
	if answers { // a claim to review ends with the holder's answer, whatever others say
		r.dropClaim(e, r.Claim.By)
	}
	switch {
	case r.Status == ReviewResolved: // see stands
	case r.Claim != nil:
		r.Status = ReviewClaimed
	default:
		r.Status = ReviewSubmitted
	}
	r.keepFailures(slices.Clone(r.Failures))
}

// takeBack settles what a person objected to in the change as a whole before approving the review by e.
func (r *Review) takeBack(e Event, by Submission) {
	for _, sub := range r.Submissions {
		if sub.Decision != RequestChanges || !SameActor(sub.Reviewer, by.Reviewer) ||
			saidSince(sub.Writer, sub.At, e) || !by.takesBack(sub) {
			continue
		}
		for _, c := range sub.Comments {
			if c.File == "" && r.IsOpen(findingOf(c, sub.Decision)) {
				r.Answers = append(r.Answers, Answer{Finding: c.ID, Kind: AnswerWithdrawn, Reason: "approved since",
					Actor: by.Reviewer, At: e.Timestamp, Voice: by.Voice})
			}
		}
	}
}

// FoldReview folds events, which must be in order, into a review. It skips and reports events that cannot be decoded.
func FoldReview(events []Event) (Review, []error) { return fold(events, (*Review).Apply) }

// StatusAfter returns the status after e, as Run.StatusAfter does.
func (r Review) StatusAfter(e Event) string {
	_ = r.Apply(e)
	return string(r.Status)
}

func (r *Review) verified(e Event, v Verification) {
	v.At, v.Event, v.AuthorRan, v.Unproven = e.Timestamp, e.ID, r.Wrote(e.Actor), e.Unproven
	r.Verifications = append(r.Verifications, v)
}

// Answerable returns a *StateError if nobody can answer findings of the review as it is now.
func (r Review) Answerable() error {
	return r.allow(EventReviewAnswered.Name, ActorPayload{Force: true}, time.Time{})
}

// Claimable returns a *StateError if by may not claim the review in the clone of writer.
func (r Review) Claimable(by Hold, writer string, now time.Time) error {
	claim := by.Payload()
	claim.writer = writer
	return r.allow(EventReviewClaimed.Name, claim, now)
}

// Admit decides whether d may be recorded for the review now, in the clone of writer. settled reports that d would
// change nothing that counts and need not be recorded. The error is a *StateError that says why d is not allowed.
func (r Review) Admit(d NewEvent, writer string, now time.Time) (settled bool, err error) {
	var by ActorPayload
	if acts, ok := d.Payload.(interface{ by() (ActorPayload, bool) }); ok {
		by, _ = acts.by()
	}
	by.writer = writer
	if r.settled(d, by) {
		return true, nil
	}
	return false, r.allow(d.Type, by, now)
}

// MayComment returns a *StateError if actor may not submit comments on the review.
func (r Review) MayComment(actor string, now time.Time) error {
	err := r.allow(EventReviewSubmitted.Name, ActorPayload{Actor: actor}, now)
	if refused := new(StateError); errors.As(err, &refused) {
		refused.Cannot = CannotComment
	}
	return err
}

// settled reports whether an event would change nothing that counts.
func (r Review) settled(d NewEvent, by ActorPayload) bool {
	switch p := d.Payload.(type) {
	case Submission:
		return r.Sent(p.Reviewer, p.Key)
	case Move:
		return r.hasMoved(p)
	case ActorPayload:
		return d.Type == EventReviewResolved.Name && r.Status == ReviewResolved ||
			d.Type == EventReviewCancelled.Name && r.Status == ReviewCancelled ||
			d.Type == EventReviewClaimed.Name && r.Claim != nil && (r.Status == ReviewClaimed || r.Status == ReviewOpen) &&
				p.Lease == 0 && r.Claim.sameAs(by)
	}
	return false
}
