package main

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"git-runr/cmd/git-runr/internal/exit"
)

// output is standard output, to which many write and few look at the error: it
// remembers the first one, for finish to tell.
type output struct {
	io.Writer
	mu   sync.Mutex
	lost error
}

// Write fails quietly when the reader went away: it has read enough.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, syscall.EPIPE):
		return n, exit.With(exit.OK)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // its path is /dev/stdout, wherever that leads
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost == nil {
		o.lost = exit.Problemf(exit.Busy, "standard output: %w", err)
	}
	return n, o.lost
}

// failed is the first error of writing, or nil.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lost
}

// finish reports err, and that a result was lost, and returns the exit status.
func (o *output) finish(err error, stderr io.Writer, asJSON bool) int {
	status := int(exit.OK)
	if lost := o.failed(); lost == nil || !errors.Is(err, lost) {
		status = exit.Report(err, o, stderr, asJSON && lost == nil)
	}
	if lost := o.failed(); lost != nil {
		status = exit.Report(lost, o, stderr, false)
	}
	return status
}

// beneath is what w writes to in the end: what a child process and a terminal are given.
func beneath(w any) any {
	if o, ok := w.(*output); ok {
		return o.Writer
	}
	return w
}
