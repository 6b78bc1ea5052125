package runplan

import (
	"slices"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/spend"
)

// TestOutsideBothScopes: a file is allowed only if both the configuration and the task allow it.
func TestOutsideBothScopes(t *testing.T) {
	plan := Plan{
		Scope:     Scope{Allow: []string{"src/**", "doc/**"}, Deny: []string{"**/*.lock"}},
		TaskScope: Scope{Allow: []string{"src/**", "README.md"}, Deny: []string{"src/gen/**"}},
	}
	files := []string{"src/a.go", "doc/a.md", "README.md", "src/x.lock", "src/gen/b.go"}
	if got := plan.Outside(files); !slices.Equal(got, files[1:]) {
		t.Errorf("outside %q, want %q", got, files[1:])
	}
	for _, f := range files {
		if why := plan.Why(f); (why == "") != (f == "src/a.go") {
			t.Errorf("%s: %q", f, why)
		}
	}
	if got := plan.ScopeSetting([]string{"src/a.go", "doc/a.md", "src/gen/b.go"}); got != nil {
		t.Errorf("the configuration keeps nobody from files that only the task forbids, but %+v", got)
	}
	if got := plan.ScopeSetting([]string{"src/x.lock"}); got == nil || got.Name != SettingDeny {
		t.Errorf("a denied file: %+v", got)
	}
	if got := plan.ScopeSetting([]string{"README.md"}); got == nil || got.Name != SettingAllow {
		t.Errorf("a file that is not allowed: %+v", got)
	}
}

// TestUsed: a limit is used up when it is reached exactly, and 0 means no limit.
func TestUsed(t *testing.T) {
	for name, c := range map[string]struct {
		limit DayBudget
		spent spend.Usage
		want  string
	}{
		"no limit":                {DayBudget{}, spend.Usage{Cost: 9, Input: 9, Time: duration.Duration(time.Hour)}, ""},
		"dollars below the limit": {DayBudget{Budget: Budget{Cost: 2}}, spend.Usage{Cost: 1.99}, ""},
		"dollars at the limit":    {DayBudget{Budget: Budget{Cost: 2}}, spend.Usage{Cost: 2}, SettingDayCost},
		"tokens below the limit":  {DayBudget{Budget: Budget{Tokens: 10}}, spend.Usage{Input: 6, Output: 3}, ""},
		"tokens at the limit": {DayBudget{Budget: Budget{Tokens: 10}}, spend.Usage{Input: 6, Output: 4},
			SettingDayTokens},
		"time below the limit": {DayBudget{Time: duration.Duration(time.Hour)},
			spend.Usage{Time: duration.Duration(time.Hour) - 1}, ""},
		"time at the limit": {DayBudget{Time: duration.Duration(time.Hour)}, spend.Usage{Time: duration.Duration(time.Hour)},
			SettingDayTime},
	} {
		if got, used := c.limit.Used(c.spent); got.Name != c.want || used != (c.want != "") {
			t.Errorf("%s: %+v, %v", name, got, used)
		}
	}
}

func TestNamesOfAnExecutor(t *testing.T) {
	for _, c := range []struct {
		claim, file string
		want        bool
	}{{"a/b", "a/b", true}, {"a", "a/b", true}, {"a/", "a/b", true}, {"a", "ab", false}, {"a/b", "a", false}} {
		if Covers(c.claim, c.file) != c.want {
			t.Errorf("%q covers %q: not %v", c.claim, c.file, c.want)
		}
	}
	work := &Context{Files: []string{"src/a.go"}}
	if got := work.Unchanged([]string{"/tree/src/a.go", "./src/a.go", "src/b.go"}, "/tree"); !slices.Equal(got,
		[]string{"src/b.go"}) {
		t.Errorf("listed and unchanged: %q", got)
	}
	plan := Plan{Checks: []Check{{Name: "test", Command: "go  test ./..."}}}
	for command, want := range map[string]bool{"test": true, "go test ./...": true, "go vet": false} {
		if _, found := plan.CheckFor(command); found != want {
			t.Errorf("check for %q: %v", command, found)
		}
	}
}
