package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"git-runr/loop/safetext"
)

// maxAnswer is the most bytes of text of one answer, and of one document.
const maxAnswer = 200_000

// bounded makes text safe to show and cuts it after a line when it is too long.
func bounded(text string) string {
	text = safetext.Text(text)
	if len(text) <= maxAnswer {
		return text
	}
	cut := text[:maxAnswer]
	if i := strings.LastIndexByte(cut, '\n'); i > 0 {
		cut = cut[:i+1]
	}
	cut = strings.ToValidUTF8(cut, "")
	return fmt.Sprintf("%s\n[Cut off here: %d bytes more. The whole is shown by: git runr inbox get ID, or git runr diagnose ID]", cut, len(text)-len(cut))
}

// line is foreign text on one line of at most max characters.
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

// document is v as plain JSON values, with foreign text made safe and long lists and
// texts cut. It is nil when even so it is too large: the text then is all there is.
func document(v any) any {
	body, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var plain any
	if dec.Decode(&plain) != nil {
		return nil
	}
	plain = tame(plain)
	if body, err = json.Marshal(plain); err != nil || len(body) > maxAnswer {
		return nil
	}
	return plain
}

func tame(v any) any {
	switch v := v.(type) {
	case string:
		return clip(safetext.Text(v), maxString)
	case []any:
		v = v[:min(len(v), maxItems)]
		for i := range v {
			v[i] = tame(v[i])
		}
		return v
	case map[string]any:
		for key := range v {
			v[key] = tame(v[key])
		}
	}
	return v
}
