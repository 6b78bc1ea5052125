// Package screens describes what the program git-runr-serve shows: the page, the tools of agents (MCP) and the terminal
// screen. The program git-runr knows their configuration and where the page is served, and links none of their
// libraries, nor gitleaks' for secrets: every start of a process would pay for them.
package screens

import (
	"context"
	"io"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/steps"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

// Shows are the functions that show each screen until its user leaves it, its connection ends or ctx is cancelled. The
// zero value has none.
type Shows struct {
	Page     func(ctx context.Context, server Server, begin func(Address, Secret) (Page, error)) error
	Tools    func(ctx context.Context, config Tools, in io.Reader, out io.Writer) error
	Terminal func(ctx context.Context, config Terminal) error
	// Rules are the rules for secrets of gitleaks, "" in git-runr, which reads them with leakrules.Read.
	Rules string
}

// Server says where the page is served, and until when.
type Server struct {
	Repo    *gitstore.Repo
	Port    int           // on the loopback address; 0: the port of the last server, or else any
	Program string        // the build of this program
	Idle    time.Duration // how long no request comes before the server ends
}

// Page configures the server of the page.
type Page struct {
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

// Tools configures a server. Its functions may be called from several goroutines at once.
type Tools struct {
	Version string
	// ReadOnly leaves out all tools that record something.
	ReadOnly bool
	// Open returns the repository with its present configuration. It is called for every tool call, so that a server
	// that runs for days sees changes.
	Open func(ctx context.Context) (*Project, error)
	// Lease is the lease of a claim in case its holder no longer renews it. This server renews its own claims.
	Lease time.Duration
	Log   func(format string, args ...any) // for people, never on standard output
}

// Project is a repository during one call.
type Project struct {
	steps.Taker
	// Ask returns a request to the named reviewers, or the configured ones, for a kind of review. It fails for unknown
	// names.
	Ask         func(ctx context.Context, reviewers []string, kind string, of record.Subject) (record.ReviewRequest, error)
	StartWorker func() error // starts the worker that runs agents as reviewers, in the background
	// Page returns the URL of a review's page, or "" if no page is served.
	Page    func(record.Review) string
	Checks  []runplan.Check                      // configured here and trusted
	Fix     func(review string) string           // returns the command that starts a run for a review: config.FixLine
	Offered func(record.Run) (record.Run, error) // returns a run with only the commands that may be offered for pasting
	Close   func()
}

// Terminal has the settings of the terminal interface. All fields are required.
type Terminal struct {
	Store *store.Store
	Actor string // owner of the drafts
	Now   func() time.Time
	ASCII bool // use only ASCII characters
	// Do runs one of this program's command lines, such as inbox claim ID, and returns its output and exit status. It
	// must allow concurrent calls.
	Do   func(ctx context.Context, args ...string) (out string, status int)
	Work func() error // starts waiting agents in the background
	In   io.Reader
	Out  io.Writer
	Env  []string
}
