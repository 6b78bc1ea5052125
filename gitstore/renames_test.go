package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
)

// manyLines returns lines that differ for each prefix.
func manyLines(prefix string) string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "%s number %d\n", prefix, i)
	}
	return b.String()
}

func TestRenames(t *testing.T) {
	apple, pear := manyLines("apple"), manyLines("pear")
	for name, test := range map[string]struct {
		old, new  map[string]string
		rewritten bool
		want      map[string]string
	}{
		"nothing moved": {map[string]string{"a": apple}, map[string]string{"a": apple, "z": "z\n"}, true, nil},
		"moved": {map[string]string{"a": apple}, map[string]string{"dir/b": apple}, false,
			map[string]string{"a": "dir/b"}},
		"moved and edited": {map[string]string{"a": apple}, map[string]string{"b": apple + "more\n"}, false,
			map[string]string{"a": "b"}},
		"strange names": {map[string]string{"a\tb": apple}, map[string]string{"é \"\n": apple}, false,
			map[string]string{"a\tb": "é \"\n"}},
		"another file":               {map[string]string{"a": apple}, map[string]string{"b": pear}, false, nil},
		"copied, the first is there": {map[string]string{"a": apple}, map[string]string{"a": apple, "b": apple}, false, nil},
		"moved to two alike":         {map[string]string{"a": apple}, map[string]string{"b": apple, "c": apple}, false, nil},
		"moved to two, one closer": {map[string]string{"a": apple}, map[string]string{"b": apple, "c": apple + "more\n"},
			false, map[string]string{"a": "b"}},
		"replaced, not looked for": {map[string]string{"a": apple}, map[string]string{"a": pear, "b": apple}, false, nil},
		"replaced": {map[string]string{"a": apple}, map[string]string{"a": pear, "b": apple}, true,
			map[string]string{"a": "b"}},
		"swapped": {map[string]string{"a": apple, "b": pear}, map[string]string{"a": pear, "b": apple}, true,
			map[string]string{"a": "b", "b": "a"}},
	} {
		repo := newTestRepo(t)
		testGit(t, repo.WorkTree, "rm", "-q", "a.txt")
		old := commitFiles(t, repo, test.old)
		for file := range test.old {
			testGit(t, repo.WorkTree, "rm", "-q", "--", file)
		}
		new := commitFiles(t, repo, test.new)
		got, err := repo.Renames(context.Background(), old, new, test.rewritten)
		if err != nil || !maps.Equal(got, test.want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
}

func TestRenamesFromNothing(t *testing.T) {
	repo := newTestRepo(t)
	head := ID(testGit(t, repo.WorkTree, "rev-parse", "HEAD"))
	if got, err := repo.Renames(context.Background(), "", head, true); err != nil || len(got) > 0 {
		t.Errorf("from the empty tree: %q, %v", got, err)
	}
	if _, err := repo.Renames(context.Background(), "--output=x", head, true); err == nil {
		t.Error("an option was taken for a tree")
	}
}

func FuzzParseRenames(f *testing.F) {
	f.Add([]byte("R100\x00a\x00b\x00C075\x00a\x00c\x00"))
	f.Add([]byte("R\x00a\x00"))
	f.Add([]byte("M\x00a\x00b\x00"))
	f.Fuzz(func(t *testing.T, listing []byte) {
		renames, err := parseRenames(listing, true)
		for from, to := range renames {
			if err != nil || !strings.Contains(string(listing), from) || !strings.Contains(string(listing), to) {
				t.Fatalf("%q to %q in %q, %v", from, to, listing, err)
			}
		}
	})
}

func TestFile(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	head := commitFiles(t, repo, map[string]string{"dir/b.txt": "b\n"})
	entry, err := repo.File(ctx, head, "dir/b.txt")
	if err != nil || entry.Mode != ModeFile || entry.Name != "b.txt" ||
		string(entry.ID) != testGit(t, repo.WorkTree, "rev-parse", "HEAD:dir/b.txt") {
		t.Errorf("%+v, %v", entry, err)
	}
	if text, err := repo.ReadBlob(ctx, entry.ID); err != nil || string(text) != "b\n" {
		t.Errorf("%q, %v", text, err)
	}
	tree, err := repo.TreeOf(ctx, head)
	if err != nil || string(tree) != testGit(t, repo.WorkTree, "rev-parse", "HEAD^{tree}") {
		t.Errorf("%s, %v", tree, err)
	}
	for _, missing := range []struct {
		in   ID
		path string
	}{{head, "dir"}, {head, "dir/c"}, {head, "dir/b.txt/c"}, {head, "../a.txt"}, {head, ""}, {"", "a.txt"},
		{entry.ID, "a.txt"}, {ID(strings.Repeat("1", 40)), "a.txt"}, {"HEAD", "a.txt"}} {
		if entry, err := repo.File(ctx, missing.in, missing.path); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q in %q: %+v, %v", missing.path, missing.in, entry, err)
		}
	}
	if _, err := repo.ReadBlob(ctx, head); !errors.Is(err, ErrNotFound) {
		t.Errorf("a commit read as a blob: %v", err)
	}
}
