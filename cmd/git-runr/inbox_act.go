package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// act does something with the review that the only argument names, as this actor.
func (s *session) act(do func(store *store.Store, id, actor string) (record.Review, error), show func(io.Writer, actorDone)) error {
	id, err := s.oneID(0, "a review is wanted")
	if err != nil {
		return err
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	actor, err := s.actor(store)
	if err != nil {
		return err
	}
	review, err := do(store, id, actor)
	if err != nil {
		return s.claimedHint(err, review)
	}
	return s.showAct(store, review, actor, nil, show)
}

func (s *session) showAct(store *store.Store, review record.Review, actor string, answer *record.Answer, show func(io.Writer, actorDone)) error {
	done := s.acted(store, review, actor)
	done.Answer = answer
	return s.print(done, func(w io.Writer) {
		show(w, done)
		writeDrafts(w, done)
	})
}

// acted is what a step by actor came to.
func (s *session) acted(store *store.Store, review record.Review, actor string) actorDone {
	done := actorDone{ID: review.ID, Status: review.Status, Actor: actor, Claim: review.Claim, Open: len(review.Unanswered())}
	if review.Status == record.ReviewClaimed && review.Claim.By == actor {
		done.Resolve, _ = safetext.CommandLine("git", "runr", "inbox", "resolve", review.ID, "--as", actor, "--claim", fmt.Sprintf("%.12s", review.Claim.ID))
	}
	me, _ := s.person(store)
	var err error
	if done.Drafts, err = store.KeptDrafts(review, me); err != nil {
		s.say("%v", err) // it is closed already: this is no failure of that
	}
	return done
}

func writeDrafts(w io.Writer, done actorDone) {
	for _, d := range done.Drafts {
		safetext.Fprintf(w, "%s:\n", d.Words())
		if d.List != "" {
			safetext.Fprintf(w, "  %s\n", d.List)
		}
	}
	if len(done.Drafts) > 0 {
		safetext.Fprintf(w, "  to submit it, first:\n    git runr inbox reopen %s\n", done.ID)
	}
}

// claimedHint says how to get past a claim of somebody else's.
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

// pastClaim is err, that somebody else has claimed review, with until when and the line that does it all the same.
func pastClaim(err error, review record.Review, line string) error {
	claimed := exit.Problemf(exit.Claimed, "%w", err)
	if review.Claim != nil && !review.Claim.Until.IsZero() {
		claimed = claimed.WithHint(strings.TrimSpace(render.Until(review.Claim)))
	}
	return claimed.WithHint(line + "   although somebody else has it")
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
	Drafts  []store.KeptDraft   `json:"drafts,omitempty"` // of a review that is closed now
}
