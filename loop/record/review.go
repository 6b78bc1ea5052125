package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/track"
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

// What people say of lines: see package comment.
type (
	Comment = comment.Comment
	Side    = comment.Side
)

const (
	SideNew = comment.New
	SideOld = comment.Old
)

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

// Submission is one reviewer's answer to a request.
type Submission struct {
	Reviewer  string            `json:"reviewer"`
	Looked    Looked            `json:"looked,omitempty"`      // who that is; filled in when it is read
	Recorder  string            `json:"recorded_by,omitempty"` // the identity that recorded an approval; filled in by the fold
	Report    reply.Report      `json:"report"`
	Outcome   Outcome           `json:"outcome"`
	Decision  Decision          `json:"decision,omitempty"` // a person's
	Key       string            `json:"key,omitempty"`      // by which a submission that is sent twice is one
	Comments  []Comment         `json:"comments,omitempty"`
	Commit    gitstore.ID       `json:"commit,omitempty"`
	Tree      gitstore.ID       `json:"tree,omitempty"`           // the tree that was seen
	Unseen    []gitstore.ID     `json:"unseen_commits,omitempty"` // of a range: commits that did more than is left of it at its end
	Change    string            `json:"change,omitempty"`         // what was seen, as gitstore.ChangeIDs names it
	Census    Census            `json:"census"`
	Checks    []CheckResult     `json:"checks,omitempty"`
	At        time.Time         `json:"at,omitzero"` // filled in by the fold
	Duration  duration.Duration `json:"duration_ms,omitzero"`
	SkippedBy []string          `json:"not_checked,omitempty"` // checks that were not run, and why
	Told      *Instructions     `json:"instructions,omitempty"`
	spend.Spent
	Event gitstore.ID `json:"event,omitempty"` // that records it and keeps what it left behind; filled in by the fold
}

// Said returns what the reviewer came to, and beside it the checks that keep the change from passing. Rules weigh
// their checks themselves.
func (s Submission) Said() string {
	if s.Reviewer == Builtin {
		return s.Report.Says()
	}
	return saidBeside(s.Reviewer, s.Report, s.Checks)
}

// Instructions are what a project told a reviewer, as the base of the change has it.
type Instructions struct {
	Path  string      `json:"path"`
	Blob  gitstore.ID `json:"blob"`
	Base  gitstore.ID `json:"base"`
	Bytes int         `json:"bytes"`
	Told  int         `json:"told_bytes,omitempty"` // the first of them, where that is not all
}

// String is what was told, for people.
func (i Instructions) String() string {
	cut := ""
	if i.Told > 0 {
		cut = fmt.Sprintf(", the first %d of its %d bytes", i.Told, i.Bytes)
	}
	return fmt.Sprintf("%s of %s (blob %s%s)", i.Path, i.Base.Short(), i.Blob.Short(), cut)
}

// Decision is a person's verdict.
type Decision string

const (
	Approve        Decision = "approve"
	RequestChanges Decision = "request_changes"
	CommentOnly    Decision = "comment"
)

// Words say a decision to people; "" where there is none.
func (d Decision) Words() string {
	switch d {
	case Approve:
		return "approved"
	case RequestChanges:
		return "changes requested"
	case CommentOnly:
		return "commented"
	}
	return ""
}

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
	Verifications []Verification `json:"verifications,omitempty"`
	Answers       []Answer       `json:"answers,omitempty"`  // what became of findings and comments, oldest first
	Note          string         `json:"note,omitempty"`     // of the resolution or cancellation
	Reopened      bool           `json:"reopened,omitempty"` // by somebody, and nothing was submitted since
	Failure       *Failure       `json:"failure,omitempty"`  // the newest of Failures
	Failures      []Failure      `json:"failures,omitempty"` // why reviewers could not be run, last time, one for each and each clone
	Lost          []Lost         `json:"lost,omitempty"`
	Moves         []Move         `json:"moves,omitempty"` // where its code went, as it was noticed
	panel         [][]track.At   // findings of several agents that are the same, as submissions have them
	same          [][]string     // their ids, where these differ
	Usage         spend.Usage    `json:"usage,omitzero"` // of all calls, with those that gave no answer
	Spending      spend.Spending `json:"usage_by_agent,omitempty"`

	alike map[track.At][]track.At // for the first of a group, the findings of others that may be the same
}

// Failure is why an agent or a reviewer gave no answer: a stop reason and its detail.
type Failure struct {
	Reason   string    `json:"reason"`
	Detail   string    `json:"detail,omitempty"`
	Reviewer string    `json:"reviewer,omitempty"` // of a review: who it was
	Writer   string    `json:"writer,omitempty"`   // of a review: the clone in which it failed; filled in by the fold
	At       time.Time `json:"at,omitzero"`
	// LastActivity is when an agent last wrote something, where that is known.
	LastActivity time.Time        `json:"last_activity_at,omitzero"`
	Setting      *runplan.Setting `json:"setting,omitempty"` // the limit that ended it
	Reached      spend.Usage      `json:"reached,omitzero"`  // what was spent, where Setting bounds that
	// Transient says that the same may well work later: a rate limit, a broken connection.
	Transient bool `json:"transient,omitempty"`
	// RetryAfter is how long the provider wants to be left alone, by its own words.
	RetryAfter  duration.Duration `json:"retry_after_ms,omitzero"`
	Tries       int               `json:"tries,omitempty"`   // of a review: how often in a row
	RetryAt     time.Time         `json:"retry_at,omitzero"` // of a review: when it is tried again by itself
	Try         string            `json:"try,omitempty"`     // a command that may mend it
	Undo        []string          `json:"undo,omitempty"`    // commands that put back what the agent changed outside of its work
	spend.Spent                   // of a review: what it cost all the same
}

// outcomeRank orders outcomes from the best to the worst.
var outcomeRank = map[Outcome]int{OutcomeNothing: 1, OutcomePassed: 2, OutcomeCommented: 3, OutcomePartial: 4, OutcomeFailed: 5}

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

// Findings are those of all submissions, in order, with the comments of people: see Joined.
func (r Review) Findings() []reply.Finding {
	var all []reply.Finding
	for _, j := range r.Joined() {
		all = append(all, j.Finding)
	}
	return all
}

// Findings are what the submission found, with its comments.
func (s Submission) Findings() []reply.Finding {
	all := slices.Clone(s.Report.Findings)
	for _, c := range s.Comments {
		all = append(all, findingOf(c, s.Decision))
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

// answered reports whether an agent has answered on tree. People may answer again.
func (r Review) answered(agent string, tree gitstore.ID) bool {
	return slices.ContainsFunc(r.Submissions, func(s Submission) bool { return s.Decision == "" && s.Reviewer == agent && s.Tree == tree })
}

// Waiting are the reviewers who were asked and have not answered, and then the judge.
func (r Review) Waiting() []string {
	waiting := slices.DeleteFunc(r.Request.Reviewers(), r.hasAnswered)
	if r.awaitsJudge() {
		waiting = append(waiting, JudgeTurn(r.Request.Judge))
	}
	return waiting
}

// ActorPayload is the payload of claims, releases, resolutions and cancellations.
type ActorPayload struct {
	Actor  string            `json:"actor"`
	Force  bool              `json:"force,omitempty"`
	Note   string            `json:"note,omitempty"`
	Lease  duration.Duration `json:"lease_ms,omitzero"` // of a claim; 0: until it is released
	Commit gitstore.ID       `json:"commit,omitempty"`  // where the note of a resolution goes
	Claim  gitstore.ID       `json:"claim,omitempty"`   // the claim under which it is done, or its first digits
	Shared bool              `json:"shared,omitempty"`  // of a claim: the remote decided
	writer string            // the clone in which it is done
	tree   gitstore.ID       // of a submission of an agent: what it saw
	Quiet  bool              `json:"-"` // without a note
}

// Verdicts are the submissions that stand and say more than a comment.
func (r Review) Verdicts() []Submission {
	return slices.DeleteFunc(r.Standing(), func(s Submission) bool { return s.Outcome == OutcomeCommented || s.Outcome == OutcomeNothing })
}

// Itself is the actor of what this program does to reviews by itself.
const Itself = "git-runr"

// Human names a person as reviewer or implementer: nothing is started.
const Human = "human"

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
	case f.Reason == ReasonSpent && f.Setting != nil:
		return Retry{fmt.Sprintf("tried again by git runr work after %s; at once, with a higher limit:", f.RetryAt.UTC().Format(time.DateTime+"Z")), append([]string{f.Setting.Raised(f.Reached)}, again...)}
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

// FailedTurn is a reviewer that could not be run in a clone. What keeps it from working
// there, such as a program that is missing, need not be so in another.
type FailedTurn struct {
	Reviewer string    `json:"reviewer"`
	Writer   string    `json:"writer"`
	RetryAt  time.Time `json:"retry_at,omitzero"` // when it is tried again by itself; zero: when a person asks
}

// FailedTurns are the reviewers that could not be run, oldest failure first.
func (r Review) FailedTurns() []FailedTurn {
	var turns []FailedTurn
	for _, f := range r.Failures {
		turns = append(turns, FailedTurn{f.Reviewer, f.Writer, f.RetryAt})
	}
	return turns
}

// SettledFinding reports whether f was fixed or refuted since.
func (r Review) SettledFinding(f reply.Finding) bool {
	answer, _ := r.AnswerTo(f.ID)
	return answer.Kind != AnswerDeferred && !r.IsOpen(f)
}

// IsOpen reports whether somebody has to say more of f: nobody answered, it is still there, or it is critical and
// only claimed to be fixed.
func (r Review) IsOpen(f reply.Finding) bool {
	answer, answered := r.AnswerTo(f.ID)
	return !answered || answer.Kind == AnswerOpen || answer.Claimed() && f.Severity == reply.Critical
}

// Claimed are the findings that are fixed or gone by somebody's word alone.
func (r Review) Claimed() []reply.Finding {
	return slices.DeleteFunc(r.Findings(), func(f reply.Finding) bool { answer, _ := r.AnswerTo(f.ID); return !answer.Claimed() })
}

// finding is the comment as something to fix, with the comment's id.
func findingOf(c Comment, d Decision) reply.Finding {
	unsaid := reply.Warning
	if d == Approve {
		unsaid = reply.Note
	}
	f := reply.Finding{ID: c.ID, Severity: cmp.Or(c.Severity, unsaid), File: c.File, Line: c.StartLine, Issue: c.Comment}
	if c.EndLine > c.StartLine {
		f.EndLine = c.EndLine
	}
	return f
}

// AnswerTo is the newest answer to a finding or comment, by any of its ids; ok is false
// without one.
func (r Review) AnswerTo(finding string) (answer Answer, ok bool) {
	all := r.AnswersTo(finding)
	if len(all) == 0 {
		return answer, false
	}
	return all[len(all)-1], true
}

// AnswersTo are the answers to a finding or comment, by any of its ids, oldest first.
func (r Review) AnswersTo(finding string) []Answer {
	ids := r.sameIDs(finding)
	return slices.DeleteFunc(slices.Clone(r.Answers), func(a Answer) bool { return !slices.Contains(ids, a.Finding) })
}

// Open are the findings and comments without an answer that closes them: see IsOpen.
func (r Review) Open() []reply.Finding {
	return slices.DeleteFunc(r.Findings(), func(f reply.Finding) bool { return !r.IsOpen(f) })
}

// Unanswered are the ids of Open.
func (r Review) Unanswered() []string {
	ids := []string{}
	for _, f := range r.Open() {
		ids = append(ids, f.ID)
	}
	return ids
}

// Words are the submission in its reviewer's own words: an agent's answer, or a
// person's message and comments.
func (s Submission) Words() reply.Words {
	said := append([]string{cmp.Or(s.Report.Text, s.Report.Summary)}, comment.Blocks(s.Comments)...)
	return reply.Words{By: s.Reviewer, Text: prose.CutMiddle(strings.TrimSpace(strings.Join(said, "\n\n")), reply.MaxText)}
}

// Requests are what the submission asks for beside its findings. Whoever only commented
// and gave no verdict asks for what the message says, once somebody wants it done.
func (s Submission) Requests() []string {
	if s.Outcome == OutcomeCommented && len(s.Comments) == 0 {
		return slices.Concat(s.Report.Requests, reply.FirstWords(markdown.Split(s.Report.Summary)))
	}
	return s.Report.Requests
}

// FindingAnswer is the payload of an answer.
type FindingAnswer struct {
	Answer
	Force bool        `json:"force,omitempty"` // although somebody else holds the review
	Claim gitstore.ID `json:"claim,omitempty"` // the claim under which it is done
}
