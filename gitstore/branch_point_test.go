package gitstore

import (
	"path/filepath"
	"testing"
)

// TestBranchPointOfItsUpstream checks that a branch is compared with its upstream if the remote has no known
// default branch.
func TestBranchPointOfItsUpstream(t *testing.T) {
	there := newTestRepo(t)
	testGit(t, there.WorkTree, "checkout", "-qb", "release/1")
	left := commitFiles(t, there, map[string]string{"r": "r\n"})
	testGit(t, there.WorkTree, "checkout", "-q", "-")
	dir := filepath.Join(t.TempDir(), "clone")
	testGit(t, there.WorkTree, "clone", "-q", there.WorkTree, dir)
	testGit(t, dir, "checkout", "-qb", "Topic.x", "--track", "origin/release/1")
	testGit(t, dir, "remote", "set-head", "origin", "-d")
	repo := openTestRepo(t, dir)
	commitFiles(t, repo, map[string]string{"t": "t\n"})
	point, name, err := repo.BranchPoint(t.Context())
	if err != nil || point != left || name != "origin/release/1" {
		t.Errorf("%s of %q, %v, want %s of origin/release/1", point, name, err, left)
	}
}
