package record

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/strictjson"
)

// wholeEvent is an event of typical size.
var wholeEvent = `{"v":1,"clock":28500,"writer":"aaaaaaaaaaaa","timestamp":"2026-01-07T12:00:00.25Z","type":"review_submitted","source":"worker","run":"20260107120000-abcdef","review":"20260107115900-bcdefg","payload":` +
	`{"verdict":"fail","summary":"Two things are left to do: the error of Close is dropped, and \"limit\" is read before it is checked.","comments":[{"file":"gitstore/odb/pack.go","startLine":118,"endLine":121,"text":"Close gives an error that nobody looks at."},{"file":"cmd/main.go","startLine":7,"text":"A limit below nought is taken for none."}],"usage":{"input":18231,"output":911,"cost":0.0423},"round":2}}`

// decodeWhole is the reference for Event.decode.
func decodeWhole(e *Event, body string) error { return strictjson.Decode([]byte(body), e) }

// Event.decode accepts and returns the same as encoding/json, for each field.
func TestEventFieldsAsEncodingJSON(t *testing.T) {
	values := []string{`null`, `true`, `0`, `-0`, `-1`, `1.0`, `1e2`, `9007199254740991`, `18446744073709551615`,
		`18446744073709551616`, `9223372036854775808`, `""`, `"x"`, `"\u0078\n\ud800"`, `"日本"`, `[]`, `{}`, `{"V":1}`,
		`{"a":1,"A":2}`,
		`"2026-01-07T12:00:00Z"`, `"2026-01-07T12:00:00.5+01:00"`, `"2026-01-07"`, `"2026\u002d01-07T12:00:00Z"`,
		`1767323045`}
	for _, name := range append([]string{"V", "Clock", "cloc\u212a", "cloc\\u006b", "ſource", "PAYLOAD", "other", "ID",
		"Actor", "late"}, envelope...) {
		for _, value := range values {
			for _, text := range []string{`{"` + name + `":` + value + `}`, ` {"x":[1], "` + name + `" : ` + value + "\t}\r"} {
				checkEvent(t, text)
			}
		}
	}
	for _, value := range values {
		checkEvent(t, value)
	}
}

func checkEvent(t *testing.T, body string) {
	t.Helper()
	var got, want Event
	err, wantErr := got.decode(body), decodeWhole(&want, body)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: %v, want %v", body, err, wantErr)
	}
	if err != nil {
		return
	}
	checkPlain[Submission](t, got)
	checkPlain[ReviewRequest](t, got)
	checkPlain[map[string]any](t, got)
	got.Plain = false
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: %+v, want %+v", body, got, want)
	}
}

// checkPlain checks that a payload reads the same whether or not it was decoded together with its event.
func checkPlain[T any](t *testing.T, e Event) {
	t.Helper()
	got, err := payloadOf[T](e)
	e.Plain = false
	want, wantErr := payloadOf[T](e)
	if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: %+v, %v, want %+v, %v", e.Payload, got, err, want, wantErr)
	}
}

// TestEventMutated compares the two decoders on random changes of random events.
func TestEventMutated(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for range 5_000 {
		e := randomEvent(rng)
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		body := []byte(text)
		for range rng.IntN(3) + 1 {
			body[rng.IntN(len(body))] = "{}[]\",:\\ u0eE-.9aAkKvV"[rng.IntN(22)]
		}
		checkEvent(t, string(body))
		payload := []byte(realPayload)
		for range rng.IntN(3) {
			payload[rng.IntN(len(payload))] = "{}[]\",:\\ u0eE-.9aAkKvVC"[rng.IntN(23)]
		}
		checkEvent(t,
			strings.Replace(
				`{"v":1,"clock":1,"writer":"aaaaaaaaaaaa","timestamp":"2026-01-07T12:00:00Z","type":"x","source":"y","payload":P}`,
				"P", string(payload), 1))
	}
}

// realPayload has the keys of a request and of a submission.
const realPayload = `{"subject":{"kind":"commit","spec":"HEAD","base":"b"},"reviewer":"rex","commit":"c","tree":"t","Comments":[],"report":{"verdict":"PASS"}}`

// Decoding an event makes at most 12 allocations.
func TestDecodeEventAllocates(t *testing.T) {
	entry := gitstore.Entry{ID: "0123456789", Writer: oneWriter,
		Message: "review_submitted: two comments\n\n" + wholeEvent + "\n\nRunr-Type: review_submitted\n"}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := DecodeEvent(entry); err != nil {
			t.Fatal(err)
		}
	}); n > 12 {
		t.Errorf("%v allocations for one event", n)
	}
}

func FuzzEventFields(f *testing.F) {
	f.Add(wholeEvent)
	f.Add(strings.Replace(wholeEvent, `"clock":28500`, `"Clock":1.0`, 1))
	f.Fuzz(func(t *testing.T, body string) { checkEvent(t, body) })
}

func BenchmarkDecodeEvent(b *testing.B) {
	entry := gitstore.Entry{ID: "0123456789", Writer: oneWriter,
		Message: "review_submitted: two comments\n\n" + wholeEvent + "\n\nRunr-Type: review_submitted\n"}
	b.Run("event", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := DecodeEvent(entry); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("payload", func(b *testing.B) {
		e, _ := DecodeEvent(entry)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := payloadOf[Submission](e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var e Event
			if err := decodeWhole(&e, wholeEvent); err != nil {
				b.Fatal(err)
			}
		}
	})
}
