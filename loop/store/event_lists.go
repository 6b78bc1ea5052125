package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// EventsSince are the events that the logs hold beyond tips, in order, and the tips as
// they are now. Where nothing moved nothing is read; where a log was replaced all
// events are given, also those that were given before.
func (s *Store) EventsSince(ctx context.Context, since gitstore.Tips) ([]record.Event, gitstore.Tips, error) {
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
	record.Sort(events)
	return slices.DeleteFunc(events, cache.isAhead), tips, err
}
