// Package runrimport reads the timelines of runr, another program that runs agents in a loop, and records their runs
// as runs here: the same events in the same order, so that such a run is shown, diagnosed and resumed like any other.
// Nothing that a timeline says becomes a command, and a commit is looked for by its id only.
//
// The files, from the bottom: the fields of events (source.go), lines read into runs (timeline.go), which of a run's
// commits are in this repository (work.go), how a run is recorded again (replay.go, stop.go), what each of runr's
// events becomes (handlers.go), and the entrance (import.go).
package runrimport
