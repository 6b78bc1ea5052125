package record

import (
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
)

// moved records where the code went, once.
func (r *Review) moved(_ Event, m Move) {
	if !r.hasMoved(m) {
		r.Moves = append(slices.Clip(r.Moves), m)
	}
}

// hasMoved reports whether m is recorded already. Code that is gone may come back and go again.
func (r Review) hasMoved(m Move) bool {
	if n := len(r.Moves); m.State == MoveGone || n > 0 && r.Moves[n-1].State == MoveGone {
		return n > 0 && r.Moves[n-1].same(m)
	}
	return slices.ContainsFunc(r.Moves, m.same)
}

// At returns the commit that has the code of the review now: the newest it was carried to, else the reviewed one.
func (r Review) At() gitstore.ID {
	for _, m := range slices.Backward(r.Moves) {
		if m.State == MoveCarried {
			return m.To
		}
	}
	return r.Request.Subject.Commit
}

// NoBranch begins the sentence that says where code is gone. Only the clone that requested a review looks for its code;
// branches of other clones may have it.
const NoBranch = "no branch of the clone that requested it"

// Whereabouts describes where the code went, one line per move.
func (r Review) Whereabouts() []string {
	var lines []string
	for _, m := range r.Moves {
		switch {
		case m.State == MoveGone:
			lines = append(lines, "gone: "+NoBranch+" has "+m.From.Short()+" any more")
		case m.To == m.From:
			lines = append(lines, m.To.Short()+" is on a branch again")
		case m.State == MoveCarried:
			lines = append(lines, fmt.Sprintf("carried to %s, which makes the same change", m.To.Short()))
		case m.Again != "":
			lines = append(lines, fmt.Sprintf("stale: %s makes another change, asked again as %s", m.To.Short(), m.Again))
		default:
			lines = append(lines, fmt.Sprintf("stale: %s makes another change", m.To.Short()))
		}
	}
	return lines
}
