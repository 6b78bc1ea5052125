// Package web serves the inbox of one repository on loopback: endpoints as JSON, and a
// page that reads without JavaScript. It takes the same steps as the command line and
// keeps no state of its own but who is logged in.
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

// Config is what a server works with.
type Config struct {
	steps.Taker
	Now func() time.Time // required
	// Checks are the checks that may be offered as commands: configured and trusted here.
	Checks []runplan.Check
	// Actor is who the person at the browser is: "Name <email>" of the repository.
	Actor string
	// Lease is how long a claim that is made here lasts; 0: until it is released.
	Lease  time.Duration
	Secret Secret // kept in the repository's state directory: tokens are made of it
	Port   int    // of the loopback address that the server listens on
	// Ask is a request to those who are named, or to the configured ones, to look for what a
	// kind says; an error where a name is nobody's.
	Ask func(reviewers []string, kind string) (record.ReviewRequest, error)
	// Requested does what a request made here needs beside its event, such as starting
	// its reviewer; nil: nothing.
	Requested func(context.Context, record.Review) error
	// Measure is what the runs and reviews of a period came to.
	Measure func(ctx context.Context, since, until time.Time) (diagnose.Metrics, error)
	// Do carries out a command line of ours in the repository, such as abort RUN, and gives what it
	// wrote and its exit status; nil: nothing can be done with runs from here.
	Do func(ctx context.Context, args ...string) (out string, status int)
	// Unshared counts the events of this clone that the elected remote did not have at the last exchange; nil: no remote.
	Unshared    func(context.Context) (int, error)
	Log         func(line string) // hears of faults, without tokens, from several goroutines; nil: nobody
	LogRequests bool              // Log hears of each request, too
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

// activity knows when somebody last asked for something.
type activity struct {
	mu     sync.Mutex
	active int
	last   time.Time
}

// begin notes that a request has begun; the result, that it has ended.
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

// idleFor is how long nobody has asked for anything.
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

// tipsCache spares listeners who look at the same time from reading the refs each.
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

// join counts a listener; false when there are too many.
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
