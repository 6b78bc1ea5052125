package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/spend"
)

// ReviewSummary is one line of the inbox.
type ReviewSummary struct {
	ID           string        `json:"review_id"`
	Status       ReviewStatus  `json:"status"`
	Outcome      Outcome       `json:"outcome,omitempty"`
	Looked       Looked        `json:"looked,omitempty"`
	Approvers    []Approver    `json:"approved_by,omitempty"`
	Verdict      reply.Verdict `json:"verdict,omitempty"`    // the worst effective one that stands; "" while nobody gave one
	Unreadable   bool          `json:"unreadable,omitempty"` // that verdict is of answers that nobody could read
	Reviewer     string        `json:"reviewer"`
	Run          string        `json:"run_id,omitempty"` // that goes on from the answer
	Kind         SubjectKind   `json:"kind"`
	Spec         string        `json:"spec"`
	Commit       gitstore.ID   `json:"commit,omitempty"`
	Title        string        `json:"title,omitempty"`
	Message      string        `json:"message,omitempty"`
	Source       string        `json:"source"`
	Writer       string        `json:"writer"`
	Redacted     bool          `json:"redacted,omitempty"` // something of it was taken back
	Audience     string        `json:"audience,omitempty"` // as Review has it; filled in by the store
	RequestedBy  string        `json:"requested_by"`
	Branch       string        `json:"branch,omitempty"`
	Author       string        `json:"author,omitempty"` // of the commit
	CommentCount int           `json:"comment_count"`    // findings and comments
	Critical     int           `json:"critical"`         // of those without an answer, by severity
	Warnings     int           `json:"warnings"`
	Notes        int           `json:"notes"`
	Claimed      int           `json:"claimed_fixed,omitempty"` // findings that are fixed or gone by somebody's word alone
	FixedBy      []gitstore.ID `json:"fixed_by,omitempty"`      // commits in which something of it is said to be fixed or gone
	Asked        string        `json:"asked,omitempty"`         // the first request of a review without any
	Others       []string      `json:"other_reviewers,omitempty"`
	People       []string      `json:"people,omitempty"`      // who is asked where a person is; none: anybody
	Waiting      []string      `json:"waiting_for,omitempty"` // reviewers who have not answered
	Absent       []string      `json:"absent,omitempty"`      // of them, those without whom it is complete
	Outvoted     bool          `json:"outvoted,omitempty"`    // agents found that it does not pass, fewer than the quorum
	ReviewKind   string        `json:"review_kind,omitempty"` // what was looked for; "" for everything
	Files        []string      `json:"files,omitempty"`       // that were asked about, or commented on
	ClaimedBy    string        `json:"claimed_by,omitempty"`
	ClaimedAt    time.Time     `json:"claimed_at,omitzero"`
	ClaimedUntil time.Time     `json:"claimed_until,omitzero"`
	ResolvedBy   string        `json:"resolved_by,omitempty"`
	ResolvedAt   time.Time     `json:"resolved_at,omitzero"`
	ClosedAt     time.Time     `json:"closed_at,omitzero"`         // resolved or cancelled
	Lost         int           `json:"lost,omitempty"`             // steps that the fold did not count
	Failure      string        `json:"failure,omitempty"`          // stop reason, when a reviewer could not be run
	Failed       []string      `json:"failed_reviewers,omitempty"` // who could not be run
	// RetryAt is when those of them are tried again by themselves that are.
	RetryAt     map[string]time.Time `json:"retry_at,omitempty"`
	FailedTurns []FailedTurn         `json:"failed_turns,omitempty"` // the same for each clone by itself
	Clock       uint64               `json:"clock"`                  // as Review has it
	CreatedAt   time.Time            `json:"created_at"`
	SubmittedAt time.Time            `json:"submitted_at,omitzero"`
	UpdatedAt   time.Time            `json:"updated_at"`
	// What commits the review speaks for: see Cover.
	Base    gitstore.ID   `json:"base,omitempty"`
	Paths   bool          `json:"only_paths,omitempty"`     // it looked at some paths only
	Change  string        `json:"change,omitempty"`         // what was seen, as gitstore.ChangeIDs names it; "" while nothing was
	Unseen  []gitstore.ID `json:"unseen_commits,omitempty"` // as Submission has it
	Unshown bool          `json:"unshown,omitempty"`        // there is a change, and nothing of it was shown
	LeftOut int           `json:"left_out,omitempty"`       // files that were left out
	// RedOnBase are checks that fail without the change too.
	RedOnBase []string    `json:"red_on_base,omitempty"`
	Moves     []Move      `json:"moves,omitempty"` // without what was said
	Open      int         `json:"open_findings"`   // findings and comments that are neither fixed nor refuted
	Usage     spend.Usage `json:"usage,omitzero"`

	Spending spend.Spending `json:"usage_by_agent,omitempty"`

	Follows string   `json:"follows,omitempty"`      // as ReviewRequest has it
	BackTo  []string `json:"back_to,omitempty"`      // as Review.BackTo has it
	Back    int      `json:"back_claimed,omitempty"` // what those have to look at
}

// Summary is r as one line of the inbox.
func (r Review) Summary() ReviewSummary {
	s := ReviewSummary{
		ID: r.ID, Status: r.Status, Outcome: r.Outcome(), Looked: r.Looked(), Approvers: r.approvers(), Reviewer: r.Request.Reviewer, Run: r.Request.Run,
		Kind: r.Request.Subject.Kind, Spec: r.Request.Subject.Spec, Commit: r.Request.Subject.Commit,
		Title: r.Request.Subject.Title, Message: r.Request.Message, Redacted: len(r.Redactions) > 0, Source: r.Source, Writer: r.Writer,
		RequestedBy: r.RequestedBy, ResolvedBy: r.ResolvedBy, ResolvedAt: r.ResolvedAt, ClosedAt: r.ClosedAt, Lost: len(r.Lost), Verdict: r.Verdict(),
		Clock: r.Clock, CreatedAt: r.CreatedAt, SubmittedAt: r.SubmittedAt, UpdatedAt: r.UpdatedAt,
		Others: r.Request.Others, People: r.Request.People, Waiting: r.Waiting(), Absent: r.Absent(), Outvoted: r.Outvoted(), ReviewKind: r.Request.Kind, Files: r.summaryFiles(),
		Branch: r.Request.Subject.Branch, Author: r.Request.Subject.Author, Usage: r.Usage, Spending: r.Spending,
	}
	s.Unreadable = r.Unreadable()
	s.count(r.Open())
	s.Claimed, s.Follows = len(r.Claimed()), r.Request.Follows
	s.BackTo, s.Back = r.BackTo()
	for _, a := range r.Answers {
		settles := (a.Kind == AnswerFixed || a.Kind == AnswerGone) && a.Commit != ""
		if settles && !slices.Contains(s.FixedBy, a.Commit) && len(s.FixedBy) < filesInSummary {
			s.FixedBy = append(s.FixedBy, a.Commit)
		}
	}
	s.Base, s.Paths = r.Request.Subject.Base, len(r.Request.Subject.Paths) > 0
	for _, m := range r.Moves {
		m.Said = nil
		s.Moves = append(s.Moves, m)
	}
	for _, f := range r.Findings() {
		if !r.SettledFinding(f) {
			s.Open++
		}
	}
	for _, sub := range r.Submissions {
		s.Change = cmp.Or(sub.Change, s.Change)
		s.Unshown = s.Unshown || sub.Outcome == OutcomeNothing && sub.Census.Files > 0
		s.LeftOut = max(s.LeftOut, len(sub.Census.LeftOut))
		for _, c := range sub.Checks {
			if c.FailsOnBase && !slices.Contains(s.RedOnBase, c.Name) {
				s.RedOnBase = append(s.RedOnBase, c.Name)
			}
		}
		for _, id := range sub.Unseen {
			if !slices.Contains(s.Unseen, id) {
				s.Unseen = append(s.Unseen, id)
			}
		}
	}
	s.CommentCount = len(r.Findings())
	if s.CommentCount == 0 {
		s.Asked = r.asked()
	}
	if r.Claim != nil {
		s.ClaimedBy, s.ClaimedAt, s.ClaimedUntil = r.Claim.By, r.Claim.At, r.Claim.Until
	}
	if r.Failure != nil {
		s.Failure = r.Failure.Reason
	}
	s.failures(r.FailedTurns())
	return s
}

// failures fills in who could not be run, and where.
func (s *ReviewSummary) failures(turns []FailedTurn) {
	s.FailedTurns = turns
	for _, t := range turns {
		if !slices.Contains(s.Failed, t.Reviewer) {
			s.Failed = append(s.Failed, t.Reviewer)
		}
		if t.RetryAt.IsZero() {
			continue
		}
		if s.RetryAt == nil {
			s.RetryAt = map[string]time.Time{}
		}
		s.RetryAt[t.Reviewer] = t.RetryAt
	}
}

// count counts findings by their severity.
func (s *ReviewSummary) count(findings []reply.Finding) {
	for _, f := range findings {
		switch f.Severity {
		case reply.Critical:
			s.Critical++
		case reply.Note:
			s.Notes++
		default:
			s.Warnings++
		}
	}
}

// Need is what a person has to do with a review: the order of the inbox. The index keeps
// it, as a byte: a new order wants a new indexMagic.
type Need byte

const (
	NeedCritical Need = iota // critical findings that nobody answered
	needFix                  // it did not pass, or warnings that nobody answered
	needRetry                // a reviewer could not be run
	needPerson               // a person was asked
	needReading              // not all of it could be reviewed, or somebody commented
	needNotes                // notes that nobody answered, and what is outvoted
	needNothing              // it passed, or its findings are answered
	needReviewer             // an agent was asked, and is at work or waits for its turn
	NeedClosed               // resolved or cancelled
)

// Need is the most pressing thing about a review.
func (s ReviewSummary) Need() Need {
	waits := func(name string) bool { return slices.Contains(s.Waiting, name) }
	complete := len(s.Waiting) == len(s.Absent)
	switch {
	case !WaitingStatus(string(s.Status)):
		return NeedClosed
	case len(s.BackTo) > 0:
		return needPerson
	case s.Critical > 0 && !s.Outvoted:
		return NeedCritical
	case s.Warnings > 0 && !s.Outvoted, s.Outcome == OutcomeFailed && s.CommentCount == 0:
		return needFix
	case s.Failure != "" && !complete:
		return needRetry
	case waits(Human):
		return needPerson
	case s.Outcome == OutcomePartial || s.Outcome == OutcomeCommented:
		return needReading
	case s.Notes+s.Warnings+s.Critical > 0:
		return needNotes
	case !complete:
		return needReviewer
	}
	return needNothing
}

// Topic is a hash of the change that a review speaks for, of who speaks and of what kind of word that
// is. Whoever asks what stands on a commit needs of the reviews of one topic only the newest. The
// index keeps it: another topic wants a new indexMagic.
func (s ReviewSummary) Topic() uint64 {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %t %q %q", s.Reviewer, s.Outcome, s.Unshown, s.Kind, s.ReviewKind)
	fmt.Fprintf(h, " %q %q %q %q %t", s.Base, s.Commit, s.Change, s.Unseen, s.Paths)
	fmt.Fprintf(h, " %q %q %d %t %t %t", s.Looked, s.Approvers, s.Claimed, s.Open == 0, s.Asked == "", s.CommentCount > 0)
	for _, m := range s.Moves {
		fmt.Fprintf(h, " %q %q %q %q %q", m.From, m.To, m.Base, m.State, m.Unseen)
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// At is the commit that has the code now, as Review.At has it.
func (s ReviewSummary) At() gitstore.ID {
	return Review{Moves: s.Moves, Request: ReviewRequest{Subject: Subject{Commit: s.Commit}}}.At()
}

// Places are the commits that have, or had, the code: the one that was reviewed and those
// that it was carried to, oldest first.
func (s ReviewSummary) Places() []gitstore.ID {
	places := []gitstore.ID{s.Commit}
	for _, m := range s.Moves {
		if m.State == MoveCarried && !slices.Contains(places, m.To) {
			places = append(places, m.To)
		}
	}
	return places
}

// asked is the first thing that is asked for, and still stands.
func (r Review) asked() string {
	for _, sub := range r.Standing() {
		if len(sub.Report.Requests) > 0 {
			return reply.ShortRow(sub.Report.Requests[0])
		}
	}
	return ""
}

// filesInSummary is how many files a line of the inbox names.
const filesInSummary = 10

// summaryFiles are the paths that the request names, else those of what was found.
func (r Review) summaryFiles() []string {
	if len(r.Request.Subject.Paths) > 0 {
		return r.Request.Subject.Paths[:min(len(r.Request.Subject.Paths), filesInSummary)]
	}
	var files []string
	for _, f := range r.Findings() {
		if f.File != "" && !slices.Contains(files, f.File) && len(files) < filesInSummary {
			files = append(files, f.File)
		}
	}
	return files
}

// Part reports whether the review looks at a part of its change, as ReviewRequest.Part has it.
func (s ReviewSummary) Part() bool { return s.Paths || s.ReviewKind != "" }

// SortKey puts what was submitted last first, and what was never submitted by its request.
func (s ReviewSummary) SortKey() time.Time { return cmp.Or(s.SubmittedAt, s.CreatedAt) }
