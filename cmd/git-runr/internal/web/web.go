// Package web serves the inbox of one repository on loopback: JSON endpoints, and pages that work without JavaScript.
// It acts through the same functions as the command line, and keeps no state of its own except who is logged in.
package web

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore"
)

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
