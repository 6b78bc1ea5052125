package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"git-runr/gitstore"
	"git-runr/loop/record"
)

// commitID is a commit's id for a short name in hex.
func commitID(name string) gitstore.ID { return gitstore.ID(name + strings.Repeat("0", 40-len(name))) }

// logged is a commit with a message; parents are short names.
func logged(name, message string, files []string, parents ...string) gitstore.LoggedCommit {
	subject, _, _ := strings.Cut(message, "\n")
	c := gitstore.LoggedCommit{ID: commitID(name), Subject: subject, Message: message, Files: files}
	for _, p := range parents {
		c.Parents = append(c.Parents, commitID(p))
	}
	return c
}

// auditedRuns is one run with a fix by a person, landed as one commit.
func auditedRuns() []record.Run {
	return []record.Run{{
		ID: runID, Status: record.RunCompleted, Plan: record.RunPlan{Entity: record.Entity{Identifier: "T1", Title: "Add a thing"}},
		Attempts: []record.Attempt{{Number: 1, Commit: commitID("a1"), Files: []string{"b.go", "a.go"}}, {Number: 2, Commit: commitID("a2"), Files: []string{"c.go"}}},
		Interventions: []record.Intervention{{
			Number: 1, Reason: record.InterveneManualFix, Commit: commitID("1f"), Files: []string{"c.go"}, Commits: []gitstore.ID{commitID("1e"), commitID("a2")},
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
		{"a cherry-pick with trailers", logged("b1", "x\n\nRunr-Run: "+runID+"\nRunr-Attempt: 2\n", nil), AuditCheckpoint, "attempt 2, by its trailers"},
		{"an attempt of a run unknown here", logged("b2", "x\n\nRunr-Run: 20200101000000-aaaaaa\nRunr-Attempt: 2\n", nil), AuditAttributed, "not known here"},
		{"trailers of an intervention", logged("b3", "x\n\nRunr-Run: "+runID+"\nrunr-intervention: true\n", nil), AuditIntervention, "by its trailers " + runID},
		{"a run's trailer", logged("b4", "x\n\nbody\n\nRunr-Run: "+runID, nil), AuditAttributed, "trailer of run"},
		{"runr's trailer, CR LF", logged("b5", "x\r\n\r\nRunr-Run-Id: "+runID+"\r\n", nil), AuditAttributed, "trailer of run"},
		{"a trailer as the subject", logged("b6", "Runr-Run: 20200101000000-aaaaaa", nil), AuditGap, "nothing"},
		{"a trailer above the last paragraph", logged("b7", "x\n\nRunr-Run: 20200101000000-aaaaaa\n\nbody\n", nil), AuditGap, "nothing"},
		{"names a run", logged("c1", "Merge branch 'runr/"+runID+"'", nil, "a1", "a2"), AuditInferred, "names run " + runID},
		{"subject and files of an attempt", logged("c2", "T1: Add a thing\n\nby hand", []string{"a.go", "b.go"}), AuditInferred, "subject and files"},
		{"subject and files of the whole run", logged("c3", "T1: Add a thing", []string{"a.go", "b.go", "c.go"}), AuditInferred, "subject and files"},
		{"the subject alone", logged("c4", "T1: Add a thing", []string{"other.go"}), AuditGap, "nothing"},
		{"the files alone", logged("c5", "Something else", []string{"a.go", "b.go"}), AuditGap, "nothing"},
		{"a part of an id", logged("c6", "see "+runID[:14], nil), AuditGap, "nothing"},
	} {
		got := NewAudit([]gitstore.LoggedCommit{test.commit}, "", auditedRuns(), nil).Commits[0]
		if got.Class != test.class || !strings.Contains(got.Why, test.why) || got.Merge != (len(test.commit.Parents) > 1) {
			t.Errorf("%s: %+v, want %s because of %q", test.name, got, test.class, test.why)
		}
	}
}

func TestAuditLandedInPlaceOfNothing(t *testing.T) {
	runs := auditedRuns()
	runs[0].Landed = &record.Landed{Commit: commitID("00"), Onto: commitID("00")} // nothing was there to land
	if got := NewAudit([]gitstore.LoggedCommit{logged("00", "x", nil)}, "", runs, nil); got.Counts.Gap != 1 {
		t.Errorf("%+v", got.Commits)
	}
}

func auditedReview(status record.ReviewStatus, kind record.SubjectKind, base, commit string) record.Review {
	r := record.Review{ID: "20260107120000-bcdefg", Status: status}
	r.Request.Subject = record.Subject{Kind: kind, Commit: commitID(commit)}
	if base != "" {
		r.Request.Subject.Base = commitID(base)
	}
	r.Submissions = []record.Submission{{Outcome: record.OutcomeFailed}}
	return r
}

// TestAuditReviews: 1 ← 2 ← 3 ← 4, and a branch 2 ← 5 merged as 6.
func TestAuditReviews(t *testing.T) {
	commits := []gitstore.LoggedCommit{
		logged("6", "x", nil, "4", "5"), logged("5", "x", nil, "2"), logged("4", "x", nil, "3"), logged("3", "x", nil, "2"), logged("2", "x", nil, "1"), logged("1", "x", nil),
	}
	open := auditedReview(record.ReviewOpen, record.SubjectCommit, "2", "3")
	open.Submissions = nil
	nothing := auditedReview(record.ReviewSubmitted, record.SubjectCommit, "2", "3")
	nothing.Submissions[0].Outcome = record.OutcomeNothing
	part := auditedReview(record.ReviewSubmitted, record.SubjectCommit, "2", "3")
	part.Request.Subject.Paths = []string{"only/this"}
	for _, test := range []struct {
		name   string
		review record.Review
		from   gitstore.ID
		view   []gitstore.LoggedCommit
		want   string // commits that are covered
	}{
		{"one commit", auditedReview(record.ReviewSubmitted, record.SubjectCommit, "2", "3"), "", commits, "3"},
		{"resolved", auditedReview(record.ReviewResolved, record.SubjectCommit, "2", "3"), "", commits, "3"},
		{"claimed", auditedReview(record.ReviewClaimed, record.SubjectCommit, "2", "3"), "", commits, "3"},
		{"not answered", open, "", commits, ""},
		{"nothing seen", nothing, "", commits, ""},
		{"some paths only", part, "", commits, ""},
		{"a range", auditedReview(record.ReviewSubmitted, record.SubjectRange, "2", "4"), "", commits, "4 3"},
		{"a range over a merge", auditedReview(record.ReviewSubmitted, record.SubjectRange, "4", "6"), "", commits, "6 5"},
		{"a range from where the view begins", auditedReview(record.ReviewSubmitted, record.SubjectRange, "1", "4"), commitID("1"), commits[:5], "4 3 2"},
		{"a range from elsewhere", auditedReview(record.ReviewSubmitted, record.SubjectRange, "9", "4"), "", commits, "4"},
		{"a commit elsewhere", auditedReview(record.ReviewSubmitted, record.SubjectRange, "2", "9"), "", commits, ""},
	} {
		var covered []string
		for _, c := range NewAudit(test.view, test.from, nil, []record.Review{test.review}).Commits {
			if c.Class == AuditAttributed && c.Review == test.review.ID {
				covered = append(covered, string(c.Commit[:1]))
			}
		}
		if got := strings.Join(covered, " "); got != test.want {
			t.Errorf("%s covers %q, want %q", test.name, got, test.want)
		}
	}
}

func TestAuditCoverage(t *testing.T) {
	commits := []gitstore.LoggedCommit{logged("a1", "x", nil), logged("1f", "x", nil), logged("c1", "see "+runID, nil)}
	a := NewAudit(commits, "", auditedRuns(), nil)
	if a.Coverage != (AuditCoverage{Explicit: 66.6, WithInferred: 100}) || a.Counts != (AuditCounts{Total: 3, Checkpoint: 1, Intervention: 1, Inferred: 1}) {
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
	empty := NewAudit(nil, "", nil, nil)
	empty.Range = "a..b"
	if empty.Coverage.Explicit != 100 || empty.Counts.Below(100, false) || empty.Text() != "Nothing to audit: there are no commits in a..b.\n" {
		t.Errorf("empty: %+v %q", empty, empty.Text())
	}
}

func TestAuditText(t *testing.T) {
	review := auditedReview(record.ReviewSubmitted, record.SubjectCommit, "", "5")
	a := NewAudit([]gitstore.LoggedCommit{
		logged("c1", "Merge runr/"+runID, nil, "a1", "a2"), logged("a1", "T1: Add a thing", nil), logged("1f", "Say please", nil), logged("5", "Mine", nil), logged("9", "", nil),
	}, "", auditedRuns(), []record.Review{review})
	want := `~ inferred      c100000  Merge runr/20260107120000-abcdef (merge) — its message names run 20260107120000-abcdef
✓ checkpoint    a100000  T1: Add a thing — run 20260107120000-abcdef, attempt 1
! intervention  1f00000  Say please — run 20260107120000-abcdef, intervention 1 (manual_fix)
· attributed    5000000  Mine — review 20260107120000-bcdefg
? gap           9000000  (no subject) — nothing is recorded of it

Coverage: 60% of 5 commits (1 checkpoint, 1 intervention, 1 attributed); 80% with 1 inferred; 1 gap.
`
	if got := a.Text(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestNothingForeignGetsOutOfAnAudit: subjects, trailers and events are anybody's.
func TestNothingForeignGetsOutOfAnAudit(t *testing.T) {
	hostile := "x\x1b[2J\u202e"
	runs := auditedRuns()
	runs[0].Interventions[0].Reason = hostile
	a := NewAudit([]gitstore.LoggedCommit{
		logged("1f", hostile, nil), logged("b1", "x\n\nRunr-Run: "+hostile, nil), logged("b2", "x\n\nRunr-Intervention: true\nRunr-Run: "+hostile, nil),
	}, "", runs, nil)
	a.Range = hostile
	if text := a.Text(); strings.ContainsAny(text, "\x1b\u202e") || strings.Count(text, "\n") != 5 {
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
