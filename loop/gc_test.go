package loop

import (
	"context"
	"reflect"
	"testing"
	"time"

	"git-runr/gitstore"
)

// Snapshots around reverts go by their age; nothing else of the clone's own does.
func TestGarbageOfReverts(t *testing.T) {
	ctx := context.Background()
	s, dir := anchorRepo(t)
	then := testEpoch
	snapshot := func(at time.Time) gitstore.ID {
		t.Setenv("GIT_COMMITTER_DATE", at.Format(time.RFC3339))
		return gitstore.ID(runGit(t, dir, nil, "commit-tree", "HEAD^{tree}", "-m", "before a revert"))
	}
	refs := map[string]gitstore.ID{
		revertRefs + "old-before":                        snapshot(then.Add(-time.Hour)),
		revertRefs + "old-after":                         snapshot(then.Add(-time.Minute)),
		revertRefs + "new-before":                        snapshot(then.Add(time.Minute)),
		"refs/runr-local/snapshots/context-x":            snapshot(then.Add(-time.Hour)),
		"refs/runr-local/pins":                           snapshot(then.Add(-time.Hour)),
		"refs/runr-local/snapshots/revertx/old":          snapshot(then.Add(-time.Hour)),
		snapshotRefs("20260107120000-abcdef") + "1-base": snapshot(then.Add(-time.Hour)),
	}
	for ref, id := range refs {
		runGit(t, dir, nil, "update-ref", ref, string(id))
	}
	g, err := s.FindGarbage(ctx, then)
	want := []string{revertRefs + "old-after", revertRefs + "old-before"}
	if err != nil || !reflect.DeepEqual(g.Snapshots, want) {
		t.Fatalf("found %v, %v", g.Snapshots, err)
	}
	if err := s.CollectGarbage(ctx, g); err != nil {
		t.Fatal(err)
	}
	left, err := s.Repo.Refs(ctx, "refs/runr-local/")
	for _, ref := range want {
		delete(refs, ref)
	}
	if err != nil || !reflect.DeepEqual(left, refs) {
		t.Errorf("left %v, want %v, %v", left, refs, err)
	}
}
