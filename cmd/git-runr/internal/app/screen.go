package app

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/gitstore"
)

// columns returns the width for results that a person reads, or 0 if they go to a pipe or file and lines are not
// wrapped.
func (c *console) columns() int {
	terminal, width := c.terminalAt(c.out)
	if !terminal && c.getenv("GIT_PAGER_IN_USE") != "true" {
		return 0
	}
	return width
}

// terminalAt reports whether w is a terminal, and the width: COLUMNS if set, else the terminal's.
func (p *program) terminalAt(w any) (bool, int) {
	terminal, width := stdio.Terminal(w)
	set, _ := strconv.Atoi(p.getenv("COLUMNS"))
	return terminal, cmp.Or(max(set, 0), width)
}

// talk is a writer to standard error. At a terminal it wraps what is written, which must be whole lines.
type talk struct{ *program }

func (t talk) Write(text []byte) (int, error) {
	terminal, width := t.terminalAt(t.err)
	if !terminal {
		return t.err.Write(text)
	}
	w := &screen.Writer{Out: t.err, Columns: width}
	_, _ = w.Write(text) // w buffers it
	return len(text), w.Flush()
}

// width returns columns, or 80 in a pipe, for text that is always laid out.
func (c *console) width() int { return cmp.Or(c.columns(), 80) }

// screen returns the writer for results that a person reads. The caller flushes it.
func (c *console) screen() *screen.Writer {
	w := &screen.Writer{Out: c.out, Columns: c.columns()}
	w.Colours = c.coloured(w.Columns > 0)
	if terminal, _ := stdio.Terminal(c.out); terminal && w.Colours && c.store != nil && screen.Links(c.getenv) {
		w.Address = c.address
	}
	if w.Columns > 0 {
		w.Now = c.now()
		if c.store != nil {
			w.Short, w.File, w.Redact = c.store.ShortIDs, c.file, c.redact
		}
	}
	return w
}

// file returns a file's content in a tree, or nil if it cannot be read.
func (c *console) file(tree gitstore.ID, path string) []byte {
	entry, err := c.store.Repo.File(context.Background(), tree, path)
	if err != nil {
		return nil
	}
	text, err := c.store.Repo.ReadBlob(context.Background(), entry.ID)
	if err != nil {
		return nil
	}
	return text
}

// address returns the link to a place on this machine, or "" if the file is not here.
func (c *console) address(place screen.Place) string {
	path := filepath.Join(c.store.Repo.WorkTree, filepath.FromSlash(place.File))
	if c.store.Repo.WorkTree == "" || place.File == "" || !filepath.IsLocal(filepath.FromSlash(place.File)) ||
		!onDisk(path) {
		return ""
	}
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return screen.FileLink(c.getenv, host, path, place.Line)
}

// coloured reports whether results have colours. terminal says whether a person reads them.
func (c *console) coloured(terminal bool) bool {
	config := func(string) string { return "" }
	if c.store != nil {
		config = c.store.Repo.Config.Get
	}
	return screen.Wish{Flag: c.colours, Getenv: c.getenv, Config: config}.Colours(terminal)
}

// paged writes the output of show to the user's pager if standard output is a terminal, else directly.
func (s *session) paged(show func(w *screen.Writer) error) error {
	w := s.screen()
	write := func() error { return cmp.Or(show(w), w.Flush()) }
	terminal, _ := stdio.Terminal(s.out)
	if !terminal {
		return write()
	}
	pager, err := s.store.Repo.Pager(s.ctx, s.Command.Name)
	if err != nil {
		return err
	}
	if pager == "" {
		return write()
	}
	w.Address = nil // not every pager supports links
	at := gitstore.Terminal{Out: stdio.Beneath(s.out).(io.Writer), Err: s.err}
	return s.store.Repo.Page(s.ctx, pager, at, func(out io.Writer) error {
		w.Out = &stdio.Output{Writer: out}
		return write()
	})
}

// printPaged is print for output that may be long.
func (s *session) printPaged(doc any, show func(w io.Writer)) error {
	if s.json {
		return stdio.WriteJSON(s.out, doc)
	}
	return s.paged(func(w *screen.Writer) error { show(w); return nil })
}
