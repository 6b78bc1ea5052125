package loop

import (
	"context"
	"errors"
	"fmt"

	"git-runr/gitstore"
)

// EventsSince are the events that the logs hold beyond tips, in order, and the tips as
// they are now. Where nothing moved nothing is read; where a log was replaced all
// events are given, also those that were given before.
func (s *Store) EventsSince(ctx context.Context, since gitstore.Tips) ([]Event, gitstore.Tips, error) {
	tips, err := s.Repo.Tips(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list logs: %w", err)
	}
	events, err := s.newEvents(ctx, &index{Tips: since}, tips)
	if errors.Is(err, gitstore.ErrNotFound) {
		events, err = s.newEvents(ctx, &index{Tips: gitstore.Tips{}}, tips)
	}
	sortEvents(events)
	return events, tips, err
}
