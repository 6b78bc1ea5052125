package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/agent"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

func (p *program) workCommand() *cli.Command {
	return &cli.Command{
		Name: "work", Usage: "do the open reviews that this clone asked for",
		Description: "Runs the reviewers of open requests, one after the other, and ends. The post-commit hook and\ngit runr review start it in the background; any cron job or CI can run it. A reviewer that was\nlimited, cut off or too slow is asked again by the next work that comes 1, 5 and 25 minutes later,\nand one whose review wants an object that is not here by every next work.",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "retry", Usage: "also those whose reviewer could not be run before, and now those that wait for a limit to pass"}},
		Action:      p.action(work),
	}
}

// worked is the answer of git runr work.
type worked struct {
	Reviews int        `json:"reviews"`
	Busy    bool       `json:"busy"`           // another worker is at it
	Held    []heldJSON `json:"held,omitempty"` // reviews that were not done: their reviewer failed, or something is missing
}

// heldJSON is a review that is left alone, and why.
type heldJSON struct {
	ID      string         `json:"review_id"`
	Failure record.Failure `json:"failure"`
	Next    []string       `json:"next"` // what to type
}

// held are the reviews that this clone leaves alone.
func held(ctx context.Context, store *record.Store, worker *loop.Worker) ([]heldJSON, error) {
	summaries, err := worker.Held(ctx)
	if err != nil {
		return nil, err
	}
	var held []heldJSON
	for _, r := range summaries {
		review, err := store.Review(ctx, r.ID)
		if err != nil || review.Failure == nil {
			continue
		}
		held = append(held, heldJSON{r.ID, *review.Failure, review.Failure.Next().Commands})
	}
	return held, nil
}

// heldShown is how many reviews that are left alone are told of.
const heldShown = 5

func writeHeld(w io.Writer, held []heldJSON) {
	for _, h := range held[:min(len(held), heldShown)] {
		safetext.Fprintf(w, "Left alone: %s, %s\n", h.ID, cmp.Or(h.Failure.Detail, h.Failure.Reason))
		writeNext(w, h.Failure)
	}
	if more := len(held) - heldShown; more > 0 {
		safetext.Fprintf(w, "… and %d more\n", more)
	}
}

func work(s *session) error {
	store, conf, err := s.configured()
	if err != nil {
		return err
	}
	if err := awaitRewrite(s.ctx, store.Repo, time.Duration(conf.Hooks.Debounce)); err != nil {
		return err
	}
	progress := s.progress()
	defer progress.Close()
	worker := s.worker(store, conf, progress)
	worker.Retry = s.Bool("retry")
	result := worked{}
	for {
		unlock, free, err := store.Repo.TryLock("work")
		if err != nil {
			return err
		}
		if !free {
			result.Busy = true
			break
		}
		did, failed := 0, 0
		if err = joinRequests(s.ctx, store, conf); err == nil {
			did, failed, err = worker.Work(s.ctx)
		}
		unlock()
		result.Reviews += did
		if err != nil {
			return err
		}
		worker.Retry = false // once is what was asked for
		if did+failed == 0 { // looked again after unlocking: a request that came meanwhile found us busy
			break
		}
	}
	progress.Close()
	if !result.Busy {
		if result.Held, err = held(s.ctx, store, worker); err != nil {
			return err
		}
	}
	return s.print(result, func(w io.Writer) {
		if result.Busy {
			fmt.Fprintln(w, "Another worker is at it.")
			return
		}
		safetext.Fprintf(w, "%s done.\n", prose.Count(result.Reviews, "review"))
		writeHeld(w, result.Held)
	})
}

// startWorker starts git runr work in a session of its own.
func startWorker(repo *gitstore.Repo) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log := filepath.Join(repo.StateDir(), "work.log")
	dir := repo.WorkTree
	if dir == "" {
		dir = repo.GitDir
	}
	return agent.StartDetached(self, []string{"-C", dir, "-q", "work"}, dir, workerEnviron(os.Environ()), log)
}

// workerEnviron is what a background worker inherits: everything but what a hook of
// git's sets for itself.
func workerEnviron(env []string) []string {
	var kept []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case name == "GIT_CONFIG_GLOBAL" || name == "GIT_CONFIG_SYSTEM" || name == "GIT_CONFIG_NOSYSTEM":
		case strings.HasPrefix(name, "GIT_RUNR_"):
		case strings.HasPrefix(name, "GIT_"):
			continue
		}
		kept = append(kept, kv)
	}
	return kept
}
