package track

import (
	"fmt"
	"strings"
	"testing"

	"git-runr/loop/internal/casetest"
	"git-runr/loop/internal/roundtest"
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

// sameRequest reports whether a and b are taken for one request.
func sameRequest(a, b string) bool {
	return textKey(a) == textKey(b) || similarity(readWording(a), readWording(b)) > 0
}

func TestSameRequest(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"Fix type errors", "fix  TYPE errors", true},
		{"???", "???", true},
		{"", " ", true},
		{"???", "!!!", false},
		{"Typecheck output was not provided", "Please include the output of the type checker", true},
		{"Provide typecheck output", "Provide test output", false},
		{"Document `--dry-run` in the README", "The README does not mention the new `--dry-run` flag", true},
		{"`handleUpload` does not limit the size of the file", "No size limit on files in `handleUpload`", true},
		{"`handleUpload` does not limit the size of the file", "`handleUpload` does not check the type of the file", false},
		{"Make the failing tests pass", "Tests are failing", true},
		{"npm run lint reports 4 errors", "Fix the lint errors", true},
		{"Ensure the token is logged", "Ensure the token is not logged", false},
		{"Make the cache private", "Make the cache public", false},
		{"Worker goroutine does not stop on context cancellation and leaks", "Goroutine leak: the worker never exits when the context is cancelled", true},
	} {
		if got := sameRequest(test.a, test.b); got != test.want {
			t.Errorf("sameRequest(%q, %q) = %v", test.a, test.b, got)
		}
		if got := sameRequest(test.b, test.a); got != test.want {
			t.Errorf("sameRequest(%q, %q) = %v", test.b, test.a, got)
		}
	}
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

// FuzzTrack takes rounds that are separated by lines with "--" alone.
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
		asked = asked[:min(len(asked), 6)]
		for _, a := range asked {
			for _, b := range asked {
				if sameRequest(a, b) != sameRequest(b, a) {
					t.Fatalf("not symmetric: %q and %q", a, b)
				}
			}
			if !sameRequest(a, a) {
				t.Fatalf("not the same as itself: %q", a)
			}
		}
	})
}

// checkTracked: each request of the newest round that counts stands there once, in order, and
// nothing else does but what is met.
func checkTracked(t *testing.T, rounds []Round, tracked []Request) {
	newest := -1
	for i, r := range rounds {
		if r.answered() {
			newest = i
		}
	}
	if newest < 0 {
		if len(tracked) > 0 {
			t.Fatalf("nobody asked for %+v", tracked)
		}
		return
	}
	open := 0
	seen := map[string]bool{}
	for _, r := range tracked {
		if r.State == Met {
			continue
		}
		if open++; seen[textKey(r.Text)] || r.Last != rounds[newest].Number {
			t.Fatalf("%+v twice, or not of round %d", r, rounds[newest].Number)
		}
		seen[textKey(r.Text)] = true
	}
	asks := asksOf(rounds[newest])
	if len(asks) != open {
		t.Fatalf("%d requests, %d tracked", len(asks), open)
	}
	for i, a := range asks {
		if tracked[i].Text != a.text || tracked[i].ID != a.id {
			t.Fatalf("request %d is %+v, want %q", i, tracked[i], a.text)
		}
	}
	for _, text := range rounds[newest].Report.Requests {
		if strings.TrimSpace(text) != "" && !seen[textKey(text)] {
			t.Fatalf("request %q is lost", text)
		}
	}
}
