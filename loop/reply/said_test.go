package reply

import (
	"testing"

	"github.com/git-runr/git-runr/loop/internal/casetest"
)

// TestSaid: every text of testdata/said states its expected result, which was written without looking at the
// readers. Findings and requests are those that must be present; others may be present too.
func TestSaid(t *testing.T) {
	for _, c := range casetest.Read(t, "said") {
		for _, f := range c.Archive.Files {
			s := readSample(t, c.Name()+"/"+f.Name, string(f.Data))
			r := ParseReview(s.text, s.nonce)
			got := readAs(r)
			if r.Unreadable() {
				got = "unreadable"
			}
			if got != s.verdict {
				t.Errorf("%s: read as %s, want %s: %+v", s.name, got, s.verdict, r)
			}
			if _, left, _ := pair(s.findings, r.Findings, func(w, g Finding) bool {
				return w.Place() == g.Place() && w.Severity == g.Severity && holds(g.Issue, w.Issue)
			}); len(left) > 0 {
				t.Errorf("%s: no finding %+v: %+v", s.name, left, r.Findings)
			}
			if _, left, _ := pair(s.wants(), r.Requests, func(w, g string) bool { return holds(g, w) }); len(left) > 0 {
				t.Errorf("%s: not asked for: %q: %q", s.name, left, r.Requests)
			}
		}
	}
}
