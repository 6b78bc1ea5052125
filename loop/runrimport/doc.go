// Package runrimport imports the timelines of runr, another program that runs agents in a loop. It records runr's runs
// as runs here, with their times: attempts, results of checks, reviews with their requests, and stops. An imported run
// is shown, diagnosed and resumed like any other. No text of a timeline becomes a command.
//
// timeline.go reads lines into runs, replay.go turns them into events, stop.go ends runs, import.go records them.
package runrimport
