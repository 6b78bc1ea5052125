package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// A snapshot is a commit of this tool, not of the project: its parent is the commit
// of HEAD, and its tree has
//
//	tree    the files of the working tree, byte for byte
//	index   the index file; absent if there was none
//	state   lines: "head ID", "ref NAME" (absent if detached), "index-time NANOSECONDS", "rest NAME"
//	gaps    paths that could not be recorded, each ended by NUL; absent if there are none
//	modes   permissions: the most common ones of files, programs and directories, then "PERMISSIONS PATH" for each
//	        exception, each ended by NUL
//
// The tree has tracked and untracked files. It has ignored files only if they are tracked or an earlier
// snapshot of this working tree has them: adding a file to .gitignore does not hide from a snapshot
// what an agent does to it. No filter runs and line ends stay, because the files are added to a
// separate git directory (the shadow) whose attributes switch all that off. Times are not recorded.
// Of a nested repository only its commit is recorded. Everything else in the working tree is the
// rest of the snapshot: see keptDir.

// toolIdentity is the author of commits that are not a person's work.
var toolIdentity = Identity{Name: "git-runr", Email: "git-runr@localhost"}

// toolCommit writes a commit that is not a person's work.
func (r *Repo) toolCommit(ctx context.Context, tree ID, message string, when time.Time, parents ...ID) (ID, error) {
	return r.objects.WriteCommit(ctx, Commit{Tree: tree, Parents: parents, Message: message,
		Author: toolIdentity, Committer: toolIdentity, AuthorWhen: when, CommitterWhen: when})
}

// maxIndex is the largest index that is read back from a snapshot.
const maxIndex = 1 << 30

// Snapshot is the recorded state of a working tree.
type Snapshot struct {
	ID      ID       // the commit, from which all other fields can be read
	Tree    ID       // the files
	Index   ID       // blob of the index file; "" if there was none
	Head    ID       // the commit of HEAD; "" before the first commit
	HeadRef string   // the branch that HEAD was on; "" if detached
	Gaps    []string // paths that could not be recorded; a nested repository without commits has a trailing slash

	indexTime time.Time
	perms     perms
	rest      rest
	settled   bool // as made, and every later change of a file shows in git's record of it: see settleIndex
}

// SnapshotOption changes how a snapshot is taken.
type SnapshotOption func(*snapshotHow)

type snapshotHow struct {
	since  *Snapshot
	keep   bool
	asMade bool
}

// Since names an earlier snapshot: a path that was present but not in its tree stays out of the new tree.
func Since(before Snapshot) SnapshotOption {
	return func(h *snapshotHow) { h.since, h.keep = &before, h.keep || before.rest.deep }
}

// KeepIgnored keeps ignored files as well, up to Repo.KeepIgnored bytes, and examines what cannot be kept. It leaves
// out the files that Furnish put into a worktree of this tool.
func KeepIgnored() SnapshotOption { return func(h *snapshotHow) { h.keep = true } }

// AsMade declares that nobody wrote to the worktree since AddWorktree returned it, so that the snapshot reads no file.
// It has no effect if AddWorktree could not tell what git wrote.
func AsMade() SnapshotOption { return func(h *snapshotHow) { h.asMade = true } }

// Snapshot records the working tree, its index and HEAD, and sets ref to the new
// commit, whatever it was before. If ref is "", no ref points to the commit and gc may
// delete it. Snapshot only reads the user's index.
func (w *Worktree) Snapshot(ctx context.Context, ref, subject string, options ...SnapshotOption) (Snapshot, error) {
	snap, err := w.record(ctx, subject, options...)
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot of %q: %w", w.Dir, err)
	}
	if ref == "" {
		return snap, nil
	}
	return snap, w.repo.refs.Keep(ctx, ref, snap.ID)
}

// Keep sets ref to a snapshot that was taken without a ref.
func (r *Repo) Keep(ctx context.Context, ref string, snap Snapshot) error {
	return r.refs.Keep(ctx, ref, snap.ID)
}

func (w *Worktree) record(ctx context.Context, subject string, options ...SnapshotOption) (snap Snapshot, err error) {
	var how snapshotHow
	for _, option := range options {
		option(&how)
	}
	var indexErr error
	var side sync.WaitGroup
	side.Go(func() { indexErr = w.recordIndex(ctx, &snap) }) // sets other fields than shadowTree does
	err = w.shadowTree(ctx, how, &snap)
	side.Wait()
	if err = cmp.Or(err, indexErr); err != nil {
		return snap, err
	}
	return snap, w.writeSnapshot(ctx, &snap, subject)
}

// recordIndex records the index and the position of HEAD.
func (w *Worktree) recordIndex(ctx context.Context, snap *Snapshot) error {
	index, err := w.wholeIndex(ctx)
	if err != nil {
		return err
	}
	if snap.indexTime = index.modTime; index.data != nil {
		if snap.Index, err = w.repo.objects.Write(ctx, "blob", index.data); err != nil {
			return err
		}
	}
	snap.Head, snap.HeadRef, err = w.head(ctx)
	return err
}

// head returns the commit of HEAD, or "" before the first one, and its branch, or "" if detached.
func (w *Worktree) head(ctx context.Context) (id ID, branch string, err error) {
	if branch, err = w.repo.Branch(ctx); err != nil {
		return "", "", err
	}
	id, err = w.repo.Head(ctx)
	if errors.Is(err, ErrUnborn) {
		err = nil
	}
	return id, branch, err
}

// writeSnapshot writes the commit of a snapshot and sets its ID.
func (w *Worktree) writeSnapshot(ctx context.Context, snap *Snapshot, subject string) error {
	entries := []odb.TreeEntry{{Mode: odb.ModeTree, Name: "tree", ID: snap.Tree}}
	if snap.Index != "" {
		entries = append(entries, odb.TreeEntry{Mode: ModeFile, Name: "index", ID: snap.Index})
	}
	files := map[string][]byte{"state": snap.state()}
	if len(snap.Gaps) > 0 {
		files["gaps"] = joinNUL(snap.Gaps)
	}
	if snap.perms.known {
		files["modes"] = snap.perms.text(snap.rest.files)
	}
	for name, data := range files {
		id, err := w.repo.objects.Write(ctx, "blob", data)
		if err != nil {
			return err
		}
		entries = append(entries, odb.TreeEntry{Mode: ModeFile, Name: name, ID: id})
	}
	tree, err := w.repo.objects.WriteTree(ctx, entries)
	if err != nil {
		return err
	}
	var parents []ID
	if snap.Head != "" {
		parents = []ID{snap.Head}
	}
	snap.ID, err = w.repo.toolCommit(ctx, tree, subject, time.Now().UTC(), parents...)
	return err
}

func (s Snapshot) state() []byte {
	text := ""
	if s.Head != "" {
		text += "head " + string(s.Head) + "\n"
	}
	if s.HeadRef != "" {
		text += "ref " + s.HeadRef + "\n"
	}
	if s.Index != "" {
		text += "index-time " + strconv.FormatInt(s.indexTime.UnixNano(), 10) + "\n"
	}
	if s.rest.name != "" {
		text += "rest " + s.rest.name + "\n"
	}
	return []byte(text)
}

// ReadSnapshot reads a snapshot back from its commit.
func (r *Repo) ReadSnapshot(ctx context.Context, id ID) (Snapshot, error) {
	tree, err := r.refs.TreeOf(ctx, id)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read snapshot: %w", err)
	}
	entries, err := r.objects.ReadTree(ctx, tree)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read snapshot %s: %w", id, err)
	}
	snap := Snapshot{ID: id}
	for _, e := range entries {
		if err := snap.take(ctx, r, e); err != nil {
			return Snapshot{}, fmt.Errorf("read snapshot %s: %w", id, err)
		}
	}
	snap.perms.ofRest(snap.rest.files)
	if snap.Tree == "" {
		return Snapshot{}, NotFoundf("commit %s is not a snapshot", id)
	}
	return snap, nil
}

// take sets the fields that one entry of the snapshot's tree contains.
func (s *Snapshot) take(ctx context.Context, r *Repo, e odb.TreeEntry) error {
	var data []byte
	var err error
	if slices.Contains([]string{"gaps", "modes", "state"}, e.Name) {
		if data, err = r.objects.ReadKind(ctx, e.ID, "blob"); err != nil {
			return err
		}
	}
	switch e.Name {
	case "tree":
		s.Tree = e.ID
	case "index":
		s.Index = e.ID
	case "gaps":
		s.Gaps = splitNUL(data)
	case "modes":
		s.perms, err = parsePerms(splitNUL(data))
	case "state":
		if err = s.parseState(string(data)); err == nil {
			s.rest, err = r.readRest(s.rest.name)
		}
	}
	return err
}

func (s *Snapshot) parseState(text string) error {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "head":
			s.Head = ID(value)
		case "ref":
			s.HeadRef = value
		case "rest":
			s.rest.name = value
		case "index-time":
			nanos, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return fmt.Errorf("%w: index-time %q", ErrCorrupt, value)
			}
			s.indexTime = time.Unix(0, nanos)
		}
	}
	return nil
}

// index reads the index file of a snapshot.
func (s Snapshot) index(ctx context.Context, r *Repo) (indexFile, error) {
	if s.Index == "" {
		return indexFile{}, nil
	}
	_, data, err := r.objects.ReadLimit(ctx, s.Index, maxIndex)
	return indexFile{data: data, modTime: s.indexTime}, err
}

// shadowTree records the files of the working tree with the shadow git directory. The shadow's index
// is kept, so that the next snapshot reads only changed files. It is a cache: if it is damaged, or gc
// deleted objects that it needs, it is built again.
func (w *Worktree) shadowTree(ctx context.Context, how snapshotHow, snap *Snapshot) error {
	unlock, err := w.repo.Lock(ctx, shadowLock(w.GitDir))
	if err != nil {
		return err
	}
	defer unlock()
	err = w.tryShadow(ctx, how, snap)
	if !errors.As(err, new(*GitError)) {
		return err
	}
	if err := os.RemoveAll(w.shadowDir()); err != nil {
		return err
	}
	return w.tryShadow(ctx, how, snap)
}

func (w *Worktree) tryShadow(ctx context.Context, how snapshotHow, snap *Snapshot) error {
	if err := w.prepareShadow(); err != nil {
		return err
	}
	c, asMade := w.shadowCall(), how.asMade && w.made.known
	var found []string
	var err error
	if !asMade {
		ignored := w.listed(gitdir.Call{Worktree: w.Dir}, "ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
		if found, err = w.unstaged(ctx, c, ignored); err != nil {
			return err
		}
		if how.since != nil {
			found = slices.DeleteFunc(found, how.since.rest.has)
		}
		if snap.Gaps, err = w.stageFound(ctx, c, slices.Clone(found)); err != nil {
			return err
		}
	}
	c.Args = []string{"write-tree"}
	out, err := w.repo.dir.Call(ctx, c)
	if err != nil {
		return fmt.Errorf("write tree: %w", err)
	}
	snap.Tree = ID(strings.TrimSpace(string(out)))
	if asMade {
		snap.perms, snap.rest, snap.settled = w.made, rest{files: map[string]keptFile{}}, w.asMade != ""
		snap.rest.name, err = w.repo.writeRest(snap.rest)
		return err
	}
	recorded, err := w.listed(c, "ls-files", "-z", "--cached")(ctx)
	if err != nil {
		return err
	}
	keep := int64(-1)
	if how.keep {
		keep = max(0, cmp.Or(w.repo.KeepIgnored, DefaultKeep))
	}
	snap.perms, snap.rest, err = w.lookAround(ctx, recorded, found, snap.Gaps, how.since, keep)
	snap.perms.ofRest(snap.rest.files)
	return err
}

func (w *Worktree) shadowCall() gitdir.Call {
	return gitdir.Call{GitDir: w.shadowDir(), Worktree: w.Dir, Env: w.shadowEnv()}
}

func (w *Worktree) shadowDir() string { return filepath.Join(w.GitDir, "runr", "shadow") }

// shadowConfig makes git see files unchanged. Objects are synced to disk together, because a first
// snapshot can write many. A change of a large index writes only the changed part.
const shadowConfig = `[core]
	repositoryformatversion = %d
	bare = false
	fileMode = true
	symlinks = true
	autocrlf = false
	safecrlf = false
	trustctime = true
	checkStat = default
	ignoreCase = %t
	precomposeUnicode = %t
	untrackedCache = false
	splitIndex = true
	sparseCheckout = false
	fsyncMethod = batch
`

// shadowAttributes override every .gitattributes file.
const shadowAttributes = "* -text -eol -crlf -filter -ident -working-tree-encoding\n"

// prepareShadow creates or updates the shadow git directory. The caller holds its lock, so
// a lock file in it belongs to a killed process.
func (w *Worktree) prepareShadow() error {
	dir, config := w.shadowDir(), w.repo.Config
	version, extensions := 0, ""
	if w.repo.SHA256() {
		version, extensions = 1, "[extensions]\n\tobjectFormat = sha256\n"
	}
	text := fmt.Sprintf(shadowConfig, version, config.Bool("core.ignorecase"), config.Bool("core.precomposeunicode")) +
		extensions
	exclude, err := safefile.ReadFile(filepath.Join(w.repo.CommonDir, "info", "exclude"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, sub := range []string{"objects", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return err
		}
	}
	files := map[string]string{
		"HEAD": "ref: refs/heads/none\n", "config": text,
		"info/attributes": shadowAttributes, "info/exclude": string(exclude),
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if have, err := safefile.ReadFile(path); err == nil && string(have) == content {
			continue
		}
		if err := safefile.WriteFile(path, []byte(content), 0o666); err != nil {
			return err
		}
	}
	return gitdir.RemoveIfThere(filepath.Join(dir, "index.lock"))
}

// shadowEnv makes the shadow use the repository's objects (and so its alternates), and
// those settings of the repository that do not affect the content of files.
func (w *Worktree) shadowEnv() []string {
	env := []string{"GIT_OBJECT_DIRECTORY=" + w.repo.objects.ObjectsPath()}
	n := 0
	for _, key := range []string{"core.excludesFile", "core.sharedRepository"} {
		if value := w.repo.Config.Get(key); value != "" {
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
			n++
		}
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
}
