package duration

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0m": -time.Minute, "59m": 59*time.Minute + 59*time.Second, "1h": time.Hour, "23h": 24*time.Hour - 1,
		"1d": 24 * time.Hour, "999d": 999 * 24 * time.Hour, "2y": 1000 * 24 * time.Hour,
	} {
		if got := Age(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
