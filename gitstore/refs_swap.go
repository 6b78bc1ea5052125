package gitstore

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
)

// SwapRef moves a ref from old to new in one step. old "" means that the ref must
// not exist, new "" deletes it. It is ErrLostRace when the ref is not at old,
// ErrBusy when its lock stays held, and ErrConflict when another ref's name is in
// the way. Symbolic refs are refused. Only refs of this tool, notes and branches
// can be moved.
func (r *Repo) SwapRef(ctx context.Context, name string, new, old ID) error {
	if !ownRef(name) && !strings.HasPrefix(name, "refs/heads/") && !strings.HasPrefix(name, "refs/notes/") {
		return fmt.Errorf("ref %q is not ours to move", name)
	}
	return r.swapRef(ctx, name, new, old)
}

// ownRef reports whether only this tool writes refs of this name.
func ownRef(name string) bool {
	for _, prefix := range []string{"refs/runr/", "refs/runr-local/", "refs/runr-remotes/"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "refs/notes/runr"
}

// swapRef is SwapRef for any ref. It waits for a gc that runs: what is new and named by
// no ref yet may be deleted by it, and then it is ErrLostRace before the ref is moved.
func (r *Repo) swapRef(ctx context.Context, name string, new, old ID) error {
	if new != "" && r.gcRuns() {
		if err := r.waitForGC(ctx); err != nil {
			return fmt.Errorf("move ref %s: %w", name, err)
		}
		if !r.hasObject(ctx, new) {
			return fmt.Errorf("move ref %s: gc has deleted %s: %w", name, new, ErrLostRace)
		}
	}
	return r.swapRefNow(ctx, name, new, old)
}

// swapRefNow is swapRef whatever gc does. Git does what needs git: reftable, deletion
// (which may have to rewrite packed-refs), and branches, so that the reflog has
// the move. The rest is git's own protocol in Go, which costs a tenth of a process.
func (r *Repo) swapRefNow(ctx context.Context, name string, new, old ID) error {
	if err := checkRefName(name); err != nil {
		return err
	}
	for _, id := range []ID{new, old} {
		if id != "" && !r.validID(id) {
			return fmt.Errorf("move ref %s: bad object id %q", name, id)
		}
	}
	if new == "" && old == "" { // nothing to delete: only the comparison is left
		have, err := r.Ref(ctx, name)
		if err == nil && have != "" {
			err = fmt.Errorf("move ref %s: %w: it is at %s", name, ErrLostRace, have)
		}
		return err
	}
	native := r.nativeRefs(name) && new != "" && !strings.HasPrefix(name, "refs/heads/")
	var err error
	if native {
		err = r.swapLoose(ctx, name, new, old)
	} else {
		err = r.updateRef(ctx, name, new, old)
	}
	if err != nil {
		return fmt.Errorf("move ref %s: %w", name, readOnly(err))
	}
	return nil
}

// swapLoose takes the ref's lock, compares, writes the lock file and renames it to
// the ref.
func (r *Repo) swapLoose(ctx context.Context, name string, new, old ID) error {
	lockFile, release, err := r.lockRef(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	err = r.compareRef(name, old)
	if err == nil && new != old {
		_, err = lockFile.WriteString(string(new) + "\n")
	}
	if err == nil && new != old {
		err = lockFile.Sync()
	}
	err = errors.Join(err, lockFile.Close())
	if err == nil && new != old {
		err = r.renameRef(lockFile.Name(), name)
	}
	if err != nil || new == old {
		os.Remove(lockFile.Name())
		return err
	}
	return r.syncRef(name)
}

// syncRef makes a ref that has moved durable. When its directory is gone, pack-refs
// has taken the ref to packed-refs since, and that is what has to be on the disk; a
// caller that heard of an error instead would do again what is done.
func (r *Repo) syncRef(name string) error {
	err := syncDir(filepath.Dir(r.refPath(name)))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = syncDir(filepath.Join(r.CommonDir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) { // somebody has deleted the ref
		return nil
	}
	return errors.Join(err, syncDir(r.CommonDir))
}

// compareRef checks, with the ref's lock held, that it stands at old.
func (r *Repo) compareRef(name string, old ID) error {
	have, target, err := r.readRef(name)
	switch {
	case err != nil:
		return err
	case target != "":
		return fmt.Errorf("%w to %s", errSymbolic, target)
	case have != old:
		return fmt.Errorf("%w: it is at %s, not at %s", ErrLostRace, orNothing(have), orNothing(old))
	case have == "":
		return r.checkNameFree(name)
	}
	return nil
}

func orNothing(id ID) string {
	if id == "" {
		return "nothing"
	}
	return string(id)
}

// checkNameFree refuses a new ref a/b beside a, and a beside a/b, also when only
// packed-refs knows of the other. The file system refuses it for loose ones.
func (r *Repo) checkNameFree(name string) error {
	inTheWay := ""
	err := r.scanPacked(name+"/", func(have string, _ ID) bool {
		inTheWay = have
		return false
	})
	for parent := path.Dir(name); err == nil && inTheWay == "" && parent != "refs"; parent = path.Dir(parent) {
		var id ID
		if id, err = r.packedRef(parent); id != "" {
			inTheWay = parent
		}
	}
	if err == nil && inTheWay != "" {
		err = fmt.Errorf("%w: ref %s is in the way", ErrConflict, inTheWay)
	}
	return err
}

// renameRef puts the lock file in the ref's place. Directories that are left of
// deleted refs are removed, as git does.
func (r *Repo) renameRef(lock, name string) error {
	file := r.refPath(name)
	err := os.Rename(lock, file)
	if info, statErr := os.Lstat(file); err == nil || statErr != nil || !info.IsDir() {
		return err
	}
	if !removeEmptyDirs(file) {
		return fmt.Errorf("%w: there are refs below %s", ErrConflict, name)
	}
	return os.Rename(lock, file)
}

// removeEmptyDirs removes a directory that holds nothing but directories.
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

// updateRef is the compare-and-swap of git.
func (r *Repo) updateRef(ctx context.Context, name string, new, old ID) error {
	target, err := r.symbolicTarget(ctx, name)
	if err != nil {
		return err
	}
	if target != "" {
		return fmt.Errorf("%w to %s", errSymbolic, target)
	}
	return r.gitUpdateRef(ctx, name, new, old, "runr")
}

// gitUpdateRef is update-ref with a line for the reflog, also of HEAD itself.
func (r *Repo) gitUpdateRef(ctx context.Context, name string, new, old ID, why string) error {
	old = cmp.Or(old, r.zeroID())
	args := []string{"update-ref", "--no-deref", "-m", why, "--end-of-options", name, string(new), string(old)}
	if new == "" {
		args = []string{"update-ref", "--no-deref", "-d", "--end-of-options", name, string(old)}
	}
	_, err := r.call(ctx, gitCall{args: args, env: refLockTimeout})
	return r.updateRefError(ctx, name, old, err)
}

// refLockTimeout lets git wait for a ref's lock as long as we do.
var refLockTimeout = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.filesRefLockTimeout", "GIT_CONFIG_VALUE_0=1000"}

// symbolicTarget gives what a symbolic ref points to, "" for any other ref.
func (r *Repo) symbolicTarget(ctx context.Context, name string) (string, error) {
	if r.nativeRefs(name) {
		_, target, err := r.readLooseRef(name)
		if errors.Is(err, errNotPlain) {
			err = nil // git will say what it thinks
		}
		return target, err
	}
	out, err := r.gitLine(ctx, "symbolic-ref", "-q", name)
	if exitStatus(err) == 1 {
		err = nil
	}
	return out, err
}

// updateRefError finds out why git refused: git has one exit status for all
// reasons. What the ref is now tells a lost race.
func (r *Repo) updateRefError(ctx context.Context, name string, old ID, err error) error {
	var exit *GitError
	if !errors.As(err, &exit) || name == "HEAD" {
		return err
	}
	if err := busy(err); errors.Is(err, ErrBusy) {
		return err
	}
	have, readErr := r.Ref(ctx, name)
	if have == "" {
		have = r.zeroID()
	}
	if readErr == nil && have != old {
		return fmt.Errorf("%w: it is at %s, not at %s", ErrLostRace, have, old)
	}
	if strings.Contains(exit.Stderr, "cannot create '") || strings.Contains(exit.Stderr, "exists; cannot") {
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return err
}

// keep has a ref name an object, whatever it named before.
func (r *Repo) keep(ctx context.Context, ref string, id ID) error {
	have, err := r.Ref(ctx, ref)
	if err != nil || have == id {
		return err
	}
	return r.swapRef(ctx, ref, id, have)
}

// DropRefs deletes refs of this tool's own that are there.
func (r *Repo) DropRefs(ctx context.Context, names []string) error {
	for _, name := range names {
		id, err := r.Ref(ctx, name)
		if err == nil && id != "" {
			err = r.SwapRef(ctx, name, "", id)
		}
		if err != nil {
			return fmt.Errorf("drop %s: %w", name, err)
		}
	}
	return nil
}
