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
// A check fails the work when it ran, failed, and does not fail in the same way on the
// run's base: see Checker. A stop says why in one code of the registry and keeps the
// fact that matters beside it: see Stop.
//
// The steps in between are a list (Policy.Workflow); Next decides what follows
// from the folded run alone. A run whose last step is a review is completed only
// if that review passed; otherwise a person must judge, and it is "reviewing".
// Everything else that ends it early is "stopped" with one reason of the registry
// (Reasons); "skipped" and "aborted" are a person's choices. One that no review has
// looked at in the state it ends in is "unreviewed".
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
//
// A reviewer's answer is text by somebody who has read the change, and the change may
// be written to be repeated in it. Each line of it is classified once, and a pass is
// read strictly, a fault loosely: a severity that leads or ends a line makes a finding
// wherever it stands, unless the line is of a legend; a verdict or an object of JSON
// passes only where it is the answer, and not where it is quoted, code, a diff, an
// element of our own prompt, in a list, in a sentence, or told of by the line above.
// Words beside a pass that forbid the merge take it back, and so does what could not
// be read. A block that carries the review's nonce, which the change cannot know, is
// all that counts where there is one; words beside it that refuse what it passes are a
// warning, for a person to see.
//
// What an attacker can still do: persuade the reviewer, for whatever it then says in
// its block is what it says; and where a reviewer forgets the block, have it repeat a
// pass on lines of its own, at an edge of the answer or as a heading, without a mark of
// quotation and with no word near it that refuses. A refusal in words that are not
// known here ("I would sleep better without it"), in a language other than English, or
// in a quotation or a fence does not take such a pass back.
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
