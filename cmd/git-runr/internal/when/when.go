// Package when parses points in time as people type them.
package when

import (
	"time"

	"github.com/git-runr/git-runr/loop/duration"
)

// layouts are the accepted formats of a time. A time without a zone is in the zone of now.
var layouts = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04:05", "2006-01-02 15:04"}

// Parse parses a duration before now, such as 2d or 3h, a date, which is the beginning of that day, or a date with a
// time.
func Parse(text string, now time.Time) (at time.Time, ok bool) {
	var ago duration.Duration
	if ago.UnmarshalText([]byte(text)) == nil && ago >= 0 {
		return now.Add(-time.Duration(ago)), true
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, true
		}
	}
	at, err := time.ParseInLocation(time.DateOnly, text, now.Location())
	return at, err == nil
}
