package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/track"
)

// sameAs reports whether a claim by by without a lease would equal c.
func (c *Claim) sameAs(by ActorPayload) bool {
	return SameActor(c.By, by.Actor) && c.Writer == by.writer && c.Until.IsZero() && (c.Shared || !by.Shared) &&
		(by.Claim == "" || c.Is(by.Claim))
}

// FormatReviewMessage formats comments as Markdown for whoever addresses them: see comment.Message.
func FormatReviewMessage(comments []Comment) string { return comment.Message(comments) }

// DecodeComments decodes a JSON list of comments as comment.Decode does. Its errors are *InputErrors.
func DecodeComments(data []byte) ([]Comment, error) {
	comments, err := comment.Decode(data)
	if err != nil {
		err = &InputError{err.Error()}
	}
	return comments, err
}

// MaxMessage is the maximum length of a request's message, in bytes.
const MaxMessage = 64 << 10

// ReviewRequest asks for comments. Reviewer is "builtin", "human" or an agent's name.
type ReviewRequest struct {
	Subject  Subject  `json:"subject"`
	Message  string   `json:"message,omitempty"`
	Reviewer string   `json:"reviewer"`
	Others   []string `json:"other_reviewers,omitempty"` // more reviewers
	Run      string   `json:"run_id,omitempty"`          // the run that continues with the answer
	Round    int      `json:"round,omitempty"`           // the round of Run
	NoChecks bool     `json:"no_checks,omitempty"`       // do not run checks
	// the earlier review of the same code before it changed; its findings are looked at again
	Follows string `json:"follows,omitempty"`
	Invited        // the people asked, if a person reviews
	Panel
}

// Panel says what the reviewers look for, and how their answers are counted.
type Panel struct {
	Quorum int    `json:"quorum,omitempty"` // how many agents must fail a change for it to fail; 0 means 1
	Judge  string `json:"judge,omitempty"`  // the agent that rules on their findings; "": none
	// Kind is what they look for, "" for everything. KindPrompt describes it if it is not one of this program's own
	// kinds.
	Kind       string `json:"review_kind,omitempty"`
	KindPrompt string `json:"kind_prompt,omitempty"`
}

// Reviewers returns all reviewers asked, without duplicates.
func (r ReviewRequest) Reviewers() []string {
	all := []string{r.Reviewer}
	for _, name := range r.Others {
		all = each.Once(all, name)
	}
	return all
}

// Part reports whether the request covers only some paths or one kind of fault. Its findings count, but without
// findings it does not make the change reviewed.
func (r ReviewRequest) Part() bool { return len(r.Subject.Paths) > 0 || r.Kind != "" }

// Limits says in words what keeps a submission from standing for the whole change, or from being an approval of
// somebody else, or returns "".
func (r Review) Limits(sub Submission) string {
	var limits []string
	if sub.Decision == Approve && (r.Wrote(sub.Reviewer) || hasPerson(sub.Mapped, sub.Reviewer)) {
		limits = append(limits, "by an author of the change")
	}
	if r.Request.Kind != "" {
		limits = append(limits, "only for "+r.Request.Kind)
	}
	if paths := r.Request.Subject.Paths; len(paths) > 0 {
		limits = append(limits, "only "+prose.FirstNames(paths, filesInSummary))
	}
	return strings.Join(limits, ", ")
}

// Claim says who has claimed a review to address it, and until when. A live holder renews the claim.
type Claim struct {
	ID     gitstore.ID `json:"id"` // the event that made the claim; renewals keep it
	By     string      `json:"by"`
	Writer string      `json:"writer"` // the clone that claimed; one name in two clones is two claimants
	At     time.Time   `json:"at"`
	Until  time.Time   `json:"until,omitzero"`   // zero: until released
	Shared bool        `json:"shared,omitempty"` // granted by the remote
	// Recorder is the identity that git gave the claim, if it is in another person's name.
	Recorder string `json:"recorded_by,omitempty"`
	// ToReview says that nobody had answered yet, so that the holder's answer ends the claim.
	ToReview bool `json:"to_review,omitempty"`
}

// Name returns the holder as typed and, if somebody else recorded the claim in that name, by whom and in which log.
func (c Claim) Name() string { return Voice{Recorder: c.Recorder, Writer: c.Writer}.named(c.By) }

// EndedClaim is a claim that was released or lost to somebody else.
type EndedClaim struct {
	By     string    `json:"by"`
	Writer string    `json:"writer"`
	At     time.Time `json:"at"` // when it ended
	Lost   bool      `json:"lost,omitempty"`
}

// MaxLease is the longest lease of a claim; longer leases are cut to it.
const MaxLease = 366 * 24 * time.Hour

// Lapsed reports whether the claim's lease has run out at now, so that others may claim.
func (c *Claim) Lapsed(now time.Time) bool { return !c.Until.IsZero() && !now.Before(c.Until) }

// Lost is an event that the fold skipped because the state did not allow it. It came from a clone that did not know
// an earlier event that excludes it.
type Lost struct {
	Event  gitstore.ID `json:"event"`
	Type   string      `json:"type"`
	By     string      `json:"by"`              // author of the event
	Actor  string      `json:"actor,omitempty"` // the name under which By acted, if the event has one
	Writer string      `json:"writer,omitempty"`
	At     time.Time   `json:"at,omitzero"`
	Why    string      `json:"why"`
}

// Review is a request for comments and its results, folded from its events.
type Review struct {
	ID          string        `json:"review_id"`
	Status      ReviewStatus  `json:"status"`
	Request     ReviewRequest `json:"request"`
	RequestedBy string        `json:"requested_by"`
	Source      string        `json:"source"`
	Writer      string        `json:"writer"`
	// Logs maps the logs with events of the review to the identity of the first event in each.
	Logs        map[string]string `json:"logs,omitempty"`
	Clock       uint64            `json:"clock"` // the request's clock: the order in which reviews were requested
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	SubmittedAt time.Time         `json:"submitted_at,omitzero"`
	ResolvedAt  time.Time         `json:"resolved_at,omitzero"`
	ResolvedBy  string            `json:"resolved_by,omitempty"`
	ClosedBy    string            `json:"closed_by,omitempty"` // who resolved or cancelled it, with whoever recorded that
	ClosedAt    time.Time         `json:"closed_at,omitzero"`  // when it was resolved or cancelled
	Submissions []Submission      `json:"submissions"`
	Claim       *Claim            `json:"claim,omitempty"`
	Ended       []EndedClaim      `json:"ended_claims,omitempty"` // oldest first
	Handovers   []Handover        `json:"given,omitempty"`        // to whom it was given instead, oldest first
	Judgements  []Judgement       `json:"judgements,omitempty"`
	// who can see it: "private", a remote's name, "" for all; filled in by the store
	Audience      string         `json:"audience,omitempty"`
	Verifications []Verification `json:"verifications,omitempty"`
	Answers       []Answer       `json:"answers,omitempty"`    // answers to findings and comments, oldest first
	Replies       []Reply        `json:"replies,omitempty"`    // replies in threads, oldest first
	Redactions    []Redaction    `json:"redactions,omitempty"` // oldest first
	Note          string         `json:"note,omitempty"`       // the note of the resolution or cancellation
	Reopened      bool           `json:"reopened,omitempty"`   // somebody reopened it, and nothing was submitted since
	Failure       *Failure       `json:"failure,omitempty"`    // the newest of Failures
	Failures      []Failure      `json:"failures,omitempty"`   // the newest failure of each reviewer in each clone
	Lost          []Lost         `json:"lost,omitempty"`
	Moves         []Move         `json:"moves,omitempty"` // where its code went, in the order noticed
	panel         [][]track.At   // groups of findings of several agents that are the same
	same          [][]string     // the ids of each group, if they differ
	Usage         spend.Usage    `json:"usage,omitzero"` // of all calls, including those without an answer
	Spending      spend.Spending `json:"usage_by_agent,omitempty"`

	early        []Event                 // of a review whose request is not here yet: see Apply
	requestEvent gitstore.ID             // the event with Request
	others       []sameIDRequest         // requests of something else with the same id
	withheld     withheld                // see Redaction
	refusing     []Thread                // threads of earlier rounds that refuse: see Carrying
	alike        map[track.At][]track.At // the first finding of a group → findings of others that may be the same
}

// minClaimID is the minimum number of digits that identify a claim.
const minClaimID = 7

// Is reports whether id, or a prefix of the claim's id, identifies the claim.
func (c *Claim) Is(id gitstore.ID) bool {
	return c.ID == id || len(id) >= minClaimID && strings.HasPrefix(string(c.ID), string(id))
}

// The change under review: see package change.
type (
	Subject     = change.Subject
	SubjectKind = change.Kind
)

const (
	SubjectCommit   = change.Commit
	SubjectRange    = change.Range
	SubjectWorktree = change.Worktree
	SubjectStaged   = change.Staged
)

// Comments of people on lines: see package comment.
type (
	Comment = comment.Comment
	Side    = comment.Side
)

const (
	SideNew = comment.New
	SideOld = comment.Old
)

// Amending, rebasing, squashing or merging on a forge replaces the reviewed commit. A Move event records where the
// code of a review went, together with the notes of the old commit, so that every clone writes the same notes on
// the new one.

// MoveState is what became of the code that a review saw.
type MoveState string

const (
	MoveCarried MoveState = "carried" // another commit has the same change with the same content
	MoveStale   MoveState = "stale"   // the replacement has other content and has to be reviewed again
	MoveGone    MoveState = "gone"    // neither the code nor a replacement is on any branch
)

// Move records where the code of a review went.
type Move struct {
	From  gitstore.ID `json:"from"`            // the commit that was reviewed
	To    gitstore.ID `json:"to,omitempty"`    // the commit that has the code now; "" if it is gone
	Base  gitstore.ID `json:"base,omitempty"`  // the commit that To is compared with
	State MoveState   `json:"state"`           //
	How   string      `json:"how,omitempty"`   // what git reported: amend, rebase; "" if To was found by content or author
	Again string      `json:"again,omitempty"` // for stale code: the review of To
	// To's committer date, the same in every clone; if the code is gone, the event's time
	When time.Time `json:"when"`
	Said []Saying  `json:"said,omitempty"` // for carried code: the lines of From's note
	// Unseen lists, for a carried range, the commits that its reviewer did not see.
	Unseen []gitstore.ID `json:"unseen_commits,omitempty"`
}

func (m Move) same(o Move) bool { return m.To == o.To && m.State == o.State }

func (m Move) by() (who ActorPayload, held bool) { return ActorPayload{}, false }

func (m Move) Title() string {
	if m.To == "" {
		return fmt.Sprintf("%s is %s", m.From.Short(), m.State)
	}
	return fmt.Sprintf("%s to %s, %s", m.From.Short(), m.To.Short(), m.State)
}

// moved records where the code went, once.
func (r *Review) moved(e Event, m Move) {
	if m.State == MoveGone && e.Writer != r.Writer { // only the clone that requested the review looks for its code
		return
	}
	if !r.hasMoved(m) {
		r.Moves = append(slices.Clip(r.Moves), m)
	}
}

// hasMoved reports whether m is recorded already. Code that is gone may come back and go again.
func (r Review) hasMoved(m Move) bool {
	if n := len(r.Moves); m.State == MoveGone || n > 0 && r.Moves[n-1].State == MoveGone {
		return n > 0 && r.Moves[n-1].same(m)
	}
	return slices.ContainsFunc(r.Moves, m.same)
}

// At returns the commit that has the code of the review now: the newest it was carried to, else the reviewed one.
func (r Review) At() gitstore.ID {
	for _, m := range slices.Backward(r.Moves) {
		if m.State == MoveCarried {
			return m.To
		}
	}
	return r.Request.Subject.Commit
}

// NoBranch begins the sentence that says where code is gone. Only the clone that requested a review looks for its code;
// branches of other clones may have it.
const NoBranch = "no branch of the clone that requested it"

// Whereabouts describes where the code went, one line per move.
func (r Review) Whereabouts() []string {
	var lines []string
	for _, m := range r.Moves {
		switch {
		case m.State == MoveGone:
			lines = append(lines, "gone: "+NoBranch+" has "+m.From.Short()+" any more")
		case m.To == m.From:
			lines = append(lines, m.To.Short()+" is on a branch again")
		case m.State == MoveCarried:
			lines = append(lines, fmt.Sprintf("carried to %s, recorded as the same change", m.To.Short()))
		case m.Again != "":
			lines = append(lines, fmt.Sprintf("stale: %s, recorded as another change, asked again as %s", m.To.Short(), m.Again))
		default:
			lines = append(lines, fmt.Sprintf("stale: %s, recorded as another change", m.To.Short()))
		}
	}
	return lines
}
