// Package progress shows a person that work is in progress.
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

// Display shows long work on standard error: on a terminal as one line that is redrawn, elsewhere as a line for each
// step and one a minute while a step lasts. It uses no colours, so it can ignore NO_COLOR. Its methods may be called
// from any goroutine.
type Display struct {
	out      io.Writer
	terminal bool
	width    func() int // current columns of the terminal
	quiet    bool
	verbose  bool // keep every line of output
	now      func() time.Time

	mu      sync.Mutex // guards the fields below
	name    string     // the current step; "" between steps
	detail  string
	last    string // last line of output
	began   time.Time
	spoke   time.Time // when the last line was written
	drawn   bool      // the terminal shows a line without a line feed
	closed  bool
	stop    chan struct{}
	stopped chan struct{}
}

// New starts the display and, unless quiet, a goroutine that runs until Close. verbose keeps every line of output.
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

// Line adds output of the step; the display shows its last line that is not blank.
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

// Done ends the step with a line that stays, or without one if text is "".
func (p *Display) Done(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name, p.last = "", ""
	if text != "" {
		text = safetext.Line(text) + "\n"
	}
	p.write(p.cleared() + text)
}

// Say writes a line that stays, during a step.
func (p *Display) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write(p.cleared() + safetext.Line(text) + "\n")
}

// Close stops the display and clears its line. Later calls do nothing.
func (p *Display) Close() {
	p.mu.Lock()
	first := !p.closed
	if first {
		p.write(p.cleared())
		p.closed = true
		close(p.stop)
	}
	p.mu.Unlock()
	<-p.stopped
}

// tick redraws the line, or writes the heartbeat if it is due.
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

// cleared returns the sequence that clears a drawn line, or "".
func (p *Display) cleared() string {
	if !p.drawn {
		return ""
	}
	p.drawn = false
	return "\r\x1b[K"
}

// write writes text in one call, so that two writers do not mix within a line.
func (p *Display) write(text string) {
	if p.quiet || p.closed || text == "" {
		return
	}
	p.spoke = p.now()
	p.out.Write([]byte(text))
}
