package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// bounded makes text safe to show and cuts it after a line if it has more than most tokens.
func bounded(text string, most int) string {
	text = safetext.Text(text)
	if tokens(text) <= most {
		return text
	}
	cut := longest(text, func(part string) bool { return tokens(part) <= most-100 })
	return fmt.Sprintf(
		"%s\n[Cut off here: %d bytes more. The user sees the rest with: git runr show ID, or git runr diagnose ID]", cut,
		len(text)-len(cut))
}

// longest returns the longest beginning of text that fits, up to the end of a line if one is near; "" if none fits.
func longest(text string, fits func(part string) bool) string {
	for n := len(text); n > 0; n = n * 7 / 8 {
		if part := upToLine(text, n); fits(part) {
			return part
		}
	}
	return ""
}

// upToLine returns at most n bytes from the beginning of text, up to the end of a line if one is near.
func upToLine(text string, n int) string {
	cut := prose.Cut(text, n)
	if i := strings.LastIndexByte(cut, '\n'); len(cut) < len(text) && i > n/2 {
		cut = cut[:i+1]
	}
	return cut
}

// line returns foreign text on one line of at most max characters.
func line(text string, max int) string { return clip(safetext.Line(strings.TrimSpace(text)), max) }

func clip(text string, max int) string {
	if utf8.RuneCountInString(text) <= max {
		return text
	}
	return string([]rune(text)[:max]) + "…"
}

// Limits of a document: what is longer is cut, so that none floods the client.
const (
	maxItems  = 200
	maxString = 2000
)

// document returns v as plain JSON values of at most most tokens: foreign text made safe, nulls removed, and long
// lists and texts cut as far as necessary.
func document(v any, most int) any {
	for items, chars := maxItems, maxString; ; items, chars = items/2, chars/2 {
		plain := tame(plainOf(v), items, chars)
		if jsonSize(plain) <= most || items == 0 {
			return plain
		}
	}
}

func plainOf(v any) (plain any) {
	dec := json.NewDecoder(strings.NewReader(jsonOf(v)))
	dec.UseNumber()
	_ = dec.Decode(&plain) // which was just encoded
	return plain
}

// jsonOf is v as JSON, as a model may read it. It must be of our own types.
func jsonOf(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // our own types can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// jsonSize returns how many tokens v has as JSON.
func jsonSize(v any) int { return tokens(jsonOf(v)) }

func tame(v any, items, chars int) any {
	switch v := v.(type) {
	case string:
		return clip(safetext.Text(v), chars)
	case []any:
		v = v[:min(len(v), items)]
		for i := range v {
			v[i] = tame(v[i], items, chars)
		}
		return v
	case map[string]any:
		for key, value := range v {
			if value == nil { // no schema of ours has it
				delete(v, key)
				continue
			}
			v[key] = tame(value, items, chars)
		}
	}
	return v
}

// fileName returns the name of a file for a document: as recorded, with U+FFFD for each byte that is not UTF-8.
func fileName(path string) string { return clip(string([]rune(path)), 500) }

// named returns the one of paths that name means: as it is, as answers and terminals show it, or as git quotes it in a
// patch. If none matches, it returns name.
func named(paths []string, name string) (path string, known bool) {
	quoted := []string{unquoted(name), unquoted(`"` + name + `"`)}
	for _, same := range []func(path string) bool{
		func(path string) bool { return path == name },
		func(path string) bool { return fileName(path) == name },
		func(path string) bool { return line(fileName(path), 500) == name },
		func(path string) bool { return line(path, 500) == name },
		func(path string) bool {
			return slices.ContainsFunc(quoted, func(q string) bool { return q == path || q == "a/"+path || q == "b/"+path })
		},
	} {
		if i := slices.IndexFunc(paths, same); i >= 0 {
			return paths[i], true
		}
	}
	return name, false
}

// unquoted removes git's quoting from a name; it returns "" for broken quoting.
func unquoted(name string) string {
	plain, err := unidiff.Name(strings.TrimSpace(name))
	if err != nil {
		return ""
	}
	return plain
}

// maxAnswer is the most tokens of an answer, its text and its document together, as tokens
// estimates them, which is at most 3 in 100 too few: no answer has 20,000.
const maxAnswer = 19_000

// maxHalf is the most tokens of the text, and of the document, where both say the same.
const maxHalf = maxAnswer / 2

// tokens is how many tokens a model reads a text as, of what is common rather too many than too
// few: a third more of prose and code, 1.0 to 1.4 times as many of hashes, base64 and bytes in hex.
// A limit of bytes that holds for those would cut prose at a third of what a model can be given.
func tokens(text string) int {
	fifths := 0
	for i := 0; i < len(text); {
		kind, from := kindOf(text[i]), i
		for i < len(text) && kindOf(text[i]) == kind {
			i++
		}
		switch n := i - from; {
		case kind == 'w':
			fifths += 5 * wordTokens(text[from:i])
		case kind == ' ' && n == 1: // belongs to the word behind it
		case kind == ' ' || kind == '\n':
			fifths += 5
		case kind == '!':
			fifths += 5 * ((n + 1) / 2)
		case kind == 'e':
			fifths += 6 * n
		default:
			fifths += 2 * n
		}
	}
	return (fifths + 4) / 5
}

// kindOf tells word, blank, line feed and sign apart, 'e' (a character of four bytes begins) and 'u'
// (another byte of what is no ASCII).
func kindOf(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return 'w'
	case c == ' ' || c == '\t':
		return ' '
	case c == '\n' || c == '\r':
		return '\n'
	case c >= 0xf0:
		return 'e'
	case c >= 0x80:
		return 'u'
	}
	return '!'
}

// maxPlain is how long a word may be that is in some language, in bytes.
const maxPlain = 24

// wordTokens is tokens of letters and digits: one for three digits, one for four letters, anew where
// capitals begin. What mixes them, or is longer than words are, has no words in it.
func wordTokens(word string) int {
	n, digits, letters, run := 0, 0, 0, 0
	for i := range len(word) {
		if c := word[i]; c <= '9' {
			digits++
			continue
		} else if letters++; c <= 'Z' && i > 0 && word[i-1] > 'Z' {
			n, run = n+(run+3)/4, 0
		}
		run++
	}
	switch {
	case digits > 0 && letters > 0 || len(word) > maxPlain:
		return (len(word)*4 + 4) / 5
	case digits > 0:
		return (digits + 2) / 3
	}
	return n + (run+3)/4
}

// refusal is an error whose text is complete and needs no advice.
type refusal string

func (r refusal) Error() string { return string(r) }

func refusef(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// explain returns err as one line for a model: what is wrong, and what to do.
func explain(err error) error {
	if said, ok := errors.AsType[refusal](err); ok {
		return refusal(clip(safetext.Text(said.Error()), 2*maxString))
	}
	return refusal(clip(safetext.Line(explanation(err)), maxString))
}

func explanation(err error) string {
	if missing := new(record.NotFoundError); errors.As(err, &missing) {
		return notFound(missing)
	}
	if state := new(record.StateError); errors.As(err, &state) {
		return stateRefused(state)
	}
	if nothing := new(intake.NothingError); errors.As(err, &nothing) {
		text := fmt.Sprintf("Error: %v.", nothing)
		for _, step := range nothing.Try {
			text += fmt.Sprintf(" For %s: %s.", step.What, step.Command)
		}
		return text
	}
	if errors.Is(err, context.Canceled) {
		return "Error: cancelled."
	}
	then := strings.Join(exit.Classify(err).Hint, " ")
	switch status := exit.Classify(err).Status; {
	case errors.Is(err, gitstore.ErrNotRepository):
		then = "start the agent in a git repository, or register: git runr -C DIR mcp"
	case status == exit.Bug:
		then = ""
	case status == exit.Busy:
		then = cmp.Or(then, "try again")
	}
	if then == "" {
		return fmt.Sprintf("Error: %v.", err)
	}
	return fmt.Sprintf("Error: %v: %s.", err, then)
}

func notFound(e *record.NotFoundError) string {
	switch {
	case len(e.Among) > 0:
		return fmt.Sprintf("Error: %v: give the id of one of these: %s.", e, strings.Join(e.Lines(), "; "))
	case e.ID == record.Latest:
		return fmt.Sprintf("Error: %v.", e)
	case e.What == "review":
		return fmt.Sprintf("Review %s not found. Use review_list to see what there is.", e.ID)
	}
	return fmt.Sprintf("Error: %v: the ids are in review_get.", e)
}

// stateAdvice says what to do if a review is in the wrong state for an action.
var stateAdvice = map[string]string{
	string(record.ReviewOpen): "nobody has submitted it yet, a person answers later: go on and look again " +
		"another time",
	string(record.ReviewSubmitted): "claim it first with review_claim",
	string(record.ReviewResolved): "it was dealt with already; to take that back a person types: " +
		"git runr inbox reopen ID",
	string(record.ReviewCancelled): "ask for a new one with review; to take the cancellation back a person types: git " +
		"runr inbox reopen ID",
}

func stateRefused(e *record.StateError) string {
	if e.Holder != "" {
		return fmt.Sprintf("Error: %v: leave it to them, or pass force when the user says that you should take it over.", e)
	}
	if then, known := stateAdvice[e.Status]; known {
		return fmt.Sprintf("Error: %v: %s.", e, then)
	}
	return fmt.Sprintf("Error: %v.", e)
}

// told returns err as the protocol's library may send it: with a code, without names of our types, and short.
func told(err error) error {
	said := jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		said.Code, said.Message = jsonrpc.CodeInvalidParams,
			strings.TrimSuffix("params."+wrong.Field, ".")+" has the wrong type for this method"
	} else if known := new(jsonrpc.Error); errors.As(err, &known) && known.Code != 0 {
		said.Code, said.Data = known.Code, known.Data
	} else if strings.Contains(said.Message, "during session initialization") {
		said.Code, said.Message = jsonrpc.CodeInvalidRequest, "initialize comes first"
	}
	said.Message = line(said.Message, maxString)
	return &said
}

// protocolError returns err for requests whose results have no place for errors.
func protocolError(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: explain(err).Error()}
}
