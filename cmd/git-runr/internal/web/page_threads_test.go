package web

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// talked returns a review with a comment of each kind, and the ids by their first word.
func (s *site) talked() (review string, ids map[string]string) {
	s.T.Helper()
	s.put("b.txt", []byte("one\ntwo\nthree\n"))
	s.commit("two files")
	subject, err := s.Store.Subject(s.T.Context(), "HEAD~2..HEAD")
	if err != nil {
		s.T.Fatal(err)
	}
	made, err := s.Store.RequestReview(s.T.Context(), record.ReviewRequest{Subject: subject, Reviewer: record.Human},
		"cli")
	if err != nil {
		s.T.Fatal(err)
	}
	s.api("POST", "/api/review/submissions/"+made.ID+"/submit",
		`{"reviewer":"Bob","decision":"request_changes","comments":[
		{"file":"b.txt","startLine":3,"comment":"later <b>in</b> the file"},
		{"file":"b.txt","startLine":1,"endLine":2,"comment":"swap\n`+"```suggestion\\ntwo\\none\\n```"+`"},
		{"file":"a.txt","startLine":1,"comment":"settled in a"},
		{"comment":"general"}]}`).want(200)
	s.browser("POST", "/api/review/drafts/"+made.ID, `{"file":"b.txt","startLine":2,"comment":"mine"}`).want(200)
	ids = map[string]string{}
	got, err := s.Store.Review(s.T.Context(), made.ID)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, c := range got.Comments() {
		word, _, _ := strings.Cut(strings.ReplaceAll(c.Comment, "\n", " "), " ")
		ids[word] = c.ID
	}
	s.form("/review/"+made.ID+"/answer", "finding", ids["settled"], "answer", "refuted", "reason", "no").want(303)
	s.form("/review/"+made.ID+"/answer", "finding", ids["general"], "answer", "deferred", "reason", "soon").want(303)
	return made.ID, ids
}

func TestThreads(t *testing.T) {
	s := newSite(t)
	id, ids := s.talked()
	at := "/review/" + id + "/comments"
	for show, want := range map[string][]string{
		"all":      {"general", "settled", "swap", "mine", "later"},
		"open":     {"swap", "mine", "later"},
		"answered": {"general"},
		"resolved": {"settled"},
		"mine":     {"mine"},
		"":         {"swap", "mine", "later"},
		"<script>": {"swap", "mine", "later"},
	} {
		page := s.page(at + "?show=" + url.QueryEscape(show))
		checkHTML(t, page)
		var order []string
		for _, thread := range strings.Split(page, `<li class="thread`)[1:] {
			for _, word := range []string{"general", "settled", "swap", "mine", "later"} {
				if strings.Contains(thread, word) {
					order = append(order, word)
				}
			}
		}
		if !slices.Equal(order, want) {
			t.Errorf("show=%s: %q, want %q", show, order, want)
		}
		shows(t, page, "open <b>3</b>", "answered <b>1</b>", "resolved <b>1</b>", "all <b>5</b>", "mine <b>1</b>")
	}
	page := s.page(at + "?show=all")
	shows(t, page, `href="/review/`+id+`/diff?path=b.txt#`+ids["swap"]+`"`, "<code>b.txt:1-2</code>",
		"<details><summary>settled in a</summary>",
		"later &lt;b&gt;in&lt;/b&gt; the file", `name="show" value="all"`)
	hides(t, page, "later <b>", "do/apply", `id="`+ids["swap"]+`"`)
	fragment := s.page(at + "?fragment=1")
	hides(t, fragment, "<html", "<main")
	shows(t, s.page("/review/"+id), "5 comments, 3 open", `id="threads"`,
		`<span class="tag refuted">refuted</span> <b>Bob</b> settled in a</summary>`)
	answered := s.form("/review/"+id+"/answer", "finding", ids["later"], "answer", "deferred", "reason", "x", "show",
		"open").want(303)
	if to := answered.Header.Get("Location"); to != at+"?show=open#t-"+ids["later"] {
		t.Errorf("back to %s", to)
	}
	shows(t, s.page("/review/"+id+"/remark?comment="+ids["later"]), `class="tag deferred"`)
	s.ask("GET", "/review/"+id+"/remark?comment=c-0000000000", "", s.asPerson()).want(404)
}

// The command beside a suggestion is the one that is run, and only the person at the page can run it.
func TestThreadActs(t *testing.T) {
	s := newSite(t)
	d := &told{}
	s.Do = d.do
	id, ids := s.talked()
	page := s.page("/review/" + id + "/comments")
	shows(t, page, "<code>git runr inbox apply "+id+" "+ids["swap"]+"</code>",
		"<code>git runr run --review "+id+" --finding "+ids["later"]+"</code>",
		`</span>−</td><td class="code">one</td>`)
	if n := strings.Count(page, "do/apply"); n != 1 {
		t.Errorf("%d suggestions", n)
	}
	for act, line := range map[string]string{
		"apply": "-q inbox apply " + id + " " + ids["swap"],
		"hand":  "-q run --review " + id + " --finding " + ids["swap"] + " --detached",
	} {
		path := "/review/" + id + "/do/" + act
		d.lines = nil
		body := url.Values{formTokenField: {s.formToken(nil)}, "finding": {ids["swap"]}}.Encode()
		s.ask("GET", path, "", s.asPerson()).want(404)
		s.ask("POST", path, "finding="+ids["swap"], s.asPerson(), formBody).want(403)
		s.ask("POST", path, body, formBody).want(401)
		s.ask("POST", path, body, s.asPerson(), formBody, "Sec-Fetch-Site: cross-site").want(403)
		s.ask("POST", path, body, s.asPerson(), "Content-Type: application/json").want(415)
		s.form(path, "finding", "--all").want(400)
		s.form(path).want(400)
		if len(d.lines) > 0 {
			t.Errorf("%s did %q", act, d.lines)
		}
		s.form(path, "finding", ids["swap"]).want(303)
		if !slices.Equal(d.lines, []string{line}) {
			t.Errorf("%s did %q", act, d.lines)
		}
	}
	d.lines = nil
	s.form("/review/"+id+"/do/nix", "finding", ids["swap"]).want(404)
	s.form("/review/nix/do/apply", "finding", ids["swap"]).want(404)
	d.out, d.status = "git-runr: c-1 is not applied: the lines were changed\n"+
		"  git runr run --review X   lets an agent do it\n", 3
	shows(t, s.form("/review/"+id+"/do/apply", "finding", ids["swap"]).want(409).text, "the lines were changed",
		"<code>git runr run --review X</code>")
	s.Do = nil
	s.form("/review/"+id+"/do/apply", "finding", ids["swap"]).want(404)
	hides(t, s.page("/review/"+id), "do/apply", "do/hand")
}

// A finding's suggestion is shown against the lines that the finding names, because agents do not quote them.
func TestSuggestionOfAFinding(t *testing.T) {
	s := newSite(t)
	id := s.request()
	findings := []reply.Finding{{Severity: reply.Warning, File: "a.txt", Line: 2, Issue: "No number",
		Fix: "```suggestion\nzwei\n```"}}
	reply.Identify(findings)
	report := reply.Report{Verdict: reply.NeedsFix, Effective: reply.NeedsFix, Findings: findings, Requests: []string{},
		Warnings: []string{}}
	review, err := s.Store.Review(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	sub := record.Submission{Reviewer: "ann", Outcome: record.OutcomeFailed, Report: report,
		Tree: review.Request.Subject.Tree, Census: record.Census{Files: 1, SentFiles: 1}}
	if _, err := s.Store.SubmitReview(t.Context(), id, sub, ""); err != nil {
		t.Fatal(err)
	}
	shows(t, s.page("/review/"+id+"/comments"), `</span>−</td><td class="code">2</td>`,
		`</span>+</td><td class="code">zwei</td>`)
}
