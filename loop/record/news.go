package record

import (
	"cmp"
	"slices"
	"time"
)

// News is one thing that somebody said in a review.
type News struct {
	At      time.Time `json:"at"`
	By      string    `json:"by"`
	What    string    `json:"what"`              // a verdict, "comment", "reply", or what became of a finding
	Finding string    `json:"finding,omitempty"` // its id
	Text    string    `json:"text,omitempty"`
}

// News returns what others than person said after since, oldest first, and when person last said something.
func (r Review) News(person string, since time.Time) (news []News, last time.Time) {
	add := func(n News) {
		if SameActor(n.By, person) {
			last = slices.MaxFunc([]time.Time{last, n.At}, time.Time.Compare)
			return
		}
		if n.At.After(since) {
			news = append(news, n)
		}
	}
	for _, s := range r.Submissions {
		add(News{s.At, s.Reviewer, cmp.Or(s.Decision.Words(), s.Said()), "", s.Report.Summary})
		for _, f := range s.Findings() {
			add(News{s.At, s.Reviewer, "comment", f.ID, f.Issue})
		}
	}
	for _, a := range r.Answers {
		add(News{a.At, a.Actor, a.What(), a.Finding, a.Reason})
	}
	for _, p := range r.Replies {
		add(News{p.At, p.Actor, "reply", p.Finding, p.Text})
	}
	slices.SortStableFunc(news, func(a, b News) int { return a.At.Compare(b.At) })
	return news, last
}
