package loop

import (
	"strings"
	"testing"
	"time"
)

func TestSettingOfAStop(t *testing.T) {
	idle := &Setting{Name: "agents.impl.idle_timeout", Value: "10m", From: ".runr.toml"}
	plan := testPlan()
	plan.Policy.MaxRetries, plan.Policy.TimeBudget = 1, Duration(90*time.Minute)
	plan.Settings = []Setting{{SettingRetries, "1", "git config"}, {SettingDeny, `"*.lock"`, "the user's file"}}
	plan.Scope = Scope{Allow: []string{"src/*"}, Deny: []string{"*.lock"}}
	attempt := func(f *Failure, files ...string) Run {
		return Run{Plan: plan, last: AttemptCompleted, Attempts: []Attempt{{Failure: f, Files: files}}}
	}
	for _, test := range []struct {
		name string
		run  Run
		stop Stop
		want string
	}{
		{"retries", attempt(nil), Stop{Reason: ReasonReviewLoop, Round: 2, MaxRounds: 1}, "loop.max_retries = 1 (git config)"},
		{"of checks", attempt(nil), Stop{Reason: ReasonChecksFailed}, "loop.max_retries = 1 (git config)"},
		{"given up before", attempt(nil), Stop{Reason: ReasonReviewLoop, Repeated: []string{"f-1"}, Round: 1, MaxRounds: 1}, ""},
		{"repeated and used up", attempt(nil), Stop{Reason: ReasonReviewLoop, Repeated: []string{"f-1"}, Round: 2, MaxRounds: 1}, "loop.max_retries = 1 (git config)"},
		{"a plan without origins", attempt(nil), Stop{Reason: ReasonBudget}, "loop.time_budget = 1h30m"},
		{"an agent's limit", attempt(&Failure{Reason: ReasonAgentIdle, Setting: idle}), Stop{Reason: ReasonAgentIdle}, "agents.impl.idle_timeout = 10m (.runr.toml)"},
		{"of an earlier failure", attempt(&Failure{Reason: ReasonAgentIdle, Setting: idle}), Stop{Reason: ReasonInterrupted}, ""},
		{"denied", attempt(&Failure{Reason: ReasonScope}, "src/a", "b.lock"), Stop{Reason: ReasonScope}, `scope.deny = "*.lock" (the user's file)`},
		{"not allowed", attempt(&Failure{Reason: ReasonScope}, "b.txt"), Stop{Reason: ReasonScope}, `scope.allow = "src/*"`},
		{"nothing ended it", attempt(nil), Stop{Reason: ReasonNoChange}, ""},
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
	results := []CheckResult{
		{Name: "a", ExitCode: 1}, {Name: "b"}, {Name: "c", ExitCode: 1, FailsOnBase: true}, {Name: "d", ExitCode: 127, NotRun: "x is not installed"}, {Name: "e", ExitCode: -1, Reason: "timeout"},
	}
	run := Run{Attempts: []Attempt{{Number: 2}}, Checks: []CheckRun{{Attempt: 2, Results: results}}}
	if got := strings.Join(facts(run, Stop{Reason: ReasonChecksFailed}).FailingChecks, " "); got != "a e" {
		t.Errorf("%q", got)
	}
	run.Attempts[0].Number = 3 // whose checks have not run yet
	if got := facts(run, Stop{Reason: ReasonChecksFailed}).FailingChecks; len(got) > 0 {
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
	s := Scope{Allow: []string{"src/**", "docs/*"}, Deny: []string{"**/*.lock"}}
	for file, want := range map[string]string{
		"src/a.go": "", "docs/a": "", "src/a.lock": `denied by "**/*.lock"`, "a.go": `not in "src/**" "docs/*"`,
	} {
		if got := s.Why(file); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
	files := []string{"a", "b", "c", "d", "e", "f", "g"}
	plan := RunPlan{Scope: s, TaskScope: Scope{Allow: []string{"src/*"}}}
	if got := plan.violations([]string{"docs/a\nb"}); got != `docs/a b is not in "src/*" of the task` {
		t.Errorf("%q", got)
	}
	if got := plan.violations(files); !strings.HasPrefix(got, `a is not in "src/**" "docs/*"; b is`) || !strings.HasSuffix(got, "; and 2 files more") {
		t.Errorf("%q", got)
	}
}

func TestDurationString(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", time.Second: "1s", 10 * time.Minute: "10m", 2 * time.Hour: "2h", 90 * time.Minute: "1h30m", 61 * time.Second: "1m1s", time.Hour + time.Second: "1h0m1s"} {
		var back Duration
		if got := Duration(d).String(); got != want || back.UnmarshalText([]byte(got)) != nil || back != Duration(d) {
			t.Errorf("%v: %q", d, got)
		}
	}
}
