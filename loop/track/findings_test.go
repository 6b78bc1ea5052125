package track

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/reply"
)

// TestFindings compares the rule with pairs that were written before it: no different or unsure pair counts as the
// same, in a panel and from one round to the next. The rule may miss some of the equal pairs.
func TestFindings(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "findings.txt"))
	if err != nil {
		t.Fatal(err)
	}
	pairs, seen, missed := 0, 0, 0
	for _, block := range strings.Split(string(data), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		if len(lines) != 3 || strings.HasPrefix(lines[0], "#") {
			continue
		}
		pairs++
		a, b := writtenFinding(t, lines[1]), writtenFinding(t, lines[2])
		panel := len(Same([][]reply.Finding{{a}, {b}})) == 1
		rounds := Requests([]Round{{Number: 1, Report: asking(a)}, {Number: 2, Report: asking(b)}})[0].State == Unmet
		switch {
		case (panel || rounds) && lines[0] != "same":
			t.Errorf("%s, and taken for the same: %q, %q", lines[0], lines[1], lines[2])
		case lines[0] == "same" && panel != rounds:
			t.Errorf("panel %v, rounds %v: %q, %q", panel, rounds, lines[1], lines[2])
		case lines[0] == "same" && panel:
			seen++
		case lines[0] == "same":
			missed++
		}
	}
	if pairs != 40 || seen != 2 || missed != 3 {
		t.Errorf("%d pairs, %d the same and seen, %d the same and not seen", pairs, seen, missed)
	}
}

// writtenFinding parses "FILE:LINE text".
func writtenFinding(t *testing.T, line string) reply.Finding {
	t.Helper()
	place, issue, _ := strings.Cut(line, " ")
	file, number, _ := strings.Cut(place, ":")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return found(file, n, issue)
}

// asking returns the report of a reviewer that found f.
func asking(f reply.Finding) reply.Report {
	return reply.Report{Verdict: reply.NeedsFix, Effective: reply.NeedsFix, Findings: []reply.Finding{f}}
}
