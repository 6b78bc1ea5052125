package agent

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

const (
	maxShown   = 4 << 10 // bytes of a line that are examined for display
	maxVisible = 200     // characters of a line that are displayed
	maxExcerpt = 500     // characters of an error message that are kept
)

// lines splits a stream into lines and passes each to fn. A carriage return ends a line
// too, because programs use it to redraw one. A line over max bytes is passed on cut if
// cut is set, else dropped.
type lines struct {
	max  int
	cut  bool
	fn   func(line []byte)
	part []byte
	over bool
}

func (l *lines) add(p []byte) {
	for len(p) > 0 {
		end := lineEnd(p)
		if end < 0 {
			l.keep(p)
			return
		}
		l.keep(p[:end])
		l.flush()
		p = p[end+1:]
	}
}

// lineEnd returns the index of the first line's end in p, or -1. (IndexAny would examine
// each byte by itself, which is slow for large output.)
func lineEnd(p []byte) int {
	end := bytes.IndexByte(p, '\n')
	if end >= 0 {
		p = p[:end]
	}
	if cr := bytes.IndexByte(p, '\r'); cr >= 0 {
		return cr
	}
	return end
}

func (l *lines) keep(p []byte) {
	if room := l.max - len(l.part); len(p) > room {
		l.over = true
		p = p[:room]
	}
	l.part = append(l.part, p...)
}

// flush ends the current line.
func (l *lines) flush() {
	if len(l.part) > 0 && (l.cut || !l.over) {
		l.fn(l.part)
	}
	l.over = false
	l.part = l.part[:0]
	if cap(l.part) > 1<<20 {
		l.part = nil
	}
}

// progress passes the newest line to a function on a goroutine of its own, so that a slow
// terminal never slows a command. Only one goroutine at a time may call put.
type progress struct {
	newest chan string
	done   chan struct{}
}

// newProgress returns nil, whose methods do nothing, if onLine is nil.
func newProgress(onLine func(string)) *progress {
	if onLine == nil {
		return nil
	}
	p := &progress{newest: make(chan string, 1), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for line := range p.newest {
			onLine(line)
		}
	}()
	return p
}

func (p *progress) put(line []byte) {
	if p == nil {
		return
	}
	text := visible(string(line))
	if text == "" {
		return
	}
	select {
	case <-p.newest: // nobody will see this line
	default:
	}
	p.newest <- text
}

func (p *progress) close() {
	if p == nil {
		return
	}
	close(p.newest)
	<-p.done
}

// visible makes one line of foreign text safe to display: no escape sequences, no control,
// invisible or bidirectional characters, at most 200 characters.
func visible(line string) string { return oneLine(line, maxVisible) }

// excerpt is visible with a higher limit, for error messages.
func excerpt(text string) string { return oneLine(text, maxExcerpt) }

func oneLine(text string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range plain(text) {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			continue
		}
		if n++; n > most {
			b.WriteRune('…')
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// escapes matches terminal escape sequences: CSI, strings that BEL or ESC \ ends, those with
// an intermediate byte, and those of one byte. For an unterminated one only the introducer
// matches, so that no text is lost.
var escapes = lazyre.Compile(
	`(?:\x1b\[|\x{9b})[ -?]*[@-~]?|(?:\x1b[]PX^_]|\x{9d})(?:[^\n]*?(?:\x07|\x1b\\))?|\x1b[ -/][\x00-\x7f]|\x1b[0-~]|\x1b`)

// plain removes terminal escape sequences from text and makes it valid UTF-8.
func plain(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !strings.ContainsAny(text, "\x1b\u009b\u009d") {
		return text
	}
	return escapes().ReplaceAllLiteralString(text, "")
}
