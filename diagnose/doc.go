// Package diagnose says why a run stopped and what to type next. Its functions
// are pure: from a folded run to a diagnosis, and from a diagnosis to text. Those that take a store
// only gather what the others go by.
//
//	record.Run ─▶ Of ─▶ Diagnosis ─┬▶ Footer         the terminal, at every stop
//	              ▲                ├▶ Block          git runr diagnose
//	         OfReview              ├▶ Digest         review_digest.md, diagnose --md
//	                               └▶ JSON           stop_diagnostics.json, diagnose --json
//
// What is unmet is what was asked for, compared with what was provided:
//
//   - Asked for: the requests of the newest review that did not pass, and the items
//     of the task's done criteria. The matcher finds the checks that they mean: by the
//     check's command, match words or name, or by common words for its kind
//     (categories). Paths and identifiers in a request mean no check.
//   - Provided: for each check its newest result, from check steps, from commands that
//     people ran and from output that they left (record.Evidence). It passed, failed, is
//     shown (nobody knows how it ended), is stale (of another commit than the run's
//     head) or is missing. Codes for these: UnmetCodes.
//
// Every line that is offered for typing is made of the run's id, words of this
// program and commands of the configured checks. The one thing that reviewers have a
// part in is the note of the suggested intervention, and only in plain words. All
// quoting is safetext's; what it refuses is not offered.
package diagnose
