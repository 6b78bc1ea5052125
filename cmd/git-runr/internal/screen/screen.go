// Package screen formats results for people: line width, colours, short ids, links, ages. Output to a pipe is
// unchanged.
package screen

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Writer formats text for a terminal: it breaks lines between words, shortens ids, and colours text by meaning. The
// zero value with Out passes everything on unchanged.
type Writer struct {
	Out     io.Writer
	Columns int       // of the terminal; 0: lines are not broken
	Colours bool      // by meaning, see Paint
	Now     time.Time // to compute ages; zero: no ages
	// Address returns the link for a place; nil if the terminal does not support links (OSC 8).
	Address func(Place) string
	// File returns a file in a tree, or nil. Without File no code is shown.
	File func(tree gitstore.ID, path string) []byte
	// Redact removes secrets from a line of code, in case the terminal is recorded.
	Redact func(line string) string
	// Short returns the short forms of the ids that have one; nil leaves ids as they are.
	Short func(ids []string) map[string]string

	kept bytes.Buffer
}

// keptAtMost is the number of bytes buffered before writing: ids are looked up together.
const keptAtMost = 32 << 10

// Write buffers text, which may come in any pieces, until there is enough of it or until Flush.
func (w *Writer) Write(text []byte) (int, error) {
	if w.Columns == 0 && w.Short == nil {
		return w.Out.Write(text)
	}
	w.kept.Write(text)
	if w.kept.Len() < keptAtMost {
		return len(text), nil
	}
	return len(text), w.show(bytes.LastIndexByte(w.kept.Bytes(), '\n') + 1)
}

// Document writes a text of headings and indented content from an untrusted source: it makes the text safe and
// highlights the headings.
func Document(w io.Writer, text string) {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		body := strings.TrimSuffix(line, "\n")
		switch {
		case strings.Contains(body, "STOPPED: "):
			before, after, _ := strings.Cut(body, "STOPPED: ")
			safetext.Fprintf(w, "%s%s%s\n", before, Critical.Of("STOPPED: "), Critical.Of(after))
		case body != "" && body[0] != ' ' && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  "):
			safetext.Fprintf(w, "%s\n", Strong.Of(body))
		case strings.HasSuffix(body, ":") && i+1 < len(lines) && indent(lines[i+1]) > indent(body):
			safetext.Fprintf(w, "%s\n", Strong.Of(body))
		default:
			words(w, body)
			safetext.Fprintf(w, "%s", safetext.Block(line[len(body):]))
		}
	}
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// words writes a line and colours verdicts, and a severity at the start or after a count. A remark after "#" is faint.
func words(w io.Writer, line string) {
	line, seen, noted := strings.Cut(line, "  # ")
	before := ""
	for gap, word := range spaced(line) {
		bare := strings.TrimRight(strings.TrimLeft(word, "("), ".,:;)")
		lead, rest, _ := strings.Cut(word, bare)
		text := MeaningOf(reply.Verdict(bare)).Of(bare)
		if before == "" || strings.Trim(before, "0123456789") == "" && before != "0" {
			text.Meaning = max(text.Meaning, MeaningOf(reply.Severity(strings.TrimSuffix(bare, "s"))))
		}
		if bare == "unmet" {
			text.Meaning = Warning
		}
		if text.Meaning == Plain {
			lead, text.Text, rest = word, "", ""
		}
		safetext.Fprintf(w, "%s%s%s%s", gap, safetext.Block(lead), text, safetext.Block(rest))
		before = word
	}
	if noted {
		safetext.Fprintf(w, "%s", Faint.Of("  # "+seen))
	}
}

// Each writes as safetext.Fprintf does, once for each element of a list.
func Each[T any](w io.Writer, format string, list []T) {
	for _, element := range list {
		safetext.Fprintf(w, format, element)
	}
}

// When writes as safetext.Fprintf does, if a condition holds.
func When(w io.Writer, holds bool, format string, args ...any) {
	if holds {
		safetext.Fprintf(w, format, args...)
	}
}

// Next shows, at a terminal, which commands to type next.
func Next(w io.Writer, lines ...string) {
	screen, ok := w.(*Writer)
	if !ok || screen.Columns == 0 || len(lines) == 0 {
		return
	}
	safetext.Fprintf(w, "\n%s\n", Strong.Of("Next:"))
	Each(w, "  %s\n", lines)
}

// Flush writes the buffered text.
func (w *Writer) Flush() error { return w.show(w.kept.Len()) }

// show formats and writes the first n buffered bytes.
func (w *Writer) show(n int) error {
	if n == 0 {
		return nil
	}
	text := string(w.kept.Next(n))
	if w.Short != nil {
		text = shorten(text, w.Short)
	}
	if w.Columns > 0 {
		var b strings.Builder
		for line := range strings.Lines(text) {
			fit(&b, line, w.Columns)
		}
		text = b.String()
	}
	_, err := io.WriteString(w.Out, text)
	return err
}

// Time is a point in time for display.
type Time time.Time

func (t Time) String() string { return time.Time(t).UTC().Format("2006-01-02 15:04Z") }

// Diff returns a difference in git's colours. It shows a line that contains other control sequences in escaped form and
// without colours.
func Diff(plain, coloured string) string {
	lines, shown := strings.SplitAfter(plain, "\n"), strings.SplitAfter(coloured, "\n")
	if len(lines) != len(shown) {
		return safetext.Text(plain)
	}
	for i, line := range lines {
		if body := strings.TrimRight(line, "\r\n"); safetext.Text(body) != body {
			shown[i] = safetext.Text(line)
		}
	}
	return strings.Join(shown, "")
}
