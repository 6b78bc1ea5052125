package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"syscall"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

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
