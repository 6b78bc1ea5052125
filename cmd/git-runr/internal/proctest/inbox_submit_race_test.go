package proctest

import (
	"encoding/json"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
)

// submitters is the number of processes that submit one draft at once.
const submitters = 6

// TestDraftIsSubmittedOnce: if several processes submit one draft at once, its comments and the verdict are recorded
// once, and every process reports them.
func TestDraftIsSubmittedOnce(t *testing.T) {
	dir, env := scripttest.Repo(t)
	for range 3 {
		scripttest.RunIn(t, dir, env, "git-runr", "-q", "review", "--reviewer", "human", "--no-serve")
		scripttest.RunIn(t, dir, env, "git-runr", "-q", "inbox", "comment", "latest", "a.txt:1", "-m", "once")
		scripttest.RunIn(t, dir, env, "git-runr", "-q", "inbox", "comment", "latest", "-m", "on the whole")
		var all sync.WaitGroup
		for range submitters {
			all.Go(func() {
				cmd := exec.Command("git-runr", "inbox", "submit", "latest", "--request-changes", "-m", "no")
				cmd.Dir, cmd.Env = dir, env
				out, err := cmd.CombinedOutput()
				if err != nil || !strings.Contains(string(out), "changes requested, 2 comments.") {
					t.Errorf("%v: %s", err, out)
				}
			})
		}
		all.Wait()
		if said := submissionsOf(t, dir, env); len(said) != 1 || len(said[0].Comments) != 2 {
			t.Fatalf("submitted: %+v", said)
		}
	}
}

// submissionsOf returns the submissions of the latest review.
func submissionsOf(t *testing.T, dir string, env []string) []struct{ Comments []struct{ Comment string } } {
	t.Helper()
	var doc struct {
		Submissions []struct{ Comments []struct{ Comment string } }
	}
	if err := json.Unmarshal([]byte(scripttest.RunIn(t, dir, env, "git-runr", "inbox", "get", "latest", "--json")),
		&doc); err != nil {
		t.Fatal(err)
	}
	return doc.Submissions
}
