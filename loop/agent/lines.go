package agent

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	maxShown   = 4 << 10 // bytes of a line that are looked at for showing it
	maxVisible = 200     // characters of it that are shown
	maxExcerpt = 500     // characters of an error that are kept
)

// lines cuts a stream into lines and hands each to fn; a carriage return ends a
// line as well, for that is how programs redraw one. A line over max bytes is
// handed over cut if cut is set, and otherwise left out.
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

// lineEnd is where the first line of p ends, -1 when it does not. (IndexAny
// would look at every byte by itself, which a flood makes felt.)
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

// flush ends the line that has been begun.
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

// progress hands the newest line to a function on a goroutine of its own, so
// that a slow terminal never slows a command.
type progress struct {
	mu    sync.Mutex
	line  string
	fresh chan struct{}
	done  chan struct{}
}

// newProgress gives nil, which ignores everything, when nobody listens.
func newProgress(onLine func(string)) *progress {
	if onLine == nil {
		return nil
	}
	p := &progress{fresh: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for range p.fresh {
			if line := p.take(); line != "" {
				onLine(line)
			}
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
	p.mu.Lock()
	p.line = text
	p.mu.Unlock()
	select {
	case p.fresh <- struct{}{}:
	default: // the listener has yet to take; it will find the new line
	}
}

// take gives the newest line once; "" when it was given already.
func (p *progress) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := p.line
	p.line = ""
	return line
}

func (p *progress) close() {
	if p == nil {
		return
	}
	close(p.fresh)
	<-p.done
}

// visible makes one line of foreign text fit to be shown: no escape sequences,
// no control, invisible or bidirectional characters, no more than 200 characters.
func visible(line string) string { return oneLine(line, maxVisible) }

// excerpt is visible for the text of an error, which may be longer.
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

// escapes are terminal escape sequences: CSI, strings that BEL or ESC \ ends, those with
// an intermediate byte, and those of one byte. One without an end is only its
// introducer, so that no text is lost.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\x1b\[|\x{9b})[ -?]*[@-~]?|(?:\x1b[]PX^_]|\x{9d})(?:[^\n]*?(?:\x07|\x1b\\))?|\x1b[ -/][\x00-\x7f]|\x1b[0-~]|\x1b`)
})

// plain takes terminal escape sequences out of text and makes it valid UTF-8.
func plain(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !strings.ContainsAny(text, "\x1b\u009b\u009d") {
		return text
	}
	return escapes().ReplaceAllLiteralString(text, "")
}
