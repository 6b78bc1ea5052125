package web

import (
	"slices"
	"strconv"
	"time"

	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// picture is a run's timeline as shapes: bars whose width is a duration, and marks for what took no time. Horizontal
// positions are in percent, so that any width works; vertical ones are in pixels.
type picture struct {
	Height int
	Lanes  []lane
	Shapes []shape
	Ticks  []tick
}

// lane is a named row of the picture.
type lane struct {
	Name string
	Y    int // its middle
}

// shape is a bar, or a mark if Width is 0.
type shape struct {
	Class string // good, bad, quiet, work or stop
	X     float64
	Y     int
	Width float64
	Label string // short; inside the bar if that is wide enough, else after it
	Out   bool   // the label is after the bar
	Title string // what the shape represents
	Entry int    // index in the timeline
}

// End returns the right end of the shape.
func (s shape) End() float64 { return s.X + s.Width }

type tick struct {
	X     float64
	Label string
}

const (
	laneHeight = 34
	pictureTop = 10
	lastMark   = 97  // position of the last mark, in percent, which leaves room for its label
	minBar     = 0.7 // the minimum width of a bar, in percent
	labelWidth = 3.7 // the minimum width of a bar with its label inside, in percent of a 900-pixel picture
	tickApart  = 10  // the minimum distance between ticks, in percent, so that labels do not overlap
)

// lanes lists the rows with the kinds of entries that they show.
var lanes = []struct {
	name  string
	kinds []string
}{
	{"attempts", []string{"attempt", "reverted", "intervention"}},
	{"checks", []string{"checks"}},
	{"verdicts", []string{"review"}},
	{"run", []string{"started", "stopped", "resumed", "answered", "completed", "landed", "unlanded", "aborted"}},
}

// newPicture draws the entries of a timeline. It shortens long waits, so that a night without events does not squeeze
// all else together.
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

// timeScale maps offsets to positions. A wait counts for at most a tenth of the total work time.
type timeScale struct {
	busy  []span // busy periods, in order and merged
	total float64
	gap   float64 // the maximum that a wait counts for
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

// along returns how far from the start an offset is, with waits shortened.
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

// ticks returns some of the entries' times, far enough apart for their labels.
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

// entryClass returns the CSS class for the colour of an entry.
func entryClass(e diagnose.ReportEntry) string {
	switch {
	case e.Kind == "stopped" || e.Kind == "aborted":
		return "stop"
	case e.Kind == "completed" || e.Kind == "landed":
		return "good"
	case e.Attempt != nil && (e.Attempt.Failure != nil || e.Unfinished()):
		return "bad"
	case e.Kind == "attempt" || e.Kind == "intervention":
		return "work"
	case e.Kind == "checks":
		if slices.ContainsFunc(e.Checks, record.CheckResult.Fails) {
			return "bad"
		}
		return "good"
	case e.Review != nil && e.Review.Report.Effective == reply.Checked:
		return "quiet"
	case e.Review != nil && e.Review.Report.Effective.Passed():
		return "good"
	case e.Review != nil:
		return "bad"
	}
	return "quiet"
}

// entryLabel returns the label of an entry's bar.
func entryLabel(e diagnose.ReportEntry) string {
	switch {
	case e.Attempt != nil:
		return "#" + strconv.Itoa(e.Attempt.Number)
	case e.Review != nil:
		return "R" + strconv.Itoa(e.Review.Number)
	}
	return ""
}
