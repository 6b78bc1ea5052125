package main

import (
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
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
	claim := func(store *store.Store, id, actor string) (record.Review, error) {
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

func (p *program) inboxReleaseCommand() *cli.Command {
	return &cli.Command{
		Name: "release", Usage: "give a claim back", ArgsUsage: "ID", Flags: []cli.Flag{asFlag(), claimFlag(), forceFlag()},
		Action: p.action(func(s *session) error {
			return s.act(func(store *store.Store, id, actor string) (record.Review, error) {
				return s.steps(store).Release(s.ctx, id, s.hold(actor))
			}, func(w io.Writer, done actorDone) { safetext.Fprintf(w, "Released %s.\n", done.ID) })
		}),
	}
}

func (p *program) inboxResolveCommand() *cli.Command {
	return &cli.Command{
		Name: "resolve", Usage: "close a review that is dealt with", ArgsUsage: "ID… | --all",
		Description: "--all resolves what was submitted or claimed, as far as the filters fit, such as\ngit runr inbox resolve --all --verdict pass_with_notes --since 7d. A line for each; the exit\nstatus is the worst.",
		Flags:       append([]cli.Flag{&cli.StringFlag{Name: "m", Usage: "what became of it; - reads standard input"}, asFlag(), claimFlag(), forceFlag()}, eachFlags()...),
		Action: p.action(func(s *session) error {
			note, err := s.message(false)
			if err != nil {
				return err
			}
			resolve := func(store *store.Store, id, actor string) (record.Review, error) {
				return s.steps(store).Resolve(s.ctx, id, s.hold(actor), note)
			}
			return s.actEach(inboxStep{"inbox", "Resolve", resolve, func(w io.Writer, done actorDone) {
				safetext.Fprintf(w, "Resolved %s.\n", done.ID)
				if done.Open > 0 {
					safetext.Fprintf(w, "%s still open.\n", prose.Count(done.Open, "finding"))
				}
			}})
		}),
	}
}

func (p *program) inboxCancelCommand() *cli.Command {
	return &cli.Command{
		Name: "cancel", Usage: "withdraw a request that nobody has answered", ArgsUsage: "ID… | --all",
		Description: "--all withdraws every open request that the filters fit.",
		Flags:       append([]cli.Flag{&cli.StringFlag{Name: "m", Usage: "why; - reads standard input"}, asFlag()}, eachFlags()...),
		Action: p.action(func(s *session) error {
			note, err := s.message(false)
			if err != nil {
				return err
			}
			cancel := func(store *store.Store, id, actor string) (record.Review, error) {
				return store.CancelReview(s.ctx, id, actor, note)
			}
			return s.actEach(inboxStep{"open", "Cancel", cancel, func(w io.Writer, done actorDone) { safetext.Fprintf(w, "Cancelled %s.\n", done.ID) }})
		}),
	}
}

func (p *program) inboxReopenCommand() *cli.Command {
	return &cli.Command{
		Name: "reopen", Usage: "take a resolution or a cancellation back", ArgsUsage: "ID", Flags: []cli.Flag{asFlag()},
		Action: p.action(func(s *session) error {
			return s.act(func(store *store.Store, id, actor string) (record.Review, error) {
				return s.steps(store).Reopen(s.ctx, id, actor)
			}, func(w io.Writer, done actorDone) {
				safetext.Fprintf(w, "Reopened %s: it is %s.\n", done.ID, done.Status)
			})
		}),
	}
}
