package main

import (
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/loop/duration"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

func (p *program) inboxClaimCommand() *cli.Command {
	return &cli.Command{
		Name: "claim", Usage: "take a submitted review to address it, so that nobody else does", ArgsUsage: "ID… | --all",
		Description: "Whoever claims first has it until it is released, resolved, or its lease runs out; claiming again\nrenews the lease. Exit status 12: somebody else has it. You are told apart by terminal; in a program\nset GIT_RUNR_ACTOR or use --as. --all claims every submitted review that the filters fit.",
		Flags: append([]cli.Flag{
			asFlag(), &cli.StringFlag{Name: "lease", Usage: "let others take over after `DURATION`, such as 2h (default: never)"}, forceFlag(),
			&cli.BoolFlag{Name: "local", Usage: "do not ask the remote, which decides between clones"},
		}, eachFlags()...),
		Action: p.action(inboxClaim),
	}
}

func inboxClaim(s *session) error {
	lease := duration.Duration(0)
	if text := s.String("lease"); s.IsSet("lease") {
		if err := lease.UnmarshalText([]byte(text)); err != nil || lease <= 0 || time.Duration(lease) > record.MaxLease {
			return exit.Problemf(exit.Usage, "--lease %q is no duration such as 30m, 2h or 1d", text)
		}
	}
	claim := func(store *record.Store, id, actor string) (record.Review, error) {
		return s.claim(store, id, record.Hold{Actor: actor, Lease: time.Duration(lease), Force: s.Bool("force")})
	}
	return s.actEach(inboxStep{"submitted", "Claim", claim, func(w io.Writer, done actorDone) {
		safetext.Fprintf(w, "Claimed %s as %s%s.\n", done.ID, done.Actor, render.Until(done.Claim))
		safetext.Fprintf(w, "  git runr show %s\n", done.ID)
		if done.Resolve != "" {
			safetext.Fprintf(w, "  %s\n", done.Resolve)
		}
	}})
}
