package web

import (
	"net/http"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
)

// New returns a server with all its handlers. Handler describes the checks before them.
func New(c screens.Page) *Server {
	s := &Server{Page: c, repo: c.Store.Repo, mux: http.NewServeMux()}
	s.apiRoutes(s.mux)
	s.pageRoutes(s.mux)
	return s
}

// The endpoints, names and statuses are those of existing clients. Times are milliseconds
// since 1970, or null if something has not happened. Writing requires authority, bodies are
// parsed strictly, and no list contains a token.

// endpoint is one method and path. Its response is written as JSON.
type endpoint struct {
	method, path string
	do           func(*http.Request) (any, error)
}

func (s *Server) endpoints() []endpoint {
	const sessions, submissions, drafts = "/api/review/sessions", "/api/review/submissions", "/api/review/drafts"
	return []endpoint{
		{"GET", healthPath, s.health},
		{"POST", sessions, withBody(s.createSession)},
		{"GET", sessions, s.listSessions},
		{"DELETE", sessions + "/{id}", s.deleteSession},
		{"GET", submissions, s.listSubmissions},
		{"GET", submissions + "/{id}", s.getSubmission},
		{"POST", submissions + "/{id}/claim", withStep(s.claim)},
		{"POST", submissions + "/{id}/release", withStep(s.release)},
		{"POST", submissions + "/{id}/resolve", withStep(s.resolve)},
		{"POST", submissions + "/{id}/submit", withStep(s.submit)},
		{"POST", submissions + "/{id}/cancel", withStep(s.cancel)},
		{"POST", submissions + "/{id}/reopen", withStep(s.reopen)},
		{"POST", submissions + "/{id}/answer", withBody(s.answer)},
		{"GET", drafts + "/{id}", s.getDraft},
		{"POST", drafts + "/{id}", withBody(s.addDraftComment)},
		{"PUT", drafts + "/{id}/comments/{comment}", withBody(s.setDraftComment)},
		{"DELETE", drafts + "/{id}/comments/{comment}", s.removeDraftComment},
		{"PUT", drafts + "/{id}/message", withBody(s.setDraftMessage)},
		{"PUT", drafts + "/{id}/viewed", withBody(s.setDraftViewed)},
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
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, http.StatusNotFound, "not found")
	})
}

// pageRoutes adds the pages to mux. No GET request changes state.
func (s *Server) pageRoutes(mux *http.ServeMux) {
	p := &pages{Server: s}
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":                   p.inbox,
		"GET /review":                p.inbox,
		"GET /review/{id}":           p.ofReview(p.review),
		"GET /review/{id}/diff":      p.ofFile(p.showDiff),
		"GET /review/{id}/file":      p.ofFile(p.showWhole),
		"GET /review/{id}/agent":     p.ofReview(p.forAgent),
		"GET /review/{id}/lines":     p.ofFile(p.gapLines),
		"GET /review/{id}/raw":       p.ofFile(p.raw),
		"GET /review/{id}/comment":   p.ofReview(p.commentForm),
		"GET /review/{id}/comments":  p.ofReview(p.threads),
		"POST /review/{id}/do/{act}": p.ofReview(p.postThread),
		"GET /review/{id}/remark":    p.ofReview(p.remarkFragment),
		"POST /review/{id}/preview":  p.preview,
		"POST /review/{id}/comment":  p.ofReview(p.postComment),
		"POST /review/{id}/submit":   p.ofReview(p.postSubmit),
		"POST /review/{id}/viewed":   p.ofReview(p.postViewed),
		"POST /review/{id}/claim":    p.postState,
		"POST /review/{id}/release":  p.postState,
		"POST /review/{id}/resolve":  p.postState,
		"POST /review/{id}/reopen":   p.postState,
		"POST /review/{id}/cancel":   p.postState,
		"POST /review/{id}/answer":   p.postAnswer,
		"POST /review/{id}/reply":    p.postReply,
		"POST /reviews":              p.postBulk,
		"POST /sync":                 p.postSync,
		"GET /metrics":               p.metrics,
		"GET /runs":                  p.runs,
		"GET /run/{id}":              p.run,
		"POST /run/{id}/do/{act}":    p.postAct,
		"POST /run/{id}/comment":     p.postRunComment,
		"GET /run/{id}/now":          p.runNow,
		"GET /run/{id}/diff":         p.ofRun(p.showDiff),
		"GET /run/{id}/lines":        p.ofRun(p.gapLines),
		"GET /run/{id}/file":         p.ofRun(p.showWhole),
		"GET /run/{id}/raw":          p.ofRun(p.raw),
		"GET /run/{id}/left/{event}": p.runLeft,
		"GET /run/{id}/kept/{file}":  p.runKept,
	} {
		mux.HandleFunc(pattern, p.handle(handle))
	}
	mux.HandleFunc("GET /assets/{name}", serveAsset)
	mux.HandleFunc("/", p.handle(func(http.ResponseWriter, *http.Request) error { return errNoPage }))
}
