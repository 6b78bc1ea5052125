package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// key binds keys to an action on a page.
type key struct {
	names string // Bubble Tea's names, separated by blanks
	label string // for the footer; "" omits it there
	help  string
	do    func(m *model, p *page) tea.Cmd
}

func find(keys []key, name string) (key, bool) {
	if name == "space" {
		name = "␣"
	}
	for _, k := range keys {
		for one := range strings.FieldsSeq(k.names) {
			if one == name {
				return k, true
			}
		}
	}
	return key{}, false
}

// everywhere returns the keys of all pages. A page's own keys have precedence.
func everywhere() []key {
	return []key{
		{"down j", "", "next line", move(func(*page, int) int { return 1 })},
		{"up k", "", "previous line", move(func(*page, int) int { return -1 })},
		{"pgdown ctrl+d ␣", "", "a screen down", move(func(_ *page, h int) int { return h - 1 })},
		{"pgup ctrl+u b", "", "a screen up", move(func(_ *page, h int) int { return 1 - h })},
		{"home g", "", "first line", move(func(p *page, _ int) int { return -p.cur })},
		{"end G", "", "last line", move(func(p *page, _ int) int { return len(p.rows) })},
		{"right", "", "scroll to the right", aside(16)},
		{"left", "", "scroll back to the left", aside(-16)},
		{"shift+down", "", "extend the range down", extend(1)},
		{"shift+up", "", "extend the range up", extend(-1)},
		{"/", "", "show only lines with some words", askFilter},
		{":", "", "run any command of git runr", askCommand},
		{"y", "", "copy the line", copyLine},
		{"?", "", "all keys", func(m *model, p *page) tea.Cmd { return m.push(m.helpPage(p)) }},
		{"esc", "", "back", func(m *model, p *page) tea.Cmd {
			if p.filter == "" && len(m.pages) == 1 {
				return nil
			}
			return leave(m, p)
		}},
		{"q backspace", "", "back; quit on the first page", leave},
	}
}

// jump moves to the next row in a direction that satisfies fits.
func jump(step int, fits func(row) bool) func(*model, *page) tea.Cmd {
	return func(m *model, p *page) tea.Cmd {
		p.jump(step, m.body(), fits)
		return nil
	}
}

// act runs one of this program's command lines.
func act(args ...string) func(*model, *page) tea.Cmd {
	return func(m *model, _ *page) tea.Cmd { return m.do(nil, args...) }
}

// choose asks the user to pick one of choices; text is the command line or question shown above them.
func choose(text string, choices ...key) func(*model, *page) tea.Cmd {
	return func(m *model, _ *page) tea.Cmd {
		m.ask = &question{text, choices}
		return nil
	}
}

// confirmed asks before it runs one of this program's command lines.
func confirmed(label string, args ...string) func(*model, *page) tea.Cmd {
	return choose("git runr "+strings.Join(args, " "), key{"y", label, "", act(args...)})
}

// shows opens a page with the output of one of this program's command lines.
func shows(title string, args ...string) func(*model, *page) tea.Cmd {
	return func(m *model, _ *page) tea.Cmd { return m.push(m.commandPage(title, args...)) }
}

// move moves the cursor by the number of rows that by returns for a page and a screen height.
func move(by func(p *page, height int) int) func(*model, *page) tea.Cmd {
	return func(m *model, p *page) tea.Cmd {
		p.mark = -1
		p.move(by(p, m.body()), m.body())
		return nil
	}
}

// extend moves the cursor by the given number of rows and extends the selected range.
func extend(by int) func(*model, *page) tea.Cmd {
	return func(m *model, p *page) tea.Cmd {
		if p.mark < 0 {
			p.mark = p.cur
		}
		p.move(by, m.body())
		return nil
	}
}

// aside scrolls by columns to the right.
func aside(by int) func(*model, *page) tea.Cmd {
	return func(_ *model, p *page) tea.Cmd {
		p.left = max(0, p.left+by)
		return nil
	}
}

func askFilter(m *model, p *page) tea.Cmd {
	return m.open(&field{prompt: "Show only lines with: ", line: true, text: p.filter,
		done: func(m *model, text string) tea.Cmd {
			p.filter = text
			m.fill(p)
			return nil
		}})
}

func askCommand(m *model, _ *page) tea.Cmd {
	return m.open(&field{prompt: "git runr ", line: true, done: func(m *model, text string) tea.Cmd {
		return m.shell("git runr " + text)
	}})
}

// copyLine copies the command at the cursor, or the row itself.
func copyLine(m *model, p *page) tea.Cmd {
	if len(p.rows) == 0 {
		return nil
	}
	r := p.rows[p.cur]
	if r.cmd != "" {
		return m.copy(r.cmd)
	}
	return m.copy(strings.TrimSpace(r.plain()))
}

// leave clears the filter, or returns to the page before.
func leave(m *model, p *page) tea.Cmd {
	if p.filter != "" {
		p.filter = ""
		m.fill(p)
		return nil
	}
	return m.back()
}

// commandPage shows the output of one of this program's command lines, and updates it after every event.
func (m *model) commandPage(title string, args ...string) *page {
	var text string
	return &page{
		title: title, keys: lineKeys(),
		load: func() loader {
			return func(ctx context.Context) (func(), error) {
				out, _ := m.Do(ctx, args...)
				return func() { text = out }, nil
			}
		},
		build: func(width int) []row { return textRows(text, width) },
	}
}

// lineKeys returns the keys of pages with commands to type.
func lineKeys() []key {
	return []key{
		{"enter", "enter runs the line", "run the line on the terminal", func(m *model, p *page) tea.Cmd {
			if len(p.rows) == 0 || p.rows[p.cur].cmd == "" {
				m.flash = "This is not a command line; tab goes to the next"
				return nil
			}
			line := p.rows[p.cur].cmd
			m.ask = &question{line, []key{{"y", "y run it", "", func(m *model, _ *page) tea.Cmd { return m.shell(line) }}}}
			return nil
		}},
		{"tab", "tab next command line", "next command line", jump(1, isCommand)},
		{"shift+tab", "", "previous command line", jump(-1, isCommand)},
	}
}

func isCommand(r row) bool { return r.cmd != "" }

// textRows returns lines of text, wrapped with their indentation. Each part of a command to type knows the whole
// command.
func textRows(text string, width int) []row {
	var rows []row
	all := lines(text)
	commands := linesToType(all)
	for i, line := range all {
		body := strings.TrimLeft(line, " ")
		indent := min(len(line)-len(body), width/2)
		attributes := ""
		if commands[i] != "" {
			attributes = cyan
		}
		for _, part := range wrapped(body, width-indent) {
			rows = append(rows, row{text: strings.Repeat(" ", indent) + styled(attributes, part), cmd: commands[i]})
		}
	}
	return rows
}

// linesToType returns, for each line of a text, the command that it shows or continues, without the remark behind it,
// or "".
func linesToType(all []string) []string {
	commands := make([]string, len(all))
	for i, line := range all {
		body := strings.TrimSpace(line)
		if i > 0 && commands[i] != "" { // it continues the line above
			continue
		}
		command := body
		number, rest, numbered := strings.Cut(body, ". ")
		if numbered = numbered && len(number) <= 2 && strings.Trim(number, "0123456789") == ""; numbered {
			var label string
			if label, command, numbered = strings.Cut(rest, ": "); !numbered || label == "Edit" || strings.Contains(label, " ") {
				command = rest
			}
		}
		if !strings.HasPrefix(command, "git ") && (!numbered || !strings.HasPrefix(rest, "Run: ")) {
			continue
		}
		last := i
		for strings.HasSuffix(command, ` \`) && last+1 < len(all) {
			last++
			command = strings.TrimSuffix(command, `\`) + strings.TrimSpace(all[last])
		}
		for _, end := range []string{"   ", "  #", " # was:"} {
			command, _, _ = strings.Cut(command, end)
		}
		for ; last >= i; last-- {
			commands[last] = strings.TrimSpace(command)
		}
	}
	return commands
}
