package comment

import (
	"fmt"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`[]`, ""},
		{`[{"file":"a.go","startLine":1,"endLine":2,"selectedText":"x","comment":"y"}]`, "a.go:1-2 x y"},
		{`[{"file":"a.go","start_line":3,"end_line":3,"selected_text":"x","comment":"y","side":"old","severity":"note"}]`,
			"a.go:3 x y"},
		{`[{"comment":"y"},{"file":"a","comment":"z"}]`, "  y; a  z"},
		{`null`, "error: comments must be a list"},
		{`{}`, "error: comments: must be a list, not object"},
		{``, "error: comments: it is empty"},
		{`prose`, "error: comments: it is not JSON: "},
		{`[{"file":1,"comment":"x"}]`, "error: comment 1: file must be a text, not number"},
		{`[`, "error: "},
		{`[1]`, "error: comment 1: must be an object"},
		{`[null]`, "error: comment 1: must be an object"},
		{`[{"comment":" "}]`, "error: comment 1: it says nothing"},
		{`[{"comment":"x","more":1}]`, "error: comment 1: unknown field"},
		{`[{"comment":"x","Comment":"y"}]`, "error: comments: duplicate key"},
		{`[{"COMMENT":"x"}]`, `error: comment 1: key "COMMENT"`},
		{`[{"comment":"x"}] 1`, "error: comments: bytes after"},
		{`[{"file":"a","startLine":-1,"comment":"x"}]`, "error: comment 1: "},
		{`[{"file":"a","startLine":1.5,"comment":"x"}]`, "error: comment 1: "},
		{`[{"file":"a","startLine":2,"endLine":1,"comment":"x"}]`, "error: comment 1: 2-1 is not a range"},
		{`[{"file":"a","endLine":1,"comment":"x"}]`, "error: comment 1: 0-1 is not a range"},
		{`[{"startLine":1,"comment":"x"}]`, "error: comment 1: it has lines, but no file"},
		{`[{"comment":"x","severity":"awful"}]`, "error: comment 1: unknown severity"},
		{`[{"comment":"x","side":"left"}]`, "error: comment 1: unknown side"},
		{"[{\"comment\":\"\xff\"}]", "error: comments: invalid UTF-8"},
		{"[" + strings.Repeat(`{"comment":"x"},`, maxList) + `{"comment":"x"}]`, "error: comments must be a list"},
		{strings.Repeat(" ", MaxFile+1), "error: comments are more than"},
	} {
		comments, err := Decode([]byte(test.text))
		var lines []string
		for _, c := range comments {
			lines = append(lines, fmt.Sprintf("%s %s %s", c.Place(), c.SelectedText, c.Comment))
		}
		got := strings.Join(lines, "; ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if wantsError := strings.HasPrefix(test.want, "error: "); wantsError != (err != nil) ||
			!strings.HasPrefix(got, test.want) {
			t.Errorf("%.80q: %q, want %q", test.text, got, test.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`[{"file":"a.go","startLine":1,"endLine":2,"selectedText":"x","comment":"y"}]`))
	f.Add([]byte(`[{"comment":"x"},{"Comment":"x"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		comments, err := Decode(data)
		for _, c := range comments {
			if err == nil &&
				(strings.TrimSpace(c.Comment) == "" || c.StartLine < 0 || c.EndLine != 0 && c.EndLine < c.StartLine) {
				t.Errorf("accepted %+v", c)
			}
		}
	})
}
