package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"git-runr/loop"
)

const (
	defaultCheckTimeout = 10 * time.Minute
	checkOutput         = 64 << 10 // bytes of a check's output that are kept as evidence
)

// RunCheck runs c by sh -c in dir and returns what it left behind; tree is
// recorded as what it ran on. The exit code is the shell's own (127 for a
// command that it did not find). Reason is "" for a check that ended by itself,
// otherwise timeout, cancelled, signal:NAME, not_found (no sh, no dir) or
// not_started, and then Output ends with the cause.
func RunCheck(ctx context.Context, c loop.Check, dir string, env []string, tree string) loop.CheckResult {
	res, err := Run(ctx, Command{
		Args:      []string{"sh", "-c", c.Command},
		Dir:       dir,
		Env:       env,
		Timeout:   orDefault(time.Duration(c.Timeout), defaultCheckTimeout),
		MaxOutput: checkOutput,
		Merge:     true,
	})
	out := loop.CheckResult{Name: c.Name, Command: c.Command, Tree: tree, ExitCode: res.ExitCode}
	out.Output = plain(string(res.Stdout))
	out.Duration = loop.Duration(res.Duration)
	out.Reason = checkReason(res, err)
	if err != nil {
		out.ExitCode = -1
		out.Output += fmt.Sprintf("%v\n", err)
	}
	return out
}

func checkReason(res Result, err error) string {
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "not_found"
	case res.TimedOut:
		return "timeout"
	case res.Cancelled:
		return "cancelled"
	case err != nil:
		return "not_started"
	case res.Signal != "":
		return "signal:" + res.Signal
	}
	return ""
}
