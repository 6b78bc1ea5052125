// Package loop is what a run and a review are, and what comes next in them.
//
// Both are folded from events. An event is one commit in a log that gitstore
// keeps (see its package comment for the stored form); events are ordered by
// Lamport clock, then writer, then commit, so that every clone folds the same
// state. An event that the state does not allow arrived from a clone that did not
// know better: it is kept, skipped by the fold and listed under Lost.
//
// A review:
//
//	          ┌──────────▶ cancelled
//	          │
//	open ─────┴─▶ submitted ──▶ claimed ──▶ resolved
//	                  │ ◀──release──┘          ▲
//	                  └────────────────────────┘
//
// More than one reviewer may be asked and may submit, also what was submitted or
// claimed already; of one reviewer's verdicts the newest stands. A claim is exclusive
// until it is released, forced, or its lease has run out at the time of the event
// that takes it over. While a review is submitted or claimed, each finding and comment
// can be answered: fixed, refuted or deferred. Resolving twice is resolving once.
// Reopening makes a resolved or cancelled review what it was before it was claimed.
//
// A run:
//
//	            ┌────────────── fix (targeted)  ◀── only warnings ──┐
//	            ▼                                                    │
//	implement ─▶ checks ─▶ review ─▶ verdict ── needs fix ──────────┤
//	    ▲                               │                            │
//	    └── revert the attempt's files, re-execute ◀── any critical ─┘
//	                                    │
//	                     pass ──▶ completed      retries used up, or no progress ──▶ reviewing
//
// The steps in between are a list (Policy.Workflow); Next decides what follows
// from the folded run alone. A run whose last step is a review is completed only
// if that review passed; otherwise a person must judge, and it is "reviewing".
// Everything else that ends it early is "stopped" with one reason of the registry
// (Reasons); "skipped" and "aborted" are a person's choices.
//
// A run works in a worktree of its own, or in the user's checkout. Around each attempt
// the working tree is recorded, however the attempt ends; what it changed is the
// difference. The working tree belongs to people, too:
//
//	                  worktree of the run's own      the user's checkout
//	while it works    all changes are the attempt's  those that the implementer claims; others stop the run
//	taken back        what changed, unless changed since: that is left and named
//	after it failed   its changes are taken back before it is made again, the rest stays
//	after a kill      all stays                      all stays, and the user says whose it is
//
// What a landing, a revert, a resumed run or a restore did to a working tree can be
// undone, and the undo undone (Store.Undo); a landing that is undone makes the run
// what it was before it landed.
//
// Every step can be done twice. One that was killed is done again by the next process
// from the events, the refs and the files as they are: a branch that was moved before
// its event, a working tree that is half made, gone or locked is no error.
package loop
