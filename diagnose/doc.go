// Package diagnose says why a run stopped and what to type next. Its functions are pure: from a folded run to a
// diagnosis, and from a diagnosis to text. Functions with a store parameter only collect input for the others.
//
//	record.Run ─▶ Of ─▶ Diagnosis ─┬▶ Footer         the terminal, at every stop
//	              ▲                ├▶ Block          git runr diagnose
//	         OfReview              ├▶ Digest         review_digest.md, diagnose --md
//	                               └▶ JSON           stop_diagnostics.json, diagnose --json
//
// What is unmet is the difference between what was asked for and what was provided:
//
//   - Asked for: the requests of the newest review that did not pass, and the items
//     of the task's done criteria. The matcher finds the checks that they mean: by the
//     check's command, match words or name, or by common words for its kind
//     (categories). Paths and identifiers in a request never mean a check.
//   - Provided: for each check its newest result, from check steps, from commands that
//     people ran and from output that they left (record.Evidence). A check passed, failed,
//     is shown (its end is unknown), is stale (from another commit than the run's head)
//     or is missing. UnmetCodes lists the codes for these.
//
// Every suggested command consists of the run's id, words of this program and commands of the configured checks. A
// reviewer's text only enters the note of the suggested intervention, and only as plain words. Package safetext does
// all quoting; a command that it rejects is not suggested.
package diagnose
