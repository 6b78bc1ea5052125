package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRemerge checks what merges change beyond git's own merge.
func TestRemerge(t *testing.T) {
	repo := newTestRepo(t)
	dir, ctx := repo.WorkTree, context.Background()
	base := commitFiles(t, repo, map[string]string{"both": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "fight": "base\n"})
	branch := func(name string, files map[string]string) ID {
		testGit(t, dir, "checkout", "-q", "-b", name, string(base))
		return commitFiles(t, repo, files)
	}
	branch("side", map[string]string{"side.txt": "s\n", "both": "side\n2\n3\n4\n5\n6\n7\n8\n9\n", "fight": "theirs\n"})
	branch("third", map[string]string{"third.txt": "t\n"})
	branch("fourth", map[string]string{"fourth.txt": "4\n"})
	merge := func(files map[string]string, names ...string) ID {
		testGit(t, dir, "checkout", "-q", "-B", "work", string(base))
		commitFiles(t, repo, map[string]string{"main.txt": "m\n", "both": "1\n2\n3\n4\n5\n6\n7\n8\nmain\n",
			"fight": "ours\n"})
		testGit(t, dir, append([]string{"merge", "-q", "--no-ff", "--no-commit", "-X", "ours"}, names...)...)
		return commitFiles(t, repo, files)
	}
	cases := []struct {
		name  string
		merge ID
		want  []string
	}{
		{"clean", merge(nil, "third"), nil},
		{"clean, of three", merge(nil, "third", "fourth"), nil},
		{"a side dropped as a whole", merge(nil, "side"), []string{"fight"}},
		{"resolved", merge(map[string]string{"fight": "both\n"}, "side"), []string{"fight"}},
		{"more than merged", merge(map[string]string{"a.txt": "by the merge itself\n"}, "third"), []string{"a.txt"}},
		{"a path like a line of git's", merge(map[string]string{"commit " + string(base): "odd\n"}, "third"),
			[]string{"commit " + string(base)}},
		{"more than merged, of three", merge(map[string]string{"both": "by hand\n"}, "third", "fourth"), []string{"both"}},
	}
	// Neither setting may affect the result or be run.
	testGit(t, dir, "config", "merge.mine.driver", "touch "+dir+"/pwned; false")
	testGit(t, dir, "config", "merge.default", "mine")
	testGit(t, dir, "config", "merge.conflictStyle", "diff3")
	writeTestFile(t, dir, ".gitattributes", "* merge=mine\n")
	testGit(t, dir, "add", ".gitattributes")
	var merges []ID
	for _, c := range cases {
		merges = append(merges, c.merge)
	}
	clean, err := repo.CleanMerges(ctx, append(merges, base, "?"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if two := !strings.Contains(c.name, "three"); clean[c.merge] != (two && c.want == nil) {
			t.Errorf("%s: clean %v", c.name, clean[c.merge])
		}
		from, err := repo.Remerge(ctx, c.merge)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		stats, err := repo.DiffStat(ctx, DiffSpec{From: from, To: c.merge})
		var got []string
		for _, f := range stats {
			got = append(got, f.Path)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a merge driver was run")
	}
	if _, err := repo.Remerge(ctx, base); !errors.Is(err, ErrNotFound) {
		t.Errorf("a commit that is no merge: %v", err)
	}
}
