package reply

import "github.com/git-runr/git-runr/loop/prose"

// Words are what somebody wrote, as it was written. What is read out of them decides
// what is counted and shown; whoever has to act on them gets the words themselves.
type Words struct {
	By   string `json:"by"`
	Text string `json:"text"`
}

// BoundWords leaves each of many reviewers an equal part of what one may say four times.
func BoundWords(said []Words) {
	for i := range said {
		said[i].Text = prose.CutMiddle(said[i].Text, max(min(MaxText, 4*MaxText/len(said)), 1<<10))
	}
}
