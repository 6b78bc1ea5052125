package web

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/spend"
)

// page returns what a logged-in browser is shown.
func (s *site) page(path string) string {
	s.Helper()
	answer := s.ask("GET", path, "", s.asPerson()).want(200)
	if kind := answer.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" {
		s.Errorf("%s is %q", path, kind)
	}
	return answer.text
}

// form sends a form as the page does, and returns the answer.
func (s *site) form(path string, pairs ...string) *response {
	s.Helper()
	body := url.Values{formTokenField: {s.formToken(nil)}}
	for i := 0; i+1 < len(pairs); i += 2 {
		body.Set(pairs[i], pairs[i+1])
	}
	return s.ask("POST", path, body.Encode(), s.asPerson(), formBody)
}

func shows(t *testing.T, page string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(page, part) {
			t.Errorf("%q is not on the page", part)
		}
	}
	if t.Failed() {
		t.Fatal(page)
	}
}

func hides(t *testing.T, page string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(page, part) {
			t.Errorf("%q is on the page", part)
		}
	}
}

// put writes a file with any name.
func (s *site) put(name string, content []byte) {
	s.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		s.Fatal(err)
	}
}

func (s *site) commit(message string) {
	s.Helper()
	runGit(s.T, s.dir, "add", "-A")
	runGit(s.T, s.dir, "commit", "-q", "--allow-empty", "-m", message)
}

func pngImage(t *testing.T, width int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, 4))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// section returns the part of a page that shows a file.
func section(t *testing.T, page, file string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `id="`+fileKey(file)+`"`)
	if !ok {
		t.Fatalf("%s is not on the page:\n%s", file, page)
	}
	part, _, _ := strings.Cut(rest, "</section>")
	return part
}

func TestAssets(t *testing.T) {
	s := newSite(t)
	home := s.page("/")
	checkHTML(t, home)
	found := regexp.MustCompile(`/assets/[a-z]+-[0-9a-f]{12}\.(css|js|svg)`).FindAllString(home, -1)
	if len(found) < 3 {
		t.Fatalf("assets %q", found)
	}
	for _, name := range found {
		answer := s.ask("GET", name, "").want(200)
		kind := map[string]string{".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}[filepath.Ext(name)]
		if !strings.HasPrefix(answer.Header.Get("Content-Type"), kind) ||
			!strings.Contains(answer.Header.Get("Cache-Control"), "immutable") || answer.text == "" {
			t.Errorf("%s: %v", name, answer.Header)
		}
	}
	s.ask("GET", "/assets/page.css", "").want(404)
	s.ask("GET", "/assets/..%2ftemplates%2flayout.html", "").want(404)
}

func TestInboxPage(t *testing.T) {
	s := newSite(t)
	shows(t, s.page("/"), "No review is in this clone.", "git runr review HEAD")
	s.NotHere = func(context.Context) string { return "If origin has reviews, they are not here." }
	shows(t, s.page("/"), "No review is in this clone.", "If origin has reviews, they are not here.", "git runr sync")
	open, claimed, resolved := s.request(), s.submitted(), s.submitted()
	s.api("POST", "/api/review/submissions/"+claimed+"/claim", `{"claimedBy":"Grace <g@example.com>"}`).want(200)
	s.api("POST", "/api/review/submissions/"+resolved+"/resolve", `{"resolvedBy":"bot"}`).want(200)
	page := s.page("/review")
	checkHTML(t, page)
	shows(t, page, "/review/"+open, "waits for <b>human</b>", "/review/"+claimed, "held by <b>Grace</b>", "59 min left",
		`title="1 comment"`, "needs fix",
		`aria-current="page">Inbox <span class="n">2</span>`, `Resolved <span class="n">1</span>`,
		`All <span class="n">3</span>`)
	hides(t, page, "/review/"+resolved)
	s.api("POST", "/api/review/submissions/"+open+"/claim", `{"claimedBy":"Hedy <h@example.com>"}`).want(200)
	shows(t, s.page("/review"), "held by <b>Hedy</b>") // before anybody has answered
	shows(t, s.page("/review/"+open), "Claimed by <b>Hedy</b>")
	_, short, _ := strings.Cut(open, "-")
	shows(t, page, `<code title="`+open+`">`+short+`</code>`)
	shows(t, s.page("/review/"+open), `<code title="`+open+`">`+short+`</code>`)
	page = s.page("/review?status=resolved")
	shows(t, page, "/review/"+resolved, "resolved by bot")
	hides(t, page, "/review/"+open, "/review/"+claimed)
	shows(t, s.page("/review?status=cancelled"), "Nothing here")
	s.ask("GET", "/review?status=x", "", s.asPerson()).want(400)
	shows(t, s.ask("GET", "/review/nix", "", s.asPerson()).want(404).text, "Back to the inbox")
	s.ask("GET", "/nowhere", "", s.asPerson()).want(404)
}

func TestPrivateReview(t *testing.T) {
	s := newSite(t)
	s.Store.Asks = &gitstore.Audience{Private: true}
	id := s.request()
	for _, path := range []string{"/review", "/review/" + id} {
		shows(t, s.page(path), "<span>private: it stays in this clone</span>")
	}
}

func TestInboxPages(t *testing.T) {
	s := newSite(t)
	subject, err := s.Store.Subject(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for range aPage + 3 {
		review, err := s.Store.RequestReview(context.Background(),
			record.ReviewRequest{Subject: subject, Reviewer: record.Human}, "cli")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, review.ID)
	}
	first, second := s.page("/review"), s.page("/review?page=2")
	shows(t, first, "1–50 of 53", `href="/review?page=2"`, ids[len(ids)-1])
	shows(t, second, "51–53 of 53", `href="/review"`, ids[0])
	for _, id := range ids {
		if strings.Contains(first, "/review/"+id) == strings.Contains(second, "/review/"+id) {
			t.Errorf("%s is on both pages or none", id)
		}
	}
	shows(t, s.page("/review?page=99999999999999999999"), "1–50 of 53")
	shows(t, s.page("/review?page=9"), "Nothing here")
}

// changeOfAllKinds returns a site with a commit that contains every kind of file change.
func changeOfAllKinds(t *testing.T) *site {
	s := newSite(t)
	s.put("old/name.go", []byte("package x\n\n/* a\n comment\n over lines\n */\nfunc f() int { return 1 }\n\n// end\n"))
	s.put("bin.dat", []byte("a\x00b"))
	s.put("gone.txt", []byte("gone for good\n"))
	s.put("run.sh", []byte("echo\n"))
	s.put("link", []byte("text\n"))
	s.put("pic.png", pngImage(t, 4))
	s.put("crlf.txt", []byte("a\r\nb\r\n"))
	s.put("mixed.txt", []byte("a\nb\n"))
	s.put("end.txt", []byte("a\nb\n"))
	s.commit("before")
	runGit(t, s.dir, "mv", "old/name.go", "old/new.go")
	s.put("old/new.go", []byte("package x\n\n/* a\n comment\n over lines\n */\nfunc f() int { return 2 }\n\n// end\n"))
	s.put("bin.dat", []byte("a\x00c"))
	os.Remove(filepath.Join(s.dir, "gone.txt"))
	os.Chmod(filepath.Join(s.dir, "run.sh"), 0o755)
	os.Remove(filepath.Join(s.dir, "link"))
	if err := os.Symlink("run.sh", filepath.Join(s.dir, "link")); err != nil {
		t.Fatal(err)
	}
	s.put("pic.png", pngImage(t, 8))
	s.put("new.svg", []byte("<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>\n"))
	s.put("fake.png", []byte("<svg onload=alert(1)>\x00"))
	s.put("crlf.txt", []byte("a\r\nc\r\n"))
	s.put("mixed.txt", []byte("a\nb\r\n"))
	s.put("end.txt", []byte("a\nb"))
	s.put("empty.txt", nil)
	s.put("go.sum", []byte("x\n"))
	s.put("large.txt", []byte(strings.Repeat("line\n", foldLines+1)))
	s.put("dir with \"quotes\" & <b>\u202e/new\nline.txt", []byte("x\n"))
	s.put("עברית.txt", []byte("שלום\n"))
	s.commit("all kinds")
	return s
}

func TestReviewPage(t *testing.T) {
	s := changeOfAllKinds(t)
	id := s.request()
	page := s.page("/review/" + id)
	text := checkHTML(t, page)
	for name, parts := range map[string][]string{
		"old/new.go": {`data-old="old/name.go"`, "renamed", "return</span> <mark><span class=\"n\">2</span></mark>",
			`data-count="3"`, `<span class="c"> comment</span>`},
		"bin.dat":   {"binary", "Binary file: nothing to show"},
		"gone.txt":  {"deleted", `class="d"`},
		"run.sh":    {"file → executable", "No lines changed"},
		"link":      {"type changed", "file → symbolic link", ">text</td>", ">run.sh"},
		"pic.png":   {"/raw?path=pic.png&amp;side=old", "/raw?path=pic.png&amp;side=new"},
		"new.svg":   {"&lt;", "onload"},
		"crlf.txt":  {"CRLF", ">c</td>"},
		"mixed.txt": {`<span class="iv">\x0d</span>`},
		"end.txt":   {"no newline at the end"},
		"empty.txt": {"Empty file", "new"},
		"go.sum":    {"Generated file", "Show the diff"},
		"large.txt": {"Large file: 501 changed lines", "Show the diff"},
		"עברית.txt": {"<bdi>"},
	} {
		shows(t, section(t, page, name), parts...)
	}
	hides(t, section(t, page, "crlf.txt"), `class="iv"`)
	hides(t, section(t, page, "go.sum"), "<table")
	if !strings.Contains(text, `"dir with \"quotes\" & <b>\u{202e}/new\nline.txt"`) {
		t.Errorf("%s", text)
	}
	shows(t, page, `<h2>16 files</h2>`, "please", "all kinds")
	split := s.page("/review/" + id + "?view=split")
	checkHTML(t, split)
	shows(t, section(t, split, "old/new.go"), `class="diff split"`, `<td class="ln d">7</td>`, `<td class="ln a">7</td>`)
	shows(t, s.ask("GET", "/review/"+id, "", s.asPerson()+"; runr-view=split; runr-theme=dark").want(200).text,
		`class="diff split"`, `data-theme="dark"`)
	hides(t, s.ask("GET", "/review/"+id, "", s.asPerson()+`; runr-theme="><script>`).want(200).text, `data-theme`)
	hides(t, s.ask("GET", "/review/"+id+"?view=unified", "", s.asPerson()+"; runr-view=split").want(200).text,
		`class="diff split"`)
}

func TestOneFile(t *testing.T) {
	s := changeOfAllKinds(t)
	id := s.request()
	large := s.page("/review/" + id + "/diff?path=large.txt")
	checkHTML(t, large)
	if rows := strings.Count(large, `<tr class="a">`); rows != foldLines+1 {
		t.Errorf("%d rows", rows)
	}
	fragment := s.page("/review/" + id + "/diff?path=go.sum&fragment=1")
	if !strings.HasPrefix(fragment, "<section") || !strings.Contains(fragment, `<tr class="a">`) {
		t.Errorf("%s", fragment)
	}
	around := s.page("/review/" + id + "/diff?path=old/new.go&context=30&fragment=1")
	shows(t, around, "package")
	hides(t, around, "data-count")
	whole := s.page("/review/" + id + "/file?path=old/new.go&side=old")
	checkHTML(t, whole)
	shows(t, whole, "old/name.go", "before the change", `<span class="n">1</span>`)
	shows(t, s.page("/review/"+id+"/file?path=old/new.go"), "after the change", `<span class="n">2</span>`)
	shows(t, s.page("/review/"+id+"/file?path=bin.dat"), "Binary file")
	for _, path := range []string{"diff?path=x", "file?path=a.txt", "file?path=../a.txt", "raw?path=nothing.png", "diff",
		"file?path=new.svg&side=old", "file?path=gone.txt"} {
		s.ask("GET", "/review/"+id+"/"+path, "", s.asPerson()).want(404)
	}
}

func TestRawImages(t *testing.T) {
	s := changeOfAllKinds(t)
	id := s.request()
	for side, width := range map[string]int{"old": 4, "new": 8} {
		answer := s.ask("GET", "/review/"+id+"/raw?path=pic.png&side="+side, "", s.asPerson()).want(200)
		config, err := png.DecodeConfig(strings.NewReader(answer.text))
		if err != nil || config.Width != width || answer.Header.Get("Content-Type") != "image/png" ||
			answer.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v, %v, %v", side, config, err, answer.Header)
		}
		if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "sandbox") {
			t.Errorf("policy %q", policy)
		}
	}
	drawing := s.ask("GET", "/review/"+id+"/raw?path=new.svg", "", s.asPerson(), "Sec-Fetch-Dest: image").want(200)
	if policy := drawing.Header.Get("Content-Security-Policy"); drawing.Header.Get("Content-Type") != "image/svg+xml" ||
		drawing.Header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(policy, "default-src 'none'") || !strings.HasSuffix(policy, "sandbox") ||
		strings.Contains(policy, "script") {
		t.Errorf("%v", drawing.Header)
	}
	s.ask("GET", "/review/"+id+"/raw?path=new.svg", "", s.asPerson(), "Sec-Fetch-Dest: document").want(400)
	for _, path := range []string{"fake.png", "bin.dat", "end.txt"} {
		s.ask("GET", "/review/"+id+"/raw?path="+path, "", s.asPerson()).want(400)
	}
}

// TestNamesThatABrowserChanges: a file is found by its name as browsers send it, and no other file is marked as
// viewed.
func TestNamesThatABrowserChanges(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"b\xff", "e\xe2\x82", "new\nline", "\xfe", "\xff"} {
		s.put(name, []byte("x\n"))
	}
	s.commit("names")
	base := "/review/" + s.request()
	for name, sent := range map[string]string{"b\xff": "b\ufffd", "e\xe2\x82": "e\ufffd\ufffd",
		"new\nline": "new\r\nline"} {
		if page := s.page(base); !utf8.ValidString(page) {
			t.Fatal("the page is no UTF-8")
		}
		key := `id="` + fileKey(name) + `"`
		if to := s.form(base+"/viewed", "file", sent).want(303).Header.Get("Location"); to != base+"#"+fileKey(name) {
			t.Errorf("%q leads to %q", sent, to)
		}
		shows(t, s.page(base), `<section class="file viewed" `+key)
		shows(t, s.page(base+"/diff?path="+url.QueryEscape(sent)), key)
		s.form(base+"/viewed", "file", sent).want(303)
		hides(t, s.page(base), `<section class="file viewed" `+key)
		s.form(base+"/comment", "file", sent, "start", "1", "comment", "why?").want(303)
	}
	shows(t, s.page(base), "3 pending comments")
	for _, name := range []string{"../../x", "", "\ufffd"} { // the last one is ambiguous
		s.form(base+"/viewed", "file", name).want(404)
	}
	s.form(base+"/viewed", "file", "\xff").want(303)
}

// TestFormsSentAtOnce: if a form without a key is sent several times at once, the draft is submitted once.
func TestFormsSentAtOnce(t *testing.T) {
	s := newSite(t)
	id := s.request()
	s.form("/review/"+id+"/comment", "file", "a.txt", "start", "2", "comment", "once").want(303)
	answers := make([]*response, 4)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			answers[i] = s.form("/review/"+id+"/submit", "decision", "request_changes", "message", "no")
		})
	}
	all.Wait()
	for _, answer := range answers {
		answer.want(303)
	}
	review, err := s.Store.Review(t.Context(), id)
	if err != nil || len(review.Submissions) != 1 || len(review.Comments()) != 1 {
		t.Errorf("%+v, %v", review.Submissions, err)
	}
}

// TestWhatTheStateRefuses: if the review's state refuses a step, the page shows the command to type.
func TestWhatTheStateRefuses(t *testing.T) {
	s := newSite(t)
	id := s.request()
	s.api("POST", "/api/review/submissions/"+id+"/cancel", `{}`).want(200)
	shows(t, s.form("/review/"+id+"/submit", "decision", "approve").want(409).text, "git runr inbox reopen "+id)
	s.api("POST", "/api/review/submissions/"+id+"/submit", `{"decision":"approve"}`).want(400)
}

var remarkID = regexp.MustCompile(` id="(c-[0-9a-f]+)"`)

func TestFormsWithoutScripts(t *testing.T) {
	s := newSite(t)
	id := s.request()
	base := "/review/" + id
	checkHTML(t, s.page(base+"/comment?path=a.txt&start=2&end=2"))
	if to := s.form(base+"/comment", "file", "a.txt", "start", "2", "end", "2", "comment", "first *one*").
		want(303).Header.Get("Location"); to != base+"#"+fileKey("a.txt") {
		t.Errorf("leads to %q", to)
	}
	s.form(base+"/comment", "file", "a.txt", "side", "old", "start", "2", "comment", "second").want(303)
	s.form(base+"/comment", "file", "a.txt", "comment", "on the file").want(303)
	s.form(base+"/comment", "comment", "on the whole").want(303)
	page := s.page(base)
	shows(t, page, "first <em>one</em>", "second", "on the file", "on the whole", "4 pending comments")
	ids := remarkID.FindAllStringSubmatch(page, -1)
	if len(ids) != 4 {
		t.Fatalf("%d comments", len(ids))
	}
	checkHTML(t, page)
	at := slices.IndexFunc(ids, func(m []string) bool {
		return strings.Contains(s.page(base+"/comment?edit="+m[1]), ">second</textarea>")
	})
	second := ids[at][1]
	s.form(base+"/comment", "id", second, "file", "a.txt", "comment", "second, edited").want(303)
	shows(t, s.page(base), "second, edited")
	s.form(base+"/comment", "id", second, "file", "a.txt", "delete", "1").want(303)
	page = s.page(base)
	hides(t, page, "second, edited")
	shows(t, page, "first <em>one</em>", "on the file", "3 pending comments")
	s.form(base+"/comment", "id", second, "delete", "1").want(404)
	s.form(base+"/comment", "file", "a.txt", "start", "99", "comment", "beyond").want(400)
	s.form(base+"/comment", "file", "a.txt", "start", "x", "comment", "no number").want(400)
	s.form(base+"/comment", "file", "a.txt", "comment", " ").want(400)
	s.form(base+"/viewed", "file", "a.txt").want(303)
	shows(t, section(t, s.page(base), "a.txt"), `aria-pressed="true"`, "Viewed.")
	s.form(base+"/viewed", "file", "a.txt").want(303)
	hides(t, section(t, s.page(base), "a.txt"), `aria-pressed="true"`)

	key := regexp.MustCompile(`name="key" value="([^"]+)"`).FindStringSubmatch(page)[1]
	for range 2 { // sent twice, recorded once
		if to := s.form(base+"/submit", "decision", "request_changes", "message", "so **so**", "key", key).
			want(303).Header.Get("Location"); to != base+"?sent=1" {
			t.Errorf("leads to %q", to)
		}
	}
	page = s.page(base + "?sent=1")
	checkHTML(t, page)
	shows(t, page, "Handed over", "git runr show "+id, "nobody has claimed it yet", "changes requested",
		"so <strong>so</strong>", "first <em>one</em>", `id="pending" hidden`, ">who wrote the change, writer "+s.repo.Writer()[:7]+"<")
	if n := strings.Count(page, `<article class="said">`); n != 1 {
		t.Errorf("%d submissions", n)
	}
	s.form(base+"/submit", "decision", "perhaps").want(400)

	s.form(base+"/submit", "decision", "approve").want(303) // by the author
	shows(t, s.page(base), `<span class="verdict quiet">approved by its author</span>`)
	shows(t, s.page("/review?status=all"), `<span class="verdict quiet">pass by its author</span>`)
}

func TestStateForms(t *testing.T) {
	s := newSite(t)
	id := s.submitted()
	base := "/review/" + id
	page := s.page(base)
	shows(t, page, base+"/claim", base+"/resolve")
	s.form(base + "/claim").want(303)
	page = s.page(base)
	shows(t, page, "Claimed by <b>you</b>", "59 min left", "Release", "Renew the claim")
	hides(t, page, "in one clone only")
	runGit(t, s.dir, "remote", "add", "origin", "nowhere")
	shows(t, openSite(t, s.dir).page(base), "no remote has granted the claim: it may hold in one clone only")
	s.form(base + "/release").want(303)
	s.api("POST", "/api/review/submissions/"+id+"/claim", `{"claimedBy":"bot"}`).want(200)
	page = s.page(base)
	shows(t, page, "Claimed by <b>bot</b>", "Break the claim")
	hides(t, page, base+"/resolve")
	s.form(base + "/resolve").want(409)
	s.form(base + "/release").want(409)
	s.form(base+"/release", "force", "1").want(303)

	finding := remarkID.FindStringSubmatch(s.page(base))[1]
	s.put("mended.txt", []byte("mended\n"))
	s.commit("mended")
	s.form(base+"/answer", "finding", finding, "answer", "fixed", "commit", "HEAD").want(303)
	runGit(t, s.dir, "reset", "-q", "--hard", "HEAD~")
	s.form(base+"/answer", "finding", finding, "answer", "refuted", "reason", "it is <b>right</b>").want(303)
	page = s.page(base)
	checkHTML(t, page)
	shows(t, page, `<span class="tag refuted">refuted</span> by Ada`, "it is &lt;b&gt;right&lt;/b&gt;",
		runGit(t, s.dir, "rev-parse", "--short=7", "HEAD"))
	for _, bad := range [][]string{{"answer", "fixed", "commit", "nix"}, {"answer", "refuted"},
		{"answer", "x", "reason", "y"}} {
		s.form(base+"/answer", append(bad, "finding", finding)...).want(400)
	}
	s.form(base+"/answer", "finding", "f-0000000000", "answer", "deferred", "reason", "later").want(404)

	s.form(base+"/resolve", "note", "done <i>now</i>").want(303)
	page = s.page(base)
	shows(t, page, "Resolved by <b>Ada</b>", "done &lt;i&gt;now&lt;/i&gt;", base+"/reopen")
	hides(t, page, base+"/submit", base+`/comment"`, base+"/comment?", "Answer</summary>")
	s.form(base + "/reopen").want(303)
	shows(t, s.page(base), base+"/submit")

	other := s.request()
	s.form("/review/"+other+"/cancel", "note", "not needed").want(303)
	shows(t, s.page("/review/"+other), "Cancelled by <b>Ada</b>", "not needed")
}

func TestPreview(t *testing.T) {
	s := newSite(t)
	path := "/review/" + s.request() + "/preview"
	got := s.form(path, "comment", "```suggestion\n2 and a half\n```\n<script>xss</script>", "file", "a.txt", "start", "2",
		"end", "2").want(200).text
	checkHTML(t, got)
	shows(t, got, `</span>−</td><td class="code">2</td>`, `</span>+</td><td class="code">2 and a half</td>`,
		"&lt;script&gt;")
	s.form(path, "comment", "x", "file", "nothing", "start", "1").want(404)
	s.ask("POST", path, "comment=x", s.asPerson(), formBody).want(403)
}

// A remark is shown at its line, or with its file if the diff does not show the line.
func TestRemarksAtTheirLines(t *testing.T) {
	s := newSite(t)
	s.put("far.txt", []byte(strings.Repeat("line\n", 60)))
	s.commit("far")
	s.put("far.txt", []byte("first\n"+strings.Repeat("line\n", 59)+"last\n"))
	s.commit("further")
	id := s.request()
	s.browser("POST", "/api/review/submissions/"+id+"/submit", `{"decision":"comment","comments":[
		{"file":"far.txt","startLine":1,"comment":"at the top"},
		{"file":"far.txt","startLine":1,"side":"old","comment":"of the old one"},
		{"file":"far.txt","startLine":30,"endLine":31,"comment":"in between"},
		{"file":"a.txt","startLine":1,"comment":"in another file"}]}`).want(200)
	page := s.page("/review/" + id)
	file := section(t, page, "far.txt")
	before, table, _ := strings.Cut(file, "<table")
	shows(t, before, "in between", "which the diff does not show", "far.txt:30-31")
	shows(t, table, "at the top", "of the old one")
	hides(t, table, "in between")
	hides(t, before, "at the top")
	oldRow, newRow := strings.Index(table, "of the old one"), strings.Index(table, "at the top")
	if removed, added := strings.Index(table, `<tr class="d">`),
		strings.Index(table, `<tr class="a">`); !(added < newRow && newRow < oldRow && oldRow < removed) {
		t.Errorf("removed at %d, its comment at %d, added at %d, its comment at %d", removed, oldRow, added, newRow)
	}
	shows(t, page, "in another file", "a.txt:1")
	shows(t, s.page("/review/"+id+"/diff?path=far.txt&context=60"), "in between")
	hides(t, s.page("/review/"+id+"/diff?path=far.txt&context=60"), "which the diff does not show")
	shows(t, s.page("/review/"+id+"/file?path=far.txt"), "in between", "at the top")

	s.put("far.txt", []byte("zero\nfirst\n"+strings.Repeat("line\n", 20)))
	s.commit("moved")
	shows(t, s.page("/review/"+id), "now at far.txt:2")
	runGit(t, s.dir, "rm", "-q", "far.txt")
	s.commit("gone")
	shows(t, s.page("/review/"+id), "outdated: the file is gone")
}

// A merge is shown as the changes that it made itself, with its conflicts on the old side.
func TestMergePage(t *testing.T) {
	s := newSite(t)
	runGit(t, s.dir, "checkout", "-q", "-b", "topic", "HEAD~1")
	s.put("a.txt", []byte("one\n2 of topic\nthree\n"))
	s.put("other.txt", []byte("of topic\n"))
	s.commit("topic")
	runGit(t, s.dir, "checkout", "-q", "main")
	runGit(t, s.dir, "merge", "-q", "--no-commit", "-X", "ours", "topic")
	s.put("a.txt", []byte("one\n2 of both\nthree\n"))
	s.commit("merged")
	id := s.request()
	page := s.page("/review/" + id)
	checkHTML(t, page)
	hides(t, page, "other.txt", "not in this clone")
	shows(t, section(t, page, "a.txt"), "2 of topic", "2 of both", "&gt;&gt;&gt;&gt;&gt;&gt;&gt; ")
	s.browser("POST", "/api/review/submissions/"+id+"/submit", `{"decision":"comment","comments":[
		{"file":"a.txt","startLine":5,"side":"old","comment":"of the topic"},{"file":"a.txt","startLine":2,"comment":"of both"}]}`).want(200)
	file := section(t, s.page("/review/"+id), "a.txt")
	_, table, _ := strings.Cut(file, "<table")
	shows(t, table, "of the topic", "of both")
	hides(t, file, "outdated", "which the diff does not show")
}

func TestFindingsOfAgents(t *testing.T) {
	s := newSite(t)
	id := s.request()
	sub := record.Submission{Reviewer: "bot <x>", Outcome: record.OutcomeFailed, Report: reply.Report{
		Verdict: reply.NeedsFix, Effective: reply.CriticalFail, Summary: "sum **up**", Findings: []reply.Finding{
			{ID: "f-0123456789", Severity: reply.Critical, File: "a.txt", Line: 2, Issue: "the `2` is wrong",
				Fix: "write **two**", Rule: "numbers"},
			{ID: "f-9876543210", Severity: reply.Note, File: "nowhere.txt", Line: 2, Issue: "not of this change"},
			{ID: "f-1111111111", Severity: reply.Warning, Issue: "of no file"},
		}, Requests: []string{}, Warnings: []string{},
	}, Census: record.Census{Files: 3, SentFiles: 2},
		Checks: []record.CheckResult{{Name: "test", ExitCode: 1, Said: "2 failed"}}, SkippedBy: []string{"lint: not trusted"}}
	if _, err := s.Store.SubmitReview(context.Background(), id, sub, ""); err != nil {
		t.Fatal(err)
	}
	page := s.page("/review/" + id)
	checkHTML(t, page)
	shows(t, section(t, page, "a.txt"), `id="f-0123456789"`, "remark critical", "the <code>2</code> is wrong",
		"write <strong>two</strong>", "numbers")
	shows(t, page, "critical; check test failed</span> <b>bot", "sum <strong>up</strong>", "saw 2 of 3 files",
		"of no file", "not of this change", "test: exit 1 (2 failed)", "checks not run: lint: not trusted")
}

// TestReviewInFull: the reviewer's full text is shown even if nothing could be extracted from it, and it is not
// interpreted as markup.
func TestReviewInFull(t *testing.T) {
	s := newSite(t)
	id := s.request()
	report := reply.ParseReview(
		"The loop **never** ends.\n\n<script>alert(1)</script> \u202egnorw\n\n## Also\n\nMind the gap.\n\n"+
			"### Verdict: NEEDS_FIX\n", "n0nce")
	sub := record.Submission{Reviewer: "bot", Outcome: record.OutcomeFailed, Report: report,
		Census: record.Census{Files: 1, SentFiles: 1}}
	sub.Spent = spend.NewSpent("bot",
		[]spend.Call{{Agent: "bot", Reason: record.ReasonAgentKilled, Detail: "<b>killed</b>"},
			{Agent: "other", Usage: spend.Usage{Calls: 1, Input: 1200, Cost: 0.5}}})
	if _, err := s.Store.SubmitReview(context.Background(), id, sub, ""); err != nil {
		t.Fatal(err)
	}
	page := s.page("/review/" + id)
	checkHTML(t, page)
	shows(t, page, "<b>other in place of bot</b>", "· 1,200 tokens, $0.50</span>",
		"bot gave no answer: agent_killed: &lt;b&gt;killed&lt;/b&gt;", "<span>agents: 1,200 tokens, $0.50</span>")
	shows(t, page, "The loop <strong>never</strong> ends.", "Mind the gap.", `\u{202e}gnorw`)
	hides(t, page, "<script>alert")
	shows(t, s.page("/"), "asks: The loop **never** ends")
}

// TestCommitMessageOnThePage: the commit's message is shown above its change.
func TestCommitMessageOnThePage(t *testing.T) {
	s := newSite(t)
	s.put("a.txt", []byte("other\n"))
	s.commit("a title\n\nIt also <b>removes</b> the cache.\u202e")
	page := s.page("/review/" + s.request())
	checkHTML(t, page)
	shows(t, page, "The commit message", "It also &lt;b&gt;removes&lt;/b&gt; the cache.\\u{202e}")
}

// A missing object is not an error of the page, because the change may be in another clone.
func TestChangeThatIsNotHere(t *testing.T) {
	s := newSite(t)
	gone := strings.Repeat("ab", 20)
	review, err := s.Store.RequestReview(context.Background(),
		record.ReviewRequest{Reviewer: record.Human, Subject: record.Subject{
			Kind: record.SubjectRange, Spec: "x..y", Base: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
			Commit: record.Subject{}.Commit, Tree: "1234567890123456789012345678901234567890",
			Title: gone,
		}}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	shows(t, s.page("/review/"+review.ID), "not in this clone")
}

// Text of people and programs is shown and is never active.
func TestPagesWithPayloads(t *testing.T) {
	s := newSite(t)
	all := slices.Concat(payloads, markdownPayloads)
	for i, payload := range all {
		s.put(fmt.Sprintf("%d %s.txt", i, strings.NewReplacer("/", "∕", "\x00", "").Replace(payload)), []byte(payload+"\n"))
	}
	s.put("a.html", []byte(strings.Join(all, "\n")))
	runGit(t, s.dir, "config", "user.name", `"><script>xss()</script>`)
	s.commit(`<script>xss()</script>"'><img src=x onerror=xss()>`)
	subject, err := s.Store.Subject(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	subject.Branch = `"><script>xss()</script>`
	review, err := s.Store.RequestReview(context.Background(),
		record.ReviewRequest{Subject: subject, Message: strings.Join(all, "\n\n"), Reviewer: `"><script>xss()</script>`},
		"cli")
	if err != nil {
		t.Fatal(err)
	}
	sub := record.Submission{Reviewer: `"><img src=x onerror=xss()>`, Outcome: record.OutcomeFailed,
		Report: reply.Report{Effective: reply.NeedsFix, Summary: strings.Join(all, "\n\n")}}
	for i, payload := range all {
		c := record.Comment{ID: fmt.Sprintf("c-%d", i), File: "a.html", StartLine: i + 1, EndLine: i + 1,
			SelectedText: payload, Comment: payload + "\n\n```suggestion\n" + payload + "\n```"}
		if i%5 == 0 {
			c.File, c.ID = payload, payload
		}
		sub.Comments = append(sub.Comments, c)
		sub.Report.Findings = append(sub.Report.Findings,
			reply.Finding{ID: `"><script>`, Severity: reply.Severity(payload), File: payload, Line: 1, Issue: payload,
				Fix: payload, Rule: payload})
	}
	if review, err = s.Store.SubmitReview(context.Background(), review.ID, sub, ""); err != nil {
		t.Fatal(err)
	}
	s.form("/review/"+review.ID+"/comment", "file", "a.html", "start", "3", "comment", "</textarea>"+payloads[0]).want(303)
	s.form("/review/" + review.ID + "/claim").want(303)
	s.form("/review/"+review.ID+"/resolve", "note", payloads[0]).want(303)
	s.form("/review/" + review.ID + "/reopen").want(303)
	draft := remarkID.FindAllStringSubmatch(s.page("/review/"+review.ID+"/diff?path=a.html"), -1)
	for _, path := range []string{
		"/review", "/review/" + review.ID, "/review/" + review.ID + "?view=split",
		"/review/" + review.ID + "/diff?path=a.html", "/review/" + review.ID + "/file?path=a.html",
		"/review/" + review.ID + "/comment?path=" + url.QueryEscape(payloads[0]) + "&start=" + url.QueryEscape(payloads[25]),
		"/review/" + review.ID + "/remark?comment=" + draft[len(draft)-1][1],
		"/review/" + review.ID + "/comment?edit=" + draft[len(draft)-1][1],
	} {
		answer := s.ask("GET", path, "", s.asPerson())
		if answer.StatusCode != 200 && !strings.Contains(path, "remark?") && !strings.Contains(path, "edit=") {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
		if text := checkHTML(t, answer.text); !strings.Contains(text, "xss") && strings.Contains(path, "review/") &&
			!strings.Contains(path, "comment?") && answer.StatusCode == 200 {
			t.Errorf("%s does not show what was written", path)
		}
	}
	for _, path := range []string{"/review/<script>xss()<%2fscript>", "/review?status=<script>xss()",
		"/review/" + review.ID + "/diff?path=<script>xss()", "/" + url.PathEscape(payloads[0])} {
		checkHTML(t, s.ask("GET", path, "", s.asPerson()).text)
	}
}

// A change of thousands of files is listed completely. Its first files are shown, and the others are loaded on
// request.
func TestLargeChange(t *testing.T) {
	s := newSite(t)
	for i := range filesAPage + 100 {
		s.put(fmt.Sprintf("d%02d/f%04d.txt", i/100, i), []byte("a line\n"))
	}
	s.commit("many")
	id := s.request()
	page := s.page("/review/" + id)
	if n := strings.Count(page, "<table"); n != firstFiles {
		t.Errorf("%d files are shown at once", n)
	}
	if n := strings.Count(page, "data-lazy"); n != filesAPage-firstFiles {
		t.Errorf("%d files are to come", n)
	}
	shows(t, page, fmt.Sprintf("<h2>%d files</h2>", filesAPage+100), `href="/review/`+id+`?from=2500"`)
	rest := s.page("/review/" + id + "?from=2500")
	shows(t, rest, "f2599.txt", "Earlier files")
	hides(t, rest, "f2499.txt")
	shows(t, s.page("/review/"+id+"/diff?path=d24/f2400.txt&fragment=1"), "a line")
	if size := len(page); size > 1500*filesAPage {
		t.Errorf("the page is %d bytes", size)
	}
}

// A file that is too large for one answer is sent in parts that make up the whole.
func TestLargeFile(t *testing.T) {
	s := newSite(t)
	var text strings.Builder
	for i := range rowsShown + 500 {
		fmt.Fprintf(&text, "line %d.\n", i)
	}
	s.put("large.txt", []byte(text.String()))
	s.put("huge.txt", []byte(strings.Repeat("0123456789abcde\n", maxPatch/16+100)))
	s.put("wide.txt", []byte(strings.Repeat("x", foldBytes+1)+"theend\n"))
	s.commit("large")
	id := s.request()
	page := s.page("/review/" + id)
	shows(t, section(t, page, "wide.txt"), "Very long lines")
	first := s.page("/review/" + id + "/diff?path=large.txt")
	shows(t, first, "line 3999.", fmt.Sprintf("skip=%d", rowsShown))
	hides(t, first, "line 4000.")
	second := s.page(fmt.Sprintf("/review/%s/diff?path=large.txt&skip=%d", id, rowsShown))
	shows(t, second, "line 4000.", "line 4499.")
	hides(t, second, "line 3999.", "skip=")
	huge := s.page("/review/" + id + "/diff?path=huge.txt")
	shows(t, huge, "The rest is too large for this page")
	wide := s.page("/review/" + id + "/diff?path=wide.txt")
	shows(t, wide, "more bytes</summary>", "theend</details>")
	shows(t, s.page("/review/"+id+"/file?path=huge.txt"), "too large for this page")
}

// No change is hidden in a long line: the whole line is there without a script, and its changed part is visible
// without a click.
func TestLongLines(t *testing.T) {
	s := newSite(t)
	long := func(n int, end string) []byte { return []byte(strings.Repeat("0123456789", n) + end + "\n") }
	s.put("line.txt", long(400, "safe"))
	s.put("longer.txt", long(4000, "safe"))
	s.commit("before")
	s.put("line.txt", long(400, "evil"))
	s.put("longer.txt", long(4000, "evil"))
	s.commit("after")
	for _, view := range []string{"", "?view=split"} {
		page := s.page("/review/" + s.request() + view)
		line := section(t, page, "line.txt")
		shows(t, line, strings.Repeat("0123456789", 390), "safe</mark>", "evil</mark>")
		hides(t, line, "more bytes")
		longer := section(t, page, "longer.txt")
		shows(t, longer, `<details class="cut" open><summary>`, "safe</mark></details>", "evil</mark></details>")
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "just now", 59 * time.Second: "just now", -time.Hour: "just now", 90 * time.Second: "1 min ago",
		119 * time.Minute: "119 min ago",
		3 * time.Hour:     "3 h ago", 72 * time.Hour: "3 days ago",
	} {
		if got := ago(now, now.Add(-d)); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	if ago(now, time.Time{}) != "" {
		t.Error("no time is some time ago")
	}
}
