package store

import (
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

const (
	testReview = "20260107120000-abcdef"
	testRun    = "20260107130000-ghjkmn"
	oneWriter  = "aaaaaaaaaaaa"
	twoWriter  = "bbbbbbbbbbbb"
)

var testEpoch = time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC)

// eventAt returns an event with that clock, as if it was read from a log. A string is the payload's JSON; any other
// value is encoded.
func eventAt(clock int, eventType string, what any) record.Event {
	body, isText := what.(string)
	if !isText {
		data, err := json.Marshal(what)
		if err != nil {
			panic(err)
		}
		body = string(data)
	}
	e := record.Event{
		V: record.FormatVersion, Clock: uint64(clock), Writer: oneWriter,
		Timestamp: testEpoch.Add(time.Duration(clock) * time.Minute),
		Type:      eventType, Source: "cli", Payload: json.RawMessage(body),
		Actor: "Ann <ann@example.org>", Title: eventType + ": a title",
	}
	e.ID = gitstore.ID(fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, clock, eventType, body))))
	return e
}
