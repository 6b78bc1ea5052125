package screen

import "time"

// Time is a point in time for display.
type Time time.Time

func (t Time) String() string { return time.Time(t).UTC().Format("2006-01-02 15:04Z") }
