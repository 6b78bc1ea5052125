package record

import (
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
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
func eventAt(clock int, eventType string, what any) Event {
	body, isText := what.(string)
	if !isText {
		data, err := json.Marshal(what)
		if err != nil {
			panic(err)
		}
		body = string(data)
	}
	e := Event{
		V: FormatVersion, Clock: uint64(clock), Writer: oneWriter,
		Timestamp: testEpoch.Add(time.Duration(clock) * time.Minute),
		Type:      eventType, Source: "cli", Payload: json.RawMessage(body),
		Actor: "Ann <ann@example.org>", Title: eventType + ": a title",
	}
	e.ID = gitstore.ID(fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, clock, eventType, body))))
	return e
}

// entryOf returns the log entry of e.
func entryOf(t testing.TB, e Event, status string) gitstore.Entry {
	t.Helper()
	message, err := e.CommitText(status)
	if err != nil {
		t.Fatal(err)
	}
	return gitstore.Entry{ID: e.ID, Writer: e.Writer, Author: gitstore.Identity{Name: "Ann", Email: "ann@example.org"},
		Message: message}
}

func TestEventMessage(t *testing.T) {
	e := eventAt(41, EventRunStopped.Name, `{"reason":"no_change"}`)
	e.Run, e.Review, e.Title = testRun, testReview, "stop: no\n  change"
	message, err := e.CommitText("stopped")
	if err != nil {
		t.Fatal(err)
	}
	want := "stop: no change\n\n" +
		`{"v":1,"clock":41,"writer":"aaaaaaaaaaaa","timestamp":"2026-01-07T12:41:00Z","type":"stop","source":"cli",` +
		`"run":"20260107130000-ghjkmn","review":"20260107120000-abcdef","payload":{"reason":"no_change"}}` + "\n\n" +
		"Runr-Type: stop\nRunr-Run: 20260107130000-ghjkmn\nRunr-Review: 20260107120000-abcdef\nRunr-Status: stopped\n"
	if message != want {
		t.Errorf("message:\n%s\nwant:\n%s", message, want)
	}
	bare, err := eventAt(1, "other", "{}").CommitText("")
	if err != nil || strings.Contains(bare, "Runr-Run") || strings.Contains(bare, "Runr-Review") ||
		strings.Contains(bare, "Runr-Status") {
		t.Errorf("trailers of what is not there: %q, %v", bare, err)
	}
}

func TestEventMessageRefusesWhatIsNoJSON(t *testing.T) {
	if _, err := eventAt(1, "other", "{broken").CommitText(""); err == nil ||
		!strings.Contains(err.Error(), "encode other") {
		t.Errorf("error %v", err)
	}
}

func TestOneLineBoundsTitles(t *testing.T) {
	if got := prose.OneLine(" a\n\n b\tc \x1b[31m"); got != `a b c \x1b[31m` {
		t.Errorf("folded to %q", got)
	}
	long := prose.OneLine(strings.Repeat("é", 300))
	if !strings.HasSuffix(long, "é…") || len(long) > 210 {
		t.Errorf("cut to %d bytes: …%q", len(long), long[len(long)-8:])
	}
}

// randomEvent returns a random event that a writer can write.
func randomEvent(rng *rand.Rand) Event {
	texts := []string{"", "plain", "tabs\tand\nlines", "\u202e reordered", `"quotes" <&> \ back`, "日本",
		strings.Repeat("long ", 80)}
	text := func() string { return texts[rng.IntN(len(texts))] }
	types := []string{EventReviewRequested.Name, EventRunStopped.Name, "of_a_newer_program", "日本"}
	e := eventAt(rng.IntN(1<<20)+1, types[rng.IntN(len(types))],
		map[string]any{"a": text(), "b": []any{text(), rng.Float64(), nil}})
	e.Timestamp = testEpoch.Add(time.Duration(rng.Int64N(1e12)) * time.Millisecond)
	e.Source = text()
	e.Title = e.Type + ": " + text()
	if rng.IntN(2) == 0 {
		e.Run = testRun
	}
	if rng.IntN(2) == 0 {
		e.Review = testReview
	}
	return e
}

func TestEventRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		e := randomEvent(rng)
		got, err := DecodeEvent(entryOf(t, e, "open"))
		if err != nil {
			t.Fatalf("seed %d: %v of %+v", seed, err, e)
		}
		want := e
		want.Title, got.Plain = prose.OneLine(e.Title), false
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got %+v, want %+v", seed, got, want)
		}
	}
}

func TestEventOrder(t *testing.T) {
	base := Event{Clock: 5, Writer: "b", ID: "5", Timestamp: testEpoch}
	later := func(change func(*Event)) Event {
		e := base
		e.Timestamp = testEpoch.Add(-time.Hour) // wall clocks do not count
		change(&e)
		return e
	}
	for name, o := range map[string]Event{
		"clock":  later(func(e *Event) { e.Clock, e.Writer, e.ID = 6, "a", "1" }),
		"writer": later(func(e *Event) { e.Writer, e.ID = "c", "1" }),
		"commit": later(func(e *Event) { e.ID = "6" }),
	} {
		if base.Compare(o) >= 0 || o.Compare(base) <= 0 {
			t.Errorf("%s does not decide the order", name)
		}
	}
	if base.Compare(base) != 0 {
		t.Error("an event is not where it is")
	}
}

// TestDecodeEventRefuses: each malformed record of a foreign log has its own error.
func TestDecodeEventRefuses(t *testing.T) {
	good := `{"v":1,"clock":1,"writer":"aaaaaaaaaaaa","timestamp":"2026-01-07T12:00:00Z","type":"x","source":"s","payload":{"a":1}}`
	with := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("nothing to replace: %s", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	entry := func(body string) gitstore.Entry {
		return gitstore.Entry{ID: "0123456789", Writer: oneWriter, Message: "title\n\n" + body + "\n\nRunr-Type: x\n"}
	}
	if _, err := DecodeEvent(entry(good)); err != nil {
		t.Fatalf("the good one: %v", err)
	}
	for name, test := range map[string]struct{ body, says string }{
		"duplicate key":        {with(`"v":1`, `"v":1,"v":1`), "duplicate key"},
		"case-variant key":     {with(`"v":1`, `"v":1,"V":1`), "duplicate key"},
		"folded key":           {with(`"source":"s"`, `"source":"s","ſource":"t"`), "duplicate key"},
		"Kelvin sign":          {with(`"clock":1`, `"clock":1,"cloc\u212a":2`), "duplicate key"},
		"escaped key":          {with(`"v":1`, `"v":1,"\u0076":2`), "duplicate key"},
		"in the payload":       {with(`{"a":1}`, `{"a":{"b":1,"B":2}}`), "duplicate key"},
		"in a list":            {with(`{"a":1}`, `[{"b":1},{"b":1,"b":2}]`), "duplicate key"},
		"trailing bytes":       {good + "{}", "bytes after"},
		"trailing comma":       {good + ",", "after"},
		"invalid UTF-8":        {with(`"s"`, "\"\xff\""), "UTF-8"},
		"not an object":        {`[1]`, "cannot unmarshal"},
		"empty":                {``, "is not an event"},
		"cut off":              {good[:len(good)-1], "EOF"},
		"deep":                 {with(`{"a":1}`, strings.Repeat("[", 200)+strings.Repeat("]", 200)), "nested"},
		"newer":                {with(`"v":1`, `"v":2`), "format 2, this program reads up to 1"},
		"version nought":       {with(`"v":1`, `"v":0`), "format 0"},
		"no clock":             {with(`"clock":1`, `"clock":0`), "clock 0"},
		"clock out of range":   {with(`"clock":1`, `"clock":9007199254740992`), "out of range"},
		"negative clock":       {with(`"clock":1`, `"clock":-1`), "cannot unmarshal"},
		"another's log":        {with("aaaaaaaaaaaa", "bbbbbbbbbbbb"), `written by "bbbbbbbbbbbb"`},
		"no type":              {with(`"type":"x"`, `"type":""`), "missing"},
		"no timestamp":         {with(`"timestamp":"2026-01-07T12:00:00Z",`, ``), "missing"},
		"a path for a run":     {with(`"source"`, `"run":"../../x","source"`), "malformed"},
		"a path for a review":  {with(`"source"`, `"review":"a/b","source"`), "malformed"},
		"wrong kind of number": {with(`"v":1`, `"v":"1"`), "cannot unmarshal"},
	} {
		if _, err := DecodeEvent(entry(test.body)); err == nil || !strings.Contains(err.Error(), test.says) ||
			!strings.Contains(err.Error(), "read event 0123456") {
			t.Errorf("%s: error %v, want one that says %q", name, err, test.says)
		}
	}
	if _, err := DecodeEvent(entry(with(`"v":1`, `"v":2`))); !errors.Is(err, gitstore.ErrNewerFormat) {
		t.Errorf("a newer format is not told apart: %v", err)
	}
}

func TestDecodeEventKeepsWhatItDoesNotKnow(t *testing.T) {
	entry := gitstore.Entry{ID: "0123456789", Message: "t\n\n" +
		`{"v":1,"clock":1,"writer":"w","timestamp":"2026-01-07T12:00:00Z","type":"of_a_newer_program","later":[1],"payload":{"new":true}}` + "\n"}
	e, err := DecodeEvent(entry)
	if err != nil || e.Type != "of_a_newer_program" || string(e.Payload) != `{"new":true}` || e.Title != "t" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	for clock := range uint64(200) {
		id, err := NewID(testEpoch, oneWriter, clock, "same")
		if err != nil || !ValidID(id) || !strings.HasPrefix(id, "20260107120000-") || seen[id] {
			t.Fatalf("id %q of clock %d, %v", id, clock, err)
		}
		seen[id] = true
	}
	other, err := NewID(testEpoch, twoWriter, 0, "same")
	if err != nil || seen[other] {
		t.Errorf("two clones in one second made %q, %v", other, err)
	}
	for _, bad := range []string{"", "-", "20260107120000", "20260107120000-abcde", "20260107120000-abcdefg",
		"20260107120000-abcdel", "20260107120000-ABCDEF", "2026010712000x-abcdef", "20260107120000-ab/def"} {
		if ValidID(bad) {
			t.Errorf("%q passes for an id", bad)
		}
	}
}

// An event type without a fold function panics when the program starts.
func TestEventTypeWithoutFoldPanics(t *testing.T) {
	note := func(Event, Stop) (gitstore.ID, string) { return "", "" }
	defer func() {
		if said := fmt.Sprint(recover()); !strings.Contains(said, "no fold for odd") {
			t.Errorf("panic: %s", said)
		}
		if eventNotes["odd"] != nil || runMoves["odd"].fold != nil {
			t.Error("it is in the tables")
		}
	}()
	runEventType("odd", "odd", nil, nil, note)
}

// Titles in which an older program wrote that rules passed are shown as checked.
func TestOldTitlesOfRules(t *testing.T) {
	for title, want := range map[string]string{
		"review_submitted: PASS by builtin, 0 findings": "review_submitted: CHECKED by builtin, 0 findings",
		"review_completed: round 2 PASS_WITH_NOTES by builtin, 1 " +
			"finding": "review_completed: round 2 CHECKED by builtin, 1 finding",
		"review_submitted: NEEDS_FIX by builtin, 1 finding": "review_submitted: NEEDS_FIX by builtin, 1 finding",
	} {
		for source, want := range map[string]string{Builtin: want, "claude": title} {
			e := Event{V: 1, Clock: 1, Writer: "0123456789ab", Timestamp: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Type: "t",
				Source: source, Payload: []byte("{}"), Title: title}
			message, err := e.CommitText("")
			if err != nil {
				t.Fatal(err)
			}
			if read, err := DecodeEvent(gitstore.Entry{Writer: e.Writer, Message: message}); err != nil || read.Title != want {
				t.Errorf("%q of %s reads %q, %v", title, source, read.Title, err)
			}
		}
	}
}
