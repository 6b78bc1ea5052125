package agent

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/spend"
)

// rule says what an event of a tool's stream, one JSON object a line, means. A path is names separated by dots, as in
// "message.content.0.text"; * stands for each element of a list. A text contains paths as ${PATH}; it is empty if one
// of them is, and ${fail} is the error so far. Of several texts, the first that is not empty counts. The effects happen
// in the order of the fields.
type rule struct {
	On     words            // values of "type"; none: every event
	When   map[string]words // patterns of values, by path; all paths must match
	Unless map[string]words // none of the paths may match
	Each   string           // path of a list or object: Rules are for its elements, Element for those of an object
	Rules  []rule

	Session string // path of the session's id
	Seen    bool   // the event was understood
	Done    *bool  // whether the final message is whole
	OK      bool   // the agent has recovered from its errors
	Message string // path of the id of the message that a piece belongs to; another message replaces the text
	Clear   bool   // the text so far is not the answer
	Text    string // the final message
	Append  string // a piece of the final message
	Denied  string // path of the names of all tools that were not allowed

	Use    *toolEvent // a call of a tool
	Failed *toolEvent // a call that failed; with Input if no other event was about it
	Edited struct{ ID, Paths string }

	Fail     words       // an error
	Rejected bool        // the provider rejected the credentials
	Again    string      // when the provider accepts requests again, in seconds since 1970
	Usage    *usageEvent // what the call took so far
	Show     words       // what to show, if no rule before this one shows something
	Noise    bool        // the event is not worth keeping
}

// toolEvent holds the paths of a tool call in an event.
type toolEvent struct {
	ID, Name, Input string
	Message         words // of a failure
}

// usageEvent holds the paths of numbers in an event. The values of several paths are added up.
type usageEvent struct {
	Adds    bool   // to the usage of earlier events; else it replaces that
	Message string // id of a message, of which only the newest numbers count until an event replaces all
	Input   words
	Cached  string
	Output  words
	Total   string // of tokens; 0: unknown
	Rest    string // input or output: it is what Total has beyond the other one
	Cost    string
}

// words are one or several texts in a file of presets.
type words []string

func (w *words) UnmarshalTOML(value any) error {
	list, several := value.([]any)
	if !several {
		list = []any{value}
	}
	*w = each.Of(list, wordsOf)
	return nil
}

// eventReader is a reader that follows the rules of a preset.
type eventReader struct {
	outcome
	rules   []rule
	repeats []string               // types of events that only repeat others
	message string                 // id of the message in text
	counted map[string]spend.Usage // by message
}

func (r *eventReader) event(line []byte) (show string, noise bool) {
	for _, kind := range r.repeats { // without parsing it, because it may be long
		if bytes.HasPrefix(line, []byte(`{"type":"`+kind+`"`)) {
			return "", true
		}
	}
	var event map[string]any
	if !decode(line, &event) {
		return "", false
	}
	r.follow(r.rules, event, &show, &noise)
	return show, noise && show == ""
}

// follow applies the rules that are about an event, or about an element of one.
func (r *eventReader) follow(rules []rule, event any, show *string, noise *bool) {
	for _, rule := range rules {
		if !rule.isAbout(event) {
			continue
		}
		for _, element := range elementsAt(event, rule.Each) {
			r.follow(rule.Rules, element, show, noise)
		}
		shown := r.apply(rule, event)
		if *noise = *noise || rule.Noise; *show == "" {
			*show = shown
		}
	}
}

// isAbout reports whether the rule is about an event.
func (r rule) isAbout(event any) bool {
	fits := func(at string, patterns words) bool {
		text := textAt(event, at)
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			matches, _ := path.Match(pattern, text)
			return matches
		})
	}
	if len(r.On) > 0 && !slices.Contains(r.On, textAt(event, "type")) {
		return false
	}
	for at, patterns := range r.When {
		if !fits(at, patterns) {
			return false
		}
	}
	for at, patterns := range r.Unless {
		if fits(at, patterns) {
			return false
		}
	}
	return true
}

// apply carries out a rule, without its Rules, and returns what to show.
func (r *eventReader) apply(rule rule, event any) (show string) {
	r.session(textAt(event, rule.Session))
	r.seen = r.seen || rule.Seen
	if rule.Done != nil {
		r.done = *rule.Done
	}
	if rule.OK {
		r.fail, r.turnedAway = "", 0
	}
	if id := textAt(event, rule.Message); rule.Message != "" && id != r.message {
		r.text, r.message = "", id
	}
	if rule.Clear {
		r.text = ""
	}
	if rule.Text != "" {
		r.text = r.fill(event, rule.Text)
	}
	r.text += r.fill(event, rule.Append)
	if rule.Denied != "" {
		r.denied = each.Of(valuesAt(event, rule.Denied), wordsOf)
	}
	for _, t := range []*toolEvent{rule.Use, rule.Failed} {
		if t == nil {
			continue
		}
		id, input := textAt(event, t.ID), valueAt(event, t.Input)
		name := strings.TrimSuffix(textAt(event, t.Name), "ToolCall") // which cursor-agent adds
		if t == rule.Use {
			r.use(id, name, input)
		} else {
			said := each.Of(t.Message, func(at string) string { return wordsOf(valueAt(event, at)) })
			r.failedCall(id, name, strings.Join(said, " "))
		}
		if t.Input != "" {
			show = toolCall(name, input)
		}
	}
	r.add(textAt(event, rule.Edited.ID), each.Of(valuesAt(event, rule.Edited.Paths), wordsOf)...)
	if len(rule.Fail) > 0 {
		r.fail = r.fill(event, rule.Fail...)
	}
	if rule.Rejected {
		r.turnedAway++
	}
	if rule.Again != "" {
		r.again = time.Time{}
		if seconds, _ := strconv.ParseInt(r.fill(event, rule.Again), 10, 64); seconds > 0 {
			r.again = time.Unix(seconds, 0)
		}
	}
	if rule.Usage != nil {
		r.count(*rule.Usage, event)
	}
	if len(rule.Show) > 0 {
		show = r.fill(event, rule.Show...)
	}
	return show
}

// fill returns the first of texts that is not empty when its paths are filled in.
func (r *eventReader) fill(event any, texts ...string) string {
	for _, text := range texts {
		whole := true
		filled := os.Expand(text, func(at string) string {
			value := textAt(event, at)
			if at == "fail" {
				value = r.fail
			}
			whole = whole && value != ""
			return value
		})
		if whole && filled != "" {
			return filled
		}
	}
	return ""
}

// count records the usage in an event. The sum of all messages, which a last event reports, never comes if the call is
// stopped.
func (r *eventReader) count(of usageEvent, event any) {
	used, known := of.usage(event)
	id := textAt(event, of.Message)
	switch earlier := r.counted[id]; {
	case id != "":
		if r.counted == nil {
			r.counted = map[string]spend.Usage{}
		}
		r.counted[id] = used
		used.Input, used.Cached, used.Output = used.Input-earlier.Input, used.Cached-earlier.Cached,
			used.Output-earlier.Output
		r.taken = r.taken.Add(used)
	case of.Adds || of.Message != "":
		r.taken = r.taken.Add(used)
	case known:
		r.taken, r.counted = used, nil
	default:
		r.taken.Cost = used.Cost
	}
}

// usage returns the usage in an event; known is false if the event has no count of tokens.
func (u usageEvent) usage(event any) (used spend.Usage, known bool) {
	sum := func(paths ...string) (n int64) {
		for _, at := range paths {
			value := valueAt(event, at)
			known = known || value != nil
			n += int64(numberOf(value))
		}
		return n
	}
	used = spend.Usage{Input: sum(u.Input...), Cached: sum(u.Cached), Output: sum(u.Output...)}
	total := sum(u.Total)
	switch {
	case total > 0 && u.Rest == "input":
		used.Input = max(0, total-used.Output)
	case total > 0:
		used.Output = max(0, total-used.Input)
	}
	used.Cost = numberOf(valueAt(event, u.Cost))
	return used, known
}

// elementsAt returns the elements of the list at a path; those of an object as "key" and "value".
func elementsAt(event any, at string) (elements []any) {
	switch in := valueAt(event, at).(type) {
	case []any:
		return in
	case map[string]any:
		for key, value := range in {
			elements = append(elements, map[string]any{"key": key, "value": value})
		}
	}
	return elements
}

// valuesAt returns the values at a path, without missing ones.
func valuesAt(value any, at string) []any {
	before, after, several := strings.Cut(at, "*")
	value = valueAt(value, strings.TrimSuffix(before, "."))
	if !several {
		return each.Where([]any{value}, func(v any) bool { return v != nil })
	}
	list, _ := value.([]any)
	var values []any
	for _, element := range list {
		values = append(values, valuesAt(element, strings.TrimPrefix(after, "."))...)
	}
	return values
}

// valueAt returns the value at a path without *, or nil. The path may end in " where " and a condition, PATH=TEXT.
func valueAt(value any, at string) any {
	at, condition, _ := strings.Cut(at, " where ")
	of, want, _ := strings.Cut(condition, "=")
	if at == "" || condition != "" && wordsOf(valueAt(value, of)) != strings.TrimSpace(want) {
		return nil
	}
	for name := range strings.SplitSeq(strings.TrimSpace(at), ".") {
		switch in := value.(type) {
		case map[string]any:
			value = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			value = in[i]
		default:
			return nil
		}
	}
	return value
}

// textAt returns the texts, numbers and truth values at a path, one a line.
func textAt(event any, at string) string {
	var texts []string
	for _, value := range valuesAt(event, at) {
		switch value.(type) {
		case string, float64, bool:
			texts = append(texts, wordsOf(value))
		}
	}
	return strings.Join(texts, "\n")
}

// numberOf returns a number from a tool within sane limits, or 0 for another value.
func numberOf(value any) float64 {
	n, _ := value.(float64)
	return max(0, min(n, 1e12))
}

// wordsOf returns a value as text: a string itself, anything else as JSON.
func wordsOf(value any) string {
	if text, is := value.(string); is {
		return text
	}
	text, _ := json.Marshal(value)
	return string(text)
}
