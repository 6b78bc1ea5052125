package loop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"git-runr/gitstore"
	"git-runr/loop/record"
)

// checkoutPrefix begins the names of worktrees that last as long as one review.
const checkoutPrefix = "review-"

// inCheckout runs use in a temporary worktree of commit. A lock with its name says, for
// as long as this process lives, that somebody is in it.
func inCheckout(ctx context.Context, s *record.Store, commit gitstore.ID, use func(*gitstore.Worktree) error) error {
	nonce, err := newNonce()
	if err != nil {
		return err
	}
	name := checkoutPrefix + nonce
	unlock, err := s.Repo.Lock(ctx, checkoutLock(name))
	if err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	defer unlock()
	tree, err := s.Repo.AddWorktree(ctx, name, "", commit)
	if err != nil {
		s.Repo.DropLock(checkoutLock(name))
		return fmt.Errorf("make worktree: %w", err)
	}
	err = use(tree)
	return errors.Join(err, dropCheckout(context.WithoutCancel(ctx), s, name)) // also after an interrupt
}

// dropCheckout removes a checkout whose lock the caller holds.
func dropCheckout(ctx context.Context, s *record.Store, name string) error {
	if err := s.Repo.RemoveWorktree(ctx, name); err != nil {
		return err
	}
	s.Repo.DropLock(checkoutLock(name))
	return nil
}

func checkoutLock(name string) string { return "checkouts/" + name }

// dropCheckouts removes the checkouts of processes that were killed, and says where they
// were; dry only says so. One whose lock is held is in use.
func dropCheckouts(ctx context.Context, s *record.Store, dry bool) ([]string, error) {
	names, err := s.Repo.OwnWorktrees(checkoutPrefix)
	if err != nil {
		return nil, fmt.Errorf("look for left checkouts: %w", err)
	}
	dropped := []string{}
	for _, name := range names {
		unlock, free, err := s.Repo.TryLock(checkoutLock(name))
		if err != nil {
			return dropped, fmt.Errorf("look for left checkouts: %w", err)
		}
		if !free {
			continue
		}
		dropped = append(dropped, filepath.Join(s.Repo.StateDir(), "worktrees", name))
		if !dry {
			err = dropCheckout(ctx, s, name)
		}
		unlock()
		if err != nil {
			return dropped, err
		}
	}
	return dropped, nil
}
