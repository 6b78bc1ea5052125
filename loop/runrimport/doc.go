// Package runrimport reads the timelines of runr, another program that runs agents in a loop,
// and records their runs as ours: events of the same run in the same order, made in the state
// in which they are read again, so that such a run is shown, diagnosed and gone on with like any.
// Nothing that a timeline says becomes a command, and no commit is looked for by another name
// than its id.
//
// The files, from the bottom: a line and a run of a timeline (source.go, timeline.go), what of its work
// is in this repository (work.go), and how it is told again (replay.go, checks.go, stop.go), which
// import.go records.
package runrimport
