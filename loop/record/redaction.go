package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Redaction takes back what was said in a review: every fold shows Redacted in its place. Severities, places, verdicts and
// the state stay. The events that said it stay in the logs.
type Redaction struct {
	Texts  []string  `json:"texts"`          // hashes of what was said: see textHash. The texts are not said again here
	What   string    `json:"what,omitempty"` // the finding, "text" for what has a text in it, "" for the whole review
	Actor  string    `json:"actor"`
	Writer string    `json:"writer,omitempty"` // filled in by the fold
	At     time.Time `json:"at,omitzero"`      // filled in by the fold
}

// Redacted stands where something was taken back.
const Redacted = "[redacted]"

// minQuote is from how many bytes on what has a redacted text in it counts as quoting it.
const minQuote = 12

// EventReviewRedacted is allowed in every status.
var EventReviewRedacted = reviewEventType("review_redacted", "redacted", always, (*Review).redact, nil)

func (p Redaction) by() (who ActorPayload, held bool) { return ActorPayload{Actor: p.Actor}, false }

func (r *Review) redact(e Event, p Redaction) {
	p.Writer, p.At = e.Writer, e.Timestamp
	r.Redactions = append(r.Redactions, p)
}

// spokenKeys are the keys of JSON under which reviews and their events have what somebody said.
var spokenKeys = []string{
	"message", "summary", "text", "issue", "fix", "comment", "selected_text", "reason", "note", "detail", "requests",
	"parse_warnings", "kind_prompt",
}

// eachSpoken replaces what is said in a decoded JSON value. What the commit under review says is no part of it.
func eachSpoken(value any, said bool, replace func(string) string) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if key != "subject" {
				v[key] = eachSpoken(inner, slices.Contains(spokenKeys, key), replace)
			}
		}
	case []any:
		for i, inner := range v {
			v[i] = eachSpoken(inner, said, replace)
		}
	case string:
		if said && v != "" {
			return replace(v)
		}
	}
	return value
}

func decodeSpoken(data []byte) (value any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err = dec.Decode(&value)
	return value, err
}

// textHash names a text of a review without saying it.
func textHash(review, text string) string {
	sum := sha256.Sum256([]byte(review + "\x00" + text))
	return hex.EncodeToString(sum[:12])
}

// redactJSON replaces in the JSON of a review or of an event's payload what was taken back.
func (r Review) redactJSON(data []byte) ([]byte, error) {
	value, err := decodeSpoken(data)
	if err != nil {
		return nil, err
	}
	hidden := map[string]bool{}
	for _, p := range r.Redactions {
		for _, hash := range p.Texts {
			hidden[hash] = true
		}
	}
	return json.Marshal(eachSpoken(value, false, func(text string) string {
		if hidden[textHash(r.ID, text)] {
			return Redacted
		}
		return text
	}))
}

// redacted is the review without what was taken back.
func (r Review) redacted() (Review, error) {
	data, err := r.Keep()
	if err == nil {
		data, err = r.redactJSON(data)
	}
	if err != nil {
		return r, err
	}
	return RestoreReview(data)
}

// Redact returns an event of the review without what was taken back.
func (r Review) Redact(e Event) Event {
	if data, err := r.redactJSON(e.Payload); len(r.Redactions) > 0 && err == nil && len(e.Payload) > 0 {
		e.Payload = data
	}
	return e
}

// RedactionOf names what is said in the whole review, in the thread of a finding or comment, or in whatever has a text in
// it. It is an *InputError where nothing is.
func (r Review) RedactionOf(target string) (Redaction, error) {
	data, err := r.Keep()
	if err != nil {
		return Redaction{}, err
	}
	p, wanted := Redaction{What: target}, func(string) bool { return true }
	if f, found := r.Finding(target); target != "" && found {
		thread := r.thread(r.sameIDs(f.ID))
		wanted = func(text string) bool {
			return slices.ContainsFunc(thread, func(t string) bool { return t == text || len(t) >= minQuote && strings.Contains(text, t) })
		}
	} else if target != "" {
		p.What, wanted = "text", func(text string) bool { return strings.Contains(text, target) }
	}
	value, err := decodeSpoken(data)
	eachSpoken(value, false, func(text string) string {
		if hash := textHash(r.ID, text); text != Redacted && wanted(text) && !slices.Contains(p.Texts, hash) {
			p.Texts = append(p.Texts, hash)
		}
		return text
	})
	slices.Sort(p.Texts)
	if err == nil && len(p.Texts) == 0 {
		err = &InputError{fmt.Sprintf("review %s says nothing like that, and has no such finding", r.ID)}
	}
	return p, err
}

// thread returns what is said of a finding or comment.
func (r Review) thread(ids []string) (texts []string) {
	data, _ := r.Keep()
	value, _ := decodeSpoken(data)
	var visit func(value any)
	visit = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			for _, key := range []string{"id", "finding"} {
				if id, ok := v[key].(string); ok && id != "" && slices.Contains(ids, id) {
					eachSpoken(v, false, func(text string) string { texts = append(texts, text); return text })
				}
			}
			for _, inner := range v {
				visit(inner)
			}
		case []any:
			for _, inner := range v {
				visit(inner)
			}
		}
	}
	visit(value)
	return texts
}
