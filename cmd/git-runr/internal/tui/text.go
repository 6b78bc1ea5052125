package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
)

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
