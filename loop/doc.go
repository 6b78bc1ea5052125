// Package loop removes what finished runs and reviews leave behind: old worktrees, transcripts and snapshots
// (FindGarbage, CollectGarbage, Tidy). The work itself is done by four packages below it:
//
//	runner      carries a run from its task to its end: Next decides the step, Runner does it
//	queue       runs the worker: it picks the next review for an agent, the clone to work in, and records the answer
//	reviewing   shows a change to a reviewer, in parts if it is large, and verifies findings
//	checking    runs checks in a checkout and watches the repository for what they do to it
//
// runner and queue do not import each other. Both use reviewing and checking, and reviewing uses checking. Everything
// that happens is an event, which package record stores and folds: each step is decided from the folded run or review
// alone, and ends in an event.
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
// The steps in between are a list (runplan.Policy.Workflow); runner.Next decides the next step from the folded run
// alone. A run whose last step is a review is "completed" only if that review passed; otherwise a person must judge,
// and the run is "reviewing". A run that ends early for any other reason is "stopped" with one reason of the registry
// (record.Reasons); "skipped" and "aborted" are a person's choices. A run is "unreviewed" if no review has seen its
// final state.
//
// A run works in a worktree of its own, or in the user's checkout. The working tree is recorded before and after each
// attempt, however the attempt ends; the difference is what the attempt changed. People may change the working tree
// too:
//
//	                     worktree of the run's own      the user's checkout
//	during an attempt    all changes are the attempt's  those that the implementer claims; others stop the run
//	when reverted        what changed, unless changed since: such a file is left and named
//	retry after failure  its changes are reverted before the retry, the rest stays
//	after a kill         all stays                      all stays, and the user says whose it is
//
// After an agent's turn, checking.Watch looks for changes that the agent must not make: first, by reading files, at
// hooks and git's configuration; then at refs. It does the same after a check and after the user's pre-commit hook,
// because both run what an agent wrote.
//
//	configuration, attributes and     the run stops (tampered) if git or this tool would run or follow
//	hooks changed                     something because of it; else the change is mentioned
//	an existing branch moved, the     tampered; event logs are put back
//	stash dropped by the agent's
//	git; a replacement, a symbolic
//	branch, HEAD changed without git
//	what this program did not write   tampered; it is put back, also by another process that looks
//	in a log of this clone            meanwhile, and kept below refs/runr-local/foreign/
//	another ref moved, HEAD elsewhere mentioned: a person may be at work
//	another checkout's index changed  mentioned, unless HEAD's reflog explains it
//	a rebase or the like was begun    mentioned, and never recommended
//	the repository removed, replaced  the run ends with an error, and nothing is written
//
// The same rules apply to a reviewer, but what a person may have changed is not mentioned. gitstore.Alteration keeps
// the earlier state; while a changed setting is in place, only those git commands are run that start no other program
// (gitdir.Gate).
//
// Every step can be repeated. If a process was killed, the next one repeats its step from the events, the refs and the
// files as they are: it is no error if a branch was moved before its event was written, or if a working tree is half
// made, missing or locked.
//
// Package reply decides what a review says: what is counted, matched and shown. The next implementer and the next
// reviewer also get the reviewer's words (reply.Words), quoted: in a prompt, every line that comes from an agent, a
// commit or a file name begins with "> " or follows a label, so that it cannot end a block, pose as a part of the
// prompt, or be read as an answer when an agent repeats it.
//
// A change larger than the allowed prompt is shown in parts (reviewing.Part). Each changed line is in one part or
// counted as not sent, and a review that did not see everything is not a pass (record.Census.Partial).
//
// "runr" alone is another program. Package runrimport reads its timelines, and its names for stop reasons and receipts
// are kept; this program is git-runr.
//
// A review that needs nobody any more is closed by whoever submitted or answered last (closing.Close), or by the daily
// cleanup (Tidy). Old findings are checked against later code (reviewing.Verifier).
//
// Several reviewers of one review are a panel: package record folds their verdicts and findings into one. A judge, and
// verify, have an agent examine the findings of others (reviewing.Examination).
//
// Package intake decides for which commits a review is requested, landing brings a run's work to its branch and undoes
// it, closing ends reviews that need nobody any more.
//
// A reviewer called human is a person: the run requests an ordinary review that is bound to it (record.Asked), stops,
// and later turns people's answers into its round.
package loop
