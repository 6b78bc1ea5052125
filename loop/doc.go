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
// (Reasons); "skipped" and "aborted" are a person's choices. One that no review has
// looked at in the state it ends in is "unreviewed".
//
// What is read out of a review (Report) decides what is counted, matched and shown.
// Whoever has to act on it, the next implementer and the next reviewer, gets the words
// as well (Words), quoted: in a prompt every line that an agent, a commit or a file name
// brings begins with "> " or stands behind a label, so that none can end a block, pose
// as a part of the prompt or, said again, be read as an answer.
//
// A change that is larger than a prompt may be is shown in parts (Part); each changed
// line is in one part or counted as not sent, and a review that did not see everything
// is no pass of it (Census.Partial).
//
// A reviewer called human is a person: the run asks for an ordinary review that is
// bound to it (Asked), stops, and makes the round of what people answer.
package loop
