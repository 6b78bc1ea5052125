package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/gitstore"
)

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
