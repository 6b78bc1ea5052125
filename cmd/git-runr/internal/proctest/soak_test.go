package proctest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testtmp"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// soakWriters is the number of concurrent writers, of which one is killed each second.
const soakWriters = 8

// TestSoak kills writers while git collects garbage and packs refs. Nothing that was acknowledged is lost, and every
// command works afterwards. RUNR_SOAK sets the length of a round, RUNR_SOAK_ROUNDS their number; testdata/soak.sh
// runs ten rounds of 30 s.
func TestSoak(t *testing.T) {
	length, rounds := time.Second, 1
	if testtmp.Long() {
		length = 4 * time.Second
	}
	if d, err := time.ParseDuration(os.Getenv("RUNR_SOAK")); err == nil {
		length = d
	}
	if n, err := strconv.Atoi(os.Getenv("RUNR_SOAK_ROUNDS")); err == nil {
		rounds = n
	}
	for round := range rounds {
		dir, env := scripttest.Repo(t)
		s := &soak{t: t, dir: dir, env: env}
		s.run(length)
		s.check()
		t.Logf("round %d: %d acknowledged, %d killed, gc %d of %d, pack-refs %d of %d", round+1, len(s.acknowledged),
			s.killed, s.gc.good, s.gc.all, s.pack.good, s.pack.all)
	}
}

type soak struct {
	t        *testing.T
	dir      string
	env      []string
	killed   int
	gc, pack tally

	mu           sync.Mutex
	acknowledged []string
}

type tally struct{ good, all int }

// run lets the writers write for that long.
func (s *soak) run(length time.Duration) {
	ctx, cancel := context.WithTimeout(s.t.Context(), length)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { s.gc = s.repeat(ctx, "gc", "-q", "--prune=now") })
	all.Go(func() { s.pack = s.repeat(ctx, "pack-refs", "--all") })
	victims := make(chan struct{})
	for range soakWriters {
		all.Go(func() { s.writer(ctx, victims) })
	}
	for ctx.Err() == nil {
		time.Sleep(time.Second/2 + rand.N(time.Second))
		select {
		case victims <- struct{}{}:
			s.killed++
		case <-ctx.Done():
		}
	}
	all.Wait()
}

// repeat runs a git command again and again. It may fail when it meets a ref or an object that is moving.
func (s *soak) repeat(ctx context.Context, args ...string) (n tally) {
	for ctx.Err() == nil {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = s.dir, s.env
		if n.all++; cmd.Run() == nil {
			n.good++
		}
	}
	return n
}

// writer starts a writing process, and another one whenever it is killed.
func (s *soak) writer(ctx context.Context, victims <-chan struct{}) {
	for ctx.Err() == nil {
		cmd := exec.Command("ask-for-ever", s.dir)
		cmd.Env = s.env
		out := &soakOutput{soak: s}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			s.t.Error(err)
			return
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-victims:
			cmd.Process.Kill()
		case <-ctx.Done():
			cmd.Process.Kill()
		case err := <-ended:
			s.t.Errorf("a writer ended by itself: %v", err)
			ended <- err
		}
		<-ended
	}
}

// soakOutput reads a writer's output by lines. A last line without an end was not acknowledged.
type soakOutput struct {
	*soak
	rest []byte
}

func (o *soakOutput) Write(p []byte) (int, error) {
	o.rest = append(o.rest, p...)
	for {
		line, rest, ok := bytes.Cut(o.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		o.rest = rest
		id, ok := strings.CutPrefix(string(line), "acknowledged ")
		if !ok {
			o.t.Errorf("a writer says: %s", line)
			continue
		}
		o.mu.Lock()
		o.acknowledged = append(o.acknowledged, id)
		o.mu.Unlock()
	}
}

// check checks that every acknowledged review exists and every command works.
func (s *soak) check() {
	s.t.Helper()
	listed := scripttest.RunIn(s.t, s.dir, s.env, "git-runr", "--json", "log")
	lost := 0
	for _, id := range s.acknowledged {
		if !strings.Contains(listed, `"review_id":"`+id+`"`) && !strings.Contains(listed, `"review":"`+id+`"`) {
			lost++
		}
	}
	if lost > 0 || len(s.acknowledged) == 0 {
		s.t.Errorf("%d of %d acknowledged events are lost", lost, len(s.acknowledged))
	}
	for _, argv := range [][]string{
		{"git-runr", "status"}, {"git-runr", "inbox"}, {"git-runr", "inbox", "get", "latest"}, {"git-runr", "fsck"},
		{"git-runr", "review", "--reviewer", "human", "--no-serve"}, {"git-runr", "inbox", "submit", "latest", "--approve"},
		{"git-runr", "gc", "--dry-run"}, {"git-runr", "fsck", "--rebuild"},
		{"git", "gc", "-q", "--prune=now"}, {"git", "fsck", "--strict"}, {"git", "log", "-1", "--notes=runr"},
	} {
		scripttest.RunIn(s.t, s.dir, s.env, argv...)
	}
}

// askForEver requests one review after the other and prints their ids.
func askForEver(dir string, out, errOut io.Writer) int {
	ctx := context.Background()
	repo, err := gitstore.Open(ctx, dir)
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	store := store.NewStore(repo, time.Now)
	subject, err := store.Subject(ctx, "HEAD")
	for n := 0; err == nil; n++ {
		var review record.Review
		review, err = store.RequestReview(ctx,
			record.ReviewRequest{Subject: subject, Reviewer: record.Human,
				Message: strconv.Itoa(os.Getpid()) + " " + strconv.Itoa(n)}, "cli")
		if err == nil {
			fmt.Fprintln(out, "acknowledged", review.ID)
		}
		if err == nil && n%8 == 7 {
			err = store.Project(ctx)
		}
		if errors.Is(err, gitstore.ErrBusy) || errors.Is(err, gitstore.ErrLostRace) {
			err = nil // it said so, and the caller may try again
		}
	}
	fmt.Fprintln(errOut, err)
	return 1
}
