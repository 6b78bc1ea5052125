// Package record defines the events of runs and reviews and folds them into states, lines of lists and lines of
// notes. It is for package store, which appends, reads and indexes events, and for package loop, which decides
// what happens next. It is pure, and knows nothing of agents.
//
// An event is one commit in a log that gitstore keeps (see its package comment for the stored form). Events are
// ordered by Lamport clock, then writer, then commit, so that every clone folds the same state. An event that the
// state does not allow comes from a clone that did not know the newest state: it is kept, skipped by the fold and
// listed under Lost. The logs are the truth; the index and the notes are derived from them and can be rebuilt.
//
// A review:
//
//	          ┌──────────▶ cancelled
//	          │
//	open ─────┴─▶ submitted ──▶ claimed ──▶ resolved
//	                  │ ◀──release──┘          ▲
//	                  └────────────────────────┘
//
// Several reviewers may be asked, and may submit even after the review was submitted or claimed. Of a person's verdicts
// the newest counts. Of an agent's submissions on one tree the first counts: two clones ran the same review.
//
// A claim is exclusive until it is released, forced, or its lease has run out at the time of the event that takes
// over. A claim that the remote granted takes precedence over one that it did not. A claimant is a name in one
// clone. An actor who lost a claim can neither release, answer nor resolve while another holds the review. An actor
// who acts under a claim's id can do so only while that claim is held.
//
// While a review is submitted or claimed, each finding and comment can be answered: fixed, refuted, deferred, gone
// or open again. Fixed and gone are only claims until the objector, a rule or a verification confirms them
// (Answer.ConfirmedBy); a claim leaves a critical finding open. A second resolution changes nothing.
//
// The answers of several agents are joined, counted by a quorum and ruled on by a judge: see panel.go. Reopening
// returns a resolved or cancelled review to its state before the claim. If the reviewed commit is rewritten, a Move
// event records where the code went, in any state.
//
// A check fails the work if it ran, failed, and does not fail the same way on the run's base: see CheckResult.Fails. A
// stop gives its reason as one code of the registry (Reasons), with the fact that matters: see Stop.
//
// An event type is one line of the table in run_fold.go or review_fold.go: its name, its payload, the states in
// which it may happen, its fold, and its note on a commit.
//
// The files, from the bottom: events (event.go) and their payloads (actor, answer, attempt, check, judgement,
// intervention, round, submission; stops: reason); the folded states (run.go; review.go, panel.go and review_*.go) and
// the summaries that lists show; the folds (run_fold.go, review_fold.go), and whether an event may be recorded;
// the lines of notes, and what a landing or a move carries of them (note_text.go).
//
// Other packages hold what does not depend on events: the segments of the index (loop/internal/segment), sorting
// more events than fit into memory (loop/internal/spill), git notes derived from logs (loop/internal/notes), the
// change under review (loop/change), comments (loop/comment).
package record
