package gitstore

import (
	"context"
	"slices"
	"testing"
)

func TestLandedAs(t *testing.T) {
	ctx := context.Background()
	other := map[string]string{"other.txt": "o\n"}
	for name, c := range map[string]struct {
		squash bool
		branch map[string]string // what was committed on the branch meanwhile
		want   []string          // subjects of the pairs, "one → one"
	}{
		"as they are":                     {},
		"on a branch that moved":          {branch: other, want: []string{"one → one", "two → two"}},
		"squashed":                        {squash: true, want: []string{"one → the work", "two → the work"}},
		"squashed on a branch that moved": {squash: true, branch: other, want: []string{"one → the work", "two → the work"}},
		"the first is there already":      {branch: map[string]string{"b.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\nwork\n", "gone.txt": ""}, want: []string{"two → two"}},
	} {
		t.Run(name, func(t *testing.T) {
			repo, spec := landRepo(t)
			spec.Squash = c.squash
			if c.branch["gone.txt"] == "" && len(c.branch) > 1 {
				testGit(t, repo.WorkTree, "rm", "-q", "gone.txt")
				delete(c.branch, "gone.txt")
			}
			if c.branch != nil {
				commitFiles(t, repo, c.branch)
			}
			landed := mustLand(t, repo, spec)
			moved, err := repo.LandedAs(ctx, spec, landed)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range moved {
				from, to := testGit(t, repo.WorkTree, "log", "-1", "--format=%s", string(m.From)), testGit(t, repo.WorkTree, "log", "-1", "--format=%s", string(m.To))
				got = append(got, from+" → "+to)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if again, err := repo.LandedAs(ctx, spec, mustLand(t, repo, spec)); err != nil || !c.squash && c.branch == nil && len(again) != 0 {
				t.Errorf("again: %v, %v", again, err)
			}
		})
	}
}
