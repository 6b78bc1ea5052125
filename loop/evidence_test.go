package loop

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEvidenceFiles(t *testing.T) {
	var checks []Check
	for _, name := range []string{"typecheck", "test:sub/dir", "Test Sub Dir", "test.sub.dir", "日本", "::"} {
		checks = append(checks, Check{Name: name})
	}
	want := []string{"typecheck.log", "test_sub_dir.log", "test_sub_dir_2.log", "test_sub_dir_3.log", "日本.log", "check.log"}
	if got := EvidenceFiles(checks); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestEvidenceReadsItsText(t *testing.T) {
	for _, test := range []struct {
		text, said string
		failing    bool
	}{
		{"Found 0 errors.", "", false},
		{"Found 3 errors in 1 file.", "3 errors", true},
		{"ok  \tx\t0.1s\tcoverage: 65.0% of statements", "65%", false},
		{"--- FAIL: TestX (0.00s)\nFAIL", "1 test failed", true},
		{"all is well", "", false},
	} {
		e := Evidence{text: test.text}
		read(&e)
		if e.Said != test.said || e.Failing != test.failing || e.Excerpt != test.text {
			t.Errorf("%q: %+v", test.text, e)
		}
	}
	e := Evidence{text: strings.Repeat("a long line of output\n", 1000)}
	if read(&e); len(e.Excerpt) > outputInEvent || strings.Count(e.Excerpt, "\n") >= evidenceExcerpt {
		t.Errorf("excerpt of %d bytes", len(e.Excerpt))
	}
}

// Commands prove by how they ended, evidence by telling of no failure; a note proves nothing.
func TestProofOfAnIntervention(t *testing.T) {
	ok, bad := CheckResult{}, CheckResult{ExitCode: 1}
	fine, failing, stale := Evidence{}, Evidence{Failing: true}, Evidence{Stale: "it is old"}
	for _, test := range []struct {
		name        string
		iv          Intervention
		shown, good bool
	}{
		{"a note", Intervention{}, false, true},
		{"a command", Intervention{Commands: []CheckResult{ok}}, true, true},
		{"one of two fails", Intervention{Commands: []CheckResult{ok, bad}}, true, false},
		{"evidence", Intervention{Evidence: []Evidence{fine}}, true, true},
		{"evidence of a failure", Intervention{Evidence: []Evidence{fine, failing}}, true, false},
		{"evidence of something else", Intervention{Evidence: []Evidence{stale}}, false, true},
		{"a failed command beside evidence", Intervention{Commands: []CheckResult{bad}, Evidence: []Evidence{fine}}, true, false},
	} {
		if shown, good := test.iv.proof(); shown != test.shown || good != test.good {
			t.Errorf("%s: %v, %v", test.name, shown, good)
		}
	}
}

// Only a plain file that somebody wrote after the stop is evidence, and once.
func TestEvidenceIsOfAfterTheStop(t *testing.T) {
	dir := t.TempDir()
	stop := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	write := func(name string, at time.Time) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("Found 0 errors.\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write("new.log", stop.Add(time.Second))
	write("old.log", stop)
	write("taken.log", stop.Add(time.Second))
	if err := os.Symlink(filepath.Join(dir, "new.log"), filepath.Join(dir, "link.log")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "empty.log"), []byte(" \n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := Run{Stop: &Stop{At: stop}, Interventions: []Intervention{{Evidence: []Evidence{{File: "taken.log", WrittenAt: stop.Add(time.Second)}}}}}
	for _, name := range []string{"new", "old", "taken", "link", "empty", "none"} {
		run.Plan.Checks = append(run.Plan.Checks, Check{Name: name})
	}
	found, err := evidenceLeft(run, dir)
	if err != nil || len(found) != 1 || found[0].Check != "new" {
		t.Errorf("%+v, %v", found, err)
	}
	run.Stop = nil // it was killed: nobody knows who wrote what
	if found, err := evidenceLeft(run, dir); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
