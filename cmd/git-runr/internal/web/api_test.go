package web

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

func TestHealth(t *testing.T) {
	s := newSite(t)
	if doc := s.ask("GET", "/api/health", "").want(200).object(); len(doc) != 1 || doc["status"] != "ok" {
		t.Errorf("%v", doc)
	}
	challenge := strings.Repeat("c", screens.ChallengeSize)
	if doc := s.ask("GET", "/api/health?challenge="+challenge, "").want(200).
		object(); doc["proof"] != s.Secret.Proof(challenge) {
		t.Errorf("%v", doc)
	}
	s.api("POST", "/api/health", `{}`).want(405).says("method not allowed")
	s.api("GET", "/api/nothing", "").want(404).says("not found")
	if allow := s.api("PUT", "/api/review/sessions", `{}`).want(405).Header.Get("Allow"); allow != "POST, GET" {
		t.Errorf("Allow: %q", allow)
	}
}

func TestCreateSession(t *testing.T) {
	s := newSite(t)
	write(t, s.dir, "new.txt", "fresh\n")
	for _, c := range []struct {
		body, kind, revision string
		files                []any
	}{
		{`{"files":["new.txt"],"message":"hello"}`, "worktree", "--worktree", []any{"new.txt"}},
		{`{"files":["` + s.repo.WorkTree + `/new.txt"]}`, "worktree", "--worktree", []any{"new.txt"}},
		{`{"files":["a.txt"]}`, "commit", "HEAD", []any{"a.txt"}},
		{`{"files":["b.txt"]}`, "range", "HEAD", []any{"b.txt"}},
		{`{"revision":"HEAD~1..HEAD"}`, "range", "HEAD~1..HEAD", []any{}},
		{`{"files":["a.txt"],"revision":"HEAD"}`, "commit", "HEAD", []any{"a.txt"}},
	} {
		doc := s.api("POST", "/api/review/sessions", c.body).want(200).object()
		if doc["status"] != "open" || doc["reviewer"] != "human" {
			t.Errorf("%s: %v", c.body, doc)
		}
		got := s.api("GET", "/api/review/submissions/"+doc["id"].(string), "").want(200).object()
		request := got["request"].(map[string]any)
		if got["kind"] != c.kind || got["revision"] != c.revision || !slices.Equal(request["files"].([]any), c.files) ||
			request["source"] != "http" {
			t.Errorf("%s: %v", c.body, got)
		}
	}
	for body, why := range map[string]string{
		`{}`: "files is required", `{"files":[]}`: "files is required", `{"files":["gone.txt"]}`: "No files found",
		`{"files":["../x"]}`:        "not a path below",
		`{"files":["/etc/passwd"]}`: "not a path below", `{"files":[""]}`: "not a path below",
		`{"files":[{"path":"a.txt"}]}`: "Invalid JSON body",
		`{"revision":"nothing"}`:       "nothing", `{"revision":"--all"}`: "--all",
		`{"revision":"HEAD","reviewer":"nobody"}`: `no agent "nobody"`,
		`{"revision":"HEAD","token":"x"}`:         "unknown field", `null`: "must be an object", `[]`: "must be an object",
		`{`: "Invalid JSON", ``: "must be an object",
		`{} {}`: "bytes after", "{\"message\":\"\xff\"}": "must be an object", `{"files":"a.txt"}`: "Invalid JSON",
	} {
		s.api("POST", "/api/review/sessions", body).want(400).says(why)
	}
}

func TestSessions(t *testing.T) {
	s := newSite(t)
	first, second := s.request(), s.request()
	s.submitted() // is no longer open
	list := s.api("GET", "/api/review/sessions", "").want(200).list()
	if len(list) != 2 || list[0]["id"] != second || list[1]["id"] != first {
		t.Fatalf("%v", list)
	}
	for _, key := range []string{"fileCount", "files", "message", "createdAt", "done", "cancelled", "commentCount"} {
		if _, ok := list[0][key]; !ok {
			t.Errorf("%s is missing: %v", key, list[0])
		}
	}
	if _, ok := list[0]["token"]; ok {
		t.Error("the list gives tokens away")
	}
	if doc := s.ask("DELETE", "/api/review/sessions/"+first+"?token="+s.Secret.Review(first), "").want(200).
		object(); doc["ok"] != true {
		t.Errorf("%v", doc)
	}
	s.ask("DELETE", "/api/review/sessions/"+second+"?token="+s.Secret.Review(first), "").want(403).says("forbidden")
	s.ask("DELETE", "/api/review/sessions/20200101000000-aaaaaa", "", s.asProgram()).want(404)
	if list := s.api("GET", "/api/review/sessions", "").list(); len(list) != 1 || list[0]["id"] != second {
		t.Errorf("%v", list)
	}
	got := s.api("GET", "/api/review/submissions/"+first, "").want(200).object()
	if got["status"] != "cancelled" || got["cancelledAt"] == nil || got["submission"] != nil {
		t.Errorf("%v", got)
	}
}

func TestListSubmissions(t *testing.T) {
	s := newSite(t)
	open, submitted, claimed := s.request(), s.submitted(), s.submitted()
	s.api("POST", "/api/review/submissions/"+claimed+"/claim", `{"claimedBy":"bot"}`).want(200)
	resolved := s.submitted()
	s.api("POST", "/api/review/submissions/"+resolved+"/resolve", `{"resolvedBy":"bot","note":"done"}`).want(200)
	for query, want := range map[string][]string{
		"":                       {claimed, submitted}, // by default agents get the reviews that have to be addressed
		"?status=inbox":          {claimed, submitted},
		"?status=waiting":        {claimed, submitted, open},
		"?status=submitted":      {submitted},
		"?status=open":           {open},
		"?status=resolved":       {resolved},
		"?status=cancelled":      {},
		"?status=all":            {resolved, claimed, submitted, open},
		"?status=all&limit=2":    {resolved, claimed},
		"?limit=0":               {claimed},
		"?limit=999":             {claimed, submitted},
		"?claimedBy=bot":         {claimed},
		"?claimedBy=other":       {},
		"?reviewer=human":        {claimed, submitted},
		"?reviewer=builtin":      {},
		"?claimedBy=bot&limit=1": {claimed},
	} {
		got := []string{}
		for _, r := range s.api("GET", "/api/review/submissions"+query, "").want(200).list() {
			got = append(got, r["id"].(string))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	if total := s.api("GET", "/api/review/submissions?limit=1", "").Header.Get("X-Total-Count"); total != "2" {
		t.Errorf("total %q", total)
	}
	s.api("GET", "/api/review/submissions?status=nonsense", "").want(400).
		says("use waiting, inbox, all, open, submitted, claimed, resolved or cancelled")
	s.api("GET", "/api/review/submissions?limit=many", "").want(400).says("is not a number")
}

// The fields have the names that clients of the first form read.
func TestRecord(t *testing.T) {
	s := newSite(t)
	before := time.Now().UnixMilli()
	id := s.submitted()
	s.api("POST", "/api/review/submissions/"+id+"/claim", `{"claimedBy":"bot"}`).want(200)
	got := s.api("POST", "/api/review/submissions/"+id+"/resolve", `{"resolvedBy":"bot"}`).want(200).object()
	for _, at := range []string{"createdAt", "updatedAt", "submittedAt", "claimedAt", "resolvedAt"} {
		if ms, ok := got[at].(float64); !ok || int64(ms) < before || int64(ms) > time.Now().UnixMilli() {
			t.Errorf("%s: %v", at, got[at])
		}
	}
	if got["id"] != id || got["claimedBy"] != "bot" || got["resolvedBy"] != "bot" || got["message"] != "please" ||
		got["commentCount"] != 1.0 || got["fileCount"] != 1.0 || got["status"] != "resolved" {
		t.Errorf("%v", got)
	}
	record := s.api("GET", "/api/review/submissions/"+id, "").want(200).object()
	request, submission := record["request"].(map[string]any), record["submission"].(map[string]any)
	if request["message"] != "please" || request["branch"] != "main" ||
		request["commit"] != runGit(t, s.dir, "rev-parse", "HEAD") || fmt.Sprint(request["warnings"]) != "[]" {
		t.Errorf("%v", request)
	}
	comment := submission["comments"].([]any)[0].(map[string]any)
	for key, want := range map[string]any{"file": "a.txt", "startLine": 2.0, "endLine": 2.0, "selectedText": "2",
		"comment": "why 2?"} {
		if comment[key] != want {
			t.Errorf("%s: %v, want %v", key, comment[key], want)
		}
	}
	if record["resultSummary"].(map[string]any)["commentCount"] != 1.0 {
		t.Errorf("%v", record["resultSummary"])
	}
	s.api("GET", "/api/review/submissions/20200101000000-aaaaaa", "").want(404).says("does not exist")
}

// An agent's findings are returned like comments.
func TestRecordOfFindings(t *testing.T) {
	s := newSite(t)
	id := s.request()
	sub := record.Submission{Reviewer: "builtin", Outcome: record.OutcomeFailed, Report: reply.Report{
		Effective: reply.NeedsFix, Findings: []reply.Finding{{ID: "f-0123456789", Severity: reply.Warning, File: "a.txt",
			Line: 2, Issue: "bad", Fix: "mend"}},
	}}
	if _, err := s.Store.SubmitReview(t.Context(), id, sub, ""); err != nil {
		t.Fatal(err)
	}
	comments := s.api("GET", "/api/review/submissions/"+id, "").want(200).
		object()["submission"].(map[string]any)["comments"].([]any)
	got := comments[0].(map[string]any)
	if got["id"] != "f-0123456789" || got["comment"] != "bad\n\nFix: mend" || got["endLine"] != 2.0 ||
		got["severity"] != "warning" {
		t.Errorf("%v", got)
	}
}

func TestClaimReleaseResolve(t *testing.T) {
	s := newSite(t)
	at := func(id, step string) string { return "/api/review/submissions/" + id + "/" + step }
	open, id := s.request(), s.submitted()
	s.api("POST", at(open, "claim"), `{"claimedBy":"a"}`).want(400).says("is open and cannot be claimed")
	s.api("POST", at(open, "resolve"), `{}`).want(400)
	s.api("POST", at("20200101000000-aaaaaa", "claim"), `{"claimedBy":"a"}`).want(404)
	s.api("POST", at(id, "claim"), `{"claimedBy":7}`).want(400).
		says("Invalid JSON body: claimedBy must be a text, not: number")
	s.api("POST", at(id, "claim"), `{"claimedBy":"a\nb"}`).want(400)
	s.api("POST", at(id, "claim"), `{"claimedBy":"a"}`).want(200)
	s.api("POST", at(id, "claim"), `{"claimedBy":"a"}`).want(200) // renews the claim
	refused := s.api("POST", at(id, "claim"), `{"claimedBy":"b"}`).want(409).says("claimed by a").object()
	if refused["claimedBy"] != "a" {
		t.Errorf("%v", refused)
	}
	s.api("POST", at(id, "claim"), `{}`).want(409) // a program without a name is not the holder
	s.api("POST", at(id, "claim"), "").want(409)   // nor is one that sends nothing
	s.api("POST", at(id, "release"), `{"claimedBy":"b"}`).want(409)
	s.api("POST", at(id, "resolve"), `{"resolvedBy":"b"}`).want(409)
	s.api("POST", at(id, "release"), `{"claimedBy":"a"}`).want(200)
	s.api("POST", at(id, "release"), `{"claimedBy":"a"}`).want(400)
	s.browser("POST", at(id, "claim"), "").want(200)
	if doc := s.api("GET", "/api/review/submissions/"+id, "").object(); doc["claimedBy"] != person {
		t.Errorf("claimed by %v", doc["claimedBy"])
	}
	s.api("POST", at(id, "claim"), `{"claimedBy":"b","force":true}`).want(200)
	s.api("POST", at(id, "resolve"), `{"resolvedBy":"c","force":true,"note":"n"}`).want(200)
	s.api("POST", at(id, "resolve"), "").want(200) // a second call changes nothing
	s.ask("POST", at(id, "resolve"), "", s.asProgram()).want(200)
	if doc := s.api("GET", "/api/review/submissions/"+id, "").object(); doc["resolvedBy"] != "c" || doc["note"] != "n" {
		t.Errorf("%v", doc)
	}
	s.api("POST", at(id, "submit"), `{"decision":"approve"}`).want(400).says("is resolved and cannot be submitted")
	s.api("POST", at(id, "claim"), `{"claimedBy":"a"}`).want(400)
	s.api("POST", at(id, "reopen"), `{}`).want(200)
	s.api("POST", at(id, "claim"), `{"claimedBy":"a"}`).want(200)
	s.api("POST", at(id, "claim"), `{"note":"x"}`).want(400).says("unknown field")

	s.api("POST", at(open, "cancel"), `{"note":"not needed"}`).want(200)
	s.api("POST", at(open, "cancel"), "").want(200)
	s.api("POST", at(open, "submit"), `{"decision":"approve"}`).want(400)
	s.api("POST", at(id, "cancel"), `{}`).want(400)
	if doc := s.api("POST", at(open, "reopen"), `{}`).want(200).object(); doc["status"] != "open" {
		t.Errorf("%v", doc)
	}
}

// Closing a review reports the drafts that stay, in the answer and on the page.
func TestClosingKeepsDrafts(t *testing.T) {
	s := newSite(t)
	at := func(id, step string) string { return "/api/review/submissions/" + id + "/" + step }
	list := func(id string) string { return "git runr inbox comment " + id + " --list" }
	cancelled, deleted, resolved := s.request(), s.request(), s.submitted()
	for _, id := range []string{cancelled, deleted, resolved} {
		s.browser("POST", "/api/review/drafts/"+id, `{"comment":"one"}`).want(200)
	}
	for id, answer := range map[string]*response{
		cancelled: s.api("POST", at(cancelled, "cancel"), ""),
		deleted:   s.api("DELETE", "/api/review/sessions/"+deleted, ""),
		resolved:  s.api("POST", at(resolved, "resolve"), ""),
	} {
		want := fmt.Sprint([]any{map[string]any{"actor": person, "comments": 1, "list": list(id)}})
		if got := fmt.Sprint(answer.want(200).object()["drafts"]); got != want {
			t.Errorf("drafts %s, want %s", got, want)
		}
	}
	shows(t, s.page("/review/"+cancelled), "A draft with 1 comment is kept, by Ada", list(cancelled),
		"Reopen the review to submit it.")
	if doc := s.api("POST", at(cancelled, "reopen"), "").want(200).object(); doc["drafts"] != nil {
		t.Errorf("reopened: %v", doc["drafts"])
	}
}

func TestAnswer(t *testing.T) {
	s := newSite(t)
	id := s.submitted()
	path := "/api/review/submissions/" + id + "/answer"
	finding := s.api("GET", "/api/review/submissions/"+id, "").
		object()["submission"].(map[string]any)["comments"].([]any)[0].(map[string]any)["id"].(string)
	body := func(rest string) string { return `{"finding":"` + finding + `",` + rest + `}` }
	s.api("POST", path, body(`"answer":"fixed","commit":"HEAD"`)).want(400) // HEAD is the reviewed commit itself
	s.put("mended.txt", []byte("mended\n"))
	s.commit("mended")
	s.api("POST", path, body(`"answer":"fixed","commit":"HEAD"`)).want(200)
	record := s.api("POST", path, body(`"answer":"refuted","reason":"it is right","answeredBy":"bot"`)).want(200).object()
	answers := record["answers"].([]any)
	first, last := answers[0].(map[string]any), answers[1].(map[string]any)
	if first["commit"] != runGit(t, s.dir, "rev-parse", "HEAD") || last["answer"] != "refuted" || last["actor"] != "bot" {
		t.Errorf("%v", answers)
	}
	s.api("POST", path, body(`"answer":"fixed","commit":"nothing"`)).want(400)
	s.api("POST", path, body(`"answer":"fixed"`)).want(400)
	s.api("POST", path, body(`"answer":"refuted"`)).want(400)
	s.api("POST", path, body(`"answer":"maybe","reason":"x"`)).want(400)
	s.api("POST", path, `{"finding":"c-0000000000","answer":"refuted","reason":"x"}`).want(404)
	s.api("POST", "/api/review/submissions/"+id+"/claim", `{"claimedBy":"a"}`).want(200)
	s.api("POST", path, body(`"answer":"deferred","reason":"later","answeredBy":"b"`)).want(409)
	s.api("POST", path, body(`"answer":"deferred","reason":"later","answeredBy":"a"`)).want(200)
}

func TestDrafts(t *testing.T) {
	s := newSite(t)
	id := s.request()
	path := "/api/review/drafts/" + id
	if doc := s.browser("GET", path, "").want(200).object(); doc["reviewer"] != person ||
		fmt.Sprint(doc["comments"], doc["viewed"]) != "[] []" {
		t.Errorf("%v", doc)
	}
	added := s.browser("POST", path, `{"file":"a.txt","startLine":2,"endLine":3,"comment":"**why**"}`).want(200).object()
	head := runGit(t, s.dir, "rev-parse", "HEAD")
	if added["selectedText"] != "2\nthree" || added["commit"] != head ||
		added["blob"] != runGit(t, s.dir, "rev-parse", "HEAD:a.txt") {
		t.Errorf("%v", added)
	}
	old := s.browser("POST", path, `{"file":"a.txt","startLine":2,"side":"old","comment":"was better","severity":"note"}`).
		want(200).object()
	if old["selectedText"] != "two" || old["commit"] != runGit(t, s.dir, "rev-parse", "HEAD~1") || old["endLine"] != 2.0 {
		t.Errorf("%v", old)
	}
	s.browser("POST", path, `{"file":"b.txt","comment":"on the file"}`).want(200)
	s.browser("POST", path, `{"comment":"on the whole"}`).want(200)
	for body, why := range map[string]string{
		`{"comment":" "}`: "empty", `{"file":"gone","comment":"x"}`: "gone",
		`{"file":"a.txt","startLine":9,"comment":"x"}`:             "3 lines",
		`{"file":"a.txt","startLine":3,"endLine":2,"comment":"x"}`: "not a range",
		`{"startLine":3,"comment":"x"}`:                            "lines need a file",
		`{"file":"a.txt","side":"left","comment":"x"}`:             "side",
		`{"file":"a.txt","startLine":-1,"comment":"x"}`:            "not a range", `{"file":"../a.txt","comment":"x"}`: "",
		`{"comment":"x","severity":"bad"}`: "severity", `{"text":"x"}`: "unknown field",
	} {
		s.browser("POST", path, body).want(400).says(why)
	}
	comment := path + "/comments/" + added["id"].(string)
	s.browser("PUT", comment, `{"comment":"changed"}`).want(200)
	s.browser("PUT", comment, `{"comment":""}`).want(400)
	s.browser("PUT", path+"/comments/c-0000000000", `{"comment":"x"}`).want(404)
	s.browser("DELETE", path+"/comments/"+old["id"].(string), "").want(200)
	s.browser("DELETE", path+"/comments/"+old["id"].(string), "").want(404)
	s.browser("PUT", path+"/message", `{"message":"in all"}`).want(200)
	s.browser("PUT", path+"/viewed", `{"file":"a.txt","viewed":true}`).want(200)
	s.browser("PUT", path+"/viewed", `{"file":"a.txt","viewed":false}`).want(200)
	s.browser("PUT", path+"/viewed", `{"file":"a.txt","viewed":true}`).want(200)
	s.browser("PUT", path+"/viewed", `{"file":"b.txt","viewed":true}`).want(404)
	s.browser("PUT", path+"/viewed", `{}`).want(400)

	again := openSite(t, s.dir) // a restart loses nothing
	doc := again.browser("GET", path, "").want(200).object()
	comments := doc["comments"].([]any)
	if len(comments) != 3 || comments[0].(map[string]any)["comment"] != "changed" || doc["message"] != "in all" ||
		fmt.Sprint(doc["viewed"]) != "[a.txt]" {
		t.Errorf("%v", doc)
	}
	s.browser("POST", path, `{"comment":"`+strings.Repeat("x", 300<<10)+`"}`).want(413).says("full")
	s.browser("GET", "/api/review/drafts/20200101000000-aaaaaa", "").want(404)
}

func TestSubmit(t *testing.T) {
	s := newSite(t)
	id := s.request()
	draft, submit := "/api/review/drafts/"+id, "/api/review/submissions/"+id+"/submit"
	s.browser("POST", submit, `{"decision":"fine"}`).want(400).says("use approve, request_changes or comment")
	s.browser("POST", submit, `{}`).want(400).says("nothing to submit")
	s.browser("POST", submit, "").want(400).says("nothing to submit")
	s.browser("POST", submit, `{"decision":"comment"}`).want(400)
	s.browser("POST", submit, `{"decision":"comment","comments":[{"file":"gone","comment":"x"}]}`).want(400)
	s.browser("POST", submit, `{"decision":"approve","message":"`+strings.Repeat("x", 1000)+`","comments":[{"comment":"`+
		strings.Repeat("x", 300<<10)+`"}]}`).want(413)
	s.browser("POST", draft, `{"file":"a.txt","startLine":2,"comment":"one"}`).want(200)
	s.browser("PUT", draft+"/message", `{"message":"in all"}`).want(200)
	body := `{"decision":"comment","key":"k1","comments":[{"file":"a.txt","startLine":1,"comment":"two"}]}`
	for range 3 { // the answer was lost, and the request is sent again
		if doc := s.browser("POST", submit, body).want(200).object(); doc["status"] != "submitted" ||
			doc["commentCount"] != 2.0 || doc["outcome"] != "commented" {
			t.Fatalf("%v", doc)
		}
	}
	s.browser("POST", submit, `{"decision":"comment","key":"k1"}`).want(200) // the draft is gone meanwhile
	record := s.browser("GET", "/api/review/submissions/"+id, "").object()
	if subs := record["submissions"].([]any); len(subs) != 1 || subs[0].(map[string]any)["message"] != "in all" ||
		subs[0].(map[string]any)["reviewer"] != person {
		t.Errorf("%v", record)
	}
	if doc := s.browser("GET", draft, "").object(); fmt.Sprint(doc["comments"], doc["message"]) != "[]" {
		t.Errorf("the draft is still there: %v", doc)
	}
	s.browser("POST", submit, `{"message":"a comment, as in the terminal"}`).want(200)
	record = s.browser("GET", "/api/review/submissions/"+id, "").object()
	if subs := record["submissions"].([]any); len(subs) != 2 || subs[1].(map[string]any)["decision"] != "comment" {
		t.Errorf("without a decision: %v", subs)
	}
	for _, twice := range []string{"mine", "mine stays"} { // the answer to the first request was lost
		s.browser("POST", draft, `{"id":"c-0123456789","was":"mine","comment":"`+twice+`"}`).want(200)
	}
	s.api("POST", submit, `{"decision":"approve","reviewer":"Grace","message":""}`).want(200)
	if doc := s.browser("GET", draft, "").object(); len(doc["comments"].([]any)) != 1 {
		t.Errorf("another reviewer took the draft: %v", doc)
	}
	record = s.browser("GET", "/api/review/submissions/"+id, "").object()
	if subs := record["submissions"].([]any); len(subs) != 3 || subs[2].(map[string]any)["decision"] != "approve" {
		t.Errorf("%v", subs)
	}
}

// Requested is called for a review that was requested through the API.
func TestRequestedIsTold(t *testing.T) {
	s := newSite(t)
	var told []string
	s.Requested = func(_ context.Context, r record.Review) error {
		told = append(told, r.Request.Reviewer)
		return errors.New("cannot start")
	}
	s.api("POST", "/api/review/sessions", `{"revision":"HEAD","reviewer":"builtin"}`).want(200)
	if !slices.Equal(told, []string{"builtin"}) {
		t.Errorf("told %v", told)
	}
	s.logged("cannot start")
}

// The work that belongs to a step beside its event is done for API calls and for forms.
func TestStepsAreTold(t *testing.T) {
	s := newSite(t)
	var told []string
	s.Closed = func() { told = append(told, "closed") }
	s.Unclaim = func(_ record.Review, by record.Hold) { told = append(told, "unclaim "+by.Actor) }
	s.Claim = func(ctx context.Context, id string, by record.Hold) (record.Review, string, error) {
		told = append(told, "claim "+by.Actor)
		review, err := s.Store.ClaimReview(ctx, id, by)
		return review, "no remote", err
	}
	id := s.submitted()
	at := "/api/review/submissions/" + id + "/"
	if doc := s.api("POST", at+"claim", `{"claimedBy":"a"}`).want(200).object(); doc["provisional"] != "no remote" {
		t.Errorf("%v", doc)
	}
	s.api("POST", at+"claim", `{"claimedBy":"b"}`).want(409)
	s.api("POST", at+"release", `{"claimedBy":"a"}`).want(200)
	s.api("POST", at+"release", `{"claimedBy":"a"}`).want(400)
	s.api("POST", at+"resolve", `{"resolvedBy":"c"}`).want(200)
	s.api("POST", at+"reopen", `{}`).want(200)
	for _, step := range []string{"claim", "release", "resolve"} {
		s.ask("POST", "/review/"+id+"/"+step, "form_token="+s.formToken(nil), formBody, s.asPerson()).want(303)
	}
	want := []string{
		"closed", "claim a", "claim b", "unclaim a", "unclaim c", "closed", "closed",
		"claim " + person, "unclaim " + person, "unclaim " + person, "closed",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q\nwant %q", told, want)
	}
}

func TestErrorStatuses(t *testing.T) {
	for status, errs := range map[int][]error{
		400: {badRequest("x"), &record.StateError{}, &record.InputError{}, gitstore.ErrNoIdentity, gitstore.ErrUnborn},
		404: {&record.NotFoundError{}, fmt.Errorf("x: %w", gitstore.ErrNotFound)},
		409: {&record.StateError{Holder: "a"}},
		413: {store.ErrDraftFull, &http.MaxBytesError{}},
		500: {errors.New("x")},
		503: {gitstore.ErrBusy, fs.ErrPermission, context.DeadlineExceeded},
		507: {syscall.ENOSPC},
	} {
		for _, err := range errs {
			if got := errorStatus(err); got != status {
				t.Errorf("%v: status %d, want %d", err, got, status)
			}
		}
	}
}

func TestJoinedText(t *testing.T) {
	was := "was"
	for _, c := range []struct {
		now  string
		was  *string
		text string
		want string
	}{
		{"was", &was, "mine", "mine"},
		{"was ", &was, "", ""},
		{"theirs", &was, "mine", "theirs\n\nmine"},
		{"theirs", &was, "theirs and mine", "theirs and mine"},
		{"theirs and mine", &was, "mine", "theirs and mine"},
		{"theirs", nil, "mine", "mine"},
	} {
		if got := joinedText(c.now, c.was, c.text); got != c.want {
			t.Errorf("%q over %q: %q, want %q", c.text, c.now, got, c.want)
		}
	}
}
