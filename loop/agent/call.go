package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/git-runr/git-runr/loop/spend"
)

// CallOptions says how a call is observed.
type CallOptions struct {
	Transcript io.Writer         // receives what the agent writes, as it arrives; nil: none
	OnLine     func(line string) // receives what the agent is doing; see Command.OnLine
	// Cache is the directory that keeps the options in tools' help texts. By them a call checks that the tool still has
	// the options that restrict it; "" skips that check.
	Cache string
}

// Call asks the agent of spec and waits for its answer. Exit codes of agents are wrong in
// both directions, so a good answer requires all of: exit status 0, no limit reached, a
// final message that is not empty, and no error among its events. The error is for an
// agent that could not be started (ErrNotFound) or stopped.
func Call(ctx context.Context, spec Spec, ask Ask, opts CallOptions) (Answer, Result, error) {
	if ask.Base == nil {
		ask.Base = os.Environ()
	}
	inv, err := spec.Invocation(ask)
	if err != nil {
		return Answer{}, Result{}, err
	}
	said, res, err := spec.call(ctx, inv, ask, opts)
	if err != nil {
		return Answer{}, res, fmt.Errorf("agent %q: %w", spec.Name, err)
	}
	return said, res, nil
}

func (s Spec) call(ctx context.Context, inv Invocation, ask Ask, opts CallOptions) (_ Answer, _ Result, err error) {
	c := s.command(inv, ask, opts)
	if err := inv.known(ctx, c, opts.Cache); err != nil {
		return Answer{}, Result{}, err
	}
	back, err := inv.preset.clear(ask)
	if err != nil {
		return Answer{}, Result{}, err
	}
	defer func() { err = errors.Join(err, back()) }()
	d, err := deliver(c.Args, ask.Prompt)
	if err != nil {
		return Answer{}, Result{}, err
	}
	defer d.close()
	c.Args, c.Stdin = d.args, d.stdin
	if c.talk != nil {
		c.Stdin = nil
	}
	res, err := Run(ctx, c)
	res.Usage.Calls = 1
	if inv.reader != nil {
		told := inv.reader.told()
		res.Edited = below(ask.Dir, told.edited())
		if told.id != "" {
			res.Session = spend.Session{ID: told.id, Taken: told.taken}
		}
		taken := told.taken
		if inv.resumed && told.id == ask.Session.ID {
			taken = inv.preset.Sums.since(taken, ask.Session.Taken)
		}
		res.Usage = res.Usage.Add(taken)
	}
	if err != nil {
		return Answer{}, res, err
	}
	res.Usage = res.Usage.Add(s.Own.usage(res.Stdout))
	said := inv.judge(res, c, ask.Prompt, s.Own)
	if inv.reader != nil && inv.reader.told().fail != "" {
		said.Again = inv.reader.told().again
	}
	if said.Problem != "" && authWords().MatchString(said.Detail) { // an authentication error
		said.Detail += notPassed(presetCalled(s.preset()), s.Name, ask.Base, c.Env)
	}
	return said, res, nil
}

// Ready returns why the agent of spec cannot be started, nil when it can: ErrNotFound if
// its program is missing. It runs nothing.
func (s Spec) Ready(role Role, model string, base []string) error {
	find := func(args ...string) error {
		if _, err := lookup(args, Environ(base, nil)); err != nil {
			return fmt.Errorf("agent %q: %w", s.Name, err)
		}
		return nil
	}
	plain := len(s.Command) == 0 && s.Protocol == ""
	if name := s.preset(); plain && slices.Contains(Presets(), name) { // reading the preset takes longer
		if err := find(name); err != nil {
			return err
		}
	}
	inv, err := s.Invocation(Ask{Role: role, Model: model, Base: base})
	if err != nil {
		return err
	}
	return find(inv.Args...)
}

func (s Spec) command(inv Invocation, ask Ask, opts CallOptions) Command {
	c := Command{
		Args:       inv.Args,
		Dir:        ask.Dir,
		Env:        slices.Concat(Environ(ask.Base, slices.Concat(s.Env, inv.PassEnv)), inv.ExtraEnv),
		Timeout:    cmp.Or(s.Timeout, DefaultTimeout),
		Idle:       s.Idle,
		Transcript: opts.Transcript,
		OnLine:     opts.OnLine,
		Alone:      true,
	}
	if inv.reader != nil {
		c.Idle = cmp.Or(s.Idle, DefaultIdle)
		c.event = inv.reader.event
		c.stuck = func() bool { return inv.reader.told().fail != "" }
		c.vain = func() bool { return inv.reader.told().turnedAway > 1 }
	}
	if talks, ok := inv.reader.(talker); ok {
		c.talk, c.stuck = talks, nil
	}
	return c
}

// read returns the answer from the events, or standard output if there is no reader.
func (inv Invocation) read(res Result, prompt string, own Own) Answer {
	if inv.reader != nil {
		return inv.reader.answer()
	}
	text := plain(string(res.Stdout))
	switch {
	case res.cutStdout:
		return Answer{Problem: ProblemAgentError, Detail: fmt.Sprintf("the answer is longer than %d bytes", defaultMaxOutput)}
	case own.Answer != "":
		return own.answer(res.Stdout)
	case blank(text):
		return Answer{Problem: ProblemEmptyOutput, Detail: lastLines(res.Stderr, prompt)}
	}
	return Answer{Text: trimAnswer(text)}
}

// judge combines the answer with how the command ended, which takes precedence. For a stopped
// command it adds the trouble reported until then, which may be the cause.
func (inv Invocation) judge(res Result, c Command, prompt string, own Own) Answer {
	said := inv.read(res, prompt, own)
	cause, waiting := "", ""
	if inv.reader != nil {
		cause, waiting = inv.reader.told().trouble(), inv.reader.told().waiting()
	} else if said.Problem == ProblemAgentError {
		cause = said.Detail
	}
	last := cmp.Or(cause, lastWords(res, c, prompt), waiting)
	switch {
	case res.Cancelled:
		return Answer{Problem: ProblemCancelled, Detail: cause}
	case res.vain:
		return Answer{Problem: ProblemAgentError, Detail: cause + "; it was still retrying"}
	case res.TimedOut:
		return Answer{Problem: ProblemTimeout, Detail: join("no answer within "+c.Timeout.String(), last)}
	case res.Idled:
		return Answer{Problem: ProblemIdle, Detail: join("no output for "+c.Idle.String(), last)}
	case res.Signal != "":
		return Answer{Problem: ProblemKilled, Detail: join(res.Signal, last)}
	case res.ExitCode != 0 && said.Problem == ProblemAgentError && waiting == "":
		return Answer{Problem: ProblemAgentError, Detail: join(fmt.Sprintf("exit status %d", res.ExitCode), said.Detail)}
	case res.ExitCode != 0:
		return Answer{Problem: ProblemExitStatus, Detail: join(fmt.Sprintf("exit status %d", res.ExitCode), last)}
	case said.Detail == waiting && waiting != "":
		return Answer{Problem: said.Problem, Detail: join("it ended and did not answer "+inv.reader.told().waits,
			lastWords(res, c, prompt))}
	}
	return said
}

func join(what, cause string) string {
	if cause == "" {
		return what
	}
	return what + ": " + cause
}
