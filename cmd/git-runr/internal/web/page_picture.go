package web

import (
	"slices"
	"strconv"
	"time"

	"github.com/git-runr/git-runr/diagnose"
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

// newPicture draws the entries of a timeline.
func newPicture(entries []diagnose.ReportEntry) picture {
	p := picture{Height: pictureTop + laneHeight*len(lanes) + 24}
	laneOf := map[string]int{}
	for i, l := range lanes {
		p.Lanes = append(p.Lanes, lane{l.name, pictureTop + laneHeight*i + laneHeight/2})
		for _, kind := range l.kinds {
			laneOf[kind] = i
		}
	}
	begins, total := withoutWaits(entries)
	percent := func(along float64) float64 { return along / max(total, 1) * lastMark }
	lastTick := -100.0
	for i, e := range entries {
		x := percent(begins[i])
		if x-lastTick >= tickApart && x <= 100-tickApart {
			p.Ticks = append(p.Ticks, tick{x, "+" + took(e.Offset)})
			lastTick = x
		}
		n, known := laneOf[e.Kind]
		if !known {
			continue
		}
		s := shape{Class: entryClass(e), X: x, Y: p.Lanes[n].Y, Title: e.Title, Entry: i}
		if e.Duration > 0 {
			s.Width = max(minBar, percent(float64(e.Duration)))
		}
		s.Label, s.Out = entryLabel(e), s.Width < labelWidth
		p.Shapes = append(p.Shapes, s)
	}
	return p
}

// withoutWaits returns for each entry how far from the start it begins, and where the last one ends. A wait counts for
// at most a tenth of the total work time, so that a night without events does not squeeze all else together.
func withoutWaits(entries []diagnose.ReportEntry) (begins []float64, total float64) {
	var work, end float64
	for _, e := range entries {
		from, to := float64(e.Offset), float64(e.Offset+e.Duration)
		work += max(0, to-max(from, end))
		end = max(end, to)
	}
	longest := max(work/10, float64(time.Second))
	var at, last float64
	end = 0
	for _, e := range entries {
		from := float64(e.Offset)
		at += min(from, end) - last + min(max(0, from-end), longest)
		begins, total = append(begins, at), max(total, at+float64(e.Duration))
		last, end = from, max(end, from+float64(e.Duration))
	}
	return begins, total
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
