package record

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
)

// Redaction withdraws texts of a review: every fold shows Redacted in their place. Severities, places, verdicts and
// the status remain. The events with the texts remain in the logs. The redaction of a finding or of the whole review
// includes what its author did not know, such as a reply that another clone wrote meanwhile.
type Redaction struct {
	Texts []string `json:"texts"`          // hashes of the texts, which are not repeated here: see textHash
	Part  *Part    `json:"part,omitempty"` // where one of the texts has the one that was named, if What is "text"
	// a finding's id, "text" for all that contains a text, "" for the whole review
	What  string    `json:"what,omitempty"`
	Actor string    `json:"actor"`
	At    time.Time `json:"at,omitzero"` // filled in by the fold
	Voice
}

// Part is a part of a text. It says where the part is, not what it is: its hash would be easy to guess.
type Part struct {
	Text  string `json:"text_hash"`
	Start int    `json:"start"` // in bytes
	End   int    `json:"end"`
}

// of returns the part if it is one of text, else "".
func (p *Part) of(review, text string) string {
	if p == nil || p.Start < 0 || p.End < p.Start || p.End > len(text) || textHash(review, text) != p.Text {
		return ""
	}
	return text[p.Start:p.End]
}

// withheld is what the fold remembers of redactions, and no document shows.
type withheld struct {
	Texts []string `json:"withheld,omitempty"`       // the redacted texts
	Parts []string `json:"withheld_parts,omitempty"` // texts that withdraw every text that contains one of them
}

// holds reports whether text is redacted, or contains what is.
func (w withheld) holds(text string) bool {
	return slices.Contains(w.Texts, text) || slices.ContainsFunc(w.Parts, func(part string) bool {
		return strings.Contains(text, part)
	})
}

// hide returns a text below key without what is redacted.
func (w withheld) hide(text, key string) string {
	if slices.Contains(spokenKeys, key) && w.holds(text) {
		return Redacted
	}
	if key == commandKey {
		pairs := []string{Redacted, Redacted} // a part may be a part of this word
		for _, part := range w.Parts {
			pairs = append(pairs, part, Redacted)
		}
		return strings.NewReplacer(pairs...).Replace(text)
	}
	return text
}

// Redacted replaces a redacted text.
const Redacted = "[redacted]"

// minTarget is the least length in bytes, without blanks around it, of a text by which texts are redacted.
const minTarget = 3

// minQuote is the length in bytes from which a text that contains a redacted text counts as quoting it.
const minQuote = 12

// EventReviewRedacted is allowed in every status.
var EventReviewRedacted = reviewEventType("review_redacted", "redacted", always, (*Review).redact, nil)

func (p Redaction) by() (who ActorPayload, held bool) { return ActorPayload{Actor: p.Actor}, false }

func (r *Review) redact(e Event, p Redaction) {
	p.Voice, p.At = r.voice(e, p.Actor), e.Timestamp
	texts, _ := r.texts(true)
	for _, text := range append(texts, r.withheld.Texts...) { // another redaction may have taken it already
		if part := p.Part.of(r.ID, text); part != "" && !slices.Contains(r.withheld.Parts, part) {
			r.withheld.Parts = append(slices.Clip(r.withheld.Parts), part)
		}
	}
	r.Redactions = append(r.Redactions, p)
}

// spokenKeys are the JSON keys under which reviews and their events store what somebody wrote, or what a check printed.
var spokenKeys = []string{
	"message", "summary", "text", "issue", "fix", "comment", "selected_text", "reason", "note", "detail", "requests",
	"parse_warnings", "kind_prompt", "output", "excerpt", "said", "not_run",
}

// commandKey is the JSON key of a check's command, from which only a named text is withdrawn.
const commandKey = "command"

// subjectKey is the JSON key of the subject. What it has comes from the reviewed commit and is no text of a review.
const subjectKey = "subject"

// EachText replaces texts in a decoded JSON value. key is the one that a text is below; it is subjectKey for all of a
// subject.
func EachText(value any, key string, replace func(text, key string) string) any {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			below := name
			if key == subjectKey {
				below = key
			}
			v[name] = EachText(inner, below, replace)
		}
	case []any:
		for i, inner := range v {
			v[i] = EachText(inner, key, replace)
		}
	case string:
		return replace(v, key)
	}
	return value
}

// eachSpoken replaces what somebody wrote in a decoded JSON value.
func eachSpoken(value any, replace func(string) string) {
	EachText(value, "", func(text, key string) string {
		if slices.Contains(spokenKeys, key) && text != "" {
			return replace(text)
		}
		return text
	})
}

// DecodeTexts decodes a JSON document for EachText. Numbers stay as they are written.
func DecodeTexts(data []byte) (value any, err error) {
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

func (r Review) hidden() map[string]bool {
	return each.Set(slices.Concat(each.Of(r.Redactions, func(p Redaction) []string { return p.Texts })...))
}

// texts returns what somebody wrote in the review, and with commands also the commands of checks.
func (r Review) texts(commands bool) (texts []string, err error) {
	data, err := r.Keep()
	if err != nil {
		return nil, err
	}
	value, err := DecodeTexts(data)
	EachText(value, "", func(text, key string) string {
		if text != "" && (slices.Contains(spokenKeys, key) || commands && key == commandKey) {
			texts = append(texts, text)
		}
		return text
	})
	return texts, err
}

func (r Review) redacted() (Review, error) {
	hidden := r.hidden()
	data, err := r.Keep()
	if err != nil {
		return r, err
	}
	value, err := DecodeTexts(data)
	if err != nil {
		return r, err
	}
	kept := r.withheld
	take := func(text string) string {
		if text != Redacted && !slices.Contains(kept.Texts, text) {
			kept.Texts = append(slices.Clip(kept.Texts), text)
		}
		return Redacted
	}
	r.withhold(value, take)
	eachSpoken(value, func(text string) string {
		if hidden[textHash(r.ID, text)] || kept.holds(text) {
			return take(text)
		}
		return text
	})
	if data, err = json.Marshal(EachText(value, "", kept.hide)); err != nil {
		return r, err
	}
	r, err = RestoreReview(data)
	r.withheld = kept
	return r, err
}

// withhold replaces what is about redacted findings in a decoded JSON value, and everything if the whole review is
// redacted.
func (r Review) withhold(value any, replace func(string) string) {
	for _, p := range r.Redactions {
		if p.What == "" {
			eachSpoken(value, replace)
			return
		}
		if f, found := r.Finding(p.What); found {
			eachAbout(value, r.sameIDs(f.ID), replace)
		}
	}
}

// MaySay returns an *InputError if what somebody says from now on would not be shown, because the whole review or
// the thread of finding was redacted. finding is "" for the review as a whole.
func (r Review) MaySay(finding string) error {
	for _, p := range r.Redactions {
		if p.What == "" || finding != "" && slices.Contains(r.sameIDs(p.What), finding) {
			return &InputError{fmt.Sprintf("%s redacted this thread of review %s, so nobody would see what you say; "+
				"what you say in another round is seen: git runr review --again %s", Plain(p.Actor), r.ID, r.ID)}
		}
	}
	return nil
}

// RedactionOf returns the redaction of the whole review ("" as target), of the thread of a finding or comment, or of
// all that contains a text, with the texts. It returns an *InputError if nothing matches.
func (r Review) RedactionOf(target string) (Redaction, []string, error) {
	what, wanted := target, func(string) bool { return true }
	if f, found := r.Finding(target); target != "" && found {
		wanted = quoting(r.thread(r.sameIDs(f.ID)))
		what = f.ID
	} else if target != "" && len(strings.TrimSpace(target)) < minTarget {
		return Redaction{}, nil, &InputError{"a text to redact has at least 3 characters: " +
			"a shorter one is in nearly every text"}
	} else if target != "" {
		what, wanted = "text", func(text string) bool { return strings.Contains(text, target) }
	}
	p, texts, err := r.redactionOf(what == "text", wanted)
	if what == "text" && len(texts) > 0 {
		start := strings.Index(texts[0], target)
		p.Part = &Part{textHash(r.ID, texts[0]), start, start + len(target)}
	}
	if err == nil && len(texts) == 0 {
		err = &InputError{fmt.Sprintf("review %s has no such text and no such finding", r.ID)}
	}
	p.What = what
	return p, texts, err
}

// RedactionOfQuotes returns the redaction of all that repeats a text of another review, or a line of it. It has no
// Texts if nothing does.
func (r Review) RedactionOfQuotes(texts []string) (Redaction, error) {
	p, _, err := r.redactionOf(false, quoting(strings.Split(strings.Join(texts, "\n"), "\n")))
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

// redactionOf returns the redaction of the texts that are wanted, and these texts. With commands it includes
// commands of checks.
func (r Review) redactionOf(commands bool, wanted func(string) bool) (p Redaction, texts []string, err error) {
	all, err := r.texts(commands)
	for _, text := range all {
		if hash := textHash(r.ID, text); text != Redacted && wanted(text) && !slices.Contains(p.Texts, hash) {
			p.Texts, texts = append(p.Texts, hash), append(texts, text)
		}
	}
	slices.Sort(p.Texts)
	return p, texts, err
}

func (r Review) thread(ids []string) (texts []string) {
	data, _ := r.Keep()
	value, _ := DecodeTexts(data)
	eachAbout(value, ids, func(text string) string { texts = append(texts, text); return text })
	return texts
}

// eachAbout replaces what somebody wrote about one of the findings or comments ids in a decoded JSON value.
func eachAbout(value any, ids []string, replace func(string) string) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range []string{"id", "finding"} {
			if id, ok := v[key].(string); ok && id != "" && slices.Contains(ids, id) {
				eachSpoken(v, replace)
			}
		}
		for _, inner := range v {
			eachAbout(inner, ids, replace)
		}
	case []any:
		for _, inner := range v {
			eachAbout(inner, ids, replace)
		}
	}
}

// Withdrawal hides the redacted texts of one review in its events and in the runs about it. A run repeats the texts in
// its task, its rounds and its titles, in other places and with other text around them.
type Withdrawal struct {
	review Review
	hidden map[string]bool
	quotes *strings.Replacer
	lines  map[string]bool // of redacted texts, which count as a quote where they are a line of their own
	runs   map[string]bool // that are about the review
	since  []Event         // the redactions, oldest first
}

// NewWithdrawal returns what was redacted of a review. events are its events as they were recorded, in order.
func NewWithdrawal(review Review, events []Event) *Withdrawal {
	w := &Withdrawal{review: review, hidden: review.hidden(), runs: map[string]bool{review.Request.Run: true}}
	for _, e := range events {
		w.runs[e.Run] = true
		if e.Type == EventReviewRedacted.Name {
			w.since = append(w.since, e)
		}
	}
	lines := strings.Split(strings.Join(review.withheld.Texts, "\n"), "\n")
	pairs := []string{Redacted, Redacted} // a part may be a part of this word
	slices.SortFunc(lines, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	w.lines = map[string]bool{}
	for _, line := range slices.Compact(lines) {
		line = strings.TrimSpace(line)
		w.lines[line] = strings.ContainsFunc(line, isWordRune) // else it is a bracket or a fence
		if len(line) >= minQuote {
			pairs = append(pairs, line, Redacted)
		}
	}
	for _, part := range review.withheld.Parts {
		if len(part) > 2 { // else it is a part of most texts
			pairs = append(pairs, part, Redacted)
		}
	}
	w.quotes = strings.NewReplacer(pairs...)
	return w
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Review returns the id of the review.
func (w *Withdrawal) Review() string { return w.review.ID }

// Runs returns the ids of the runs that address the review, and of the one that requested it.
func (w *Withdrawal) Runs() []string {
	runs := slices.Sorted(maps.Keys(w.runs))
	return slices.DeleteFunc(runs, func(id string) bool { return id == "" })
}

// covers reports whether e is an event of the review, of a run that addresses it, or of the run that requested it.
func (w *Withdrawal) covers(e Event) bool {
	return e.Review == w.review.ID || e.Run != "" && w.runs[e.Run]
}

// Event returns e without the redacted texts.
func (w *Withdrawal) Event(e Event) Event {
	if !w.covers(e) || len(e.Payload) == 0 {
		return e
	}
	e.Title = w.quotes.Replace(e.Title)
	data, err := w.json(e.Payload, e.Review == w.review.ID && reviewMoves[e.Type].fold != nil)
	if err != nil {
		data = []byte("{}")
	}
	e.Payload = data
	return e
}

// Changes reports whether e has redacted texts.
func (w *Withdrawal) Changes(e Event) bool {
	was, err := DecodeTexts(e.Payload)
	is, errIs := DecodeTexts(w.Event(e).Payload)
	return err == nil && errIs == nil && !reflect.DeepEqual(was, is)
}

// Run returns a run about the review without the redacted texts.
func (w *Withdrawal) Run(r Run) (Run, error) {
	data, err := r.Keep()
	if err != nil {
		return r, err
	}
	if data, err = w.json(data, false); err != nil {
		return r, err
	}
	shown, err := RestoreRun(data)
	shown.Plan.Checks = r.Plan.Checks // a resumed run executes them
	return shown, err
}

// json replaces the redacted texts in a JSON document, and quotes of them in all that is more than one word: paths and
// ids stay. In an event of the review itself it also replaces what belongs to a redacted finding.
func (w *Withdrawal) json(data []byte, own bool) ([]byte, error) {
	value, err := DecodeTexts(data)
	if err != nil {
		return nil, err
	}
	if own {
		w.review.withhold(value, func(string) string { return Redacted })
	}
	return json.Marshal(EachText(value, "", func(text, key string) string {
		spoken := slices.Contains(spokenKeys, key)
		if spoken && w.hidden[textHash(w.review.ID, text)] {
			return Redacted
		}
		text = w.review.withheld.hide(text, key)
		if spoken || key != subjectKey && strings.ContainsFunc(text, unicode.IsSpace) {
			return w.quotes.Replace(w.withoutLines(text))
		}
		return text
	}))
}

// withoutLines replaces lines that are a line of a redacted text.
func (w *Withdrawal) withoutLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if w.lines[strings.TrimSpace(line)] {
			lines[i] = Redacted
		}
	}
	return strings.Join(lines, "\n")
}

// Attached returns what to show in place of what was attached to e, or "" if that was not withdrawn. Only hashes of
// the redacted texts are known, so each redaction withdraws everything that was attached before it.
func (w *Withdrawal) Attached(e Event) string {
	for _, redaction := range w.since {
		if w.covers(e) && e.Compare(redaction) < 0 {
			p, _ := EventReviewRedacted.Payload(redaction) // if it fails: the event's author
			return fmt.Sprintf("%s withdrawn with texts of review %s, by %s", Redacted, w.review.ID,
				cmp.Or(p.Actor, redaction.Actor))
		}
	}
	return ""
}

// ReviewIDs returns the ids of the reviews that the run addresses, requested or counts as rounds.
func (r Run) ReviewIDs() map[string]bool {
	ids := map[string]bool{r.Plan.FromReview: true}
	if r.Asked != nil {
		ids[r.Asked.Review] = true
	}
	if r.Stop != nil {
		ids[r.Stop.Review] = true
	}
	for _, round := range r.Rounds {
		ids[round.Review] = true
	}
	delete(ids, "")
	return ids
}

// OutputOf returns the event after which an agent's output or prompt was kept in a file, as execution.transcript names
// it; "" if there is no such event.
func (r Run) OutputOf(file string) (event gitstore.ID) {
	for _, a := range r.Attempts {
		if strings.HasPrefix(file, fmt.Sprintf("attempt-%d.", a.Number)) {
			event = a.Event
		}
	}
	for _, round := range r.Rounds {
		if strings.HasPrefix(file, fmt.Sprintf("review-%d.", round.Number)) {
			event = round.Event
		}
	}
	return event
}
