package gitstore

import (
	"context"
	"slices"
	"testing"
)

func TestLandedAs(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		squash bool
		branch string   // what happens on the branch meanwhile
		want   []string // subjects of the pairs
	}{
		"as they are":            {},
		"on a branch that moved": {branch: "echo o >other.txt", want: []string{"one → one", "two → two"}},
		"squashed":               {squash: true, want: []string{"one → the work", "two → the work"}},
		"squashed on a branch that moved": {squash: true, branch: "echo o >other.txt",
			want: []string{"one → the work", "two → the work"}},
		"the first is there already": {branch: "echo work >>b.txt; rm gone.txt", want: []string{"two → two"}},
		"the last is there already": {branch: "echo n >new.txt; rm -r d; echo d >d",
			want: []string{"one → one", "two → one"}},
	} {
		t.Run(name, func(t *testing.T) {
			repo, spec := landRepo(t)
			spec.Squash = c.squash
			if c.branch != "" {
				shell(t, repo.WorkTree, c.branch+"; git add -A; git commit -qm meanwhile")
			}
			moved, err := repo.LandedAs(ctx, spec, mustLand(t, repo, spec))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range moved {
				got = append(got, testGit(t, repo.WorkTree, "log", "-1", "--format=%s", string(m.From))+" → "+
					testGit(t, repo.WorkTree, "log", "-1", "--format=%s", string(m.To)))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
