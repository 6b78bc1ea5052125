package record

import (
	"github.com/git-runr/git-runr/gitstore"
)

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
