package mcp

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestArgumentsThatDoNotFit: each is told in one sentence that names it and says what it may be.
func TestArgumentsThatDoNotFit(t *testing.T) {
	c := newProject(t).chat()
	for _, one := range []struct {
		tool string
		args args
		want string
	}{
		{"review_list", args{"limit": 0}, "Error: limit must be a whole number from 1 to 200."},
		{"review_list", args{"limit": 1.5}, "Error: limit must be a whole number from 1 to 200."},
		{"review_list", args{"limit": "many"}, "Error: limit must be a whole number from 1 to 200."},
		{"review_get", args{"id": "x", "limit": 1e300}, "Error: limit must be a whole number, 1 or more."},
		{"review_list", args{"status": "none"}, "Error: status must be one of inbox, waiting, open, submitted, claimed, resolved, cancelled, all."},
		{"review_list", args{"status": []any{}}, "Error: status must be one of inbox, waiting, open, submitted, claimed, resolved, cancelled, all."},
		{"review_get", args{}, "Error: id is missing: it must be a text of at most 100000 characters."},
		{"review_get", nil, "Error: id is missing: it must be a text of at most 100000 characters."},
		{"review_get", args{"id": map[string]any{}}, "Error: id must be a text of at most 100000 characters."},
		{"review_get", args{"id": strings.Repeat("x", 100_001)}, "Error: id must be a text of at most 100000 characters."},
		{"review_get", args{"id": "x", "unanswered": 1}, "Error: unanswered must be true or false."},
		{"review_get", args{"id": "x", "page": 2}, "Error: there is no argument page, only cursor, id, limit, unanswered."},
		{"review", args{"files": []any{"a.txt", 3}}, "Error: files[1] must be a text of at most 100000 characters."},
		{"review_submit", args{"id": "x", "verdict": "comment", "comments": []any{7}}, "Error: comments[0] must be an object."},
		{"review_submit", args{"id": "x", "verdict": "comment", "comments": []any{args{"text": "x", "line": 0}}}, "Error: comments[0].line must be a whole number, 1 or more."},
		{"review_submit", args{"id": "x", "verdict": "comment", "comments": []any{args{}}}, "Error: comments[0].text is missing: it must be a text of at most 100000 characters."},
	} {
		if got := c.refused(one.tool, one.args); got != one.want {
			t.Errorf("%s %.100v: %.300s\nwant %s", one.tool, one.args, got, one.want)
		}
	}
	for _, tool := range []string{"review_get", "review_diff", "review_claim", "diagnose", "review_wait"} {
		if got := c.refused(tool, args{"id": strings.Repeat("x", 100_000)}); len(got) > 3*maxString {
			t.Errorf("%s: %d bytes of an id are told again", tool, len(got))
		}
	}
}

// TestResourcesAreNamedAsPeopleDo: what a file's name has may be escaped or not, in any order.
func TestResourcesAreNamedAsPeopleDo(t *testing.T) {
	p := newProject(t)
	for _, name := range []string{"new\nline\x1b[31m.txt", "a b+c;d.txt", "ä&.txt", "caf\xe9.go"} {
		p.write(name, "evil\n")
	}
	p.write("long.txt", strings.Repeat("a line of it\n", 20_000))
	p.commit("odd")
	id, c := p.asked("").ID, p.chat()
	for _, query := range []string{
		"file=new%0Aline%1B[31m.txt", "file=new%0Aline%1B%5B31m.txt", "file=a%20b+c;d.txt", "file=a%20b%2Bc%3Bd.txt", "file=ä%26.txt", "file=%C3%A4%26.txt",
		"file=caf\\xe9.go", "cursor=byte-0&file=a%20b+c;d.txt",
	} {
		uri := diffURI(id) + "?" + query
		read, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || strings.Count(read.Contents[0].Text, "+evil") != 1 || read.Contents[0].URI != uri {
			t.Errorf("%s: %v, %v", uri, read, err)
		}
	}
	read, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: diffURI(id) + "?cursor=byte-60000&file=long.txt"})
	if err != nil || strings.Contains(read.Contents[0].Text, "diff --git") {
		t.Errorf("the cursor is not heard: %v", err)
	}
	for query, want := range map[string]string{
		"cursor=byte-" + strings.Repeat("0", 200): "no cursor of this change", "file=" + strings.Repeat("%20", 50_000) + "long.txt": "not found",
		"file=%00": "no name in git has a NUL byte", "file=x%00": "NUL", "file=gone": "gone is not in the change", "else=1": "not found"} {
		_, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: diffURI(id) + "?" + query})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "exec") {
			t.Errorf("%s: %v", query, err)
		}
	}
}
