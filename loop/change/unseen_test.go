package change

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
)

// sourceOf returns a repository whose branch main has the commits that a stream of git fast-import describes.
func sourceOf(t *testing.T, stream string) Source {
	t.Helper()
	testrepo.Isolate(t)
	dir := t.TempDir()
	testrepo.Git(t, dir, "init", "-q")
	testrepo.GitInput(t, dir, stream, "fast-import", "--quiet")
	repo, err := gitstore.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return Source{Repo: repo, Now: time.Now}
}

// committed is a commit of fast-import that writes files; each of them is a name and its text.
func committed(files ...[2]string) string {
	var b strings.Builder
	b.WriteString("commit refs/heads/main\ncommitter Test <test@example.com> 1767323045 +0000\ndata 1\nx\n")
	for _, f := range files {
		fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", f[0], len(f[1]), f[1])
	}
	return b.String()
}

// unseen returns how many commits before main each unseen commit of the range is.
func unseen(t *testing.T, s Source, spec string, hidden func(string) bool) []int {
	t.Helper()
	subject, err := s.Subject(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	row, err := s.Repo.Between(t.Context(), subject.Base, subject.Commit, 20*maxSeen)
	if err != nil {
		t.Fatal(err)
	}
	var at []int
	for _, id := range s.Unseen(t.Context(), subject, hidden) {
		at = append(at, slices.Index(row, id))
	}
	return at
}

func TestUnseen(t *testing.T) {
	base := committed([2]string{"a", "one\n"})
	none := func(string) bool { return false }
	for _, tt := range []struct {
		name, stream string
		hidden       func(string) bool
		want         []int
	}{
		{"the range shows all", committed([2]string{"a", "one\ntwo\n"}) + committed([2]string{"b", "three\n"}), none, nil},
		{"a line that a later commit takes back", committed([2]string{"a", "one\nsecret\n"}) +
			committed([2]string{"a", "one\n"}) + committed([2]string{"b", "three\n"}), none, []int{2}},
		{"a line that a later commit changes", committed([2]string{"a", "one\ntwo\n"}) +
			committed([2]string{"a", "one\n2\n"}), none, []int{1}},
		{"the newest commit hides all of its files", committed([2]string{"b", "three\n"}) +
			committed([2]string{"lock", "x\n"}), func(path string) bool { return path == "lock" }, []int{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sourceOf(t, base+tt.stream)
			root := testrepo.Git(t, s.Repo.CommonDir, "rev-list", "--max-parents=0", "main")
			if got := unseen(t, s, root+"..main", tt.hidden); !slices.Equal(got, tt.want) {
				t.Errorf("unseen commits before main: %v, want %v", got, tt.want)
			}
		})
	}
}

// TestUnseenBeyondTheLimit: of a long range the commits that are not compared count as unseen.
func TestUnseenBeyondTheLimit(t *testing.T) {
	s := sourceOf(t, strings.Repeat(committed(), maxSeen+3))
	root := testrepo.Git(t, s.Repo.CommonDir, "rev-list", "--max-parents=0", "main")
	want := []int{maxSeen, maxSeen + 1}
	if got := unseen(t, s, root+"..main", func(string) bool { return false }); !slices.Equal(got, want) {
		t.Errorf("unseen commits before main: %v, want %v", got, want)
	}
}
