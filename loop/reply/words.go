package reply

import "github.com/git-runr/git-runr/loop/prose"

// Words is a text as somebody wrote it. What git-runr parses from the text decides what it counts and shows; whoever
// acts on the text receives the words themselves.
type Words struct {
	By   string `json:"by"`
	Text string `json:"text"`
}

// BoundWords cuts the texts of many reviewers to equal parts of 4*MaxText, each at most MaxText and at least 1 KiB.
func BoundWords(said []Words) {
	for i := range said {
		said[i].Text = prose.CutMiddle(said[i].Text, max(min(MaxText, 4*MaxText/len(said)), 1<<10))
	}
}
