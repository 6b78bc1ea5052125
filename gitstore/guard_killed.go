package gitstore

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

func (r *Repo) guardsDir() string { return filepath.Join(r.StateDir(), "guards") }

// guardLock returns the name of the lock that the process with an open guard holds.
func guardLock(file string) string {
	return "guard-" + strings.TrimSuffix(filepath.Base(file), ".json")
}

// guarded reports whether what was added to a log of this clone, up to tip, may be an agent's: an agent's turn is under
// way, or it was noted after one.
func (r *Repo) guarded(ctx context.Context, ref string, tip ID) bool {
	noted, err := r.Alterations(ctx)
	if err != nil {
		return false
	}
	open, _ := filepath.Glob(filepath.Join(gitdir.GlobQuote(r.guardsDir()), "*.json")) // only of live processes
	return len(open) > 0 || slices.ContainsFunc(noted, func(a Alteration) bool {
		return slices.ContainsFunc(a.Refs, func(c RefChange) bool { return c.ByAgent && c.Ref == ref && c.New == tip })
	})
}

// save writes the guard's state to disk.
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

// takeUpKilled compares the state of guards whose process was killed with the present, and records the changes. A
// person may have made them after the process died.
func (r *Repo) takeUpKilled(ctx context.Context) error {
	files, err := os.ReadDir(r.guardsDir())
	if err != nil {
		return nil // no guard was ever open
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
			continue // its process is alive
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

// PutBackLogs puts back logs of other clones to which the git of an agent added something until git-runr was killed, so
// that what reads them next does not count it. On an error, guard restore tries again.
func (r *Repo) PutBackLogs(ctx context.Context) { _ = r.takeUpKilled(ctx) }

func (r *Repo) takeUpGuard(ctx context.Context, file string) error {
	data, err := safefile.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil // another process was faster
	}
	g := &Guard{repo: r, file: file}
	if err == nil && json.Unmarshal(data, &g.guardState) == nil {
		a := g.Changes(ctx)
		a.While, a.At = g.While+", until git-runr was killed", time.Now().UTC()
		for _, c := range a.Refs { // so that nothing counts them before somebody decides
			if _, isOther := r.otherLog(c.Ref); isOther && c.ByAgent {
				_, _ = r.PutBackOwn(ctx, c) // on an error, guard restore tries again
			}
		}
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

// Changes returns all changes since the guard was opened. It leaves out refs if they cannot be compared.
func (g *Guard) Changes(ctx context.Context) Alteration {
	a := Alteration{While: g.While, Files: g.Files(ctx), Heads: g.Heads(ctx), Begun: g.Begun(), Staged: g.Restaged(ctx)}
	a.Stash, a.StashByAgent = g.Dropped()
	a.Refs, _ = g.Refs(ctx)
	return a
}
