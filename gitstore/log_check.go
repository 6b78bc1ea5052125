package gitstore

import (
	"context"
	"fmt"
)

// CheckAttachments reads everything that is attached to entries, and names what is
// missing or damaged.
func (r *Repo) CheckAttachments(ctx context.Context, entries []Entry) ([]*DamagedError, error) {
	of := map[ID]Entry{} // the first entry that needs an object
	var next []ID
	for _, entry := range entries {
		next = addOwned(of, next, entry.Tree, entry)
	}
	var damaged []*DamagedError
	for level := 0; len(next) > 0 && level <= maxTreeDepth; level++ {
		ids := next
		next = nil
		bad, err := r.readSound(ctx, ids, func(id ID, kind string, data []byte) error {
			if kind != "tree" {
				return nil
			}
			below, err := decodeTree(data, len(id)/2)
			if err != nil {
				damaged = append(damaged, &DamagedError{ID: id, Err: err})
			}
			for _, entry := range below {
				if entry.Mode != ModeCommit {
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

func addOwned(of map[ID]Entry, list []ID, id ID, owner Entry) []ID {
	if _, seen := of[id]; seen {
		return list
	}
	of[id] = owner
	return append(list, id)
}
