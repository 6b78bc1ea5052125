package proctest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testtmp"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// lingerer is an agent that records each call, takes its time and ignores TERM. If nobody reads its answer, it stays.
// Its last argument identifies it.
const lingerer = `trap "" TERM PIPE; cat >/dev/null; echo "$1" >>"$0/calls"; sh -c "sleep 0.$((1 + $$ % 4)) # $0"; echo "### Verdict: PASS" 2>/dev/null || sh -c "sleep 120; # $0"`

// workers are processes of git runr work that are killed.
type workers struct {
	t     *testing.T
	rng   *rand.Rand
	env   []string
	agent string // directory of the agent
	kills int
}

func newWorkers(t *testing.T, parallel int) (w *workers, dir string) {
	t.Helper()
	dir, env := scripttest.Repo(t)
	w = &workers{t: t, rng: rand.New(rand.NewPCG(10, uint64(parallel))), env: env, agent: t.TempDir()}
	for _, kv := range env { // the requests are made in this process
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_CONFIG_") || name == "HOME" ||
			strings.HasPrefix(name, "XDG_") {
			t.Setenv(name, value)
		}
	}
	w.configure(os.Getenv("XDG_CONFIG_HOME"), parallel)
	return w, dir
}

// configure defines the agent called slow in the user's configuration in home.
func (w *workers) configure(home string, parallel int) {
	w.t.Helper()
	text := fmt.Sprintf("[loop]\nparallel = %d\n[agents.slow]\ncommand = [\"sh\", \"-c\", %q, %q, %q]\n", parallel,
		lingerer, w.agent, filepath.Base(home))
	err := os.MkdirAll(filepath.Join(home, "git-runr"), 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "git-runr", "config.toml"), []byte(text), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// ask makes requests without starting any work.
func (w *workers) ask(dir string, requests int) *store.Store {
	w.t.Helper()
	repo, err := gitstore.Open(w.t.Context(), dir)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { repo.Close() })
	store := store.NewStore(repo, time.Now)
	subject, err := store.Subject(w.t.Context(), "HEAD")
	for range requests {
		if err == nil {
			_, err = store.RequestReview(w.t.Context(), record.ReviewRequest{Subject: subject, Reviewer: "slow"}, "cli")
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return store
}

// workProcess is one process of git runr work.
type workProcess struct {
	cmd   *exec.Cmd
	out   bytes.Buffer
	ended chan struct{}
}

func (w *workers) start(dir string, env []string, args ...string) *workProcess {
	w.t.Helper()
	p := &workProcess{cmd: exec.Command("git-runr", append([]string{"work"}, args...)...), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = dir, env
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p
}

func (p *workProcess) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// kill kills a process if it still runs, and counts it.
func (w *workers) kill(p *workProcess) {
	if !p.over() {
		w.kills++
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// killSome runs count processes at once and kills one of them again and again, after random pauses of up to pause.
func (w *workers) killSome(count, kills int, pause time.Duration, start func(n int) *workProcess) {
	w.t.Helper()
	all := make([]*workProcess, count)
	for n := range all {
		all[n] = start(n)
	}
	for range kills {
		time.Sleep(time.Duration(w.rng.Int64N(int64(pause))))
		n := w.rng.IntN(count)
		w.kill(all[n])
		all[n] = start(n)
	}
	for _, p := range all {
		<-p.ended
		if code := p.cmd.ProcessState.ExitCode(); code != 0 {
			w.t.Errorf("a worker ended with %d:\n%s", code, &p.out)
		}
	}
}

// calls returns how often the agent was called.
func (w *workers) calls() int {
	data, _ := os.ReadFile(filepath.Join(w.agent, "calls"))
	return bytes.Count(data, []byte("\n"))
}

// callsBy returns how often the clone with the environment env called the agent.
func (w *workers) callsBy(env []string) int {
	data, _ := os.ReadFile(filepath.Join(w.agent, "calls"))
	return bytes.Count(data, []byte(filepath.Base(env[len(env)-1])+"\n"))
}

// checkDone checks that every review was done once. Killed workers may leave at most late answers that were shared
// after another clone's answer.
func (w *workers) checkDone(records *store.Store, requests, late int) {
	w.t.Helper()
	reviews, total, err := records.Reviews(w.t.Context(), store.Filter{})
	if err != nil || total != requests {
		w.t.Fatalf("%d reviews, %v", total, err)
	}
	for _, r := range reviews {
		review, err := records.Review(w.t.Context(), r.ID)
		if err != nil {
			w.t.Fatal(err)
		}
		late -= len(review.Lost)
		if review.Status != record.ReviewSubmitted || len(review.Submissions) != 1 || late < 0 {
			w.t.Errorf("review %s is %s, %d submissions, lost %v, %+v", r.ID, r.Status, len(review.Submissions), review.Lost,
				review.Failures)
		}
	}
}

// checkClean checks that nothing of the killed workers is left.
func (w *workers) checkClean(dir string) {
	w.t.Helper()
	state := filepath.Join(dir, ".git", "runr")
	for _, pattern := range []string{"worktrees/*", "checkouts/*", "review-*"} {
		if left, _ := filepath.Glob(filepath.Join(state, pattern)); len(left) > 0 {
			w.t.Errorf("left %q", left)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".cache", "git-runr", "worktrees", "*")); len(left) > 0 {
		w.t.Errorf("left %q", left)
	}
	if got := scripttest.RunIn(w.t, dir, w.env, "git", "worktree", "list"); strings.Count(got, "\n") != 1 {
		w.t.Errorf("worktrees:\n%s", got)
	}
	if refs := scripttest.RunIn(w.t, dir, w.env, "git", "for-each-ref", "refs/runr-local/leases"); refs != "" {
		w.t.Errorf("leases are noted:\n%s", refs)
	}
	for _, pid := range w.agents() {
		w.t.Errorf("process %d still runs", pid)
	}
}

// agents returns the process ids of the agent, if the system provides them.
func (w *workers) agents() (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && bytes.Contains(line, []byte(w.agent)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killCount returns the number of kills in RUNR_WORK_KILLS, or 10.
func killCount() int {
	if n, err := strconv.Atoi(os.Getenv("RUNR_WORK_KILLS")); err == nil {
		return n
	}
	if testtmp.Long() {
		return 10
	}
	return 4
}

// TestWorkKilled kills git runr work at random moments, with four processes and with one that does four reviews at a
// time. Each review is done once, and nothing is left behind.
func TestWorkKilled(t *testing.T) {
	for name, c := range map[string]struct{ processes, each int }{"four processes": {4, 1}, "four at a time": {1, 4}} {
		t.Run(name, func(t *testing.T) {
			kills := killCount()
			requests := kills*2 + 4
			w, dir := newWorkers(t, 4)
			store := w.ask(dir, requests)
			w.killSome(c.processes, kills, 400*time.Millisecond, func(int) *workProcess {
				return w.start(dir, w.env, "--drain", "-j", strconv.Itoa(c.each), "--timeout", "5m")
			})
			said := scripttest.RunIn(t, dir, w.env, "git-runr", "work")
			w.checkDone(store, requests, 0)
			w.checkClean(dir)
			if calls, most := w.calls(), requests+w.kills*c.each+1; calls > most {
				t.Errorf("the agent was called %d times, want at most %d", calls, most)
			}
			t.Logf("%d reviews, %d killed, %d calls; then: %s", requests, w.kills, w.calls(), said)
		})
	}
}
