package web

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
)

func TestReplies(t *testing.T) {
	s := newSite(t)
	id, ids := s.talked()
	review, err := s.Store.Reply(t.Context(), id, record.Reply{Finding: ids["later"], Text: "see <i>this</i> **first**",
		Actor: "Bob"})
	if err != nil {
		t.Fatal(err)
	}
	head := review.Request.Subject.Commit
	s.form("/review/"+id+"/reply", "finding", ids["later"], "text", "done in "+head.Short()+", not in deadbeef").want(303)
	s.form("/review/"+id+"/reply", "finding", "", "text", "on the whole").want(303)
	for _, path := range []string{"/review/" + id, "/review/" + id + "/comments?show=all"} {
		page := s.page(path)
		checkHTML(t, page)
		for _, want := range []string{
			"see &lt;i&gt;this&lt;/i&gt; <strong>first</strong>", "on the whole", `action="/review/` + id + `/reply"`,
			", not in deadbeef",
			`<a href="/review?q=` + string(head) + `&amp;status=all">` + head.Short() + "</a>",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
		if bob, me := strings.Index(page, "<strong>first</strong>"), strings.Index(page, ", not in deadbeef"); bob > me {
			t.Errorf("%s: the newer reply stands first", path)
		}
	}
	if review, err = s.Store.Review(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := review.RepliesTo(""); len(got) != 1 || got[0].Actor != s.Actor {
		t.Errorf("replies to the whole: %+v, by %s expected", got, s.Actor)
	}
	s.form("/review/"+id+"/reply", "finding", ids["later"], "text", " ").want(400)
	s.form("/review/"+id+"/reply", "finding", "nobody", "text", "x").want(404)
}

// TestEarlierRounds: the page of a round lists what earlier rounds left open or unsettled, and what has changed.
func TestEarlierRounds(t *testing.T) {
	s := newSite(t)
	first, ids := s.talked()
	s.put("b.txt", []byte("one\ntwo\nthree\nfour\n"))
	s.commit("more")
	before, err := s.Store.Review(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	request, err := lineage.NextRound(t.Context(), s.Store, before)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Store.RequestReview(t.Context(), request, "cli")
	if err != nil {
		t.Fatal(err)
	}
	page := s.page("/review/" + second.ID)
	checkHTML(t, page)
	for _, want := range []string{
		"; since round 1 the author changed 1 file (&#43;1 -0).", "Carried from earlier rounds:",
		`<a href="/review/` + first + "#" + ids["later"] + `"><code>b.txt:3</code>`,
		`<a href="/review/` + first + "#" + ids["settled"] + `"><code>a.txt:1</code>`,
		"refuted, says Ada", "deferred, says Ada",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	s.api("POST", "/api/review/submissions/"+second.ID+"/submit", `{"reviewer":"Bob","decision":"approve"}`).want(200)
	page = s.page("/review/" + second.ID)
	checkHTML(t, page)
	if !strings.Contains(page, "Answered in earlier rounds, but not settled:") ||
		!strings.Contains(page, "deferred, says Ada") || strings.Contains(page, "refuted, says Ada") {
		t.Errorf("after the approval:\n%s", page)
	}
}

// TestWhoSaidIt: the page names the log of what somebody says, and who handed a request to whom.
func TestWhoSaidIt(t *testing.T) {
	s := newSite(t)
	id := s.request()
	given := record.Given{People: []string{"Bob <bob@example.com>"}, Actor: "Ann <ann@example.com>"}
	if _, err := s.Store.GiveReview(t.Context(), id, given); err != nil {
		t.Fatal(err)
	}
	said := record.Reply{Text: "so it is", Actor: "Bob <bob@example.com>"}
	review, err := s.Store.Reply(t.Context(), id, said)
	if err != nil {
		t.Fatal(err)
	}
	page := s.page("/review/" + id)
	for _, want := range []string{
		"given to Bob &lt;bob@example.com&gt; by Ann &lt;ann@example.com&gt;",
		"<b>Bob</b> <span class=\"meta\">recorded by ", ", writer " + review.Writer[:7] + "</span>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
