package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// blamed returns who wrote lines, as "commit author summary", and a mark where history is cut off.
func blamed(t *testing.T, repo *Repo, at ID, path string, ranges ...[2]int) map[int]string {
	t.Helper()
	lines, err := repo.Blame(context.Background(), at, path, ranges)
	if err != nil {
		t.Fatal(err)
	}
	said := map[int]string{}
	for n, b := range lines {
		said[n] = string(b.Commit) + " " + b.Author + " " + b.Summary
		if b.OrOlder {
			said[n] += " or older"
		}
		if b.When.IsZero() {
			t.Errorf("line %d has no date", n)
		}
	}
	return said
}

func TestBlame(t *testing.T) {
	repo := newTestRepo(t)
	const name = "-old [x] \"name\".txt"
	first := commitFiles(t, repo, map[string]string{name: "one\ntwo\nthree\nfour\nfive\n"})
	testGit(t, repo.WorkTree, "mv", "--", name, "new.txt")
	second := commitFiles(t, repo, map[string]string{"new.txt": "one\n2\nthree\nfour\nfive\n"})
	writeTestFile(t, repo.WorkTree, "new.txt", "not committed\n")
	who := " " + strings.TrimSpace(testGit(t, repo.WorkTree, "log", "-1", "--format=%an <%ae> %s"))
	want := map[int]string{1: string(first) + who, 2: string(second) + who, 4: string(first) + who}
	same := func(got map[int]string) {
		t.Helper()
		if len(got) != len(want) {
			t.Errorf("%v", got)
		}
		for n, said := range want {
			if got[n] != said {
				t.Errorf("line %d: %q, want %q", n, got[n], said)
			}
		}
	}
	same(blamed(t, repo, second, "new.txt", [2]int{1, 2}, [2]int{4, 4}))
	if got := blamed(t, repo, first, name, [2]int{2, 2}); got[2] != string(first)+who {
		t.Errorf("%v", got)
	}

	root := ID(strings.TrimSpace(testGit(t, repo.WorkTree, "rev-list", "--max-parents=0", "HEAD")))
	file, _, _ := strings.Cut(testGit(t, repo.WorkTree, "ls-tree", "--name-only", string(root)), "\n")
	if got := blamed(t, repo, second, file, [2]int{1, 1}); !strings.HasPrefix(got[1], string(root)) ||
		strings.Contains(got[1], "or older") {
		t.Errorf("%v", got)
	}

	bare := filepath.Join(t.TempDir(), "bare.git")
	testGit(t, repo.WorkTree, "clone", "-q", "--bare", ".", bare)
	same(blamed(t, openTestRepo(t, bare), second, "new.txt", [2]int{1, 2}, [2]int{4, 4}))

	shallow := filepath.Join(t.TempDir(), "shallow")
	testGit(t, repo.WorkTree, "clone", "-q", "--depth=1", "file://"+repo.WorkTree, shallow)
	want = map[int]string{1: string(second) + who + " or older"}
	same(blamed(t, openTestRepo(t, shallow), second, "new.txt", [2]int{1, 1}))

	for _, bad := range []struct {
		at     ID
		path   string
		ranges [][2]int
	}{{second, "nothing", nil}, {second, "new.txt", [][2]int{{9, 9}}}, {"--help", "new.txt", nil},
		{first[:7], "new.txt", nil}} {
		if _, err := repo.Blame(context.Background(), bad.at, bad.path, bad.ranges); err == nil || BlameFailure(err) == "" {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if said := BlameFailure(context.DeadlineExceeded); !strings.Contains(said, "10 seconds") {
		t.Error(said)
	}
}

// TestBlameIgnoresRevisions checks that ignored revisions are skipped, and that a missing list of them is reported.
func TestBlameIgnoresRevisions(t *testing.T) {
	repo := newTestRepo(t)
	first := commitFiles(t, repo, map[string]string{"f": "one\n"})
	second := commitFiles(t, repo, map[string]string{"f": " one\n"})
	testGit(t, repo.WorkTree, "config", "blame.ignoreRevsFile", "ignored")
	_, err := repo.Blame(context.Background(), second, "f", nil)
	if git := new(GitError); !errors.As(err, &git) || !strings.Contains(BlameFailure(err), "ignored") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(repo.WorkTree, "ignored"), []byte(second+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := blamed(t, repo, second, "f"); !strings.HasPrefix(got[1], string(first)) {
		t.Errorf("%v", got)
	}
}

func FuzzParseBlame(f *testing.F) {
	id := strings.Repeat("ab", 20)
	f.Add([]byte(id +
		" 1 1 2\nauthor A\nauthor-mail <a@x>\nauthor-time 1700000000\nauthor-tz +0000\nsummary S\nboundary\nfilename f\n" +
		"\tone\n" + id + " 2 2\n\ttwo\n"))
	f.Add([]byte("\t\n\tx"))
	f.Fuzz(func(t *testing.T, text []byte) {
		lines, err := parseBlame(text)
		if err == nil && lines == nil {
			t.Error("nothing at all")
		}
		for n, b := range lines {
			if b == nil {
				t.Errorf("line %d has no blame", n)
			}
		}
	})
}
