package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

func TestEvidenceFiles(t *testing.T) {
	var checks []runplan.Check
	for _, name := range []string{"typecheck", "test:sub/dir", "Test Sub Dir", "test.sub.dir", "日本", "::"} {
		checks = append(checks, runplan.Check{Name: name})
	}
	want := []string{"typecheck.log", "test_sub_dir.log", "test_sub_dir_2.log", "test_sub_dir_3.log", "日本.log",
		"check.log"}
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
		e := record.Evidence{Text: test.text}
		read(&e)
		if e.Said != test.said || e.Failing != test.failing || e.Excerpt != test.text {
			t.Errorf("%q: %+v", test.text, e)
		}
	}
	e := record.Evidence{Text: strings.Repeat("a long line of output\n", 1000)}
	if read(&e); len(e.Excerpt) > record.OutputInEvent || strings.Count(e.Excerpt, "\n") >= evidenceExcerpt {
		t.Errorf("excerpt of %d bytes", len(e.Excerpt))
	}
}

// Commands are proof by their exit codes, and evidence files if they show no failure. A note is no proof.
func TestProofOfAnIntervention(t *testing.T) {
	ok, bad := record.CheckResult{}, record.CheckResult{ExitCode: 1}
	fine, failing, stale := record.Evidence{}, record.Evidence{Failing: true}, record.Evidence{Stale: "it is old"}
	for _, test := range []struct {
		name        string
		iv          record.Intervention
		shown, good bool
	}{
		{"a note", record.Intervention{}, false, true},
		{"a command", record.Intervention{Commands: []record.CheckResult{ok}}, true, true},
		{"one of two fails", record.Intervention{Commands: []record.CheckResult{ok, bad}}, true, false},
		{"evidence", record.Intervention{Evidence: []record.Evidence{fine}}, true, true},
		{"evidence of a failure", record.Intervention{Evidence: []record.Evidence{fine, failing}}, true, false},
		{"evidence of something else", record.Intervention{Evidence: []record.Evidence{stale}}, false, true},
		{"a failed command beside evidence", record.Intervention{Commands: []record.CheckResult{bad},
			Evidence: []record.Evidence{fine}}, true, false},
	} {
		if shown, good := test.iv.Proof(); shown != test.shown || good != test.good {
			t.Errorf("%s: %v, %v", test.name, shown, good)
		}
	}
}

// Only a regular file that was written after the stop counts as evidence, and only once.
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
	run := record.Run{Stop: &record.Stop{At: stop},
		Interventions: []record.Intervention{{Evidence: []record.Evidence{{File: "taken.log",
			WrittenAt: stop.Add(time.Second)}}}}}
	for _, name := range []string{"new", "old", "taken", "link", "empty", "none"} {
		run.Plan.Checks = append(run.Plan.Checks, runplan.Check{Name: name})
	}
	found, err := evidenceLeft(run, dir)
	if err != nil || len(found) != 1 || found[0].Check != "new" {
		t.Errorf("%+v, %v", found, err)
	}
	run.Stop = nil // killed: the files' writer is unknown
	if found, err := evidenceLeft(run, dir); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// A recorded evidence file contains no names of this machine or its user, because others can read it.
func TestEvidenceIsWithoutMachine(t *testing.T) {
	t.Setenv("HOME", "/home/zenobia")
	path := filepath.Join(t.TempDir(), "test.log")
	if err := os.WriteFile(path, []byte("zenobia ran /home/zenobia/go/bin/x: 3 errors\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, _, err := readEvidence(path); err != nil || text != "<user> ran ~/go/bin/x: 3 errors" {
		t.Errorf("%q, %v", text, err)
	}
}
