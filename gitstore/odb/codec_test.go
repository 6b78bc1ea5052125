package odb

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

func TestTreeOrder(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	for _, name := range []string{"a", "a.b", "a-b/x", "a/y", "a0", "z/z", "é", "Z"} {
		if name == "a" {
			continue // a directory here
		}
		writeTestFile(t, repo.dir.WorkTree, name, name)
	}
	testGit(t, repo.dir.WorkTree, "add", ".")
	want := ID(testGit(t, repo.dir.WorkTree, "write-tree"))
	entries, err := repo.ReadTree(ctx, want)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(entries)
	got, err := repo.WriteTree(ctx, entries)
	if err != nil || got != want {
		t.Errorf("tree %s, git writes %s; %v", got, want, err)
	}
}

func TestEmptyTreeIsWritten(t *testing.T) {
	repo, ctx := newTestRepoFormat(t, "sha1"), context.Background()
	id, err := repo.WriteTree(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if objects := testGit(t, repo.dir.WorkTree, "cat-file", "--batch-all-objects", "--batch-check"); !strings.Contains(
		objects, string(id)+" tree 0") {
		t.Errorf("objects: %s", objects)
	}
}

func TestTreeRefusesBadEntries(t *testing.T) {
	id := ID(strings.Repeat("1", 40))
	for _, entries := range [][]TreeEntry{
		{{ModeFile, "", id}}, {{ModeFile, ".", id}}, {{ModeFile, "..", id}}, {{ModeTree, ".git", id}},
		{{ModeTree, ".GIT", id}},
		{{ModeFile, "a/b", id}}, {{ModeFile, "a\x00", id}}, {{ModeFile, "a", id[1:]}}, {{ModeFile, "a", "x" + id[1:]}},
		{{"", "a", id}}, {{"10064x", "a", id}}, {{ModeFile, "a", id}, {ModeTree, "a", id}},
	} {
		if data, err := encodeTree(entries, 40); err == nil {
			t.Errorf("%v became %q", entries, data)
		}
	}
}

func FuzzDecodeTree(f *testing.F) {
	hash := strings.Repeat("h", 20)
	f.Add([]byte("100644 a\x00"+hash+"40000 b\x00"+hash), false)
	f.Add([]byte("040000 a\x00"+hash), false)
	f.Add([]byte("100644 a\x00"+hash[1:]), false)
	f.Add([]byte("100644\x00"+hash), false)
	f.Add([]byte("160000 m\x00"+strings.Repeat("h", 32)), true)
	f.Fuzz(func(t *testing.T, data []byte, long bool) {
		size := 20
		if long {
			size = 32
		}
		entries, err := DecodeTree(data, size)
		if err != nil {
			if !errors.Is(err, gitdir.ErrCorrupt) {
				t.Errorf("error %v", err)
			}
			return
		}
		encoded, err := encodeTree(entries, 2*size)
		if err != nil {
			return // it may contain names that are never written
		}
		again, err := DecodeTree(encoded, size)
		slices.SortFunc(entries, CompareEntries)
		if err != nil || !slices.Equal(again, entries) {
			t.Errorf("%v was written and read as %v, %v", entries, again, err)
		}
	})
}

func TestDecodeCommit(t *testing.T) {
	tree := strings.Repeat("a", 40)
	head := "tree " + tree + "\n"
	when := time.Unix(1700000000, 0)
	for _, c := range []struct {
		name, text string
		want       Commit
	}{
		{"plain", head + "author A B <a@b> 1700000000 +0130\ncommitter C <c@d> 1700000000 -0800\n\nhello\n", Commit{
			Author: gitdir.Identity{Name: "A B", Email: "a@b"}, AuthorWhen: when,
			Committer: gitdir.Identity{Name: "C", Email: "c@d"}, CommitterWhen: when, Message: "hello\n"}},
		{"signed", head + "author A <a> 1700000000 +0000\ngpgsig -----BEGIN\n author X <x> 1 +0000\n \n -----END\n\nhello",
			Commit{
				Author: gitdir.Identity{Name: "A", Email: "a"}, AuthorWhen: when, Message: "hello"}},
		{"merged tag", head + "mergetag object 1\n tree x\nencoding ISO-8859-1\n\n\xe9\n\nmore",
			Commit{Encoding: "ISO-8859-1", Message: "\xe9\n\nmore"}},
		{"parents", head + "parent " + strings.Repeat("b", 40) + "\nparent " + strings.Repeat("c", 40) + "\n\n", Commit{
			Parents: []ID{ID(strings.Repeat("b", 40)), ID(strings.Repeat("c", 40))}}},
		{"no message", head + "author A <a> 1700000000 +0000",
			Commit{Author: gitdir.Identity{Name: "A", Email: "a"}, AuthorWhen: when}},
		{"no name", head + "author <a@b> 1700000000 +0000\n\n",
			Commit{Author: gitdir.Identity{Name: "", Email: "a@b"}, AuthorWhen: when}},
		{"no e-mail", head + "author Somebody\n\n", Commit{Author: gitdir.Identity{Name: "Somebody"}}},
		{"brackets", head + "author A <<a>@b> 1700000000 +0000\n\n",
			Commit{Author: gitdir.Identity{Name: "A", Email: "<a"}, AuthorWhen: when}},
		{"no time", head + "author A <a>\n\n", Commit{Author: gitdir.Identity{Name: "A", Email: "a"}}},
		{"far future", head + "author A <a> 99999999999999 +0000\n\n",
			Commit{Author: gitdir.Identity{Name: "A", Email: "a"}}},
		{"too large a number", head + "author A <a> 99999999999999999999 +0000\n\n",
			Commit{Author: gitdir.Identity{Name: "A", Email: "a"}}},
		{"odd zone", head + "author A <a> 1700000000 +9999\n\n",
			Commit{Author: gitdir.Identity{Name: "A", Email: "a"}, AuthorWhen: when}},
		{"two authors", head + "author A <a> 1700000000 +0000\nauthor B <b> 1 +0000\n\n",
			Commit{Author: gitdir.Identity{Name: "A", Email: "a"}, AuthorWhen: when}},
	} {
		c.want.Tree = ID(tree)
		got, err := DecodeCommit([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !got.AuthorWhen.Equal(c.want.AuthorWhen) || !got.CommitterWhen.Equal(c.want.CommitterWhen) {
			t.Errorf("%s: times %v %v", c.name, got.AuthorWhen, got.CommitterWhen)
		}
		got.AuthorWhen, got.CommitterWhen = c.want.AuthorWhen, c.want.CommitterWhen
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
	for _, bad := range []string{"", "\n", "hello", "tree \n\n", "tree x\n\n", head + "parent HEAD\n\n",
		"author A <a> 1 +0000\n\n" + head} {
		if c, err := DecodeCommit([]byte(bad)); !errors.Is(err, gitdir.ErrCorrupt) {
			t.Errorf("%q: %+v, %v", bad, c, err)
		}
	}
}

func TestCommitZoneSurvives(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	tree := ID(testGit(t, repo.dir.WorkTree, "rev-parse", "HEAD^{tree}"))
	when := time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", -(3*60+30)*60))
	id, err := repo.WriteCommit(ctx, Commit{Tree: tree, Author: gitdir.Identity{Name: "A\n<B>", Email: " a@b"},
		AuthorWhen: when, CommitterWhen: time.Time{}, Message: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if got := testGit(t, repo.dir.WorkTree, "show", "-s", "--format=%an|%ae|%ai|%cn|%ci|%B",
		string(id)); got != "AB|a@b|2026-03-04 05:06:07 -0330|unknown|1970-01-01 00:00:00 +0000|x" {
		t.Errorf("git reads %q", got)
	}
	testGit(t, repo.dir.WorkTree, "fsck", "--strict", string(id))
	commit, err := repo.ReadCommit(ctx, id)
	if err != nil || commit.AuthorWhen.Format(time.RFC3339) != "2026-03-04T05:06:07-03:30" {
		t.Errorf("read back %v, %v", commit.AuthorWhen, err)
	}
}

func TestReadCommitOfOtherKind(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	testGit(t, repo.dir.WorkTree, "tag", "-a", "-m", "x", "v1")
	for _, rev := range []string{"HEAD:a.txt", "HEAD^{tree}", "v1"} {
		id := ID(testGit(t, repo.dir.WorkTree, "rev-parse", rev))
		if c, err := repo.ReadCommit(ctx, id); !errors.Is(err, gitdir.ErrNotFound) {
			t.Errorf("%s: %+v, %v", rev, c, err)
		}
	}
}

func FuzzDecodeCommit(f *testing.F) {
	tree := "tree " + strings.Repeat("a", 40) + "\n"
	f.Add([]byte(tree + "author A <a@b> 1700000000 +0130\ncommitter C <c@d> 1 -0800\n\nhello\n"))
	f.Add([]byte(tree + "parent " + strings.Repeat("b", 40) + "\nauthor A <a> 1 +0000\ngpgsig x\n y\n\n"))
	f.Add([]byte(tree + "author > < 1 1\ncommitter <\nencoding x\n\n\x00"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeCommit(data)
		if err != nil {
			if !errors.Is(err, gitdir.ErrCorrupt) {
				t.Errorf("error %v", err)
			}
			return
		}
		encoded, err := EncodeCommit(c)
		if err != nil {
			return
		}
		again, err := DecodeCommit(encoded)
		if err != nil || again.Tree != c.Tree || !slices.Equal(again.Parents, c.Parents) ||
			strings.TrimSuffix(again.Message, "\n") != strings.TrimSuffix(c.Message, "\n") {
			t.Fatalf("%q was written as %q and read as %+v, %v", data, encoded, again, err)
		}
		twice, err := EncodeCommit(again)
		if err != nil || string(twice) != string(encoded) {
			t.Errorf("%q was written again as %q, %v", encoded, twice, err)
		}
	})
}

func FuzzAlternatePath(f *testing.F) {
	f.Add("/abs/objects")
	f.Add("../../other/.git/objects")
	f.Add(`"a\tb"`)
	f.Add("#x")
	f.Fuzz(func(t *testing.T, line string) {
		if got := alternatePath("/repo/objects", line); got != "" && got[0] != '/' {
			t.Errorf("%q: %q", line, got)
		}
	})
}
