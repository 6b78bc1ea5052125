package mcp

import (
	"strings"
	"testing"
)

// TestArgumentsThatDoNotFit: the error is one sentence that names the argument and its allowed values.
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
		{"review_list", args{"status": "none"},
			"Error: status must be one of inbox, waiting, open, submitted, claimed, resolved, cancelled, all."},
		{"review_list", args{"status": []any{}},
			"Error: status must be one of inbox, waiting, open, submitted, claimed, resolved, cancelled, all."},
		{"review_get", args{}, "Error: id is missing: it must be a text of at most 100000 characters."},
		{"review_get", nil, "Error: id is missing: it must be a text of at most 100000 characters."},
		{"review_get", args{"id": map[string]any{}}, "Error: id must be a text of at most 100000 characters."},
		{"review_get", args{"id": strings.Repeat("x", 100_001)}, "Error: id must be a text of at most 100000 characters."},
		{"review_get", args{"id": "x", "unanswered": 1}, "Error: unanswered must be true or false."},
		{"review_get", args{"id": "x", "page": 2}, "Error: there is no argument page, only cursor, id, limit, unanswered."},
		{"review", args{"files": []any{"a.txt", 3}}, "Error: files[1] must be a text of at most 100000 characters."},
		{"review_submit", args{"id": "x", "verdict": "comment", "comments": []any{7}},
			"Error: comments[0] must be an object."},
		{"review_submit", args{"id": "x", "verdict": "comment", "comments": []any{args{"text": "x", "line": 0}}},
			"Error: comments[0].line must be a whole number, 1 or more."},
		{"review_submit", args{"id": "x", "verdict": "comment", "comments": []any{args{}}},
			"Error: comments[0].text is missing: it must be a text of at most 100000 characters."},
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
