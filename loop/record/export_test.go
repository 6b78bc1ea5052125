package record

import (
	"maps"
	"slices"
)

// RunEvents are the names of all types of events that a run is folded from.
func RunEvents() []string { return slices.Sorted(maps.Keys(runMoves)) }
