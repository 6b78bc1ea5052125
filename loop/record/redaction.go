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

// Redaction withdraws texts of a review: every fold shows Redacted in their place. Severities, places, verdicts and
// the status remain. The events with the texts remain in the logs.
type Redaction struct {
	Texts []string `json:"texts"` // hashes of the texts, which are not repeated here: see textHash
	// a finding's id, "text" for all that contains a text, "" for the whole review
	What   string    `json:"what,omitempty"`
	Actor  string    `json:"actor"`
	Writer string    `json:"writer,omitempty"` // filled in by the fold
	At     time.Time `json:"at,omitzero"`      // filled in by the fold
}

// Redacted replaces a redacted text.
const Redacted = "[redacted]"

// minQuote is the length in bytes from which a text that contains a redacted text counts as quoting it.
const minQuote = 12

// EventReviewRedacted is allowed in every status.
var EventReviewRedacted = reviewEventType("review_redacted", "redacted", always, (*Review).redact, nil)

func (p Redaction) by() (who ActorPayload, held bool) { return ActorPayload{Actor: p.Actor}, false }

func (r *Review) redact(e Event, p Redaction) {
	p.Writer, p.At = e.Writer, e.Timestamp
	r.Redactions = append(r.Redactions, p)
}

// spokenKeys are the JSON keys under which reviews and their events store what somebody wrote, or what a check printed.
var spokenKeys = []string{
	"message", "summary", "text", "issue", "fix", "comment", "selected_text", "reason", "note", "detail", "requests",
	"parse_warnings", "kind_prompt", "output", "excerpt", "said",
}

// eachText replaces texts in a decoded JSON value; spoken reports whether a text is below one of spokenKeys. The
// subject, which comes from the reviewed commit, is left as it is.
func eachText(value any, spoken bool, replace func(text string, spoken bool) string) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if key != "subject" {
				v[key] = eachText(inner, slices.Contains(spokenKeys, key), replace)
			}
		}
	case []any:
		for i, inner := range v {
			v[i] = eachText(inner, spoken, replace)
		}
	case string:
		return replace(v, spoken)
	}
	return value
}

// eachSpoken replaces what somebody wrote in a decoded JSON value.
func eachSpoken(value any, said bool, replace func(string) string) any {
	return eachText(value, said, func(text string, spoken bool) string {
		if spoken && text != "" {
			return replace(text)
		}
		return text
	})
}

func decodeSpoken(data []byte) (value any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err = dec.Decode(&value)
	return value, err
}

// textHash identifies a text of a review without revealing it.
func textHash(review, text string) string {
	sum := sha256.Sum256([]byte(review + "\x00" + text))
	return hex.EncodeToString(sum[:12])
}

// hidden returns the hashes of the redacted texts.
func (r Review) hidden() map[string]bool {
	hidden := map[string]bool{}
	for _, p := range r.Redactions {
		for _, hash := range p.Texts {
			hidden[hash] = true
		}
	}
	return hidden
}

// redacted returns the review without the redacted texts.
func (r Review) redacted() (Review, error) {
	hidden := r.hidden()
	data, err := r.Keep()
	if err != nil {
		return r, err
	}
	value, err := decodeSpoken(data)
	if err != nil {
		return r, err
	}
	data, err = json.Marshal(eachSpoken(value, false, func(text string) string {
		if hidden[textHash(r.ID, text)] {
			return Redacted
		}
		return text
	}))
	if err != nil {
		return r, err
	}
	return RestoreReview(data)
}

// RedactionOf returns the redaction of the whole review ("" as target), of the thread of a finding or comment, or of
// all that contains a text, with the texts. It returns an *InputError if nothing matches.
func (r Review) RedactionOf(target string) (Redaction, []string, error) {
	what, wanted := target, func(string) bool { return true }
	if f, found := r.Finding(target); target != "" && found {
		wanted = quoting(r.thread(r.sameIDs(f.ID)))
	} else if target != "" {
		what, wanted = "text", func(text string) bool { return strings.Contains(text, target) }
	}
	p, texts, err := r.redactionOf(wanted)
	if err == nil && len(texts) == 0 {
		err = &InputError{fmt.Sprintf("review %s has no such text and no such finding", r.ID)}
	}
	p.What = what
	return p, texts, err
}

// RedactionOfQuotes returns the redaction of all that repeats a text of another review, or a line of it. It has no
// Texts if nothing does.
func (r Review) RedactionOfQuotes(texts []string) (Redaction, error) {
	p, _, err := r.redactionOf(quoting(strings.Split(strings.Join(texts, "\n"), "\n")))
	p.What = "text"
	return p, err
}

// quoting returns a function that reports whether a text is one of texts, or contains one that is long enough.
func quoting(texts []string) func(string) bool {
	return func(text string) bool {
		return slices.ContainsFunc(texts, func(t string) bool {
			t = strings.TrimSpace(t)
			return t != "" && t == strings.TrimSpace(text) || len(t) >= minQuote && strings.Contains(text, t)
		})
	}
}

// redactionOf returns the redaction of the texts that are wanted, and these texts.
func (r Review) redactionOf(wanted func(string) bool) (p Redaction, texts []string, err error) {
	data, err := r.Keep()
	if err != nil {
		return p, nil, err
	}
	value, err := decodeSpoken(data)
	eachSpoken(value, false, func(text string) string {
		if hash := textHash(r.ID, text); text != Redacted && wanted(text) && !slices.Contains(p.Texts, hash) {
			p.Texts, texts = append(p.Texts, hash), append(texts, text)
		}
		return text
	})
	slices.Sort(p.Texts)
	return p, texts, err
}

// thread returns the texts about a finding or comment.
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
