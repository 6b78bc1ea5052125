package gitstore

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

func (r *Repo) guardsDir() string { return filepath.Join(r.StateDir(), "guards") }

// guardLock is the lock of the process that has a guard open.
func guardLock(file string) string {
	return "guard-" + strings.TrimSuffix(filepath.Base(file), ".json")
}

// save puts the guard's state on disk.
func (g *Guard) save() error {
	data, err := json.Marshal(g.guardState)
	if err == nil {
		err = os.MkdirAll(g.repo.guardsDir(), 0o700)
	}
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(g.repo.guardsDir(), "*.new")
	if err != nil {
		return err
	}
	g.file = strings.TrimSuffix(file.Name(), ".new") + ".json"
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	free, ok, err := g.repo.TryLock(guardLock(g.file))
	if err != nil || !ok {
		return errors.Join(err, os.Remove(file.Name()))
	}
	g.free = free
	return os.Rename(file.Name(), g.file)
}

// forget removes the guard's state from disk.
func (g *Guard) forget() {
	_ = os.Remove(g.file)
	if g.free != nil {
		g.free()
		g.repo.DropLock(guardLock(g.file))
	}
}

// takeUpKilled compares for guards whose process was killed, and notes what changed since they were opened: a
// person may have done it after that.
func (r *Repo) takeUpKilled(ctx context.Context) error {
	files, err := os.ReadDir(r.guardsDir())
	if err != nil {
		return nil // none was ever open
	}
	for _, entry := range files {
		file := filepath.Join(r.guardsDir(), entry.Name())
		if filepath.Ext(file) != ".json" {
			continue
		}
		free, ok, err := r.TryLock(guardLock(file))
		if err != nil {
			return err
		}
		if !ok {
			continue // its process lives
		}
		err = r.takeUpGuard(ctx, file)
		free()
		if err != nil {
			return err
		}
		r.DropLock(guardLock(file))
	}
	return nil
}

func (r *Repo) takeUpGuard(ctx context.Context, file string) error {
	data, err := safefile.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil // another process was quicker
	}
	g := &Guard{repo: r, file: file}
	if err == nil && json.Unmarshal(data, &g.guardState) == nil {
		a := g.Changes(ctx)
		a.While, a.At = g.While+", until git-runr was killed", time.Now().UTC()
		if !a.Empty() {
			err = r.NoteAlteration(ctx, a)
		}
	}
	if err != nil {
		return err
	}
	g.Close()
	return nil
}

// Changes are all that changed since the guard was opened. Refs that cannot be compared are left out.
func (g *Guard) Changes(ctx context.Context) Alteration {
	a := Alteration{While: g.While, Files: g.Files(ctx), Heads: g.Heads(ctx), Begun: g.Begun(), Staged: g.Restaged(ctx)}
	a.Stash, a.StashByAgent = g.Dropped()
	a.Refs, _ = g.Refs(ctx)
	return a
}
