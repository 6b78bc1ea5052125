package agent

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxRetryAfter bounds what a provider can have us wait for.
const maxRetryAfter = 7 * 24 * time.Hour

const (
	durationWords = `((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?:[\s,]+(?:and\s+)?)?)+)(?:\b|$)`
	clockWords    = `(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b\.?(?:\s*\(([A-Za-z_]+(?:/[A-Za-z_+-]+)*)\))?`
)

// retryWords are the ways in which providers and their tools say when to ask again.
var retryWords = sync.OnceValue(func() (words struct{ seconds, duration, date, epoch, instant, clock, number *regexp.Regexp }) {
	re := regexp.MustCompile
	words.seconds = re(`(?i)(?:retry[-_ ]?after|resets?_(?:in|after)_seconds)["']?\s*[:=]?\s*["']?(\d+(?:\.\d+)?)(?:["',;\s}]|\.?$)`)
	words.duration = re(`(?i)(?:again|retry|resets?|available|wait|retry[-_ ]?after|retry[-_ ]?delay)["']?(?:ing)?\s*[:=]?\s*(?:in|for|after)?\s*(?:about\s+)?["']?` + durationWords)
	words.date = re(`(?i)retry-after:\s*([A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)`)
	words.epoch = re(`(?i)(?:limit reached\||reset(?:s|s?_?at)?["']?\s*[:=]\s*["']?)(\d{10})\b`)
	words.instant = re(`(?i)(?:until|at|after)\s+(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(?:Z|UTC)\b`)
	words.clock = re(`(?i)(?:resets?|again)\s+(?:at\s+)?` + clockWords)
	words.number = re(`(?i)(\d+(?:\.\d+)?)\s*([a-z]+)`)
	return words
})

// RetryAfter is how long a provider wants to be left alone by what it said at now: 0 when
// that cannot be read, at most a week.
func RetryAfter(text string, now time.Time) time.Duration {
	words := retryWords()
	var wait time.Duration
	seconds, duration := words.seconds.FindStringSubmatchIndex(text), words.duration.FindStringSubmatch(text)
	if at := words.duration.FindStringIndex(text); at != nil && seconds != nil && at[0] <= seconds[0] {
		seconds = nil // "retry after 3 hours": the number has a unit
	}
	if m := words.date.FindStringSubmatch(text); m != nil {
		wait = untilLayout(time.RFC1123, strings.Replace(m[1], "GMT", "UTC", 1), now)
	} else if seconds != nil {
		wait = scaled(text[seconds[2]:seconds[3]], time.Second)
	} else if duration != nil {
		for _, part := range words.number.FindAllStringSubmatch(duration[1], -1) {
			wait += scaled(part[1], unit(part[2]))
		}
	} else if m := words.epoch.FindStringSubmatch(text); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64)
		wait = time.Unix(seconds, 0).Sub(now)
	} else if m := words.instant.FindStringSubmatch(text); m != nil {
		at := strings.Replace(m[1], " ", "T", 1) + ":00"
		wait = untilLayout("2006-01-02T15:04:05", at[:len("2006-01-02T15:04:05")], now)
	} else if m := words.clock.FindStringSubmatch(text); m != nil {
		wait = untilClock(m[1:], now)
	}
	return min(max(wait, 0), maxRetryAfter)
}

// scaled is a number of units, and a bound where that is too many.
func scaled(number string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n > float64(maxRetryAfter/unit) {
		return maxRetryAfter
	}
	return time.Duration(n * float64(unit))
}

func unit(word string) time.Duration {
	word = strings.ToLower(word)
	switch {
	case word == "ms", strings.HasPrefix(word, "milli"):
		return time.Millisecond
	case word[0] == 's':
		return time.Second
	case word[0] == 'm':
		return time.Minute
	case word[0] == 'h':
		return time.Hour
	}
	return 24 * time.Hour
}

func untilLayout(layout, text string, now time.Time) time.Duration {
	at, err := time.Parse(layout, text)
	if err != nil {
		return 0
	}
	return at.Sub(now)
}

// untilClock is the time until a clock shows hour, minute, "a" or "p", in a place ("" for
// ours).
func untilClock(clock []string, now time.Time) time.Duration {
	hour, _ := strconv.Atoi(clock[0])
	minute, _ := strconv.Atoi("0" + clock[1])
	where := time.Local
	if clock[3] != "" {
		var err error
		if where, err = time.LoadLocation(clock[3]); err != nil {
			return 0
		}
	}
	if hour < 1 || hour > 12 || minute > 59 {
		return 0
	}
	hour %= 12
	if strings.EqualFold(clock[2], "p") {
		hour += 12
	}
	here := now.In(where)
	at := time.Date(here.Year(), here.Month(), here.Day(), hour, minute, 0, 0, where)
	if !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return at.Sub(now)
}
