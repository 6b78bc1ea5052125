package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/git-runr/git-runr/loop/spend"
)

// What was wrong with an answer. The zero Problem is a good answer.
const (
	ProblemTimeout          = "timeout"           // over its wall time
	ProblemIdle             = "idle_timeout"      // silent for too long
	ProblemCancelled        = "cancelled"         // by the context
	ProblemKilled           = "killed"            // by a signal that was not ours
	ProblemExitStatus       = "exit_status"       // it failed and did not say why in its events
	ProblemEmptyOutput      = "empty_output"      // it succeeded without a final message
	ProblemAgentError       = "agent_error"       // it reported an error, whatever its exit status
	ProblemPermissionDenied = "permission_denied" // it gave up at something it was not allowed to do
)

// Answer is what came of a call. Text is set exactly when Problem is "".
type Answer struct {
	Text    string // the final message, without surrounding space
	Problem string
	// Detail is one line for people: the cause of a problem, or with a good answer
	// what the agent was not allowed to do ("" for nothing). It holds no control characters.
	Detail string
	// Again is when its provider wants to be asked again; zero where it does not say.
	Again time.Time
}

// reader follows the events of one run of an agent, a line at a time, and knows
// the final message in the end. What was said before a tool was used is talk,
// not an answer.
type reader interface {
	// event takes one line of standard output. It returns what to show of it, and
	// whether the line only repeats others and is not worth keeping.
	event(line []byte) (show string, noise bool)
	answer() Answer
	told() *outcome
}

// outcome is what all readers gather.
type outcome struct {
	text   string   // the final message so far
	fail   string   // the error that the agent reported and has not got over
	denied []string // what it was not allowed to do
	// turnedAway is how often in a row its provider did not let it in: a second time, a token
	// that ran out has been renewed, and it is the key.
	turnedAway int
	again      time.Time // when its provider wants to be asked again; zero where it does not say
	seen       bool      // an event was understood
	done       bool      // the final message is whole
	waits      string    // what it was asked and has not answered, "" where that is not known
	taken      spend.Usage
	id         string // of its session, "" where it tells none
	edits
}

func (o *outcome) told() *outcome { return o }

// trouble is what stood in the way so far, "" for nothing: of a call that is stopped it may
// well be the cause.
func (o *outcome) trouble() string { return cmp.Or(o.failure(), o.hint()) }

// failure is the error as it is told, "" for none.
func (o *outcome) failure() string {
	if o.fail == "" || o.again.IsZero() {
		return excerpt(o.fail)
	}
	return excerpt(o.fail) + "; again at " + o.again.UTC().Format(time.DateTime) + "Z"
}

// waiting says what it was asked in vain, "" for nothing.
func (o *outcome) waiting() string {
	if o.waits == "" {
		return ""
	}
	return "it did not answer " + o.waits
}

// session notes the id of the session, once.
func (o *outcome) session(id string) { o.id = cmp.Or(o.id, id) }

// answer judges the outcome by itself; exit status and limits are judged by Call.
func (o *outcome) answer() Answer {
	switch {
	case o.fail != "":
		return Answer{Problem: ProblemAgentError, Detail: o.failure()}
	case o.waits != "":
		return Answer{Problem: ProblemAgentError, Detail: o.waiting()}
	case !o.seen:
		return Answer{Problem: ProblemEmptyOutput, Detail: "it wrote no event that this version of git-runr understands"}
	case !o.done:
		return Answer{Problem: ProblemEmptyOutput, Detail: "it ended before its answer was complete"}
	case !blank(o.text):
		return Answer{Text: trimAnswer(strings.ToValidUTF8(o.text, "\uFFFD")), Detail: o.hint()}
	case len(o.denied) > 0:
		return Answer{Problem: ProblemPermissionDenied, Detail: o.hint()}
	}
	return Answer{Problem: ProblemEmptyOutput, Detail: "it ended without a final message"}
}

// hint names what was denied, each once.
func (o *outcome) hint() string {
	if len(o.denied) == 0 {
		return ""
	}
	names := slices.Compact(slices.Sorted(slices.Values(o.denied)))
	return excerpt("permission denied: " + strings.Join(names, ", "))
}

// blank reports whether text shows nothing to a person.
func blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != unicode.ReplacementChar
	})
}

// decode reads one event; other lines, and events of another shape, are not ok.
func decode(line []byte, into any) (ok bool) {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, into) == nil
}

// refusal reports whether the error of a tool says that it was not allowed.
func refusal(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{"permission", "denied", "rejected", "not allowed", "prevents you", "requires approval"},
		func(word string) bool { return strings.Contains(message, word) })
}

// toolCall shows the use of a tool: its name and what it is used on.
func toolCall(name string, input json.RawMessage) string {
	var in struct {
		Command  string `json:"command"`
		FilePath string `json:"file_path"`
		Camel    string `json:"filePath"`
		Path     string `json:"path"`
		Pattern  string `json:"pattern"`
	}
	_ = json.Unmarshal(input, &in) // an input of another shape only shows less
	return strings.TrimSuffix(name+" "+cmp.Or(in.Command, in.FilePath, in.Camel, in.Path, in.Pattern), " ")
}

// said is an error as an agent tells it.
type said struct {
	Message string `json:"message"`
}

// part is a piece of a message.
type part struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Of      string          `json:"tool_use_id"`
	IsError bool            `json:"is_error"`
	Content json.RawMessage `json:"content"` // of what came of a tool
}

func joinText(parts []part) string {
	var texts []string
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// trimAnswer drops what is blank around an answer, but not the indentation of its first
// line: an indented one is a quotation.
func trimAnswer(text string) string {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	for {
		line, rest, more := strings.Cut(text, "\n")
		if !more || strings.TrimSpace(line) != "" {
			return text
		}
		text = rest
	}
}
