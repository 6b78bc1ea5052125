package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/spend"
)

// state is a folded run or review.
type state struct {
	kind   entityKind
	review record.Review
	run    record.Run
}

// apply folds events that come after those folded before. It skips events that cannot be decoded.
func (st *state) apply(events []record.Event) {
	for _, e := range events {
		if st.kind == kindReview {
			_ = st.review.Apply(e)
		} else {
			_ = st.run.Apply(e)
		}
	}
}

// encode encodes st in the form that decodeState reads.
func (st *state) encode() ([]byte, error) {
	if st.kind == kindReview {
		return st.review.Keep()
	}
	return st.run.Keep()
}

func decodeState(kind entityKind, data []byte) (state, error) {
	st := state{kind: kind}
	var err error
	if kind == kindReview {
		st.review, err = record.RestoreReview(data)
	} else {
		st.run, err = record.RestoreRun(data)
	}
	if err != nil {
		return st, fmt.Errorf("read kept state: %w: %w", errIndex, err)
	}
	return st, nil
}

// describe fills in the row's fields that follow from the state, and returns the encoded summary.
func (st *state) describe(r *row) ([]byte, error) {
	if st.kind == kindRun {
		s := st.run.Summary()
		r.status, r.sort = string(s.Status), s.CreatedAt.UnixMilli()
		r.created, r.updated, r.spent = s.CreatedAt.UnixMilli(), s.UpdatedAt.UnixMilli(), s.Usage != spend.Usage{}
		return json.Marshal(s)
	}
	s := st.review.Summary()
	r.status, r.sort, r.closed = string(st.review.Status), s.SortKey().UnixMilli(), max(0, s.ClosedAt.UnixMilli())
	r.need, r.critical, r.waits, r.topic = s.Need(), s.Critical, slices.ContainsFunc(s.Waiting, record.IsAgent), s.Topic()
	r.created, r.updated, r.spent = s.CreatedAt.UnixMilli(), s.UpdatedAt.UnixMilli(), s.Usage != spend.Usage{}
	return json.Marshal(s)
}

// When the state of a run or review is kept in the index: from stateFrom events on, if it is small, or else after
// stateEvery further events. The larger the state, the more events are needed.
const (
	stateFrom   = 16
	stateEvery  = 64
	stateSmall  = 16 << 10
	stateWeight = 64 << 10 // a kept state may have this many bytes for each event read after it
)

// keepsState reports whether to keep the state when r, the row as it was, has grown to events.
func (r *row) keepsState(events int) bool {
	return events > stateFrom && (r.kept <= stateSmall || events-r.covered >= max(stateEvery, r.kept/stateWeight))
}
