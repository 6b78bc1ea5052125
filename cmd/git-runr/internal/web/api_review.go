package web

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// sessionJSON is an open request. It contains no token, which only those who may answer get.
type sessionJSON struct {
	summaryJSON
	Done      bool `json:"done"`
	Cancelled bool `json:"cancelled"`
}

// createSession requests a review and returns at once.
func (s *Server) createSession(r *http.Request, in struct {
	Files    []string `json:"files"`
	Revision string   `json:"revision"`
	Message  string   `json:"message"`
	Reviewer string   `json:"reviewer"` // one name, or several separated by commas
	Kind     string   `json:"kind"`     // kind of review; "" for everything
}) (any, error) {
	subject, err := s.subject(r.Context(), in.Revision, in.Files)
	if err != nil {
		return nil, err
	}
	var reviewers []string
	if in.Reviewer != "" {
		reviewers = []string{in.Reviewer}
	}
	request, err := s.Ask(r.Context(), reviewers, in.Kind, subject)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	request.Message = in.Message
	made, err := s.Store.RequestReview(r.Context(), request, "http")
	if err != nil {
		return nil, err
	}
	if s.Requested != nil {
		if err := s.Requested(r.Context(), made); err != nil {
			s.log("review %s: %v", made.ID, err) // it is recorded, and its reviewer can be started later
		}
	}
	address := screens.Address{Port: s.Port}
	return map[string]any{"id": made.ID, "status": made.Status, "reviewer": request.Reviewer,
		"token": s.Secret.Review(made.ID), // opens only this review
		"url":   address.ReviewURL(s.Secret, made.ID)}, nil
}

// subject returns what to review: a revision, or some files of it, or without a revision, files of the working tree.
func (s *Server) subject(ctx context.Context, revision string, files []string) (record.Subject, error) {
	paths, err := s.topPaths(files)
	if err != nil {
		return record.Subject{}, err
	}
	if revision == "" && len(paths) == 0 {
		return record.Subject{}, badRequest("files is required, or a revision")
	}
	if revision == "" {
		return s.fileSubject(ctx, paths)
	}
	subject, err := s.Store.Subject(ctx, revision)
	if err != nil {
		return subject, badRequest("revision %q: %v", revision, err)
	}
	subject.Paths = paths
	return subject, intake.CheckSubject(ctx, s.Store, subject)
}

// fileSubject returns the changes of the working tree in paths, or else those of the last commit, or else the whole
// files.
func (s *Server) fileSubject(ctx context.Context, paths []string) (record.Subject, error) {
	subject, err := s.Store.ChooseSubject(ctx, func(subject *record.Subject) (bool, error) {
		subject.Paths = paths
		err := intake.CheckSubject(ctx, s.Store, *subject)
		if errors.As(err, new(*intake.NothingError)) || errors.As(err, new(*record.InputError)) {
			return false, nil
		}
		return err == nil, err
	})
	if errors.Is(err, change.ErrNoSubject) {
		return subject, badRequest("No files found matching the provided paths.")
	}
	return subject, err
}

// topPaths returns files as paths relative to the top of the working tree.
func (s *Server) topPaths(files []string) ([]string, error) {
	var paths []string
	for _, file := range files {
		path := file
		if filepath.IsAbs(file) && s.repo.WorkTree != "" {
			if rel, err := filepath.Rel(s.repo.WorkTree, file); err == nil {
				path = rel
			}
		}
		path = filepath.ToSlash(filepath.Clean(path))
		if file == "" || strings.ContainsRune(path, 0) || !filepath.IsLocal(path) || path == "." {
			return nil, badRequest("%q is not a path below the top of the repository", file)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func (s *Server) listSessions(r *http.Request) (any, error) {
	open, _, err := s.Store.Reviews(r.Context(),
		store.Filter{Status: func(status string) bool { return status == string(record.ReviewOpen) }})
	if err != nil {
		return nil, err
	}
	return each.Of(open, func(r record.ReviewSummary) sessionJSON { return sessionJSON{summaryJSON: summary(r)} }), nil
}

// maxListed is the maximum number of reviews in one answer; existing clients rely on it.
const maxListed = 200

func (s *Server) listSubmissions(r *http.Request) (any, error) {
	q := r.URL.Query()
	filter := store.Filter{Limit: 50, Carried: true}
	var err error
	if filter.ClosedSince, err = loop.ClosedSince(s.Store); err != nil {
		return nil, err
	}
	if filter.Status, err = record.StatusFilter(q.Get("status")); err != nil {
		return nil, badRequest("%v", err)
	}
	if limit := q.Get("limit"); limit != "" {
		n, err := strconv.Atoi(limit)
		if err != nil {
			return nil, badRequest("limit %q is not a number", limit)
		}
		filter.Limit = min(max(n, 1), maxListed)
	}
	if claimedBy, reviewer := q.Get("claimedBy"), q.Get("reviewer"); claimedBy != "" || reviewer != "" {
		filter.Review = func(r record.ReviewSummary) bool {
			return (claimedBy == "" || record.SameActor(r.ClaimedBy, claimedBy)) &&
				(reviewer == "" || r.Reviewer == reviewer || slices.Contains(r.Others, reviewer))
		}
	}
	reviews, total, err := s.Store.Reviews(r.Context(), filter)
	if err != nil {
		return nil, err
	}
	return counted{each.Of(reviews, summary), total}, nil
}

// recordJSON is one review with all its details.
type recordJSON struct {
	summaryJSON
	CancelledAt   *int64          `json:"cancelledAt"`
	Request       requestJSON     `json:"request"`
	Submission    map[string]any  `json:"submission"` // null until somebody has answered
	ResultSummary map[string]int  `json:"resultSummary"`
	Submissions   []personsAnswer `json:"submissions"`
	Answers       []record.Answer `json:"answers"`
	Note          string          `json:"note,omitempty"`
	Lost          []record.Lost   `json:"lost,omitempty"` // events that the fold skipped
}

type requestJSON struct {
	Files          []string `json:"files"`
	Warnings       []string `json:"warnings"`
	Message        string   `json:"message,omitempty"`
	Branch         string   `json:"branch,omitempty"`
	Commit         string   `json:"commit,omitempty"`
	Source         string   `json:"source"`
	OtherReviewers []string `json:"otherReviewers,omitempty"`
}

// personsAnswer is one reviewer's answer; agents have no decision.
type personsAnswer struct {
	Reviewer string `json:"reviewer"`
	Decision string `json:"decision,omitempty"`
	Outcome  string `json:"outcome"`
	Verdict  string `json:"verdict"`
	Message  string `json:"message,omitempty"`
	At       *int64 `json:"at"`
}

func (s *Server) getSubmission(r *http.Request) (any, error) {
	review, err := s.Store.Review(r.Context(), r.PathValue("id"))
	if err == nil {
		review, err = s.Store.Carrying(r.Context(), review)
	}
	if err != nil {
		return nil, err
	}
	return reviewRecord(review), nil
}

func reviewRecord(r record.Review) recordJSON {
	doc := recordJSON{
		summaryJSON: summary(r.Summary()), Answers: append([]record.Answer{}, r.Answers...), Note: r.Note, Lost: r.Lost,
		Request: requestJSON{
			Files: append([]string{}, r.Request.Subject.Paths...), Warnings: []string{}, Message: r.Request.Message,
			Branch: r.Request.Subject.Branch, Commit: string(r.Request.Subject.Commit), Source: r.Source,
			OtherReviewers: r.Request.Others,
		},
		Submissions: each.Of(r.Submissions, func(sub record.Submission) personsAnswer {
			return personsAnswer{
				Reviewer: sub.Reviewer, Decision: string(sub.Decision), Outcome: string(sub.Outcome),
				Verdict: string(sub.Report.Effective), Message: sub.Report.Summary, At: millis(sub.At),
			}
		}),
	}
	if r.Status == record.ReviewCancelled {
		doc.CancelledAt = millis(r.UpdatedAt)
	}
	if len(r.Submissions) > 0 {
		doc.Submission = map[string]any{"comments": allComments(r)}
	}
	doc.ResultSummary = map[string]int{"commentCount": doc.CommentCount}
	return doc
}

// allComments returns the findings and comments of all reviewers, people and agents.
func allComments(r record.Review) []commentJSON {
	all := []commentJSON{}
	for i, sub := range r.Submissions {
		for _, j := range r.SaidFirst(i) {
			all = append(all, findingComment(j.Finding))
		}
		all = append(all, each.Of(sub.Comments, comment)...)
	}
	return all
}

// actor returns the name of who acts: the one in the request, else the person at the browser, else a new random name,
// so that two programs never count as one actor.
func (s *Server) actor(r *http.Request, named string) string {
	if named = strings.TrimSpace(named); named != "" {
		return named
	}
	if s.hasCookie(r) {
		return s.Actor
	}
	return "http-" + strings.ToLower(rand.Text()[:8])
}

// claimedJSON is a claimed review. Provisional says why the claim holds only in this clone for now.
type claimedJSON struct {
	summaryJSON
	Claim       string `json:"claim"` // the claim's id, which later requests can name to act only under this claim
	Provisional string `json:"provisional,omitempty"`
}

func (s *Server) claim(r *http.Request, in struct {
	ClaimedBy string `json:"claimedBy"`
	Force     bool   `json:"force"`
}) (any, error) {
	actor := s.actor(r, in.ClaimedBy)
	review, provisional, err := s.Claim(r.Context(), r.PathValue("id"),
		record.Hold{Actor: actor, Lease: s.Lease, Force: in.Force})
	if err != nil {
		return nil, err
	}
	return claimedJSON{summary(review.Summary()), string(review.Claim.ID), provisional}, nil
}

func (s *Server) release(r *http.Request, in struct {
	ClaimedBy string      `json:"claimedBy"`
	Claim     gitstore.ID `json:"claim"` // act only while this claim is held
	Force     bool        `json:"force"`
}) (any, error) {
	actor := s.actor(r, in.ClaimedBy)
	return s.moved(s.Release(r.Context(), r.PathValue("id"), record.Hold{Actor: actor, Force: in.Force, Claim: in.Claim}))
}

func (s *Server) resolve(r *http.Request, in struct {
	ResolvedBy string      `json:"resolvedBy"`
	Note       string      `json:"note"`
	Claim      gitstore.ID `json:"claim"` // act only while this claim is held
	Force      bool        `json:"force"`
}) (any, error) {
	actor := s.actor(r, in.ResolvedBy)
	return s.moved(s.Resolve(r.Context(), r.PathValue("id"), record.Hold{Actor: actor, Force: in.Force, Claim: in.Claim},
		in.Note))
}

func (s *Server) cancel(r *http.Request, in struct {
	CancelledBy string `json:"cancelledBy"`
	Note        string `json:"note"`
}) (any, error) {
	actor := s.actor(r, in.CancelledBy)
	return s.moved(s.Store.CancelReview(r.Context(), r.PathValue("id"), actor, in.Note))
}

func (s *Server) reopen(r *http.Request, in struct {
	ReopenedBy string `json:"reopenedBy"`
}) (any, error) {
	actor := s.actor(r, in.ReopenedBy)
	return s.moved(s.Reopen(r.Context(), r.PathValue("id"), actor))
}

// deleteSession cancels an open request.
func (s *Server) deleteSession(r *http.Request) (any, error) {
	review, err := s.Store.CancelReview(r.Context(), r.PathValue("id"), s.actor(r, ""), "")
	if err != nil {
		return nil, err
	}
	return okJSON{true, s.keptDrafts(review)}, nil
}

type okJSON struct {
	OK     bool              `json:"ok"`
	Drafts []store.KeptDraft `json:"drafts,omitempty"` // drafts that remain
}

// answerJSON is an answer to one finding or comment.
type answerJSON struct {
	Finding    string `json:"finding"`
	Answer     string `json:"answer"` // fixed, refuted or deferred
	Commit     string `json:"commit"`
	Reason     string `json:"reason"`
	AnsweredBy string `json:"answeredBy"`
	Force      bool   `json:"force"`
}

// answer records an answer.
func (s *Server) answer(r *http.Request, in answerJSON) (any, error) {
	given := record.Answer{Finding: in.Finding, Kind: record.AnswerKind(in.Answer), Reason: strings.TrimSpace(in.Reason)}
	if in.Commit != "" {
		commit, err := s.repo.Resolve(r.Context(), in.Commit)
		if err != nil {
			return nil, badRequest("commit %q: %v", in.Commit, err)
		}
		given.Commit = commit
	}
	given.Actor = s.actor(r, in.AnsweredBy)
	review, err := s.Answer(r.Context(), r.PathValue("id"), given, in.Force)
	if err != nil {
		return nil, err
	}
	return reviewRecord(review), nil
}
