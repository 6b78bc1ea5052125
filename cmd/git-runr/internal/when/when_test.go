package when

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	zone := time.FixedZone("", 3600)
	now := time.Date(2026, 1, 9, 12, 0, 0, 0, zone)
	for _, c := range []struct {
		text string
		want time.Time
	}{
		{"2d", now.Add(-48 * time.Hour)},
		{"2026-01-02", time.Date(2026, 1, 2, 0, 0, 0, 0, zone)},
		{"2026-01-02 03:04", time.Date(2026, 1, 2, 3, 4, 0, 0, zone)},
		{"2026-01-02T03:04Z", time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)},
	} {
		if at, ok := Parse(c.text, now); !ok || !at.Equal(c.want) {
			t.Errorf("%s: %v, %v", c.text, at, ok)
		}
	}
	for _, text := range []string{"soon", "-3d"} {
		if _, ok := Parse(text, now); ok {
			t.Errorf("%q is a time", text)
		}
	}
}
