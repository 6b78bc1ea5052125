package screen

import (
	"fmt"
	"time"
)

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

// Time is a point in time as people read it.
type Time time.Time

func (t Time) String() string { return time.Time(t).UTC().Format("2006-01-02 15:04Z") }
