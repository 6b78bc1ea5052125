package model

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"
)

// object is a JSON object of any protocol.
type object map[string]any

func (o object) str(key string) string { s, _ := o[key].(string); return s }

// list returns the objects of a list.
func (o object) list(key string) (all []object) {
	items, _ := o[key].([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

func (o object) object(key string) object {
	m, _ := o[key].(map[string]any)
	return m
}

// read parses a request to a model. ok is false for other requests.
func read(q *http.Request, raw []byte) (r Request, ok bool) {
	var body object
	if q.Method != http.MethodPost || json.Unmarshal(raw, &body) != nil {
		return Request{}, false
	}
	r = Request{Model: body.str("model"), Key: Key(q.Header), Body: string(raw)}
	r.stream, _ = body["stream"].(bool)
	last := path.Base(q.URL.Path)
	model, method, _ := strings.Cut(last, ":")
	switch {
	case method == "generateContent", method == "streamGenerateContent":
		r.Form, r.Model, r.stream = "gemini", model, method == "streamGenerateContent"
	case last == "responses", last == "messages":
		r.Form = last
	case strings.HasSuffix(q.URL.Path, "/chat/completions"):
		r.Form = "chat"
	default:
		return Request{}, false
	}
	for _, tool := range body.list("tools") {
		r.Tools = append(r.Tools, names(tool)...)
	}
	for _, list := range []string{"input", "messages", "contents"} {
		for _, message := range body.list(list) {
			r.follow(message)
		}
	}
	return r, true
}

// Key returns the API key of a request, in any protocol.
func Key(h http.Header) string {
	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key", "Authorization"} {
		if v := h.Get(name); v != "" {
			return strings.TrimPrefix(v, "Bearer ")
		}
	}
	return ""
}

// names returns the name of a tool, or of each function that it declares.
func names(tool object) (all []string) {
	for _, f := range tool.list("functionDeclarations") {
		all = append(all, f.str("name"))
	}
	for _, name := range []string{tool.str("name"), tool.object("function").str("name"), tool.str("type")} {
		if len(all) == 0 && name != "" {
			return []string{name}
		}
	}
	return all
}

// follow adds a message of the conversation: the user's, or the result of a tool.
func (r *Request) follow(m object) {
	if m.str("role") == "tool" || strings.HasSuffix(m.str("type"), "_call_output") {
		r.Turn++
	}
	if m.str("role") != "user" {
		return
	}
	var said []string
	if s := m.str("content"); s != "" {
		said = append(said, s)
	}
	results := 0
	for _, part := range append(m.list("content"), m.list("parts")...) {
		if part.str("type") == "tool_result" || part["functionResponse"] != nil {
			results++
		} else if s := part.str("text"); s != "" {
			said = append(said, s)
		}
	}
	if r.Turn += results; results == 0 {
		r.Prompt, r.Turn = strings.Join(said, "\n"), 0
	}
}
