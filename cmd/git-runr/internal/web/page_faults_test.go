package web

import (
	"strings"
	"testing"
)

// TestCRLFLabel: a file of one line without a line end is not labelled CRLF.
func TestCRLFLabel(t *testing.T) {
	s := newSite(t)
	s.put("VERSION", []byte("1.0"))
	s.commit("One line")
	s.put("VERSION", []byte("1.1"))
	s.commit("Another one")
	hides(t, section(t, s.page("/review/"+s.request()), "VERSION"), "CRLF")
}

// TestSubmitVerdict: the verdict is accepted under the name that programs use, in any case.
func TestSubmitVerdict(t *testing.T) {
	s := newSite(t)
	at := "/api/review/submissions/" + s.request() + "/submit"
	s.api("POST", at, `{"verdict":"fine"}`).want(400).says("use approve, request_changes or comment")
	s.api("POST", at, `{"verdict":"approve","decision":"comment"}`).want(400).says("verdict and decision")
	s.api("POST", at, `{"verdict":"APPROVE","reviewer":"Ann <ann@example.com>"}`).want(200)
}

// TestWhatCameBack: the requester sees verdict, message and open comments above the change. Nobody else does, and
// nobody sees them for an own answer.
func TestWhatCameBack(t *testing.T) {
	s := newSite(t)
	id := s.request()
	made, err := s.Store.Review(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	hides(t, s.page("/review/"+id), `class="came-back"`)
	s.api("POST", "/api/review/submissions/"+id+"/submit",
		`{"verdict":"request_changes","message":"Not **yet**","reviewer":"Ann <ann@example.com>",
		"comments":[{"file":"a.txt","startLine":1,"endLine":1,"comment":"Why so?"}]}`).want(200)
	page := s.page("/review/" + id)
	if made.RequestedBy != s.Actor {
		t.Fatalf("asked by %s, read by %s", made.RequestedBy, s.Actor)
	}
	_, back, found := strings.Cut(page, `<section class="came-back"`)
	if !found {
		t.Fatalf("nothing came back:\n%s", page)
	}
	back, _, _ = strings.Cut(back, "</section>")
	shows(t, back, "changes requested", "Ann", "Not <strong>yet</strong>", "a.txt:1", "Why so?")
	if strings.Index(page, `class="came-back"`) > strings.Index(page, `class="change"`) {
		t.Error("the change stands above what came back")
	}
	s.Actor = "Ada L. <ADA@example.com>"
	shows(t, s.page("/review/"+id), `class="came-back"`)
	own := s.request()
	s.api("POST", "/api/review/submissions/"+own+"/submit", `{"verdict":"comment","message":"My own"}`).want(200)
	s.Actor = "Ada <ada@example.com> (host session)"
	page = s.page("/review/" + own)
	hides(t, page, `class="came-back"`)
	shows(t, page, "Handed over")
	s.Actor = "Bob <bob@example.com>"
	hides(t, s.page("/review/"+id), `class="came-back"`)
}

// TestAskedIsShown: the request's message is visible without a click, in the head of the review and in the inbox.
func TestAskedIsShown(t *testing.T) {
	s := newSite(t)
	made := s.api("POST", "/api/review/sessions",
		`{"revision":"HEAD","message":"Is the **lock** held?\nAnd more","reviewer":"human"}`).want(200).object()
	head, _, _ := strings.Cut(s.page("/review/"+made["id"].(string)), `<div class="state">`)
	shows(t, head, `<span class="asked">Is the **lock** held?</span>`)
	shows(t, s.page("/review"), `<span class="asked">Is the **lock** held?</span>`)
}
