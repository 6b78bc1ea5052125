package web

import "testing"

// The text that is copied for an agent contains the pending comments, or a single named comment, and nothing that was
// not said.
func TestForAgent(t *testing.T) {
	s := newSite(t)
	id := s.submitted()
	base := "/review/" + id
	s.form(base+"/comment", "file", "a.txt", "start", "2", "end", "2", "comment", "still **pending**").want(303)
	ask := func(query string) *response { return s.ask("GET", base+"/agent"+query, "", s.asPerson()) }
	all := ask("?decision=approve").want(200)
	if kind := all.Header.Get("Content-Type"); kind != "text/plain; charset=utf-8" {
		t.Errorf("it is %q", kind)
	}
	shows(t, all.text, "Review "+id, "## Review Comments", "still **pending**", "approved by Ada", "changes requested")
	for _, m := range remarkID.FindAllStringSubmatch(s.page(base), -1) {
		one := ask("?comment=" + m[1]).want(200).text
		shows(t, one, m[1])
		if len(one) >= len(all.text) {
			t.Errorf("%s alone is as long as all", m[1])
		}
	}
	ask("?comment=c-00000000").want(404)
	s.ask("GET", base+"/agent", "").want(401)
}
