package record

import (
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
)

// EventsOfCommit returns the events about commit. If commit took the place of others, the events about those are
// included, since its review may be there. So are all events of a review that was requested on such a commit,
// because later events name only the review.
func EventsOfCommit(events []Event, commit gitstore.ID) []Event {
	reviewed := each.Set(Predecessors(events, commit))
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

// subjectOf holds the fields of any payload that name commits.
type subjectOf struct {
	Commit  gitstore.ID `json:"commit"`
	Base    gitstore.ID `json:"base"`
	Subject Subject     `json:"subject"`
	Carried []Carried   `json:"carried"`
	From    gitstore.ID `json:"from"`
	To      gitstore.ID `json:"to"`
}

// speaksOf reports whether e is about commit or about one of the commits that it was reviewed as.
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

// Predecessors returns the commits that commit took the place of, according to events.
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
