// Package web serves the inbox of one repository on loopback: the endpoints of seed
// 003 as JSON, and a page that reads without JavaScript. It calls the same methods of
// loop as the command line and keeps no state of its own but who is logged in.
package web

import (
	"context"
	"net/http"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/record"
)

// Config is what a server works with.
type Config struct {
	Store *record.Store    // required
	Now   func() time.Time // required
	// Checks are the checks that may be offered as commands: configured and trusted here.
	Checks []record.Check
	// Actor is who the person at the browser is: "Name <email>" of the repository.
	Actor string
	// Lease is how long a claim that is made here lasts; 0: until it is released.
	Lease    time.Duration
	Reviewer string // who is asked when a request names nobody
	Secret   Secret // kept in the repository's state directory: tokens are made of it
	Port     int    // of the loopback address that the server listens on
	// KnownReviewer refuses a name that nobody here answers to; nil: any will do.
	KnownReviewer func(name string) error
	// Requested does what a request made here needs beside its event, such as starting
	// its reviewer; nil: nothing.
	Requested func(context.Context, record.Review) error
	// Claim claims where all clones decide it; provisional says why it counts in this
	// clone only. nil: it always does.
	Claim func(ctx context.Context, id string, by record.Hold) (review record.Review, provisional string, err error)
	// Held refuses a step on a review that somebody else has there, asked now or as it was
	// last heard; nil: nobody has.
	Held    func(ctx context.Context, id string, by record.Hold, ask bool) error
	Unclaim func(review record.Review, by record.Hold) // gives back what Claim took; nil: nothing
	Closed  func()                                     // brings the notes up to date with what was submitted or closed; nil: nothing
	Log     func(line string)                          // hears of requests and faults, without tokens, from several goroutines; nil: nobody
}

// Server answers the requests of one repository.
type Server struct {
	Config
	repo *gitstore.Repo
	mux  *http.ServeMux
	activity
	tips  tipsCache
	codes codes
}

// New is a server whose handlers are all there. See Handler for what stands before them.
func New(c Config) *Server {
	s := &Server{Config: c, repo: c.Store.Repo, mux: http.NewServeMux()}
	s.apiRoutes(s.mux)
	s.pageRoutes(s.mux)
	return s
}
