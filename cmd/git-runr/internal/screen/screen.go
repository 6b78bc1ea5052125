// Package screen is what a person reads results on: how wide it is, its colours, the short
// form of ids, links, ages. Into a pipe goes what was written, as it was written.
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

// Writer fits text to a terminal: lines are broken between words, ids are short, and what
// has a meaning has its colour. The zero value with Out passes on what it is given.
type Writer struct {
	Out     io.Writer
	Columns int       // of the terminal; 0: lines are as they are
	Colours bool      // by meaning, see Paint
	Now     time.Time // from which ages are told; zero: none is
	// Address is where a place leads; nil where the terminal does not know links (OSC 8).
	Address func(Place) string
	// File is a file as it is in a tree, nil without it; without File no code is shown.
	File func(tree gitstore.ID, path string) []byte
	// Redact takes the secrets out of a line of code, so that a terminal that is recorded has none.
	Redact func(line string) string
	// Short gives the short forms of ids, those that have one; nil leaves them as they are.
	Short func(ids []string) map[string]string

	kept bytes.Buffer
}

// keptAtMost is how much is fitted at once, in bytes: ids are looked up together.
const keptAtMost = 32 << 10

// Write takes text in any pieces. It is shown when there is much of it, and at Flush.
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

// Document writes a text of headings and what stands below them, which may be anybody's:
// it is made safe, and the headings are set off.
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

// words writes a line in which verdicts, and a severity that it begins with or that is counted, have
// their colours; what was seen of something, behind a #, is beside it.
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

// Next shows a person at a terminal what to type next.
func Next(w io.Writer, lines ...string) {
	screen, ok := w.(*Writer)
	if !ok || screen.Columns == 0 || len(lines) == 0 {
		return
	}
	safetext.Fprintf(w, "\n%s\n", Strong.Of("Next:"))
	for _, line := range lines {
		safetext.Fprintf(w, "  %s\n", line)
	}
}

// Flush shows what was written.
func (w *Writer) Flush() error { return w.show(w.kept.Len()) }

// show fits the first n bytes that are kept, and writes them.
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
