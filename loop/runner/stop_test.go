package runner

import (
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

func TestSettingOfAStop(t *testing.T) {
	idle := &runplan.Setting{Name: "agents.impl.idle_timeout", Value: "10m", From: ".runr.toml"}
	plan := runtest.Plan()
	plan.Policy.MaxRetries, plan.Policy.TimeBudget = 1, duration.Duration(90*time.Minute)
	plan.Settings = []runplan.Setting{{Name: runplan.SettingRetries, Value: "1", From: "git config"},
		{Name: runplan.SettingDeny, Value: `"*.lock"`, From: "the user's file"}}
	plan.Scope = runplan.Scope{Allow: []string{"src/*"}, Deny: []string{"*.lock"}}
	attempt := func(f *record.Failure, files ...string) record.Run {
		return record.Run{Plan: plan, Last: record.EventAttemptCompleted.Name,
			Attempts: []record.Attempt{{Failure: f, Files: files}}}
	}
	for _, test := range []struct {
		name string
		run  record.Run
		stop record.Stop
		want string
	}{
		{"retries", attempt(nil), record.Stop{Reason: record.ReasonReviewLoop, Round: 2, MaxRounds: 1},
			"loop.max_retries = 1 (git config)"},
		{"of checks", attempt(nil), record.Stop{Reason: record.ReasonChecksFailed}, "loop.max_retries = 1 (git config)"},
		{"given up before", attempt(nil), record.Stop{Reason: record.ReasonReviewLoop, Repeated: []string{"f-1"}, Round: 1,
			MaxRounds: 1}, ""},
		{"repeated and used up", attempt(nil), record.Stop{Reason: record.ReasonReviewLoop, Repeated: []string{"f-1"},
			Round: 2, MaxRounds: 1}, "loop.max_retries = 1 (git config)"},
		{"a plan without origins", attempt(nil), record.Stop{Reason: record.ReasonBudget}, "loop.time_budget = 1h30m"},
		{"an agent's limit", attempt(&record.Failure{Reason: record.ReasonAgentIdle, Setting: idle}),
			record.Stop{Reason: record.ReasonAgentIdle}, "agents.impl.idle_timeout = 10m (.runr.toml)"},
		{"of an earlier failure", attempt(&record.Failure{Reason: record.ReasonAgentIdle, Setting: idle}),
			record.Stop{Reason: record.ReasonInterrupted}, ""},
		{"denied", attempt(&record.Failure{Reason: record.ReasonScope}, "src/a", "b.lock"),
			record.Stop{Reason: record.ReasonScope}, `scope.deny = "*.lock" (the user's file)`},
		{"not allowed", attempt(&record.Failure{Reason: record.ReasonScope}, "b.txt"),
			record.Stop{Reason: record.ReasonScope}, `scope.allow = "src/*"`},
		{"nothing ended it", attempt(nil), record.Stop{Reason: record.ReasonNoChange}, ""},
	} {
		got := ""
		if s := facts(test.run, test.stop).Setting; s != nil {
			got = s.String()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestFailingChecksOfAStop(t *testing.T) {
	results := []record.CheckResult{
		{Name: "a", ExitCode: 1}, {Name: "b"}, {Name: "c", ExitCode: 1, FailsOnBase: true},
		{Name: "d", ExitCode: 127, NotRun: "x is not installed"}, {Name: "e", ExitCode: -1, Reason: "timeout"},
	}
	run := record.Run{Attempts: []record.Attempt{{Number: 2}}, Checks: []record.CheckRun{{Attempt: 2, Results: results}}}
	if got := strings.Join(facts(run, record.Stop{Reason: record.ReasonChecksFailed}).FailingChecks, " "); got != "a e" {
		t.Errorf("%q", got)
	}
	run.Attempts[0].Number = 3 // an attempt whose checks have not run yet
	if got := facts(run, record.Stop{Reason: record.ReasonChecksFailed}).FailingChecks; len(got) > 0 {
		t.Errorf("%q", got)
	}
}

func TestBeginning(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "",
		" \r\n one\r\n\n two \n":          "one\n\n two",
		"\x1b[31mred\x1b[0m":              "red",
		strings.Repeat("x", saidBytes):    strings.Repeat("x", saidBytes),
		strings.Repeat("ä", saidBytes):    strings.Repeat("ä", saidBytes/2) + " …",
		strings.Repeat("a\n", saidLines):  strings.TrimSpace(strings.Repeat("a\n", saidLines)),
		strings.Repeat("a\n", 10_000_000): strings.TrimSpace(strings.Repeat("a\n", saidLines)) + " …",
	} {
		if got := beginning(in); got != want {
			t.Errorf("%.40q: %q, want %q", in, got, want)
		}
	}
}

func TestScopeWhy(t *testing.T) {
	s := runplan.Scope{Allow: []string{"src/**", "docs/*"}, Deny: []string{"**/*.lock"}}
	for file, want := range map[string]string{
		"src/a.go": "", "docs/a": "", "src/a.lock": `denied by "**/*.lock"`, "a.go": `not in "src/**" "docs/*"`,
	} {
		if got := s.Why(file); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
	files := []string{"a", "b", "c", "d", "e", "f", "g"}
	plan := runplan.Plan{Scope: s, TaskScope: runplan.Scope{Allow: []string{"src/*"}}}
	if got := plan.Violations([]string{"docs/a\nb"}); got != `docs/a b is not in "src/*" of the task` {
		t.Errorf("%q", got)
	}
	if got := plan.Violations(files); !strings.HasPrefix(got, `a is not in "src/**" "docs/*"; b is`) ||
		!strings.HasSuffix(got, "; and 2 files more") {
		t.Errorf("%q", got)
	}
}

func TestDurationString(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", time.Second: "1s", 10 * time.Minute: "10m", 2 * time.Hour: "2h",
		90 * time.Minute: "1h30m", 61 * time.Second: "1m1s", time.Hour + time.Second: "1h0m1s"} {
		var back duration.Duration
		if got := duration.Duration(d).String(); got != want || back.UnmarshalText([]byte(got)) != nil ||
			back != duration.Duration(d) {
			t.Errorf("%v: %q", d, got)
		}
	}
}
