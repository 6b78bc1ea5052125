// Package runrimport imports a timeline of runr, another program that runs agents in a loop. It records runr's run as a
// run here, with its times: title, attempts, results of checks, reviews with their requests, and why it stopped. Other
// events are kept as text. An imported run is shown, diagnosed and resumed like any other. No text of a timeline
// becomes a command.
//
// timeline.go reads lines, replay.go turns them into events, import.go records these.
package runrimport
