package rewrites

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/gitstore/testtmp"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/store"
)

func TestMain(m *testing.M) { scripttest.Main(m) }

// TestRewrites rewrites reviewed commits as people rewrite history, and checks the state of their reviews afterwards.
// Each file is one history: a shell script, a line "want", and the expected result. It is run without hooks, where
// only the content can tell, and checked in a second clone, which must have the same notes. It is also run with
// hooks; then every commit that was made has a review.
func TestRewrites(t *testing.T) {
	scripttest.ReadSources(t)
	dir := filepath.Join("..", "..", "..", "..", "..", "testdata", "rewrites")
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for i, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script, want, ok := strings.Cut("\n"+string(text), "\nwant\n")
			if !ok {
				t.Fatalf("%s has no line \"want\"", file)
			}
			work := t.TempDir()
			prelude, err := os.ReadFile(filepath.Join(dir, "prelude.sh"))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(script, "filter-branch") && !testtmp.Long() {
				t.Skip("git filter-branch takes seconds, without " + testtmp.LongVar)
			}
			t.Run("with hooks", func(t *testing.T) {
				t.Parallel()
				if i%3 != 0 && !testtmp.Long() {
					t.Skip("one of three, without " + testtmp.LongVar)
				}
				work := t.TempDir()
				t.Cleanup(func() { removeBusy(work) })
				runHistory(t, work, "HOOKS=1\n"+string(prelude)+script+"\nshare\n")
				got := dumpReviews(t, filepath.Join(work, "r"))
				for line := range strings.Lines(got) {
					_, state, isCommit := strings.Cut(strings.TrimSpace(line), ": ")
					human := strings.Contains(script, "--reviewer human") && state == "pending"
					if strings.HasPrefix(line, "review of ") || strings.HasPrefix(line, "first: ") || !isCommit || human {
						continue
					}
					if kept := strings.TrimSuffix(line, "\n"); strings.HasPrefix(state, "checked") &&
						!strings.Contains(script, "human") &&
						strings.Contains(want, strings.Replace(kept, ": checked", ": carried", 1)+"\n") {
						t.Errorf("asked again although it is the same:\n%s", got)
						break
					}
					if word, _, _ := strings.Cut(state, " "); word != "checked" && word != "reviewed" && word != "carried" &&
						word != "nothing" && (word != "unshown" || !strings.Contains(script, "shown")) {
						t.Errorf("in silence:\n%s", got)
						break
					}
				}
			})
			runHistory(t, work, "HOOKS=\n"+string(prelude)+script+"\nshare\n")
			got := dumpReviews(t, filepath.Join(work, "r"))
			if os.Getenv("UPDATE_REWRITES") != "" { // read the result before you commit it
				if err := os.WriteFile(file, []byte(strings.TrimPrefix(script, "\n")+"\nwant\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			if other := dumpReviews(t, filepath.Join(work, "other")); other != got {
				t.Errorf("the second clone sees:\n%s\nthe first:\n%s", other, got)
			}
			notes := func(clone string) string {
				return testrepo.Git(t, filepath.Join(work, clone), "rev-parse", store.NotesRef+"^{tree}")
			}
			if notes("r") != notes("other") {
				t.Error("the clones have different notes")
			}
		})
	}
}

// removeBusy removes a directory in which a worker started by a hook may still write.
func removeBusy(dir string) {
	for range 100 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// runHistory runs a script in work with the program on PATH, without this machine's configuration.
func runHistory(t *testing.T, work, script string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-euc", script)
	cmd.Dir = work
	cmd.Env = append(os.Environ(),
		"HOME="+work, "XDG_CONFIG_HOME="+work, "XDG_STATE_HOME="+work, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+filepath.Join(work, "gitconfig"), "NO_COLOR=1",
		"GIT_EDITOR=:", "GIT_RUNR_CLOCK=2026-02-02T03:04:05Z", "WORK="+work)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
}

// dumpReviews returns the coverage of each commit of HEAD, newest first, and the state and moves of each review, with
// commits named by their titles.
func dumpReviews(t *testing.T, dir string) string {
	t.Helper()
	ctx := t.Context()
	repo, err := gitstore.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	s := store.NewStore(repo, time.Now)
	head, err := repo.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	commits, err := repo.LogMessages(ctx, "", head, 0)
	if err != nil {
		t.Fatal(err)
	}
	covered, err := lineage.Coverage(ctx, s, commits)
	if err != nil {
		t.Fatal(err)
	}
	title := func(id gitstore.ID) string {
		i := slices.IndexFunc(commits, func(c gitstore.LoggedCommit) bool { return c.ID == id })
		if i < 0 {
			return "what is not there any more"
		}
		return commits[i].Subject
	}
	var b strings.Builder
	for _, c := range covered {
		fmt.Fprintf(&b, "%s: %s", c.Title, c.State)
		if c.Verdict != "" {
			fmt.Fprintf(&b, " %s", c.Verdict)
		}
		b.WriteString("\n")
	}
	all, _, err := s.Reviews(ctx, store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range all {
		line := fmt.Sprintf("review of %s: %s", r.Title, r.Status)
		for _, m := range r.Moves {
			line += ", " + string(m.State)
			if m.To != "" {
				line += " to " + title(m.To)
			}
		}
		lines = append(lines, line+"\n")
	}
	slices.Sort(lines) // ids of the same second have no order
	return b.String() + strings.Join(lines, "")
}
