package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// answered returns a handler that writes the result of do, or its error.
func (s *Server) answered(do func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.mayChange(r); err != nil {
			s.fail(w, r, err)
			return
		}
		body, err := do(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if list, ok := body.(counted); ok {
			w.Header().Set("X-Total-Count", strconv.Itoa(list.total))
			body = list.items
		}
		writeJSON(w, http.StatusOK, body)
	}
}

// mayChange refuses a write while git must not be run in this repository.
func (s *Server) mayChange(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	return s.repo.Altered(r.Context())
}

// counted is a part of a list, with the length of the whole list.
type counted struct {
	items any
	total int
}

// readBody reads the body of a write and trims white space around it.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			return nil, &requestError{status: http.StatusRequestEntityTooLarge, message: tooLarge}
		}
		return nil, badRequest("the body ended early")
	}
	return bytes.TrimSpace(body), nil
}

// withBody returns an endpoint that decodes the body of the request and calls do. The body must be one object with only
// the keys of T.
func withBody[T any](do func(*http.Request, T) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) { return given(r, do, false) }
}

// withStep is withBody for a request whose body may be empty; T is then its zero value.
func withStep[T any](do func(*http.Request, T) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) { return given(r, do, true) }
}

func given[T any](r *http.Request, do func(*http.Request, T) (any, error), mayBeEmpty bool) (any, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	var in T
	if len(body) > 0 || !mayBeEmpty {
		if in, err = decodeBody[T](body); err != nil {
			return nil, err
		}
	}
	return do(r, in)
}

func decodeBody[T any](body []byte) (v T, err error) {
	if !utf8.Valid(body) || len(body) == 0 || body[0] != '{' {
		return v, badRequest("Invalid JSON body: must be an object")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
			wanted := map[reflect.Kind]string{reflect.String: "a text", reflect.Int: "a whole number",
				reflect.Bool: "true or false", reflect.Slice: "a list"}[wrong.Type.Kind()]
			return v, badRequest("Invalid JSON body: %s must be %s, not: %s", cmp.Or(wrong.Field, "it"),
				cmp.Or(wanted, "an object"), wrong.Value)
		}
		return v, badRequest("Invalid JSON body: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return v, badRequest("Invalid JSON body: bytes after the object")
	}
	return v, nil
}

// millis returns t as Unix milliseconds, or nil for the zero Time.
func millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

// text returns s, or nil, which is null in JSON, for "".
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// movedJSON is a review after a change of its state, with the drafts that remain if it was closed.
type movedJSON struct {
	summaryJSON
	Drafts []store.KeptDraft `json:"drafts,omitempty"`
}

func (s *Server) moved(review record.Review, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return movedJSON{summary(review.Summary()), s.keptDrafts(review)}, nil
}

// keptDrafts returns the drafts that remain of a closed review. It only logs an error, because closing has succeeded.
func (s *Server) keptDrafts(review record.Review) []store.KeptDraft {
	kept, err := s.Store.KeptDrafts(review, s.Actor)
	if err != nil {
		s.log("review %s: %v", review.ID, err)
	}
	return kept
}

// summaryJSON is a review in a list: first the names that existing clients know, then ours.
type summaryJSON struct {
	ID           string   `json:"id"`
	Status       string   `json:"status"`
	CreatedAt    *int64   `json:"createdAt"`
	UpdatedAt    *int64   `json:"updatedAt"`
	SubmittedAt  *int64   `json:"submittedAt"`
	ClaimedAt    *int64   `json:"claimedAt"`
	ClaimedBy    *string  `json:"claimedBy"`
	ResolvedAt   *int64   `json:"resolvedAt"`
	ResolvedBy   *string  `json:"resolvedBy"`
	FileCount    int      `json:"fileCount"`
	Files        []string `json:"files"` // at most ten
	Message      string   `json:"message"`
	CommentCount int      `json:"commentCount"`

	ClaimedUntil *int64   `json:"claimedUntil"` // null: until released
	Reviewer     string   `json:"reviewer"`
	WaitingFor   []string `json:"waitingFor,omitempty"`
	RequestedBy  string   `json:"requestedBy"`
	Source       string   `json:"source"`
	Kind         string   `json:"kind"` // commit, range, worktree or staged
	Revision     string   `json:"revision"`
	Commit       string   `json:"commit,omitempty"`
	Title        string   `json:"title,omitempty"`
	Outcome      string   `json:"outcome,omitempty"`
	Verdict      string   `json:"verdict,omitempty"`
	Failure      string   `json:"failure,omitempty"` // stop reason, if the reviewer could not be run
}

func summary(r record.ReviewSummary) summaryJSON {
	return summaryJSON{
		ID: r.ID, Status: string(r.Status), CreatedAt: millis(r.CreatedAt), UpdatedAt: millis(r.UpdatedAt),
		SubmittedAt: millis(r.SubmittedAt), ClaimedAt: millis(r.ClaimedAt), ClaimedBy: text(r.ClaimedBy),
		ResolvedAt: millis(r.ResolvedAt), ResolvedBy: text(r.ResolvedBy),
		FileCount: len(r.Files), Files: append([]string{}, r.Files...), Message: r.Message, CommentCount: r.CommentCount,
		ClaimedUntil: millis(r.ClaimedUntil), Reviewer: r.Reviewer, WaitingFor: r.Waiting, RequestedBy: r.RequestedBy,
		Source: r.Source,
		Kind:   string(r.Kind), Revision: r.Spec, Commit: string(r.Commit), Title: r.Title,
		Outcome: string(r.Outcome), Verdict: string(r.Verdict), Failure: r.Failure,
	}
}
