package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
)

// LogReplaced ends a log that its owner wrote again without texts that were redacted: it follows the events that
// replace the earlier ones, one by one and in their order.
type LogReplaced struct {
	Events int    `json:"events"` // that stand before it
	Actor  string `json:"actor"`
}

// EventLogReplaced is of no run and no review.
var EventLogReplaced = newEventType[LogReplaced]("log_replaced", false, nil)

// ReplacedBy returns the payload of an entry of this type.
func ReplacedBy(entry gitstore.Entry) (p LogReplaced, ok bool) {
	event, err := DecodeEvent(entry)
	if err != nil || event.Type != EventLogReplaced.Name {
		return p, false
	}
	p, err = EventLogReplaced.Payload(event)
	return p, err == nil
}

// claimKey is the JSON key of the id of a claim, or of its first digits.
const claimKey = "claim"

// Withdrawn returns the message of the entry that replaces one of a log: its event without what ws withdraw, and with
// the claims that ids maps. It returns the entry's message if nothing changes.
func Withdrawn(entry gitstore.Entry, ws []*Withdrawal, ids map[gitstore.ID]gitstore.ID) (string, error) {
	event, err := DecodeEvent(entry)
	if err != nil { // nobody sees it
		return entry.Message, nil
	}
	title := event.Title
	was, err := DecodeTexts(event.Payload)
	if err != nil {
		return entry.Message, nil
	}
	for _, w := range ws {
		event = w.Event(event)
	}
	value, err := DecodeTexts(event.Payload)
	if err != nil {
		return "", fmt.Errorf("read event %s: %w", entry.ID.Short(), err)
	}
	value = EachText(value, "", func(text, key string) string {
		if key == claimKey {
			return claimIn(text, ids)
		}
		return text
	})
	if event.Title == title && reflect.DeepEqual(value, was) {
		return entry.Message, nil
	}
	if event.Payload, err = json.Marshal(value); err != nil {
		return "", fmt.Errorf("write event %s: %w", entry.ID.Short(), err)
	}
	_, status, _ := strings.Cut(entry.Message, "\nRunr-Status: ")
	status, _, _ = strings.Cut(status, "\n")
	event.Title = strings.TrimSpace(event.Title)
	return event.CommitText(status)
}

// claimIn returns the id that a claim has in the log that replaces its own, or claim if that did not change.
func claimIn(claim string, ids map[gitstore.ID]gitstore.ID) string {
	if now, whole := ids[gitstore.ID(claim)]; whole {
		return string(now)
	}
	if claim == "" || len(claim) >= 40 { // a whole id, of another log
		return claim
	}
	begins := func(was gitstore.ID) bool { return strings.HasPrefix(string(was), claim) }
	if was, ok := each.First(each.Keys(ids), begins); ok {
		return string(ids[was])
	}
	return claim
}

// OnlyWithdraws returns an error unless entry says what was said, but for texts that are redacted and the ids of
// claims, which ids maps. It does not look at what is attached.
func OnlyWithdraws(was, entry gitstore.Entry, ids map[gitstore.ID]gitstore.ID) error {
	if was.Author != entry.Author || !was.When.Equal(entry.When) {
		return fmt.Errorf("event %s would have another author or time", was.ID.Short())
	}
	if was.Message == entry.Message {
		return nil
	}
	before, err := DecodeEvent(was)
	after, errAfter := DecodeEvent(entry)
	if err = errors.Join(err, errAfter); err != nil {
		return err
	}
	same := before.V == after.V && before.Clock == after.Clock && before.Writer == after.Writer &&
		before.Timestamp.Equal(after.Timestamp) && before.Type == after.Type && before.Source == after.Source &&
		before.Run == after.Run && before.Review == after.Review && isRedactionOf(before.Title, after.Title)
	said, err := DecodeTexts(before.Payload)
	says, errAfter := DecodeTexts(after.Payload)
	if err = errors.Join(err, errAfter); err != nil {
		return err
	}
	if !same || !onlyWithdraws(said, says, "", ids) {
		return fmt.Errorf("event %s would say something else", was.ID.Short())
	}
	return nil
}

// onlyWithdraws compares two decoded JSON values below key.
func onlyWithdraws(was, is any, key string, ids map[gitstore.ID]gitstore.ID) bool {
	switch was := was.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		if !ok || len(is) != len(was) {
			return false
		}
		for key, inner := range was {
			now, has := is[key]
			if !has || !onlyWithdraws(inner, now, key, ids) {
				return false
			}
		}
		return true
	case []any:
		is, ok := is.([]any)
		return ok && slices.EqualFunc(was, is, func(a, b any) bool { return onlyWithdraws(a, b, key, ids) })
	case string:
		is, ok := is.(string)
		free := slices.Contains(spokenKeys, key) || key == commandKey || strings.ContainsFunc(was, unicode.IsSpace)
		return ok && (is == was || free && isRedactionOf(was, is) || key == claimKey && is == claimIn(was, ids))
	}
	return was == is
}

// isRedactionOf reports whether a text is another one with parts of it redacted.
func isRedactionOf(was, is string) bool {
	kept := strings.Split(is, Redacted)
	if len(kept) == 1 {
		return is == was
	}
	rest, ok := strings.CutPrefix(was, kept[0])
	for _, part := range kept[1 : len(kept)-1] {
		at := strings.Index(rest, part)
		if !ok || at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return ok && strings.HasSuffix(rest, kept[len(kept)-1])
}
