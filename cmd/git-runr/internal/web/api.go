package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
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

// requestError is the error for a request that cannot be carried out as sent.
type requestError struct {
	status  int
	message string
	hint    []string // commands to type, each followed by three blanks and its purpose
}

func (e *requestError) Error() string { return e.message }

func badRequest(format string, args ...any) error {
	return &requestError{status: http.StatusBadRequest, message: fmt.Sprintf(format, args...)}
}

// errorStatuses are the HTTP statuses of errors to which clients pay more attention than exit.Classify does. The first
// match counts.
var errorStatuses = []struct {
	is     error
	status int
}{
	{gitstore.ErrBare, http.StatusBadRequest},
	{store.ErrDraftFull, http.StatusRequestEntityTooLarge},
	{gitstore.ErrTooLarge, http.StatusRequestEntityTooLarge},
	{gitstore.ErrNewerFormat, http.StatusServiceUnavailable},
	{fs.ErrPermission, http.StatusServiceUnavailable},
	{syscall.EROFS, http.StatusServiceUnavailable},
	{syscall.ENOSPC, http.StatusInsufficientStorage},
	{context.Canceled, http.StatusServiceUnavailable},
}

// statuses are the HTTP statuses of all other errors.
var statuses = map[exit.Status]int{
	exit.Usage: http.StatusBadRequest, exit.Nothing: http.StatusBadRequest, exit.NotFound: http.StatusNotFound,
	exit.State: http.StatusConflict, exit.Claimed: http.StatusConflict, exit.Conflict: http.StatusConflict,
	exit.Stopped: http.StatusConflict, exit.Untrusted: http.StatusForbidden, exit.Busy: http.StatusServiceUnavailable,
}

// errorStatus returns the HTTP status for err; 500 means a bug of ours.
func errorStatus(err error) int {
	var request *requestError
	var state *record.StateError
	switch {
	case errors.As(err, &request):
		return request.status
	case errors.As(err, new(*intake.NothingError)), errors.As(err, &state) && state.Holder == "":
		return http.StatusBadRequest
	case errors.As(err, new(*http.MaxBytesError)):
		return http.StatusRequestEntityTooLarge
	}
	for _, e := range errorStatuses {
		if errors.Is(err, e.is) {
			return e.status
		}
	}
	return cmp.Or(statuses[exit.Classify(err).Status], http.StatusInternalServerError)
}

// statusWriter remembers the status of the response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// fault answers an internal error, and writes it to the log.
func (s *Server) fault(w http.ResponseWriter, r *http.Request, err error) {
	s.log("%s %s: %v", r.Method, safetext.Line(r.URL.Path), err)
	if answer, ok := w.(*statusWriter); ok && answer.status != 0 {
		return // the response has begun
	}
	refuse(w, r, http.StatusInternalServerError, "an internal error; see the server's log")
}

type errorJSON struct {
	Error     string `json:"error"`
	ClaimedBy string `json:"claimedBy,omitempty"` // the holder of a claim that prevents the request
}

// fail answers err to a program.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := errorStatus(err)
	if status == http.StatusInternalServerError {
		s.fault(w, r, err)
		return
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	answer := errorJSON{Error: err.Error()}
	if state := new(record.StateError); errors.As(err, &state) {
		answer.ClaimedBy = state.Holder
	}
	if object := new(gitstore.MissingError); errors.As(err, &object) && object.Try != "" {
		answer.Error += ": " + object.Try
	}
	writeJSON(w, status, answer)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails if the client has disconnected
}

func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// refuse answers an error that needs no handler: as JSON to programs, as a page to people.
func refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	if isAPI(r) {
		writeJSON(w, status, errorJSON{Error: message})
		return
	}
	refusePage(w, status, http.StatusText(status), message)
}

// refusePage writes an error page.
func refusePage(w http.ResponseWriter, status int, title, message string, commands ...string) {
	// The browser sends no strict cookie after a link on another site. After a link on this page it does.
	writePlain(w, status, plainView{Title: title, Message: message, Commands: commands,
		Retry: status == http.StatusUnauthorized})
}

// plainView is a page in the style of the others that needs and contains nothing of the repository.
type plainView struct {
	Title, Message string
	Commands       []string
	Retry          bool
	Onward         string // the address to which the browser goes by itself
}

func writePlain(w http.ResponseWriter, status int, v plainView) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = templates().ExecuteTemplate(w, "plain", v) // fails if the browser has disconnected
}

const tooLarge = "the request is larger than 1 MiB"
