package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// commitFiles writes files, commits everything and returns the commit.
func commitFiles(t *testing.T, repo *Repo, files map[string]string) ID {
	t.Helper()
	for name, text := range files {
		writeTestFile(t, repo.WorkTree, name, text)
	}
	testGit(t, repo.WorkTree, "add", "-A")
	testGit(t, repo.WorkTree, "commit", "-qm", "next")
	return testHead(t, repo)
}

func TestChanged(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	a := commitFiles(t, repo, map[string]string{"new\nline": "n\n", "gone": "g\n", "link": "file\n",
		"moved": "a long enough line to be found again\n"})
	for _, err := range []error{
		os.Remove(filepath.Join(dir, "gone")), os.Remove(filepath.Join(dir, "link")),
		os.Symlink("x", filepath.Join(dir, "link")), os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "moved2")),
		os.Chmod(filepath.Join(dir, "a.txt"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b := commitFiles(t, repo, map[string]string{"new\nline": "m\n"})
	changes, err := repo.Changed(context.Background(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, c.Status+" "+c.Path+" "+c.OldMode+" "+c.NewMode)
		if (c.OldID == "") != (c.OldMode == "") || (c.NewID == "") != (c.NewMode == "") {
			t.Errorf("%+v: ids and modes do not go together", c)
		}
	}
	want := []string{"M a.txt 100644 100755", "D gone 100644 ", "T link 100644 120000", "D moved 100644 ",
		"A moved2  100644", "M new\nline 100644 100644"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if none, err := repo.Changed(context.Background(), a, a); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
}

func TestDiff(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	a := commitFiles(t, repo, map[string]string{"src/x.go": "x\n", "a.lock": "l\n", "deep/b.lock": "l\n", "[1].txt": "b\n",
		"1.txt": "b\n"})
	b := commitFiles(t, repo, map[string]string{"src/x.go": "y\n", "a.lock": "m\n", "deep/b.lock": "m\n", "[1].txt": "c\n",
		"1.txt": "c\n"})
	for _, c := range []struct {
		name string
		spec DiffSpec
		want []string
	}{
		{"all", DiffSpec{}, []string{"1.txt", "[1].txt", "a.lock", "deep/b.lock", "src/x.go"}},
		{"directory", DiffSpec{Paths: []string{"src"}}, []string{"src/x.go"}},
		{"literal path", DiffSpec{Paths: []string{"[1].txt"}}, []string{"[1].txt"}},
		{"no such path", DiffSpec{Paths: []string{"*"}}, nil},
		{"excluded", DiffSpec{Exclude: []string{"**/*.lock", "src/**"}}, []string{"1.txt", "[1].txt"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.spec.From, c.spec.To = a, b
			patch, truncated, err := repo.Diff(ctx, c.spec)
			if err != nil || truncated {
				t.Fatalf("%v, truncated %v", err, truncated)
			}
			var got []string
			for line := range strings.Lines(string(patch)) {
				if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
					got = append(got, strings.TrimSpace(name))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("patch has %q, want %q", got, c.want)
			}
			stats, err := repo.DiffStat(ctx, c.spec)
			if err != nil || len(stats) != len(c.want) {
				t.Errorf("counted %+v, %v", stats, err)
			}
		})
	}
}

func TestDiffOfFirstCommit(t *testing.T) {
	repo := newTestRepo(t)
	patch, _, err := repo.Diff(context.Background(), DiffSpec{To: testHead(t, repo)})
	if err != nil || !strings.Contains(string(patch), "+one\n") || !strings.Contains(string(patch), "--- /dev/null") {
		t.Errorf("%v: %s", err, patch)
	}
}

func TestDiffIsCut(t *testing.T) {
	repo := newTestRepo(t)
	a := testHead(t, repo)
	b := commitFiles(t, repo, map[string]string{"big.txt": strings.Repeat("a line of text\n", 100_000)})
	patch, truncated, err := repo.Diff(context.Background(), DiffSpec{From: a, To: b, MaxBytes: 1000})
	if err != nil || !truncated || len(patch) > 1000 || len(patch) < 900 || patch[len(patch)-1] != '\n' {
		t.Errorf("%d bytes, truncated %v, %v", len(patch), truncated, err)
	}
}

func TestDiffContext(t *testing.T) {
	repo := newTestRepo(t)
	a := commitFiles(t, repo, map[string]string{"n": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"})
	b := commitFiles(t, repo, map[string]string{"n": "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"})
	for lines, want := range map[int]string{0: "@@ -2,7 +2,7 @@", 1: "@@ -4,3 +4,3 @@"} {
		patch, _, err := repo.Diff(context.Background(), DiffSpec{From: a, To: b, Context: lines})
		if err != nil || !strings.Contains(string(patch), want) {
			t.Errorf("%d lines: %v: %s", lines, err, patch)
		}
	}
}

// TestDiffIgnoresSpace checks that white space is ignored in a patch for people, but not in counts.
func TestDiffIgnoresSpace(t *testing.T) {
	repo := newTestRepo(t)
	a := commitFiles(t, repo, map[string]string{"s": "one\n", "t": "one\ntwo\n"})
	b := commitFiles(t, repo, map[string]string{"s": " one\n", "t": "\tone\n2\n"})
	spec := DiffSpec{From: a, To: b, IgnoreSpace: true}
	patch, _, err := repo.Diff(context.Background(), spec)
	if err != nil || strings.Contains(string(patch), "a/s") || !strings.Contains(string(patch), "\n \tone\n-two\n+2\n") {
		t.Errorf("%v, %s", err, patch)
	}
	stats, err := repo.DiffStat(context.Background(), spec)
	if err != nil || len(stats) != 2 || stats[1].Added != 2 {
		t.Errorf("%v, %v", err, stats)
	}
}

// TestDiffIgnoresConfiguration checks that nothing configured is run or applied: no external diff, no text
// conversion, and no attribute with which a change hides a file.
func TestDiffIgnoresConfiguration(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	fired := filepath.Join(t.TempDir(), "fired")
	testGit(t, dir, "config", "diff.external", "touch "+fired)
	testGit(t, dir, "config", "diff.conv.textconv", "touch "+fired+"; cat")
	testGit(t, dir, "config", "diff.noprefix", "true")
	testGit(t, dir, "config", "color.ui", "always")
	a := testHead(t, repo)
	b := commitFiles(t, repo, map[string]string{".gitattributes": "hidden.txt -diff\nconv.txt diff=conv\n",
		"hidden.txt": "back door\n", "conv.txt": "c\n"})
	repo = openTestRepo(t, dir)
	patch, _, err := repo.Diff(context.Background(), DiffSpec{From: a, To: b})
	if err != nil || !strings.Contains(string(patch), "\n+back door\n") ||
		!strings.Contains(string(patch), "\n+++ b/hidden.txt\n") {
		t.Errorf("%v: %s", err, patch)
	}
	if exists(fired) {
		t.Error("something ran")
	}
}

func TestDiffStat(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	a := commitFiles(t, repo, map[string]string{"old name": "one\ntwo\nthree\nfour\n"})
	testGit(t, dir, "mv", "old name", "new\tname")
	b := commitFiles(t, repo, map[string]string{"bin": "\x00\x01", "a.txt": "1\n2\n",
		"new\tname": "one\ntwo\nthree\nfour\nfive\n"})
	got, err := repo.DiffStat(context.Background(), DiffSpec{From: a, To: b})
	want := []FileStat{{Path: "a.txt", Added: 2, Deleted: 1}, {Path: "bin", Binary: true},
		{Path: "new\tname", OldPath: "old name", Added: 1}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func FuzzParseNumstat(f *testing.F) {
	f.Add("1\t2\tp\x00")
	f.Add("1\t2\t\x00old\x00new\x00-\t-\tbin\x00")
	f.Fuzz(func(t *testing.T, listing string) {
		stats, err := parseNumstat(listing)
		for _, s := range stats {
			if err == nil && s.Path == "" && s.OldPath != "" {
				t.Errorf("%+v has no path", s)
			}
		}
	})
}

func TestRange(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	first := testHead(t, repo)
	testGit(t, dir, "tag", "-am", "tag", "v1")
	second := commitFiles(t, repo, map[string]string{"b": "b"})
	testGit(t, dir, "checkout", "-qb", "side", "v1")
	side := commitFiles(t, repo, map[string]string{"s": "s"})
	testGit(t, dir, "checkout", "-q", "--orphan", "lonely")
	commitFiles(t, repo, map[string]string{"l": "l"})
	testGit(t, dir, "checkout", "-q", "main")
	for _, c := range []struct {
		spec     string
		from, to ID
	}{
		{"HEAD", first, second}, {"v1", repo.objects.EmptyTreeID(), first}, {"v1..main", first, second},
		{"side..", side, second},
		{"..side", second, side}, {"main...side", first, side}, {"HEAD~1", repo.objects.EmptyTreeID(), first},
	} {
		from, to, err := repo.Range(context.Background(), c.spec)
		if err != nil || from != c.from || to != c.to {
			t.Errorf("%s: %s %s, %v, want %s %s", c.spec, from.Short(), to.Short(), err, c.from.Short(), c.to.Short())
		}
	}
	for _, spec := range []string{"nobody", "main..nobody", "nobody..main", "main...lonely", "", "--all", "-q..main"} {
		if _, _, err := repo.Range(context.Background(), spec); spec != "" && !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

func TestEmptyTree(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		repo := newTestRepoFormat(t, format)
		id, err := repo.EmptyTree(context.Background())
		if err != nil || id != repo.objects.EmptyTreeID() || !repo.objects.Has(context.Background(), id) {
			t.Errorf("%s: %s, %v", format, id, err)
		}
	}
}

func TestCommits(t *testing.T) {
	repo := newTestRepo(t)
	first := testHead(t, repo)
	second := commitFiles(t, repo, map[string]string{"b": "b"})
	testGit(t, repo.WorkTree, "commit", "-q", "--allow-empty", "-m", "subject: über\nand on\n\nbody", "--author",
		"Jo É <jo@example.com>")
	third := testHead(t, repo)
	got, err := repo.Commits(context.Background(), first, third, 0)
	if err != nil || len(got) != 2 || got[0].ID != third || got[1].ID != second {
		t.Fatalf("got %+v, %v", got, err)
	}
	want := LoggedCommit{ID: third, Parents: []ID{second}, When: got[0].When, Author: "Jo É <jo@example.com> 1767323045",
		Committer: got[1].Committer, Subject: "subject: über and on", Message: "subject: über\nand on\n\nbody\n"}
	if !reflect.DeepEqual(got[0], want) || got[0].When.Unix() != 1767323045 {
		t.Errorf("got %+v, want %+v", got[0], want)
	}
	if all, err := repo.Commits(context.Background(), repo.objects.EmptyTreeID(), third, 0); err != nil || len(all) != 3 {
		t.Errorf("all: %+v, %v", all, err)
	}
	if one, err := repo.Commits(context.Background(), "", third, 1); err != nil || len(one) != 1 || one[0].ID != third {
		t.Errorf("one: %+v, %v", one, err)
	}
}

func TestOperation(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	if got := repo.Operation(); got != "" {
		t.Errorf("at rest: %q", got)
	}
	testGit(t, dir, "checkout", "-qb", "side")
	commitFiles(t, repo, map[string]string{"a.txt": "side\n"})
	patch := testGitRaw(t, dir, "format-patch", "--stdout", "-1")
	testGit(t, dir, "checkout", "-q", "main")
	commitFiles(t, repo, map[string]string{"a.txt": "main\n"})
	writeTestFile(t, repo.GitDir, "patch", patch)
	for want, args := range map[string][]string{
		"merge": {"merge", "side"}, "rebase": {"rebase", "side"}, "cherry-pick": {"cherry-pick", "side"},
		"revert": {"revert", "--no-edit", "HEAD~1"}, "am": {"am", filepath.Join(repo.GitDir, "patch")},
		"bisect": {"bisect", "start"},
	} {
		_, _ = testGitError(dir, args...) // stops before the end
		if got := repo.Operation(); got != want {
			t.Errorf("after git %s: %q", args, got)
		}
		end := []string{args[0], "--abort"}
		if want == "bisect" {
			end = []string{"bisect", "reset"}
		}
		if out, err := testGitError(dir, end...); err != nil {
			t.Fatalf("%s: %s", end, out)
		}
	}
}

func TestDiffers(t *testing.T) {
	repo := newTestRepo(t)
	ctx := t.Context()
	a := commitFiles(t, repo, map[string]string{"mode": "m\n", "moved": "a long enough line to be found again\n",
		"sub/x.gen": "x\n", "same": "s\n"})
	for _, err := range []error{
		os.Chmod(filepath.Join(repo.WorkTree, "mode"), 0o755),
		os.Rename(filepath.Join(repo.WorkTree, "moved"), filepath.Join(repo.WorkTree, "moved2")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b := commitFiles(t, repo, map[string]string{"sub/x.gen": "y\n"})
	for _, c := range []struct {
		spec DiffSpec
		want bool
	}{
		{DiffSpec{From: a, To: b}, true}, {DiffSpec{To: b}, true}, {DiffSpec{From: b, To: b}, false},
		{DiffSpec{From: a, To: b, Paths: []string{"mode"}}, true},
		{DiffSpec{From: a, To: b, Paths: []string{"moved2"}}, true},
		{DiffSpec{From: a, To: b, Paths: []string{"same"}}, false}, {DiffSpec{From: a, To: b, Paths: []string{"sub"}}, true},
		{DiffSpec{From: a, To: b, Paths: []string{"sub"}, Exclude: []string{"*.gen"}}, false},
	} {
		stats, err := repo.DiffStat(ctx, c.spec)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := repo.Differs(ctx, c.spec); err != nil || got != c.want || len(stats) > 0 != c.want {
			t.Errorf("%+v: %t, %v; %d files, want %t", c.spec, got, err, len(stats), c.want)
		}
	}
}
