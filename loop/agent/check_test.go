//go:build unix

package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

func runCheck(t *testing.T, command string) record.CheckResult {
	t.Helper()
	return RunCheck(t.Context(), runplan.Check{Name: "test", Command: command}, t.TempDir(), CheckEnviron(os.Environ()),
		"tree1")
}

func TestRunCheck(t *testing.T) {
	for _, tc := range []struct {
		command, output, reason string
		code                    int
	}{
		{"echo fine", "fine\n", "", 0},
		{"echo one; echo two >&2; echo three; exit 3", "one\ntwo\nthree\n", "", 3},
		{"exit 127", "", "", 127},
		{"kill -KILL $$", "", "signal:SIGKILL", -1},
		{"cat", "", "", 0},
		{`printf '\033[31mred\033[0m \377\n'`, "red \uFFFD\n", "", 0},
	} {
		r := runCheck(t, tc.command)
		if r.ExitCode != tc.code || r.Reason != tc.reason || r.Output != tc.output {
			t.Errorf("%q: %d %q %q", tc.command, r.ExitCode, r.Reason, r.Output)
		}
		if r.Name != "test" || r.Command != tc.command || r.Tree != "tree1" || r.OK() != (tc.code == 0) {
			t.Errorf("%q: %+v", tc.command, r)
		}
	}
}

func TestRunCheckUnknownCommand(t *testing.T) {
	for _, command := range []string{
		"no-such-command-here", "no-such-command-here . | cat", "A=1 B=x/y no-such-command-here",
		"cd . && no-such-command-here", "cd 'a b' && no-such-command-here -x",
	} {
		r := runCheck(t, command)
		if r.ExitCode != 127 || r.Reason != record.NotInstalled || r.NotRun != "no-such-command-here is not installed" ||
			r.OK() || r.Fails() {
			t.Errorf("%q: %+v", command, r)
		}
	}
	for _, command := range []string{
		"", "true", "test -e x", "if no-such; then :; fi", "! no-such", "(no-such)", "$TOOL x", "./no-such", "sub/no-such",
		"PATH=/none no-such", "A=$B no-such", `"no-such"`, "no-such;", "for i in a; do :; done",
	} {
		if r := runCheck(t, command); r.Reason == record.NotInstalled {
			t.Errorf("%q: %+v", command, r)
		}
	}
}

func TestRunCheckDir(t *testing.T) {
	dir := t.TempDir()
	r := RunCheck(t.Context(), runplan.Check{Command: "echo here > file"}, dir, CheckEnviron(os.Environ()), "")
	if !r.OK() || !fileExists(filepath.Join(dir, "file")) {
		t.Errorf("%+v", r)
	}
}

func TestRunCheckCapsOutput(t *testing.T) {
	r := runCheck(t,
		`echo first; i=0; while [ $i -lt 9000 ]; do echo "line $i of a long output, over and over"; i=$((i+1)); done; echo last`)
	if !strings.HasPrefix(r.Output, "first\n") || !strings.HasSuffix(r.Output, "last\n") ||
		!strings.Contains(r.Output, " bytes left out]\n") {
		t.Errorf("%d bytes: %.40q", len(r.Output), r.Output)
	}
	if len(r.Output) > checkOutput+100 || !r.OK() {
		t.Errorf("%d bytes, %d %q", len(r.Output), r.ExitCode, r.Reason)
	}
}

func TestRunCheckTimeout(t *testing.T) {
	t.Parallel()
	c := runplan.Check{Command: "echo begun; sleep 60", Timeout: duration.Duration(300 * time.Millisecond)}
	r := RunCheck(t.Context(), c, t.TempDir(), CheckEnviron(os.Environ()), "")
	if r.ExitCode != -1 || r.Reason != "timeout" || r.OK() || r.Duration <= 0 {
		t.Errorf("%+v", r)
	}
}

func TestRunCheckCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := RunCheck(ctx, runplan.Check{Command: "true"}, t.TempDir(), CheckEnviron(os.Environ()), "")
	if r.ExitCode != -1 || r.Reason != "cancelled" || r.OK() {
		t.Errorf("%+v", r)
	}
}

func TestRunCheckNotStarted(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct{ dir, path, reason, says string }{
		{filepath.Join(dir, "none"), os.Getenv("PATH"), "not_found", "none"},
		{dir, dir, "not_found", `"sh"`},
		{dir, ".:" + dir, "not_found", `"sh"`},
	} {
		r := RunCheck(t.Context(), runplan.Check{Command: "true"}, tc.dir, []string{"PATH=" + tc.path}, "")
		if r.ExitCode != -1 || r.Reason != tc.reason || r.OK() || !strings.Contains(r.Output, tc.says) {
			t.Errorf("%+v", r)
		}
	}
}
