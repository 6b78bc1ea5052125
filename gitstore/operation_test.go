package gitstore

import (
	"context"
	"errors"
	"testing"
)

// TestOperationsInterrupted checks that an interrupted listing is an error, not an empty list.
func TestOperationsInterrupted(t *testing.T) {
	repo, ctx := newTestRepo(t), t.Context()
	head, err := repo.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	testGit(t, repo.WorkTree, "update-ref", undoPrefix+"main/00000001", string(head))
	stopped, stop := context.WithCancel(ctx)
	stop()
	if ops, err := repo.Operations(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("%d operations, %v", len(ops), err)
	}
}
