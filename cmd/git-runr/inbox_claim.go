package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"git-runr/gitstore"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// person is who comments and submits here: --as, GIT_RUNR_ACTOR, or git's identity.
// It is the same in every terminal, as drafts are.
func (s *session) person() (string, error) {
	if s.IsSet("as") {
		return s.String("as"), nil
	}
	if name := s.getenv("GIT_RUNR_ACTOR"); name != "" {
		return name, nil
	}
	if _, err := s.open(); err != nil {
		return "", err
	}
	id, err := s.repo.Identity(s.ctx)
	return strings.TrimSpace(safetext.Line(id.String())), err
}

// actor is who claims here: person, and the terminal or chat that it acts in, so
// that two chats of one person are two.
func (s *session) actor() (string, error) {
	name, err := s.person()
	if err != nil || s.IsSet("as") || s.getenv("GIT_RUNR_ACTOR") != "" {
		return name, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	session, err := unix.Getsid(0)
	if err != nil {
		session = os.Getpid()
	}
	return fmt.Sprintf("%s (%s %d)", name, safetext.Line(host), session), nil
}

func forceFlag() cli.Flag {
	return &cli.BoolFlag{Name: "force", Usage: "although somebody else has claimed it"}
}

func claimFlag() cli.Flag {
	return &cli.StringFlag{Name: "claim", Usage: "only while the claim `ID` stands, which claim --json gives: the first 7 digits will do"}
}

// hold is by whom a step is done, by the flags.
func (s *session) hold(actor string) record.Hold {
	return record.Hold{Actor: actor, Force: s.Bool("force"), Claim: gitstore.ID(s.String("claim"))}
}

func (p *program) inboxClaimCommand() *cli.Command {
	return &cli.Command{
		Name: "claim", Usage: "take a submitted review to address it, so that nobody else does", ArgsUsage: "ID",
		Description: "Whoever claims first has it until it is released, resolved, or its lease runs out; claiming again\nrenews the lease. Exit status 12: somebody else has it. You are told apart by terminal; in a program\nset GIT_RUNR_ACTOR or use --as.",
		Flags: []cli.Flag{
			asFlag(), &cli.StringFlag{Name: "lease", Usage: "let others take over after `DURATION`, such as 2h (default: never)"}, forceFlag(),
			&cli.BoolFlag{Name: "local", Usage: "do not ask the remote, which decides between clones"},
		},
		Action: p.action(inboxClaim),
	}
}

// actorDone is the answer of claim, release, resolve, cancel, reopen and answer.
type actorDone struct {
	ID      string              `json:"review_id"`
	Status  record.ReviewStatus `json:"status"`
	Actor   string              `json:"actor"`
	Claim   *record.Claim       `json:"claim,omitempty"`
	Resolve string              `json:"resolve_with,omitempty"` // the line that resolves what was claimed
	Answer  *record.Answer      `json:"answer,omitempty"`
	Open    int                 `json:"unanswered"`       // findings and comments without an answer
	Drafts  []record.KeptDraft  `json:"drafts,omitempty"` // of a review that is closed now
}

func inboxClaim(s *session) error {
	lease := record.Duration(0)
	if text := s.String("lease"); s.IsSet("lease") {
		if err := lease.UnmarshalText([]byte(text)); err != nil || lease <= 0 || time.Duration(lease) > record.MaxLease {
			return problemf(exitUsage, "--lease %q is no duration such as 30m, 2h or 1d", text)
		}
	}
	return s.act(func(store *record.Store, id, actor string) (record.Review, error) {
		return s.claim(store, id, record.Hold{Actor: actor, Lease: time.Duration(lease), Force: s.Bool("force")})
	}, func(w io.Writer, done actorDone) {
		until := ""
		if !done.Claim.Until.IsZero() {
			until = " until " + shortTime(done.Claim.Until)
		}
		fmt.Fprintf(w, "Claimed %s as %s%s.\n", done.ID, safetext.Line(done.Actor), until)
		fmt.Fprintf(w, "  git runr inbox get %s\n", done.ID)
		if done.Resolve != "" {
			fmt.Fprintf(w, "  %s\n", done.Resolve)
		}
	})
}

// claim claims a review on the remote that is synced with, and here.
func (s *session) claim(store *record.Store, id string, by record.Hold) (record.Review, error) {
	review, provisional, err := s.decideClaim(s.ctx, store, id, by)
	if provisional != "" {
		s.say("claimed in this clone only, for now: %s", provisional)
	}
	return review, err
}

// decideClaim claims a review where clones decide it; provisional says why the claim
// counts in this clone only.
func (s *session) decideClaim(ctx context.Context, store *record.Store, id string, by record.Hold) (review record.Review, provisional string, err error) {
	if remote := s.sharedRemote(); remote != "" {
		return store.ClaimShared(ctx, remote, id, by)
	}
	review, err = store.ClaimReview(ctx, id, by)
	return review, "", err
}

// sharedRemote is the remote where clones decide who has a review: one that was
// synced with. "" where there is none, or it is not to be asked.
func (s *session) sharedRemote() string {
	if s.Bool("local") || len(s.repo.Remotes()) == 0 {
		return ""
	}
	_, conf, err := s.configured()
	if err != nil {
		return ""
	}
	remote, err := s.repo.ElectRemote(conf.Sync.Remote)
	if err != nil {
		return ""
	}
	synced, err := s.repo.Refs(s.ctx, "refs/runr-remotes/"+remote+"/")
	if err != nil || len(synced) == 0 {
		return ""
	}
	return remote
}

// heldElsewhere refuses a step on a review that somebody else has where clones decide it;
// ask says whether the remote is to be asked, or what it said last will do.
func (s *session) heldElsewhere(ctx context.Context, store *record.Store, id string, by record.Hold, ask bool) (record.Review, error) {
	remote := s.sharedRemote()
	if remote == "" {
		return record.Review{}, nil
	}
	return store.CheckShared(ctx, remote, id, by, ask)
}

// unshare gives the claim on the remote back. Where that fails it lapses, or the
// next one who claims forces it.
func (s *session) unshare(store *record.Store, review record.Review, by record.Hold) {
	remote := s.sharedRemote()
	if remote == "" {
		return
	}
	if err := store.DropShared(s.ctx, remote, review.ID, by); err != nil {
		s.say("the claim stays on %s for now: %v", remote, err)
	}
}

func (p *program) inboxReleaseCommand() *cli.Command {
	return &cli.Command{
		Name: "release", Usage: "give a claim back", ArgsUsage: "ID", Flags: []cli.Flag{asFlag(), claimFlag(), forceFlag()},
		Action: p.action(func(s *session) error {
			return s.act(func(store *record.Store, id, actor string) (record.Review, error) {
				by := s.hold(actor)
				if review, err := s.heldElsewhere(s.ctx, store, id, by, true); err != nil {
					return review, err
				}
				review, err := store.ReleaseReview(s.ctx, id, by)
				if err == nil {
					s.unshare(store, review, by)
				}
				return review, err
			}, func(w io.Writer, done actorDone) { fmt.Fprintf(w, "Released %s.\n", done.ID) })
		}),
	}
}

func (p *program) inboxResolveCommand() *cli.Command {
	return &cli.Command{
		Name: "resolve", Usage: "close a review that is dealt with", ArgsUsage: "ID",
		Flags: []cli.Flag{&cli.StringFlag{Name: "m", Usage: "what became of it; - reads standard input"}, asFlag(), claimFlag(), forceFlag()},
		Action: p.action(func(s *session) error {
			note, err := s.message(false)
			if err != nil {
				return err
			}
			return s.act(func(store *record.Store, id, actor string) (record.Review, error) {
				by := s.hold(actor)
				if review, err := s.heldElsewhere(s.ctx, store, id, by, true); err != nil {
					return review, err
				}
				review, err := store.ResolveReview(s.ctx, id, by, note)
				if err == nil {
					s.unshare(store, review, by)
					s.project(store)
				}
				return review, err
			}, func(w io.Writer, done actorDone) {
				fmt.Fprintf(w, "Resolved %s.\n", done.ID)
				if done.Open > 0 {
					fmt.Fprintf(w, "%s without an answer.\n", prose.Count(done.Open, "finding"))
				}
			})
		}),
	}
}

func (p *program) inboxCancelCommand() *cli.Command {
	return &cli.Command{
		Name: "cancel", Usage: "withdraw a request that nobody has answered", ArgsUsage: "ID",
		Flags: []cli.Flag{&cli.StringFlag{Name: "m", Usage: "why; - reads standard input"}, asFlag()},
		Action: p.action(func(s *session) error {
			note, err := s.message(false)
			if err != nil {
				return err
			}
			return s.act(func(store *record.Store, id, actor string) (record.Review, error) {
				return store.CancelReview(s.ctx, id, actor, note)
			}, func(w io.Writer, done actorDone) { fmt.Fprintf(w, "Cancelled %s.\n", done.ID) })
		}),
	}
}

func (p *program) inboxReopenCommand() *cli.Command {
	return &cli.Command{
		Name: "reopen", Usage: "take a resolution or a cancellation back", ArgsUsage: "ID", Flags: []cli.Flag{asFlag()},
		Action: p.action(func(s *session) error {
			return s.act(func(store *record.Store, id, actor string) (record.Review, error) {
				review, err := store.ReopenReview(s.ctx, id, actor)
				if err == nil {
					s.project(store)
				}
				return review, err
			}, func(w io.Writer, done actorDone) {
				fmt.Fprintf(w, "Reopened %s: it is %s.\n", done.ID, done.Status)
			})
		}),
	}
}

// act does something with the review that the only argument names, as this actor.
func (s *session) act(do func(store *record.Store, id, actor string) (record.Review, error), show func(io.Writer, actorDone)) error {
	id, err := s.oneID(0, "a review is wanted")
	if err != nil {
		return err
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	actor, err := s.actor()
	if err != nil {
		return err
	}
	review, err := do(store, id, actor)
	if err != nil {
		return s.claimedHint(err, review)
	}
	return s.showAct(review, actor, nil, show)
}

func (s *session) showAct(review record.Review, actor string, answer *record.Answer, show func(io.Writer, actorDone)) error {
	done := actorDone{ID: review.ID, Status: review.Status, Actor: actor, Claim: review.Claim, Answer: answer, Open: unanswered(review)}
	if review.Status == record.ReviewClaim && review.Claim.By == actor {
		done.Resolve, _ = safetext.CommandLine("git", "runr", "inbox", "resolve", review.ID, "--as", actor, "--claim", fmt.Sprintf("%.12s", review.Claim.ID))
	}
	me, _ := s.person()
	var err error
	if done.Drafts, err = s.store.KeptDrafts(review, me); err != nil {
		s.say("%v", err) // it is closed already: this is no failure of that
	}
	return s.print(done, func(w io.Writer) {
		show(w, done)
		writeDrafts(w, done)
	})
}

func writeDrafts(w io.Writer, done actorDone) {
	for _, d := range done.Drafts {
		fmt.Fprintf(w, "%s:\n", d.Words())
		if d.List != "" {
			fmt.Fprintf(w, "  %s\n", d.List)
		}
	}
	if len(done.Drafts) > 0 {
		fmt.Fprintf(w, "  git runr inbox reopen %s   and then it can be submitted\n", done.ID)
	}
}

// unanswered counts the findings and comments of a review without an answer.
func unanswered(review record.Review) int {
	open := 0
	for _, f := range review.Findings() {
		if _, ok := review.AnswerTo(f.ID); !ok {
			open++
		}
	}
	return open
}

// claimedHint says how to get past a claim of somebody else's.
func (s *session) claimedHint(err error, review record.Review) error {
	var state *record.StateError
	if !errors.As(err, &state) || state.Holder == "" {
		return err
	}
	claimed := problemf(exitClaimed, "%w", err)
	if review.Claim != nil && !review.Claim.Until.IsZero() {
		claimed = claimed.withHint("until " + shortTime(review.Claim.Until))
	}
	return claimed.withHint(fmt.Sprintf("git runr inbox %s %s --force   although it is somebody else's", s.Command.Name, review.ID))
}

func (p *program) inboxAnswerCommand() *cli.Command {
	return &cli.Command{
		Name: "answer", Usage: "say what became of one finding or comment", ArgsUsage: "ID FINDING fixed|refuted|deferred",
		Description: "fixed wants --commit REV, refuted wants the reason (-m). The ids are in git runr inbox get ID.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "commit", Usage: "the commit `REV` that fixed it"},
			&cli.StringFlag{Name: "m", Usage: "the reason; - reads standard input"}, asFlag(), forceFlag(),
		},
		Action: p.action(inboxAnswer),
	}
}

func inboxAnswer(s *session) error {
	if s.NArg() != 3 {
		return problemf(exitUsage, "a review, a finding and an answer are wanted").withHint("git runr inbox answer ID FINDING fixed --commit REV")
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	answer := record.Answer{Finding: s.Args().Get(1), Kind: record.AnswerKind(s.Args().Get(2))}
	if answer.Reason, err = s.message(false); err != nil {
		return err
	}
	if answer.Actor, err = s.actor(); err != nil {
		return err
	}
	if rev := s.String("commit"); rev != "" {
		if answer.Commit, err = s.repo.Resolve(s.ctx, rev); err != nil {
			return err
		}
	}
	review, err := s.heldElsewhere(s.ctx, store, s.Args().First(), s.hold(answer.Actor), false)
	if err == nil {
		review, err = store.AnswerFinding(s.ctx, s.Args().First(), answer, s.Bool("force"))
	}
	if err != nil {
		return s.claimedHint(err, review)
	}
	return s.showAct(review, answer.Actor, &answer, func(w io.Writer, done actorDone) {
		fmt.Fprintf(w, "%s %s; %s of %s without an answer.\n", answer.Finding, answer.Kind, prose.Count(done.Open, "finding"), done.ID)
	})
}
