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

// Problems of an answer; "" is a good answer.
const (
	ProblemTimeout          = "timeout"           // over its wall time
	ProblemIdle             = "idle_timeout"      // silent for too long
	ProblemCancelled        = "cancelled"         // by cancelling the context
	ProblemKilled           = "killed"            // by a signal that we did not send
	ProblemExitStatus       = "exit_status"       // it failed without an error among its events
	ProblemEmptyOutput      = "empty_output"      // it succeeded without a final message
	ProblemAgentError       = "agent_error"       // it reported an error, whatever its exit status
	ProblemPermissionDenied = "permission_denied" // it stopped at something that was not allowed
)

// Answer is the result of a call. Text is set exactly when Problem is "".
type Answer struct {
	Text    string // the final message, without surrounding space
	Problem string
	// Detail is one line for people, without control characters: the cause of a problem, or
	// for a good answer what the agent was not allowed to do ("" for nothing).
	Detail string
	// Again is when the agent's provider accepts requests again; zero if unknown.
	Again time.Time
}

// reader follows the events of one run of an agent, line by line, and returns the final
// message at the end. Text before a tool call is not part of the answer.
type reader interface {
	// event reads one line of standard output. It returns what to show of it, and whether
	// the line only repeats others and is not worth keeping.
	event(line []byte) (show string, noise bool)
	answer() Answer
	told() *outcome
}

// outcome is what every reader gathers from the events.
type outcome struct {
	text   string   // the final message so far
	fail   string   // the error that the agent reported and has not recovered from
	denied []string // what it was not allowed to do
	// turnedAway is how many times in a row the provider rejected the credentials. The second
	// time an expired token has been renewed, so the key itself is wrong.
	turnedAway int
	again      time.Time // when its provider accepts requests again; zero if unknown
	seen       bool      // an event was understood
	done       bool      // the final message is whole
	waits      string    // the request that the agent has not answered, "" if unknown
	taken      spend.Usage
	id         string // of its session, "" if it reports none
	edits
}

func (o *outcome) told() *outcome { return o }

// trouble returns the error or denial so far, "" for none. For a stopped call it may well
// be the cause.
func (o *outcome) trouble() string { return cmp.Or(o.failure(), o.hint()) }

// failure returns the reported error, with the time of the next try, or "".
func (o *outcome) failure() string {
	if o.fail == "" || o.again.IsZero() {
		return excerpt(o.fail)
	}
	return excerpt(o.fail) + "; again at " + o.again.UTC().Format(time.DateTime) + "Z"
}

// waiting returns a text about the unanswered request, or "".
func (o *outcome) waiting() string {
	if o.waits == "" {
		return ""
	}
	return "it did not answer " + o.waits
}

// session records the session's id, the first time.
func (o *outcome) session(id string) { o.id = cmp.Or(o.id, id) }

// answer judges the events alone; Call judges exit status and limits.
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

// decode parses one event; ok is false for other lines and for events of another shape.
func decode(line []byte, into any) (ok bool) {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, into) == nil
}

// failedCall records that a tool call failed, and whether that was because it is not allowed.
func (o *outcome) failedCall(id, tool, message string) {
	o.drop(id)
	if refusal(message) {
		o.denied = append(o.denied, cmp.Or(tool, o.tools[id], "a tool"))
	}
}

// refusal reports whether a tool's error says that the call was not allowed.
func refusal(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{"permission", "denied", "rejected", "not allowed", "prevents you",
		"requires approval"},
		func(word string) bool { return strings.Contains(message, word) })
}

// toolCall formats a tool call: the tool's name and what it is applied to.
func toolCall(name string, input any) string {
	for _, of := range []string{"command", "file_path", "filePath", "path", "pattern"} {
		if text := textAt(input, of); text != "" {
			return name + " " + text
		}
	}
	return name
}

// trimAnswer drops blank space around an answer, except the indentation of its first line:
// an indented line is a quotation.
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
