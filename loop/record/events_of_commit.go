package record

import (
	"slices"

	"github.com/git-runr/git-runr/gitstore"
)

// EventsOfCommit are the events that speak of commit, and where it took the place of
// others, those that speak of them: that is where its review is. What becomes of a review names
// the review alone, so that all of one that was asked for on such a commit are among them.
func EventsOfCommit(events []Event, commit gitstore.ID) []Event {
	reviewed := map[gitstore.ID]bool{}
	for _, from := range Predecessors(events, commit) {
		reviewed[from] = true
	}
	var about []Event
	reviews := map[string]bool{}
	for _, e := range events {
		speaks := speaksOf(e, commit, reviewed)
		if speaks && (e.Type == EventReviewRequested.Name || e.Type == EventReviewChecked.Name) {
			reviews[e.Review] = true
		}
		if speaks || reviews[e.Review] {
			about = append(about, e)
		}
	}
	return about
}

// subjectOf is the part of any payload that names commits.
type subjectOf struct {
	Commit  gitstore.ID `json:"commit"`
	Base    gitstore.ID `json:"base"`
	Subject Subject     `json:"subject"`
	Carried []Carried   `json:"carried"`
	From    gitstore.ID `json:"from"`
	To      gitstore.ID `json:"to"`
}

// speaksOf reports whether e speaks of commit, or of one that it was reviewed as.
func speaksOf(e Event, commit gitstore.ID, reviewed map[gitstore.ID]bool) bool {
	p, err := payloadOf[subjectOf](e)
	if err != nil {
		return false
	}
	if p.Base == commit && e.Type == EventRunStarted.Name {
		return true
	}
	meant := func(id gitstore.ID) bool { return id == commit || reviewed[id] }
	moved := e.Type == EventReviewMoved.Name && (p.From == commit || p.To == commit)
	return meant(p.Commit) || meant(p.Subject.Commit) || moved ||
		slices.ContainsFunc(p.Carried, func(c Carried) bool { return c.From == commit || c.To == commit })
}

// Predecessors are the commits that events say commit took the place of.
func Predecessors(events []Event, commit gitstore.ID) []gitstore.ID {
	var from []gitstore.ID
	for _, e := range events {
		switch e.Type {
		case EventReviewMoved.Name:
			if m, err := EventReviewMoved.Payload(e); err == nil && m.To == commit {
				from = append(from, m.From)
			}
		case EventRunLanded.Name:
			landed, err := EventRunLanded.Payload(e)
			for _, c := range landed.Carried {
				if err == nil && c.To == commit {
					from = append(from, c.From)
				}
			}
		}
	}
	return from
}
