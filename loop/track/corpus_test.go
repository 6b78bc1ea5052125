package track

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-runr/loop/internal/casetest"
)

// The pairs are measured and not held: a change states its figures by -update. What
// they want was written before the program was asked, and does not follow the answers.
func TestCorpus(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "corpus", "pairs.txt"))
	if err != nil {
		t.Fatal(err)
	}
	right, missed, mistaken := 0, 0, 0
	for line := range strings.Lines(string(data)) {
		part := strings.Split(strings.TrimSpace(line), " | ")
		if len(part) != 3 {
			continue
		}
		want := part[0] == "same"
		switch sameRequest(part[1], part[2]) {
		case want:
			right++
			continue
		case true:
			mistaken++
		default:
			missed++
		}
		t.Log(strings.TrimSpace(line))
	}
	casetest.Golden(t, filepath.Join("testdata", "corpus", "figures"),
		fmt.Sprintf("pairs right %d, same and not seen %d, other and taken as same %d\n", right, missed, mistaken))
}
