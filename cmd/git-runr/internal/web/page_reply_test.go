package web

import (
	"strings"
	"testing"

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
