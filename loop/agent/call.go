package agent

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// CallOptions is how a call is watched.
type CallOptions struct {
	Transcript io.Writer         // what the agent writes, as it comes; nil: none
	OnLine     func(line string) // what it does now, in words; see Command.OnLine
	BaseEnv    []string          // what the environment is taken from; nil: os.Environ
}

// Call asks the agent of spec and waits for its answer. Exit codes of agents lie
// in both directions, so a good answer needs all of: exit status 0, no limit
// reached, a final message that is not empty, no error among its events. The
// error is for an agent that could not be started (ErrNotFound) or stopped.
func Call(ctx context.Context, spec Spec, role Role, model, dir, prompt string, opts CallOptions) (Answer, Result, error) {
	inv, err := spec.Invocation(role, model, dir)
	if err != nil {
		return Answer{}, Result{}, err
	}
	c := spec.command(inv, dir, opts)
	c.Stdin = strings.NewReader(prompt)
	res, err := Run(ctx, c)
	res.Usage.Calls = 1
	if inv.reader != nil {
		told := inv.reader.told()
		res.Edited = below(dir, told.edited())
		res.Usage = res.Usage.Add(told.taken)
	}
	if err != nil {
		return Answer{}, res, fmt.Errorf("agent %q: %w", spec.Name, err)
	}
	return judge(inv.read(res), res, c), res, nil
}

// Ready is why the agent of spec cannot be started, nil when it can: ErrNotFound for a
// program that is not there. Nothing is run.
func (s Spec) Ready(role Role, model string, base []string) error {
	inv, err := s.Invocation(role, model, "")
	if err != nil {
		return err
	}
	if _, err = lookup(inv.Args, Environ(base, nil)); err != nil {
		return fmt.Errorf("agent %q: %w", s.Name, err)
	}
	return nil
}

func (s Spec) command(inv Invocation, dir string, opts CallOptions) Command {
	base := opts.BaseEnv
	if base == nil {
		base = os.Environ()
	}
	c := Command{
		Args:       inv.Args,
		Dir:        dir,
		Env:        slices.Concat(Environ(base, slices.Concat(s.Env, inv.PassEnv)), inv.ExtraEnv),
		Timeout:    cmp.Or(s.Timeout, DefaultTimeout),
		Idle:       s.Idle,
		Transcript: opts.Transcript,
		OnLine:     opts.OnLine,
	}
	if inv.reader != nil {
		c.Idle = cmp.Or(s.Idle, DefaultIdle)
		c.event = inv.reader.event
	}
	return c
}

// read takes the answer from the events, or from standard output as it is.
func (inv Invocation) read(res Result) Answer {
	if inv.reader != nil {
		return inv.reader.answer()
	}
	text := plain(string(res.Stdout))
	switch {
	case res.cutStdout:
		return Answer{Problem: ProblemAgentError, Detail: fmt.Sprintf("the answer is longer than %d bytes", defaultMaxOutput)}
	case blank(text):
		return Answer{Problem: ProblemEmptyOutput, Detail: lastLines(res.Stderr)}
	}
	return Answer{Text: trimAnswer(text)}
}

// judge lets how the command ended overrule what it said.
func judge(said Answer, res Result, c Command) Answer {
	cause := ""
	if said.Problem == ProblemAgentError {
		cause = said.Detail
	}
	last := cmp.Or(cause, lastWords(res, c))
	switch {
	case res.Cancelled:
		return Answer{Problem: ProblemCancelled, Detail: cause}
	case res.TimedOut:
		return Answer{Problem: ProblemTimeout, Detail: join("no answer within "+c.Timeout.String(), last)}
	case res.Idled:
		return Answer{Problem: ProblemIdle, Detail: join("no output for "+c.Idle.String(), last)}
	case res.Signal != "":
		return Answer{Problem: ProblemKilled, Detail: join(res.Signal, last)}
	case res.ExitCode != 0 && cause != "":
		return Answer{Problem: ProblemAgentError, Detail: join(fmt.Sprintf("exit status %d", res.ExitCode), cause)}
	case res.ExitCode != 0:
		return Answer{Problem: ProblemExitStatus, Detail: join(fmt.Sprintf("exit status %d", res.ExitCode), last)}
	}
	return said
}

func join(what, cause string) string {
	if cause == "" {
		return what
	}
	return what + ": " + cause
}

// lastWords are what a command that failed wrote last: to standard error, else to
// standard output, without the events of a preset.
func lastWords(res Result, c Command) string {
	if words := lastLines(res.Stderr); words != "" || c.event == nil {
		return cmp.Or(words, lastLines(res.Stdout))
	}
	var talk []byte
	for line := range bytes.Lines(res.Stdout) {
		if !bytes.HasPrefix(line, []byte("{")) {
			talk = append(talk, line...)
		}
	}
	return lastLines(talk)
}

// lastLines is the end of a stream on one line.
func lastLines(stream []byte) string {
	const most = 3
	var last []string
	for line := range bytes.Lines(stream) {
		if text := visible(string(line)); text != "" {
			last = append(last, text)
		}
	}
	return excerpt(strings.Join(last[max(0, len(last)-most):], "; "))
}
