// Package reply reads what reviewers and implementers answer.
//
// An answer is free text. A reviewer is asked for one JSON object in a fence tagged with
// a nonce (ReviewOutputInstructions), and writes what it likes: that block, another
// program's JSON, a Markdown report, a list, a sentence. [ParseReview] makes one [Report]
// of any of them; [ParseExecutor] makes an [ExecutorReport] of an implementer's.
//
// # How a review is read
//
//  1. Package markdown cleans the text and says of each line whether the author speaks in
//     it. What is quoted, code, a comment or a diff is not read: a reviewer quotes what it
//     reviews, and that may hold a verdict.
//  2. classify (class.go) says once what each line is: a verdict, a severity and what has
//     it (mark.go), a field, a row, a tally, a legend. All readers go by it.
//  3. The readers take their turns; each gives the reports that it finds: the block with the nonce
//     (review_tagged.go), JSON objects (review_json.go), Markdown (review_markdown.go, findings.go). A pass comes from
//     that block, or from a form of the seeds as it is documented; all else can only refuse.
//  4. Of several reports the one whose effective verdict is the worst counts, and of
//     several verdict lines the worst. A critical finding makes CRITICAL whatever was
//     stated ([EffectiveVerdict]).
//  5. A pass is held against the rest of the answer (doubt, in review.go): words that
//     refuse, findings that are counted and not given, a part that could not be read or
//     was cut off make it NEEDS_FIX.
//  6. requests.go takes from the words what is asked for, and approval.go whether
//     they approve. A text in no format at all is NEEDS_FIX with that text as its summary.
//
// The two mistakes are not alike: a refusal that is read too strictly costs a round, a
// pass that was none lets a fault in. So a verdict in a list, or on a line that only some
// programs show as one, can refuse and not pass; a severity that nobody understands is a
// warning; and what cannot be read never passes.
//
// What an attacker can still do: persuade the reviewer, for whatever it then says in
// its block is what it says; and where a reviewer forgets the block, have it repeat a
// pass on lines of its own, at an edge of the answer or as a heading, without a mark of
// quotation and with no word near it that refuses. A refusal in words that are not
// known here ("I would sleep better without it"), in a language other than English, or
// in a quotation or a fence does not take such a pass back.
//
// # Where to add what
//
// A format of reviews that is a JSON object is one entry in jsonShapes (review_json.go). A
// word for a verdict that refuses is one in verdictPhrases (verdict.go),
// for a severity in SeverityWords or severitySigns (mark.go), for a field of a finding in
// fieldLabels (lines.go). Each comes with an archive in testdata/review, and with the
// texts that look like it and are none (forms_test.go, worse_test.go, planted_test.go).
package reply
