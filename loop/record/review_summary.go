package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/spend"
)

// ReviewSummary is one line of the inbox.
type ReviewSummary struct {
	ID      string       `json:"review_id"`
	Status  ReviewStatus `json:"status"`
	Outcome Outcome      `json:"outcome,omitempty"`
	// RulesLooked says that the built-in reviewer is among those who answered.
	RulesLooked  bool          `json:"rules_looked,omitempty"`
	Looked       Looked        `json:"looked,omitempty"`
	Approvers    []Speaker     `json:"approved_by,omitempty"`
	Refusers     []Speaker     `json:"refused_by,omitempty"` // whose refusal stands, also from earlier rounds
	Blocked      int           `json:"blocked_by,omitempty"` // threads of earlier rounds that refuse: see Review.Carrying
	Verdict      reply.Verdict `json:"verdict,omitempty"`    // the worst effective one that counts; "" until there is one
	Unreadable   bool          `json:"unreadable,omitempty"` // the verdict rests only on answers that could not be parsed
	Undecided    bool          `json:"undecided,omitempty"`  // as from Review.Undecided
	Reviewer     string        `json:"reviewer"`
	Run          string        `json:"run_id,omitempty"` // the run that continues with the answer
	Kind         SubjectKind   `json:"kind"`
	Spec         string        `json:"spec"`
	Commit       gitstore.ID   `json:"commit,omitempty"`
	Title        string        `json:"title,omitempty"`
	Message      string        `json:"message,omitempty"`
	Source       string        `json:"source"`
	Writer       string        `json:"writer"`
	Redacted     bool          `json:"redacted,omitempty"` // texts were redacted
	Audience     string        `json:"audience,omitempty"` // as in Review; filled in by the store
	RequestedBy  string        `json:"requested_by"`
	Branch       string        `json:"branch,omitempty"`
	Author       string        `json:"author,omitempty"`            // author of the commit
	CommentCount int           `json:"comment_count"`               // findings and comments
	Critical     int           `json:"critical"`                    // open findings and comments, by severity
	Disputed     int           `json:"critical_disputed,omitempty"` // of Critical: reported by fewer than the quorum
	Warnings     int           `json:"warnings"`
	Notes        int           `json:"notes"`
	Claimed      int           `json:"claimed_fixed,omitempty"` // findings claimed fixed or gone and not confirmed
	FixedBy      []gitstore.ID `json:"fixed_by,omitempty"`      // commits that are said to fix or remove findings
	Asked        string        `json:"asked,omitempty"`         // the first request, if there are no findings
	Others       []string      `json:"other_reviewers,omitempty"`
	People       []string      `json:"people,omitempty"`      // the people asked, if a person is; empty: anybody
	StillAsked   []string      `json:"still_asked,omitempty"` // as Review.StillAsked returns them
	// Approved and ApprovalsNeeded are as Review.ApprovedOf returns them.
	Approved        int `json:"approved,omitempty"`
	ApprovalsNeeded int `json:"approvals_needed,omitempty"`

	Waiting      []string  `json:"waiting_for,omitempty"` // reviewers who have not answered
	Absent       []string  `json:"absent,omitempty"`      // reviewers of Waiting whose answers are not required
	Outvoted     bool      `json:"outvoted,omitempty"`    // agents failed it, but fewer than the quorum
	ReviewKind   string    `json:"review_kind,omitempty"` // what reviewers looked for; "" for everything
	Files        []string  `json:"files,omitempty"`       // the paths asked about or commented on
	ClaimedBy    string    `json:"claimed_by,omitempty"`
	ClaimedAt    time.Time `json:"claimed_at,omitzero"`
	ClaimedUntil time.Time `json:"claimed_until,omitzero"`
	ResolvedBy   string    `json:"resolved_by,omitempty"`
	ResolvedAt   time.Time `json:"resolved_at,omitzero"`
	ClosedAt     time.Time `json:"closed_at,omitzero"`         // resolved or cancelled
	Lost         int       `json:"lost,omitempty"`             // events that the fold skipped
	Failure      string    `json:"failure,omitempty"`          // stop reason, if a reviewer could not be run
	Failed       []string  `json:"failed_reviewers,omitempty"` // reviewers who could not be run
	// RetryAt is when those of them that are retried automatically are retried.
	RetryAt     map[string]time.Time `json:"retry_at,omitempty"`
	FailedTurns []FailedTurn         `json:"failed_turns,omitempty"` // the failures for each clone
	Clock       uint64               `json:"clock"`                  // as in Review
	CreatedAt   time.Time            `json:"created_at"`
	SubmittedAt time.Time            `json:"submitted_at,omitzero"`
	VerdictAt   time.Time            `json:"verdict_at,omitzero"` // when its outcome was last said, if that is later
	UpdatedAt   time.Time            `json:"updated_at"`
	// Which commits the review covers: see Cover.
	Base  gitstore.ID `json:"base,omitempty"`
	Paths bool        `json:"only_paths,omitempty"` // it looked only at some paths
	// the change seen, named by gitstore.ChangeIDs; "" if nothing was seen, or if the review is about a message
	Change  string        `json:"change,omitempty"`
	Saw     gitstore.ID   `json:"saw_commit,omitempty"`     // the commit of the submission that names Change
	Unseen  []gitstore.ID `json:"unseen_commits,omitempty"` // as in Submission
	Unshown bool          `json:"unshown,omitempty"`        // there is a change, but nothing of it was shown
	LeftOut int           `json:"left_out,omitempty"`       // files left out
	NotText []string      `json:"not_text,omitempty"`       // files that are not text, whose contents no reviewer saw
	// Within are commits of a range that people passed or refuse: a refusal is about them also without the newest one.
	Within []gitstore.ID `json:"within,omitempty"`
	// RedOnBase lists checks that also fail without the change.
	RedOnBase []string    `json:"red_on_base,omitempty"`
	Moves     []Move      `json:"moves,omitempty"` // without notes
	Open      int         `json:"open_findings"`   // findings and comments neither fixed nor refuted
	Usage     spend.Usage `json:"usage,omitzero"`

	Spending spend.Spending `json:"usage_by_agent,omitempty"`

	Follows string   `json:"follows,omitempty"` // as in ReviewRequest
	BackTo  []string `json:"back_to,omitempty"` // as from Review.BackTo
	// Unconfirmed is the number of answers to findings of people who asked for changes that these have not confirmed.
	Unconfirmed int `json:"unconfirmed,omitempty"`
	Back        int `json:"back_claimed,omitempty"` // the number of findings that BackTo have to confirm
}

// Refuses reports whether what is open or not confirmed in the review refuses its change.
func (s ReviewSummary) Refuses() bool {
	return (s.Outcome == OutcomeFailed || s.Critical > 0) && s.Open+s.Unconfirmed > 0
}

// Unasked reports whether the request of the review is not here: see Review.WithoutRequest.
func (s ReviewSummary) Unasked() bool { return s.Writer == "" }

// ClosedOver reports whether somebody resolved the review by hand although people refuse the change.
func (s ReviewSummary) ClosedOver() bool {
	return s.Status == ReviewResolved && s.ResolvedBy != Itself && len(s.Refusers) > 0 && s.Open+s.Unconfirmed > 0
}

// Summary returns the review as one line of the inbox.
func (r Review) Summary() ReviewSummary {
	s := ReviewSummary{
		ID: r.ID, Status: r.Status, Outcome: r.Outcome(), Looked: r.Looked(), Approvers: r.Approvers(),
		Refusers: r.Refusers(), Blocked: len(r.refusing),
		Reviewer: r.Request.Reviewer, Run: r.Request.Run,
		Kind: r.Request.Subject.Kind, Spec: r.Request.Subject.Spec, Commit: r.Request.Subject.Commit,
		Title: r.Request.Subject.Title, Message: r.Request.Message, Redacted: len(r.Redactions) > 0, Source: r.Source,
		Writer: r.Writer, Lost: len(r.Lost), Verdict: r.Verdict(),
		RequestedBy: r.RequestedBy, ResolvedBy: r.ResolvedBy, ResolvedAt: r.ResolvedAt, ClosedAt: r.ClosedAt,
		Clock: r.Clock, CreatedAt: r.CreatedAt, SubmittedAt: r.SubmittedAt, UpdatedAt: r.UpdatedAt,
		Others: r.Request.Others, People: r.Request.People, Waiting: r.Waiting(), Absent: r.Absent(), Outvoted: r.Outvoted(),
		ReviewKind: r.Request.Kind, Files: r.summaryFiles(),
		Branch: r.Request.Subject.Branch, Author: r.Request.Subject.Author, Usage: r.Usage, Spending: r.Spending,
	}
	for _, sub := range r.Submissions {
		if sub.Outcome == s.Outcome && sub.At.After(cmp.Or(s.VerdictAt, s.SubmittedAt)) {
			s.VerdictAt = sub.At
		}
	}
	s.StillAsked = r.StillAsked()
	s.Approved, s.ApprovalsNeeded = r.ApprovedOf()
	s.Unreadable, s.Undecided = r.Unreadable(), r.Undecided()
	s.count(r.Open())
	if s.Critical > 0 {
		s.Disputed = each.Count(r.Joined(), func(j Joined) bool {
			return j.Disputed && j.Severity == reply.Critical && r.IsOpen(j.Finding)
		})
	}
	s.Claimed, s.Follows = len(r.Claimed()), r.Request.Follows
	s.BackTo, s.Back = r.BackTo()
	_, s.Unconfirmed = r.Awaited()
	s.commits(r)
	s.Base, s.Paths = r.Request.Subject.Base, len(r.Request.Subject.Paths) > 0
	for _, m := range r.Moves {
		m.Said = nil
		s.Moves = append(s.Moves, m)
	}
	unsettled := func(f reply.Finding) bool { return !r.SettledFinding(f) }
	s.Open = each.Count(r.Findings(), unsettled) + len(r.refusing)
	s.count(each.Of(r.refusing, func(t Thread) reply.Finding { return t.Finding.Finding }))
	s.submissions(r.Submissions)
	s.Change, s.Saw = r.change()
	if r.AccusesMessage() {
		s.Change = ""
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
	s.failures(r.Failures)
	return s
}

// commits fills in the commits that settle findings, and those of a range that people passed or refuse.
func (s *ReviewSummary) commits(r Review) {
	for _, a := range r.Answers {
		settles := (a.Kind == AnswerFixed || a.Kind == AnswerGone) && a.Commit != ""
		if settles && !slices.Contains(s.FixedBy, a.Commit) && len(s.FixedBy) < filesInSummary {
			s.FixedBy = append(s.FixedBy, a.Commit)
		}
	}
	if s.Kind == SubjectRange && len(s.Refusers)+len(s.Approvers) > 0 {
		s.Within = each.Of(r.Request.Subject.Messages, func(m change.Message) gitstore.ID { return m.Commit })
	}
}

// severalChanges names no change: the reviewers who passed the review did not see the same one, because somebody else
// requested another review with its id.
const severalChanges = "several"

// change names the change that the reviewers saw, "" if that is unknown, and the commit in which they saw it. A refusal
// says which change it refuses.
func (r Review) change() (name string, saw gitstore.ID) {
	for _, sub := range r.Submissions {
		if sub.Change != "" {
			name, saw = sub.Change, sub.Commit
		}
	}
	standing := r.Standing()
	refused := slices.IndexFunc(standing, func(s Submission) bool { return s.Outcome == OutcomeFailed && s.Change != "" })
	switch other := func(s Submission) bool { return s.Change != "" && s.Change != name }; {
	case !slices.ContainsFunc(standing, other):
		return name, saw
	case refused >= 0:
		return standing[refused].Change, standing[refused].Commit
	}
	return severalChanges, ""
}

// submissions fills in what the submissions say of the change, of what was not shown and of checks.
func (s *ReviewSummary) submissions(all []Submission) {
	for i, sub := range all {
		if i == 0 {
			s.NotText = sub.Census.NotText()
		}
		s.NotText = each.Where(s.NotText, func(path string) bool { return slices.Contains(sub.Census.NotText(), path) })
		s.RulesLooked = s.RulesLooked || sub.Looked == LookedRules
		s.Unshown = s.Unshown || sub.Outcome == OutcomeNothing && sub.Census.Files > 0
		s.LeftOut = max(s.LeftOut, len(sub.Census.LeftOut))
		for _, c := range sub.Checks {
			if c.FailsOnBase && !slices.Contains(s.RedOnBase, c.Name) {
				s.RedOnBase = append(s.RedOnBase, c.Name)
			}
		}
		for _, id := range sub.Unseen {
			s.Unseen = each.Once(s.Unseen, id)
		}
	}
}

// failures fills in which reviewers could not be run, and where.
func (s *ReviewSummary) failures(all []Failure) {
	for _, f := range all {
		s.FailedTurns = append(s.FailedTurns, FailedTurn{f.Reviewer, f.Writer, f.RetryAt})
		s.Failed = each.Once(s.Failed, f.Reviewer)
		if f.RetryAt.IsZero() {
			continue
		}
		if s.RetryAt == nil {
			s.RetryAt = map[string]time.Time{}
		}
		s.RetryAt[f.Reviewer] = f.RetryAt
	}
}

// count adds findings to the counts by severity.
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

// Need is what a review needs from a person, in the order of the inbox. The index stores it as a byte: if the order
// changes, indexMagic has to change.
type Need byte

const (
	NeedCritical Need = iota // open critical findings
	needFix                  // it failed, or has open warnings
	needRetry                // a reviewer could not be run
	needPerson               // it waits for a person
	needReading              // it could be reviewed only in part, or somebody commented
	needNotes                // open notes, or outvoted findings
	needNothing              // it passed, or all findings are answered
	needReviewer             // an agent is at work or waits for its turn
	NeedClosed               // resolved or cancelled
)

// Need returns the most pressing need of the review.
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

// Topic returns a hash of the change that a review covers, of the reviewer and of the kind of result. For the state of
// a commit only the newest review of each topic matters. The index stores it: if it changes, indexMagic has to change.
func (s ReviewSummary) Topic() uint64 {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %t %q %q", s.Reviewer, s.Outcome, s.Unshown, s.Kind, s.ReviewKind)
	fmt.Fprintf(h, " %q %q %q %q %t", s.Base, s.Commit, s.Change, s.Unseen, s.Paths)
	fmt.Fprintf(h, " %q %v %v %d %t %t %t %t", s.Looked, s.Approvers, s.Refusers, s.Claimed,
		s.Open == 0, s.Unconfirmed == 0, s.Asked == "", s.CommentCount > 0)
	for _, m := range s.Moves {
		fmt.Fprintf(h, " %q %q %q %q %q", m.From, m.To, m.Base, m.State, m.Unseen)
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// At returns the commit that has the code now, as Review.At does.
func (s ReviewSummary) At() gitstore.ID {
	return Review{Moves: s.Moves, Request: ReviewRequest{Subject: Subject{Commit: s.Commit}}}.At()
}

// Places returns the commits that have, or had, the code: the reviewed one and those it was carried to, oldest first.
func (s ReviewSummary) Places() []gitstore.ID {
	places := []gitstore.ID{s.Commit}
	for _, m := range s.Moves {
		if m.State == MoveCarried && !slices.Contains(places, m.To) {
			places = append(places, m.To)
		}
	}
	return places
}

// asked returns the first request that counts, or "".
func (r Review) asked() string {
	asks := func(sub Submission) bool { return len(sub.Report.Requests) > 0 }
	if sub, ok := each.First(r.Standing(), asks); ok {
		return reply.ShortRow(sub.Report.Requests[0])
	}
	return ""
}

// filesInSummary is the maximum number of files and fixing commits that a summary lists.
const filesInSummary = 10

// summaryFiles returns the requested paths, else the files with findings.
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

// Part reports whether the review covers only a part of its change, as ReviewRequest.Part does.
func (s ReviewSummary) Part() bool { return s.Paths || s.ReviewKind != "" }

// ByAuthor reports whether only people who wrote the change passed it.
func (s ReviewSummary) ByAuthor() bool { return s.Looked == LookedAuthor && s.Outcome == OutcomePassed }

// SortKey returns when the review was submitted, or requested if it was not submitted.
func (s ReviewSummary) SortKey() time.Time { return cmp.Or(s.SubmittedAt, s.CreatedAt) }
