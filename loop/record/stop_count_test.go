package record

import "testing"

// TestSameStops: equal stops are counted together only if there was no progress between them.
func TestSameStops(t *testing.T) {
	count := stopCount{}
	for i, step := range []struct {
		reason   string
		progress int
		want     int
	}{
		{ReasonBlocked, 1, 1}, {ReasonBlocked, 1, 2}, {ReasonBlocked, 2, 1}, {ReasonBlocked, 2, 2}, {ReasonHuman, 2, 1},
		{ReasonBlocked, 2, 1},
	} {
		if count = count.after(step.reason, step.progress); count.times != step.want {
			t.Errorf("stop %d: counted %d times, want %d", i, count.times, step.want)
		}
	}
}
