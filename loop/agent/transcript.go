package agent

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Told is one part of a transcript: an event of an agent, such as a tool call with its result, or plain lines.
type Told struct {
	Head string // what the agent says, or the tool that it calls; "" for plain lines
	Text string // the plain lines, or the fields of the event, one a line
}

// sampled is the number of lines from which the format of a transcript is recognized.
const sampled = 50

// ReadTranscript splits a transcript into its parts. An event that shows nothing is added to the part before it. A
// transcript of an unknown format is one part.
func ReadTranscript(transcript []byte) (all []Told) {
	lines := bytes.Split(bytes.TrimRight(transcript, "\n"), []byte("\n"))
	format := recognized(lines[:min(len(lines), sampled)])
	var text strings.Builder
	for _, line := range lines {
		head, said, isEvent := "", string(line), format != nil && json.Valid(line) && bytes.HasPrefix(line, []byte("{"))
		if isEvent {
			head, _ = format.event(line)
			said = fieldsText(line)
		}
		last := len(all) - 1
		if last < 0 || head != "" || !isEvent && all[last].Head != "" {
			if last >= 0 {
				all[last].Text = text.String()
			}
			all = append(all, Told{Head: head})
			text.Reset()
		} else {
			text.WriteByte('\n')
		}
		text.WriteString(said)
	}
	all[len(all)-1].Text = text.String() // there is at least one line
	return all
}

// recognized returns a reader of the format that shows most of the lines, or nil if no format shows any.
func recognized(lines [][]byte) reader {
	var found *preset
	most := 0
	for _, name := range Presets() {
		p, shown := presetCalled(name), 0
		r := p.reader()
		if r == nil {
			continue
		}
		for _, line := range lines {
			if show, _ := r.event(line); show != "" {
				shown++
			}
		}
		if shown > most {
			found, most = p, shown
		}
	}
	if found == nil {
		return nil
	}
	return found.reader()
}

// unescape replaces escapes in a JSON string, so that the lines of a text are lines again.
var unescape = strings.NewReplacer(`\\`, `\\`, `\n`, "\n", `\t`, "\t", `\"`, `"`)

// fieldsText formats a JSON object for people.
func fieldsText(object []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, object, "", "  ") != nil {
		return string(object)
	}
	return unescape.Replace(out.String())
}
