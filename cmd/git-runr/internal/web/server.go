package web

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// Serve answers on listener until ctx ends, nobody has asked anything for idle, or
// gone says that there is nothing left to serve. Live updates that somebody listens
// to count as asking. Requests that have begun are answered before it returns.
func (s *Server) Serve(ctx context.Context, listener net.Listener, idle time.Duration, gone func() bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       requestTime,
		WriteTimeout:      2 * requestTime, // live updates move theirs
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

// awaitEnd returns when the server has a reason to end; an error when it could not go on.
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

// observe counts and logs requests, and turns a panic into an answer. The log has no
// queries: tokens stand there.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.begin()()
		began, answer := time.Now(), &statusWriter{ResponseWriter: w}
		defer func() {
			if fault := recover(); fault != nil {
				s.fault(answer, r, fmt.Errorf("%v\n%s", fault, debug.Stack()))
			}
			s.log("%s %s %d %s", r.Method, safetext.Line(r.URL.Path), answer.status, time.Since(began).Round(time.Millisecond))
		}()
		next.ServeHTTP(answer, r)
	})
}

// statusWriter remembers what was answered.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (s *Server) log(format string, args ...any) {
	if s.Log != nil {
		s.Log(fmt.Sprintf(format, args...))
	}
}

// logWriter takes what net/http has to say of its own.
type logWriter struct{ *Server }

func (w logWriter) Write(p []byte) (int, error) {
	w.log("%s", safetext.Line(strings.TrimSpace(string(p))))
	return len(p), nil
}

// fault answers what is our own mistake. What it was goes into the log.
func (s *Server) fault(w http.ResponseWriter, r *http.Request, err error) {
	s.log("%s %s: %v", r.Method, safetext.Line(r.URL.Path), err)
	if answer, ok := w.(*statusWriter); ok && answer.status != 0 {
		return // too late to say so
	}
	refuse(w, r, http.StatusInternalServerError, "an error that nobody foresaw; the server's log says more")
}

// requestError is a request that cannot be carried out as it was sent.
type requestError struct {
	status  int
	message string
}

func (e *requestError) Error() string { return e.message }

func badRequest(format string, args ...any) error {
	return &requestError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// errorStatuses are the answers to errors of other packages. The first that fits counts.
var errorStatuses = []struct {
	is     error
	status int
}{
	{gitstore.ErrNotFound, http.StatusNotFound},
	{gitstore.ErrNoIdentity, http.StatusBadRequest},
	{gitstore.ErrUnborn, http.StatusBadRequest},
	{gitstore.ErrBare, http.StatusBadRequest},
	{record.ErrDraftFull, http.StatusRequestEntityTooLarge},
	{gitstore.ErrTooLarge, http.StatusRequestEntityTooLarge},
	{gitstore.ErrBusy, http.StatusServiceUnavailable},
	{gitstore.ErrLostRace, http.StatusServiceUnavailable},
	{gitstore.ErrNewerFormat, http.StatusServiceUnavailable},
	{fs.ErrPermission, http.StatusServiceUnavailable},
	{syscall.EROFS, http.StatusServiceUnavailable},
	{syscall.ENOSPC, http.StatusInsufficientStorage},
	{context.DeadlineExceeded, http.StatusServiceUnavailable},
	{context.Canceled, http.StatusServiceUnavailable},
}

// errorStatus is the status that says what err means; 500 is a mistake of ours.
func errorStatus(err error) int {
	var request *requestError
	var state *record.StateError
	var large *http.MaxBytesError
	var input *record.InputError
	var nothing *loop.NothingError
	switch {
	case errors.As(err, &input), errors.As(err, &nothing):
		return http.StatusBadRequest
	case errors.As(err, &request):
		return request.status
	case errors.As(err, &state) && state.Holder != "":
		return http.StatusConflict
	case errors.As(err, &state):
		return http.StatusBadRequest
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	}
	for _, e := range errorStatuses {
		if errors.Is(err, e.is) {
			return e.status
		}
	}
	return http.StatusInternalServerError
}
