package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// key is what a key does on a page.
type key struct {
	names string // as Bubble Tea has them, with blanks between
	label string // in the footer; "" leaves it out there
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

// everywhere are the keys of all pages. Those of a page come first.
func everywhere() []key {
	return []key{
		{"down j", "", "next line", move(func(*page, int) int { return 1 })},
		{"up k", "", "previous line", move(func(*page, int) int { return -1 })},
		{"pgdown ctrl+d ␣", "", "a screen down", move(func(_ *page, h int) int { return h - 1 })},
		{"pgup ctrl+u b", "", "a screen up", move(func(_ *page, h int) int { return 1 - h })},
		{"home g", "", "first line", move(func(p *page, _ int) int { return -p.cur })},
		{"end G", "", "last line", move(func(p *page, _ int) int { return len(p.rows) })},
		{"right", "", "what is cut off at the right", aside(16)},
		{"left", "", "back to the left", aside(-16)},
		{"shift+down", "", "lines down to here are a range", extend(1)},
		{"shift+up", "", "lines up to here are a range", extend(-1)},
		{"/", "", "show only what has some words", askFilter},
		{":", "", "carry out any command of git runr", askCommand},
		{"y", "", "copy the line", copyLine},
		{"?", "", "all keys", func(m *model, p *page) tea.Cmd { return m.push(m.helpPage(p)) }},
		{"esc", "", "back", func(m *model, p *page) tea.Cmd {
			if p.filter == "" && len(m.pages) == 1 {
				return nil
			}
			return leave(m, p)
		}},
		{"q backspace", "", "back; from the first page out", leave},
	}
}

// jump goes to the next row in a direction that fits.
func jump(step int, fits func(row) bool) func(*model, *page) tea.Cmd {
	return func(m *model, p *page) tea.Cmd {
		p.jump(step, m.body(), fits)
		return nil
	}
}

// act carries out a command line of ours.
func act(args ...string) func(*model, *page) tea.Cmd {
	return func(m *model, _ *page) tea.Cmd { return m.do(nil, args...) }
}

// choose asks which of choices to take, below the line or the words that they stand for.
func choose(text string, choices ...key) func(*model, *page) tea.Cmd {
	return func(m *model, _ *page) tea.Cmd {
		m.ask = &question{text, choices}
		return nil
	}
}

// confirmed asks before it carries out a command line of ours.
func confirmed(label string, args ...string) func(*model, *page) tea.Cmd {
	return choose("git runr "+strings.Join(args, " "), key{"y", label, "", act(args...)})
}

// shows opens what a command line of ours writes as a page.
func shows(title string, args ...string) func(*model, *page) tea.Cmd {
	return func(m *model, _ *page) tea.Cmd { return m.push(m.commandPage(title, args...)) }
}

// move goes by as many rows as by says of a page on a screen of height rows.
func move(by func(p *page, height int) int) func(*model, *page) tea.Cmd {
	return func(m *model, p *page) tea.Cmd {
		p.mark = -1
		p.move(by(p, m.body()), m.body())
		return nil
	}
}

// extend goes by so many rows, from where the range began that they are taken into.
func extend(by int) func(*model, *page) tea.Cmd {
	return func(m *model, p *page) tea.Cmd {
		if p.mark < 0 {
			p.mark = p.cur
		}
		p.move(by, m.body())
		return nil
	}
}

// aside shows what is so many columns further to the right.
func aside(by int) func(*model, *page) tea.Cmd {
	return func(_ *model, p *page) tea.Cmd {
		p.left = max(0, p.left+by)
		return nil
	}
}

func askFilter(m *model, p *page) tea.Cmd {
	return m.open(&field{prompt: "Only what says: ", line: true, text: []rune(p.filter), done: func(m *model, text string) tea.Cmd {
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

// copyLine copies the line to type that the cursor is on, or the row as it is.
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

// leave shows all again where a filter is set, else the page before.
func leave(m *model, p *page) tea.Cmd {
	if p.filter != "" {
		p.filter = ""
		m.fill(p)
		return nil
	}
	return m.back()
}
