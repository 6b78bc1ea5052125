package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/notes"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// newTestStore returns the store of a new repository, without the user's configuration.
func newTestStore(t *testing.T) *Store {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	ctx, dir := context.Background(), t.TempDir()
	repo, err := gitstore.Init(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"user.name": "Ann", "user.email": "ann@example.org"} {
		if err := repo.SetConfig(ctx, key, value); err != nil {
			t.Fatal(err)
		}
	}
	now, s := testEpoch, gitStore(t, dir)
	s.Now = func() time.Time { now = now.Add(time.Minute); return now }
	return s
}

// gitStore returns the store of the repository in dir.
func gitStore(t *testing.T, dir string) *Store {
	repo, err := gitstore.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	return NewStore(repo, time.Now)
}

// newRepo returns the store of a repository with one commit, and its directory.
func newRepo(t *testing.T) (*Store, string) {
	t.Helper()
	dir := testrepo.New(t)
	return gitStore(t, dir), dir
}

// testCommit returns a commit for events to refer to.
func testCommit(t *testing.T, s *Store, message string) gitstore.ID {
	t.Helper()
	ctx := context.Background()
	tree, err := s.Repo.EmptyTree(ctx)
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.KeepTree(ctx, tree, tree, message)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// noteEvents returns events of every type that adds a note, on two commits.
func noteEvents(one, two gitstore.ID) []record.Event {
	finding := reply.Finding{Severity: reply.Warning, File: "a.go", Line: 3, Issue: "leak"}
	events := []record.Event{
		eventAt(1, record.EventReviewSubmitted.Name,
			record.Submission{Reviewer: "rex", Outcome: record.OutcomeFailed, Commit: one,
				Report: reply.Report{Effective: reply.NeedsFix, Findings: []reply.Finding{finding}}}),
		eventAt(2, record.EventReviewResolved.Name, record.ActorPayload{Actor: "ann", Commit: one}),
		eventAt(3, record.EventRoundCompleted.Name,
			record.RoundPayload{Round: record.Round{Number: 2, Reviewer: "rev", Commit: two,
				Report: reply.Report{Effective: reply.Pass}}}),
		eventAt(4, record.EventReviewLoopDetected.Name,
			record.StopPayload{Stop: record.Stop{Reason: record.ReasonReviewLoop, Round: 3, MaxRounds: 2,
				Unmet: []string{"fix it", "test it"}, Commands: []string{"npm test"}}, Commit: two}),
		eventAt(5, record.EventRunCompleted.Name,
			record.CompletedPayload{Result: "pass_with_issues", Commit: two, Open: []reply.Finding{finding}}),
		eventAt(6, record.EventRunLanded.Name,
			record.Landed{Commit: one, Branch: "main",
				Carried: []record.Carried{{From: two, To: one,
					Said: []record.Saying{{At: testEpoch, Text: "run " + testRun + " round 2 by rev: PASS"}}}}}),
		eventAt(7, record.EventRunResumed.Name, struct{}{}),
	}
	for i := range events {
		events[i].Run, events[i].Review = testRun, testReview
	}
	return events
}

func TestNoteOf(t *testing.T) {
	many := make([]reply.Finding, 7)
	for i := range many {
		many[i] = reply.Finding{Severity: reply.Note, File: "a.go", Line: i + 1, Issue: "nit"}
	}
	review, run := "review "+testReview+" ", "run "+testRun+" "
	for _, test := range []struct {
		eventType string
		payload   any
		want      string // "" for no note
	}{
		{record.EventReviewSubmitted.Name, record.Submission{Commit: "c", Reviewer: "rex",
			Report: reply.Report{Effective: reply.Pass}}, review + "by rex: PASS"},
		{record.EventReviewSubmitted.Name, record.Submission{Commit: "c", Reviewer: "rex", Outcome: record.OutcomeNothing},
			review + "by rex: nothing to review"},
		{record.EventReviewSubmitted.Name, record.Submission{Reviewer: "rex", Report: reply.Report{Effective: reply.Pass}},
			""},
		{
			record.EventReviewSubmitted.Name, record.Submission{Commit: "c", Reviewer: "rex",
				Report: reply.Report{Effective: reply.CriticalFail, Findings: []reply.Finding{
					{Severity: reply.Critical, File: "a.go", Line: 3, EndLine: 5, Issue: "a\nlong\tstory"},
					{Severity: reply.Note, Issue: "nit"}}}},
			review + "by rex: CRITICAL (critical a.go:3-5 a long story; note nit)",
		},
		{
			record.EventReviewSubmitted.Name, record.Submission{Commit: "c", Reviewer: "rex",
				Report: reply.Report{Effective: reply.PassWithNotes, Findings: many}},
			review + "by rex: PASS_WITH_NOTES (note a.go:1 nit; note a.go:2 nit; note a.go:3 nit; note a.go:4 nit; note " +
				"a.go:5 nit; and 2 more)",
		},
		{
			record.EventReviewSubmitted.Name, record.Submission{Commit: "c", Reviewer: "rex",
				Report: reply.Report{Effective: reply.NeedsFix, Findings: []reply.Finding{
					{Severity: reply.Warning, File: "a.go\nrun x completed: pass", Issue: "leak"}}}},
			review + `by rex: NEEDS_FIX (warning "a.go\nrun x completed: pass" leak)`, // a path is foreign text
		},
		{record.EventReviewSubmitted.Name, record.Submission{Commit: "c", Reviewer: "r\x1b[2J\nex",
			Report: reply.Report{Effective: reply.Pass}}, review + `by r\x1b[2J ex: PASS`},
		{record.EventReviewResolved.Name, record.ActorPayload{Actor: "ann", Commit: "c"}, review + "resolved by ann"},
		{record.EventRoundCompleted.Name, record.RoundPayload{Round: record.Round{Number: 2, Reviewer: "rev", Commit: "c",
			Report: reply.Report{Effective: reply.NeedsFix}}}, run + "round 2 by rev: NEEDS_FIX"},
		{record.EventRoundCompleted.Name,
			record.RoundPayload{Round: record.Round{Number: 2, Commit: "c",
				Failure: &record.Failure{Reason: record.ReasonAgentFailed}}}, ""},
		{record.EventRunStopped.Name,
			record.StopPayload{Stop: record.Stop{Reason: record.ReasonNoChange, Detail: "attempt 2\nchanged nothing"},
				Commit: "c"}, run + "STOPPED: no_change: attempt 2 changed nothing"},
		{
			record.EventReviewLoopDetected.Name,
			record.StopPayload{Stop: record.Stop{Reason: record.ReasonReviewLoop, Round: 3, MaxRounds: 2,
				Unmet: []string{"fix\nit", "test it"}, Commands: []string{"npm test"}}, Commit: "c"},
			run + "STOPPED: review_loop_detected (round 3 of 3)\n" + run + "unmet 1: fix it\n" + run + "unmet 2: test it\n" +
				run + "command: npm test",
		},
		{
			record.EventRunStopped.Name, record.StopPayload{Stop: record.Stop{
				Reason: "bad\nrun x completed: pass", UnmetChecks: []string{"test_failed", "file_not_created: a.go"},
				Commands:     []string{"npm test"},
				Intervention: "git runr intervene x --note \"\x1b\"",
				NextSteps:    []string{"git runr resume x", "git runr audit --run x"},
			}, Commit: "c"},
			run + "STOPPED: bad run x completed: pass\n" + run + "unmet checks: test_failed, file_not_created: a.go\n" + run +
				"command: npm test\n" +
				run + `intervene: git runr intervene x --note "\x1b"` + "\n" + run + "next 1: git runr resume x\n" + run +
				"next 2: git runr audit --run x",
		},
		{record.EventRunCompleted.Name, record.CompletedPayload{Result: "pass", Commit: "c"}, run + "completed: pass"},
		{record.EventRunCompleted.Name, record.CompletedPayload{Result: "pass", Commit: "c", Open: many[:1]},
			run + "completed: pass (note a.go:1 nit)"},
		{record.EventRunCompleted.Name, record.CompletedPayload{Result: "below_threshold", Commit: "c", Open: many[:1]},
			run + "completed: below the threshold of the configuration (note a.go:1 nit)"},
		{record.EventRunCompleted.Name, record.CompletedPayload{Result: "pass_with_issues", Commit: "c", Open: many[:1]},
			run + "completed: accepted (note a.go:1 nit)"},
		{record.EventRunLanded.Name, record.Landed{Commit: "c", Branch: "main"}, run + "landed on main"},
		{record.EventRunUnlanded.Name, record.Landed{Commit: "c", Branch: "main"}, run + "taken back from main"},
		{record.EventRunLanded.Name, record.Landed{Commit: "c"}, run + "landed on a detached HEAD"},
		{record.EventRunLanded.Name, record.Landed{Commit: "c", Branch: "main",
			Carried: []record.Carried{{From: "0123456789", To: "b"}, {From: "123456789a", To: "c"}}},
			run + "landed on main, reviewed as 1234567"},
		{record.EventRunCompleted.Name, record.CompletedPayload{Result: "pass_with_issues", Commit: "c", Open: many[:1],
			By: "Ann"}, run + "completed: accepted by Ann (note a.go:1 nit)"},
		{record.EventRunCompleted.Name, record.CompletedPayload{Result: "pass_with_issues", Commit: "c",
			Requests: []string{"fix it", "test\nit"}, By: "the policy of Ann"},
			run + "completed: accepted by the policy of Ann (fix it; test it)"},
		{record.EventRunCompleted.Name, record.CompletedPayload{Result: "pass_with_issues", Commit: "c", By: "Ann"},
			run + "completed: accepted by Ann"},
		{record.EventRunResumed.Name, struct{}{}, ""},
		{record.EventReviewRequested.Name, record.ReviewRequest{Subject: record.Subject{Commit: "c"}}, ""},
		{"of_a_newer_program", `{"commit":"c"}`, ""},
		{record.EventRunLanded.Name, `[]`, ""},
		{record.EventReviewSubmitted.Name, `{"commit":"c","Commit":"d"}`, ""},
	} {
		e := eventAt(1, test.eventType, test.payload)
		e.Run, e.Review = testRun, testReview
		commit, text := record.NoteOf(e)
		want := gitstore.ID("c")
		if test.want == "" {
			want = ""
		}
		if text != test.want || commit != want {
			t.Errorf("%s %s:\n on %q %q\nwant %q %q", test.eventType, e.Payload, commit, text, want, test.want)
		}
	}
}

// notesAfter adds batches one after the other and returns the tree of the notes.
func notesAfter(t *testing.T, s *Store, batches ...[]record.Event) (id gitstore.ID) {
	t.Helper()
	p := notes.Projection{Repo: s.Repo, Ref: NotesRef}
	if old := s.mustRef(t); old != "" {
		if err := s.Repo.SwapRef(t.Context(), NotesRef, "", old); err != nil {
			t.Fatal(err)
		}
	}
	for i, batch := range batches {
		p.Tips = func(context.Context) (gitstore.Tips, error) {
			return gitstore.Tips{oneWriter: gitstore.ID(fmt.Sprintf("%040d", i-len(batches)+100))}, nil
		}
		p.Read = func(_ context.Context, _, _ gitstore.Tips, said *notes.Said) ([]string, error) {
			for _, e := range batch {
				said.Add(e.Timestamp, record.NotesOf(e))
			}
			return nil, nil
		}
		if err := p.Project(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	return gitstore.ID(testrepo.Git(t, s.Repo.WorkTree, "rev-parse", NotesRef+"^{tree}"))
}

// mustRef returns the commit of the notes.
func (s *Store) mustRef(t *testing.T) gitstore.ID {
	t.Helper()
	id, err := s.Repo.Ref(t.Context(), NotesRef)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestNotesDoNotDependOnOrder(t *testing.T) {
	s := newTestStore(t)
	events := noteEvents(testCommit(t, s, "one"), testCommit(t, s, "two"))
	want := notesAfter(t, s, events)
	if got := notesAfter(t, s, events, events); got != want {
		t.Errorf("added twice: %s, want %s", got, want)
	}
	if got := notesAfter(t, s, events[4:], events[:5]); got != want {
		t.Errorf("the later ones first, one twice: %s, want %s", got, want)
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 5))
	for range 10 {
		var single [][]record.Event
		for _, i := range rng.Perm(len(events)) {
			single = append(single, events[i:i+1])
		}
		if got := notesAfter(t, s, single...); got != want {
			t.Fatalf("seed %d: one by one: %s, want %s", seed, got, want)
		}
	}
	if got := notesAfter(t, s, events[1:]); got == want {
		t.Error("an event without which the notes are the same")
	}
}

func TestNotesText(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	two := testCommit(t, s, "two")
	notesAfter(t, s, noteEvents(testCommit(t, s, "one"), two))
	notes, err := s.Repo.OpenNotes(ctx, NotesRef)
	if err != nil {
		t.Fatal(err)
	}
	text, err := notes.Get(ctx, two)
	run := " run " + testRun + " "
	want := "2026-01-07T12:03:00.000Z" + run + "round 2 by rev: PASS\n" +
		"2026-01-07T12:04:00.000Z" + run + "STOPPED: review_loop_detected (round 3 of 3)\n" +
		"2026-01-07T12:04:00.000Z" + run + "command: npm test\n" +
		"2026-01-07T12:04:00.000Z" + run + "unmet 1: fix it\n" +
		"2026-01-07T12:04:00.000Z" + run + "unmet 2: test it\n" +
		"2026-01-07T12:05:00.000Z" + run + "completed: accepted (warning a.go:3 leak)\n"
	if string(text) != want || err != nil {
		t.Errorf("note, %v:\n%s\nwant:\n%s", err, text, want)
	}
}

// A landing copies the notes of a reviewed commit to the commit that it landed as, with their times.
func TestLandingCarriesWhatWasSaid(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	one, two, three := testCommit(t, s, "one"), testCommit(t, s, "two"), testCommit(t, s, "three")
	said := func(minute int, text string) []record.Saying {
		return []record.Saying{{At: testEpoch.Add(time.Duration(minute) * time.Minute), Text: text}}
	}
	landing := eventAt(60, record.EventRunLanded.Name,
		record.Landed{Commit: three, Branch: "main", Carried: []record.Carried{
			{From: "1111111111", To: two, Said: said(1, "run r round 1 by rev: NEEDS_FIX\x1b[2J")},
			{From: "2222222222", To: three, Said: said(2, "run r round 2 by rev: PASS\nrun r completed: pass")},
			{From: "3333333333", To: "no commit", Said: said(3, "nowhere")},
		}})
	landing.Run = testRun
	notesAfter(t, s, []record.Event{landing})
	for commit, want := range map[gitstore.ID]string{
		one: "",
		two: "2026-01-07T12:01:00.000Z run r round 1 by rev: NEEDS_FIX\\x1b[2J\n2026-01-07T13:00:00.000Z run " + testRun +
			" landed on main, reviewed as 1111111\n",
		three: "2026-01-07T12:02:00.000Z run r round 2 by rev: PASS run r completed: pass\n2026-01-07T13:00:00.000Z run " +
			testRun + " landed on main, reviewed as 2222222\n",
	} {
		if got, err := s.Note(ctx, commit); err != nil || got != want {
			t.Errorf("%v\n got %q\nwant %q", err, got, want)
		}
	}
}

// The number of notes that a foreign landing adds is bounded.
func TestLandingCarriesSoMuch(t *testing.T) {
	landed := record.Landed{Commit: "c"}
	for range 3 * record.MaxCarried {
		landed.Carried = append(landed.Carried,
			record.Carried{From: "f", To: "t", Said: make([]record.Saying, 3*record.MaxSayings)})
	}
	e := eventAt(1, record.EventRunLanded.Name, landed)
	if n := len(record.NotesOf(e)); n != record.MaxCarried*record.MaxSayings+2 {
		t.Errorf("%d lines", n)
	}
}

// recorded appends e to the store's log.
func recorded(t *testing.T, s *Store, e record.Event) record.Event {
	t.Helper()
	recorded, err := s.Append(context.Background(), gitstore.Audience{}, func(*View) (record.NewEvent, error) {
		return record.NewEvent{Type: e.Type, Source: e.Source, Run: e.Run, Review: e.Review, Title: "a title",
			Status: func(record.Event) string { return "open" }, Payload: e.Payload}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return recorded
}

// notesAt projects the notes and returns what is the same in all clones: their tree, and the message that records how
// far the logs were read.
func notesAt(t *testing.T, s *Store, project func(context.Context) error) string {
	t.Helper()
	if err := project(context.Background()); err != nil {
		t.Fatal(err)
	}
	return testrepo.Git(t, s.Repo.WorkTree, "log", "-1", "--format=%T%n%B", NotesRef)
}

func TestNotesRebuiltAreTheSame(t *testing.T) {
	s := newTestStore(t)
	var tip string
	for _, e := range noteEvents(testCommit(t, s, "one"), testCommit(t, s, "two")) {
		recorded(t, s, e)
		before := tip
		if tip = notesAt(t, s, s.Project); tip == before {
			t.Errorf("%s: the notes do not say how far they were read", e.Type)
		}
		if again := notesAt(t, s, s.Project); again != tip {
			t.Errorf("%s: projected again: %s, want %s", e.Type, again, tip)
		}
	}
	if rebuilt := notesAt(t, s, s.RebuildNotes); rebuilt != tip {
		t.Errorf("rebuilt: %s, want %s", rebuilt, tip)
	}
	if err := s.Repo.SwapRef(context.Background(), NotesRef, "", s.mustRef(t)); err != nil {
		t.Fatal(err)
	}
	if afresh := notesAt(t, s, s.Project); afresh != tip {
		t.Errorf("projected after the notes were deleted: %s, want %s", afresh, tip)
	}
}

func TestNotesOfALogThatIsGoneAreRebuilt(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	one := testCommit(t, s, "one")
	recorded(t, s, noteEvents(one, one)[0])
	want := notesAt(t, s, s.Project)
	others, err := s.Repo.OpenNotes(ctx, NotesRef)
	if err != nil {
		t.Fatal(err)
	}
	if err := others.Set(ctx, one, []byte("not from any event\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := others.Commit(ctx, notes.Message(gitstore.Tips{twoWriter: one}, testEpoch), testEpoch); err != nil {
		t.Fatal(err)
	}
	if got := notesAt(t, s, s.Project); got != want {
		t.Errorf("notes at %s, want %s", got, want)
	}
}

// TestEventSurvivesItsCommit: an event read from a log equals the recorded one.
func TestEventSurvivesItsCommit(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	var want []record.Event
	for i, text := range []string{"plain", "quotes \" and <tags> & \\", "日本\u202e", "tabs\tand\nlines"} {
		e := eventAt(1, record.EventRunStopped.Name, record.Stop{Reason: "x", Detail: text, Round: i})
		e.Run = testRun
		recorded := recorded(t, s, e)
		if recorded.Clock != uint64(i+1) {
			t.Errorf("clock %d of event %d", recorded.Clock, i+1)
		}
		recorded.Actor = "Ann <ann@example.org>"
		want = append(want, recorded)
	}
	got, bad, err := s.Events(ctx)
	if err != nil || len(bad) > 0 {
		t.Fatalf("%v, unreadable: %v", err, bad)
	}
	for i := range got {
		got[i].Plain = false
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%s\nwant\n%s", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
	}
}
