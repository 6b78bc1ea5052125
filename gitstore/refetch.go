package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What a log needs and cannot be read here is brought from a remote again. A fetch
// into this repository would not do it: git takes what its refs lead to for present,
// and refuses to write over an object that it cannot read. So the logs at fault are
// fetched as a whole into a repository of their own, with nothing to begin from, and
// the pack that git has checked there is put beside the others. A reader, git's and
// ours, takes any good copy of an object.

// Refetched is what Refetch did.
type Refetched struct {
	Writers []string    // whose logs are whole again
	Missing []Rejection // logs that are not, and why
}

// ReportDamage notes entries of logs that cannot be read as a whole, for the next
// Damaged. What cannot be noted is met again.
func (r *Repo) ReportDamage(entries ...ID) {
	known := r.readDamage()
	before := len(known)
	for _, id := range entries {
		if _, noted := known[id]; !noted && r.validID(id) {
			known[id] = time.Time{}
		}
	}
	if len(known) > before {
		_ = r.writeDamage(known)
	}
}

// noteDamage gives err, an error of reading an entry, and notes the entry where it,
// or a file of it, is damaged or missing.
func (r *Repo) noteDamage(ctx context.Context, entry ID, err error) error {
	if err != nil && ctx.Err() == nil && r.readEntryWhole(ctx, entry) != nil {
		r.ReportDamage(entry)
	}
	return err
}

// Damaged reports whether an entry that was noted cannot be read still, and was not
// looked for in vain a short time ago.
func (r *Repo) Damaged(ctx context.Context) bool {
	known := r.readDamage()
	if len(known) == 0 {
		return false
	}
	due := false
	for id, again := range known {
		if r.readEntryWhole(ctx, id) == nil {
			delete(known, id)
		} else if time.Now().After(again) {
			due = true
		}
	}
	_ = r.writeDamage(known)
	return due
}

func (r *Repo) damagePath() string { return filepath.Join(r.StateDir(), "damaged") }

// readDamage are the entries that were noted, each with when it is looked for again.
func (r *Repo) readDamage() map[ID]time.Time {
	known := map[ID]time.Time{}
	text, err := os.ReadFile(r.damagePath())
	if err != nil {
		return known
	}
	for line := range strings.Lines(string(text)) {
		id, again, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if r.validID(ID(id)) {
			known[ID(id)], _ = time.Parse(time.RFC3339, again)
		}
	}
	return known
}

func (r *Repo) writeDamage(known map[ID]time.Time) error {
	if len(known) == 0 {
		return removeIfThere(r.damagePath())
	}
	var text strings.Builder
	for _, id := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&text, "%s %s\n", id, known[id].UTC().Format(time.RFC3339))
	}
	return WriteFile(r.damagePath(), []byte(text.String()), 0o666)
}

// Refetch reads all logs as a whole, and brings those that have lost something from
// the remote again.
func (r *Repo) Refetch(ctx context.Context, remote string) (Refetched, error) {
	var done Refetched
	if err := r.checkRemote(remote); err != nil {
		return done, err
	}
	broken, err := r.brokenLogs(ctx)
	if err != nil {
		return done, err
	}
	if len(broken) > 0 {
		if err := r.refetchLogs(ctx, remote, slices.Sorted(maps.Keys(broken))); err != nil {
			return done, fmt.Errorf("bring damaged logs again: %w", err)
		}
	}
	still, err := r.brokenLogs(ctx)
	if err != nil {
		return done, err
	}
	for _, writer := range slices.Sorted(maps.Keys(broken)) {
		if why := still[writer]; why != nil {
			done.Missing = append(done.Missing, Rejection{writer, cleanLine(why.Error())})
		} else {
			done.Writers = append(done.Writers, writer)
		}
	}
	known := r.readDamage()
	for id := range known {
		known[id] = time.Now().Add(failedAgain)
	}
	return done, errors.Join(r.writeDamage(known), r.dropBrokenStaged(ctx, remote))
}

// brokenLogs are the logs of which something cannot be read, and what.
func (r *Repo) brokenLogs(ctx context.Context) (map[string]error, error) {
	tips, err := r.Tips(ctx)
	if err != nil {
		return nil, err
	}
	broken, seen := map[string]error{}, map[ID]bool{}
	for writer, tip := range tips {
		if err := r.readWhole(ctx, tip, seen); err != nil {
			broken[writer] = err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return broken, nil
}

// readWhole reads a log and everything that belongs to it.
func (r *Repo) readWhole(ctx context.Context, tip ID, seen map[ID]bool) error {
	if r.SHA256() { // a process an object would take too long
		_, err := r.call(ctx, gitCall{args: []string{"rev-list", "--objects", "--quiet", string(tip)}})
		return err
	}
	for id := tip; id != "" && !seen[id]; {
		commit, err := r.ReadCommit(ctx, id)
		if err == nil {
			err = r.readWholeTree(ctx, commit.Tree, seen)
		}
		if err != nil {
			return err
		}
		seen[id] = true
		if id = ""; len(commit.Parents) > 0 {
			id = commit.Parents[0]
		}
	}
	return nil
}

// readEntryWhole reads one entry and its files.
func (r *Repo) readEntryWhole(ctx context.Context, id ID) error {
	commit, err := r.ReadCommit(ctx, id)
	if err != nil {
		return err
	}
	return r.readWholeTree(ctx, commit.Tree, map[ID]bool{})
}

func (r *Repo) readWholeTree(ctx context.Context, tree ID, seen map[ID]bool) error {
	if seen[tree] {
		return nil
	}
	entries, err := r.readTree(ctx, tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Mode == ModeCommit || seen[e.ID]:
		case e.isTree():
			err = r.readWholeTree(ctx, e.ID, seen)
		default:
			_, _, err = r.readObject(ctx, e.ID)
		}
		if err != nil && !errors.Is(err, ErrTooLarge) {
			return err
		}
		seen[e.ID] = true
	}
	seen[tree] = true
	return nil
}

// checkReadable is the error of reading an object, nil for one that is only too large.
func (r *Repo) checkReadable(ctx context.Context, id ID) error {
	_, _, err := r.readObject(ctx, id)
	if errors.Is(err, ErrTooLarge) {
		return nil
	}
	return err
}

// refetchLogs brings the logs of writers, as far as the remote has them.
func (r *Repo) refetchLogs(ctx context.Context, remote string, writers []string) error {
	there, err := r.listRemote(ctx, remote, logPrefix+"*")
	if err != nil {
		return err
	}
	scratch := filepath.Join(r.StateDir(), "refetch.git") // one at a time: what a killed one left is removed
	unlock, err := r.Lock(ctx, "refetch")
	if err != nil {
		return err
	}
	defer unlock()
	defer os.RemoveAll(scratch)
	if err := r.makeScratch(ctx, scratch); err != nil {
		return err
	}
	for _, writer := range writers {
		ref := logPrefix + writer
		if there[ref] == "" {
			continue
		}
		c := r.transportCall(remote, "", "-c", "fetch.unpackLimit=1", "-c", "remote."+remote+".promisor=false",
			"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-prune", "--no-filter", "--no-recurse-submodules",
			"--no-auto-maintenance", "--refmap=", "--end-of-options", remote, "+"+ref+":"+ref)
		c.gitDir = scratch
		if c.dir == "" {
			c.dir = r.GitDir
		}
		_, err := r.call(ctx, c)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if unconnected(err) {
			return remoteError(remote, err)
		}
		// a log that the remote cannot give, or that git refuses, stays as it is
	}
	return r.takePacks(ctx, scratch)
}

// makeScratch makes a bare repository that reaches the same remotes as this one.
func (r *Repo) makeScratch(ctx context.Context, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return readOnly(err)
	}
	_, err := gitCall{args: []string{"init", "--quiet", "--bare", "--template=", "--object-format=" + r.format}, gitDir: dir, dir: dir}.run(ctx)
	if err != nil {
		return fmt.Errorf("make a scratch repository: %w", err)
	}
	config := gitCall{args: []string{"config", "--local", "include.path", filepath.Join(r.CommonDir, "config")}, gitDir: dir, dir: dir}
	if _, err = config.run(ctx); err == nil {
		config.args = []string{"config", "--local", "--add", "core.bare", "true"} // after the include
		_, err = config.run(ctx)
	}
	return err
}

// takePacks moves the packs of another repository into this one, the index after its
// pack as git does, and removes the loose copies of what is in them: among them are
// the damaged ones.
func (r *Repo) takePacks(ctx context.Context, from string) error {
	packs, err := filepath.Glob(filepath.Join(globQuote(from), "objects", "pack", "pack-*.pack"))
	if err != nil || len(packs) == 0 {
		return err
	}
	dir := filepath.Join(r.objectsPath(), "pack")
	if err := r.mkdirShared(dir); err != nil {
		return readOnly(err)
	}
	for _, pack := range packs {
		ids, err := r.packedIDs(ctx, strings.TrimSuffix(pack, ".pack")+".idx")
		if err != nil {
			return err
		}
		for _, ext := range []string{".pack", ".rev", ".idx"} {
			name := strings.TrimSuffix(pack, ".pack") + ext
			if err := r.share(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			err := os.Rename(name, filepath.Join(dir, filepath.Base(name)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return readOnly(err)
			}
		}
		if err := syncDir(dir); err != nil {
			return err
		}
		for _, id := range ids {
			os.Remove(r.loosePath(id)) // it is in the pack
		}
	}
	return r.Close() // what is open may be a pack that was replaced
}

// packedIDs are the objects of a pack.
func (r *Repo) packedIDs(ctx context.Context, index string) ([]ID, error) {
	file, err := os.Open(index)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out, err := r.call(ctx, gitCall{args: []string{"show-index", "--object-format=" + r.format}, stdin: file})
	if err != nil {
		return nil, fmt.Errorf("read pack index: %w", err)
	}
	var ids []ID
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 1 && r.validID(ID(fields[1])) {
			ids = append(ids, ID(fields[1]))
		}
	}
	return ids, nil
}

// dropBrokenStaged removes what names a missing object where a remote's refs are
// staged: it is only a copy, and git's own gc and fetch die of it.
func (r *Repo) dropBrokenStaged(ctx context.Context, remote string) error {
	staged, err := r.Refs(ctx, remotesPrefix+remote+"/")
	if err != nil {
		return err
	}
	for ref, id := range staged {
		if r.checkReadable(ctx, id) == nil {
			continue
		}
		if err := r.swapRef(ctx, ref, "", id); err != nil {
			return err
		}
	}
	return nil
}
