package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"git-runr/loop/record"
)

// The endpoints, names and statuses are those that existing clients know; times are milliseconds
// since 1970, null where something has not happened. Beyond the seed: who may write is
// checked, bodies are strict, no list holds a token, and drafts, submitting,
// cancelling, releasing, reopening and answering work over HTTP too.

// endpoint is one method and path. Its answer is written as JSON.
type endpoint struct {
	method, path string
	do           func(*http.Request) (any, error)
}

func (s *Server) endpoints() []endpoint {
	const sessions, submissions, drafts = "/api/review/sessions", "/api/review/submissions", "/api/review/drafts"
	return []endpoint{
		{"GET", healthPath, s.health},
		{"POST", sessions, s.createSession},
		{"GET", sessions, s.listSessions},
		{"DELETE", sessions + "/{id}", s.deleteSession},
		{"GET", submissions, s.listSubmissions},
		{"GET", submissions + "/{id}", s.getSubmission},
		{"POST", submissions + "/{id}/claim", s.claim},
		{"POST", submissions + "/{id}/release", s.release},
		{"POST", submissions + "/{id}/resolve", s.resolve},
		{"POST", submissions + "/{id}/submit", s.submit},
		{"POST", submissions + "/{id}/cancel", s.cancel},
		{"POST", submissions + "/{id}/reopen", s.reopen},
		{"POST", submissions + "/{id}/answer", s.answer},
		{"GET", drafts + "/{id}", s.getDraft},
		{"POST", drafts + "/{id}", s.addDraftComment},
		{"PUT", drafts + "/{id}/comments/{comment}", s.setDraftComment},
		{"DELETE", drafts + "/{id}/comments/{comment}", s.removeDraftComment},
		{"PUT", drafts + "/{id}/message", s.setDraftMessage},
		{"PUT", drafts + "/{id}/viewed", s.setDraftViewed},
	}
}

func (s *Server) apiRoutes(mux *http.ServeMux) {
	methods := map[string][]string{eventsPath: {"GET"}}
	for _, e := range s.endpoints() {
		methods[e.path] = append(methods[e.path], e.method)
		mux.HandleFunc(e.method+" "+e.path, s.answered(e.do))
	}
	mux.HandleFunc("GET "+eventsPath, s.events)
	for path, allowed := range methods {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			refuse(w, r, http.StatusMethodNotAllowed, "method not allowed")
		})
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) { refuse(w, r, http.StatusNotFound, "not found") })
}

// answered writes what do gives, or what its error means.
func (s *Server) answered(do func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
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

// counted is a list of which there are more than are shown.
type counted struct {
	items any
	total int
}

type errorJSON struct {
	Error     string `json:"error"`
	ClaimedBy string `json:"claimedBy,omitempty"` // who is in the way
}

// fail answers err to a program or, as a page, to a person.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := errorStatus(err)
	if status == http.StatusInternalServerError {
		s.fault(w, r, err)
		return
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	var state *record.StateError
	if errors.As(err, &state) && state.Holder != "" && isAPI(r) {
		writeJSON(w, status, errorJSON{Error: err.Error(), ClaimedBy: state.Holder})
		return
	}
	refuse(w, r, status, err.Error())
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that has gone cannot be told
}

// readBody reads the body of a write, without blanks around it.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, &requestError{http.StatusRequestEntityTooLarge, tooLarge}
		}
		return nil, badRequest("the body ended early")
	}
	return bytes.TrimSpace(body), nil
}

// readJSON reads the body of a write: one object with no keys but those of v.
func readJSON[T any](r *http.Request) (v T, err error) {
	body, err := readBody(r)
	if err != nil {
		return v, err
	}
	return decodeBody[T](body)
}

// readStep is readJSON for a step that may say nothing beside its address: without a
// body it is the zero value.
func readStep[T any](r *http.Request) (v T, err error) {
	body, err := readBody(r)
	if err != nil || len(body) == 0 {
		return v, err
	}
	return decodeBody[T](body)
}

func decodeBody[T any](body []byte) (v T, err error) {
	if !utf8.Valid(body) || len(body) == 0 || body[0] != '{' {
		return v, badRequest("Invalid JSON body: an object is wanted")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		return v, badRequest("Invalid JSON body: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return v, badRequest("Invalid JSON body: bytes after the object")
	}
	return v, nil
}

// health says that the server is there, and proves it to who has the secret too.
func (s *Server) health(r *http.Request) (any, error) {
	answer := healthJSON{Status: "ok"}
	if challenge := r.URL.Query().Get("challenge"); len(challenge) == challengeSize {
		answer.Proof = s.Secret.proof(challenge)
	}
	return answer, nil
}

type healthJSON struct {
	Status string `json:"status"`
	Proof  string `json:"proof,omitempty"`
}

// millis is a time as the API gives it; nil where it has not come.
func millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

// text is s, or null for nothing.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
