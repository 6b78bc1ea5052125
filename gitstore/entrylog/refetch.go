package entrylog

import (
	"cmp"
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

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// A missing or damaged object of a log is fetched again from a remote. A fetch into this
// repository does not help: git assumes that everything its refs reach is present, and does
// not overwrite an object that it cannot read. So the damaged logs are fetched completely
// into an empty scratch repository, and the pack that git has verified there is moved into
// this one. git and this package read any good copy of an object.

// Refetched is the result of Refetch.
type Refetched struct {
	Writers []string    // writers whose logs are complete again
	Missing []Rejection // logs that are still damaged, and why
}

// Refetch reads all logs completely and fetches the damaged ones again from the remote.
func (s *Store) Refetch(ctx context.Context, remote string) (Refetched, error) {
	var done Refetched
	if err := s.checkRemote(remote); err != nil {
		return done, err
	}
	broken, err := s.brokenLogs(ctx)
	if err != nil {
		return done, err
	}
	if len(broken) > 0 {
		if err := s.refetchLogs(ctx, remote, slices.Sorted(maps.Keys(broken))); err != nil {
			return done, fmt.Errorf("bring damaged logs again: %w", err)
		}
	}
	still, err := s.brokenLogs(ctx)
	if err != nil {
		return done, err
	}
	for _, writer := range slices.Sorted(maps.Keys(broken)) {
		if why := still[writer]; why != nil {
			done.Missing = append(done.Missing, Rejection{writer, gitdir.CleanLine(why.Error())})
		} else {
			done.Writers = append(done.Writers, writer)
		}
	}
	known := s.readDamage()
	for id := range known {
		known[id] = time.Now().Add(failedAgain)
	}
	return done, errors.Join(s.writeDamage(known), s.dropBrokenStaged(ctx, remote))
}

// brokenLogs returns the damaged logs and archives, each with its error.
func (s *Store) brokenLogs(ctx context.Context) (map[string]error, error) {
	tips, err := s.Tips(ctx)
	if err != nil {
		return nil, err
	}
	_, here, err := s.logRefs(ctx)
	if err != nil {
		return nil, err
	}
	broken, seen := map[string]error{}, map[odb.ID]bool{}
	for month, tip := range here {
		if _, err := s.readArchives(ctx, tip, &archiveCache{}); err != nil {
			broken[archivesPrefix+month] = err
		}
	}
	for writer, tip := range tips {
		if err := s.readWhole(ctx, tip, seen); err != nil {
			broken[writer] = err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return broken, nil
}

// readWhole reads a log and all objects that belong to it.
func (s *Store) readWhole(ctx context.Context, tip odb.ID, seen map[odb.ID]bool) error {
	if s.dir.SHA256() { // reading starts a process per object, which is too slow
		_, err := s.dir.Call(ctx, gitdir.Call{Args: []string{"rev-list", "--objects", "--quiet", string(tip)}})
		return err
	}
	for id := tip; id != "" && !seen[id]; {
		commit, err := s.objects.ReadCommit(ctx, id)
		if err != nil {
			return err
		}
		if err := s.walkTree(ctx, commit.Tree, seen, s.checkReadable); err != nil {
			return err
		}
		seen[id] = true
		id = commit.Parent()
	}
	return nil
}

// refetchLogs fetches the logs of writers again, as far as the remote has them.
func (s *Store) refetchLogs(ctx context.Context, remote string, writers []string) error {
	there, err := s.listRemote(ctx, remote, logPrefix+"*", archivesPrefix+"*")
	if err != nil {
		return err
	}
	_, here, err := s.logRefs(ctx)
	if err != nil {
		return err
	}
	scratch := filepath.Join(s.dir.StateDir(), "refetch.git") // used under a lock: leftovers can be removed
	unlock, err := s.dir.Lock(ctx, "refetch")
	if err != nil {
		return err
	}
	defer unlock()
	defer os.RemoveAll(scratch)
	if err := s.makeScratch(ctx, scratch); err != nil {
		return err
	}
	for _, ref := range refetchRefs(writers, there, here) {
		c := s.transportCall(remote, "", "-c", "fetch.unpackLimit=1", "-c", "remote."+remote+".promisor=false",
			"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-prune", "--no-filter", "--no-recurse-submodules",
			"--no-auto-maintenance", "--refmap=", "--end-of-options", remote, "+"+ref+":"+ref)
		c.GitDir, c.Dir = scratch, cmp.Or(c.Dir, s.dir.GitDir)
		_, err := s.dir.Call(ctx, c)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if unconnected(err) {
			return remoteError(remote, err)
		}
		// a log that the remote does not have, or that git refuses, stays damaged
	}
	return s.takePacks(ctx, scratch)
}

// refetchRefs returns the remote's refs that bring the logs: their own refs, or the archives that are here.
func refetchRefs(writers []string, there map[string]odb.ID, here archives) (refs []string) {
	add := func(ref string) {
		if there[ref] != "" && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	for _, writer := range writers {
		switch {
		case strings.HasPrefix(writer, archivesPrefix):
			add(writer)
		case there[logPrefix+writer] != "":
			add(logPrefix + writer)
		default:
			for month := range here {
				add(archivesPrefix + month)
			}
		}
	}
	return refs
}

// makeScratch makes a bare repository that reaches the same remotes as this one.
func (s *Store) makeScratch(ctx context.Context, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return gitdir.ReadOnly(err)
	}
	_, err := gitdir.Call{Args: []string{"init", "--quiet", "--bare", "--template=", "--object-format=" + s.dir.Format},
		GitDir: dir, Dir: dir}.Run(ctx)
	if err != nil {
		return fmt.Errorf("make a scratch repository: %w", err)
	}
	config := gitdir.Call{Args: []string{"config", "--local", "include.path", filepath.Join(s.dir.CommonDir, "config")},
		GitDir: dir, Dir: dir}
	if _, err := config.Run(ctx); err != nil {
		return err
	}
	config.Args = []string{"config", "--local", "--add", "core.bare", "true"} // must come after the include
	_, err = config.Run(ctx)
	return err
}

// takePacks moves the packs of another repository into this one, each index after its pack as git does, and deletes
// the loose copies of their objects, which include the damaged ones.
func (s *Store) takePacks(ctx context.Context, from string) error {
	packs, err := filepath.Glob(filepath.Join(gitdir.GlobQuote(from), "objects", "pack", "pack-*.pack"))
	if err != nil || len(packs) == 0 {
		return err
	}
	dir := filepath.Join(s.objects.ObjectsPath(), "pack")
	if err := s.dir.MkdirShared(dir); err != nil {
		return gitdir.ReadOnly(err)
	}
	for _, pack := range packs {
		ids, err := s.packedIDs(ctx, strings.TrimSuffix(pack, ".pack")+".idx")
		if err != nil {
			return err
		}
		for _, ext := range []string{".pack", ".rev", ".idx"} {
			name := strings.TrimSuffix(pack, ".pack") + ext
			if err := s.dir.Share(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			err := os.Rename(name, filepath.Join(dir, filepath.Base(name)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return gitdir.ReadOnly(err)
			}
		}
		if err := safefile.SyncDir(dir); err != nil {
			return err
		}
		for _, id := range ids {
			os.Remove(s.objects.LoosePath(id)) // it is in the pack
		}
	}
	return s.objects.Close() // an open pack may have been replaced
}

// packedIDs returns the ids of the objects in a pack.
func (s *Store) packedIDs(ctx context.Context, index string) ([]odb.ID, error) {
	file, err := safefile.Open(index)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out, err := s.dir.Call(ctx, gitdir.Call{Args: []string{"show-index", "--object-format=" + s.dir.Format}, Stdin: file})
	if err != nil {
		return nil, fmt.Errorf("read pack index: %w", err)
	}
	var ids []odb.ID
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 1 && s.objects.ValidID(odb.ID(fields[1])) {
			ids = append(ids, odb.ID(fields[1]))
		}
	}
	return ids, nil
}

// dropBrokenStaged deletes the staged refs of a remote whose objects are missing. They are only copies, and they would
// make git's gc and fetch fail.
func (s *Store) dropBrokenStaged(ctx context.Context, remote string) error {
	staged, err := s.refs.Refs(ctx, remotesPrefix+remote+"/")
	if err != nil {
		return err
	}
	for ref, id := range staged {
		if s.checkReadable(ctx, id) == nil {
			continue
		}
		if err := s.refs.SwapAny(ctx, ref, "", id); err != nil {
			return err
		}
	}
	return nil
}
