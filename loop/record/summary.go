package record

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/reply"
)

// ReviewSummary is one line of the inbox.
type ReviewSummary struct {
	ID           string        `json:"review_id"`
	Status       ReviewStatus  `json:"status"`
	Outcome      Outcome       `json:"outcome,omitempty"`
	Verdict      reply.Verdict `json:"verdict,omitempty"` // the worst effective one that stands; "" while nobody gave one
	Reviewer     string        `json:"reviewer"`
	Run          string        `json:"run_id,omitempty"` // that goes on from the answer
	Kind         SubjectKind   `json:"kind"`
	Spec         string        `json:"spec"`
	Commit       gitstore.ID   `json:"commit,omitempty"`
	Title        string        `json:"title,omitempty"`
	Message      string        `json:"message,omitempty"`
	Source       string        `json:"source"`
	Writer       string        `json:"writer"`
	RequestedBy  string        `json:"requested_by"`
	CommentCount int           `json:"comment_count"`   // findings and comments
	Asked        string        `json:"asked,omitempty"` // the first request of a review without any
	Others       []string      `json:"other_reviewers,omitempty"`
	Waiting      []string      `json:"waiting_for,omitempty"` // reviewers who have not answered
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
	CreatedAt   time.Time            `json:"created_at"`
	SubmittedAt time.Time            `json:"submitted_at,omitzero"`
	UpdatedAt   time.Time            `json:"updated_at"`
}

// Summary is r as one line of the inbox.
func (r Review) Summary() ReviewSummary {
	s := ReviewSummary{
		ID: r.ID, Status: r.Status, Outcome: r.Outcome(), Reviewer: r.Request.Reviewer, Run: r.Request.Run,
		Kind: r.Request.Subject.Kind, Spec: r.Request.Subject.Spec, Commit: r.Request.Subject.Commit,
		Title: r.Request.Subject.Title, Message: r.Request.Message, Source: r.Source, Writer: r.Writer,
		RequestedBy: r.RequestedBy, ResolvedBy: r.ResolvedBy, ResolvedAt: r.ResolvedAt, ClosedAt: r.ClosedAt, Lost: len(r.Lost), Verdict: r.Verdict(),
		CreatedAt: r.CreatedAt, SubmittedAt: r.SubmittedAt, UpdatedAt: r.UpdatedAt,
		Others: r.Request.Others, Waiting: r.Waiting(), Files: r.summaryFiles(),
	}
	for _, sub := range r.Submissions {
		s.CommentCount += len(sub.Report.Findings) + len(sub.Comments)
	}
	if s.CommentCount == 0 {
		s.Asked = r.asked()
	}
	if r.Claim != nil {
		s.ClaimedBy, s.ClaimedAt, s.ClaimedUntil = r.Claim.By, r.Claim.At, r.Claim.Until
	}
	if r.Failure != nil {
		s.Failure = r.Failure.Reason
	}
	s.Failed, s.RetryAt = r.Failed()
	return s
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

// Verdict is the worst effective verdict that stands. A person who only commented
// gave none.
func (r Review) Verdict() reply.Verdict {
	worst := reply.Verdict("")
	for _, sub := range r.Standing() {
		v := sub.Report.Effective
		if sub.Outcome != OutcomeCommented && (worst == "" || reply.VerdictRank(v) > reply.VerdictRank(worst)) {
			worst = v
		}
	}
	return worst
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

// sortKey puts what was submitted last first, and what was never submitted by its request.
func (s ReviewSummary) sortKey() time.Time {
	if s.SubmittedAt.IsZero() {
		return s.CreatedAt
	}
	return s.SubmittedAt
}

// RunSummary is one line of a list of runs.
type RunSummary struct {
	ID        string        `json:"run_id"`
	Status    RunStatus     `json:"status"`
	Result    string        `json:"result,omitempty"`
	Reason    string        `json:"stop_reason,omitempty"`
	Entity    Entity        `json:"entity"`
	Branch    string        `json:"branch"`
	Commit    gitstore.ID   `json:"commit,omitempty"`
	Attempts  int           `json:"attempts"`
	Rounds    int           `json:"rounds"`
	Verdict   reply.Verdict `json:"verdict,omitempty"` // effective, of the newest round
	Landed    bool          `json:"landed"`
	InPlace   bool          `json:"in_place,omitempty"` // it worked in the checkout: there is nothing to land
	Writer    string        `json:"writer"`
	CreatedAt time.Time     `json:"created_at"`
	UpdatedAt time.Time     `json:"updated_at"`
}

// Summary is r as one line of a list.
func (r Run) Summary() RunSummary {
	s := RunSummary{
		ID: r.ID, Status: r.Status, Result: r.Result, Entity: r.Plan.Entity, Branch: r.Plan.Branch, Commit: r.Commit,
		Attempts: len(r.Attempts), Rounds: len(r.Rounds), Landed: r.Landed != nil, InPlace: r.Plan.InPlace, Writer: r.Writer,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if r.Stop != nil {
		s.Reason = r.Stop.Reason
	}
	if round := r.LastRound(); round != nil {
		s.Verdict = round.Report.Effective
	}
	return s
}

// Filter chooses lines of a list.
type Filter struct {
	Status func(string) bool        // nil: any
	Limit  int                      // 0: all
	Review func(ReviewSummary) bool // nil: any; reads the summary of each review that fits otherwise
	// ClosedSince leaves out what was resolved or cancelled before; the zero Time
	// leaves out nothing.
	ClosedSince time.Time
}

// inboxStatus is what is there to be addressed.
func inboxStatus(status string) bool {
	return status == string(ReviewSubmitted) || status == string(ReviewClaimed)
}

// WaitingStatus is what waits for somebody: to be reviewed, or to be addressed.
func WaitingStatus(status string) bool { return status == string(ReviewOpen) || inboxStatus(status) }

// StatusWaiting is the --status of all that waits for somebody: what a person is shown.
const StatusWaiting = "waiting"

// StatusFilter reads a --status value: inbox (submitted and claimed: what an agent is
// shown, also for ""), StatusWaiting (open ones too), all, or one status.
func StatusFilter(name string) (func(string) bool, error) {
	switch name {
	case "", "inbox":
		return inboxStatus, nil
	case StatusWaiting:
		return WaitingStatus, nil
	case "all":
		return func(string) bool { return true }, nil
	}
	for _, s := range []ReviewStatus{ReviewOpen, ReviewSubmitted, ReviewClaimed, ReviewResolved, ReviewCancelled} {
		if name == string(s) {
			return func(status string) bool { return status == name }, nil
		}
	}
	return nil, fmt.Errorf("status %q is none of waiting, inbox, all, open, submitted, claimed, resolved, cancelled", name)
}

// Reviews lists reviews, newest submitted first, and counts all that the filter fits.
func (s *Store) Reviews(ctx context.Context, f Filter) ([]ReviewSummary, int, error) {
	return list[ReviewSummary](ctx, s, kindReview, f)
}

// Runs lists runs, newest first, and counts all that the filter fits.
func (s *Store) Runs(ctx context.Context, f Filter) ([]RunSummary, int, error) {
	return list[RunSummary](ctx, s, kindRun, f)
}

func list[T any](ctx context.Context, s *Store, kind entityKind, f Filter) (found []T, total int, err error) {
	err = s.retryIndex(func() error {
		idx, err := s.index(ctx)
		if err != nil {
			return err
		}
		defer idx.close()
		found, total, err = listIndex[T](idx, kind, f)
		return err
	})
	return found, total, err
}

func listIndex[T any](idx *index, kind entityKind, f Filter) ([]T, int, error) {
	found, total := []T{}, 0
	for _, r := range idx.rows {
		if r.kind != kind || !r.begun() || !f.fits(r) {
			continue
		}
		full := f.Limit > 0 && len(found) >= f.Limit
		if full && f.Review == nil {
			total++
			continue
		}
		line, err := loadLine[T](idx, r)
		if err != nil {
			return nil, 0, err
		}
		if review, ok := any(line).(ReviewSummary); ok && f.Review != nil && !f.Review(review) {
			continue
		}
		total++
		if !full {
			found = append(found, line)
		}
	}
	return found, total, nil
}

// loadLine reads the summary of one row.
func loadLine[T any](idx *index, r *row) (line T, err error) {
	if err = idx.load(r); err == nil {
		err = json.Unmarshal(r.summary, &line)
	}
	if err != nil {
		return line, fmt.Errorf("read index: %w", err)
	}
	return line, nil
}

// fits goes by what the index knows without reading a summary.
func (f Filter) fits(r *row) bool {
	if f.Status != nil && !f.Status(r.status) {
		return false
	}
	return r.closed == 0 || f.ClosedSince.IsZero() || r.closed >= f.ClosedSince.UnixMilli()
}
