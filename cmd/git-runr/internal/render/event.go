package render

import (
	"cmp"
	"io"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// EventStyle is the format of a log's lines.
type EventStyle struct {
	Now     time.Time
	Columns int  // width of the terminal; 0 for a pipe or file
	OneLine bool // event id, run or review, and title, cut to Columns
}

// Event prints an event in one line.
func Event(w io.Writer, e record.Event, style EventStyle) error {
	at, about := e.Timestamp.UTC().Format(time.DateTime), cmp.Or(e.Run, e.Review)
	age := duration.Age(style.Now.Sub(e.Timestamp))
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
		if style.Columns > 0 { // the screen shortens ids
			short = screen.Suffix(about)
			title.Text = prose.CutColumns(safetext.Line(title.Text), max(style.Columns-len(e.ID.Short())-len(short)-2, 1))
		}
		_, err = safetext.Fprintf(w, "%s %s %s\n", screen.Name.Of(e.ID.Short()), about, title)
	case style.Columns == 0:
		_, err = safetext.Fprintf(w, "%s  %s  %s\n", at, about, title)
	case style.Columns < narrowList:
		_, err = safetext.Fprintf(w, "%s  %s  %s\n", screen.Faint.Of(age), screen.Name.Of(about), title)
	default:
		_, err = safetext.Fprintf(w, "%s  %3s  %s  %s\n", screen.Faint.Of(at), screen.Faint.Of(age), screen.Name.Of(about),
			title)
	}
	return err
}
