package reply

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/internal/casetest"
	"github.com/git-runr/git-runr/loop/internal/place"
)

// A sample is a text of the corpus and a careful reader's result:
//
//	nonce 7f3a
//	v pass|fix|critical
//	f warning a.go:3-5 words of the issue   a finding, "-" where it has no place
//	r words of the request                  asked for beside the findings
//	=====
//	the text
type sample struct {
	name, nonce, verdict, text string
	findings                   []Finding
	requests                   []string
}

func readSample(t *testing.T, name, data string) sample {
	head, text, ok := strings.Cut(data, "=====\n")
	if !ok {
		t.Fatalf("%s: no line =====", name)
	}
	s := sample{name: name, text: text}
	for line := range strings.Lines(head) {
		kind, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "nonce":
			s.nonce = value
		case "v":
			s.verdict = value
		case "f":
			word := strings.SplitN(value, " ", 3)
			f := Finding{Severity: Severity(word[0]), Issue: word[2]}
			f.At(place.Read(word[1]))
			s.findings = append(s.findings, f)
		case "r":
			s.requests = append(s.requests, value)
		default:
			t.Fatalf("%s: %q", name, line)
		}
	}
	return s
}

// corpus returns every text of testdata/corpus, which give figures and are not tested one by one.
func corpus(t *testing.T) []sample {
	var all []sample
	for _, c := range casetest.Read(t, "corpus") {
		style := c.Name()
		for _, f := range c.Archive.Files {
			all = append(all, readSample(t, style+"/"+f.Name, string(f.Data)))
		}
	}
	return all
}

func (s sample) passes() bool { return s.verdict == "pass" }

// readAs returns the verdict of r in the corpus's words.
func readAs(r Report) string {
	switch {
	case r.Effective == CriticalFail:
		return "critical"
	case r.Effective.Passed() || r.Approved:
		return "pass"
	}
	return "fix"
}

// pair finds for each of want the first equal one of got, and counts the pairs.
func pair[T, U any](want []T, got []U, same func(T, U) bool) (found int, left []T, extra []U) {
	extra = slices.Clone(got)
	for _, w := range want {
		at := slices.IndexFunc(extra, func(g U) bool { return same(w, g) })
		if at < 0 {
			left = append(left, w)
			continue
		}
		found++
		extra = slices.Delete(extra, at, at+1)
	}
	return found, left, extra
}

func holds(text, words string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(words))
}

// wants returns all requests of s, the findings first.
func (s sample) wants() []string {
	var wants []string
	for _, f := range s.findings {
		wants = append(wants, f.Issue)
	}
	return append(wants, s.requests...)
}

type figures struct {
	texts, verdicts, unreadPass, refusedPass, passedRefusal int
	findings, findingsMissed, findingsExtra, graded         int
	requests, requestsMissed, requestsExtra, exact          int
}

func (n *figures) add(t *testing.T, s sample) {
	r := ParseReview(s.text, s.nonce)
	n.texts++
	switch got := readAs(r); {
	case got == s.verdict:
		n.verdicts++
	case s.passes() && r.Format == FormatUnreadable:
		n.unreadPass++
	case s.passes():
		n.refusedPass++
		t.Logf("%s: refused", s.name)
	case got == "pass":
		n.passedRefusal++
		t.Errorf("%s: a refusal passes", s.name)
	default:
		t.Logf("%s: %s, want %s", s.name, got, s.verdict)
	}
	found, left, extra := pair(s.findings, r.Findings, func(w, g Finding) bool { return w.Place() == g.Place() })
	n.findings, n.findingsMissed, n.findingsExtra = n.findings+found, n.findingsMissed+len(left),
		n.findingsExtra+len(extra)
	graded, _, _ := pair(s.findings, r.Findings, func(w, g Finding) bool {
		return w.Place() == g.Place() && w.Severity == g.Severity
	})
	n.graded += graded
	asked, missed, more := pair(s.wants(), r.Requests, func(w, g string) bool { return holds(g, w) })
	n.requests, n.requestsMissed, n.requestsExtra = n.requests+asked, n.requestsMissed+len(missed),
		n.requestsExtra+len(more)
	if len(missed)+len(more) == 0 {
		n.exact++
	} else {
		t.Logf("%s: missed %q, extra %q", s.name, missed, more)
	}
}

func (n figures) String() string {
	return fmt.Sprintf(`texts %d
verdicts right %d, passes asked for once more %d, refused %d, refusals passed %d
findings found %d, missed %d, extra %d, severity right %d
requests found %d, missed %d, extra %d, texts exact %d
`, n.texts, n.verdicts, n.unreadPass, n.refusedPass, n.passedRefusal, n.findings, n.findingsMissed, n.findingsExtra, n.graded,
		n.requests, n.requestsMissed, n.requestsExtra, n.exact)
}

// The corpus is a measurement and not a test, except for refusals that pass: after a change record the figures with
// -update. The expected results were written before the parser ran, and are not adapted to it.
func TestCorpus(t *testing.T) {
	var n figures
	for _, s := range corpus(t) {
		n.add(t, s)
	}
	path := filepath.Join("testdata", "corpus", "figures")
	if casetest.Update() {
		if err := os.WriteFile(path, []byte(n.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want, err := os.ReadFile(path); err != nil || n.String() != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s%v", n.String(), want, err)
	}
}
