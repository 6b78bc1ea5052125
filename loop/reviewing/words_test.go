package reviewing

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// TestFirstWordsAreTheRequest: if no request can be extracted from a refusing review, its first statement is the
// request.
func TestFirstWordsAreTheRequest(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"prose", "The loop never terminates.\nIt spins.\n\nMore of it.\n\n### Verdict: NEEDS_FIX\n",
			[]string{"The loop never terminates. It spins"}},
		{"after a heading", "# Review\n\n### Verdict: CRITICAL\n\nThe format is wrong.\n", []string{"The format is wrong"}},
		{"a summary under its heading", "### Verdict: NEEDS_FIX\n\n### Summary\nIt is purple.", []string{"It is purple"}},
		{"a summary of JSON", `{"success":false,"review_summary":"It leaks.","review_issues":[]}`, []string{"It leaks"}},
		{"a summary of ours",
			"```runr-review n0nce\n{\"verdict\":\"NEEDS_FIX\",\"summary\":\"It leaks.\",\"findings\":[]}\n```",
			[]string{"It leaks"}},
		{"one word", "Flaky.\n\n### Verdict: NEEDS_FIX\n", []string{"Flaky"}},
		{"one word and a statement", "Review\n\nIt leaks.\n\n### Verdict: NEEDS_FIX\n", []string{"It leaks"}},
		{"no spaces", "競合状態があります。\n\n### Verdict: NEEDS_FIX\n", []string{"競合状態があります。"}},
		{"behind the verdict", "### Verdict: NEEDS_FIX — it leaks\n", []string{"it leaks"}},
		{"a count behind the verdict", "### Verdict: NEEDS_FIX — 3 issues\n", nil},
		{"none", "### Findings\nNone.\n\n### Verdict: NEEDS_FIX\n", nil},
		{"no reason at all", "### Verdict: NEEDS_FIX\n", nil},
		{"JSON without a reason", `{"success":false,"review_issues":[]}`, nil},
		{"a pass", "All of it is as it should be.\n\n### Verdict: PASS\n", nil},
		{"findings are the request",
			"Prose.\n\n### Verdict: NEEDS_FIX\n### Findings\n- **Severity:** Warning\n- **Issue:** It leaks\n",
			[]string{"It leaks"}},
		{"long", strings.Repeat("éé ", 100) + "\n\n### Verdict: NEEDS_FIX", []string{strings.Repeat("éé ", 60) + "…"}},
	} {
		if got := reply.ParseReview(test.text, "n0nce").Requests; !slices.Equal(got, test.want) &&
			len(got)+len(test.want) > 0 {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestUnreadableAsksForNothing: an unreadable answer, such as a tool's error, contains no request for an implementer.
func TestUnreadableAsksForNothing(t *testing.T) {
	report := reply.ParseReview("stream error: 429", "n")
	if !report.Unreadable() || report.Text != "stream error: 429" {
		t.Errorf("%+v", report)
	}
}

// The report contains the reviewer's full text, whatever was extracted from it.
func TestReportText(t *testing.T) {
	const nonce = "1f2e3d4c5b6a7988"
	for text, want := range map[string]string{
		"\uFEFFa\r\nb \xff\n\n":              "a\nb \uFFFD",
		"  ### Verdict: PASS\r\n":            "### Verdict: PASS",
		"a\x1b[31mb\x1b]0;title\x07c\u202ed": "ab\x1b]0;title\x07c\u202ed",
	} {
		if got := reply.ParseReview(text, nonce).Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	tagged := "I read it.\n\n```runr-review " + nonce +
		"\n{\"verdict\": \"NEEDS_FIX\", \"summary\": \"It leaks.\", \"findings\": []}\n```\n"
	r := reply.ParseReview(tagged, nonce)
	if strings.Contains(r.Text, nonce) || !strings.Contains(r.Text, "It leaks.") || r.Requests[0] != "It leaks" {
		t.Errorf("text %q, requests %q", r.Text, r.Requests)
	}
	long := reply.ParseReview("HEAD\n"+strings.Repeat("ä line\n", 20000)+"TAIL\n", "")
	if len(long.Text) > reply.MaxText || len(long.Text) < reply.MaxText-100 || !strings.HasPrefix(long.Text, "HEAD\n") ||
		!strings.HasSuffix(long.Text, "TAIL") || !strings.Contains(long.Text, "left out") {
		t.Errorf("%d bytes: %q … %q", len(long.Text), prose.Cut(long.Text, 20), long.Text[len(long.Text)-20:])
	}
}

func TestCutMiddle(t *testing.T) {
	text := strings.Repeat("é", 200)
	for most := -5; most < 410; most++ {
		got := prose.CutMiddle(text, most)
		if len(got) > max(most, 0) || !utf8.ValidString(got) || most >= len(text) && got != text {
			t.Errorf("at most %d: %d bytes: %q", most, len(got), got)
		}
	}
}

func TestProse(t *testing.T) {
	block := "```runr-review n0nce\n{\"verdict\":\"PASS\",\"summary\":\"fine\",\"findings\":[]}\n```"
	for _, test := range []struct{ name, text, want string }{
		{"nothing beside the block", block, ""},
		{"before and after it", "I read it.\n\n" + block + "\n\nThat is all.", "I read it.\n\n\nThat is all."},
		{"other fences stay", "```go\nx\n```\n" + block, "```go\nx\n```"},
		{"an object", `{"success":true,"review_summary":"fine","review_issues":[]}`, ""},
		{"a fence of another kind that reads alike", strings.Replace(block, "runr-review n0nce", "json", 1) + "\n" + block,
			"```json\n{\"verdict\":\"PASS\",\"summary\":\"fine\",\"findings\":[]}\n```"},
		{"a verdict alone", "### Verdict: NEEDS_FIX\n", ""},
		{"Markdown", "### Verdict: PASS\n\nfine", "### Verdict: PASS\n\nfine"},
		{"a summary that is all of it", "All wrong.\n\n### Verdict: NEEDS_FIX", ""},
		{"a summary that is all of it, made visible", "All \x07wrong.\n\n### Verdict: NEEDS_FIX", ""},
		{"a block that was read with a warning",
			strings.Replace(block, `"findings":[]`, `"findings":[{"severity":"odd","issue":"x"}]`, 1), ""},
		{"words against a block", "### Verdict: NEEDS_FIX\n\n" + block, "### Verdict: NEEDS_FIX"},
		{"a field that is not known", "So:\n\n" + strings.Replace(block, `"findings":[]`, `"issues":["x"]`, 1), "ALL"},
		{"a block that was not read", "So:\n\n" + strings.Replace(block, `"findings":[]`, `"findings":[`, 1), "ALL"},
	} {
		report := reply.ParseReview(test.text, "n0nce")
		want := test.want
		if want == "ALL" {
			want = report.Text
		}
		if got := report.Prose(); got != want {
			t.Errorf("%s: %q, want %q", test.name, got, want)
		}
	}
}
