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

// EventsSince returns the events beyond the tips since, in order, and the present tips. It reads nothing if no log
// moved. If a log was replaced it returns all events, including those returned before.
func (s *Store) EventsSince(ctx context.Context, since gitstore.Tips) ([]record.Event, gitstore.Tips, error) {
	tips, err := s.Repo.Tips(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list logs: %w", err)
	}
	if since != nil && maps.Equal(tips, since) {
		return nil, tips, nil
	}
	cache, err := s.indexAt(ctx, tips) // the index knows which clocks are believed
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
