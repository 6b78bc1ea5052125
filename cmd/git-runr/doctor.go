package main

import (
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/checkup"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/loop/safetext"
)

func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "check git, hooks, agents and the remote; say what to type",
		Description: "One line for each: ok, warn (something does not work, or will not) or fail (it cannot do its work),\n" +
			"and what to type. No agent is called. The remote is asked what it has and whether it would take a push, which\n" +
			"is not carried out and takes 15 s at most; --offline leaves that out. Nothing is changed.\n" +
			"Exit status: 1 where a line says fail.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "offline", Usage: "do not ask the remote"}},
		Action: p.action(doctor),
	}
}

type doctorJSON struct {
	OK     bool             `json:"ok"` // no line says fail
	Checks []checkup.Result `json:"checks"`
}

func doctor(s *session) error {
	if err := s.noArguments(); err != nil {
		return err
	}
	s.quiet = true // what configuration says by itself is a line below
	store, err := s.open()
	if err != nil {
		return err
	}
	conf, unread := s.configuration(store)
	checks := checkup.Of(s.ctx, store, conf, unread, checkup.Terms{Version: buildNow().Name(), Now: s.now(), Offline: s.Bool("offline")})
	ok := !slices.ContainsFunc(checks, func(c checkup.Result) bool { return c.State == checkup.Fail })
	err = s.print(doctorJSON{ok, checks}, func(w io.Writer) { writeDoctor(w, checks) })
	if err == nil && !ok {
		return exit.With(exit.NotPassed)
	}
	return err
}

func writeDoctor(w io.Writer, checks []checkup.Result) {
	meaning := map[string]screen.Meaning{checkup.OK: screen.Good, checkup.Warn: screen.Warning, checkup.Fail: screen.Critical}
	for _, check := range checks {
		safetext.Fprintf(w, "%s%s%-14s %s\n", meaning[check.State].Of(check.State), safetext.Block(strings.Repeat(" ", 6-len(check.State))), check.Name, check.Detail)
		for _, command := range check.Type {
			safetext.Fprintf(w, "      %s\n", command)
		}
	}
}
