package loop

import (
	"strings"
	"testing"

	"git-runr/loop/unidiff"
)

func TestReadJudgement(t *testing.T) {
	for name, tc := range map[string]struct {
		text, want string
	}{
		"fixed":                      {"Looked.\nVERIFY n0 fixed: it is guarded", "fixed it is guarded"},
		"indented, with a line end":  {"  VERIFY n0 open: still there \r\n", "open still there"},
		"said twice alike":           {"VERIFY n0 fixed: a\nVERIFY n0 fixed: b", "fixed b"},
		"contradicts itself":         {"VERIFY n0 fixed: a\nVERIFY n0 open: b", ""},
		"contradicts itself at last": {"VERIFY n0 open: b\nVERIFY n0 fixed: a", ""},
		"another nonce":              {"VERIFY n1 fixed: a", ""},
		"no nonce":                   {"VERIFY fixed: a", ""},
		"no reason":                  {"VERIFY n0 fixed:", ""},
		"no colon":                   {"VERIFY n0 fixed", ""},
		"another word":               {"VERIFY n0 fixed partly: a", ""},
		"quoted":                     {"> VERIFY n0 fixed: a", ""},
		"prose":                      {"It is fixed.", ""},
	} {
		fixed, reason, ok := readJudgement(tc.text, "n0")
		got := map[bool]string{true: "fixed ", false: "open "}[fixed] + reason
		if !ok {
			got = ""
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if _, _, ok := readJudgement("VERIFY  fixed: a", ""); ok {
		t.Error("without a nonce anything is an answer")
	}
}

// FuzzReadJudgement: only a line that begins with the word and the nonce settles a finding.
func FuzzReadJudgement(f *testing.F) {
	f.Add("VERIFY n0 fixed: a\nVERIFY n0 open: b")
	f.Add("x VERIFY n0 fixed: a")
	f.Fuzz(func(t *testing.T, text string) {
		fixed, reason, ok := readJudgement(text, "n0")
		says := func(word string) bool {
			for line := range strings.Lines(text) {
				if strings.HasPrefix(strings.TrimSpace(line), "VERIFY n0 "+word+":") {
					return true
				}
			}
			return false
		}
		if fixed && (!ok || !says("fixed") || says("open") || reason == "" || strings.ContainsAny(reason, "\r\n")) {
			t.Errorf("%q is taken for fixed: %q", text, reason)
		}
	})
}

func TestTakesOut(t *testing.T) {
	const patch = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,8 +1,6 @@\n one\n-two\n-three\n four\n-five\n+5\n six\n-seven\n eight\n+nine\n"
	var hunk unidiff.Hunk
	for file, err := range unidiff.Files(patch) {
		if err != nil {
			t.Fatal(err)
		}
		hunk = file.Hunks[0]
	}
	for _, tc := range []struct {
		start, end int
		want       bool
	}{{2, 2, true}, {2, 3, true}, {3, 4, false}, {1, 1, false}, {5, 5, false}, {7, 7, true}, {8, 8, false}} {
		if got := takesOut(hunk, tc.start, tc.end); got != tc.want {
			t.Errorf("lines %d-%d: %v", tc.start, tc.end, got)
		}
	}
}
