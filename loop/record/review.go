package record

import (
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/track"
)

// sameAs reports whether a claim for good by by is the one that stands.
func (c *Claim) sameAs(by ActorPayload) bool {
	return SameActor(c.By, by.Actor) && c.Writer == by.writer && c.Until.IsZero() && (c.Shared || !by.Shared) && (by.Claim == "" || c.Is(by.Claim))
}

// FormatReviewMessage is comments as Markdown for whoever addresses them: see comment.Message.
func FormatReviewMessage(comments []Comment) string { return comment.Message(comments) }

// DecodeComments reads a JSON list of comments as comment.Decode does; what is wrong with it is an *InputError.
func DecodeComments(data []byte) ([]Comment, error) {
	comments, err := comment.Decode(data)
	if err != nil {
		err = &InputError{err.Error()}
	}
	return comments, err
}

// MaxMessage is how long the message of a request is, in bytes.
const MaxMessage = 64 << 10

// ReviewRequest asks for comments. Reviewer is builtin, human or an agent's name.
type ReviewRequest struct {
	Subject  Subject  `json:"subject"`
	Message  string   `json:"message,omitempty"`
	Reviewer string   `json:"reviewer"`
	Others   []string `json:"other_reviewers,omitempty"` // asked as well
	People   []string `json:"people,omitempty"`          // "Name <address>" of those whom a review by a person asks; none: anybody
	Run      string   `json:"run_id,omitempty"`          // that goes on from the answer
	Round    int      `json:"round,omitempty"`           // of Run
	NoChecks bool     `json:"no_checks,omitempty"`       // run none
	Follows  string   `json:"follows,omitempty"`         // the review whose code changed since: its findings are to be looked at again
	Panel
}

// Panel is what a request says of how its reviewers look, and how what they say is counted.
type Panel struct {
	Quorum int    `json:"quorum,omitempty"` // how many agents must say that a change does not pass; 0 is 1
	Judge  string `json:"judge,omitempty"`  // the agent that rules on what they find; "": nobody does
	// Kind is what they look for, "" for everything; KindPrompt says it where that is none
	// of this program's own kinds.
	Kind       string `json:"review_kind,omitempty"`
	KindPrompt string `json:"kind_prompt,omitempty"`
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

// Part reports whether only some paths, or one kind of fault, are looked at: what is wrong
// counts, and that nothing is wrong does not say that the change was reviewed.
func (r ReviewRequest) Part() bool { return len(r.Subject.Paths) > 0 || r.Kind != "" }

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
	ID            string         `json:"review_id"`
	Status        ReviewStatus   `json:"status"`
	Request       ReviewRequest  `json:"request"`
	RequestedBy   string         `json:"requested_by"`
	Source        string         `json:"source"`
	Writer        string         `json:"writer"`
	Clock         uint64         `json:"clock"` // of the request: the order in which reviews were asked for
	CreatedAt     time.Time      `json:"created_at"`
	UpdatedAt     time.Time      `json:"updated_at"`
	SubmittedAt   time.Time      `json:"submitted_at,omitzero"`
	ResolvedAt    time.Time      `json:"resolved_at,omitzero"`
	ResolvedBy    string         `json:"resolved_by,omitempty"`
	ClosedAt      time.Time      `json:"closed_at,omitzero"` // resolved or cancelled
	Submissions   []Submission   `json:"submissions"`
	Claim         *Claim         `json:"claim,omitempty"`
	Ended         []EndedClaim   `json:"ended_claims,omitempty"` // oldest first
	Judgements    []Judgement    `json:"judgements,omitempty"`
	Audience      string         `json:"audience,omitempty"` // who sees it: "private", a remote's name, "" for all; filled in by the store
	Verifications []Verification `json:"verifications,omitempty"`
	Answers       []Answer       `json:"answers,omitempty"`    // what became of findings and comments, oldest first
	Replies       []Reply        `json:"replies,omitempty"`    // what was said in threads, oldest first
	Redactions    []Redaction    `json:"redactions,omitempty"` // what was taken back, oldest first
	Note          string         `json:"note,omitempty"`       // of the resolution or cancellation
	Reopened      bool           `json:"reopened,omitempty"`   // by somebody, and nothing was submitted since
	Failure       *Failure       `json:"failure,omitempty"`    // the newest of Failures
	Failures      []Failure      `json:"failures,omitempty"`   // why reviewers could not be run, last time, one for each and each clone
	Lost          []Lost         `json:"lost,omitempty"`
	Moves         []Move         `json:"moves,omitempty"` // where its code went, as it was noticed
	panel         [][]track.At   // findings of several agents that are the same, as submissions have them
	same          [][]string     // their ids, where these differ
	Usage         spend.Usage    `json:"usage,omitzero"` // of all calls, with those that gave no answer
	Spending      spend.Spending `json:"usage_by_agent,omitempty"`

	alike map[track.At][]track.At // for the first of a group, the findings of others that may be the same
}

// minClaimID is how many digits name a claim.
const minClaimID = 7

// Is reports whether id, or the digits with which it begins, names the claim.
func (c *Claim) Is(id gitstore.ID) bool {
	return c.ID == id || len(id) >= minClaimID && strings.HasPrefix(string(c.ID), string(id))
}
