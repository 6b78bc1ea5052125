// Package stdio handles a command's standard input and output: whether it is a terminal, errors in writing, and the
// format of JSON documents.
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

// Output is standard output. It stores the first write error for Finish, because few callers check it.
type Output struct {
	io.Writer
	mu   sync.Mutex
	lost error
}

// Write ignores a closed pipe: the reader has read enough.
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
		err = path.Err // its path is /dev/stdout, which says nothing
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost == nil {
		o.lost = exit.Problemf(exit.Busy, "standard output: %w", err)
	}
	return n, o.lost
}

// failed returns the first write error, or nil.
func (o *Output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lost
}

// Finish reports err and a write error, if any, and returns the exit status.
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

// Beneath returns the file below w, to pass it to a child process or a terminal.
func Beneath(w any) any {
	if o, ok := w.(*Output); ok {
		return o.Writer
	}
	return w
}

// Terminal reports whether w is a terminal, and its width; 80 if that is unknown.
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

// WriteJSON writes one JSON document, with "v":1 before the fields of doc.
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
