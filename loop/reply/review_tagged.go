package reply

import (
	"errors"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
)

// blockTag begins the info string of the block that reviewers are asked for.
const blockTag = "runr-review"

// placeholder replaces the verdict in our instructions. It must never be read as one.
const placeholder = "<PASS or PASS_WITH_NOTES or NEEDS_FIX or CRITICAL>"

// ReviewOutputInstructions returns the instructions for a reviewer's answer: one JSON object
// in a fence tagged with nonce, or in a JSON fence if nonce is "".
func ReviewOutputInstructions(nonce string) string {
	info := "json"
	if nonce != "" {
		info = blockTag + " " + nonce
	}
	return `End your answer with exactly one block of this form, with nothing else in its fence. Without this block, a pass may not count.

` + "```" + info + `
{
  "verdict": "` + placeholder + `",
  "summary": "<what you reviewed and what you concluded>",
  "findings": [
    {
      "severity": "<critical or warning or note>",
      "file": "<path from the top of the repository, empty if there is none>",
      "line": 0,
      "end_line": 0,
      "issue": "<what is wrong>",
      "fix": "<how to put it right>"
    }
  ]
}
` + "```" + `

- Use PASS when every requirement is met and you found nothing, PASS_WITH_NOTES when the change may go in as it is, NEEDS_FIX when something must be changed, CRITICAL when it must be done again from scratch.
- A finding is critical when the change must not be committed with it, a warning when it should be fixed, a note when nothing has to be done about it.
- Give one finding for each problem, and an empty list when there is none. Line numbers are those of the new version of the file, and 0 when there is none.
- It must be valid JSON: no comments, no trailing commas, each key once.
`
}

// AskForBlock returns a prompt for the block alone, for a reviewer whose answer has no readable block.
func AskForBlock(answer, nonce string) string {
	return "You reviewed a change. Your answer is between the markers. It lacks the required block, or the block cannot " +
		"be read. Write the block for this answer, and do not review again. If the answer has no conclusion, use " +
		"NEEDS_FIX.\n\n" +
		"----- BEGIN ANSWER " + nonce + " -----\n" + ownWords(answer, nonce) + "\n----- END ANSWER " + nonce + " -----\n\n" +
		ReviewOutputInstructions(nonce)
}

// ParseAgain reads a reviewer's second answer together with the first, which can only refuse.
func ParseAgain(first, second, nonce string) Report {
	return ParseReview(second+"\n\n"+ownWords(first, nonce), nonce)
}

// readTagged reads the blocks with the nonce.
func readTagged(a *answer) []candidate {
	var reports, echoes []candidate
	for _, block := range taggedBlocks(a.md, blockTag) {
		if a.nonce == "" || block.nonce != a.nonce {
			a.log.Add("a block tagged with another nonce was ignored")
			continue
		}
		report, unread, err := readBlock(block.body, a.log)
		switch {
		case errors.Is(err, errPlaceholder):
			echoes = append(echoes, candidate{Report: unreadBlock(block.body)})
		case err != nil:
			a.log.Add(fmt.Sprintf("the tagged block could not be read: %v", err))
			reports = append(reports, candidate{Report: unreadBlock(block.body)})
		case report.Verdict.Passed() && !block.alone:
			a.log.Add("a tagged block in a list, indented like code or in HTML was ignored")
		default:
			reports = append(reports, candidate{Report: report, unread: unread})
		}
	}
	switch {
	case len(reports) > 0:
		return reports
	case len(echoes) > 0:
		a.log.Add("the tagged block is our own instructions said again")
	case a.nonce != "":
		a.log.Add("the answer is not in the form that was asked for")
	}
	return echoes
}

// readBlock reads the content of a block; unread is an unknown field in it that may hold
// findings.
func readBlock(body string, log *markdown.Warnings) (r Report, unread string, err error) {
	data := []byte(strings.TrimSpace(body))
	r, err = readVerdictJSON(data, log)
	r.Format = formatTagged
	return r, unreadList(data), err
}

func unreadBlock(body string) Report {
	return Report{Verdict: NeedsFix, Format: FormatUnreadable, Summary: prose.Cut(strings.TrimSpace(body), maxSummary)}
}

type taggedBlock struct {
	nonce, body string
	alone       bool // it is a block of the text itself
}

func taggedBlocks(md markdown.Text, want string) []taggedBlock {
	var blocks []taggedBlock
	for i, l := range md.Lines {
		if tag, nonce, _ := strings.Cut(l.Info, " "); l.Kind == markdown.LineFence && tag == want {
			blocks = append(blocks, taggedBlock{strings.TrimSpace(nonce), md.CodeBelow(i), l.Alone()})
		}
	}
	return blocks
}

// ReviewSteps is the part of a reviewer's prompt before ReviewOutputInstructions: the steps
// of a review.
const ReviewSteps = `Review the change:
1. Make a complete list of requirements from the title, the done criteria and the references.
2. Read the whole change, and each changed file where you need its context.
3. Check every requirement against the change.
4. Look for stubs, incomplete implementations and broken wiring.
5. Report only what matters, each finding with its file and line, what is wrong and how to fix it.
`
