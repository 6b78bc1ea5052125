// Package record says what events of runs and reviews are, and what they come to: their folds, the lines of lists
// and the lines of notes. It is pure: package store, above it, appends, reads, indexes and lists events.
// It knows nothing of agents: package loop decides what happens next.
//
// An event is one commit in a log that gitstore keeps (see its package comment for the
// stored form); events are ordered by Lamport clock, then writer, then commit, so that
// every clone folds the same state. An event that the state does not allow arrived from a
// clone that did not know better: it is kept, skipped by the fold and listed under Lost.
// The logs are the truth; the index and the notes are made from them and can be made again.
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
// claimed already; of a person's verdicts the newest stands, of an agent's on one tree the first:
// two clones did the same. A claim is exclusive
// until it is released, forced, or its lease has run out at the time of the event
// that takes it over; one that the remote decided goes before one that it did not.
// A claimant is a name in one clone. Who lost a claim can neither release, answer nor
// resolve while another has the review, and who acts under a claim by its id only while
// it stands. While a review is submitted or claimed, each finding and comment
// can be answered: fixed, refuted, deferred, gone or open again. Fixed and gone are claims until who objected, a rule
// or a verification confirms them (Answer.ConfirmedBy): a claim leaves a critical finding open. Resolving twice is
// resolving once.
// What several agents say is joined, counted by a quorum and ruled on by a judge: see panel.go.
// Reopening makes a resolved or cancelled review what it was before it was claimed.
// Where its commit was rewritten, the review is told where the code went (Move), in any state.
//
// A check fails the work when it ran, failed, and does not fail in the same way on the
// run's base: see CheckResult.Fails. A stop says why in one code of the registry
// (Reasons) and keeps the fact that matters beside it: see Stop.
//
// A type of event is one line of the table in run_fold.go or review_fold.go: its name, what
// its payload holds, when it may happen, its fold, and what it says on a commit.
//
// The files, from the bottom: events (event.go, event_type.go) and what their payloads hold (actor, answer, attempt,
// check, census, failure, judgement, landing, intervention, move, round, stop, submission, verification); what folds
// come to (run.go and run_rounds.go; review.go, panel*.go and review_*.go) and the summaries that lists show; the folds
// (run_fold.go, review_fold.go); whether an event may be recorded (admit.go); the lines of notes (note_text.go,
// sayings.go, notes.go).
//
// What knows nothing of events is elsewhere: the segments of the index and how they are stacked
// (loop/internal/segment), events that are too many for memory (loop/internal/spill), git notes as a
// projection of logs (loop/internal/notes), the change under review (loop/change), comments (loop/comment).
package record
