package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// How often a process looks whether it is asked to stop, and how long whoever asks waits for it.
const (
	lookEvery = 200 * time.Millisecond
	stopsIn   = time.Minute
)

// stopFile is the file by which the process that carries a run out is asked to stop; it holds who asks.
func stopFile(s *store.Store, run string) string { return filepath.Join(FilesDir(s, run), "stop") }

// TakeRun is HoldRun that first stops the process on this machine that carries run out, if there is one: its agent is
// ended and the run is recorded as interrupted. The error is gitstore.ErrBusy if the process has not ended within a
// minute.
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
	for {
		select {
		case <-ctx.Done():
			_ = os.Remove(stopFile(s, run.ID))
			return HoldRun(s, run.ID)
		case <-time.After(lookEvery):
		}
		if unlock, err = HoldRun(s, run.ID); !errors.Is(err, gitstore.ErrBusy) {
			return unlock, err
		}
	}
}

// StoppedError is the cause of a context that ended because somebody asked for it by TakeRun.
type StoppedError struct{ By string }

func (e *StoppedError) Error() string { return "stopped by " + e.By }

// Stoppable returns a context that ends when another process asks by TakeRun that run, which the caller holds, be
// stopped. ended frees what that takes.
func Stoppable(ctx context.Context, s *store.Store, run string) (_ context.Context, ended func()) {
	file := stopFile(s, run)
	_ = os.Remove(file) // whoever wrote it asked another process
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for ctx.Err() == nil {
			if by, err := os.ReadFile(file); err == nil {
				cancel(&StoppedError{string(by)})
			}
			select {
			case <-ctx.Done():
			case <-time.After(lookEvery):
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		_ = os.Remove(file)
	}
}
