package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
)

// markOfDecision returns the mark of the reviews in which the verdict of a person is decision.
func markOfDecision(decision record.Decision) uint64 { return markOfText("decision", string(decision)) }

// closedOverMark returns the mark of the reviews that somebody resolved by hand although people refuse the change.
func closedOverMark() uint64 { return markOfText("closed", "over") }

// Decided lists the reviews in which people refuse (record.RequestChanges) or approve (record.Approve), newest first,
// at most most. It leaves out withdrawn requests.
func (s *Store) Decided(ctx context.Context, decision record.Decision, most int) ([]record.ReviewSummary, error) {
	return s.linesMarked(ctx, markOfDecision(decision), most, func(line record.ReviewSummary) bool {
		by := line.Refusers
		if decision == record.Approve {
			by = line.Approvers
		}
		return len(by) > 0 && line.Status != record.ReviewCancelled
	})
}

// closedOverShown is the maximum number of reviews that ClosedOver names.
const closedOverShown = 5

// ClosedOver returns a line for each review that somebody else resolved lately although me asked for changes there and
// has not agreed with the answers, according to the cache, like Glance.
func (s *Store) ClosedOver(me string) []string {
	idx := s.lastRead()
	defer idx.close()
	mine := func(by record.Speaker) bool { return record.SameActor(by.By, me) }
	found, err := idx.linesMarked(closedOverMark(), closedOverShown, func(line record.ReviewSummary) bool {
		return line.ClosedOver() && !record.SameActor(line.ResolvedBy, me) && slices.ContainsFunc(line.Refusers, mine) &&
			s.Now().Sub(line.ClosedAt) < closedRemembered
	})
	if err != nil { // the cache is damaged; the next command makes it anew
		return nil
	}
	return each.Of(found, func(line record.ReviewSummary) string {
		return fmt.Sprintf("%s resolved review %s, in which you asked for changes and have not agreed with the answers: "+
			"git runr show %s", line.ResolvedBy, line.ID, line.ID)
	})
}

// linesMarked lists the reviews with a mark that are wanted, newest first, at most most; 0 means all.
func (s *Store) linesMarked(ctx context.Context, mark uint64, most int,
	wanted func(record.ReviewSummary) bool) (found []record.ReviewSummary, err error) {
	err = s.withIndex(ctx, func(idx *index) (err error) {
		found, err = idx.linesMarked(mark, most, wanted)
		return err
	})
	return found, err
}

func (idx *index) linesMarked(mark uint64, most int,
	wanted func(record.ReviewSummary) bool) (found []record.ReviewSummary, err error) {
	entries, err := idx.stack.Newest(map[uint64]bool{kindReview.mark(mark): true})
	for _, r := range rowsOf(entries) {
		if err != nil || most > 0 && len(found) == most {
			return found, err
		}
		if !r.begun() {
			continue
		}
		var line record.ReviewSummary
		if line, err = loadLine[record.ReviewSummary](&r); wanted(line) { // marks may collide
			found = append(found, line)
		}
	}
	return found, err
}
