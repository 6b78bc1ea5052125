package store

import (
	"context"

	"github.com/git-runr/git-runr/loop/record"
)

// markOfDecision returns the mark of the reviews in which the verdict of a person is decision.
func markOfDecision(decision record.Decision) uint64 { return markOfText("decision", string(decision)) }

// Decided lists the reviews in which people refuse (record.RequestChanges) or approve (record.Approve), newest first,
// at most most. It leaves out withdrawn requests.
func (s *Store) Decided(ctx context.Context, decision record.Decision,
	most int) (found []record.ReviewSummary, err error) {
	err = s.withIndex(ctx, func(idx *index) error {
		found = nil
		entries, err := idx.stack.Newest(map[uint64]bool{kindReview.mark(markOfDecision(decision)): true})
		for _, r := range rowsOf(entries) {
			if err != nil || len(found) == most {
				return err
			}
			if !r.begun() || r.status == string(record.ReviewCancelled) {
				continue
			}
			var line record.ReviewSummary
			line, err = loadLine[record.ReviewSummary](&r)
			by := line.Refusers
			if decision == record.Approve {
				by = line.Approvers
			}
			if len(by) > 0 { // marks may collide
				found = append(found, line)
			}
		}
		return err
	})
	return found, err
}
