package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
)

// EventsSince are the events that the logs hold beyond tips, in order, and the tips as
// they are now. Where nothing moved nothing is read; where a log was replaced all
// events are given, also those that were given before.
func (s *Store) EventsSince(ctx context.Context, since gitstore.Tips) ([]Event, gitstore.Tips, error) {
	tips, err := s.Repo.Tips(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list logs: %w", err)
	}
	if since != nil && maps.Equal(tips, since) {
		return nil, tips, nil
	}
	cache, err := s.indexAt(ctx, tips) // knows which clocks are believed
	if err != nil {
		return nil, nil, err
	}
	defer cache.close()
	events, err := s.newEvents(ctx, &index{manifest: manifest{Tips: since}}, tips)
	if errors.Is(err, errAfresh) {
		events, err = s.newEvents(ctx, scratchIndex(), tips)
	}
	Sort(events)
	return slices.DeleteFunc(events, cache.isAhead), tips, err
}

// EventsOfCommit are the events that speak of commit, and where it took the place of
// others, those that speak of them: that is where its review is. What becomes of a review names
// the review alone, so that all of one that was asked for on such a commit are among them.
func EventsOfCommit(events []Event, commit gitstore.ID) []Event {
	reviewed := map[gitstore.ID]bool{}
	for _, from := range tookPlaceOf(events, commit) {
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
