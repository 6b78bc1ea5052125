package agent

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// recorder receives the output of one command and distributes it: kept bytes, transcript,
// lines. Both streams share its lock, so the transcript is in order of arrival.
type recorder struct {
	mu         sync.Mutex
	began      time.Time
	last       atomic.Int64  // nanoseconds from began to the newest output; 0: none
	byEvents   bool          // only events that are not about trouble count as output
	vain       chan struct{} // closed when an event makes going on pointless
	transcript io.Writer
	progress   *progress

	stdout, stderr *stream
}

func newRecorder(c Command) *recorder {
	r := &recorder{began: time.Now(), vain: make(chan struct{}), transcript: c.Transcript, progress: newProgress(c.OnLine)}
	limit := cmp.Or(c.MaxOutput, defaultMaxOutput)
	shown := lines{max: maxShown, cut: true, fn: r.progress.put}
	r.stdout = &stream{rec: r, kept: newCapture(limit), lines: shown}
	r.stderr = &stream{rec: r, kept: newCapture(limit), lines: shown}
	if c.event != nil {
		r.stdout.lines = lines{max: maxEvent, fn: r.eventLine(c)}
		r.stdout.events, r.byEvents = true, true
	}
	return r
}

// maxEvent is the longest line that is still read as an event. Some agents end
// with one line that repeats their whole session.
const maxEvent = 16 << 20

func (r *recorder) eventLine(c Command) func([]byte) {
	vain := sync.OnceFunc(func() { close(r.vain) })
	return func(line []byte) {
		show, noise := c.event(line)
		if c.vain != nil && c.vain() {
			vain()
		}
		if c.stuck == nil || !c.stuck() {
			r.active()
		}
		r.progress.put([]byte(show))
		if !noise && r.transcript != nil {
			_, _ = r.transcript.Write(append(line, '\n'))
		}
	}
}

func (r *recorder) active() { r.last.Store(max(1, int64(time.Since(r.began)))) }

func (r *recorder) lastOutput() time.Duration { return time.Duration(r.last.Load()) }

// close flushes unfinished lines and waits for the last OnLine.
func (r *recorder) close() {
	r.stdout.lines.flush()
	r.stderr.lines.flush()
	r.progress.close()
}

// fill sets the output fields of res.
func (r *recorder) fill(res *Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	res.Stdout, res.Stderr = r.stdout.kept.bytes(), r.stderr.kept.bytes()
	res.Dropped = r.stdout.kept.dropped() + r.stderr.kept.dropped()
	res.cutStdout = r.stdout.kept.dropped() > 0
	if last := r.lastOutput(); last > 0 {
		res.LastOutput = r.began.Add(last)
	}
}

// stream is one of the two outputs.
type stream struct {
	rec    *recorder
	kept   capture
	lines  lines
	events bool // each line is an event, and goes to the transcript by itself
}

// Write never fails: a full disk under the transcript must not kill the agent.
func (s *stream) Write(p []byte) (int, error) {
	r := s.rec
	if !r.byEvents {
		r.active()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.kept.add(p)
	if r.transcript != nil && !s.events {
		_, _ = r.transcript.Write(p)
	}
	s.lines.add(p)
	return len(p), nil
}

// capture keeps the head and the tail of a stream, in bounded memory.
type capture struct {
	head, tail         []byte // tail has up to twice as much as is kept
	headLimit, tailMax int
	total              int64
}

func newCapture(limit int) capture {
	return capture{headLimit: limit / 2, tailMax: limit - limit/2}
}

func (c *capture) add(p []byte) {
	c.total += int64(len(p))
	n := min(len(p), c.headLimit-len(c.head))
	c.head, c.tail = append(c.head, p[:n]...), append(c.tail, p[n:]...)
	if len(c.tail) > 2*c.tailMax {
		c.tail = append(c.tail[:0], c.end()...)
	}
}

// end returns the part of the tail that is kept.
func (c *capture) end() []byte { return c.tail[max(0, len(c.tail)-c.tailMax):] }

// dropped returns how many bytes were left out.
func (c *capture) dropped() int64 { return c.total - int64(len(c.head)) - int64(len(c.end())) }

// bytes joins head and tail. A line between them states what was left out, and no character
// is cut in half.
func (c *capture) bytes() []byte {
	head, tail, dropped := c.head, c.end(), c.dropped()
	if dropped == 0 {
		return slices.Concat(head, tail)
	}
	for range utf8.UTFMax - 1 { // drop the beginning of a character
		if r, n := utf8.DecodeLastRune(head); r == utf8.RuneError && n == 1 {
			head = head[:len(head)-1]
		}
	}
	start := 0
	for start < min(len(tail), utf8.UTFMax) && !utf8.RuneStart(tail[start]) {
		start++
	}
	dropped += int64(len(c.head) - len(head) + start)
	gap := fmt.Appendf(nil, "[%d bytes left out]\n", dropped)
	if len(head) > 0 && head[len(head)-1] != '\n' {
		gap = append([]byte{'\n'}, gap...)
	}
	return slices.Concat(head, gap, tail[start:])
}
