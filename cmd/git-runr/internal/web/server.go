// Package web serves the inbox of one repository on loopback: JSON endpoints, and pages that work without JavaScript.
// It acts through the same functions as the command line, and keeps no state of its own except who is logged in.
package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Run takes the place of the repository's server and serves the page that begin configures. begin receives the address
// and the secret of the server. Run returns screens.ErrRunning or screens.ErrPort if the place or the port is taken.
func Run(ctx context.Context, s screens.Server,
	begin func(screens.Address, screens.Secret) (screens.Page, error)) error {
	place, err := Listen(s.Repo, s.Port, s.Program)
	if err != nil {
		return err
	}
	defer place.Leave()
	config, err := begin(place.Address, place.Secret)
	if err != nil {
		return err
	}
	return New(config).Serve(ctx, place, s.Idle, place.Gone)
}

// Serve serves on listener until ctx ends, no request has come for idle, or gone reports that nothing is left to
// serve. Open live updates count as requests. Running requests are finished before it returns.
func (s *Server) Serve(ctx context.Context, listener net.Listener, idle time.Duration, gone func() bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       requestTime,
		WriteTimeout:      2 * requestTime, // live updates extend theirs
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          log.New(logWriter{s}, "", 0),
		MaxHeaderBytes:    32 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	err := s.awaitEnd(ctx, ended, idle, gone)
	stop() // ends live updates
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close()
	}
	return err
}

// awaitEnd returns when the server has a reason to end, with an error if it could not go on.
func (s *Server) awaitEnd(ctx context.Context, ended <-chan error, idle time.Duration, gone func() bool) error {
	tick := time.NewTicker(min(time.Second, max(idle/4, 10*time.Millisecond)))
	defer tick.Stop()
	s.begin()()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return fmt.Errorf("serve: %w", err)
		case <-tick.C:
			if s.idleFor() >= idle || gone() {
				return nil
			}
		}
	}
}

// logWriter receives the log of net/http.
type logWriter struct{ *Server }

func (w logWriter) Write(p []byte) (int, error) {
	w.log("%s", safetext.Line(strings.TrimSpace(string(p))))
	return len(p), nil
}

// Server answers the requests of one repository.
type Server struct {
	screens.Page
	repo *gitstore.Repo
	mux  *http.ServeMux
	activity
	listeners atomic.Int64 // for live updates
	lists     listCache
	codes     screens.Codes
}

// activity tracks when the server was last used.
type activity struct {
	mu     sync.Mutex
	active int
	last   time.Time
}

// begin records that a request has begun; end records that it has ended.
func (a *activity) begin() (end func()) {
	a.add(1)
	return func() { a.add(-1) }
}

func (a *activity) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.active += n
	a.last = time.Now()
}

// idleFor returns how long there has been no request.
func (a *activity) idleFor() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.active > 0 {
		return 0
	}
	return time.Since(a.last)
}

func (s *Server) log(format string, args ...any) {
	if s.Log != nil {
		s.Log(fmt.Sprintf(format, args...))
	}
}

// Place is a listening socket that belongs to the one server of a repository.
type Place struct {
	net.Listener
	Address screens.Address
	Secret  screens.Secret
	repo    *gitstore.Repo
	unlock  func()
}

// Listen takes the place of the repository's server. It listens on port, or for 0 on the last server's port, so that
// old links keep working, or else on any port. If the port changes, it makes a new secret: somebody else may listen on
// the old port and receive the old tokens. program is the build of the server. Listen returns screens.ErrRunning if the
// place is taken, and screens.ErrPort if it cannot listen on the port.
func Listen(repo *gitstore.Repo, port int, program string) (*Place, error) {
	unlock, free, err := repo.TryLock(screens.ServerLock())
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, screens.ErrRunning
	}
	p := &Place{repo: repo, unlock: unlock, Address: screens.Address{Program: program}}
	if err := p.listen(port); err != nil {
		unlock()
		return nil, err
	}
	return p, nil
}

func (p *Place) listen(port int) (err error) {
	last := screens.ReadAddress(p.repo).Port
	if port == 0 && last != 0 {
		p.Listener, _ = listenOn(last) // it may be taken
	}
	if p.Listener == nil {
		if p.Listener, err = listenOn(port); err != nil {
			return fmt.Errorf("%w on port %d: %w", screens.ErrPort, port, err)
		}
	}
	p.Address.Port, p.Address.PID, p.Address.Started = p.Addr().(*net.TCPAddr).Port, os.Getpid(),
		time.Now().UTC().Truncate(time.Millisecond)
	if err := p.record(last); err != nil {
		p.Listener.Close()
		return err
	}
	return nil
}

// listenOn listens on loopback and nowhere else.
func listenOn(port int) (net.Listener, error) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return nil, err // a nil *TCPListener would make a non-nil Listener
	}
	return listener, nil
}

// record writes the secret and then the address, by which other processes find the server.
func (p *Place) record(last int) error {
	p.Secret = screens.ReadSecret(p.repo)
	if p.Secret == nil || last != p.Address.Port {
		p.Secret = screens.NewSecret()
		if err := safefile.WriteFile(screens.SecretPath(p.repo), p.Secret, 0o600); err != nil {
			return fmt.Errorf("write the server's secret: %w", err)
		}
	}
	data, _ := json.Marshal(p.Address) // our own types can be encoded
	if err := safefile.WriteFile(screens.AddressPath(p.repo), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the server's address: %w", err)
	}
	return nil
}

// Gone reports whether the repository or the address file was deleted. Deleting either ends the server.
func (p *Place) Gone() bool {
	_, err := os.Stat(screens.AddressPath(p.repo))
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Leave releases the place. The address file remains, so that the next server prefers the same port.
func (p *Place) Leave() {
	p.Listener.Close()
	p.unlock()
}

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
		"GET /run/{id}/left/{event}": p.runAttachment,
		"GET /run/{id}/kept/{file}":  p.runKept,
	} {
		mux.HandleFunc(pattern, p.handle(handle))
	}
	mux.HandleFunc("GET /assets/{name}", serveAsset)
	mux.HandleFunc("/", p.handle(func(http.ResponseWriter, *http.Request) error { return errNoPage }))
}

const (
	maxListeners = 32
	pollEvery    = 500 * time.Millisecond
	beatEvery    = 15 * time.Second
	sendTime     = 10 * time.Second // a slower listener is dropped
)

// Names of live updates. Existing clients listen for the first two.
const (
	sessionsChanged    = "review_sessions_changed"    // a request was made, answered or withdrawn
	submissionsChanged = "review_submissions_changed" // anything happened to reviews
	runChanged         = "run_changed"
)

// updateJSON is the data of a live update.
type updateJSON struct {
	Type string   `json:"type"` // ui_event
	Name string   `json:"name"`
	At   int64    `json:"at"`
	IDs  []string `json:"ids,omitempty"` // what changed; empty means that anything may have
}

// events sends a listener the changes that any process writes, until the listener disconnects. The id of an update
// names the state, so a client that reconnects, or that names the state of its page as since, gets what it missed.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	defer s.listeners.Add(-1)
	if s.listeners.Add(1) > maxListeners {
		s.fail(w, r, &requestError{status: http.StatusServiceUnavailable, message: "too many listeners"})
		return
	}
	tips, err := s.repo.Tips(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	l := &listener{w: w, control: http.NewResponseController(w)}
	l.send("retry: 2000\nid: %s\n\n", stateID(tips))
	last := cmp.Or(r.Header.Get("Last-Event-ID"), r.FormValue("since"))
	if last != "" && last != stateID(tips) {
		l.update(stateID(tips), anything())
	}
	s.follow(r.Context(), l, tips)
}

// follow sends the changes after tips.
func (s *Server) follow(ctx context.Context, l *listener, tips gitstore.Tips) {
	poll, beat := time.NewTicker(pollEvery), time.NewTicker(beatEvery)
	defer poll.Stop()
	defer beat.Stop()
	for l.err == nil {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			l.send(": still here\n\n")
		case <-poll.C:
			events, now, err := s.Store.EventsSince(ctx, tips)
			if err != nil || maps.Equal(now, tips) {
				continue // what cannot be read now is read in a moment
			}
			l.update(stateID(now), updates(events))
			tips = now
		}
	}
}

// updates returns the updates for events. Without any, a log has disappeared.
func updates(events []record.Event) []updateJSON {
	if len(events) == 0 {
		return anything()
	}
	ids := map[string][]string{}
	note := func(name, id string) {
		if id != "" {
			ids[name] = each.Once(ids[name], id)
		}
	}
	for _, event := range events {
		note(submissionsChanged, event.Review)
		note(runChanged, event.Run)
		switch event.Type {
		case record.EventReviewRequested.Name, record.EventReviewSubmitted.Name, record.EventReviewChecked.Name,
			record.EventReviewCancelled.Name, record.EventReviewReopened.Name:
			note(sessionsChanged, event.Review)
		}
	}
	var updates []updateJSON
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		updates = append(updates, updateJSON{Name: name, IDs: ids[name]})
	}
	return updates
}

func anything() []updateJSON {
	return []updateJSON{{Name: sessionsChanged}, {Name: submissionsChanged}, {Name: runChanged}}
}

// stateID returns an id of the state of all logs.
func stateID(tips gitstore.Tips) string {
	sum := sha256.New()
	for _, writer := range slices.Sorted(maps.Keys(tips)) {
		fmt.Fprintf(sum, "%s %s\n", writer, tips[writer])
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// listener is one connection for live updates.
type listener struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

func (l *listener) send(format string, args ...any) {
	if l.err == nil {
		l.err = l.control.SetWriteDeadline(time.Now().Add(sendTime))
	}
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, format, args...)
	}
	if l.err == nil {
		l.err = l.control.Flush()
	}
}

func (l *listener) update(id string, updates []updateJSON) {
	for _, u := range updates {
		u.Type, u.At = "ui_event", time.Now().UnixMilli()
		data, _ := json.Marshal(u) // strings and a number cannot fail
		l.send("id: %s\nevent: %s\ndata: %s\n\n", id, u.Name, data)
	}
}
