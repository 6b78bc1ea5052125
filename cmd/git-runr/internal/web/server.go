package web

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
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
