package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// How often a process checks whether it is asked to stop, and how long the other process waits for it.
const (
	lookEvery = 200 * time.Millisecond
	stopsIn   = time.Minute
)

// stopFile returns the file that asks the process of a run to stop. It contains who asks.
func stopFile(s *store.Store, run string) string { return filepath.Join(FilesDir(s, run), "stop") }

// TakeRun locks a run as HoldRun does. If a process on this machine executes the run, TakeRun first stops it: the
// process ends its agent and records the run as interrupted. The error is gitstore.ErrBusy if the process does not end
// within a minute.
func TakeRun(ctx context.Context, s *store.Store, run record.Run) (unlock func(), err error) {
	unlock, err = HoldRun(s, run.ID)
	if !errors.Is(err, gitstore.ErrBusy) || run.Status != record.RunRunning {
		return unlock, err
	}
	by, err := s.Repo.Identity(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(stopFile(s, run.ID), []byte(by.String()), 0o600); err != nil {
		return nil, fmt.Errorf("stop run %s: %w", run.ID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stopsIn)
	defer cancel()
	for duration.Sleep(ctx, lookEvery) == nil {
		if unlock, err = HoldRun(s, run.ID); !errors.Is(err, gitstore.ErrBusy) {
			return unlock, err
		}
	}
	_ = os.Remove(stopFile(s, run.ID))
	return HoldRun(s, run.ID)
}

// StoppedError is the cause of a context that ended because another process called TakeRun.
type StoppedError struct{ By string }

func (e *StoppedError) Error() string { return "stopped by " + e.By }

// Stoppable returns a context that ends when another process calls TakeRun for run, which the caller holds. The caller
// has to call ended when it is done.
func Stoppable(ctx context.Context, s *store.Store, run string) (_ context.Context, ended func()) {
	file := stopFile(s, run)
	_ = os.Remove(file) // an old request was for another process
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for ctx.Err() == nil {
			if by, err := os.ReadFile(file); err == nil {
				cancel(&StoppedError{string(by)})
			}
			_ = duration.Sleep(ctx, lookEvery)
		}
	}()
	return ctx, func() {
		cancel(nil)
		_ = os.Remove(file)
	}
}
