package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// decodeReference is the reference for Decode: token by token through encoding/json, then into
// a map for the outermost keys, then into v.
func decodeReference(data []byte, v any) error {
	if !utf8.Valid(data) {
		return errors.New("invalid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := uniqueKeys(dec, 0); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("bytes after the JSON value")
	}
	if err := plainKeys(data, v); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

func plainKeys(data []byte, v any) error {
	t := reflect.TypeOf(v).Elem()
	if t.Kind() != reflect.Struct {
		return nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return err
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		for key := range keys {
			if name != "" && name != "-" && key != name && strings.EqualFold(key, name) {
				return fmt.Errorf("key %q is not %q", key, name)
			}
		}
	}
	return nil
}

func uniqueKeys(dec *json.Decoder, depth int) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	open, isDelim := token.(json.Delim)
	if !isDelim {
		return nil
	}
	if depth > MaxDepth {
		return errors.New("nested too deeply")
	}
	seen := map[string]bool{}
	for dec.More() {
		if open == '{' {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			key := strings.ToLower(strings.ToUpper(fmt.Sprint(token)))
			if seen[key] {
				return fmt.Errorf("duplicate key %q", key)
			}
			seen[key] = true
		}
		if err := uniqueKeys(dec, depth+1); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// sample has a field of every kind in events and payloads.
type sample struct {
	V         int             `json:"v"`
	Clock     uint64          `json:"clock"`
	Writer    string          `json:"writer"`
	Timestamp time.Time       `json:"timestamp"`
	List      []string        `json:"list,omitempty"`
	Deep      *sample         `json:"deep"`
	Payload   json.RawMessage `json:"payload"`
	CamelCase bool            `json:"camelCase"`
	Untagged  float64
	Left      string `json:"-"`
}

// checkDecode compares one text with the reference, decoded into values of three types.
func checkDecode(t *testing.T, data []byte) {
	t.Helper()
	scanned, reference := Scan(string(data), nil), decodeReference(data, new(any))
	if (scanned == nil) != (reference == nil) {
		t.Fatalf("%q: scanned: %v, want %v", data, scanned, reference)
	}
	for _, into := range []func() any{
		func() any { return new(any) },
		func() any { return new(json.RawMessage) },
		func() any { return new(sample) },
		func() any { return new(time.Time) }, // a struct that reads itself
	} {
		got, want := into(), into()
		err, wantErr := Decode(bytes.Clone(data), got), decodeReference(data, want)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q into %T: %v, want %v", data, got, err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, want %#v", data, got, want)
		}
	}
}

var seeds = []string{
	`{"v":1,"clock":41,"writer":"3f9c0a12be47","timestamp":"2026-01-07T12:00:00.123Z","type":"review_submitted","source":"cli","review":"20260107120000-abcdef","payload":{"verdict":"fail","comments":[{"file":"a b/c.go","startLine":3,"text":"\"quoted\" \\ \u00e9 日本 \ud83d\ude00"}],"cost":1.25e-3,"none":null,"ok":true,"off":false}}`,
	`{"a":1,"A":2}`, `{"a":{"b":1},"b":2}`, `{"a":{"b":1},"b":2,"B":3}`, "\"\x1f\"", "\"a\tb\"", `["\u123"]`, `{"a":1}x`,
	`{"a":1} {}`, "\"\xff\"", `[{"k":1,"\u212a":2}]`, `null`, ` null `, ``, " \t\r\n", `{"s":1,"ſ":2}`, `{"ı":1,"i":2}`,
	`{"İ":1,"i":2}`,
	`{"Clock":1}`, `{"c\u006cock":1,"clock":2}`, `{"camelcase":true}`, `{"untagged":1}`, `{"left":1,"-":2}`,
	`{"deep":{"Clock":1}}`, `{"clock":-0}`, `{"v":-0}`, `{"v":1.0}`, `{"v":1e2}`,
	`1e999`, `-1e-999`, `[1e309]`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `- 1`, strings.Repeat("9", 400),
	strings.Repeat("9", 308), "0." + strings.Repeat("1", 400),
	`"\ud800"`, `"\udc00\ud800"`, `{"\ud800":1,"\udfff":2}`, `"\u12"`, `"\u12G4"`, `"\x"`, "\"a\nb\"", "\"\x00\"", "\x00",
	"{\x00}", `"\`, `"`, "\u2028", `"` + "\u2028" + `"`, "\ufeff{}", "\v1", "\u00a01",
	`{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{a:1}`, `{1:1}`, `{"a" 1}`, `{"a":1 "b":2}`, `[`, `[1`,
	`[1,`, `[1,]`, `[,1]`, `[1 2]`, `]`, `tru`, `truex`, `nul`, `True`, `[true false]`,
	strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1),
	strings.Repeat("[", MaxDepth+2) + strings.Repeat("]", MaxDepth+2),
	strings.Repeat(`{"a":`, MaxDepth+1) + "1" + strings.Repeat("}", MaxDepth+1),
	manyKeyed(40, ""), manyKeyed(40, `,"K3":1`), manyKeyed(40, `,"k39":1`), manyKeyed(16, `,"K15":1`),
	manyKeyed(15, `,"K1":1`),
	`{"` + strings.Repeat("long", 70) + `":1,"` + strings.Repeat("LONG", 70) + `":2}`,
	`{"a":` + manyKeyed(30, "") + `,"b":{"a":1,"b":2},"B":1}`,
	`{"k":{"k":{"k":1}},"l":{"k":2}}`, `"2026-01-07T12:00:00Z"`, `{"timestamp":"2026-01-07 12:00"}`,
	`{"timestamp":"2026\u002d01-07T12:00:00Z"}`, `{"timestamp":null,"payload":null,"list":null,"v":null,"writer":null}`,
}

// manyKeyed returns an object of n keys, followed by more.
func manyKeyed(n int, more string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	return "{" + b.String()[1:] + more + "}"
}

// FuzzDecode: Decode accepts what the reference accepts, with the same result.
func FuzzDecode(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkDecode(t, data) })
}

// TestDecodeMutated is FuzzDecode with random changes, for ordinary test runs.
func TestDecodeMutated(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for range 10_000 {
		checkDecode(t, mutate(rng, []byte(seeds[rng.IntN(len(seeds))])))
	}
}

// mutate changes up to three places of a text.
func mutate(rng *rand.Rand, data []byte) []byte {
	const bytesOfJSON = "{}[]\",:\\ u0eE+-.9aAkK\x00\x1f\n\x80"
	for range rng.IntN(3) + 1 {
		at := rng.IntN(len(data) + 1)
		head, rest := data[:at:at], data[at:]
		switch rng.IntN(4) {
		case 0: // cut
			rest = rest[min(len(rest), rng.IntN(4)):]
		case 1: // insert
			head = append(head, bytesOfJSON[rng.IntN(len(bytesOfJSON))])
		case 2: // replace
			head, rest = append(head, bytesOfJSON[rng.IntN(len(bytesOfJSON))]), rest[min(len(rest), 1):]
		case 3: // say a part again
			head = append(head, rest[:rng.IntN(len(rest)+1)]...)
		}
		data = slices.Concat(head, rest)
	}
	return data
}

func BenchmarkDecode(b *testing.B) {
	data := []byte(seeds[0])
	for name, decode := range map[string]func([]byte, any) error{"now": Decode, "reference": decodeReference} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var v sample
				if err := decode(data, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
