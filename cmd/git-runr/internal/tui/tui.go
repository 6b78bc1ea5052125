// Package tui is git runr tui: the queue and the inbox, reviews with their diffs, and runs, on a
// terminal. It reads what is recorded and shows it; what is done, the commands do: each act is a
// command line, which the footer of its question shows.
package tui

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/follow"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// Config is what the terminal shows and works on. All of it is required.
type Config struct {
	Store *store.Store
	Actor string // whose drafts are written
	Now   func() time.Time
	ASCII bool // only what every terminal shows
	// Do carries out a command line of ours, such as inbox claim ID, and gives what it wrote and
	// its exit status. It may be called from several goroutines at once.
	Do   func(ctx context.Context, args ...string) (out string, status int)
	Work func() error // starts the agents that are waited for, in the background
	In   io.Reader
	Out  io.Writer
	Env  []string
}

// Run shows the terminal until the user leaves it or ctx is cancelled, which is its error then.
func Run(ctx context.Context, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &model{Config: c, ctx: ctx}
	m.push(m.homePage())
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(c.In), tea.WithOutput(c.Out), tea.WithEnvironment(c.Env), tea.WithoutSignalHandler())
	m.send = p.Send
	go follow.News(ctx, c.Store, func([]record.Event) { p.Send(newsMsg{}) })
	_, err := p.Run()
	m.keepTyped()
	ended := ctx.Err()
	cancel()
	m.acting.Lock() // what is at work ends as it does at ^C, and no part of it begins any more
	switch {
	case errors.Is(err, tea.ErrInterrupted):
		return context.Canceled
	case ended != nil:
		return ended
	}
	return err
}

// model is what is on the screen: a stack of pages, of which the last is seen, and a question or a
// text field in front of it.
type model struct {
	Config
	ctx           context.Context
	send          func(tea.Msg)
	width, height int
	pages         []*page
	ask           *question
	field         *field
	flash         string       // what was done or went wrong, in a line
	bad           bool         // it went wrong
	acting        sync.RWMutex // read while something is recorded
}

// loader reads what a page shows, off the loop, and returns what puts it into place.
type loader func(context.Context) (func(), error)

// page is a list of rows with a cursor. load says, on the loop, what is to be read; build makes the
// rows of it for a width.
type page struct {
	title  string
	load   func() loader
	build  func(width int) []row
	keys   []key
	live   bool   // it is read again every few seconds, and not only when something was recorded
	close  func() // when it is left
	rows   []row
	cur    int
	top    int
	left   int // columns that are scrolled away
	mark   int // where a range began, -1 without one
	filter string
	loaded bool
	asked  int // how often load was begun; what comes of an earlier one is dropped
	err    error
}

// question is answered with one key.
type question struct {
	text    string
	choices []key
}

type (
	newsMsg   struct{}
	tickMsg   struct{}
	loadedMsg struct {
		page  *page
		asked int
		apply func()
		err   error
	}
	// doneMsg is a command line that was carried out.
	doneMsg struct {
		args   []string
		out    string
		status int
		then   func(m *model) tea.Cmd
	}
	flashMsg struct {
		text string
		bad  bool
	}
	keepMsg struct {
		field *field
		edits int
	}
)

const tickEvery = 2 * time.Second

func tick() tea.Cmd { return tea.Tick(tickEvery, func(time.Time) tea.Msg { return tickMsg{} }) }

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return tea.Batch(m.reload(m.page()), tick()) }

func (m *model) page() *page { return m.pages[len(m.pages)-1] }

func (m *model) push(p *page) tea.Cmd {
	p.mark = -1
	m.pages = append(m.pages, p)
	return m.reload(p)
}

// back leaves the page; the last one ends the program.
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

// nothing is the load of a page that is there already.
func nothing() loader {
	return func(context.Context) (func(), error) { return func() {}, nil }
}

// reload reads what p shows again.
func (m *model) reload(p *page) tea.Cmd {
	p.asked++
	asked, load := p.asked, p.load()
	return func() tea.Msg {
		apply, err := load(m.ctx)
		return loadedMsg{p, asked, apply, err}
	}
}

// do carries out a command line and goes on with then, which may be nil, where it succeeded.
func (m *model) do(then func(*model) tea.Cmd, args ...string) tea.Cmd {
	return func() tea.Msg {
		m.acting.RLock()
		defer m.acting.RUnlock()
		out, status := m.Do(m.ctx, args...)
		return doneMsg{args, out, status, then}
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
	case newsMsg:
		return m, m.reload(m.page())
	case tickMsg:
		if m.page().live {
			return m, tea.Batch(m.reload(m.page()), tick())
		}
		return m, tick()
	case loadedMsg:
		m.put(msg)
	case doneMsg:
		return m, m.done(msg)
	case flashMsg:
		m.flash, m.bad = msg.text, msg.bad
	case func(*model) tea.Cmd:
		return m, msg(m)
	case keepMsg:
		if msg.field == m.field && msg.edits == m.field.edits {
			m.keepTyped()
		}
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

// put shows what was read, unless it was asked for again since.
func (m *model) put(l loadedMsg) {
	if l.asked != l.page.asked || m.ctx.Err() != nil {
		return
	}
	l.page.err = l.err
	if l.err == nil {
		l.apply()
		l.page.loaded = true
	}
	m.fill(l.page)
}

// fill makes the rows of a page, with the cursor on what it was on.
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
		p.rows = filtered(p.rows, p.filter)
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

// done shows what a command came to: a line below, all of it where that says what to type.
func (m *model) done(d doneMsg) tea.Cmd {
	out := strings.TrimSpace(d.out)
	first, rest, _ := strings.Cut(out, "\n")
	m.flash, m.bad = first, d.status != 0
	cmds := []tea.Cmd{m.reload(m.page())}
	switch {
	case d.status != 0 && rest != "":
		cmds = append(cmds, m.push(m.textPage("git runr "+d.args[0], out)))
	case d.status == 0 && d.then != nil:
		cmds = append(cmds, d.then(m))
	}
	return tea.Batch(cmds...)
}

// key does what a key press says.
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

// copy hands text to the terminal's clipboard, over ssh as well.
func (m *model) copy(text string) tea.Cmd {
	first, _, _ := strings.Cut(text, "\n")
	m.flash = "Copied: " + first
	return tea.SetClipboard(text)
}

// shell carries out a line on the terminal itself, as if it were typed there.
func (m *model) shell(line string) tea.Cmd {
	run := &typedLine{ctx: m.ctx, repo: m.Store.Repo, line: line}
	return tea.Exec(run, func(err error) tea.Msg {
		if err != nil {
			return flashMsg{line + ": " + err.Error(), true}
		}
		return flashMsg{"Done: " + line, false}
	})
}

// typedLine is a line that is carried out by the shell while the screen is given back.
type typedLine struct {
	ctx      context.Context
	repo     *gitstore.Repo
	line     string
	terminal gitstore.Terminal
}

func (t *typedLine) SetStdin(r io.Reader)  { t.terminal.In = r }
func (t *typedLine) SetStdout(w io.Writer) { t.terminal.Out = w }
func (t *typedLine) SetStderr(w io.Writer) { t.terminal.Err = w }

// Run waits for a key after the line, so that what it wrote can be read.
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
