package record

import (
	"errors"
	"time"
)

// Claimable returns a *StateError if by may not claim the review in the clone of writer.
func (r Review) Claimable(by Hold, writer string, now time.Time) error {
	claim := by.Payload()
	claim.writer = writer
	return r.allow(EventReviewClaimed.Name, claim, now)
}

// Admit decides whether d may be recorded for the review now, in the clone of writer. settled reports that d would
// change nothing that counts and need not be recorded. The error is a *StateError that says why d is not allowed.
func (r Review) Admit(d NewEvent, writer string, now time.Time) (settled bool, err error) {
	var by ActorPayload
	if acts, ok := d.Payload.(interface{ by() (ActorPayload, bool) }); ok {
		by, _ = acts.by()
	}
	by.writer = writer
	if r.settled(d, by) {
		return true, nil
	}
	return false, r.allow(d.Type, by, now)
}

// MayComment returns a *StateError if actor may not submit comments on the review.
func (r Review) MayComment(actor string, now time.Time) error {
	err := r.allow(EventReviewSubmitted.Name, ActorPayload{Actor: actor}, now)
	if refused := new(StateError); errors.As(err, &refused) {
		refused.Cannot = CannotComment
	}
	return err
}

// settled reports whether an event would change nothing that counts.
func (r Review) settled(d NewEvent, by ActorPayload) bool {
	switch p := d.Payload.(type) {
	case Submission:
		return r.Sent(p.Reviewer, p.Key)
	case Move:
		return r.hasMoved(p)
	case ActorPayload:
		return d.Type == EventReviewResolved.Name && r.Status == ReviewResolved ||
			d.Type == EventReviewCancelled.Name && r.Status == ReviewCancelled ||
			d.Type == EventReviewClaimed.Name && r.Claim != nil && (r.Status == ReviewClaimed || r.Status == ReviewOpen) &&
				p.Lease == 0 && r.Claim.sameAs(by)
	}
	return false
}
