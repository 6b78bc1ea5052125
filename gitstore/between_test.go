package gitstore

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// TestBetween compares with git for all pairs of a history with a merge, and checks which of them need no process.
func TestBetween(t *testing.T) {
	repo := newTestRepo(t)
	ctx, dir := context.Background(), repo.WorkTree
	commit := func(name string) {
		writeTestFile(t, dir, name, name)
		testGit(t, dir, "add", "-A")
		testGit(t, dir, "commit", "-qm", name)
	}
	for _, name := range []string{"one", "two"} {
		commit(name)
	}
	testGit(t, dir, "checkout", "-q", "-b", "side", "HEAD~1")
	commit("side")
	testGit(t, dir, "checkout", "-q", "-")
	testGit(t, dir, "merge", "-q", "--no-edit", "side")
	commit("after")
	commit("last")
	all := strings.Fields(testGit(t, dir, "rev-list", "--all"))
	known := 0
	for _, from := range all {
		for _, to := range all {
			want := strings.Fields(testGit(t, dir, "rev-list", to, "^"+from))
			got, err := repo.Between(ctx, ID(from), ID(to), 100)
			if err != nil || strings.Join(want, " ") != joined(got) {
				t.Errorf("%s..%s: %q, %v, want %q", from, to, got, err, want)
			}
			if row, ok := repo.row(ctx, ID(from), ID(to), 100); ok {
				known++
				if !slices.Equal(row, got) {
					t.Errorf("%s..%s without git: %q, want %q", from, to, row, got)
				}
			}
		}
	}
	if known < 6 {
		t.Errorf("%d of %d pairs were known without git", known, len(all)*len(all))
	}
	newest, oldest := ID(all[0]), ID(testGit(t, dir, "rev-parse", "HEAD~2"))
	if got, err := repo.Between(ctx, oldest, newest, 1); err != nil || len(got) != 1 || got[0] != newest {
		t.Errorf("at most one: %q, %v", got, err)
	}
}

func joined(ids []ID) string {
	var text []string
	for _, id := range ids {
		text = append(text, string(id))
	}
	return strings.Join(text, " ")
}
