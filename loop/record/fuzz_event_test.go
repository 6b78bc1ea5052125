package record

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/strictjson"
)

// FuzzDecodeEvent: an accepted message of a foreign log has values in range, folds without a panic, and can be
// written and decoded again.
func FuzzDecodeEvent(f *testing.F) {
	good := entryOf(f, eventAt(7, EventRunStopped.Name, `{"reason":"no_change"}`), "stopped").Message
	f.Add(good)
	f.Add(strings.Replace(good, `"v":1`, `"v":2`, 1))
	f.Add(strings.Replace(good, `"v":1`, `"v":1,"V":1`, 1))
	f.Add("t\n\n{}\n")
	f.Add("\n\n[[[[")
	f.Fuzz(func(t *testing.T, message string) {
		entry := gitstore.Entry{ID: "0123456789", Writer: oneWriter, Message: message}
		e, err := DecodeEvent(entry)
		if err != nil {
			return
		}
		if e.V != FormatVersion || e.Clock == 0 || e.Clock > MaxClock || e.Writer != oneWriter || e.Type == "" ||
			e.Timestamp.IsZero() {
			t.Fatalf("accepted out of range: %+v", e)
		}
		if e.Run != "" && !ValidID(e.Run) || e.Review != "" && !ValidID(e.Review) {
			t.Fatalf("accepted a malformed id: %+v", e)
		}
		FoldReview([]Event{e})
		FoldRun([]Event{e})
		again, err := e.CommitText("")
		if err != nil {
			t.Fatalf("cannot be written again: %v", err)
		}
		if _, err := DecodeEvent(gitstore.Entry{ID: entry.ID, Writer: oneWriter, Message: again}); err != nil &&
			e.Payload != nil {
			t.Fatalf("cannot be read again: %v in %q", err, again)
		}
	})
}

// FuzzDecodeStrict: accepted text is valid JSON in valid UTF-8, and no object has two keys that differ only by case.
// Such an object could have two meanings for two decoders.
func FuzzDecodeStrict(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"a":1,"A":2}`, `{"a":1}x`, "\"\xff\"", `[{"k":1,"\u212a":2}]`, `null`, ``,
		`{"s":1,"ſ":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if strictjson.Decode(data, &v) != nil {
			return
		}
		if !utf8.Valid(data) || !json.Valid(data) {
			t.Fatalf("accepted %q", data)
		}
		checkKeys(t, v)
	})
}

// checkKeys fails if two keys of one object differ only by case.
func checkKeys(t *testing.T, v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			checkKeys(t, item)
		}
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		for i, key := range keys {
			if slices.ContainsFunc(keys[i+1:], func(other string) bool { return strings.EqualFold(key, other) }) {
				t.Fatalf("key %q stands twice in %v", key, v)
			}
			checkKeys(t, v[key])
		}
	}
}
