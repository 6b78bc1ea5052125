package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/strictjson"
	"github.com/git-runr/git-runr/loop/record"
)

const threeWriter = "cccccccccccc"

// byWriter returns an event of another writer.
func byWriter(writer string, clock uint64, at time.Time, eventType, review string, what any) record.Event {
	e := eventAt(1, eventType, what)
	e.Writer, e.Clock, e.Timestamp, e.Review = writer, clock, at, review
	return e
}

// writeLog appends events to a log without any checks, and returns their commits.
func writeLog(t *testing.T, dir, writer string, events ...record.Event) (ids []gitstore.ID) {
	t.Helper()
	tree := testrepo.Git(t, dir, "mktree")
	ref := "refs/runr/log/" + writer
	tip := testrepo.Git(t, dir, "for-each-ref", "--format=%(objectname)", ref)
	for _, e := range events {
		message, err := e.CommitText("")
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"commit-tree", tree, "-F", "-"}
		if tip != "" {
			args = append(args, "-p", tip)
		}
		tip = testrepo.GitInput(t, dir, message, args...)
		ids = append(ids, gitstore.ID(tip))
	}
	testrepo.Git(t, dir, "update-ref", ref, tip)
	return ids
}

// request records a new review request of this clone.
func request(t *testing.T, s *Store) record.Review {
	t.Helper()
	subject, err := s.Subject(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	review, err := s.RequestReview(context.Background(), record.ReviewRequest{Subject: subject, Reviewer: record.Human},
		"cli")
	if err != nil {
		t.Fatal(err)
	}
	return review
}

// writeCommits writes events as commits without a ref, and returns their ids.
func writeCommits(t *testing.T, dir string, events []record.Event) (ids []gitstore.ID) {
	t.Helper()
	tree := testrepo.Git(t, dir, "mktree")
	for _, e := range events {
		message, err := e.CommitText("")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, gitstore.ID(testrepo.GitInput(t, dir, message, "commit-tree", tree, "-F", "-")))
	}
	return ids
}

// newestOf returns the newest event of a log, as the program reads it.
func newestOf(t *testing.T, s *Store, writer string) record.Event {
	t.Helper()
	tips, err := s.Repo.Tips(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	entry, err := s.Repo.Entry(context.Background(), tips[writer])
	if err != nil {
		t.Fatal(err)
	}
	event, err := record.DecodeEvent(entry)
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// Whatever clocks a foreign log contains, every later event can be read in its order, with and without the cache.
func TestForeignClocks(t *testing.T) {
	for _, c := range []struct {
		clocks []uint64 // of the foreign log
		next   uint64   // of our next event
	}{
		{[]uint64{7}, 8},
		{[]uint64{record.LateClock}, record.LateClock + 1},
		{[]uint64{record.LateClock + 1}, record.LateClock + 2},
		{[]uint64{record.MaxAhead}, record.MaxAhead + 1},
		{[]uint64{record.MaxAhead + 100}, 2}, // one more than ours, which was 1
		{[]uint64{1 << 50}, 2},
		{[]uint64{record.MaxClock}, 2},
		{[]uint64{record.MaxClock, 5}, 6},
		{[]uint64{1 << 60, 5}, 6},
		{[]uint64{5, 1<<64 - 1}, 6},
		{[]uint64{0}, 2},
	} {
		for _, cached := range []bool{false, true} {
			s, dir := newRepo(t)
			first := request(t, s)
			var foreign []record.Event
			for i, clock := range c.clocks {
				foreign = append(foreign, byWriter(twoWriter, clock, testEpoch.Add(time.Duration(i)*time.Hour),
					record.EventReviewCancelled.Name, first.ID, record.ActorPayload{Actor: "mallory"}))
			}
			writeLog(t, dir, twoWriter, foreign...)
			if cached {
				if _, _, err := s.Reviews(context.Background(), Filter{}); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 3 {
				review := request(t, s)
				if got, want := newestOf(t, s, s.Repo.Writer()).Clock, c.next+uint64(i); got != want {
					t.Errorf("%v, cached %v: our clock is %d, want %d", c.clocks, cached, got, want)
				}
				if latest, err := s.Review(context.Background(), record.Latest); err != nil || latest.ID != review.ID {
					t.Errorf("%v: latest is %s, not %s, %v", c.clocks, latest.ID, review.ID, err)
				}
			}
			reviews, _, err := s.Reviews(context.Background(), Filter{})
			if err != nil || len(reviews) != 4 {
				t.Errorf("%v: %d reviews, %v", c.clocks, len(reviews), err)
			}
			read, bad, err := s.Events(context.Background())
			if err != nil || len(read)+len(bad) != 4+len(c.clocks) {
				t.Errorf("%v: %d events and %v, %v", c.clocks, len(read), bad, err)
			}
		}
	}
}

// TestClockStays: at its maximum the clock stays, and events are ordered by time.
func TestClockStays(t *testing.T) {
	s, dir := newRepo(t)
	steps := []record.Event{byWriter(twoWriter, record.MaxClock, testEpoch, "other", "", "{}")}
	// writing them as commits would take a minute
	for clock := uint64(record.MaxAhead); clock < record.MaxClock; clock += record.MaxAhead {
		steps = append(steps, byWriter(twoWriter, clock, testEpoch, "other", "", "{}"))
	}
	idx := scratchIndex()
	if got := idx.believe(steps); len(got) != len(steps) || idx.Clock != record.MaxClock {
		t.Fatalf("%d of %d events are believed, clock %d", len(got), len(steps), idx.Clock)
	}
	idx.Tips = gitstore.Tips{twoWriter: writeLog(t, dir, twoWriter, steps[0])[0]}
	if err := idx.save(s); err != nil {
		t.Fatal(err)
	}
	s.Now = func() time.Time { return testEpoch.Add(time.Hour) }
	var want []string
	for range 4 {
		want = append(want, request(t, s).ID)
		if got := newestOf(t, s, s.Repo.Writer()).Clock; got != record.MaxClock {
			t.Errorf("clock %d", got)
		}
		s.Now = func() time.Time { return testEpoch } // the wall clock is set back
	}
	tips, err := s.Repo.Tips(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	events, err := s.newEvents(context.Background(), scratchIndex(), gitstore.Tips{s.Repo.Writer(): tips[s.Repo.Writer()]})
	record.Sort(events)
	var got []string
	for _, e := range events {
		got = append(got, e.Review)
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("order %v, want %v, %v", got, want, err)
	}
}

// Which clocks are accepted depends on the set of events, not on the order of their arrival.
func TestBelieveDependsOnTheEventsOnly(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		var all []record.Event
		for i := range 1 + rng.IntN(12) {
			clock := uint64(rng.IntN(6))*record.MaxAhead + uint64(rng.IntN(3)) + 1
			all = append(all, record.Event{Clock: clock, Writer: oneWriter, ID: gitstore.ID(fmt.Sprint(i))})
		}
		once := scratchIndex()
		want := map[gitstore.ID]bool{}
		for _, e := range once.believe(append([]record.Event{}, all...)) {
			want[e.ID] = true
		}
		byID := map[gitstore.ID]record.Event{}
		for _, e := range all {
			byID[e.ID] = e
		}
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		idx := scratchIndex()
		got := map[gitstore.ID]bool{}
		for len(all) > 0 {
			n := 1 + rng.IntN(len(all))
			fresh := append([]record.Event{}, all[:n]...)
			for _, ref := range idx.Ahead {
				fresh = append(fresh, byID[ref.ID])
			}
			for _, e := range idx.believe(fresh) {
				got[e.ID] = true
			}
			all = all[n:]
		}
		if !reflect.DeepEqual(got, want) || idx.Clock != once.Clock || len(idx.Ahead) != len(once.Ahead) {
			t.Fatalf("seed %d: in parts %v (%d), at once %v (%d)", seed, got, idx.Clock, want, once.Clock)
		}
	}
}

// An older program moved all clones to the clock 2^40+1, which it could not read back. The events that it recorded
// there are read in their order, every clone folds them alike in whatever order they arrive, and later events come
// after them.
func TestEventsBehindThePoison(t *testing.T) {
	const behind = record.LateClock + 1
	s, dir := newRepo(t)
	own := request(t, s)
	at := func(minutes int) time.Time { return testEpoch.Add(time.Duration(minutes) * time.Minute) }
	const asked = "20260107120000-pqrstu"
	subject := record.ReviewRequest{Subject: record.Subject{Kind: record.SubjectCommit}, Reviewer: record.Human}
	submit := record.Submission{Reviewer: "ann", Outcome: record.OutcomePassed, Decision: record.Approve,
		Report: record.EmptyReport()}
	two := []record.Event{
		byWriter(twoWriter, record.LateClock, at(0), "poison", "", "{}"),
		byWriter(twoWriter, behind, at(1), record.EventReviewRequested.Name, asked, subject),
		byWriter(twoWriter, behind, at(5), record.EventReviewClaimed.Name, asked, record.ActorPayload{Actor: "bob"}),
		// its wall clock was set back
		byWriter(twoWriter, behind, at(2), record.EventReviewReleased.Name, asked, record.ActorPayload{Actor: "bob"}),
	}
	three := []record.Event{
		byWriter(threeWriter, behind, at(3), record.EventReviewSubmitted.Name, asked, submit),
		byWriter(threeWriter, behind, at(3), record.EventReviewAnswered.Name, own.ID, "{}"),
		byWriter(threeWriter, behind, at(6), record.EventReviewClaimed.Name, asked, record.ActorPayload{Actor: "cyd"}),
	}
	logs := map[string][]record.Event{twoWriter: two, threeWriter: three}
	fold := func(order []string, step int) []record.Event {
		os.RemoveAll(filepath.Dir(s.indexPath()))
		for writer := range logs {
			testrepo.Git(t, dir, "update-ref", "-d", "refs/runr/log/"+writer)
		}
		for _, writer := range order {
			for from := 0; from < len(logs[writer]); from += step {
				writeLog(t, dir, writer, logs[writer][from:min(from+step, len(logs[writer]))]...)
				if _, _, err := s.Reviews(context.Background(), Filter{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		events, err := s.ReviewEvents(context.Background(), asked)
		if err != nil {
			t.Fatal(err)
		}
		return events
	}
	want := fold([]string{twoWriter, threeWriter}, 10)
	var said []string
	for _, e := range want {
		said = append(said, e.Type)
	}
	if got := strings.Join(said,
		" "); got != "review_requested review_submitted review_claimed review_released review_claimed" {
		t.Fatalf("order: %s", got)
	}
	for _, order := range [][]string{{twoWriter, threeWriter}, {threeWriter, twoWriter}} {
		for _, step := range []int{1, 2, 10} {
			if got := fold(order, step); !sameEvents(got, want) {
				t.Errorf("%v by %d: %v, want %v", order, step, got, want)
			}
		}
	}
	if review, err := s.Review(context.Background(), asked); err != nil || review.Status != record.ReviewClaimed ||
		review.Claim.By != "cyd" || len(review.Lost) > 0 {
		t.Errorf("%+v, %v", review, err)
	}
	s.Now = func() time.Time { return at(-60) }
	if _, err := s.ResolveReview(context.Background(), asked, record.Hold{Actor: "cyd"}, ""); err != nil {
		t.Fatal(err)
	}
	if review, err := s.Review(context.Background(), asked); err != nil || review.Status != record.ReviewResolved {
		t.Errorf("%s, %v", review.Status, err)
	}
	if _, bad, err := s.Events(context.Background()); len(bad) > 0 || err != nil {
		t.Errorf("unreadable %v, %v", bad, err)
	}
}

func sameEvents(a, b []record.Event) bool {
	ids := func(events []record.Event) (list []string) {
		for _, e := range events {
			list = append(list, fmt.Sprint(e.Writer, e.Clock, e.Type, e.Timestamp, e.Late))
		}
		return list
	}
	return reflect.DeepEqual(ids(a), ids(b))
}

// The next event's clock is one more than the largest known clock, whether that is known from the cache, from the
// logs or from both.
func TestNextClock(t *testing.T) {
	ctx := context.Background()
	s, dir := newRepo(t)
	list := func() {
		t.Helper()
		if _, _, err := s.Reviews(ctx, Filter{}); err != nil {
			t.Fatal(err)
		}
	}
	step := func(what string, want uint64) {
		t.Helper()
		request(t, s)
		if got := newestOf(t, s, s.Repo.Writer()).Clock; got != want {
			t.Errorf("%s: clock %d, want %d", what, got, want)
		}
	}
	step("the first", 1)
	step("without a cache", 2)
	list()
	step("after the cache", 3)
	list()
	writeLog(t, dir, twoWriter, byWriter(twoWriter, 40, testEpoch, "other", "", "{}"))
	step("a log that the cache does not know", 41)
	list()
	writeLog(t, dir, twoWriter, byWriter(twoWriter, 41, testEpoch, "other", "", "{}"))
	step("a log that is older than what the cache knows", 42)
	writeLog(t, dir, twoWriter, byWriter(twoWriter, 50, testEpoch, "other", "", "{}"))
	list()
	step("our own log is older than what the cache knows", 51)
	writeLog(t, dir, threeWriter, record.Event{V: record.FormatVersion + 1, Clock: 60, Writer: threeWriter,
		Timestamp: testEpoch, Type: "new", Payload: json.RawMessage("{}")})
	step("a newer program's log", 52)
	list()
	step("a newer program's log, after the cache", 53)
}

// An event that could not be read back is not written.
func TestNothingIsWrittenThatCannotBeRead(t *testing.T) {
	s, _ := newRepo(t)
	first := request(t, s)
	var nested any = "x"
	for range strictjson.MaxDepth + 2 {
		nested = []any{nested}
	}
	for name, what := range map[string]any{
		"keys that differ by case": map[string]int{"a": 1, "A": 2},
		"nested too deeply":        nested,
	} {
		_, err := s.Append(context.Background(), gitstore.Audience{}, func(*View) (record.NewEvent, error) {
			return record.NewEvent{Type: record.EventReviewAnswered.Name, Source: "cli", Review: first.ID, Payload: what,
				Title: "x", Status: func(record.Event) string { return "" }}, nil
		})
		var input *record.InputError
		if !errors.As(err, &input) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := s.Append(context.Background(), gitstore.Audience{}, func(*View) (record.NewEvent, error) {
		return record.NewEvent{Type: record.EventReviewAnswered.Name, Source: "cli", Review: "../../x", Payload: struct{}{},
			Title: "x", Status: func(record.Event) string { return "" }}, nil
	})
	if err == nil {
		t.Error("a review by the name of a path was recorded")
	}
	if events, bad, err := s.Events(context.Background()); len(events) != 1 || len(bad) != 0 || err != nil {
		t.Errorf("%d events, %v, %v", len(events), bad, err)
	}
}
