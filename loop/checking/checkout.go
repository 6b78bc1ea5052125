package checking

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// CheckoutPrefix begins the names of worktrees that exist for one review.
const CheckoutPrefix = "review-"

// InCheckout runs use in a temporary worktree of commit. A lock marks the worktree as in use for as long as this
// process lives, and a file next to the lock notes the commands started there with the context of use.
func InCheckout(ctx context.Context, s *store.Store, commit gitstore.ID,
	use func(context.Context, *gitstore.Worktree) error) error {
	name := CheckoutPrefix + NewNonce()
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
	err = use(agent.Noted(ctx, workspace.CheckoutNotes(s, name)), tree)
	return errors.Join(err, dropCheckout(context.WithoutCancel(ctx), s, name)) // also after an interrupt
}

// dropCheckout stops what a killed process left running in a checkout, and removes the checkout. The caller holds its
// lock.
func dropCheckout(ctx context.Context, s *store.Store, name string) error {
	agent.StopNoted(workspace.CheckoutNotes(s, name))
	for _, dir := range asidesOf(s, name) {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("drop checkout: %w", err)
		}
	}
	if err := s.Repo.RemoveWorktree(ctx, name); err != nil {
		return err
	}
	if err := os.Remove(workspace.CheckoutNotes(s, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop checkout: %w", err)
	}
	s.Repo.DropLock(checkoutLock(name))
	return nil
}

// asidesOf returns the directories with files that were moved out of a checkout for an agent: a killed process leaves
// them.
func asidesOf(s *store.Store, name string) (dirs []string) {
	place := filepath.Dir(s.Repo.WorktreeDir(name))
	entries, _ := os.ReadDir(place) // no directory: none
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), name+agent.AsideMark) {
			dirs = append(dirs, filepath.Join(place, entry.Name()))
		}
	}
	return dirs
}

func checkoutLock(name string) string { return "checkouts/" + name }

// AgentAbove reports whether an agent, a check or a hook that works for this repository started this process, directly
// or not.
func AgentAbove(s *store.Store) bool {
	runs, _ := filepath.Glob(workspace.RunNotes(s, "*"))
	checkouts, _ := filepath.Glob(workspace.CheckoutNotes(s, "*"))
	return slices.ContainsFunc(append(runs, checkouts...), agent.BelongsTo)
}

// DropCheckouts stops what killed processes left running in checkouts, removes these, and returns their paths. With dry
// it only returns the paths.
func DropCheckouts(ctx context.Context, s *store.Store, dry bool) ([]string, error) {
	dropped := []string{}
	err := eachLeft(s, func(name string, there bool) error {
		if there {
			dropped = append(dropped, s.Repo.WorktreeDir(name))
		}
		dropped = append(dropped, asidesOf(s, name)...)
		if dry {
			return nil
		}
		return dropCheckout(ctx, s, name)
	})
	return dropped, err
}

// StopInCheckouts stops what killed processes left running in checkouts, and leaves the checkouts as they are.
func StopInCheckouts(s *store.Store) error {
	return eachLeft(s, func(name string, _ bool) error {
		agent.StopNoted(workspace.CheckoutNotes(s, name))
		return nil
	})
}

// eachLeft calls do for each checkout that a killed process left, even if only a lock or notes exist. It skips
// checkouts in use, whose lock is held.
func eachLeft(s *store.Store, do func(name string, there bool) error) error {
	there, err := s.Repo.OwnWorktrees(CheckoutPrefix)
	if err != nil {
		return fmt.Errorf("look for left checkouts: %w", err)
	}
	for _, name := range checkoutNames(s, there) {
		unlock, free, err := s.Repo.TryLock(checkoutLock(name))
		if err != nil {
			return fmt.Errorf("look for left checkouts: %w", err)
		}
		if !free {
			continue
		}
		err = do(name, slices.Contains(there, name))
		unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// checkoutNames returns the names in there and of checkouts of which only a lock or notes are left.
func checkoutNames(s *store.Store, there []string) []string {
	left, _ := os.ReadDir(filepath.Join(s.Repo.StateDir(), "checkouts")) // no directory: none
	all := append(slices.Clone(there), each.Of(left, fs.DirEntry.Name)...)
	names := each.Keys(each.SetOf(all, func(name string) string {
		name, _, _ = strings.Cut(name, ".") // directories put aside belong to their checkout
		return name
	}))
	return each.Where(names, func(name string) bool { return strings.HasPrefix(name, CheckoutPrefix) })
}
