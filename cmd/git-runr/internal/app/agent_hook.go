package app

import (
	"context"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/agenthook"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// agentHookTime is the maximum time for which a hook delays an agent tool.
const agentHookTime = 5 * time.Second

// agentHook runs when an agent tool calls one of the hooks that init --agents --hooks registered. It logs errors and
// never fails, so that the tool continues.
func agentHook(s *session) error {
	s.quiet = true
	call, ok := agenthook.Read(s.Args().First(), s.Args().Get(1), s.in)
	if !ok {
		return nil
	}
	store, err := s.open()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, agentHookTime)
	defer cancel()
	s.ctx, store.Tell = ctx, nil
	answer, err := call.Answer(ctx, store, s.getenv, func() (string, error) { return s.agentGate(store) })
	if err != nil {
		s.logHook(store, err)
		return nil
	}
	_, err = s.out.Write(answer)
	return err
}

// agentGate checks HEAD as the pre-push hook would, for an agent that may bypass git's hook. It returns why a push of
// HEAD would be refused, or "" if it would pass.
func (s *session) agentGate(store *store.Store) (string, error) {
	conf, err := s.configuration(store)
	if err != nil || conf.Hooks.PrePush != "refuse" {
		return "", err
	}
	head, err := store.Repo.Head(s.ctx)
	if err != nil {
		return "", err
	}
	commits, err := store.Repo.Unpushed(s.ctx, "", []gitstore.ID{head}, nil, maxPushed)
	if err != nil || len(commits) == 0 {
		return "", err
	}
	base, _, err := store.Repo.BranchPoint(s.ctx)
	if err != nil {
		return "", err
	}
	bar, held, _, err := s.held(store, conf, base, commits)
	if err != nil || len(held) == 0 {
		return "", err
	}
	var b strings.Builder
	s.writeHeldUp(&b, bar, conf.Review.Reviewer == role.Builtin, len(commits), held)
	b.WriteString("The push is refused until they are; do not bypass the gate.\n")
	return b.String(), nil
}
