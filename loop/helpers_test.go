package loop

import (
	"context"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/record"
)

const (
	testReview = "20260107120000-abcdef"
	testRun    = "20260107130000-ghjkmn"
	oneWriter  = "aaaaaaaaaaaa"
	twoWriter  = "bbbbbbbbbbbb"
)

var testEpoch = time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC)

// eventAt is the event of a clock, as it would come out of a log. A string is a
// payload as it is; anything else is encoded.
func eventAt(clock int, eventType string, what any) record.Event {
	body, isText := what.(string)
	if !isText {
		data, err := json.Marshal(what)
		if err != nil {
			panic(err)
		}
		body = string(data)
	}
	e := record.Event{
		V: record.FormatVersion, Clock: uint64(clock), Writer: oneWriter, Timestamp: testEpoch.Add(time.Duration(clock) * time.Minute),
		Type: eventType, Source: "cli", Payload: json.RawMessage(body),
		Actor: "Ann <ann@example.org>", Title: eventType + ": a title",
	}
	e.ID = gitstore.ID(fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, clock, eventType, body))))
	return e
}

func reviewEventAt(clock int, eventType string, what any) record.Event {
	e := eventAt(clock, eventType, what)
	e.Review = testReview
	return e
}

// randomLogs are the logs of two writers.
func randomLogs(rng *rand.Rand, of func(clock int) record.Event) (one, two []record.Event) {
	for writer, log := range map[string]*[]record.Event{oneWriter: &one, twoWriter: &two} {
		clock := 0
		for range rng.IntN(15) {
			clock += rng.IntN(3) + 1
			e := of(clock)
			e.Writer = writer
			e.ID = gitstore.ID(writer) + e.ID
			*log = append(*log, e)
		}
	}
	return one, two
}

func sorted(events ...record.Event) []record.Event {
	events = slices.Clone(events)
	record.Sort(events)
	return events
}

// types are the events for a failure's message.
func types(events []record.Event) []string {
	var list []string
	for _, e := range events {
		list = append(list, e.Type+string(e.Payload))
	}
	return list
}

func panics(f func()) (why any) {
	defer func() { why = recover() }()
	f()
	return nil
}

// plainGit keeps the machine's configuration out of a test.
func plainGit(t testing.TB) {
	for name, value := range map[string]string{
		"HOME": t.TempDir(), "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com",
	} {
		t.(interface{ Setenv(string, string) }).Setenv(name, value)
	}
}

func runGit(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func gitStore(t testing.TB, dir string) *record.Store {
	repo, err := gitstore.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	return &record.Store{Repo: repo, Now: time.Now}
}

// newTestStore is a repository of its own with nothing of the user's in it.
func newTestStore(t *testing.T) *record.Store {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
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
	now := testEpoch
	store := gitStore(t, dir)
	store.Now = func() time.Time { now = now.Add(time.Minute); return now }
	return store
}

// testCommit is a commit that events can speak of.
func testCommit(t *testing.T, s *record.Store, message string) gitstore.ID {
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
