package record

import (
	"maps"
	"slices"
)

// RunEvents returns the names of all event types from which a run is folded.
func RunEvents() []string { return slices.Sorted(maps.Keys(runMoves)) }
