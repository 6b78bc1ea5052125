package web

import (
	"strconv"
	"time"

	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/reply"
)

// picture is a run's timeline as shapes: what took long is wide, and what took no time
// is a mark. Along it they are in percent, for any width, across it in pixels.
type picture struct {
	Height int
	Lanes  []lane
	Shapes []shape
	Ticks  []tick
}

// lane is a row of the picture with its name.
type lane struct {
	Name string
	Y    int // of its middle
}

// shape is a bar, or a mark where Width is 0.
type shape struct {
	Class string // good, bad, quiet, work or stop
	X     float64
	Y     int
	Width float64
	Label string // short, within a bar that is wide enough, else behind it
	Out   bool   // the label is behind the bar
	Title string // what it stands for
	Entry int    // index of the timeline's line
}

// End is where the shape ends.
func (s shape) End() float64 { return s.X + s.Width }

type tick struct {
	X     float64
	Label string
}

const (
	laneHeight = 34
	pictureTop = 10
	lastMark   = 97  // where the last mark is, in percent: its label has room behind it
	minBar     = 0.7 // the narrowest bar
	labelWidth = 3.7 // the narrowest bar with its label within, as on a picture of 900 pixels
	tickApart  = 10  // of their labels
)

// lanes are the rows by the kinds of entries that stand in them.
var lanes = []struct {
	name  string
	kinds []string
}{
	{"attempts", []string{"attempt", "reverted", "intervention"}},
	{"checks", []string{"checks"}},
	{"verdicts", []string{"review"}},
	{"run", []string{"started", "stopped", "resumed", "answered", "completed", "landed", "unlanded", "aborted"}},
}

// newPicture draws the entries of a timeline. Long waits between them are cut short,
// so that a night in which nothing happened does not push all else together.
func newPicture(entries []diagnose.ReportEntry) picture {
	p := picture{Height: pictureTop + laneHeight*len(lanes) + 24}
	laneOf := map[string]int{}
	for i, l := range lanes {
		p.Lanes = append(p.Lanes, lane{l.name, pictureTop + laneHeight*i + laneHeight/2})
		for _, kind := range l.kinds {
			laneOf[kind] = i
		}
	}
	scale := newScale(entries)
	for i, e := range entries {
		n, known := laneOf[e.Kind]
		if !known {
			continue
		}
		s := shape{Class: entryClass(e), X: scale.x(e.Offset), Y: p.Lanes[n].Y, Title: e.Title, Entry: i}
		if e.Duration > 0 {
			s.Width = max(minBar, scale.x(e.Offset+e.Duration)-s.X)
		}
		s.Label, s.Out = entryLabel(e), s.Width < labelWidth
		p.Shapes = append(p.Shapes, s)
	}
	p.Ticks = scale.ticks(entries)
	return p
}

// timeScale turns offsets into places. Waits count for at most a tenth of the rest.
type timeScale struct {
	busy  []span // times in which something was done, in order, joined
	total float64
	gap   float64 // what a wait counts for at most
}

type span struct{ from, to float64 }

func newScale(entries []diagnose.ReportEntry) timeScale {
	var s timeScale
	work := 0.0
	for _, e := range entries {
		from, to := float64(e.Offset), float64(e.Offset+e.Duration)
		if n := len(s.busy); n > 0 && from <= s.busy[n-1].to {
			s.busy[n-1].to = max(s.busy[n-1].to, to)
			continue
		}
		s.busy = append(s.busy, span{from, to})
	}
	for _, b := range s.busy {
		work += b.to - b.from
	}
	s.gap = max(work/10, float64(time.Second))
	if len(s.busy) > 0 {
		s.total = s.along(s.busy[len(s.busy)-1].to)
	}
	return s
}

// along is how far from the start an offset is, with the waits cut short.
func (s timeScale) along(offset float64) float64 {
	sum := 0.0
	for i, b := range s.busy {
		if offset <= b.from {
			break
		}
		sum += min(offset, b.to) - b.from
		if i+1 < len(s.busy) && offset > b.to {
			wait := s.busy[i+1].from - b.to
			sum += min(wait, s.gap) * min(1, (offset-b.to)/wait)
		}
	}
	return sum
}

func (s timeScale) x(offset duration.Duration) float64 {
	if s.total <= 0 {
		return 0
	}
	return s.along(float64(offset)) / s.total * lastMark
}

// ticks are some of the entries' times, as far apart as their labels need.
func (s timeScale) ticks(entries []diagnose.ReportEntry) []tick {
	var ticks []tick
	last := -100.0
	for _, e := range entries {
		if x := s.x(e.Offset); x-last >= tickApart && x <= 100-tickApart {
			ticks = append(ticks, tick{x, "+" + took(e.Offset)})
			last = x
		}
	}
	return ticks
}

// entryClass is the colour of an entry.
func entryClass(e diagnose.ReportEntry) string {
	switch {
	case e.Kind == "stopped" || e.Kind == "aborted":
		return "stop"
	case e.Kind == "completed" || e.Kind == "landed":
		return "good"
	case e.Attempt != nil && (e.Attempt.Failure != nil || !e.Attempt.Finished):
		return "bad"
	case e.Kind == "attempt" || e.Kind == "intervention":
		return "work"
	case e.Kind == "checks":
		return checksClass(e.Checks)
	case e.Review != nil && e.Review.Verdict == reply.Checked:
		return "quiet"
	case e.Review != nil && e.Review.Verdict.Passed():
		return "good"
	case e.Review != nil:
		return "bad"
	}
	return "quiet"
}

func checksClass(checks []diagnose.ReportCheck) string {
	for _, c := range checks {
		if c.Fails {
			return "bad"
		}
	}
	return "good"
}

// entryLabel is what stands in an entry's bar.
func entryLabel(e diagnose.ReportEntry) string {
	switch {
	case e.Attempt != nil:
		return "#" + strconv.Itoa(e.Attempt.Number)
	case e.Review != nil:
		return "R" + strconv.Itoa(e.Review.Number)
	}
	return ""
}
