package entrylog

import (
	"context"
	"fmt"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// CheckAttachments reads every object attached to entries and returns those that are missing or damaged.
func (s *Store) CheckAttachments(ctx context.Context, entries []Entry) ([]*DamagedError, error) {
	of := map[odb.ID]Entry{} // the first entry that needs an object
	var next []odb.ID
	for _, entry := range entries {
		next = addOwned(of, next, entry.Tree, entry)
	}
	var damaged []*DamagedError
	for level := 0; len(next) > 0 && level <= maxTreeDepth; level++ {
		ids := next
		next = nil
		bad, err := s.readSound(ctx, ids, func(id odb.ID, kind string, data []byte) error {
			if kind != "tree" {
				return nil
			}
			below, err := odb.DecodeTree(data, len(id)/2)
			if err != nil {
				damaged = append(damaged, &DamagedError{ID: id, Err: err})
			}
			for _, entry := range below {
				if entry.Mode != odb.ModeCommit {
					next = addOwned(of, next, entry.ID, of[id])
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("check attachments: %w", err)
		}
		damaged = append(damaged, bad...)
	}
	for _, d := range damaged {
		d.Writer, d.Of = of[d.ID].Writer, of[d.ID].ID
	}
	return damaged, nil
}

func addOwned(of map[odb.ID]Entry, list []odb.ID, id odb.ID, owner Entry) []odb.ID {
	if _, seen := of[id]; seen {
		return list
	}
	of[id] = owner
	return append(list, id)
}
