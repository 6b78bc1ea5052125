// Package duration is a length of time as configuration and events have it.
package duration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Duration is a time.Duration that reads as text ("1m30s", "30d") in TOML and is milliseconds in JSON.
type Duration time.Duration

// String is the shortest form that reads the same: "10m", not "10m0s".
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Sleep returns after d, or with the context's cause when that ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Age is how long ago something was, in its largest unit: 5m, 3h, 2d.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%dm", max(0, int(d.Minutes())))
	case d < day:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d < 1000*day:
		return fmt.Sprintf("%dd", int(d/day))
	}
	return fmt.Sprintf("%dy", int(d/(365*day)))
}

// MarshalText gives the form of time.Duration.String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads the form of time.ParseDuration, whole days ("30d"), and years of 365 ("1y").
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	var n, days int
	var unit rune
	if got, err := fmt.Sscanf(s, "%d%c", &n, &unit); got == 2 && err == nil && fmt.Sprintf("%d%c", n, unit) == s {
		days = map[rune]int{'d': 1, 'y': 365}[unit]
	}
	if days > 0 && 0 <= n && n <= 100_000/days {
		*d = Duration(time.Duration(n*days) * 24 * time.Hour)
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration such as 90s, 10m, 2h or 30d", s)
	}
	*d = Duration(v)
	return nil
}

// MarshalJSON writes milliseconds, the unit of every duration in our JSON.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).Milliseconds())
}

// UnmarshalJSON reads milliseconds.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var ms int64
	if err := json.Unmarshal(data, &ms); err != nil {
		return err
	}
	*d = Duration(time.Duration(ms) * time.Millisecond)
	return nil
}
