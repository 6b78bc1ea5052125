package tui

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// field is an input for text of one or several lines.
type field struct {
	prompt string
	line   bool            // a single line: a filter, a reason
	keep   string          // "comment ID …": names the file that keeps the text until it is submitted; "" for none
	on     *record.Comment // the place of the comment being typed
	text   string
	at     int // byte of text before which the cursor is
	edits  int
	done   func(m *model, text string) tea.Cmd
}

// open shows f, with text that was typed there before and not submitted.
func (m *model) open(f *field) tea.Cmd {
	if f.keep != "" {
		if kept, err := readTyped(m.keptFile(f.keep)); err == nil {
			f.text = kept.Text
			m.flash = "You typed this before, and did not submit it"
		}
	}
	f.at = len(f.text)
	m.field = f
	return nil
}

// typed is a text that was not submitted yet, as stored in its file.
type typed struct {
	Actor string          `json:"actor"`
	Name  string          `json:"name"` // keep of its field
	On    *record.Comment `json:"on,omitempty"`
	Text  string          `json:"text"`
}

func readTyped(path string) (kept typed, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return kept, err
	}
	err = json.Unmarshal(data, &kept)
	return kept, err
}

// unfinished returns the comments on a review that were typed and not added to the draft.
func (m *model) unfinished(review string) (all []typed) {
	files, _ := filepath.Glob(filepath.Join(m.Store.TypedDir(), review+"-*.json"))
	for _, file := range files {
		kept, err := readTyped(file)
		if err == nil && kept.Actor == m.Actor && kept.On != nil && strings.HasPrefix(kept.Name, "comment "+review+" ") {
			all = append(all, kept)
		}
	}
	return all
}

// keptFile returns the file for the unsubmitted text of a field. Its name begins with the id of the review or run,
// which is the second word of name: git runr gc relies on that.
func (m *model) keptFile(name string) string {
	sum := sha256.Sum256([]byte(m.Actor + "\x00" + name))
	return filepath.Join(m.Store.TypedDir(), strings.Fields(name)[1]+"-"+hex.EncodeToString(sum[:8])+".json")
}

// keepEvery is the delay after a key until the text is written to its file.
const keepEvery = 300 * time.Millisecond

func (m *model) keepSoon() tea.Cmd {
	f := m.field
	if f.keep == "" {
		return nil
	}
	f.edits++
	edits := f.edits
	return tea.Tick(keepEvery, func(time.Time) tea.Msg {
		return step(func(m *model) tea.Cmd {
			if m.field == f && f.edits == edits {
				m.keepTyped()
			}
			return nil
		})
	})
}

// keepTyped writes the text to its file, so that it survives the terminal.
func (m *model) keepTyped() {
	f := m.field
	if f == nil || f.keep == "" {
		return
	}
	if len(f.text) == 0 {
		os.Remove(m.keptFile(f.keep))
		return
	}
	data, err := json.Marshal(typed{m.Actor, f.keep, f.on, f.text})
	if err == nil {
		err = safefile.WriteFile(m.keptFile(f.keep), data, 0o600)
	}
	if err != nil {
		m.fail(fmt.Errorf("what you type is not saved: %w", err))
	}
}

// fieldKey handles a key press while a field is open.
func (m *model) fieldKey(press tea.KeyPressMsg) tea.Cmd {
	f := m.field
	m.flash, m.bad = "", false
	switch press.String() {
	case "esc":
		m.keepTyped()
		if m.field = nil; f.keep != "" && len(f.text) > 0 {
			m.flash = "Saved: the same key continues with it"
		}
		return m.reload(m.page())
	case "enter", "ctrl+s":
		m.keepTyped() // until it is recorded
		m.field = nil
		return f.done(m, strings.TrimSpace(f.text))
	case "ctrl+e":
		if !f.line {
			return m.edit(f)
		}
		f.at = len(f.text)
	default:
		f.key(press)
	}
	return m.keepSoon()
}

// handedIn removes the file of a field's text, which is recorded by now; keep may be "".
func (m *model) handedIn(keep string) {
	if keep != "" {
		os.Remove(m.keptFile(keep))
	}
}

// key edits the text according to a key press.
func (f *field) key(press tea.KeyPressMsg) {
	switch press.String() {
	case "ctrl+j", "alt+enter", "shift+enter":
		if !f.line {
			f.insert("\n")
		}
	case "backspace", "ctrl+h":
		f.cut(f.left(), f.at)
	case "delete", "ctrl+d":
		f.cut(f.at, f.right())
	case "ctrl+w", "alt+backspace":
		f.cut(f.wordBefore(), f.at)
	case "ctrl+u":
		f.cut(f.lineStart(), f.at)
	case "ctrl+k":
		f.cut(f.at, f.lineEnd())
	case "left", "ctrl+b":
		f.at = f.left()
	case "right", "ctrl+f":
		f.at = f.right()
	case "alt+left", "ctrl+left":
		f.at = f.wordBefore()
	case "home", "ctrl+a":
		f.at = f.lineStart()
	case "end":
		f.at = f.lineEnd()
	case "up":
		f.upDown(-1)
	case "down":
		f.upDown(1)
	default:
		f.insert(press.Text)
	}
}

func (f *field) insert(text string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\ufffd"))
	if f.line {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	f.text = f.text[:f.at] + text + f.text[f.at:]
	f.at += len(text)
}

func (f *field) cut(from, to int) {
	f.text, f.at = f.text[:from]+f.text[to:], from
}

// left and right return the position one character further on.
func (f *field) left() int {
	_, size := utf8.DecodeLastRuneInString(f.text[:f.at])
	return f.at - size
}

func (f *field) right() int {
	_, size := utf8.DecodeRuneInString(f.text[f.at:])
	return f.at + size
}

func (f *field) wordBefore() int {
	words := strings.TrimRightFunc(f.text[:f.at], unicode.IsSpace)
	return len(strings.TrimRightFunc(words, func(c rune) bool { return !unicode.IsSpace(c) }))
}

func (f *field) lineStart() int { return strings.LastIndexByte(f.text[:f.at], '\n') + 1 }

func (f *field) lineEnd() int {
	line, _, _ := strings.Cut(f.text[f.at:], "\n")
	return f.at + len(line)
}

// upDown moves to the line above or below, in the same column.
func (f *field) upDown(step int) {
	column := utf8.RuneCountInString(f.text[f.lineStart():f.at])
	if step < 0 {
		f.at = max(0, f.lineStart()-1)
	} else {
		f.at = min(len(f.text), f.lineEnd()+1)
	}
	f.at = f.lineStart()
	for end := f.lineEnd(); column > 0 && f.at < end; column-- {
		f.at = f.right()
	}
}

// lineView returns a field of one line for display, and the column of its cursor.
func (f *field) lineView(width int) (string, int) {
	before := styled("", f.text[:f.at])
	shown := bold + f.prompt + off + before + styled("", f.text[f.at:])
	at := ansi.StringWidth(f.prompt + before)
	if at >= width {
		cut := at - width + 1
		return ansi.TruncateLeft(shown, cut, ""), width - 1
	}
	return shown, at
}

// lines returns the lines of the text on a screen of width columns.
func (f *field) lines(width int) []string {
	text := safetext.Text(strings.ReplaceAll(f.text, "\t", "    "))
	return strings.Split(ansi.Hardwrap(text, max(width-1, 4), true), "\n")
}

// view returns the part of the text around the cursor with a line of keys below, height lines in all, and the cursor's
// position in it.
func (f *field) view(width, height int) (lines []string, x, y int) {
	before := (&field{text: f.text[:f.at]}).lines(width)
	x, y = ansi.StringWidth(before[len(before)-1]), len(before)-1
	lines = f.lines(width)
	if room := height - 1; len(lines) > room {
		top := max(0, min(y-room+1, len(lines)-room))
		lines, y = lines[top:min(len(lines), top+room)], y-top
	}
	return append(lines, styled(faint, "enter saves   ctrl+j new line   ctrl+e editor   esc leaves it")), x, y
}

// edit opens the text of a field in git's editor.
func (m *model) edit(f *field) tea.Cmd {
	editor, err := m.Store.Repo.Editor(m.ctx)
	path := strings.TrimSuffix(m.keptFile(f.keep), ".json") + ".md"
	if err == nil {
		err = safefile.WriteFile(path, []byte(f.text), 0o600)
	}
	if err != nil {
		return m.fail(err)
	}
	return tea.Exec(&editing{typedLine{ctx: m.ctx, repo: m.Store.Repo}, editor, path}, func(err error) tea.Msg {
		return step(func(m *model) tea.Cmd {
			text, readErr := os.ReadFile(path)
			if err := cmp.Or(err, readErr); err != nil {
				return m.fail(err)
			}
			os.Remove(path)
			f.text = strings.TrimRight(strings.ToValidUTF8(string(text), "\ufffd"), "\n")
			f.at = len(f.text)
			return m.keepSoon()
		})
	})
}

// editing runs an editor on a file while the screen is released.
type editing struct {
	typedLine
	editor, path string
}

func (e *editing) Run() error { return e.repo.EditFile(e.ctx, e.editor, e.path, e.terminal) }
