package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/record"
)

// importLogs replaces all logs by logs with these messages, by writer.
func importLogs(t *testing.T, dir string, logs map[string][]string) {
	t.Helper()
	var stream bytes.Buffer
	for line := range strings.Lines(testrepo.Git(t, dir, "for-each-ref", "--format=%(refname)", "refs/runr/log")) {
		fmt.Fprintf(&stream, "reset %s\nfrom %s\n\n", strings.TrimSpace(line), strings.Repeat("0", 40))
	}
	for writer, messages := range logs {
		fmt.Fprintf(&stream, "reset refs/runr/log/%s\n", writer)
		for _, message := range messages {
			fmt.Fprintf(&stream, "commit refs/runr/log/%s\ncommitter A <a@b> 1767323045 +0000\ndata %d\n%s\n", writer,
				len(message), message)
		}
	}
	testrepo.GitInput(t, dir, stream.String(), "fast-import", "--quiet", "--force")
}

// randomHistory returns logs of clones that sometimes see each other's events. With odd they also contain unreadable
// records and clocks far ahead.
func randomHistory(t *testing.T, rng *rand.Rand, odd bool) map[string][]string {
	t.Helper()
	logs := map[string][]string{}
	clocks := make([]uint64, 1+rng.IntN(6))
	for range rng.IntN(80) {
		i := rng.IntN(len(clocks))
		if rng.IntN(3) == 0 {
			clocks[i] = slices.Max(clocks) // the clone saw the others' events
		}
		clocks[i]++
		writer := fmt.Sprintf("%012x", 0xa00000000000+i)
		message := "nothing that can be read\n"
		switch kind := rng.IntN(40); {
		case kind > 1 || !odd:
		case kind == 0:
			logs[writer] = append(logs[writer], message)
			continue
		case kind == 1:
			clocks[i] += []uint64{100, record.LateClock, record.MaxAhead, 2 * record.MaxAhead}[rng.IntN(4)]
		}
		e := byWriter(writer, clocks[i], testEpoch, "other", "", map[string]int{"n": rng.IntN(9)})
		message, err := e.CommitText("")
		if err != nil {
			t.Fatal(err)
		}
		logs[writer] = append(logs[writer], message)
	}
	return logs
}

// Newest returns the last of all events, whatever the logs contain.
func TestNewestIsTheEndOfEvents(t *testing.T) {
	ctx := context.Background()
	s, dir := newRepo(t)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 24 {
		importLogs(t, dir, randomHistory(t, rng, round%2 == 0))
		all, bad, err := s.Events(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var each []record.Event
		eachBad, err := s.EachEvent(ctx, func(e record.Event) error { each = append(each, e); return nil })
		if err != nil || !sameEvents(each, all) || len(eachBad) != len(bad) {
			t.Fatalf("seed %d, round %d: one by one %d events, want %d, unreadable %v, want %v, %v", seed, round, len(each),
				len(all), eachBad, bad, err)
		}
		for _, n := range []int{0, 1, 3, 10, len(all) + 1} {
			got, gotBad, err := s.Newest(ctx, n)
			if want := all[max(0, len(all)-n):]; err != nil || !sameEvents(got, want) {
				t.Fatalf("seed %d, round %d: the newest %d: %d events, want %d, %v", seed, round, n, len(got), len(want), err)
			}
			if n >= len(all)+1 && len(gotBad) != len(bad) {
				t.Fatalf("seed %d, round %d: all: unreadable %v, want %v", seed, round, gotBad, bad)
			}
		}
	}
}

// newestBack reads backward as Newest does, without its fallback.
func newestBack(t *testing.T, s *Store, n int) ([]record.Event, error) {
	t.Helper()
	tips, err := s.Repo.Tips(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b := backward{store: s, reads: len(tips) + n + newestSpare}
	return b.newest(context.Background(), tips, n)
}

// Newest reads few of many events. If the ends of the logs do not decide the order, it reads all of them.
func TestNewestReadsAll(t *testing.T) {
	ctx := context.Background()
	s, dir := newRepo(t)
	text := func(writer string, clock uint64) string {
		message, err := byWriter(writer, clock, testEpoch, "other", "", "{}").CommitText("")
		if err != nil {
			t.Fatal(err)
		}
		return message
	}
	long := []string{}
	for clock := range uint64(newestSpare + 100) {
		long = append(long, text(oneWriter, clock+1))
	}
	long = slices.Clip(long)
	silent := append(slices.Repeat([]string{"nothing\n"}, newestSpare+100), "nothing\n")
	for name, c := range map[string]struct {
		log  []string
		back bool
	}{
		"long":                  {long, true},
		"a clock that falls":    {append(long, text(oneWriter, 999), text(oneWriter, 5)), false},
		"a clock that stays":    {append(long, text(oneWriter, 999), text(oneWriter, 999)), false},
		"a clock far ahead":     {append(long, text(oneWriter, 2*record.MaxAhead)), false},
		"a late clock":          {append(long, text(oneWriter, record.LateClock+1)), false},
		"the last one in order": {append(long, text(oneWriter, record.LateClock)), true},
		"records of nothing":    {slices.Concat(long, silent), false},
	} {
		importLogs(t, dir, map[string][]string{oneWriter: slices.Clone(c.log), twoWriter: {text(twoWriter, 7)}})
		all, _, err := s.Events(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newestBack(t, s, 2); (err == nil) != c.back {
			t.Errorf("%s: %v", name, err)
		}
		if got, _, err := s.Newest(ctx, 2); err != nil || !sameEvents(got, all[len(all)-2:]) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if got, _, err := s.Newest(ctx, newestReads+1); err != nil || !sameEvents(got, all) {
			t.Errorf("%s: all: %d events, %v", name, len(got), err)
		}
	}
}

// Newest skips and reports unreadable events, as Events does.
func TestNewestOfDamagedLogs(t *testing.T) {
	ctx := context.Background()
	s, dir := newRepo(t)
	ids := writeLog(t, dir, twoWriter, byWriter(twoWriter, 1, testEpoch, "other", "", "{}"),
		byWriter(twoWriter, 2, testEpoch, "other", "", "{}"), byWriter(twoWriter, 3, testEpoch, "other", "", "{}"),
		record.Event{V: record.FormatVersion + 1, Clock: 4, Writer: twoWriter, Timestamp: testEpoch, Type: "new",
			Payload: json.RawMessage("{}")})
	var warned []string
	s.Warn = func(_ gitstore.ID, why string) { warned = append(warned, why) }
	if got, bad, err := s.Newest(ctx, 1); err != nil || len(got) != 1 || got[0].Clock != 3 || len(bad) != 1 ||
		len(warned) != 1 {
		t.Errorf("%v, unreadable %v, warned %v, %v", got, bad, warned, err)
	}
	path := dir + "/.git/objects/" + string(ids[1][:2]) + "/" + string(ids[1][2:])
	testrepo.ReplaceFile(t, path, []byte("no object"))
	s = gitStore(t, dir)
	all, bad, err := s.Events(ctx)
	if err != nil || len(bad) != 2 {
		t.Fatalf("unreadable %v, %v", bad, err)
	}
	got, gotBad, err := s.Newest(ctx, 2)
	if err != nil || !sameEvents(got, all[len(all)-2:]) || !reflect.DeepEqual(gotBad, bad) {
		t.Errorf("%v, unreadable %v, want %v, %v", got, gotBad, bad, err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := s.Newest(gone, 1); err == nil {
		t.Error("cancelled, and nothing said")
	}
}
