package queue

import (
	"slices"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
)

// TestTurns: an agent's failure in one clone does not stop the agent in another clone, unless it is a limit that has
// to pass. Requests of other clones are only worked on with ForAll, and only by available agents.
func TestTurns(t *testing.T) {
	s := runtest.NewStore(t)
	if _, err := s.Repo.EnsureWriter(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := runtest.Epoch
	s.Now = func() time.Time { return now }
	own, other := s.Repo.Writer(), runtest.TwoWriter
	failed := func(writer string, in time.Duration) record.FailedTurn {
		turn := record.FailedTurn{Reviewer: "a", Writer: writer}
		if in != 0 {
			turn.RetryAt = now.Add(in)
		}
		return turn
	}
	for name, c := range map[string]struct {
		writer  string
		waiting []string
		failed  []record.FailedTurn
		forAll  bool
		retry   bool
		want    []string
	}{
		"own": {own, []string{"a", record.Human, "", "gone"}, nil, false, false,
			[]string{"a", "gone"}},
		"own, failed for good": {own, []string{"a"}, []record.FailedTurn{failed(own, 0)}, false, false, nil},
		"own, failed for good, retried": {own, []string{"a"}, []record.FailedTurn{failed(own, 0)}, false, true,
			[]string{"a"}},
		"own, failed for now": {own, []string{"a"}, []record.FailedTurn{failed(own, time.Second)}, false, false,
			nil},
		"own, due again": {own, []string{"a"}, []record.FailedTurn{failed(own, -time.Second)}, false, false,
			[]string{"a"}},
		"own, failed for good elsewhere": {own, []string{"a"}, []record.FailedTurn{failed(other, 0)}, false, false,
			[]string{"a"}},
		"own, limited elsewhere": {own, []string{"a"}, []record.FailedTurn{failed(other, time.Second)}, false, false,
			nil},
		"own, limited here and elsewhere": {own, []string{"a"},
			[]record.FailedTurn{failed(other, time.Second), failed(own, -time.Second)}, false, false, []string{"a"}},
		"others', not for all":  {other, []string{"a"}, nil, false, false, nil},
		"others'":               {other, []string{"a", record.Human, "gone"}, nil, true, false, []string{"a"}},
		"others', failed there": {other, []string{"a"}, []record.FailedTurn{failed(other, 0)}, true, false, []string{"a"}},
		"others', failed here":  {other, []string{"a"}, []record.FailedTurn{failed(own, 0)}, true, false, nil},
	} {
		w := &Worker{Store: s, ForAll: c.forAll, Retry: c.retry,
			Reviewer: func(name string) (role.Reviewer, *record.Failure) {
				if name == "gone" {
					return nil, &record.Failure{Reason: record.ReasonAgentNotFound}
				}
				return fixedReviewer{}, nil
			}}
		got := w.dueAgents(record.ReviewSummary{Writer: c.writer, Waiting: c.waiting, FailedTurns: c.failed})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Only the tries of this clone are counted. The wait grows with each failure, and is at least as long as the provider
// asks.
func TestFailWaits(t *testing.T) {
	s := asked(t, 1, "a")
	now := runtest.Epoch
	s.Now = func() time.Time { return now }
	w := &Worker{Store: s}
	for n, c := range []struct {
		after time.Duration // requested by the provider
		want  time.Duration // 0: no automatic retry
	}{{0, time.Minute}, {time.Minute, 5 * time.Minute}, {time.Hour, time.Hour}, {time.Hour, 0}} {
		review, err := s.Review(t.Context(), record.Latest)
		if err == nil {
			err = w.fail(t.Context(), review, "a",
				record.Failure{Reason: record.ReasonAgentFailed, Transient: true, RetryAfter: duration.Duration(c.after)})
		}
		if err == nil {
			review, err = s.Review(t.Context(), record.Latest)
		}
		want := time.Time{}
		if c.want > 0 {
			want = now.Add(c.want)
		}
		if err != nil || !review.Failure.RetryAt.Equal(want) || review.Failure.Tries != n+1 ||
			review.Failure.Writer != s.Repo.Writer() {
			t.Errorf("try %d: %+v, %v, want %s", n+1, review.Failure, err, want)
		}
	}
}
