package agent

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

// maxRetryAfter limits how long a provider can make us wait.
const maxRetryAfter = 7 * 24 * time.Hour

const (
	durationWords = `((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?:[\s,]+(?:and\s+)?)?)+)(?:\b|$)`
	clockWords    = `(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b\.?(?:\s*\(([A-Za-z_]+(?:/[A-Za-z_+-]+)*)\))?`
)

// Ways in which providers and tools say when to retry.
var (
	retrySeconds = lazyre.Compile(
		`(?i)(?:retry[-_ ]?after|resets?_(?:in|after)_seconds)["']?\s*[:=]?\s*["']?(\d+(?:\.\d+)?)(?:["',;\s}]|\.?$)`)
	retryDuration = lazyre.Compile(
		`(?i)(?:again|retry|resets?|available|wait|retry[-_ ]?after|retry[-_ ]?delay)["']?(?:ing)?\s*[:=]?\s*(?:in|for|after)?\s*(?:about\s+)?["']?` + durationWords)
	retryDate    = lazyre.Compile(`(?i)retry-after:\s*([A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)`)
	retryEpoch   = lazyre.Compile(`(?i)(?:limit reached\||reset(?:s|s?_?at)?["']?\s*[:=]\s*["']?)(\d{10})\b`)
	retryInstant = lazyre.Compile(
		`(?i)(?:until|at|after)\s+(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(?:Z|UTC)\b`)
	retryDay = lazyre.Compile(
		`(?i)(?:resets?|again)\s+(?:at\s+|on\s+)?([a-z]{3}) (\d{1,2})(?:st|nd|rd|th)?,?\s+(?:(\d{4}),?\s+)?(?:at\s+)?` +
			clockWords)
	retryClock = lazyre.Compile(`(?i)(?:resets?|again)\s+(?:at\s+)?` + clockWords)
	numberUnit = lazyre.Compile(`(?i)(\d+(?:\.\d+)?)\s*([a-z]+)`)
)

// RetryAfter returns the wait that a provider's message text asks for at time now: at most a
// week, 0 if it cannot be read.
func RetryAfter(text string, now time.Time) time.Duration {
	var wait time.Duration
	seconds, duration := retrySeconds().FindStringSubmatchIndex(text), retryDuration().FindStringSubmatch(text)
	if at := retryDuration().FindStringIndex(text); at != nil && seconds != nil && at[0] <= seconds[0] {
		seconds = nil // "retry after 3 hours": the number has a unit
	}
	if m := retryDate().FindStringSubmatch(text); m != nil {
		wait = untilLayout(time.RFC1123, strings.Replace(m[1], "GMT", "UTC", 1), now)
	} else if seconds != nil {
		wait = scaled(text[seconds[2]:seconds[3]], time.Second)
	} else if duration != nil {
		for _, part := range numberUnit().FindAllStringSubmatch(duration[1], -1) {
			wait += scaled(part[1], unit(part[2]))
		}
	} else if m := retryEpoch().FindStringSubmatch(text); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64)
		wait = time.Unix(seconds, 0).Sub(now)
	} else if m := retryInstant().FindStringSubmatch(text); m != nil {
		at := strings.Replace(m[1], " ", "T", 1) + ":00"
		wait = untilLayout("2006-01-02T15:04:05", at[:len("2006-01-02T15:04:05")], now)
	} else if m := retryDay().FindStringSubmatch(text); m != nil {
		wait = untilClock(m[1:4], m[4:], now)
	} else if m := retryClock().FindStringSubmatch(text); m != nil {
		wait = untilClock(nil, m[1:], now)
	}
	return min(max(wait, 0), maxRetryAfter)
}

// leastRetryAfter is the wait for a limit that has already passed.
const leastRetryAfter = time.Second

// RetryAfter returns the wait that the agent's provider asks for at time now: at most a week,
// 0 if it cannot be read.
func (a Answer) RetryAfter(now time.Time) time.Duration {
	if !a.Again.IsZero() {
		return min(max(a.Again.Sub(now), leastRetryAfter), maxRetryAfter)
	}
	return RetryAfter(a.Detail, now)
}

// scaled returns a number of units, at most maxRetryAfter.
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

// untilClock returns the time until the clock shows a time: hour, minute ("" for the full hour), "a" or "p", and a time
// zone ("" for ours). day is month, number and year, with "" for the next year that has the time ahead; a nil day is
// the next one with the time ahead.
func untilClock(day, clock []string, now time.Time) time.Duration {
	where, err := time.LoadLocation(cmp.Or(clock[3], "Local"))
	if err != nil {
		return 0
	}
	const layout = "Jan 2 2006"
	here := now.In(where)
	days := []string{here.Format(layout), here.AddDate(0, 0, 1).Format(layout)}
	if day != nil {
		date, next := day[0]+" "+day[1]+" ", here.AddDate(1, 0, 0)
		days = []string{date + cmp.Or(day[2], here.Format("2006")), date + cmp.Or(day[2], next.Format("2006"))}
	}
	var wait time.Duration
	for _, date := range days {
		at, err := time.ParseInLocation(layout+" 3:04PM", date+" "+clock[0]+":"+cmp.Or(clock[1], "00")+
			strings.ToUpper(clock[2])+"M", where)
		if err == nil && wait <= 0 {
			wait = at.Sub(now)
		}
	}
	return wait
}
