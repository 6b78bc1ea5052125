package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// Sandboxes returns the programs that can keep a check from the network, the better one first.
func Sandboxes() []string { return []string{"bwrap", "unshare"} }

// RunConfined is RunCheck without network and with an empty, temporary home. With bwrap only that home and dir are
// writable, and the user's home is hidden except for the directories on PATH in it. With unshare the user's files
// stay reachable by path. If neither program works, the check does not run.
func RunConfined(ctx context.Context, c runplan.Check, dir string, env []string, tree string) record.CheckResult {
	notRun := record.CheckResult{Name: c.Name, Command: c.Command, Tree: tree, ExitCode: 127, Reason: record.NotInstalled,
		NotRun: "checks.sandbox is on, but here works none of " + strings.Join(Sandboxes(), ", ")}
	home, err := os.MkdirTemp("", "git-runr-home-")
	if err != nil {
		return notRun
	}
	defer os.RemoveAll(home)
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return notRun
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return notRun
	}
	for _, tool := range Sandboxes() {
		confined := func(command string) []string { return confine(tool, command, dir, home, env) }
		works, err := Run(ctx, Command{Args: confined("true"), Dir: dir, Env: env, Timeout: 10 * time.Second})
		if err == nil && works.ExitCode == 0 {
			return runArgs(ctx, c, confined(c.Command), dir, homeless(env, home), tree)
		}
	}
	return notRun
}

func confine(tool, command, dir, home string, env []string) []string {
	if tool == "unshare" { // the loopback is down in a new network namespace
		return []string{tool, "--user", "--map-root-user", "--net", "--", "sh", "-c",
			`ip link set lo up 2>/dev/null; exec sh -c "$1"`, "sh", command}
	}
	args := []string{tool, "--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/",
		"--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"}
	if was := lastValue(env, "HOME"); len(filepath.Clean(was)) > 1 && filepath.IsAbs(was) {
		args = append(args, "--tmpfs", was)
		for _, program := range filepath.SplitList(lastValue(env, "PATH")) {
			if strings.HasPrefix(program, was+"/") {
				args = append(args, "--ro-bind-try", program, program)
			}
		}
	}
	return append(args, "--bind", home, home, "--bind", dir, dir, "--chdir", dir, "--", "sh", "-c", command)
}

// homeless returns env with another home, and without variables that point into the user's.
func homeless(env []string, home string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "GOCACHE"}, name)
	})
	return append(env, "HOME="+home, "TMPDIR="+home)
}
