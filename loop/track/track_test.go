package track

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/internal/casetest"
	"github.com/git-runr/git-runr/loop/internal/roundtest"
)

func readRound(number int, text string) Round {
	report, failed := roundtest.Read(text)
	return Round{Number: number, Report: report, Failed: failed}
}

func TestTrackCases(t *testing.T) {
	casetest.Run(t, "track", func(t *testing.T, c casetest.Case) {
		var rounds []Round
		for _, f := range c.Archive.Files {
			if f.Name != "want" {
				rounds = append(rounds, readRound(len(rounds)+1, string(f.Data)))
			}
		}
		var got strings.Builder
		for _, r := range Requests(rounds) {
			fmt.Fprintf(&got, "%s %s\n", r.State, r.Text)
		}
		if want := c.File("want"); got.String() != want {
			t.Errorf("got:\n%swant:\n%s", got.String(), want)
		}
	})
}

func TestTrackCounts(t *testing.T) {
	rounds := []Round{
		readRound(1, "Fix type errors\n"),
		readRound(2, "FAILED\n"),
		readRound(4, "a.go:3 warning: the type errors are not fixed\nFix type errors\n"),
	}
	got := Requests(rounds)
	want := Request{Text: "Fix type errors", First: 1, Last: 4, Times: 2, State: Unmet}
	if len(got) != 2 || got[1] != want {
		t.Errorf("got %+v", got)
	}
	if got[0].ID != rounds[2].Report.Findings[0].ID || got[0].State != New {
		t.Errorf("got %+v", got[0])
	}
	if got := Requests(nil); got == nil || len(got) != 0 {
		t.Errorf("no rounds: %v", got)
	}
}

// A repeated request is the same only if its file is unchanged; without a file the words decide.
func TestTrackPlaces(t *testing.T) {
	const asked = "a.go:3 warning: the error of Close is ignored\n"
	for _, test := range []struct {
		name, before, after string
		changed             []string
		want                State
		old                 State // state of the earlier request, if it differs
	}{
		{"the file is as it was", asked, asked, []string{"b.go"}, Unmet, ""},
		{"the file changed", asked, asked, []string{"b.go", "a.go"}, Similar, Similar},
		{"a shortened path", asked, asked, []string{"src/a.go"}, Similar, Similar},
		{"another line", asked, "a.go:4 warning: the error of Close is ignored\n", nil, Similar, Similar},
		{"other words", asked, "a.go:3 warning: Close ignores its error\n", nil, Similar, Similar},
		{"another identifier", asked, "a.go:3 warning: the error of Write is ignored\n", nil, Similar, Similar},
		{"another file", asked, "b.go:3 warning: the error of Close is ignored\n", nil, New, NotAsked},
		{"another thing", asked, "a.go:3 warning: name the result\n", nil, New, NotAsked},
		{"prose", "Fix type errors\n", "fix type errors.\n", []string{"a.go"}, Unmet, ""},
		{"the opposite", "a.go:3 warning: Log the token\n", "a.go:3 warning: Do not log the token.\n", []string{"a.go"},
			Contradiction, Contradiction},
		{"the opposite elsewhere", "a.go:3 warning: Log the token\n", "a.go:9 warning: Do not log the token\n", nil, Similar,
			Similar},
		{"the opposite order", "Add the gravity vector\n", "Remove the gravity vector\n", nil, Contradiction, Contradiction},
		{"the other way round", "Use a mutex instead of a channel\n", "Use a channel instead of a mutex\n", nil,
			Contradiction, Contradiction},
		{"not the other way round", "Only an admin may delete a user\n", "Only a user may delete an admin\n", nil, Similar,
			Similar},
		{"the opposite and more", "Log the token\n", "Do not log the whole token\n", nil, Similar, Similar},
	} {
		second := readRound(2, test.after)
		second.Changed = test.changed
		got := Requests([]Round{readRound(1, test.before), second})
		if got[0].State != test.want || len(got) > 1 != (test.old != "") || test.old != "" && got[1].State != test.old {
			t.Errorf("%s: %+v", test.name, got)
		}
		if alone := test.want == New || test.want == Unmet; alone != (got[0].Other == 0) {
			t.Errorf("%s: the other is of round %d", test.name, got[0].Other)
		}
	}
}

// Only two successive answers of the same reviewer can contradict each other.
func TestContradictionIsOfOneReviewer(t *testing.T) {
	rounds := []Round{readRound(1, "Log the token\n"), readRound(2, "Do not log the token\n")}
	rounds[1].By = "another"
	if got := Requests(rounds); got[0].State != Similar {
		t.Errorf("two reviewers: %+v", got)
	}
	rounds = []Round{readRound(1, "Log the token\n"), readRound(2, "Name it\n"), readRound(3, "Do not log the token\n")}
	if got := Requests(rounds); got[0].State != Similar {
		t.Errorf("two rounds later: %+v", got)
	}
}

// FuzzTrack reads rounds separated by lines with "--" alone.
func FuzzTrack(f *testing.F) {
	for _, c := range casetest.Read(f, "track") {
		var rounds []string
		for _, file := range c.Archive.Files {
			if file.Name != "want" {
				rounds = append(rounds, string(file.Data))
			}
		}
		f.Add(strings.Join(rounds, "--\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var rounds []Round
		var asked []string
		for i, part := range strings.Split(text, "--\n") {
			rounds = append(rounds, readRound(i+1, part))
			asked = append(asked, strings.Split(part, "\n")...)
		}
		checkTracked(t, rounds, Requests(rounds))
		for _, a := range asked {
			for _, b := range asked[:min(len(asked), 6)] {
				if alike(a, b) != alike(b, a) ||
					opposite(key{words: words(a)}, key{words: words(b)}) != opposite(key{words: words(b)}, key{words: words(a)}) {
					t.Fatalf("not symmetric: %q and %q", a, b)
				}
			}
		}
	})
}

// checkTracked checks that each request of the newest counting round is listed once, in order,
// and that nothing else is except met requests.
func checkTracked(t *testing.T, rounds []Round, tracked []Request) {
	telling := answered(rounds)
	if len(telling) == 0 {
		if len(tracked) > 0 {
			t.Fatalf("nobody asked for %+v", tracked)
		}
		return
	}
	newest := telling[len(telling)-1]
	open := 0
	for i, r := range tracked {
		if r.Last == newest.Number {
			open++
		}
		if (r.Last == newest.Number) != (i < open) {
			t.Fatalf("%+v is not in its place", r)
		}
	}
	asks := asksOf(newest)
	if len(asks) != open {
		t.Fatalf("%d requests, %d tracked", len(asks), open)
	}
	for i, a := range asks {
		if tracked[i].Text != a.text || tracked[i].ID != a.id {
			t.Fatalf("request %d is %+v, want %q", i, tracked[i], a.text)
		}
	}
}
