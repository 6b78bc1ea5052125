// Package tui implements git runr tui: the queue and the inbox, reviews with their diffs, and runs, on a terminal. It
// only reads and shows what is recorded. Every action is a command line of this program, which the question before it
// shows.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/follow"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Run shows the interface until the user leaves it or ctx is cancelled; then it returns ctx's error.
func Run(ctx context.Context, c screens.Terminal) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &model{Terminal: c, ctx: ctx}
	m.push(m.homePage())
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(c.In), tea.WithOutput(c.Out), tea.WithEnvironment(c.Env),
		tea.WithoutSignalHandler())
	m.send = p.Send
	go follow.News(ctx, c.Store, func([]record.Event) {
		p.Send(step(func(m *model) tea.Cmd { return m.reload(m.page()) }))
	})
	_, err := p.Run()
	m.keepTyped()
	ended := ctx.Err()
	cancel()
	m.acting.Lock() // running actions end as after ^C, and no new one begins
	switch {
	case errors.Is(err, tea.ErrInterrupted):
		return context.Canceled
	case ended != nil:
		return ended
	}
	return err
}

// model is the state of the screen: a stack of pages, of which the last is visible, and a question or a text field in
// front of it.
type model struct {
	screens.Terminal
	ctx           context.Context
	send          func(tea.Msg)
	width, height int
	pages         []*page
	ask           *question
	field         *field
	flash         string       // one line about what was done or went wrong
	bad           bool         // flash is an error
	acting        sync.RWMutex // read-locked while something is recorded
}

// loader reads a page's data outside the event loop, and returns a function that puts it into place.
type loader func(context.Context) (func(), error)

// page is a list of rows with a cursor. load runs on the event loop and returns what to read; build makes the rows for
// a width.
type page struct {
	title  string
	load   func() loader
	build  func(width int) []row
	keys   []key
	live   bool   // reload every few seconds, not only after an event
	close  func() // called when the page is left
	rows   []row
	cur    int
	top    int
	left   int // number of columns scrolled away
	mark   int // first row of the range, -1 without one
	filter string
	loaded bool
	asked  int // number of loads begun; results of earlier ones are dropped
	err    error
}

// question is answered with one key.
type question struct {
	text    string
	choices []key
}

// step is a message to the event loop: what to do there.
type step func(*model) tea.Cmd

// tick reloads a live page every few seconds.
func tick() tea.Cmd {
	return tea.Tick(2*time.Second, func(time.Time) tea.Msg {
		return step(func(m *model) tea.Cmd {
			if m.page().live {
				return tea.Batch(m.reload(m.page()), tick())
			}
			return tick()
		})
	})
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return tea.Batch(m.reload(m.page()), tick()) }

func (m *model) page() *page { return m.pages[len(m.pages)-1] }

func (m *model) push(p *page) tea.Cmd {
	p.mark = -1
	m.pages = append(m.pages, p)
	return m.reload(p)
}

// back leaves the page; leaving the first page ends the program.
func (m *model) back() tea.Cmd {
	if len(m.pages) == 1 {
		return tea.Quit
	}
	if p := m.page(); p.close != nil {
		p.close()
	}
	m.pages = m.pages[:len(m.pages)-1]
	return m.reload(m.page())
}

// nothing returns the loader of a page that has nothing to read.
func nothing() loader {
	return func(context.Context) (func(), error) { return func() {}, nil }
}

// reload reads the data of p again.
func (m *model) reload(p *page) tea.Cmd {
	p.asked++
	asked, load := p.asked, p.load()
	return func() tea.Msg {
		apply, err := load(m.ctx)
		return step(func(m *model) tea.Cmd {
			if asked == p.asked && m.ctx.Err() == nil { // else a newer load has begun
				m.put(p, apply, err)
			}
			return nil
		})
	}
}

// do runs a command line and, if it succeeded, calls then, which may be nil.
func (m *model) do(then step, args ...string) tea.Cmd {
	return func() tea.Msg {
		m.acting.RLock()
		defer m.acting.RUnlock()
		out, status := m.Do(m.ctx, args...)
		return step(func(m *model) tea.Cmd { return m.done(args[0], out, status, then) })
	}
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		for _, p := range m.pages {
			m.fill(p)
		}
	case step:
		return m, msg(m)
	case tea.PasteMsg:
		if m.field != nil {
			m.field.insert(msg.Content)
			return m, m.keepSoon()
		}
	case tea.KeyPressMsg:
		return m, m.key(msg)
	}
	return m, nil
}

// put shows what was read for a page.
func (m *model) put(p *page, apply func(), err error) {
	p.err = err
	if err == nil {
		apply()
		p.loaded = true
	}
	m.fill(p)
}

// fill makes the rows of a page and keeps the cursor on the same item.
func (m *model) fill(p *page) {
	if !p.loaded || m.width == 0 {
		return
	}
	var was row
	if p.cur < len(p.rows) {
		was = p.rows[p.cur]
	}
	p.rows = p.build(m.width - gutter)
	if p.cur == 0 {
		p.cur = max(0, slices.IndexFunc(p.rows, func(r row) bool { return r.open != "" && r.about == "" }))
	}
	if p.filter != "" {
		p.rows = slices.DeleteFunc(p.rows, func(r row) bool {
			return !strings.Contains(strings.ToLower(r.plain()), strings.ToLower(p.filter))
		})
	}
	if p.cur >= len(p.rows) || !p.rows[p.cur].same(was) {
		if i := slices.IndexFunc(p.rows, was.same); i >= 0 {
			p.top += i - p.cur
			p.cur = i
		}
	}
	if p.mark >= len(p.rows) {
		p.mark = -1
	}
	p.move(0, m.body())
}

// done shows the result of a command: its first line below, or all of it on a page if a failed command wrote more.
func (m *model) done(command, out string, status int, then step) tea.Cmd {
	out = strings.TrimSpace(out)
	first, rest, _ := strings.Cut(out, "\n")
	m.flash, m.bad = first, status != 0
	cmds := []tea.Cmd{m.reload(m.page())}
	switch {
	case status != 0 && rest != "":
		rows := func(width int) []row { return textRows(out, width) }
		cmds = append(cmds, m.push(&page{title: "git runr " + command, load: nothing, build: rows, keys: lineKeys()}))
	case status == 0 && then != nil:
		cmds = append(cmds, then(m))
	}
	return tea.Batch(cmds...)
}

// key handles a key press.
func (m *model) key(press tea.KeyPressMsg) tea.Cmd {
	name := press.String()
	switch {
	case name == "ctrl+c":
		return tea.Interrupt
	case name == "ctrl+z":
		return suspend
	case m.field != nil:
		return m.fieldKey(press)
	}
	m.flash, m.bad = "", false
	if q := m.ask; q != nil {
		m.ask = nil
		if k, ok := find(q.choices, name); ok && k.do != nil {
			return k.do(m, m.page())
		}
		return nil
	}
	p := m.page()
	if k, ok := find(p.keys, name); ok {
		return k.do(m, p)
	}
	if k, ok := find(everywhere(), name); ok {
		return k.do(m, p)
	}
	return nil
}

// fail shows an error in the line below.
func (m *model) fail(err error) tea.Cmd {
	m.flash, m.bad = err.Error(), true
	return nil
}

// copy sends text to the terminal's clipboard, which works over ssh too.
func (m *model) copy(text string) tea.Cmd {
	first, _, _ := strings.Cut(text, "\n")
	m.flash = "Copied: " + first
	return tea.SetClipboard(text)
}

// shell runs a command line on the terminal itself, as if the user had typed it there.
func (m *model) shell(line string) tea.Cmd {
	run := &typedLine{ctx: m.ctx, repo: m.Store.Repo, line: line}
	return tea.Exec(run, func(err error) tea.Msg {
		return step(func(m *model) tea.Cmd {
			if err != nil {
				return m.fail(fmt.Errorf("%s: %w", line, err))
			}
			m.flash, m.bad = "Done: "+line, false
			return nil
		})
	})
}

// typedLine is a command line that the shell runs while the screen is released.
type typedLine struct {
	ctx      context.Context
	repo     *gitstore.Repo
	line     string
	terminal gitstore.Terminal
}

func (t *typedLine) SetStdin(r io.Reader)  { t.terminal.In = r }
func (t *typedLine) SetStdout(w io.Writer) { t.terminal.Out = w }
func (t *typedLine) SetStderr(w io.Writer) { t.terminal.Err = w }

// Run waits for a key after the command, so that its output can be read.
func (t *typedLine) Run() error {
	safetext.Fprintf(t.terminal.Out, "$ %s\n", t.line)
	err := t.repo.Shell(t.ctx, t.line, t.terminal)
	safetext.Fprintf(t.terminal.Out, "\nEnter goes back to git runr tui.")
	var b [1]byte
	for {
		if n, readErr := t.terminal.In.Read(b[:]); readErr != nil || n > 0 && b[0] == '\n' {
			return err
		}
	}
}
