package agent

import (
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"429 Too Many Requests":                              0,
		"HTTP 429\nRetry-After: 120\n":                       2 * time.Minute,
		"retry-after: 30":                                    30 * time.Second,
		`{"error":{"type":"rate_limit","retry_after":17.5}}`: 17500 * time.Millisecond,
		`{"retryDelay": "34s"}`:                              34 * time.Second,
		`"resets_in_seconds":5400,"plan":"plus"`:             90 * time.Minute,
		"Rate limit reached. Please try again in 1m30s.":     90 * time.Second,
		"Please try again in 6.2s. Visit https://x":          6200 * time.Millisecond,
		"Please try again in 20ms":                           20 * time.Millisecond,
		"Try again in 3 days 5 hours 2 minutes.":             77*time.Hour + 2*time.Minute,
		"try again in 2 hours, and 5 minutes":                125 * time.Minute,
		"Please retry after 45 seconds":                      45 * time.Second,
		"429, retry after 3 hours":                           3 * time.Hour,
		"Retry-After: 20 (resets in 5 minutes)":              20 * time.Second,
		"quota exceeded; please wait 20 minutes":             20 * time.Minute,
		"limit resets in 4h":                                 4 * time.Hour,
		"Retry-After: Wed, 07 Jan 2026 12:10:00 GMT":         10 * time.Minute,
		"Claude AI usage limit reached|1767794400":           2 * time.Hour,
		"limited until 2026-01-07T13:30:00Z":                 90 * time.Minute,
		"limited until 2026-01-07 13:30 UTC":                 90 * time.Minute,
		"resets 1pm (UTC)":                                   time.Hour,
		"You've hit your limit · resets 11:30am (UTC)":       23*time.Hour + 30*time.Minute,
		"resets 12am (UTC)":                                  12 * time.Hour,
		"or try again at 1:00 PM.":                           time.Hour,
		"or try again at Jan 9th, 2026 6:20 PM.":             54*time.Hour + 20*time.Minute,
		"try again at Jan 1st, 2027 6:20 PM":                 7 * 24 * time.Hour,
		"try again at Jan 6th, 2026 6:20 PM":                 0, // has passed
		"try again at Jan 31st, 1e9 6:20 PM":                 0,
		"weekly limit · resets Jan 8, 3pm (UTC)":             27 * time.Hour,
		"weekly limit · resets Jan 8 at 3:05pm (UTC)":        27*time.Hour + 5*time.Minute,
		"resets Jan 8, 3pm (No/Where)":                       0,
		"resets Feb 31, 3pm (UTC)":                           0,
		"HTTP 429; again at 2026-01-07 13:30:00Z":            90 * time.Minute,
		"5-hour limit reached ∙ resets 1pm (UTC)":            time.Hour,
		"resets 99pm (UTC)":                                  0,
		"resets 3pm (No/Where)":                              0,
		"try again in 900 days":                              7 * 24 * time.Hour,
		"retry-after: 99999999999999999999999999":            7 * 24 * time.Hour,
		"Claude AI usage limit reached|1000000000":           0, // has passed
		"failed after 3 retries in 20 files":                 0,
		"tried 3 times; connection reset by peer":            0,
		"I waited for 5 tests":                               0,
	} {
		if got := RetryAfter(text, now); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("resets Jan 8, 3pm (UTC) or try again at Jan 9th, 2026 6:20 PM")
	f.Add("try again in 1m30s, resets 3:05 PM (Europe/Berlin), Retry-After: 9")
	f.Fuzz(func(t *testing.T, text string) {
		if got := RetryAfter(text, time.Unix(1767787200, 0)); got < 0 || got > maxRetryAfter {
			t.Errorf("%q: %s", text, got)
		}
	})
}
