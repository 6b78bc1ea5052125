package mcp

import (
	"fmt"
	"strings"
	"testing"
)

// TestNamesOfFiles: all answers name a file in the same way. The file is found by that name, by the name that a
// terminal shows and by the name in a patch.
func TestNamesOfFiles(t *testing.T) {
	p := newProject(t)
	p.write("old.txt", strings.Repeat("the same\n", 20))
	p.commit("before")
	p.git("mv", "old.txt", "moved.txt")
	p.write("moved.txt", strings.Repeat("the same\n", 20)+"and more\n")
	p.write("d\xe9p/caf\xe9.go", "no UTF-8\n")
	p.write("ä.txt", "an umlaut\n")
	p.write("tab\there \"q\".txt", "a tab\n")
	p.commit("after")
	id := p.asked("").ID
	c := p.chat()
	for name, want := range map[string]string{
		"d\ufffdp/caf\ufffd.go":   "+no UTF-8",
		`d\xe9p/caf\xe9.go`:       "+no UTF-8",
		`"d\351p/caf\351.go"`:     "+no UTF-8",
		`"b/d\351p/caf\351.go"`:   "+no UTF-8",
		`d\351p/caf\351.go`:       "+no UTF-8",
		`"\303\244.txt"`:          "+an umlaut",
		`\303\244.txt`:            "+an umlaut",
		"ä.txt":                   "+an umlaut",
		`"a/tab\there \"q\".txt"`: "+a tab",
		"tab\there \"q\".txt":     "+a tab",
		"moved.txt":               "rename from old.txt\nrename to moved.txt",
		"old.txt":                 "rename from old.txt\nrename to moved.txt",
	} {
		text := c.call("review_diff", args{"id": id, "file": name})
		if n := strings.Count(text, "diff --git"); !strings.Contains(text, want) || n != 1 {
			t.Errorf("%q: %d files, want %q:\n%s", name, n, want, text)
		}
	}
	listed := fmt.Sprint(c.document("review_diff", args{"id": id})["files"])
	wants(t, listed, "path:d\ufffdp/caf\ufffd.go", "old_path:old.txt path:moved.txt")

	for _, name := range []string{"d\ufffdp/caf\ufffd.go", `d\xe9p/caf\xe9.go`, `"b/d\351p/caf\351.go"`} {
		c.call("review_comment", args{"id": id, "file": name, "line": 1, "text": "why?"})
	}
	c.call("review_submit", args{"id": id, "verdict": "request_changes"})
	text := c.call("review_get", args{"id": id})
	if strings.Contains(text, "outdated") {
		t.Errorf("its file is not found: %s", text)
	}
	for _, f := range c.document("review_get", args{"id": id})["findings"].([]any) {
		f := f.(map[string]any)
		if f["file"] != "d\ufffdp/caf\ufffd.go" {
			t.Errorf("a finding has the file %q", f["file"])
		}
	}
	c.call("review", args{"files": []string{`"\303\244.txt"`}, "reviewer": "human"})
	if got := p.review("latest").Request.Subject.Paths; len(got) != 1 || got[0] != "ä.txt" {
		t.Errorf("asked for %q", got)
	}
}

// TestNameWithLineFeed: a text shows it as git quotes it, so that it is no other file's, and a document as it is.
func TestNameWithLineFeed(t *testing.T) {
	const name = "new\nline.txt"
	p := newProject(t)
	p.write(name, "one\n")
	p.commit("after")
	id := p.asked("").ID
	c := p.chat()
	c.call("review_comment", args{"id": id, "file": name, "line": 1, "text": "why?"})
	c.call("review_submit", args{"id": id, "verdict": "request_changes"})
	wants(t, c.call("review_get", args{"id": id}), `"new\nline.txt":1`)
	found := c.document("review_get", args{"id": id})["findings"].([]any)[0].(map[string]any)
	if found["file"] != name {
		t.Errorf("a finding has the file %q", found["file"])
	}
	if listed := fmt.Sprint(c.document("review_diff", args{"id": id})["files"]); !strings.Contains(listed, "path:"+name) {
		t.Errorf("the change has %s", listed)
	}
}
