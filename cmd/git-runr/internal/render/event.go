package render

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// EventStyle is how the lines of a log are written.
type EventStyle struct {
	Now     time.Time
	Columns int    // of the terminal; 0: nobody reads at one
	OneLine bool   // the record, what it is about, its title: cut where the terminal ends
	Lanes   *Lanes // nil for no graph
}

// Event shows an event in one line.
func Event(w io.Writer, e record.Event, style EventStyle) error {
	lead, at, about := "", e.Timestamp.UTC().Format(time.DateTime), cmp.Or(e.Run, e.Review)
	age := duration.Age(style.Now.Sub(e.Timestamp))
	if style.Lanes != nil {
		lead = style.Lanes.draw(e) + " "
	}
	title := screen.Plain.Of(e.Title)
	switch e.Type {
	case record.EventRunStopped.Name, record.EventReviewLoopDetected.Name:
		title.Meaning = screen.Critical
	case record.EventRunLanded.Name, record.EventReviewResolved.Name:
		title.Meaning = screen.Good
	}
	var err error
	switch {
	case style.OneLine:
		short := about
		if style.Columns > 0 { // where ids are short
			short = screen.Suffix(about)
			title.Text = prose.CutColumns(safetext.Line(title.Text), max(style.Columns-prose.Columns(lead)-len(e.ID.Short())-len(short)-2, 1))
		}
		_, err = safetext.Fprintf(w, "%s%s %s %s\n", lead, screen.Name.Of(e.ID.Short()), about, title)
	case style.Columns == 0:
		_, err = safetext.Fprintf(w, "%s%s  %s  %s\n", lead, at, about, title)
	case style.Columns < narrowList:
		_, err = safetext.Fprintf(w, "%s%s  %s  %s\n", lead, screen.Faint.Of(age), screen.Name.Of(about), title)
	default:
		_, err = safetext.Fprintf(w, "%s%s  %3s  %s  %s\n", lead, screen.Faint.Of(at), screen.Faint.Of(age), screen.Name.Of(about), title)
	}
	return err
}

// Lanes draw a log as a graph: a lane for each run and review, from its first event to its last.
type Lanes struct {
	left map[string]int // events that are to come, of each run and review
	open []string       // what is in each lane; "" in one that is free
}

// NewLanes are those of events, which are drawn in this order.
func NewLanes(events []record.Event) *Lanes {
	l := &Lanes{left: map[string]int{}}
	for _, e := range events {
		l.left[cmp.Or(e.Run, e.Review)]++
	}
	return l
}

// draw is the lanes beside an event, the one that it is in with a star.
func (l *Lanes) draw(e record.Event) string {
	about, at, free := cmp.Or(e.Run, e.Review), -1, -1
	for i, in := range l.open {
		switch {
		case in == about:
			at = i
		case in == "" && free < 0:
			free = i
		}
	}
	switch {
	case at >= 0:
	case free >= 0:
		at = free
	default:
		at, l.open = len(l.open), append(l.open, "")
	}
	l.open[at] = about
	marks := make([]string, len(l.open))
	for i, in := range l.open {
		switch {
		case i == at:
			marks[i] = "*"
		case in != "":
			marks[i] = "|"
		default:
			marks[i] = " "
		}
	}
	if l.left[about]--; l.left[about] == 0 {
		l.open[at] = ""
	}
	for len(l.open) > 0 && l.open[len(l.open)-1] == "" {
		l.open = l.open[:len(l.open)-1]
	}
	return strings.Join(marks, " ")
}
