package agents

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-runr/git-runr/testdata/agents/model"
)

// meeting lets callers wait for each other.
type meeting struct {
	mu     sync.Mutex
	absent []string
	all    chan struct{}
}

func meetingOf(a tool) *meeting {
	m := &meeting{all: make(chan struct{})}
	for _, one := range a.each() {
		m.absent = append(m.absent, one.name)
	}
	return m
}

// await returns when all have come, or after two minutes those who are missing.
func (m *meeting) await(name string) (missing []string) {
	m.mu.Lock()
	if i := slices.Index(m.absent, name); i >= 0 {
		if m.absent = slices.Delete(m.absent, i, i+1); len(m.absent) == 0 {
			close(m.all)
		}
	}
	m.mu.Unlock()
	select {
	case <-m.all:
		return nil
	case <-time.After(2 * time.Minute):
		m.mu.Lock()
		defer m.mu.Unlock()
		return slices.Clone(m.absent)
	}
}

// met returns script for a panel whose members all wait for each other before their first answer, which shows that
// they run at the same time.
func met(t *testing.T, a tool, script model.Script) model.Script {
	m := meetingOf(a)
	return func(r model.Request) model.Reply {
		if by := a.asks(r); by != nil && len(r.Tools) > 0 && reviews(r) && r.Turn == 0 {
			if missing := m.await(by.name); missing != nil {
				t.Errorf("%s waits for %v in vain", by.name, missing)
			}
		}
		return script(r)
	}
}

// five returns the tools of the panels here.
func five() tool {
	var of []tool
	for _, a := range tools {
		if slices.Contains([]string{"codex", "claude", "gemini", "opencode", "pi"}, a.name) {
			of = append(of, a)
		}
	}
	return panel(of...)
}

// sideBySide allows as many concurrent reviewers as there are tools.
func (w *world) sideBySide() {
	w.git("config", "runr.loop.parallel", fmt.Sprint(len(w.tool.crew)))
}

// TestHostilePanel lets five tools review a hostile checkout at the same time, although some of them need files to be
// put aside that others see.
func TestHostilePanel(t *testing.T) {
	t.Parallel()
	a := five()
	h := newHostile(t, a, met(t, a, harmless(a)))
	h.sideBySide()
	out := h.work("reviewer")
	for _, line := range h.happened() {
		t.Errorf("the panel %s", line)
	}
	for _, one := range a.crew {
		has(t, out, "  "+one.name+": PASS\n")
	}
	// claude moves the user's old permissions from .claude.json to their new place
	if status := h.git("status", "--porcelain", "--", ".", ":!.claude/settings.local.json"); status != "" {
		t.Errorf("the reviewers changed the checkout:\n%s", status)
	}
	if left, err := filepath.Glob(filepath.Join(h.home, ".cache/git-runr/worktrees/*/*")); len(left) > 0 || err != nil {
		t.Errorf("left beside the checkouts: %v, %v", left, err)
	}
}

var rulingsMark = regexp.MustCompile(`runr-rulings ([0-9a-f]+)`)

// ruled returns a judge's answer that refutes the findings that contain refuted, and confirms the others.
func ruled(r model.Request, refuted string) model.Reply {
	var all []string
	for i, f := range strings.Split(r.Prompt, "\nFinding ")[1:] {
		says, why := "confirmed", "line 5 shows it"
		if strings.Contains(f, refuted) {
			says, why = "refuted", "it is called with a copy"
		}
		all = append(all, fmt.Sprintf(`{"finding":%d,"says":%q,"why":%q}`, i+1, says, why))
	}
	return model.Reply{Text: "```runr-rulings " + rulingsMark.FindStringSubmatch(r.Prompt)[1] + "\n{\"rulings\":[" +
		strings.Join(all, ",") + "]}\n```\n"}
}

// TestPanel lets five tools review a planted bug at the same time, and one of them judge. One is down, one disagrees,
// and one reports a false finding.
func TestPanel(t *testing.T) {
	for _, down := range []struct {
		name   string
		config string
		reply  model.Reply // of pi
		status int
		says   []string
	}{
		{name: "its program fails", config: "[agents.pi]\npreset = \"pi\"\ncommand = [\"false\"]\n", status: 1,
			says: []string{"pi: did not answer"}},
		{name: "its key is refused", reply: model.Reply{Status: 401, Message: words}, status: 1,
			says: []string{"pi: did not answer", words}},
		{name: "its model has a fault", reply: model.Reply{Status: 500, Message: words}, status: 30,
			says: []string{words, "waiting for: pi"}},
	} {
		t.Run(down.name, func(t *testing.T) {
			t.Parallel()
			a := five()
			w := newWorld(t, a, panelScript(t, a, down.reply))
			w.files(w.home, map[string]string{".config/git-runr/config.toml": "[review]\njudge = \"claude\"\n" + down.config})
			w.files(w.repo, map[string]string{"sum.go": planted, "GEMINI.md": "what gemini alone must not read\n"})
			w.commit("sum")
			w.sideBySide()
			out := w.runr(down.status, "review", "--wait", "--reviewer", a.name)
			has(t, out, down.says...)
			w.judged(out, down.status == 1)
		})
	}
}

// panelScript returns what the models of a panel say.
func panelScript(t *testing.T, a tool, pi model.Reply) model.Script {
	first := finding{Severity: "warning", File: "sum.go", Line: 5, Issue: "The first element is never added to the sum",
		Fix: "Begin at 0"}
	said := map[string]func(model.Request) model.Reply{
		"codex": func(r model.Request) model.Reply { return verdict(r, "NEEDS_FIX", first) },
		// with the same place and words
		"claude": func(r model.Request) model.Reply { return verdict(r, "NEEDS_FIX", first) },
		"gemini": func(r model.Request) model.Reply { return verdict(r, "PASS") },
		"opencode": func(r model.Request) model.Reply {
			return verdict(r, "CRITICAL", finding{Severity: "critical", File: "sum.go", Line: 4,
				Issue: "It overwrites what the caller passed", Fix: "Copy it"})
		},
	}
	up := panel(slices.DeleteFunc(slices.Clone(a.each()), func(one tool) bool { return one.name == "pi" })...)
	return met(t, up, func(r model.Request) model.Reply {
		by := a.asks(r)
		switch {
		case len(r.Tools) == 0 || by == nil:
			return model.Reply{Text: "Sums"}
		case by.name == "pi":
			return pi
		case strings.Contains(r.Prompt, "runr-rulings"):
			return ruled(r, "overwrites")
		case r.Turn == 0 && by.name == "opencode": // beside gemini, which is kept from it
			return by.read("GEMINI.md", "")
		}
		if by.name == "opencode" && !r.Told("what gemini alone must not read") {
			t.Errorf("what gemini is kept from was put aside where opencode works: %s", r.Body)
		}
		return said[by.name](r)
	})
}

// judged checks that the answers of a panel that printed out are recorded, and that the judge ruled on them if it had
// its turn.
func (w *world) judged(out string, turn bool) {
	t := w.t
	var review struct {
		Opinions []struct{ Reviewer, Verdict, Stated string }
		Disagree bool
		Findings []struct {
			Issue  string
			SaidBy []string `json:"said_by"`
			Judged *struct{ Ruling string }
		}
	}
	w.shown(&review, "inbox", "get", "latest", "--json")
	if len(review.Opinions) != 4 || !review.Disagree || len(review.Findings) != 2 {
		t.Fatalf("recorded: %+v\nsaid:\n%s", review, out)
	}
	if by := review.Findings[0].SaidBy; !slices.Equal(by, []string{"codex", "claude"}) {
		t.Errorf("the bug is said by %v", by)
	}
	for _, f := range review.Findings {
		want := "confirmed"
		if strings.Contains(f.Issue, "overwrites") {
			want = "refuted"
		}
		if turn != (f.Judged != nil) || turn && f.Judged.Ruling != want {
			t.Errorf("%q is judged %+v", f.Issue, f.Judged)
		}
	}
}
