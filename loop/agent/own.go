package agent

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/loop/spend"
)

// Own is what a user says of a command that is no preset.
type Own struct {
	Reviewer, Implementer []string // more arguments in that role
	// Answer is where the answer stands in the JSON that the command writes, one value or one a line: a path such
	// as "message.content.0.text", and perhaps " where " and a path, "=" and the text that is there. The last one
	// counts. "" for a command whose standard output is the answer.
	Answer string
	// Usage is where input, cached, output (tokens) and cost (US dollars) stand, in the same form. What several
	// values say is summed up.
	Usage map[string]string
	// Requires are arguments that a call is refused without, where the command has --help that does not name them.
	Requires []string
	// Aside are files of the checkout that the command obeys: see found for their form. No reviewer sees them.
	Aside []string
}

// preset is the command as if it were known.
func (o Own) preset() *preset {
	return &preset{reviewer: o.Reviewer, implementer: o.Implementer, hardens: o.Requires, instructs: o.Aside}
}

// answer reads the command's standard output.
func (o Own) answer(stdout []byte) Answer {
	text, found := "", false
	for _, value := range jsonValues(stdout) {
		if at, is := lookAt(value, o.Answer); is {
			text, found = wordsOf(at), true
		}
	}
	switch {
	case !found:
		return Answer{Problem: ProblemEmptyOutput, Detail: "its output has no answer at " + strconv.Quote(o.Answer)}
	case blank(text):
		return Answer{Problem: ProblemEmptyOutput, Detail: "its answer at " + strconv.Quote(o.Answer) + " is empty"}
	}
	return Answer{Text: trimAnswer(plain(text))}
}

// usage is what the output tells that the call took.
func (o Own) usage(stdout []byte) (u spend.Usage) {
	if len(o.Usage) == 0 {
		return u
	}
	for _, value := range jsonValues(stdout) {
		number := func(of string) float64 {
			at, _ := lookAt(value, o.Usage[of])
			n, _ := at.(float64)
			return max(0, min(n, 1e12))
		}
		u = u.Add(spend.Usage{
			Input: int64(number("input")), Cached: int64(number("cached")), Output: int64(number("output")), Cost: number("cost"),
		})
	}
	return u
}

// jsonValues are the objects that the output is made of, however many lines each has; what else it says is left out.
func jsonValues(output []byte) (values []any) {
	for len(output) > 0 {
		var value map[string]any
		output = bytes.TrimSpace(output)
		d := json.NewDecoder(bytes.NewReader(output))
		if bytes.HasPrefix(output, []byte("{")) && d.Decode(&value) == nil {
			values, output = append(values, value), output[d.InputOffset():]
			continue
		}
		_, output, _ = bytes.Cut(output, []byte("\n"))
	}
	return values
}

// lookAt is what stands at a path of a value, where its condition holds.
func lookAt(value any, path string) (at any, found bool) {
	path, condition, _ := strings.Cut(path, " where ")
	if condition != "" {
		of, want, _ := strings.Cut(condition, "=")
		if is, _ := lookAt(value, strings.TrimSpace(of)); wordsOf(is) != strings.TrimSpace(want) {
			return nil, false
		}
	}
	for name := range strings.SplitSeq(strings.TrimSpace(path), ".") {
		switch in := value.(type) {
		case map[string]any:
			value, found = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if found = err == nil && 0 <= i && i < len(in); found {
				value = in[i]
			}
		default:
			found = false
		}
		if !found {
			return nil, false
		}
	}
	return value, value != nil
}

// wordsOf is a value as text: a string itself, another as JSON.
func wordsOf(value any) string {
	if text, is := value.(string); is {
		return text
	}
	text, _ := json.Marshal(value)
	return string(text)
}

// answersInJSON reports whether the answer of a command is JSON of which nothing says where the words are.
func (s Spec) answersInJSON(text string) bool {
	text = strings.TrimSpace(text)
	return s.preset() == "" && s.Protocol == "" && s.Own.Answer == "" && strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") && len(jsonValues([]byte(text))) > 0
}
