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
// that takes it over; one that the remote decided goes before one that it did not.
// A claimant is a name in one clone. Who lost a claim can neither release, answer nor
// resolve while another has the review, and who acts under a claim by its id only while
// it stands. While a review is submitted or claimed, each finding and comment
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
package loop
