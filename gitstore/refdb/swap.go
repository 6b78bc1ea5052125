package refdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// SwapRef moves a ref from old to new atomically. If old is "", the ref must not exist; if new
// is "", the ref is deleted. It returns ErrLostRace if the ref is not at old, ErrBusy if its lock
// stays held, and ErrConflict if another ref's name is in the way. It refuses symbolic refs, and
// all refs except those of this tool, notes and branches.
func (s *Store) SwapRef(ctx context.Context, name string, new, old odb.ID) error {
	if !ownRef(name) && !beginsWith(name, "refs/heads/", "refs/notes/") {
		return fmt.Errorf("ref %q is not ours to move", name)
	}
	return s.SwapAny(ctx, name, new, old)
}

// SwapAny is SwapRef for any ref. It waits for a running gc, which may delete new if no ref
// names it yet. If gc did, SwapAny returns ErrLostRace and does not move the ref.
func (s *Store) SwapAny(ctx context.Context, name string, new, old odb.ID) error {
	if new != "" && s.dir.GcRuns() {
		if err := s.dir.WaitForGC(ctx); err != nil {
			return fmt.Errorf("move ref %s: %w", name, err)
		}
		if !s.objects.Has(ctx, new) {
			return fmt.Errorf("move ref %s: gc has deleted %s: %w", name, new, gitdir.ErrLostRace)
		}
	}
	return s.SwapAnyNow(ctx, name, new, old)
}

// SwapAnyNow is SwapAny without the wait for gc. It runs git for reftable, for deletions (which may
// have to rewrite packed-refs), and for branches, so that the reflog records the move. Other refs
// it moves by git's own protocol in Go, in a tenth of the time of a process.
func (s *Store) SwapAnyNow(ctx context.Context, name string, new, old odb.ID) error {
	if err := CheckRefName(name); err != nil {
		return err
	}
	for _, id := range []odb.ID{new, old} {
		if id != "" && !s.objects.ValidID(id) {
			return fmt.Errorf("move ref %s: bad object id %q", name, id)
		}
	}
	if new == "" && old == "" { // nothing to delete: only the comparison is left
		have, err := s.Ref(ctx, name)
		if err == nil && have != "" {
			err = fmt.Errorf("move ref %s: %w: it is at %s", name, gitdir.ErrLostRace, have)
		}
		return err
	}
	native := s.nativeRefs(name) && new != "" && !strings.HasPrefix(name, "refs/heads/")
	var err error
	if native {
		err = s.swapLoose(ctx, name, new, old)
	} else {
		err = s.updateRef(ctx, name, new, old)
	}
	if err != nil {
		return fmt.Errorf("move ref %s: %w", name, gitdir.ReadOnly(err))
	}
	return nil
}

// swapLoose moves a loose ref in git's own way of writing a file safely: it creates the ref's lock
// file, compares, writes the lock file and renames it to the ref.
func (s *Store) swapLoose(ctx context.Context, name string, new, old odb.ID) error {
	lockFile, release, err := s.lockRef(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	err = s.compareRef(name, old)
	if err == nil && new != old {
		_, err = lockFile.WriteString(string(new) + "\n")
	}
	if err == nil && new != old && name != notesRef {
		err = lockFile.Sync()
	}
	err = errors.Join(err, lockFile.Close())
	if err == nil && new != old {
		err = s.renameRef(lockFile.Name(), name)
	}
	if err != nil || new == old {
		os.Remove(lockFile.Name())
		return err
	}
	if name == notesRef {
		return nil
	}
	return s.syncRef(name)
}

// syncRef makes the move of a ref durable. If the directory is gone, pack-refs has since moved the
// ref to packed-refs, so that file is synced instead. An error would make the caller repeat a move
// that is done.
func (s *Store) syncRef(name string) error {
	err := safefile.SyncDir(filepath.Dir(s.Path(name)))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = safefile.SyncDir(filepath.Join(s.dir.CommonDir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) { // somebody has deleted the ref
		return nil
	}
	return errors.Join(err, safefile.SyncDir(s.dir.CommonDir))
}

// compareRef checks that a ref is at old. The caller holds the ref's lock.
func (s *Store) compareRef(name string, old odb.ID) error {
	have, target, err := s.readRef(name)
	switch {
	case err != nil:
		return err
	case target != "":
		return fmt.Errorf("%w to %s", errSymbolic, target)
	case have != old:
		return fmt.Errorf("%w: it is at %s, not at %s", gitdir.ErrLostRace, OrNothing(have), OrNothing(old))
	case have == "":
		return s.checkNameFree(name)
	}
	return nil
}

// OrNothing formats an id for people: "nothing" for "".
func OrNothing(id odb.ID) string {
	return cmp.Or(string(id), "nothing")
}

// checkNameFree refuses a new ref a/b beside a, and a beside a/b, if the other one is in
// packed-refs. The file system refuses the rest.
func (s *Store) checkNameFree(name string) error {
	inTheWay := ""
	err := s.scanPacked(func(have string, _ odb.ID) bool {
		inTheWay = have
		return false
	}, name+"/")
	for parent := path.Dir(name); err == nil && inTheWay == "" && parent != "refs"; parent = path.Dir(parent) {
		var id odb.ID
		if id, err = s.packedRef(parent); id != "" {
			inTheWay = parent
		}
	}
	if err == nil && inTheWay != "" {
		err = fmt.Errorf("%w: ref %s is in the way", gitdir.ErrConflict, inTheWay)
	}
	return err
}

// renameRef renames the lock file to the ref. Like git, it first removes empty directories of
// deleted refs that have the ref's name.
func (s *Store) renameRef(lock, name string) error {
	file := s.Path(name)
	err := os.Rename(lock, file)
	if info, statErr := os.Lstat(file); err == nil || statErr != nil || !info.IsDir() {
		return err
	}
	if !removeEmptyDirs(file) {
		return fmt.Errorf("%w: there are refs below %s", gitdir.ErrConflict, name)
	}
	return os.Rename(lock, file)
}

// removeEmptyDirs removes a directory that contains only directories. It reports whether it did.
func removeEmptyDirs(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !e.IsDir() || !removeEmptyDirs(filepath.Join(dir, e.Name())) {
			return false
		}
	}
	return os.Remove(dir) == nil
}

// updateRef moves a ref by git's compare-and-swap. It refuses a symbolic ref.
func (s *Store) updateRef(ctx context.Context, name string, new, old odb.ID) error {
	if err := s.NotSymbolic(ctx, name); err != nil {
		return err
	}
	return s.gitUpdateRef(ctx, name, new, old, "runr")
}

// NotSymbolic returns ErrConflict if a ref is symbolic.
func (s *Store) NotSymbolic(ctx context.Context, name string) error {
	target, err := s.SymbolicTarget(ctx, name)
	if err == nil && target != "" {
		err = fmt.Errorf("%w: %s is a %w to %s", gitdir.ErrConflict, name, errSymbolic, target)
	}
	return err
}

// Move is SwapRef with a message for the reflog. It is for branches and for HEAD itself, whether
// HEAD is symbolic or not.
func (s *Store) Move(ctx context.Context, name string, new, old odb.ID, why string) error {
	if new == "" {
		return s.updateRef(ctx, name, new, old)
	}
	if err := s.gitUpdateRef(ctx, name, new, old, why); err != nil {
		return fmt.Errorf("move %s: %w", name, err)
	}
	return nil
}

// Moved is one move of a ref for SwapAll.
type Moved struct {
	Name     string
	New, Old odb.ID
}

// SwapAll moves refs of this tool together, each as SwapAnyNow, or none of them. From 50 refs on it
// takes a tenth of the time of single moves. The error does not say which ref failed. New ""
// deletes a ref.
func (s *Store) SwapAll(ctx context.Context, refs []Moved) error {
	if len(refs) == 0 {
		return nil
	}
	var moves strings.Builder
	for _, m := range refs {
		fmt.Fprintf(&moves, "update %s %s %s\n", m.Name, cmp.Or(m.New, s.objects.ZeroID()), cmp.Or(m.Old, s.objects.ZeroID()))
	}
	return s.gitMoves(ctx, gitdir.Call{Args: []string{"update-ref", "--no-deref", "--stdin"},
		Stdin: strings.NewReader(moves.String()), Env: RefLockTimeout})
}

func (s *Store) gitUpdateRef(ctx context.Context, name string, new, old odb.ID, why string) error {
	old = cmp.Or(old, s.objects.ZeroID())
	args := []string{"update-ref", "--no-deref", "-m", why, "--end-of-options", name, string(new), string(old)}
	if new == "" {
		args = []string{"update-ref", "--no-deref", "-d", "--end-of-options", name, string(old)}
	}
	call := gitdir.Call{Args: args, Env: RefLockTimeout}
	var err error
	if ownRef(name) {
		err = s.gitMoves(ctx, call)
	} else {
		_, err = s.dir.Call(ctx, call)
	}
	return s.updateRefError(ctx, name, old, err)
}

// RefLockTimeout makes git wait for a ref's lock as long as this package does.
var RefLockTimeout = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.filesRefLockTimeout",
	"GIT_CONFIG_VALUE_0=1000"}

// SymbolicTarget returns the target of a symbolic ref, or "" for any other ref.
func (s *Store) SymbolicTarget(ctx context.Context, name string) (string, error) {
	if s.nativeRefs(name) {
		_, target, err := s.readLooseRef(name)
		if errors.Is(err, errNotPlain) {
			err = nil // git reports its own error
		}
		return target, err
	}
	out, err := s.dir.GitLine(ctx, "symbolic-ref", "-q", name)
	if gitdir.ExitStatus(err) == 1 {
		err = nil
	}
	return out, err
}

// updateRefError finds out why git refused, since git has one exit status for all reasons.
// If the ref is no longer at old, the race was lost.
func (s *Store) updateRefError(ctx context.Context, name string, old odb.ID, err error) error {
	var exit *gitdir.GitError
	if !errors.As(err, &exit) || name == "HEAD" || errors.Is(err, gitdir.ErrBusy) {
		return err
	}
	have, readErr := s.Ref(ctx, name)
	have = cmp.Or(have, s.objects.ZeroID())
	if readErr == nil && have != old {
		return fmt.Errorf("%w: it is at %s, not at %s", gitdir.ErrLostRace, have, old)
	}
	if strings.Contains(exit.Stderr, "cannot create '") || strings.Contains(exit.Stderr, "exists; cannot") {
		return fmt.Errorf("%w: %w", gitdir.ErrConflict, err)
	}
	return err
}

// Keep points a ref to an object, whatever it pointed to before.
func (s *Store) Keep(ctx context.Context, ref string, id odb.ID) error {
	have, err := s.Ref(ctx, ref)
	if err != nil || have == id {
		return err
	}
	err = s.SwapAny(ctx, ref, id, have)
	if errors.Is(err, gitdir.ErrLostRace) { // perhaps to another process with the same object
		if now, nowErr := s.Ref(ctx, ref); nowErr == nil && now == id {
			return nil
		}
	}
	return err
}

// DropRefs deletes refs of this tool. It ignores missing ones.
func (s *Store) DropRefs(ctx context.Context, names []string) error {
	for _, name := range names {
		id, err := s.Ref(ctx, name)
		if err == nil && id != "" {
			err = s.SwapRef(ctx, name, "", id)
		}
		if err != nil {
			return fmt.Errorf("drop %s: %w", name, err)
		}
	}
	return nil
}
