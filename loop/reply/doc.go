// Package reply reads the answers of reviewers and implementers.
//
// An answer is free text. A reviewer is asked for one JSON object in a fence tagged with
// a nonce (ReviewOutputInstructions), and may write anything: that block, another
// program's JSON, a Markdown report, a list, a sentence. [ParseReview] turns any of them
// into one [Report]; [ParseExecutor] turns an implementer's answer into an
// [ExecutorReport].
//
// # How a review is read
//
//  1. Package markdown cleans the text and marks which lines are the author's own words.
//     Quotations, code, comments and diffs are not read: a reviewer quotes the code under
//     review, and that may contain a verdict.
//  2. classify (class.go) decides once what each line is: a verdict, a severity with its
//     finding (mark.go), a field, a row, a tally, a legend. All readers use the result.
//  3. Each reader returns the reports that it finds: the block with the nonce
//     (review_tagged.go), JSON objects (review_json.go), Markdown (review_markdown.go,
//     findings.go). Only that block and the documented formats can pass a change; all
//     other text can only refuse it.
//  4. Of several reports the one with the worst effective verdict counts, and of several
//     verdict lines the worst. A critical finding makes the verdict CRITICAL whatever was
//     stated ([EffectiveVerdict]).
//  5. A pass is compared with the rest of the answer (doubt, in review.go). It becomes
//     NEEDS_FIX if other words refuse, if something is listed below a title such as
//     "Required changes", if findings are counted but not listed, or if a part could not
//     be read or was cut off. Beside a pass outside of the block, an item, a row, a
//     quotation, a fence, a section with an unknown title and an unknown field of an
//     object stay as notes unless they are known to be harmless.
//  6. requests.go extracts the requests from the words, and approval.go decides whether
//     the words approve. A text in no known format is NEEDS_FIX with the text as summary.
//
// The two mistakes differ: a refusal that is read too strictly costs a round, a wrong
// pass lets a fault in. So a verdict in a list, or in a form that only some programs use,
// can refuse but not pass; an unknown severity is a warning; unreadable text never passes.
//
// Two attacks remain: persuading the reviewer, whose block then says what the attacker
// wants; and, if the reviewer forgets the block, having it repeat a pass on lines of its
// own, at an edge of the answer or as a heading, without quotation marks and with no
// refusing word near it. A refusal in unknown words ("I would sleep better without it") or
// in a language other than English does not cancel such a pass, and one in a quotation or
// fence is only a note beside it.
//
// # Where to add what
//
// A JSON format of reviews is one entry in jsonShapes (review_json.go). A word for a
// refusing verdict belongs in verdictPhrases (verdict.go), for a severity in SeverityWords
// or severitySigns (mark.go), for a field of a finding in fieldLabels (lines.go). Each
// needs an archive in testdata/review, and tests with similar texts that must not match
// (forms_test.go, worse_test.go, planted_test.go).
package reply
