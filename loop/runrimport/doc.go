// Package runrimport reads the timelines of runr, another program that runs agents in a loop,
// and records their runs as ours: events of the same run in the same order, made in the state
// in which they are read again, so that such a run is shown, diagnosed and gone on with like any.
// Nothing that a timeline says becomes a command, and no commit is looked for by another name
// than its id.
//
// The files, from the bottom: events and runs of a timeline as they are there (source.go), what runr
// keeps beside one (directory.go), what of a run's work is in this repository (work.go), how a run is
// told again (replay.go, checks.go, stop.go) by what each of runr's events becomes (handlers.go); a
// timeline is read with these types known (timeline.go), and recorded (import.go).
package runrimport
