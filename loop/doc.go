// Package loop joins what runs and reviews leave behind: it drops old worktrees, transcripts and snapshots (FindGarbage,
// CollectGarbage, Tidy). The work itself is in four packages below it:
//
//	runner      a run from its task to its end: Next decides the step, Runner carries it out
//	queue       the worker: which review an agent does next, in which clone, and what comes of its answer
//	reviewing   a change is shown to a reviewer, in parts where it is large, and findings are verified
//	checking    checks run in a checkout while the repository is watched for what they do to it
//
// runner and queue do not know each other. Both use reviewing and checking, and reviewing uses checking. What happened
// is in events, which package record keeps and folds: each step is decided from the folded run or review alone, and
// ends in an event.
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
// The steps in between are a list (runplan.Policy.Workflow); runner.Next decides what follows
// from the folded run alone. A run whose last step is a review is completed only
// if that review passed; otherwise a person must judge, and it is "reviewing".
// Everything else that ends it early is "stopped" with one reason of the registry
// (record.Reasons); "skipped" and "aborted" are a person's choices. One that no review has
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
// An agent's turn ends with a look at what it must leave alone (checking.Watch): first, by reading
// files, at hooks and at what configures git; then at refs. So does that of a check and of the
// user's pre-commit hook, which run what an agent wrote.
//
//	configuration, attributes and     the run stops (tampered) where git or this tool would run or follow
//	hooks changed                     something because of it; else it is mentioned
//	a branch that was there moved,    tampered; event logs are put back
//	the stash dropped by the agent's
//	git; a replacement, a symbolic
//	branch, HEAD past git
//	another ref moved, HEAD elsewhere mentioned: a person may be at work
//	another checkout's index changed  mentioned, unless HEAD's reflog explains it
//	a rebase or the like was begun    mentioned, and never recommended
//	the repository removed, replaced  the run ends with an error, and nothing is written
//
// Of a reviewer the same holds, and nothing is mentioned. gitstore.Alteration keeps what was there before; while
// a setting of it stands, only calls of git are made that run nothing (gitdir.Gate).
//
// Every step can be done twice. One that was killed is done again by the next process
// from the events, the refs and the files as they are: a branch that was moved before
// its event, a working tree that is half made, gone or locked is no error.
//
// What is read out of a review decides what is counted, matched and shown: see reply.
// Whoever has to act on it, the next implementer and the next reviewer, gets the words
// as well (reply.Words), quoted: in a prompt every line that an agent, a commit or a file
// name brings begins with "> " or stands behind a label, so that none can end a block, pose
// as a part of the prompt or, said again, be read as an answer.
//
// A change that is larger than a prompt may be is shown in parts (reviewing.Part); each changed
// line is in one part or counted as not sent, and a review that did not see everything
// is no pass of it (record.Census.Partial).
//
// "runr" alone is another program, whose timelines package runrimport reads and whose names for
// stops and receipts are kept; this one is git-runr.
//
// A review that needs nobody any more is closed by whoever submitted or answered last (closing.Close),
// once a day by whoever comes by (Tidy); old findings are held against later code (reviewing.Verifier).
//
// Several reviewers of one review are a panel: package record folds their verdicts and findings into one. A judge, and
// verify, have an agent look at findings of others (reviewing.Examination).
//
// Package intake decides which commits a review is asked for, landing brings a run's work to its branch and undoes it,
// closing ends reviews that need nobody any more.
//
// A reviewer called human is a person: the run asks for an ordinary review that is
// bound to it (record.Asked), stops, and makes the round of what people answer.
package loop
