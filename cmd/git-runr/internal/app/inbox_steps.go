package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/steps"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

// inboxStepCommands returns the commands for steps on reviews that people and agents take.
func (p *program) inboxStepCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name: "claim", Usage: "reserve a review, to answer it or to address its findings", ArgsUsage: "ID… | --all",
			Description: `The first to claim a review holds it until it is released or resolved, or the lease runs out;
claiming again renews the lease. A person is known by address, on whatever terminal; a program must set GIT_RUNR_ACTOR
or use --as. --all claims every submitted review that the filters match.
Exit status: 12 if somebody else holds it.`,
			Flags: append([]cli.Flag{
				asFlag(),
				&cli.StringFlag{Name: "lease", Usage: "let others claim it after `DURATION`, such as 2h (default: never)"},
				forceFlag(),
				&cli.BoolFlag{Name: "local", Usage: "do not ask the remote, which decides between clones"},
			}, eachFlags()...),
			Action: p.onReviews("submitted", "Claim", inboxClaim, func(w io.Writer, done actorDone) {
				where := ""
				if done.ungranted {
					where = ", in this clone only"
				}
				safetext.Fprintf(w, "Claimed %s as %s%s%s.\n", done.ID, done.Actor, render.Until(done.Claim), where)
				safetext.Fprintf(w, "  git runr show %s\n", done.ID)
				screen.When(w, done.Resolve != "", "  %s\n", done.Resolve)
			}),
		},
		{
			Name: "release", Usage: "give a claim back", ArgsUsage: "ID", Flags: []cli.Flag{asFlag(), claimFlag(), forceFlag()},
			Action: p.onReview(func(s *session, store *store.Store, id, actor string) (record.Review, error) {
				return s.steps(store).Release(s.ctx, id, s.hold(actor))
			}, func(w io.Writer, done actorDone) { safetext.Fprintf(w, "Released %s.\n", done.ID) }),
		},
		{
			Name: "give", Usage: "hand a request that nobody has answered to other people", ArgsUsage: "ID NAME…",
			Description: `NAME is a person's name or address, or a team, as in git runr review --reviewer. Giving ends a
claim.`,
			Flags: []cli.Flag{asFlag(), forceFlag()},
			Action: p.withConfig(func(s *session, store *store.Store, conf *config.Config) error {
				return s.give(store, conf)
			}),
		},
		{
			Name: "resolve", Usage: "close a review that needs nothing more", ArgsUsage: "ID… | --all",
			Description: `--all resolves every submitted or claimed review that the filters match, as in git runr inbox
resolve --all --verdict pass_with_notes --since 7d, and prints a line for each.
Exit status: the worst of all.`,
			Flags: append([]cli.Flag{messageFlag("what became of it, as `TEXT`; - reads standard input"),
				asFlag(), claimFlag(), forceFlag()}, eachFlags()...),
			Action: p.onReviews("inbox", "Resolve",
				func(s *session, store *store.Store, id, actor string) (record.Review, error) {
					return s.steps(store).Resolve(s.ctx, id, s.hold(actor), s.note)
				}, func(w io.Writer, done actorDone) {
					if by := done.ClosedBy; by != "" && !record.SameActor(by, done.Actor) {
						safetext.Fprintf(w, "Review %s was resolved by %s before.\n", done.ID, by)
					} else {
						safetext.Fprintf(w, "Resolved %s.\n", done.ID)
					}
					lacks := prose.Count(done.Open, "finding") + " still open"
					if done.Open == 0 {
						lacks = prose.Count(done.Unconfirmed, "answer") + " not confirmed by " + strings.Join(done.Awaited, ", ")
					}
					if done.Refuses {
						lacks += ": audit and the gate go on refusing the change"
					}
					screen.When(w, done.Open+done.Unconfirmed > 0, "%s.\n  git runr inbox reopen %s\n", lacks, done.ID)
				}),
		},
		{
			Name: "cancel", Usage: "withdraw a request that nobody has answered", ArgsUsage: "ID… | --all",
			Description: "--all cancels every open request that the filters match.",
			Flags: append([]cli.Flag{messageFlag("why, as `TEXT`; - reads standard input"), asFlag()},
				eachFlags()...),
			Action: p.onReviews("open", "Cancel", func(s *session, store *store.Store, id, actor string) (record.Review, error) {
				return store.CancelReview(s.ctx, id, actor, s.note)
			}, func(w io.Writer, done actorDone) { safetext.Fprintf(w, "Cancelled %s.\n", done.ID) }),
		},
		{
			Name: "reopen", Usage: "undo a resolution or a cancellation", ArgsUsage: "ID", Flags: []cli.Flag{asFlag()},
			Action: p.onReview(func(s *session, store *store.Store, id, actor string) (record.Review, error) {
				return s.steps(store).Reopen(s.ctx, id, actor)
			}, func(w io.Writer, done actorDone) {
				safetext.Fprintf(w, "Reopened %s: it is %s.\n", done.ID, done.Status)
			}),
		},
	}
}

func inboxClaim(s *session, store *store.Store, id, actor string) (record.Review, error) {
	lease := duration.Duration(0)
	if text := s.String("lease"); s.IsSet("lease") {
		if err := lease.UnmarshalText([]byte(text)); err != nil || lease <= 0 {
			return record.Review{}, exit.Problemf(exit.Usage, "cannot read --lease %q as a duration: use 30m, 2h or 1d", text)
		}
	}
	return s.claim(store, id, record.Hold{Actor: actor, Lease: time.Duration(lease), Force: s.Bool("force")})
}

func (s *session) give(store *store.Store, conf *config.Config) error {
	actor, err := s.actor(store)
	if err != nil {
		return err
	}
	given := record.Given{Actor: actor, Force: s.Bool("force")}
	for _, name := range s.Args().Tail() {
		found, err := conf.FindPeople(s.ctx, name, "git", "runr", "inbox", "give", s.Args().First())
		if err != nil {
			return err
		}
		given.People = append(given.People, config.PeopleTexts(found)...)
	}
	given.Each = len(given.People) > 1
	review, err := store.GiveReview(s.ctx, s.Args().First(), given)
	if err != nil {
		return s.claimedHint(err, review)
	}
	return s.showAct(store, review, actor, nil, func(w io.Writer, done actorDone) {
		safetext.Fprintf(w, "Given %s to %s.\n", done.ID, strings.Join(given.People, ", "))
	})
}

// reviewStep is a step on one review that actor takes, such as a claim.
type reviewStep func(s *session, store *store.Store, id, actor string) (record.Review, error)

// onReview is action for a step on the review that the only argument names.
func (p *program) onReview(do reviewStep, show func(io.Writer, actorDone)) cli.ActionFunc {
	return p.inRepo(func(s *session, store *store.Store) error {
		actor, err := s.actor(store)
		if err != nil {
			return err
		}
		return s.act(store, actor, do, show)
	})
}

func (s *session) act(store *store.Store, actor string, do reviewStep, show func(io.Writer, actorDone)) error {
	review, err := do(s, store, s.Args().First(), actor)
	if err != nil {
		return s.claimedHint(err, review)
	}
	return s.showAct(store, review, actor, nil, show)
}

func (s *session) showAct(store *store.Store, review record.Review, actor string, answer *record.Answer,
	show func(io.Writer, actorDone)) error {
	done := s.acted(store, review, actor)
	done.Answer = answer
	return s.print(done, func(w io.Writer) {
		show(w, done)
		for _, d := range done.Drafts {
			safetext.Fprintf(w, "%s:\n", d.Words())
			screen.When(w, d.List != "", "  %s\n", d.List)
		}
		screen.When(w, len(done.Drafts) > 0, "  to submit it, first:\n    git runr inbox reopen %s\n", done.ID)
	})
}

// acted returns the result of a step by actor.
func (s *session) acted(store *store.Store, review record.Review, actor string) actorDone {
	done := actorDone{ID: review.ID, Status: review.Status, Actor: actor, Claim: review.Claim,
		ClosedBy: review.ResolvedBy, Open: len(review.Unanswered()), Refuses: review.Summary().Refuses()}
	done.Awaited, done.Unconfirmed = review.Awaited()
	done.ungranted = share.Ungranted(store.Repo, review.Claim)
	if review.Status == record.ReviewClaimed && record.SameActor(review.Claim.By, actor) {
		done.Resolve = safetext.ShellLine("git", "runr", "inbox", "resolve", review.ID, "--as", actor, "--claim",
			fmt.Sprintf("%.12s", review.Claim.ID))
	}
	me, _ := s.person(store)
	var err error
	if done.Drafts, err = store.KeptDrafts(review, me); err != nil {
		s.say("%v", err) // the step itself succeeded
	}
	return done
}

// claimedHint adds the command with --force to err if somebody else has claimed the review.
func (s *session) claimedHint(err error, review record.Review) error {
	var state *record.StateError
	if !errors.As(err, &state) || state.Holder == "" {
		return err
	}
	words := []string{"git", "runr", "inbox", s.Command.Name, "--force"}
	for _, flag := range []string{"--commit", "--as", "-m"} {
		if value := s.String(strings.TrimLeft(flag, "-")); value != "" {
			words = append(words, flag, value)
		}
	}
	words = append(append(words, review.ID), s.Args().Tail()...)
	return pastClaim(err, review, safetext.ShellLine(words...))
}

// pastClaim adds to err, which says that somebody else has claimed review, the end of the claim and the line that
// overrides it.
func pastClaim(err error, review record.Review, line string) error {
	claimed := exit.Problemf(exit.Claimed, "%w", err)
	if review.Claim != nil && !review.Claim.Until.IsZero() {
		claimed = claimed.WithHint(strings.TrimSpace(render.Until(review.Claim)))
	}
	return claimed.WithHint(line + "   even if somebody else has claimed it")
}

// actorDone is the result of claim, give, release, resolve, cancel, reopen and answer.
type actorDone struct {
	ID     string              `json:"review_id"`
	Status record.ReviewStatus `json:"status"`
	Actor  string              `json:"actor"`
	// ClosedBy resolved the review, which may be somebody before.
	ClosedBy string         `json:"resolved_by,omitempty"`
	Claim    *record.Claim  `json:"claim,omitempty"`
	Resolve  string         `json:"resolve_with,omitempty"` // the command that resolves the claimed review
	Answer   *record.Answer `json:"answer,omitempty"`
	Open     int            `json:"unanswered"` // findings and comments without an answer
	// Unconfirmed is the number of answers that the people in Awaited have not confirmed.
	Unconfirmed int               `json:"unconfirmed,omitempty"`
	Awaited     []string          `json:"awaited,omitempty"`
	Refuses     bool              `json:"refuses,omitempty"` // audit and the gate count what is open or unconfirmed
	Drafts      []store.KeptDraft `json:"drafts,omitempty"`  // unsubmitted drafts of a closed review
	ungranted   bool              // share.Ungranted of Claim
}

// eachFlags returns the flags of a step that can be taken on several reviews at once.
func eachFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.BoolFlag{Name: "all", Usage: "every review that the filters match; asks once"},
		&cli.BoolFlag{Name: "yes", Usage: "do not ask; required for --all without a terminal"},
	}, filterFlags()...)
}

type eachJSON struct {
	Reviews []actorDone  `json:"reviews"`
	Failed  []failedStep `json:"failed"`
}

// failedStep is a review on which a step failed.
type failedStep struct {
	ID     string      `json:"review_id"`
	Status exit.Status `json:"status"` // exit status of the step alone
	Why    string      `json:"message"`
}

// onReviews is action for a step on the reviews that the arguments name, or with --all on those that match the
// filters. It continues after a failure and returns the worst status. status is the default status of the reviews for
// --all, and ask the verb of its question, such as "Resolve".
func (p *program) onReviews(status, ask string, do reviewStep, show func(io.Writer, actorDone)) cli.ActionFunc {
	return p.inRepo(func(s *session, store *store.Store) (err error) {
		if s.note, err = s.message(false); err != nil {
			return err
		}
		actor, err := s.actor(store)
		if err != nil {
			return err
		}
		if s.NArg() == 1 && !s.Bool("all") {
			return s.act(store, actor, do, show)
		}
		ids, err := s.chosenReviews(store, status, ask)
		if err != nil {
			return err
		}
		return s.actEach(store, actor, ids, do, show)
	})
}

func (s *session) actEach(store *store.Store, actor string, ids []string, do reviewStep,
	show func(io.Writer, actorDone)) (err error) {
	doc, worst := eachJSON{Reviews: []actorDone{}, Failed: []failedStep{}}, exit.OK
	for _, id := range ids {
		review, err := do(s, store, id, actor)
		if err != nil {
			problem := exit.Classify(s.claimedHint(err, review))
			worst = max(worst, problem.Status)
			doc.Failed = append(doc.Failed, failedStep{id, problem.Status, problem.Msg})
			s.failedLine(problem)
			continue
		}
		done := s.acted(store, review, actor)
		doc.Reviews = append(doc.Reviews, done)
		if !s.json {
			show(s.out, done)
		}
	}
	if s.json {
		err = stdio.WriteJSON(s.out, doc)
	} else if len(ids) == 0 {
		fmt.Fprintln(s.out, "No reviews found.")
		s.writeNotHere(s.out, store)
	}
	if worst != exit.OK {
		err = errors.Join(err, exit.With(worst))
	}
	return err
}

// failedLine prints why a step failed on one of several reviews.
func (c *console) failedLine(problem *exit.Problem) {
	if !c.json {
		safetext.Fprintf(talk{c.program}, "git-runr: %s\n", problem.Msg)
	}
}

// chosenReviews returns the ids that were typed, without duplicates, or with --all those of the reviews that match the
// filters, after somebody has agreed.
func (s *session) chosenReviews(store *store.Store, status, ask string) (ids []string, err error) {
	if s.IsSet("claim") {
		return nil, exit.Problemf(exit.Usage, "--claim needs exactly one review").
			WithHint("git runr inbox " + s.Command.Name + " -h")
	}
	if !s.Bool("all") {
		for _, id := range s.Args().Slice() {
			ids = each.Once(ids, id)
		}
		return ids, nil
	}
	filter, err := s.inboxFilter(store, status)
	if err != nil {
		return nil, err
	}
	found, _, err := store.Reviews(s.ctx, filter)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	what := fmt.Sprintf("%s %s", ask, prose.Count(len(found), "review"))
	show := func(tty io.Writer) { render.Inbox(tty, found[:min(len(found), inboxLimit)], len(found), s.listStyle()) }
	if !s.Bool("yes") {
		switch yes, asked := s.askPerson(show, what+"?"); {
		case !asked:
			return nil, exit.Problemf(exit.Usage, "%s: cannot ask: not a terminal", what).
				WithHint("repeat the command with --yes")
		case !yes:
			return nil, exit.Problemf(exit.Conflict, "nothing was done")
		}
	}
	return each.Of(found, func(r record.ReviewSummary) string { return r.ID }), nil
}

// steps returns a Taker whose claims are decided on the shared remote, or in this clone without one.
func (s *session) steps(store *store.Store) steps.Taker {
	closes := closing.Never // if the configuration cannot be read
	if conf, err := s.configuration(store); err == nil {
		closes = conf.Inbox.Closing
	}
	return steps.Taker{
		Store: store, Secrets: s.secrets, Closing: closes,
		NotHere: func(ctx context.Context) string { return s.notHere(ctx, store) },
		Claim: func(ctx context.Context, id string, by record.Hold) (review record.Review, provisional string, err error) {
			asked, err := store.Review(ctx, id)
			if err != nil {
				return asked, "", err
			}
			if remote := s.sharedRemote(store, asked); remote != "" {
				return share.Claim(ctx, store, remote, id, by)
			}
			if asked.Audience == "private" {
				provisional = "the review is private"
			} else if !s.Bool("local") && len(store.Repo.Remotes()) > 0 {
				provisional = "nothing was synced with a remote so far"
			}
			review, err = store.ClaimReview(ctx, id, by)
			return review, provisional, err
		},
		Held: func(ctx context.Context, id string, by record.Hold, ask bool) (record.Review, error) {
			asked, err := store.Review(ctx, id)
			if err != nil {
				return asked, err
			}
			if remote := s.sharedRemote(store, asked); remote != "" {
				return share.CheckClaim(ctx, store, remote, id, by, ask)
			}
			return record.Review{}, nil
		},
		Unclaim: func(review record.Review, by record.Hold) { s.unshare(store, review, by) },
		Closed: func() {
			s.project(s.ctx, store)
			s.tidy(s.ctx, store)
		},
	}
}

// tidy runs loop.Tidy and ignores its errors: nobody needs to hear of them.
func (c *console) tidy(ctx context.Context, store *store.Store) {
	if conf, err := config.Read(ctx, store.Repo, c.getenv); err == nil {
		_ = loop.Tidy(ctx, store, time.Duration(conf.Inbox.Retention), conf.Inbox.Closing)
	}
}

// claim claims a review and warns if the claim is not visible to other clones.
func (s *session) claim(store *store.Store, id string, by record.Hold) (record.Review, error) {
	review, provisional, err := s.steps(store).Claim(s.ctx, id, by)
	if provisional != "" && err == nil {
		s.say("claimed in this clone only, nobody else can see it: %s", provisional)
	}
	return review, err
}

// sharedRemote returns the remote on which clones decide who holds a review: the remote of its audience, if this
// clone has synced with it and --local is not set. "" means none.
func (s *session) sharedRemote(store *store.Store, review record.Review) string {
	return s.syncedWith(store, store.Repo.RemoteOf(store.Repo.Audience(review.Writer)))
}

// electedRemote returns the elected remote if this clone has synced with it and --local is not set, else "".
func (s *session) electedRemote(store *store.Store) string {
	conf, err := s.configuration(store)
	if err != nil {
		return ""
	}
	remote, err := store.Repo.ElectRemote(conf.Sync.Remote)
	if err != nil {
		return ""
	}
	return s.syncedWith(store, remote)
}

func (s *session) syncedWith(store *store.Store, remote string) string {
	if s.Bool("local") || remote == "" {
		return ""
	}
	synced, err := store.Repo.Refs(s.ctx, "refs/runr-remotes/"+remote+"/")
	if err != nil || len(synced) == 0 {
		return ""
	}
	return remote
}

// unshare releases the claim on the remote. If that fails, the claim stays until its lease ends or somebody forces
// it.
func (s *session) unshare(store *store.Store, review record.Review, by record.Hold) {
	remote := s.sharedRemote(store, review)
	if remote == "" {
		return
	}
	if err := share.DropClaim(s.ctx, store, remote, review.ID, by); err != nil {
		s.say("the claim stays on %s for now: %v", remote, err)
	}
}
