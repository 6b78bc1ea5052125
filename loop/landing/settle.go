package landing

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Settle finishes operations that killed processes began in the working tree in which the repository was opened, and
// returns them. Usually there are none.
func Settle(ctx context.Context, s *store.Store) ([]gitstore.Reverted, error) {
	tree, err := workspace.Checkout(s)
	if err != nil {
		return nil, err
	}
	return SettleTree(ctx, s, tree)
}

// SettleTree is Settle for one working tree, which may be nil.
func SettleTree(ctx context.Context, s *store.Store, tree *gitstore.Worktree) ([]gitstore.Reverted, error) {
	if tree == nil {
		return nil, nil
	}
	finished, err := tree.FinishReverts(ctx)
	for _, done := range finished {
		if err == nil && done.Operation.Name != "" {
			err = recordLanding(ctx, s, done.Operation)
		}
	}
	return finished, err
}

// Unfinished returns the operations that killed processes began in the working tree in which the repository was opened,
// and that are not finished.
func Unfinished(ctx context.Context, s *store.Store) ([]gitstore.Operation, error) {
	tree, err := workspace.Checkout(s)
	if tree == nil || err != nil {
		return nil, err
	}
	return tree.Unfinished(ctx)
}

// FinishedText describes in one line how the operation of a killed process was finished.
func FinishedText(done gitstore.Reverted) string {
	op, left := done.Operation, ""
	if len(done.Conflicts) > 0 {
		left = "; left alone, changed since: " + strings.Join(done.Conflicts, ", ")
		if op.Before != "" {
			left += "; to get back what was there before: git runr undo --to " + op.Before.Short() + " --into DIR"
		}
	}
	switch {
	case done.Left:
		return fmt.Sprintf(
			"%s was interrupted, and HEAD has moved since: nothing was changed; to get back what was there before: git runr "+
				"undo --to %s --into DIR", op, op.Before.Short())
	case op.Name != "":
		return fmt.Sprintf("%s was interrupted, and is finished now (to undo it: %s)%s", op,
			strings.TrimSpace("git runr undo "+op.Run), left)
	case op.Kind == gitstore.OpLand && op.Back:
		op.Back = false
		return fmt.Sprintf("%s was interrupted, and is undone now%s", op, left)
	}
	return fmt.Sprintf("%s was interrupted; nothing was left to do%s", op, left)
}
