package entrylog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Salvage visits every entry of a log that is not lost, and names the lost ones.
func TestSalvage(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		for _, lost := range [][]int{{3}, {9}, {0}, {4, 5}, {2, 6, 9}, {}} {
			for _, how := range []func(*testing.T, *Store, odb.ID){loseObject, damageObject} {
				if format == "sha256" && len(lost) != 3 {
					continue
				}
				repo, ctx := newTestRepoFormat(t, format), context.Background()
				events := appendEvents(t, repo, 10)
				var want, named []odb.ID
				for i, id := range events {
					if slices.Contains(lost, i) {
						how(t, repo, id)
					} else {
						want = append(want, id)
					}
				}
				repo = openTestRepo(t, repo.dir.WorkTree)
				err := repo.Walk(ctx, repo.Writer(), events[9], "", func(Entry) error { return nil })
				if errors.Is(err, gitdir.ErrCorrupt) != (len(lost) > 0) || errors.Is(err, gitdir.ErrNotFound) {
					t.Errorf("%v: walk: %v", lost, err)
				}
				var got []odb.ID
				damaged, err := repo.Salvage(ctx, repo.Writer(), events[9], ownEntry, func(e Entry) error {
					if e.Writer != repo.Writer() {
						t.Errorf("%s is by %q", e.ID, e.Writer)
					}
					got = append(got, e.ID)
					return nil
				})
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s %v: visited %v, want %v, %v", format, lost, got, want, err)
				}
				for _, d := range damaged {
					named = append(named, d.ID)
				}
				for _, i := range lost {
					inside := slices.Contains(lost, i+1) // no entry that is left names it
					if slices.Contains(named, events[i]) == inside {
						t.Errorf("%s %v: named %v", format, lost, named)
					}
				}
			}
		}
	}
}

// Salvage leaves out an entry of a killed writer to which the ref never moved, unless the entry that followed is
// lost, because then the two cannot be told apart. It also leaves out commits of other writers' logs, whatever they
// contain.
func TestSalvageTakesNothingElse(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	events := appendEvents(t, repo, 6)
	tree := testGit(t, repo.dir.WorkTree, "rev-parse", string(events[0])+"^{tree}")
	for _, parent := range []odb.ID{events[0], events[3]} {
		testGit(t, repo.dir.WorkTree, "commit-tree", "-p", string(parent), "-m", "event of a killed writer", tree)
	}
	forged := testGit(t, repo.dir.WorkTree, "commit-tree", "-m", "event forged", tree)
	testGit(t, repo.dir.WorkTree, "update-ref", logPrefix+"aaaaaaaaaaaa", forged)
	staged := testGit(t, repo.dir.WorkTree, "commit-tree", "-m", "event forged and staged", tree)
	testGit(t, repo.dir.WorkTree, "update-ref", stagedPrefix("origin")+"aaaaaaaaaaaa", staged)
	loseObject(t, repo, events[2])
	repo = openTestRepo(t, repo.dir.WorkTree)
	var got []odb.ID
	_, err := repo.Salvage(ctx, repo.Writer(), events[5], ownEntry, func(e Entry) error {
		got = append(got, e.ID)
		return nil
	})
	if want := slices.Delete(slices.Clone(events), 2, 3); err != nil || !slices.Equal(got, want) {
		t.Errorf("visited %v, want %v, %v", got, want, err)
	}
}

// readSound visits all sound commits and reports each damaged or missing one.
func TestReadSound(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	ids := testCommits(t, repo, 9)
	damageObject(t, repo, ids[0])
	damageObject(t, repo, ids[4])
	loseObject(t, repo, ids[5])
	damageObject(t, repo, ids[8])
	var got []odb.ID
	damaged, err := repo.readSound(ctx, ids, func(id odb.ID, kind string, data []byte) error {
		if kind != "commit" || !strings.HasPrefix(string(data), "tree ") {
			t.Errorf("%s is a %s, %q", id, kind, data)
		}
		got = append(got, id)
		return nil
	})
	if want := []odb.ID{ids[1], ids[2], ids[3], ids[6], ids[7]}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v, %v", got, want, err)
	}
	for i, at := range []int{0, 4, 5, 8} {
		if len(damaged) != 4 || damaged[i].ID != ids[at] || !errors.Is(damaged[i], gitdir.ErrCorrupt) {
			t.Errorf("damaged %v", damaged)
		}
	}
	stop := fmt.Errorf("stop: %w", gitdir.ErrNotFound)
	if _, err := repo.readSound(ctx, ids[1:3], func(odb.ID, string, []byte) error { return stop }); err != stop {
		t.Errorf("stopped: %v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := repo.readSound(gone, ids, func(odb.ID, string, []byte) error { return nil }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
