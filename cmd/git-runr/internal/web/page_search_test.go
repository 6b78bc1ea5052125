package web

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
)

// The list is filtered by the query; an invalid query shows what can be searched for.
func TestInboxSearch(t *testing.T) {
	s := newSite(t)
	open, failed := s.request(), s.submitted()
	for query, wanted := range map[string]string{
		"q=is:failed": failed, "q=is:open": open, "q=by:me": "both", "q=by:nobody": "", "q=" + open: open,
		"verdict=needs_fix": failed,
		"verdict=none":      open, "branch=main": "both", "branch=other": "", "q=file:a.txt": "both", "q=file:b.txt": "",
		"q=severity:critical":      "",
		"q=is:failed&verdict=none": "", "q=is:passed": "",
	} {
		page := s.page("/review?" + query)
		for _, id := range []string{open, failed} {
			if shown := strings.Contains(page, `href="/review/`+id+`"`); shown != (wanted == id || wanted == "both") {
				t.Errorf("%s: %s is shown: %t", query, id, shown)
			}
		}
	}
	shows(t, s.page("/review?status=claimed"), `<option value="main">main</option>`) // whatever the list shows
	shows(t, s.page("/review?branch=other"), `<option value="other" selected>`)
	checkHTML(t, s.page("/review?q="+url.QueryEscape(`"><script>xss()</script>`)))
	shows(t, s.ask("GET", "/review?q=size:big", "", s.asPerson()).want(400).text, "is:failed")
	s.ask("GET", "/review?verdict=perhaps", "", s.asPerson()).want(400)
}

// Words are searched in what people wrote, and quoted words as a phrase. An id matches only by its beginning.
func TestSearchWords(t *testing.T) {
	r := record.ReviewSummary{ID: "20260102030405-gdbrwj", Commit: "ab1357c2d4e6f8091a2b3c4d5e6f708192a3b4c5",
		RequestedBy: "Ada Byron <a@e>",
		Spec:        "HEAD", Title: "Parse 13 fields", Message: "say: look at the key"}
	for query, found := range map[string]bool{
		"13": true, "parse": true, "fields parse": true, `"parse 13"`: true, `"13 parse"`: false, `"say: look"`: true,
		`key "at the"`: true, `"look at`: true,
		`by:"Ada Byron"`: true, `by:"Byron Ada"`: false, `""`: true,
		"ab13": true, "AB1357C": true, "ab1": false, "1357": false, "b4c5": false, "2026010": true, "0102": false,
		"gdbr": true, "gdb": false, "brwj": false,
	} {
		tests, _, err := search{Query: query}.words("")
		if err != nil {
			t.Fatal(err)
		}
		if got := !slices.ContainsFunc(tests, func(fits func(record.ReviewSummary) bool) bool {
			return !fits(r)
		}); got != found {
			t.Errorf("%s: found %t, want %t", query, got, found)
		}
	}
}

func TestBulk(t *testing.T) {
	s := newSite(t)
	send := func(do string, ids ...string) *response {
		body := url.Values{formTokenField: {s.formToken(nil)}, "do": {do}, "id": ids}
		return s.ask("POST", "/reviews", body.Encode(), s.asPerson(), formBody)
	}
	one, two, open := s.submitted(), s.submitted(), s.request()
	send("claim", one, two).want(303)
	shows(t, s.page("/review/"+two), "Claimed by <b>you</b>")
	shows(t, send("resolve", one, open, two).want(409).text, "2 of 3 done")
	shows(t, s.page("/review/"+one), "Resolved by")
	send("cancel", open).want(303)
	send("cancel").want(400)
	send("burn", open).want(400)
	s.ask("POST", "/reviews", "do=cancel&id="+one, s.asPerson(), formBody).want(403)
}
