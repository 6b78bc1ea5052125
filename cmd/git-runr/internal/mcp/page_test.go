package mcp

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
)

// pages reads a review to its end and returns its pages as texts and documents. It checks that no page exceeds the
// limit.
func (c *chat) pages(tool string, a args) (texts []string, docs []map[string]any) {
	c.t.Helper()
	for len(texts) < 1000 {
		result := c.result(tool, a)
		text := result.Content[0].(*sdk.TextContent).Text
		if result.IsError {
			c.t.Fatalf("%s %v: %s", tool, a, text)
		}
		doc := plainOf(result.StructuredContent).(map[string]any)
		if n := tokens(text) + jsonSize(doc); n > maxAnswer {
			c.t.Errorf("%s %v: %d tokens", tool, a, n)
		}
		texts, docs = append(texts, text), append(docs, doc)
		next, more := doc["next_cursor"].(string)
		if !more {
			if strings.Contains(text, "To read on: ") {
				c.t.Errorf("the last page says that there is more: %s", text[len(text)-200:])
			}
			return texts, docs
		}
		wants(c.t, text, "To read on: "+tool+" ", next)
		a["cursor"] = next
	}
	c.t.Fatalf("%s %v does not end", tool, a)
	return nil, nil
}

// joined appends the next part of a text, without the mark at the cut.
func joined(parts, part string) string {
	before, _, _ := strings.Cut(parts, "[…]")
	return before + part
}

// many returns a review with n comments, and the comments' ids.
func (p *project) many(n int, text string) (id string, comments []string) {
	p.t.Helper()
	id = p.asked("").ID
	var said []record.Comment
	for i := range n {
		said = append(said, record.Comment{File: "a.txt", StartLine: 1, EndLine: 1, SelectedText: "one",
			Comment: fmt.Sprintf("remark %d: %s", i, text)})
	}
	for _, comment := range p.submit(id, record.Person{Decision: record.RequestChanges, Message: "nearly",
		Comments: said}).Comments() {
		comments = append(comments, comment.ID)
	}
	return id, comments
}

// TestGetInPages: each of 500 comments is on one page, in order, in the text and in the document.
func TestGetInPages(t *testing.T) {
	p := newProject(t)
	id, ids := p.many(500, strings.Repeat("this is <not> \"right\", ", 10))
	c := p.chat()
	texts, docs := c.pages("review_get", args{"id": id})
	if len(texts) < 3 {
		t.Errorf("%d pages", len(texts))
	}
	all, at := strings.Join(texts, "\n"), 0
	for _, doc := range docs {
		if doc["total"].(interface{ String() string }).String() != "500" {
			t.Errorf("total %v", doc["total"])
		}
		for _, f := range doc["findings"].([]any) {
			f := f.(map[string]any)
			if want := fmt.Sprintf("remark %d: ", at); f["id"] != ids[at] || !strings.HasPrefix(f["issue"].(string), want) {
				t.Fatalf("finding %d is %v", at, f)
			}
			if n := strings.Count(all, "["+ids[at]+"]"); n != 1 {
				t.Errorf("finding %d stands %d times in the text", at, n)
			}
			at++
		}
	}
	if at != 500 {
		t.Errorf("%d findings in documents", at)
	}
	if n := strings.Count(all, "request_changes by Grace"); n != 1 {
		t.Errorf("the submission stands %d times", n)
	}
}

// TestGetInSmallPages: a limit, only unanswered findings, and a cursor whose finding was answered meanwhile.
func TestGetInSmallPages(t *testing.T) {
	p := newProject(t)
	id, ids := p.many(7, "hm")
	c := p.chat()
	texts, _ := c.pages("review_get", args{"id": id, "limit": 3})
	if len(texts) != 3 {
		t.Errorf("%d pages of 7 findings in threes", len(texts))
	}
	wants(t, texts[0], "[4 findings left. ", `{"id":"`+id+`","limit":3,"cursor":"`+ids[3]+`"}`)
	doc := c.document("review_get", args{"id": id, "limit": 3, "unanswered": true})
	if doc["next_cursor"] != ids[3] {
		t.Fatalf("cursor %v", doc["next_cursor"])
	}
	for _, finding := range []string{ids[3], ids[5]} {
		c.call("review_answer", args{"id": id, "finding": finding, "answer": "deferred"})
	}
	text := c.call("review_get", args{"id": id, "limit": 3, "unanswered": true, "cursor": ids[3]})
	wants(t, text, ids[4], ids[6])
	if strings.Contains(text, ids[3]+"]") || strings.Contains(text, ids[5]) || strings.Contains(text, "To read on") {
		t.Errorf("what is answered is shown:\n%s", text)
	}
	for _, cursor := range []string{"c-0000000000", "s9", ids[0] + "@99999", ids[0] + "@-1", ids[0] + "@x", "@", "\x1b"} {
		wants(t, c.refused("review_get", args{"id": id, "cursor": cursor}),
			"not a cursor of this review: leave it out to start again")
	}
}

// TestGetCutsLongTexts: a reviewer's text that is longer than a page is read in parts, and no part is lost.
func TestGetCutsLongTexts(t *testing.T) {
	p := newProject(t)
	id := p.asked(strings.Repeat("mind \x1b the gap\n", 2000)).ID
	var long strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&long, "é\x1b word %d\n", i)
	}
	p.submit(id, record.Person{Actor: "Grace", Decision: record.CommentOnly, Message: long.String(),
		Comments: []record.Comment{{Comment: long.String()}, {Comment: "short"}}})
	texts, docs := p.chat().pages("review_get", args{"id": id})
	if len(texts) < 4 {
		t.Errorf("%d pages", len(texts))
	}
	var said, found string
	for _, doc := range docs {
		for _, s := range doc["submissions"].([]any) {
			said = joined(said, s.(map[string]any)["text"].(string))
		}
		for _, f := range doc["findings"].([]any) {
			found = joined(found, f.(map[string]any)["issue"].(string))
		}
	}
	safe := safetext.Text(long.String())
	if found != safe+"short" {
		t.Errorf("the comment has %d bytes, want %d", len(found), len(safe)+5)
	}
	if !strings.Contains(said, safetext.Quote(long.String())) {
		t.Errorf("the message is not in %d bytes that were said", len(said))
	}
	all := strings.Join(texts, "")
	for i := range 5000 {
		// a line at a cut is in the list of ids as well
		if n := strings.Count(all, fmt.Sprintf(" word %d\n", i)); n != 2 && n != 3 {
			t.Fatalf("word %d stands %d times in the text", i, n)
		}
	}
}

// TestGetShowsLongFindings: an agent's long finding is split between pages, and not cut otherwise.
func TestGetShowsLongFindings(t *testing.T) {
	p := newProject(t)
	id := p.waitingFor("builtin")
	sub := record.Submission{Reviewer: "builtin", Outcome: record.OutcomeFailed,
		Report: reply.Report{Verdict: reply.NeedsFix, Effective: reply.NeedsFix, Findings: []reply.Finding{
			{Severity: reply.Warning, Issue: strings.Repeat("it is long and ", 3000) + "ends here"},
			{Severity: reply.Note, Issue: "Another"},
		}}}
	reply.Identify(sub.Report.Findings)
	if _, err := p.store().SubmitReview(t.Context(), id, sub, ""); err != nil {
		t.Fatal(err)
	}
	texts, docs := p.chat().pages("review_get", args{"id": id})
	wants(t, strings.Join(texts, ""), "ends here\n", ": Another\n")
	found := ""
	for _, doc := range docs {
		for _, f := range doc["findings"].([]any) {
			found = joined(found, f.(map[string]any)["issue"].(string))
		}
	}
	if found != sub.Report.Findings[0].Issue+"Another" {
		t.Errorf("%d pages say %d bytes", len(docs), len(found))
	}
}

// TestListInPages: each review is listed once, even if the list changes between two pages.
func TestListInPages(t *testing.T) {
	p := newProject(t)
	var ids []string
	for range 7 {
		ids = append(ids, p.submitted().ID)
	}
	c := p.chat()
	seen := map[string]int{}
	a := args{"limit": 2}
	for page := 0; ; page++ {
		doc := c.document("review_list", a)
		for _, r := range doc["reviews"].([]any) {
			seen[r.(map[string]any)["review_id"].(string)]++
		}
		if page == 0 {
			p.submitted() // is listed before the first page
		}
		if page == 1 { // the last review of the page leaves the list
			rows := doc["reviews"].([]any)
			c.call("review_resolve", args{"id": rows[len(rows)-1].(map[string]any)["review_id"]})
		}
		next, more := doc["next_cursor"].(string)
		if !more {
			break
		}
		a["cursor"] = next
	}
	for _, id := range ids {
		if seen[id] == 0 {
			t.Errorf("%s was not shown: %v", id, seen)
		}
	}
	wants(t, c.call("review_list", args{"limit": 2}), "(5 more: review_list {", `"cursor":"2-`)
	for _, cursor := range []string{"x", "1", "0-" + ids[0], "-1-" + ids[0], "1-x"} {
		wants(t, c.refused("review_list", args{"cursor": cursor}), "not a cursor of this list")
	}
}

// TestDiffInPages: the pages of a patch together are the patch.
func TestDiffInPages(t *testing.T) {
	p := newProject(t)
	var long strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&long, "line %d of <many>\t\n", i)
	}
	p.write("long.txt", long.String())
	p.write("bin", "a\x00b\xff")
	p.write("new\nline.txt", "in a name\n")
	p.write("caf\xe9.go", "no UTF-8\n")
	p.commit("more")
	id := p.asked("").ID
	c := p.chat()
	texts, docs := c.pages("review_diff", args{"id": id})
	var patch strings.Builder
	for _, doc := range docs {
		patch.WriteString(doc["patch"].(string))
	}
	store := p.store()
	subject := p.review(id).Request.Subject
	want, _, err := store.Repo.Diff(t.Context(), diffOf(subject))
	if err != nil || patch.String() != string(want) {
		t.Errorf("%d pages hold %d bytes, want %d, %v", len(texts), patch.Len(), len(want), err)
	}
	if text := c.call("review_diff", args{"id": id, "file": "bin"}); strings.Contains(text, "long.txt") ||
		!strings.Contains(text, "Binary files") {
		t.Errorf("one file: %s", text)
	}
	for _, name := range []string{"new line.txt", "new\nline.txt"} { // the shown name and the real one
		wants(t, c.call("review_diff", args{"id": id, "file": name}), "+in a name")
	}
	wants(t, c.call("review_diff", args{"id": id, "file": `caf\xe9.go`}), "+no UTF-8")
	wants(t, c.refused("review_diff", args{"id": id, "file": "../a.txt"}), "Error: ")
	wants(t, c.refused("review_diff", args{"id": id, "file": "a.txt"}), "a.txt is not in the change")
	wants(t, c.refused("review_diff", args{"id": id, "cursor": "-3"}), "not a cursor of this change")
}

// TestListIsBounded: pages with long rows have fewer rows.
func TestListIsBounded(t *testing.T) {
	p := newProject(t)
	const n = 40
	for range n {
		p.asked(strings.Repeat("mind the \"gap\" \x1b ", 300))
	}
	c, a, seen := p.chat(), args{"status": "open", "limit": 200}, 0
	for seen < n {
		result := c.result("review_list", a)
		doc := plainOf(result.StructuredContent).(map[string]any)
		text := result.Content[0].(*sdk.TextContent).Text
		if size := tokens(text) + jsonSize(doc); size > maxAnswer {
			t.Errorf("%d tokens", size)
		}
		rows := doc["reviews"].([]any)
		if len(rows) == 0 || len(rows) == n {
			t.Fatalf("%d rows on a page", len(rows))
		}
		if got := strings.Count(text, "\n- ["); got != len(rows) {
			t.Errorf("%d rows in the text, %d in the document", got, len(rows))
		}
		seen += len(rows)
		a["cursor"], _ = doc["next_cursor"].(string)
	}
	if seen != n || a["cursor"] != "" {
		t.Errorf("%d rows, then %v", seen, a["cursor"])
	}
}
