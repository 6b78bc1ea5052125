package proctest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
)

// cloneCount returns the number of requests in RUNR_WORK_REQUESTS, or 8.
func cloneCount() int {
	if n, err := strconv.Atoi(os.Getenv("RUNR_WORK_REQUESTS")); err == nil {
		return n
	}
	return 8
}

// clone makes a clone that shares with hub, with its own home and configuration.
func (w *workers) clone(hub string, parallel int) (dir string, env []string) {
	w.t.Helper()
	dir, home := filepath.Join(w.t.TempDir(), "clone"), w.t.TempDir()
	scripttest.RunIn(w.t, filepath.Dir(dir), w.env, "git", "clone", "-q", hub, dir)
	if parallel > 0 {
		w.configure(home, parallel)
	}
	return dir, append(w.env[:len(w.env):len(w.env)], "XDG_CONFIG_HOME="+home)
}

// TestWorkForAll lets two clones do the requests of a third and kills one of them in the middle. In one case it is
// started again, in the other its leases expire.
func TestWorkForAll(t *testing.T) {
	for name, late := range map[string]int{"comes back": 0, "leases lapse": 2} {
		t.Run(name, func(t *testing.T) {
			requests := cloneCount()
			w, asker := newWorkers(t, 1)
			hub := filepath.Join(t.TempDir(), "hub.git")
			scripttest.RunIn(t, asker, w.env, "git", "init", "-q", "--bare", hub)
			scripttest.RunIn(t, asker, w.env, "git", "remote", "add", "origin", hub)
			scripttest.RunIn(t, asker, w.env, "git", "push", "-q", "origin", "HEAD")
			store := w.ask(asker, requests)
			scripttest.RunIn(t, asker, w.env, "git-runr", "sync")

			b, envB := w.clone(hub, 2)
			c, envC := w.clone(hub, 2)
			first := w.start(b, envB, "--for-all", "--drain", "--timeout", "5m")
			mode := "--drain"
			if name == "leases lapse" {
				mode = "--once"
			}
			second := w.start(c, envC, "--for-all", mode, "--timeout", "5m")
			for w.callsBy(envB) < 2 { // wait until the agent works on the second clone's review, so that its lease exists
				time.Sleep(5 * time.Millisecond)
			}
			w.kill(first)
			if name == "comes back" {
				scripttest.RunIn(t, b, envB, "git-runr", "work", "--for-all", "--drain", "--timeout", "5m")
				<-second.ended
			} else {
				<-second.ended
				said := scripttest.RunIn(t, c, envC, "git-runr", "work", "--for-all")
				if !strings.Contains(said, "In another clone: ") {
					t.Errorf("what the killed one leased is taken, or not told of: %s", said)
				}
				later := append(envC[:len(envC):len(envC)],
					"GIT_RUNR_CLOCK="+time.Now().Add(15*time.Minute).UTC().Format(time.RFC3339))
				t.Log(scripttest.RunIn(t, c, later, "git-runr", "work", "--for-all", "--drain"))
				scripttest.RunIn(t, b, envB, "git-runr", "work", "--for-all", "--drain")
			}
			scripttest.RunIn(t, asker, w.env, "git-runr", "sync")
			w.checkDone(store, requests, late)
			w.checkClean(b)
			w.checkClean(c)
			w.checkSame(map[string][]string{asker: w.env, b: envB, c: envC})
			if refs := scripttest.RunIn(t, hub, w.env, "git", "for-each-ref", "refs/runr/leases"); refs != "" {
				t.Errorf("leases are left:\n%s", refs)
			}
			if calls, most := w.calls(), requests+2*w.kills; calls > most {
				t.Errorf("the agent was called %d times, want at most %d", calls, most)
			}
			t.Logf("%d reviews, %d killed, %d calls", requests, w.kills, w.calls())
		})
	}
}

// checkSame checks that the inboxes of clones are equal.
func (w *workers) checkSame(clones map[string][]string) {
	w.t.Helper()
	want := ""
	for dir, env := range clones {
		scripttest.RunIn(w.t, dir, env, "git-runr", "sync")
		got := scripttest.RunIn(w.t, dir, env, "git-runr", "--json", "inbox", "list", "--status", "all")
		if want != "" && got != want {
			w.t.Errorf("inboxes differ:\n%s\n%s", got, want)
		}
		want = got
	}
}
