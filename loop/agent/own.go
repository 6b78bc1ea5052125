package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/strictjson"
	"github.com/git-runr/git-runr/loop/spend"
)

// Own is a user's configuration of a command that is not a preset.
type Own struct {
	Reviewer, Implementer []string // extra arguments in that role
	// Answer is the place of the answer in the JSON objects that the command writes: a path such as
	// "message.content.0.text", optionally followed by " where " and a condition, PATH=TEXT. The last
	// match counts. "" for a command whose standard output is the answer.
	Answer string
	// Usage holds the places of input, cached, output (tokens) and cost (US dollars), in the same
	// form. The values of several objects are added up.
	Usage map[string]string
	// Requires are arguments that must be in the command's help; if one is not, the call is refused.
	Requires []string
	// Aside are files of the checkout that the command obeys; see found for their form. They are hidden from reviewers.
	Aside []string
}

// preset returns a preset for the command.
func (o Own) preset() *preset {
	return &preset{Reviewer: o.Reviewer, Implementer: o.Implementer, Hardens: o.Requires, Instructs: o.Aside}
}

// answer reads the answer from the command's standard output.
func (o Own) answer(stdout []byte) Answer {
	text, found, unread := "", false, error(nil)
	for _, v := range jsonValues(stdout) {
		at := valueAt(v.fields, o.Answer)
		if at != nil {
			text, found = wordsOf(at), true
		}
		if at != nil || v.err != nil {
			unread = v.err
		}
	}
	switch {
	case unread != nil:
		return Answer{Problem: ProblemAgentError,
			Detail: fmt.Sprintf("the JSON that may hold its answer at %q cannot be read: %v", o.Answer, unread)}
	case !found:
		return Answer{Problem: ProblemEmptyOutput, Detail: "its output has no answer at " + strconv.Quote(o.Answer)}
	case blank(text):
		return Answer{Problem: ProblemEmptyOutput, Detail: "its answer at " + strconv.Quote(o.Answer) + " is empty"}
	}
	return Answer{Text: trimAnswer(plain(text))}
}

// usage returns the usage that the output reports.
func (o Own) usage(stdout []byte) (u spend.Usage) {
	if len(o.Usage) == 0 {
		return u
	}
	places := usageEvent{Input: words{o.Usage["input"]}, Cached: o.Usage["cached"], Output: words{o.Usage["output"]},
		Cost: o.Usage["cost"]}
	for _, v := range jsonValues(stdout) {
		used, _ := places.usage(v.fields)
		u = u.Add(used)
	}
	return u
}

// jsonValue is an object in the output of a command; err says why it is broken or ambiguous. Without fields it is the
// first line of an object that is broken.
type jsonValue struct {
	fields any
	err    error
}

// jsonValues returns the JSON objects in the output, one or several lines each; it skips other lines.
func jsonValues(output []byte) (values []jsonValue) {
	for len(output) > 0 {
		output = bytes.TrimSpace(output)
		if rest, ok := bytes.CutPrefix(output, []byte("{")); ok {
			var fields map[string]any
			d := json.NewDecoder(bytes.NewReader(output))
			err := d.Decode(&fields)
			if err == nil {
				err = strictjson.Scan(strings.ToValidUTF8(string(output[:d.InputOffset()]), "\uFFFD"), nil)
				values, output = append(values, jsonValue{fields, err}), output[d.InputOffset():]
				continue
			}
			if rest = bytes.TrimSpace(rest); len(rest) == 0 || rest[0] == '"' {
				values = append(values, jsonValue{err: err})
			}
		}
		_, output, _ = bytes.Cut(output, []byte("\n"))
	}
	return values
}

// answersInJSON reports whether a custom command answers in JSON although Own.Answer is not set.
func (s Spec) answersInJSON(text string) bool {
	text = strings.TrimSpace(text)
	return s.preset() == "" && s.Protocol == "" && s.Own.Answer == "" && strings.HasPrefix(text, "{") &&
		strings.HasSuffix(text, "}") &&
		slices.ContainsFunc(jsonValues([]byte(text)), func(v jsonValue) bool { return v.fields != nil })
}
