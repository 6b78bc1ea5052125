// Package stdio is standard input and output as a command meets them: who is at the other
// end, what was lost on the way, and the form of a document.
package stdio

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Output is standard output, to which many write and few look at the error: it
// remembers the first one, for Finish to tell.
type Output struct {
	io.Writer
	mu   sync.Mutex
	lost error
}

// Write fails quietly when the reader went away: it has read enough.
func (o *Output) Write(b []byte) (int, error) {
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
func (o *Output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lost
}

// Finish reports err, and that a result was lost, and returns the exit status.
func (o *Output) Finish(err error, stderr io.Writer, asJSON bool) int {
	status := int(exit.OK)
	if lost := o.failed(); lost == nil || !errors.Is(err, lost) {
		status = exit.Report(err, o, stderr, asJSON && lost == nil)
	}
	if lost := o.failed(); lost != nil {
		status = exit.Report(lost, o, stderr, false)
	}
	return status
}

// Beneath is what w writes to in the end: what a child process and a terminal are given.
func Beneath(w any) any {
	if o, ok := w.(*Output); ok {
		return o.Writer
	}
	return w
}

// Terminal reports whether w is a terminal, and how wide it is.
func Terminal(w any) (bool, int) {
	file, ok := Beneath(w).(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return false, 80
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	return true, width
}

// WriteJSON writes one document with "v":1 before its own fields.
func WriteJSON(w io.Writer, doc any) error {
	body, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	if len(body) < 2 || body[0] != '{' {
		return errors.New("encode result: not an object")
	}
	versioned := []byte(`{"v":1`)
	if string(body) != "{}" {
		versioned = append(append(versioned, ','), body[1:]...)
	} else {
		versioned = append(versioned, '}')
	}
	_, err = w.Write(append(safetext.JSON(versioned), '\n'))
	return err
}
