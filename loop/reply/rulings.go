package reply

import (
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/internal/strictjson"
	"github.com/git-runr/git-runr/loop/prose"
)

// rulingTag begins the info string of a block that says what has become of numbered
// findings.
const rulingTag = "runr-rulings"

// RulingWords are the two possible rulings on a finding. Settles requires a reason.
type RulingWords struct{ Settles, Stands string }

// Ruling is the ruling on one finding.
type Ruling struct {
	Said    bool // false: no ruling, or contradictory ones
	Settles bool
	Why     string
}

// RulingInstructions returns the instructions for ruling on n findings: write one JSON
// object in a fence tagged with nonce.
func RulingInstructions(nonce string, words RulingWords, n int) string {
	return fmt.Sprintf(
		"End your answer with exactly one block of this form, with one entry for each of %s. Only this block is read.\n\n"+
			"```%s %s\n{\"rulings\": [{\"finding\": <its number>, \"says\": \"<%s or %s>\", \"why\": \"<what in the code "+
			"shows it, in one sentence>\"}]}\n```\n",
		prose.Count(n, "finding"), rulingTag, nonce, words.Settles, words.Stands)
}

// ParseRulings reads the blocks tagged with nonce and returns the rulings on findings 1 to
// n, in order. A settling ruling without a reason is ignored. Contradictory rulings on a
// finding count as none.
func ParseRulings(text, nonce string, words RulingWords, n int) []Ruling {
	said := make([]Ruling, n)
	torn := make([]bool, n)
	for _, block := range taggedBlocks(markdown.Split(text), rulingTag) {
		var doc struct {
			Rulings []struct {
				Finding int    `json:"finding"`
				Says    string `json:"says"`
				Why     string `json:"why"`
			} `json:"rulings"`
		}
		if nonce == "" || block.nonce != nonce || !block.alone ||
			strictjson.Decode([]byte(strings.TrimSpace(block.body)), &doc) != nil {
			continue
		}
		for _, r := range doc.Rulings {
			i, why := r.Finding-1, prose.OneLine(r.Why)
			settles := r.Says == words.Settles
			if i < 0 || i >= n || !settles && r.Says != words.Stands || settles && why == "" {
				continue
			}
			torn[i] = torn[i] || said[i].Said && said[i].Settles != settles
			said[i] = Ruling{Said: true, Settles: settles, Why: why}
		}
	}
	for i := range said {
		if torn[i] {
			said[i] = Ruling{}
		}
	}
	return said
}
