package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/background"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

const (
	serveIdle = time.Hour       // a server without requests ends after this
	serveWait = 2 * time.Second // maximum wait for a server to start
)

func (p *program) serveCommand() *cli.Command {
	return &cli.Command{
		Name: "serve", Usage: "serve the inbox to a browser on this machine",
		Description: `Listens on 127.0.0.1, on the port of the last server if that is free, and prints the address to
open. A repository has one server: a second one prints the address of the first. It ends after an hour without
requests. The page of a run can resume, answer, land and abort it; that of a review can commit suggestions and start
runs. git runr review starts a server in the background if a browser can be opened; git config runr.serve false stops
that.`,
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "port", DefaultText: "the last one", Usage: "listen on port `N`"},
			&cli.BoolFlag{Name: "open", Usage: "open the browser"},
			&cli.DurationFlag{Name: "idle", Value: serveIdle, Usage: "end after `DURATION` without a request"},
			&cli.BoolFlag{Name: "detached", Hidden: true, Usage: "print no address: what is printed goes to a log"},
		},
		Action: p.orScreens(p.shows.Page != nil, p.withConfig(serve)),
	}
}

// served is the result of git runr serve.
type served struct {
	URL      string `json:"url"`
	LoginURL string `json:"login_url"` // signs the browser in
	Token    string `json:"token"`     // for programs: Authorization: Bearer TOKEN
	Port     int    `json:"port"`
	PID      int    `json:"pid"`
	Running  bool   `json:"running"` // it was running before
}

func serve(s *session, store *store.Store, conf *config.Config) error {
	if port := s.Int("port"); port < 0 || port > 65535 {
		return exit.Problemf(exit.Usage, "port %d is not valid", port)
	}
	if s.Duration("idle") <= 0 {
		return exit.Problemf(exit.Usage, "--idle must be above 0")
	}
	actor, err := s.person(store)
	if err != nil {
		return err
	}
	server := screens.Server{Repo: store.Repo, Port: s.Int("port"), Program: buildNow().String(), Idle: s.Duration("idle")}
	err = s.shows.Page(s.ctx, server, func(address screens.Address, secret screens.Secret) (screens.Page, error) {
		collect(longGC)
		return s.pageOf(store, conf, address, secret, actor), s.showServer(store, address, secret, false)
	})
	if errors.Is(err, screens.ErrRunning) {
		return s.showRunning(store)
	}
	if errors.Is(err, screens.ErrPort) {
		return exit.Problemf(exit.Busy, "%w", err)
	}
	return err
}

// unshared returns the function that counts the events of this clone which the elected remote does not have, or nil if
// there is no remote.
func unshared(store *store.Store, conf *config.Config) func(context.Context) (int, error) {
	remote, err := store.Repo.ElectRemote(conf.Sync.Remote)
	if err != nil {
		return nil
	}
	return func(ctx context.Context) (int, error) { return share.Unpushed(ctx, store, remote) }
}

func (s *session) pageOf(store *store.Store, conf *config.Config, address screens.Address,
	secret screens.Secret, actor string) screens.Page {
	checks, _ := conf.Checks() // unapproved commands must not be suggested
	return screens.Page{
		Unshared: unshared(store, conf),
		Taker:    s.steps(store), Now: s.now, Checks: checks, Actor: actor,
		Secret: secret, Port: address.Port,
		Ask:       conf.RequestOn,
		Requested: func(ctx context.Context, made record.Review) error { return reviewRequested(ctx, store, made) },
		Measure: func(ctx context.Context, since time.Time) (diagnose.Metrics, error) {
			return diagnose.Measure(ctx, store, since)
		},
		Do: func(ctx context.Context, args ...string) (string, int) { return s.inside(ctx, store, args) },
		Log: func(line string) {
			s.say("%s %s", time.Now().UTC().Format(time.RFC3339), line)
		},
		LogRequests: s.verbose || s.Bool("detached"),
	}
}

// reviewRequested does what git runr review does after it recorded a request.
func reviewRequested(ctx context.Context, store *store.Store, made record.Review) error {
	if err := store.PinReview(ctx, made); err != nil {
		return err
	}
	if !hasAgent(made.Request.Reviewers()) {
		return nil
	}
	return background.Work(store.Repo)
}

// showRunning shows the server of this repository that is running; it may have started just now.
func (s *session) showRunning(store *store.Store) error {
	address, secret, ok := screens.Await(s.ctx, store.Repo, serveWait)
	if !ok {
		return exit.Problemf(exit.Busy, "a server of this repository is starting or ending, or does not answer")
	}
	if own := buildNow().String(); address.Program != own && !s.Bool("detached") {
		s.say("the running server belongs to another git-runr (%s; this is %s); to replace it:\n  kill %d; git runr serve",
			cmp.Or(address.Program, "an older one"), own, address.PID)
	}
	return s.showServer(store, address, secret, true)
}

// showServer prints the server's address, and with --open opens a browser there.
func (s *session) showServer(store *store.Store, address screens.Address, secret screens.Secret, running bool) error {
	if s.Bool("detached") {
		return nil
	}
	doc := served{
		URL: address.URL(), LoginURL: address.LoginURL(secret.Session()), Token: secret.Session(),
		Port: address.Port, PID: address.PID, Running: running,
	}
	err := s.print(doc, func(w io.Writer) { safetext.Fprintf(w, "The inbox is served at\n  %s\n", doc.LoginURL) })
	if err != nil || !s.Bool("open") {
		return err
	}
	if err := background.Browse(store.Repo, address.LoginURL(secret.Code(time.Now()))); err != nil {
		s.say("no browser opens (%v); open the address above yourself", err)
	}
	return nil
}
