package agents

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/testdata/agents/model"
)

const planted = `package sums

// Sum adds all of them.
func Sum(all []int) (sum int) {
	for i := 1; i < len(all); i++ {
		sum += all[i]
	}
	return sum
}
`

// TestReview lets each tool review a planted bug, for which its model opens the file. The model's earlier words are
// no verdict, and a file that it tries to write is not written.
func TestReview(t *testing.T) {
	eachWay(t, func(t *testing.T, a tool) {
		w := newWorld(t, a, func(r model.Request) model.Reply {
			switch {
			case len(r.Tools) == 0:
				return model.Reply{Text: "Sums"} // a title
			case r.Turn == 0:
				reply := a.read("sum.go", "")
				reply.Text = "### Verdict: CRITICAL\n\nI shall look."
				return reply
			case r.Turn == 1:
				return a.write("planted.txt", "planted by the reviewer")
			}
			return verdict(r, "NEEDS_FIX", finding{Severity: "critical", File: "sum.go", Line: 5,
				Issue: "The first element is never added", Fix: "Begin at 0"})
		})
		w.files(w.repo, map[string]string{"sum.go": planted})
		w.commit("sum")
		out := w.runr(1, "review", "--wait", "--reviewer", a.name)
		has(t, out, "sum.go:5", "The first element is never added")
		if strings.Contains(out, "planted.txt") {
			t.Errorf("it wrote: %s", out)
		}

		var review struct {
			Submissions []struct {
				Reviewer string
				Report   struct {
					Effective string
					Findings  []finding
				}
			}
		}
		w.shown(&review, "show", "latest", "--json")
		if len(review.Submissions) != 1 || review.Submissions[0].Reviewer != a.name ||
			len(review.Submissions[0].Report.Findings) != 1 ||
			review.Submissions[0].Report.Findings[0].Line != 5 || review.Submissions[0].Report.Findings[0].File != "sum.go" {
			t.Errorf("recorded: %+v", review)
		}
		if status := w.git("status", "--porcelain"); status != "" {
			t.Errorf("the reviewer changed the checkout:\n%s", status)
		}
		w.asked(func(r model.Request) {
			if r.Turn > 0 && !r.Told("i := 1") {
				t.Errorf("the file that its model opened did not come: %s", r.Body)
			}
			for _, tool := range r.Tools {
				if a.reads != nil && !slices.Contains(a.reads, tool) {
					t.Errorf("a reviewer's model may call %s, of %v", tool, r.Tools)
				}
			}
			has(t, r.Prompt, "You are an independent reviewer", "+\tfor i := 1; i < len(all); i++ {")
		})
	})
}

// TestAskedForTheBlock lets each tool answer in prose first. It is then asked once more, in the same session if the
// tool can continue one as a reviewer. A file that its model tries to write then is not written either.
func TestAskedForTheBlock(t *testing.T) {
	eachWay(t, func(t *testing.T, a tool) {
		again := func(r model.Request) bool { return strings.Contains(r.Prompt, "lacks the required block") }
		w := newWorld(t, a, func(r model.Request) model.Reply {
			switch {
			case len(r.Tools) == 0:
				return model.Reply{Text: "Sums"} // a title
			case !again(r):
				return model.Reply{Text: "The first element is never added."}
			case r.Turn == 0:
				return a.write("planted.txt", "planted by the reviewer")
			}
			return verdict(r, "NEEDS_FIX", finding{Severity: "critical", File: "sum.go", Line: 5,
				Issue: "The first element is never added"})
		})
		w.files(w.repo, map[string]string{"sum.go": planted})
		w.commit("sum")
		out := w.runr(1, "review", "--wait", "--reviewer", a.name)
		has(t, out, "sum.go:5", "The first element is never added")
		if status := w.git("status", "--porcelain"); status != "" || strings.Contains(out, "planted.txt") {
			t.Errorf("it wrote:\n%s%s", status, out)
		}
		continues := !a.byACP && slices.Contains([]string{"claude", "opencode", "copilot", "qwen", "kilo"}, a.name)
		seconds := 0
		w.asked(func(r model.Request) {
			if !again(r) {
				return
			}
			seconds++
			if first := r.Told("You are an independent reviewer"); first != continues {
				t.Errorf("the second question continues the session: %v, want %v", first, continues)
			}
			for _, tool := range r.Tools {
				if a.reads != nil && !slices.Contains(a.reads, tool) {
					t.Errorf("a reviewer's model may call %s, of %v", tool, r.Tools)
				}
			}
		})
		if seconds == 0 {
			t.Error("it was not asked for the block")
		}
	})
}

// asked calls look for every request with tools, of which there must be at least one; the others are for titles and
// the like. It checks that all requests have the user's key, the tool's format and the user's model.
func (w *world) asked(look func(model.Request)) {
	w.t.Helper()
	n := 0
	for _, r := range w.Requests() {
		if r.Form != w.tool.form || r.Key != key || r.Model != w.tool.model {
			w.t.Errorf("a request to %s in the form of %s with key %q", r.Model, r.Form, r.Key)
		}
		if len(r.Tools) > 0 {
			n++
			look(r)
		}
	}
	if n == 0 {
		w.t.Errorf("the model was not asked: %s", strings.TrimSpace(w.talk()))
	}
}
