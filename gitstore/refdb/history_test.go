package refdb

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/testrepo"
)

// TestAncestry asks for the base of every pair of some commits, in histories with merges, criss-cross merges
// and several roots. The answer must be git's for that pair.
func TestAncestry(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := openTestRepo(t, testrepo.NewFormat(t, []string{"sha1", "sha256"}[seed%2]))
			heads := randomHistory(t, s, rand.New(rand.NewPCG(seed, 1)), seed%4 == 3)
			ancestry := s.Ancestry(heads)
			for _, a := range heads {
				for _, b := range heads {
					got, gotErr := ancestry.MergeBase(t.Context(), a, b)
					want, wantErr := s.MergeBase(t.Context(), a, b)
					if got != want || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
						t.Errorf("base of %s and %s: %s, %v; git says %s, %v", a, b, got, gotErr, want, wantErr)
					}
					if len(ancestry.ids) == 0 { // left to git
						continue
					}
					best := ancestry.best(a, b)
					slices.Sort(best)
					all := strings.Fields(testGit(t, s.dir.WorkTree, "merge-base", "--all", string(a), string(b)))
					slices.Sort(all)
					if fmt.Sprint(best) != fmt.Sprint(all) {
						t.Errorf("bases of %s and %s: %s; git says %s", a, b, best, all)
					}
				}
			}
			if seed%4 != 3 && len(ancestry.ids) == 0 {
				t.Error("history was not read at once")
			}
		})
	}
}

// TestAncestryMissing checks that git answers for commits that are not here.
func TestAncestryMissing(t *testing.T) {
	s := newTestRepo(t)
	head := odb.ID(testGit(t, s.dir.WorkTree, "rev-parse", "HEAD"))
	gone := odb.ID(strings.Repeat("1", len(head)))
	ancestry := s.Ancestry([]odb.ID{head, gone})
	for range 2 * fewBases {
		if got, err := ancestry.MergeBase(t.Context(), head, head); err != nil || got != head {
			t.Errorf("got %s, %v", got, err)
		}
		if _, err := ancestry.MergeBase(t.Context(), head, gone); err == nil {
			t.Error("a base of a commit that is not here")
		}
	}
}

// randomHistory creates commits, some of them with two parents, and returns a few of them.
func randomHistory(t *testing.T, s *Store, random *rand.Rand, roots bool) []odb.ID {
	t.Helper()
	dir := s.dir.WorkTree
	tree := testrepo.GitInput(t, dir, "", "mktree")
	all := []string{testGit(t, dir, "commit-tree", "-m", "root", tree)}
	for i := range 30 {
		args := []string{"commit-tree", "-m", fmt.Sprint(i)}
		for range random.IntN(3) {
			if parent := all[random.IntN(len(all))]; !slices.Contains(args, parent) {
				args = append(args, "-p", parent)
			}
		}
		if len(args) == 3 && !(roots && i%10 == 0) {
			args = append(args, "-p", all[random.IntN(len(all))])
		}
		all = append(all, testGit(t, dir, append(args, tree)...))
	}
	var heads []odb.ID
	for range 8 {
		heads = append(heads, odb.ID(all[len(all)/3+random.IntN(len(all)*2/3)]))
	}
	return heads
}
