package gitstore

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// operationAt records an operation and its snapshots with a given time.
func operationAt(t *testing.T, w *Worktree, n int, when time.Time) {
	t.Helper()
	ctx := context.Background()
	snap := takeSnapshot(t, w, "planted")
	commit := func(parents ...ID) ID {
		id, err := w.repo.objects.WriteCommit(ctx, Commit{
			Tree: w.repo.objects.EmptyTreeID(), Parents: parents, Message: testLanding.String() + fmt.Sprint(n),
			Author: toolIdentity, Committer: toolIdentity, AuthorWhen: when, CommitterWhen: when,
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for ref, id := range map[string]ID{
		fmt.Sprintf("%smain/%08d", undoPrefix, n):            commit(snap.ID, snap.ID),
		fmt.Sprintf("%s%d-before", landedPrefix, n):          commit(),
		fmt.Sprintf("%s%d-after", landedPrefix, n):           commit(),
		fmt.Sprintf("%s%d-before", revertedPrefix, n):        commit(),
		fmt.Sprintf("%s%d-after", revertedPrefix, n):         commit(),
		fmt.Sprintf("refs/runr-local/snapshots/run/%d-x", n): commit(),
	} {
		if err := w.repo.refs.SwapAny(ctx, ref, id, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOldOperations checks that operations of the last 30 days, or a number of the newest, are kept, whichever is more.
func TestOldOperations(t *testing.T) {
	repo := newTestRepo(t)
	w, ctx, now := checkoutOf(t, repo), context.Background(), time.Now()
	for n := range 6 {
		operationAt(t, w, n+1, now.AddDate(0, 0, -10*(6-n))) // 60, 50 … 10 days ago
	}
	numbers := func(days, keep int) (found []int) {
		refs, err := repo.OldOperations(ctx, now.AddDate(0, 0, -days).Add(time.Hour), keep)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 6 {
			if ref := fmt.Sprintf("%smain/%08d", undoPrefix, n+1); slices.Contains(refs, ref) {
				found = append(found, n+1)
			}
		}
		if len(refs) != 5*len(found) {
			t.Errorf("%d refs of %d operations: %q", len(refs), len(found), refs)
		}
		return found
	}
	for _, c := range []struct {
		days, keep int
		want       []int
	}{
		{30, 0, []int{1, 2, 3, 4}}, {30, 2, []int{1, 2, 3, 4}}, {30, 5, []int{1}}, {30, 50, nil}, {0, 2, []int{1, 2, 3, 4}},
		{365, 0, nil},
	} {
		if got := numbers(c.days, c.keep); !slices.Equal(got, c.want) {
			t.Errorf("%d days, %d: %v, want %v", c.days, c.keep, got, c.want)
		}
	}
	// What a killed process needs is kept.
	snap := takeSnapshot(t, w, "one")
	if _, err := w.beginJournal(ctx, revertJob{name: "1", base: snap, end: snap, why: "killed"}); err != nil {
		t.Fatal(err)
	}
	refs, err := repo.OldOperations(ctx, now, 0)
	if err != nil || slices.Contains(refs, revertedPrefix+"1-before") || slices.Contains(refs, landedPrefix+"1-before") ||
		!slices.Contains(refs, revertedPrefix+"2-before") {
		t.Errorf("with a journal: %q, %v", refs, err)
	}
	if err := repo.DropRefs(ctx, refs); err != nil {
		t.Fatal(err)
	}
	if ops, err := repo.Operations(ctx); err != nil || len(ops) != 0 {
		t.Errorf("%d operations are left, %v", len(ops), err)
	}
	if left, err := repo.Snapshots(ctx); err != nil || len(left) != 4+6+2 {
		t.Errorf("%d snapshots are left, %v", len(left), err)
	}
}

// TestOldOperationsThatAreLost checks that a snapshot without its commit is dropped: it makes git's own gc fail.
func TestOldOperationsThatAreLost(t *testing.T) {
	repo := newTestRepo(t)
	ref := revertedPrefix + "1-before"
	if err := safefile.WriteFile(filepath.Join(repo.CommonDir, filepath.FromSlash(ref)),
		[]byte(strings.Repeat("1", 40)+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	refs, err := repo.OldOperations(context.Background(), time.Now().AddDate(0, 0, -30), 50)
	if err != nil || !slices.Equal(refs, []string{ref}) {
		t.Errorf("%q, %v", refs, err)
	}
}
