package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// commitID returns the full id of a commit for a short name in hex.
func commitID(name string) gitstore.ID { return gitstore.ID(name + strings.Repeat("0", 40-len(name))) }

// logged returns a commit with a message; parents are short names.
func logged(name, message string, files []string, parents ...string) gitstore.LoggedCommit {
	subject, _, _ := strings.Cut(message, "\n")
	c := gitstore.LoggedCommit{ID: commitID(name), Subject: subject, Message: message, Files: files}
	for _, p := range parents {
		c.Parents = append(c.Parents, commitID(p))
	}
	return c
}

// auditedRuns returns one run with a person's fix, landed as one commit.
func auditedRuns() []record.Run {
	return []record.Run{{
		ID: runID, Status: record.RunCompleted,
		Plan: runplan.Plan{Entity: runplan.Entity{Identifier: "T1", Title: "Add a thing"}},
		Attempts: []record.Attempt{{Number: 1, Commit: commitID("a1"), Files: []string{"b.go", "a.go"}},
			{Number: 2, Commit: commitID("a2"), Files: []string{"c.go"}}},
		Interventions: []record.Intervention{{
			Number: 1, Reason: record.InterveneManualFix, Commit: commitID("1f"), Files: []string{"c.go"},
			Commits: []gitstore.ID{commitID("1e"), commitID("a2")},
		}},
		Landed: &record.Landed{Commit: commitID("1a"), Onto: commitID("00")},
	}}
}

func TestAuditClasses(t *testing.T) {
	for _, test := range []struct {
		name   string
		commit gitstore.LoggedCommit
		class  AuditClass
		why    string
	}{
		{"an attempt", logged("a1", "any", nil), AuditCheckpoint, "run " + runID + ", attempt 1"},
		{"an attempt that an intervention lists", logged("a2", "any", nil), AuditCheckpoint, "attempt 2"},
		{"where it landed", logged("1a", "any", nil), AuditCheckpoint, "landed"},
		{"a person's commit for the run", logged("1f", "any", nil), AuditIntervention, "intervention 1 (manual_fix)"},
		{"a person's commit in the checkout", logged("1e", "any", nil), AuditIntervention, "intervention 1 (manual_fix)"},
		{"a cherry-pick with trailers", logged("b1", "x\n\nRunr-Run: "+runID+"\nRunr-Attempt: 2\n", nil), AuditCheckpoint,
			"attempt 2, by its trailers"},
		{"an attempt of a run unknown here", logged("b2", "x\n\nRunr-Run: 20200101000000-aaaaaa\nRunr-Attempt: 2\n", nil),
			AuditAttributed, "not known here"},
		{"trailers of an intervention", logged("b3", "x\n\nRunr-Run: "+runID+"\nrunr-intervention: true\n", nil),
			AuditIntervention, "by its trailers " + runID},
		{"a run's trailer", logged("b4", "x\n\nbody\n\nRunr-Run: "+runID, nil), AuditAttributed, "trailer of run"},
		{"runr's trailer, CR LF", logged("b5", "x\r\n\r\nRunr-Run-Id: "+runID+"\r\n", nil), AuditAttributed,
			"trailer of run"},
		{"a trailer as the subject", logged("b6", "Runr-Run: 20200101000000-aaaaaa", nil), AuditGap, "no verdict"},
		{"a trailer above the last paragraph", logged("b7", "x\n\nRunr-Run: 20200101000000-aaaaaa\n\nbody\n", nil), AuditGap,
			"no verdict"},
		{"names a run", logged("c1", "Merge branch 'runr/"+runID+"'", nil, "a1", "a2"), AuditInferred, "names run " + runID},
		{"subject and files of an attempt", logged("c2", "T1: Add a thing\n\nby hand", []string{"a.go", "b.go"}),
			AuditInferred, "subject and files"},
		{"subject and files of the whole run", logged("c3", "T1: Add a thing", []string{"a.go", "b.go", "c.go"}),
			AuditInferred, "subject and files"},
		{"the subject alone", logged("c4", "T1: Add a thing", []string{"other.go"}), AuditGap, "no verdict"},
		{"the files alone", logged("c5", "Something else", []string{"a.go", "b.go"}), AuditGap, "no verdict"},
		{"a part of an id", logged("c6", "see "+runID[:14], nil), AuditGap, "no verdict"},
	} {
		got := auditOf([]gitstore.LoggedCommit{test.commit}, auditedRuns()).Commits[0]
		if got.Class != test.class || !strings.Contains(got.Why, test.why) || got.Merge != (len(test.commit.Parents) > 1) {
			t.Errorf("%s: %+v, want %s because of %q", test.name, got, test.class, test.why)
		}
	}
}

func TestAuditLandedInPlaceOfNothing(t *testing.T) {
	runs := auditedRuns()
	runs[0].Landed = &record.Landed{Commit: commitID("00"), Onto: commitID("00")} // there was nothing to land
	if got := auditOf([]gitstore.LoggedCommit{logged("00", "x", nil)}, runs); got.Counts.Gap != 1 {
		t.Errorf("%+v", got.Commits)
	}
}

// TestAuditRefusedRun: the line of a run's commit says what refused the commit, and who accepted the run nevertheless.
func TestAuditRefusedRun(t *testing.T) {
	runs := auditedRuns()
	runs[0].Result, runs[0].AnsweredBy = record.ResultWithIssues, "Ann"
	refused := lineage.Covered{Commit: runs[0].Attempts[0].Commit, State: lineage.CoverReviewed, Refused: true, Run: runID,
		Verdict: "CRITICAL"}
	commits := []gitstore.LoggedCommit{{ID: refused.Commit, Subject: "x"}}
	want := "run " + runID + ", attempt 1: CRITICAL, accepted by Ann, with 0 open findings"
	if got := auditOf(commits, runs, refused).Commits[0].Why; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	refused.Review, runs[0].Result = "20260107120000-bcdefg", record.ResultPass
	want = "run " + runID + ", attempt 1; review 20260107120000-bcdefg: CRITICAL"
	if got := auditOf(commits, runs, refused).Commits[0].Why; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// auditOf returns an audit of commits, of which only those in covered were reviewed.
func auditOf(commits []gitstore.LoggedCommit, runs []record.Run, covered ...lineage.Covered) Audit {
	all := make([]lineage.Covered, len(commits))
	for i, c := range commits {
		all[i] = lineage.Covered{Commit: c.ID, State: lineage.CoverUnreviewed}
		for _, known := range covered {
			if known.Commit == c.ID {
				all[i] = known
			}
		}
	}
	return NewAudit(commits, runs, all, nil)
}

// TestAuditReviews: the coverage of a commit decides its class, the reason and which levels it meets.
func TestAuditReviews(t *testing.T) {
	review := "20260107120000-bcdefg"
	for _, test := range []struct {
		covered lineage.Covered
		class   AuditClass
		why     string
		meets   int // how many of lineage.Levels it meets
	}{
		{lineage.Covered{State: lineage.CoverReviewed, Level: lineage.LevelReviewed, Review: review, Verdict: "PASS",
			Outcome: "passed", Passed: true}, AuditAttributed, "review " + review + ": PASS", 2},
		{lineage.Covered{State: lineage.CoverReviewed, Level: lineage.LevelApproved, Review: review, Verdict: "PASS",
			Outcome: "passed", Passed: true}, AuditAttributed, "review " + review + ": PASS", 3},
		{lineage.Covered{State: lineage.CoverReviewed, Level: lineage.LevelChecked, Review: review, Verdict: "CHECKED",
			Outcome: "passed", Passed: true}, AuditAttributed,
			"review " + review + ": checked by rules, which read no code", 1},
		{lineage.Covered{State: lineage.CoverReviewed, Level: lineage.LevelApproved, Refused: true, Review: review,
			Verdict: "CRITICAL"}, AuditAttributed, "review " + review + ": CRITICAL", 0},
		{lineage.Covered{State: lineage.CoverReviewed, Level: lineage.LevelChecked, Refused: true, Review: review,
			Verdict: "NEEDS_FIX"}, AuditAttributed, "review " + review + ": NEEDS_FIX", 0},
		{lineage.Covered{State: lineage.CoverCarried, Level: lineage.LevelReviewed, Review: review, Verdict: "PASS",
			Passed: true, From: commitID("2")}, AuditAttributed, "review " + review + ": PASS, carried from 2000000", 2},
		{lineage.Covered{State: lineage.CoverStale, Review: review, From: commitID("2")}, AuditGap,
			"stale, what was looked at as 2000000 had other contents, review " + review, 0},
		{lineage.Covered{State: lineage.CoverPending, Review: review}, AuditGap, "no verdict yet, review " + review, 0},
		{lineage.Covered{State: lineage.CoverNothing, Passed: true}, AuditNothing, "there is nothing in it to review", 3},
		{lineage.Covered{State: lineage.CoverUnreviewed}, AuditGap, "no verdict on it is recorded here", 0},
	} {
		test.covered.Commit = commitID("1")
		a := auditOf([]gitstore.LoggedCommit{logged("1", "x", nil)}, nil, test.covered)
		if got := a.Commits[0]; got.Class != test.class || got.Why != test.why {
			t.Errorf("%s: %s %q, want %s %q", test.covered.State, got.Class, got.Why, test.class, test.why)
		}
		for i, level := range lineage.Levels {
			if unmet := a.Unmet(level); len(unmet) == 0 != (i < test.meets) {
				t.Errorf("%s %s, %s asked for: %q", test.covered.Level, test.covered.Verdict, level, unmet)
			}
		}
	}
}

// TestAuditCoverageOfNothing: a clean merge keeps no branch below 100 percent.
func TestAuditCoverageOfNothing(t *testing.T) {
	a := auditOf([]gitstore.LoggedCommit{logged("a1", "x", nil), logged("2", "merge", nil)}, auditedRuns(),
		lineage.Covered{Commit: commitID("2"), State: lineage.CoverNothing, Passed: true})
	if a.Coverage.Explicit != 100 || a.Counts.Below(100, false) || a.Counts.Gap != 0 || a.Counts.Total != 2 {
		t.Errorf("%+v, %+v", a.Coverage, a.Counts)
	}
}

func TestAuditCoverage(t *testing.T) {
	commits := []gitstore.LoggedCommit{logged("a1", "x", nil), logged("1f", "x", nil), logged("c1", "see "+runID, nil)}
	a := auditOf(commits, auditedRuns())
	if a.Coverage != (AuditCoverage{Explicit: 66.6, WithInferred: 100}) ||
		a.Counts != (AuditCounts{Total: 3, Checkpoint: 1, Intervention: 1, Inferred: 1}) {
		t.Errorf("%+v, %+v", a.Coverage, a.Counts)
	}
	for _, test := range []struct {
		percent        float64
		inferred, want bool
	}{{66, false, false}, {66.67, false, true}, {100, false, true}, {100, true, false}, {0, false, false}} {
		if got := a.Counts.Below(test.percent, test.inferred); got != test.want {
			t.Errorf("below %g, inferred %v: %v", test.percent, test.inferred, got)
		}
	}
	empty := NewAudit(nil, nil, nil, nil)
	empty.Range = "a..b"
	if empty.Coverage.Explicit != 100 || empty.Counts.Below(100, false) ||
		empty.Text() != "Nothing to audit: there are no commits in a..b.\n" {
		t.Errorf("empty: %+v %q", empty, empty.Text())
	}
}

func TestAuditText(t *testing.T) {
	review := lineage.Covered{Commit: commitID("5"), State: lineage.CoverReviewed, Level: lineage.LevelReviewed,
		Refused: true, Review: "20260107120000-bcdefg", Verdict: "NEEDS_FIX"}
	a := auditOf([]gitstore.LoggedCommit{
		logged("c1", "Merge runr/"+runID, nil, "a1", "a2"), logged("a1", "T1: Add a thing", nil),
		logged("1f", "Say please", nil), logged("5", "Mine", nil), logged("9", "", nil),
	}, auditedRuns(), review)
	want := `~ inferred      c100000  Merge runr/20260107120000-abcdef (merge) — its message names run 20260107120000-abcdef
✓ checkpoint    a100000  T1: Add a thing — run 20260107120000-abcdef, attempt 1
! intervention  1f00000  Say please — run 20260107120000-abcdef, intervention 1 (manual_fix)
· attributed    5000000  Mine — review 20260107120000-bcdefg: NEEDS_FIX
? gap           9000000  (no subject) — no verdict on it is recorded here

Coverage: 60% of 5 commits (1 checkpoint, 1 intervention, 1 attributed); 80% with 1 inferred; 1 gap.
Reviews: 0 checked, 0 reviewed, 0 approved, 0 stale, 4 without a verdict, 1 refused.
`
	if got := a.Text(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestNothingForeignGetsOutOfAnAudit: subjects, trailers and events may contain anything, and are printed safely.
func TestNothingForeignGetsOutOfAnAudit(t *testing.T) {
	hostile := "x\x1b[2J\u202e"
	runs := auditedRuns()
	runs[0].Interventions[0].Reason = hostile
	a := auditOf([]gitstore.LoggedCommit{
		logged("1f", hostile, nil), logged("b1", "x\n\nRunr-Run: "+hostile, nil),
		logged("b2", "x\n\nRunr-Intervention: true\nRunr-Run: "+hostile, nil),
	}, runs)
	a.Range = hostile
	if text := a.Text(); strings.ContainsAny(text, "\x1b\u202e") || strings.Count(text, "\n") != 6 {
		t.Errorf("%q", text)
	}
}

func TestTrailers(t *testing.T) {
	for message, want := range map[string]string{
		"":                                       "map[]",
		"subject\n":                              "map[]",
		"s\n\nA: 1\nb-C: two words \nA: 3\n\n\n": "map[a:3 b-c:two words]",
		"s\n\nnot a trailer: really\n":           "map[]",
		"s\n\nkey:\n":                            "map[key:]",
	} {
		if got := fmt.Sprint(trailersOf(message)); got != want {
			t.Errorf("%q has %s, want %s", message, got, want)
		}
	}
}

func FuzzTrailers(f *testing.F) {
	f.Add("s\n\nRunr-Run: x\r\n")
	f.Fuzz(func(t *testing.T, message string) {
		for name, value := range trailersOf(message) {
			if strings.ContainsAny(name, " \t\n") || strings.Contains(value, "\n") {
				t.Errorf("%q has %q: %q", message, name, value)
			}
		}
	})
}
