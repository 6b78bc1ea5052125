// Package progress shows long work to a person.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

const (
	redrawEvery = 250 * time.Millisecond // on a terminal
	heartbeat   = time.Minute            // elsewhere, so that a log shows that work goes on
)

// Display shows long work on standard error: on a terminal one line that is
// redrawn, elsewhere a line for each step and one a minute while a step lasts. It
// has no colours, so NO_COLOR needs no care. Its methods may be called from any
// goroutine.
type Display struct {
	out      io.Writer
	terminal bool
	width    func() int // columns of the terminal now
	quiet    bool
	verbose  bool // every line of output stays
	now      func() time.Time

	mu      sync.Mutex // guards what follows
	name    string     // the step, "" between steps
	detail  string
	last    string // last line of output
	began   time.Time
	spoke   time.Time // when the last line was written
	drawn   bool      // a line without its line feed stands on the terminal
	closed  bool
	stop    chan struct{}
	stopped chan struct{}
}

// New starts the display. Close must be called; until then it owns a
// goroutine, unless quiet. verbose keeps every line of output.
func New(out io.Writer, terminal bool, width func() int, quiet, verbose bool, now func() time.Time) *Display {
	p := &Display{
		out: out, terminal: terminal, width: width, quiet: quiet, verbose: verbose, now: now,
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	if quiet {
		close(p.stopped)
		return p
	}
	go p.beat()
	return p
}

func (p *Display) beat() {
	defer close(p.stopped)
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.tick()
		}
	}
}

// Step begins a step, such as ("review", "claude").
func (p *Display) Step(name, detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name, p.detail, p.last = safetext.Line(name), safetext.Line(detail), ""
	p.began = p.now()
	if p.terminal {
		p.draw()
		return
	}
	p.write(p.title() + "\n")
}

// Line takes output of the step; its last line that is not blank is shown.
func (p *Display) Line(text string) {
	if p.verbose {
		p.Done("  | " + text)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := strings.TrimSpace(safetext.Line(lines[len(lines)-1])); last != "" {
		p.last = last
	}
}

// Done ends the step with a line that stays; "" ends it without one.
func (p *Display) Done(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name, p.last = "", ""
	if text == "" {
		p.clear()
		return
	}
	p.write(p.cleared() + safetext.Line(text) + "\n")
}

// Say writes a line that stays, and the step goes on.
func (p *Display) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write(p.cleared() + safetext.Line(text) + "\n")
}

// Close stops the display and leaves the line empty. Later calls do nothing.
func (p *Display) Close() {
	p.mu.Lock()
	first := !p.closed
	if first {
		p.clear()
		p.closed = true
		close(p.stop)
	}
	p.mu.Unlock()
	<-p.stopped
}

// tick redraws the line, or writes the heartbeat when it is due.
func (p *Display) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.name == "":
	case p.terminal:
		p.draw()
	case p.now().Sub(p.spoke) >= heartbeat:
		p.write(p.status() + "\n")
	}
}

func (p *Display) title() string {
	if p.detail == "" {
		return p.name
	}
	return p.name + ": " + p.detail
}

func (p *Display) status() string {
	elapsed := p.now().Sub(p.began).Truncate(time.Second)
	status := fmt.Sprintf("%s, %s", p.title(), elapsed)
	if p.last != "" {
		status += ": " + p.last
	}
	return status
}

func (p *Display) draw() {
	width := p.width()
	if width <= 1 {
		width = 80
	}
	line := prose.CutColumns(p.status(), width-1) // the last column would make some terminals wrap
	p.write(p.cleared() + line)
	p.drawn = true
}

func (p *Display) clear() {
	if line := p.cleared(); line != "" {
		p.write(line)
	}
}

// cleared gives what empties the line on the terminal, if there is one.
func (p *Display) cleared() string {
	if !p.drawn {
		return ""
	}
	p.drawn = false
	return "\r\x1b[K"
}

// write writes text in one call, so that two writers do not mix within a line.
func (p *Display) write(text string) {
	if p.quiet || p.closed {
		return
	}
	p.spoke = p.now()
	p.out.Write([]byte(text))
}
