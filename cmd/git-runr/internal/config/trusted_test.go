package config

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/record"
)

// TestUntrustedIsNotRun: agents and checks of the repository's file are refused until somebody approves exactly these
// commands. The user's own need no approval.
func TestUntrustedIsNotRun(t *testing.T) {
	repo, err := gitstore.Open(context.Background(), testrepo.New(t))
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	programs := t.TempDir()
	if err := os.WriteFile(filepath.Join(programs, "my-agent"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	store := approvals{Dir: filepath.Join(t.TempDir(), "trust")}
	with := func(file string) *Config {
		c := loaded(t, input{
			RepoFile: []byte(file), RepoPath: ".runr.toml",
			UserFile: []byte("[agents.own]\ncommand = [\"my-agent\"]\n[checks.own]\ncommand = \"true\"\n"),
			UserPath: "config.toml",
		})
		c.repo, c.trust = repo, store
		return c
	}
	check := func(when string, c *Config, trusted bool) {
		t.Helper()
		want := map[string]string{"own": "", "mine": record.ReasonUntrusted}
		checks := []string{"own"}
		if trusted {
			want["mine"], checks = "", []string{"own", "test"}
		}
		for name, reason := range want {
			_, reviewer := c.Reviewer(name)
			_, implementer := c.Implementer(name)
			for _, failure := range []*record.Failure{reviewer, implementer, c.Ready(name, agent.Reviewer),
				c.Ready(name, agent.Implementer)} {
				if failure == nil {
					failure = &record.Failure{}
				}
				if failure.Reason != reason || reason != "" && !strings.Contains(failure.Detail, "git runr trust") {
					t.Errorf("%s: agent %s: %+v, want %q", when, name, failure, reason)
				}
			}
		}
		run, not := c.Checks()
		var names []string
		for _, c := range run {
			names = append(names, c.Name)
		}
		slices.Sort(names)
		if !slices.Equal(names, checks) || len(not) != 2-len(checks) ||
			len(not) > 0 && !strings.Contains(not[0], "git runr trust") {
			t.Errorf("%s: checks %q, not %q", when, names, not)
		}
	}
	c := with(approvedConfig)
	check("before", c, false)
	if err := c.Approve(context.Background(), time.Now()); err != nil {
		t.Fatal(err)
	}
	check("approved", c, true)
	check("changed since", with(strings.Replace(approvedConfig, "--flag", "--other", 1)), false)
	if err := c.Revoke(); err != nil {
		t.Fatal(err)
	}
	check("revoked", c, false)
}

// TestUntrustedHearsNothing: a notify command of the repository's file needs the same approval.
func TestUntrustedHearsNothing(t *testing.T) {
	repo, err := gitstore.Open(context.Background(), testrepo.New(t))
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	store := approvals{Dir: filepath.Join(t.TempDir(), "trust")}
	with := func(file, own string) *Config {
		c := loaded(t, input{RepoFile: []byte(file), RepoPath: FileName, UserFile: []byte(own), UserPath: "config.toml"})
		c.repo, c.trust = repo, store
		return c
	}
	const named, other = "[hooks]\nnotify = [\"tell\"]\n", "[hooks]\nnotify = [\"tell\", \"all\"]\n"
	c := with(named, "")
	if got := c.Notify(); got != nil {
		t.Errorf("before: %q", got)
	}
	if got := with(named, other).Notify(); !slices.Equal(got, []string{"tell", "all"}) {
		t.Errorf("the user's own: %q", got)
	}
	if err := c.Approve(context.Background(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := c.Notify(); !slices.Equal(got, []string{"tell"}) {
		t.Errorf("approved: %q", got)
	}
	if got := with(other, "").Notify(); got != nil {
		t.Errorf("changed since: %q", got)
	}
}
