// Package web serves the inbox of one repository on loopback: JSON endpoints, and pages that work without JavaScript.
// It acts through the same functions as the command line, and keeps no state of its own except who is logged in.
package web

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/steps"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// Config configures a server.
type Config struct {
	steps.Taker
	Now func() time.Time // required
	// Checks lists the checks that may be offered as commands: configured and trusted here.
	Checks []runplan.Check
	// Actor is the person at the browser: "Name <email>" from the repository's configuration.
	Actor string
	// Lease is how long a claim made here lasts; 0: until released.
	Lease  time.Duration
	Secret Secret // source of all tokens, kept in the repository's state directory
	Port   int    // port on the loopback address
	// Ask returns a request to the named reviewers, or the configured ones, to look for what kind says. It fails for
	// an unknown name.
	Ask func(ctx context.Context, reviewers []string, kind string, of record.Subject) (record.ReviewRequest, error)
	// Requested does what a new request needs besides its event, such as starting its reviewer; nil: nothing.
	Requested func(context.Context, record.Review) error
	// Measure returns the statistics of runs and reviews of a period.
	Measure func(ctx context.Context, since time.Time) (diagnose.Metrics, error)
	// Do runs a command of this program in the repository, such as abort RUN, and returns its output and exit status;
	// nil: the pages offer no actions that run commands.
	Do func(ctx context.Context, args ...string) (out string, status int)
	// Unshared counts the events of this clone that the elected remote did not have at the last exchange; nil: no
	// remote.
	Unshared    func(context.Context) (int, error)
	Log         func(line string) // receives errors, without tokens, from several goroutines; nil: nobody
	LogRequests bool              // Log also receives each request
}

// Server answers the requests of one repository.
type Server struct {
	Config
	repo *gitstore.Repo
	mux  *http.ServeMux
	activity
	tips  tipsCache
	lists listCache
	codes codes
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

const (
	maxListeners = 32
	pollEvery    = 500 * time.Millisecond
)

// tipsCache lets concurrent listeners share one read of the refs.
type tipsCache struct {
	mu        sync.Mutex
	at        time.Time
	tips      gitstore.Tips
	listeners int
}

func (c *tipsCache) read(ctx context.Context, repo *gitstore.Repo) (gitstore.Tips, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) < pollEvery/2 {
		return c.tips, nil
	}
	tips, err := repo.Tips(ctx)
	if err == nil {
		c.at, c.tips = time.Now(), tips
	}
	return tips, err
}

// join adds a listener. It returns false if there are too many.
func (c *tipsCache) join() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listeners >= maxListeners {
		return false
	}
	c.listeners++
	return true
}

func (c *tipsCache) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners--
}
