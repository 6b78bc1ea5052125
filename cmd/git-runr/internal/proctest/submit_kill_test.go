//go:build unix

package proctest

import (
	"fmt"
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
)

// TestSubmitKilled kills a submission before and after each of its calls of git and before its event, and submits
// again. No comment is lost or recorded twice.
func TestSubmitKilled(t *testing.T) {
	dir, env := scripttest.Repo(t)
	place := newKillPlace(t)
	place.env = env
	for n := 1; ; n++ {
		killed := false
		for _, kill := range []string{fmt.Sprint("asked ", n), fmt.Sprint("before ", n), fmt.Sprint("after ", n)} {
			scripttest.RunIn(t, dir, env, "git-runr", "-q", "review", "--reviewer", "human", "--no-serve")
			scripttest.RunIn(t, dir, env, "git-runr", "-q", "inbox", "comment", "latest", "a.txt:1", "-m", "once")
			submit := []string{"inbox", "submit", "latest", "--request-changes", "-m", "no"}
			cmd := place.command(dir, kill, submit)
			ended := cmd.Run()
			killed = killed || ended != nil && cmd.ProcessState.ExitCode() < 0
			scripttest.RunIn(t, dir, env, append([]string{"git-runr", "-q"}, submit...)...)
			if said := submissionsOf(t, dir, env); len(said) != 1 || len(said[0].Comments) != 1 {
				t.Fatalf("killed %s (%v), submitted: %+v", kill, ended, said)
			}
		}
		if !killed {
			break
		}
	}
}
