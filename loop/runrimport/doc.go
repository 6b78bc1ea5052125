// Package runrimport reads the timelines of runr, another program that runs agents in a loop, and records their runs
// as runs here: attempts, results of checks, reviews with what they ask for, and stops, at their times. Such a run is
// shown, diagnosed and resumed like any other. Nothing that a timeline says becomes a command.
//
// timeline.go reads lines into runs, replay.go makes events of them, stop.go ends them, and import.go records them.
package runrimport
