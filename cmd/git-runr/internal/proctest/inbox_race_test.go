package proctest

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
	"github.com/git-runr/git-runr/gitstore/testtmp"
)

// claimers is the number of processes that claim one review at once.
const claimers = 20

// claimEnd is the result of one such process.
type claimEnd struct {
	status int
	said   string
}

// TestClaimIsExclusive: of twenty processes that claim one review at once, exactly one succeeds, and the others print
// the holder.
func TestClaimIsExclusive(t *testing.T) {
	rounds := 5
	if testtmp.Long() {
		rounds = 20
	}
	dir, env := scripttest.Repo(t)
	for round := range rounds {
		scripttest.RunIn(t, dir, env, "git-runr", "-q", "review", "--reviewer", "human", "--no-serve")
		scripttest.RunIn(t, dir, env, "git-runr", "-q", "inbox", "submit", "latest", "--approve")
		checkClaims(t, round, claimAtOnce(dir, env))
	}
}

// claimAtOnce starts all claimers together.
func claimAtOnce(dir string, env []string) []claimEnd {
	ends := make([]claimEnd, claimers)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range ends {
		all.Go(func() {
			cmd := exec.Command("git-runr", "inbox", "claim", "latest", "--as", fmt.Sprintf("chat-%d", i))
			cmd.Dir, cmd.Env = dir, env
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			<-start
			_ = cmd.Run() // the result is in its status
			ends[i] = claimEnd{cmd.ProcessState.ExitCode(), out.String()}
		})
	}
	close(start)
	all.Wait()
	return ends
}

// checkClaims checks that there is one winner, and that all others print the winner's name.
func checkClaims(t *testing.T, round int, ends []claimEnd) {
	t.Helper()
	winner := -1
	for i, end := range ends {
		if end.status == int(exit.OK) && winner < 0 {
			winner = i
		} else if end.status != int(exit.Claimed) {
			t.Fatalf("round %d: chat-%d ended with %d beside chat-%d:\n%s", round, i, end.status, winner, end.said)
		}
	}
	if winner < 0 {
		t.Fatalf("round %d: nobody got it", round)
	}
	for i, end := range ends {
		if told := fmt.Sprintf("is claimed by chat-%d\n", winner); i != winner && !strings.Contains(end.said, told) {
			t.Fatalf("round %d: chat-%d was told %q, not of chat-%d", round, i, end.said, winner)
		}
	}
}
