package exit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

func TestReport(t *testing.T) {
	_, noFile := os.Open("no/such/file")
	claimed := Problemf(Claimed, "review %s is claimed by %q", "r1", "ann").
		WithHint("git runr inbox release r1 --as ann")
	tests := []struct {
		name   string
		err    error
		status Status
		text   string
	}{
		{"nothing", nil, 0, ""},
		{"problem with hint", claimed, 12,
			"git-runr: review r1 is claimed by \"ann\"\n  git runr inbox release r1 --as ann\n"},
		{"wrapped problem keeps its hint", fmt.Errorf("resolve: %w", claimed), 12,
			"git-runr: resolve: review r1 is claimed by \"ann\"\n  git runr inbox release r1 --as ann\n"},
		{"silent", With(NotPassed), 1, ""},
		{"silent, wrapped", fmt.Errorf("review: %w", With(Nothing)), 5, ""},
		{"interrupt", fmt.Errorf("git fetch: %w", context.Canceled), 130, "git-runr: interrupted\n"},
		{"a problem beats its cause", Problemf(Stopped, "stopped: %w", context.Canceled), 4,
			"git-runr: stopped: context canceled\n"},
		{"deadline", fmt.Errorf("git fetch: %w", context.DeadlineExceeded), 75,
			"git-runr: git fetch: context deadline exceeded\n"},
		{"unforeseen", errors.New("odd"), 70, "git-runr: odd\n  " + bugHint + "\n"},
		{"operating system", noFile, 70, "git-runr: open no/such/file: no such file or directory\n"},
		{"permission", &os.PathError{Op: "open", Path: "x", Err: os.ErrPermission}, 11,
			"git-runr: open x: permission denied\n  change the permissions of x, then the same command again\n"},
		{"permission to remove", &os.PathError{Op: "remove", Path: "d/x", Err: os.ErrPermission}, 11,
			"git-runr: remove d/x: permission denied\n  change the permissions of d, then the same command again\n"},
		{"permission at the top", &os.PathError{Op: "mkdir", Path: "/no-such/place", Err: os.ErrPermission}, 11,
			"git-runr: mkdir /no-such/place: permission denied\n" +
				"  choose another place than /no-such, or have it made for you, then the same command again\n"},
		{"a lock that may be anybody's", fmt.Errorf("land: %w", &gitstore.LockedError{Path: "/r 1/.git/index.lock"}), 75,
			"git-runr: land: busy: \"/r 1/.git/index.lock\" exists: another git process is at work, or was killed\n" +
				"  when no git is running there:\n    rm \"/r 1/.git/index.lock\"\n"},
		{"a lock on a remote", &gitstore.RemoteLockError{Remote: "origin", Ref: "refs/runr/log/a",
			Path: "/srv/r.git/refs/runr/log/a.lock"}, 75,
			"git-runr: push refs/runr/log/a to \"origin\": \"/srv/r.git/refs/runr/log/a.lock\" exists: another push is under " +
				"way, or was killed\n" +
				"  when no git is running there, on the machine of the remote:\n    rm /srv/r.git/refs/runr/log/a.lock\n"},
		{"a lock that git found", &gitstore.GitError{Args: []string{"worktree"}, Status: 128,
			Stderr: "fatal: cannot lock ref 'refs/heads/x': Unable to create '/r/.git/refs/heads/x.lock': File exists.\n"}, 75,
			"git-runr: git worktree: fatal: cannot lock ref 'refs/heads/x': Unable to create '/r/.git/refs/heads/x.lock': " +
				"File exists.\n" +
				"  when no git is running there:\n    rm /r/.git/refs/heads/x.lock\n"},
		{"held by another", fmt.Errorf("claim: %w", &record.StateError{What: "review r1", Status: "claimed", Holder: "ann",
			Cannot: "claimed"}), 12,
			"git-runr: claim: review r1 is claimed by ann\n"},
		{"state in the way", &record.StateError{What: "review r1", Status: "resolved", Cannot: "claimed"}, 11,
			"git-runr: review r1 is resolved and cannot be claimed\n  git runr inbox reopen r1\n"},
		{"joined errors", fmt.Errorf("a: %w", errors.Join(errors.New("b"), Problemf(State, "c: %w",
			fmt.Errorf("d, %w", errors.Join(errors.New("e"), errors.New("f")))))), 11, "git-runr: a: b; c: d, e; f\n"},
		{"foreign text", Problemf(NotFound, "no run %q: %s", "a\x1b[31m", "b\x1b[2K\nc"), 10,
			`git-runr: no run "a\x1b[31m": b\x1b[2K c` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status := Report(tt.err, &stdout, &stderr, false)
			if status != int(tt.status) || stderr.String() != tt.text || stdout.Len() > 0 {
				t.Errorf("status %d, want %d; stderr %q, want %q; stdout %q", status, tt.status, stderr.String(), tt.text,
					stdout.String())
			}
		})
	}
}

func TestReportJSON(t *testing.T) {
	var stdout, stderr bytes.Buffer
	err := Problemf(Untrusted, "not <trusted>").WithHint("git runr trust --show")
	if status := Report(err, &stdout, &stderr, true); status != 20 {
		t.Errorf("status %d", status)
	}
	want := `{"v":1,"error":{"status":20,"message":"not <trusted>","hint":["git runr trust --show"]}}` + "\n"
	if stdout.String() != want || stderr.Len() > 0 {
		t.Errorf("stdout %q, want %q; stderr %q", stdout.String(), want, stderr.String())
	}
}

func TestReportJSONHintIsNeverNull(t *testing.T) {
	var stdout bytes.Buffer
	Report(Problemf(Busy, "x"), &stdout, &stdout, true)
	var out map[string]map[string]any
	json.Unmarshal(bytes.Replace(stdout.Bytes(), []byte(`"v":1,`), nil, 1), &out)
	if hint, ok := out["error"]["hint"].([]any); !ok || len(hint) != 0 {
		t.Errorf("hint is %v in %s", out["error"]["hint"], stdout.String())
	}
}

func TestReportJSONSilent(t *testing.T) {
	var stdout bytes.Buffer
	if status := Report(With(NotPassed), &stdout, &stdout, true); status != 1 || stdout.Len() > 0 {
		t.Errorf("status %d, output %q", status, stdout.String())
	}
}

func TestProblemIs(t *testing.T) {
	cause := errors.New("cause")
	if err := Problemf(State, "do it: %w", cause); !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
}

func TestExitStatusHelpNamesEveryStatus(t *testing.T) {
	help := Help()
	for _, want := range []string{"   0  done", "   5  there was nothing", "  75  busy, try again\n",
		" 130  interrupted\n"} {
		if !strings.Contains(help, want) {
			t.Errorf("%q is not in\n%s", want, help)
		}
	}
	for _, s := range sentinels {
		if !strings.Contains(help, fmt.Sprintf("%4d  ", s.status)) {
			t.Errorf("status %d of %v is not in the table", s.status, s.is)
		}
	}
}
