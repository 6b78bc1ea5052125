package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// person is who comments and submits here: --as, GIT_RUNR_ACTOR, or git's identity.
// It is the same in every terminal, as drafts are.
func (s *session) person(store *store.Store) (string, error) {
	if s.IsSet("as") {
		return s.String("as"), nil
	}
	if name := s.getenv("GIT_RUNR_ACTOR"); name != "" {
		return name, nil
	}
	id, err := store.Repo.Identity(s.ctx)
	return strings.TrimSpace(safetext.Line(id.String())), err
}

// actor is who claims here: person, and the terminal or chat that it acts in, so
// that two chats of one person are two.
func (s *session) actor(store *store.Store) (string, error) {
	name, err := s.person(store)
	if err != nil || s.IsSet("as") || s.getenv("GIT_RUNR_ACTOR") != "" {
		return name, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s (%s %d)", name, safetext.Line(host), agent.Session()), nil
}

// hold is by whom a step is done, by the flags.
func (s *session) hold(actor string) record.Hold {
	return record.Hold{Actor: actor, Force: s.Bool("force"), Claim: gitstore.ID(s.String("claim"))}
}

func forceFlag() cli.Flag {
	return &cli.BoolFlag{Name: "force", Usage: "although somebody else has claimed it"}
}

func claimFlag() cli.Flag {
	return &cli.StringFlag{Name: "claim", Usage: "only while the claim `ID` stands, which claim --json gives: the first 7 digits will do"}
}

func asFlag() cli.Flag {
	return &cli.StringFlag{Name: "as", Usage: "act as `ACTOR` (default: GIT_RUNR_ACTOR, else you)"}
}
