package gitstore

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/git-runr/git-runr/gitstore/entrylog"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// What the packages below give to those who use a repository.
type (
	Audience        = entrylog.Audience
	Config          = gitdir.Config
	Identity        = gitdir.Identity
	GitError        = gitdir.GitError
	ID              = odb.ID
	Commit          = odb.Commit
	MissingError    = odb.MissingError
	DamagedError    = entrylog.DamagedError
	Entry           = entrylog.Entry
	Notes           = entrylog.Notes
	Pushed          = entrylog.Pushed
	Record          = entrylog.Record
	RefusedError    = entrylog.RefusedError
	RemoteLockError = entrylog.RemoteLockError
	Rejection       = entrylog.Rejection
	RetireRule      = entrylog.RetireRule
	Retired         = entrylog.Retired
	Tips            = entrylog.Tips
)

// Errors that callers tell apart with errors.Is. What wraps them says which
// repository, ref or object is meant.
var (
	ErrNoGit         = gitdir.ErrNoGit
	ErrNotRepository = gitdir.ErrNotRepository
	ErrUnopened      = gitdir.ErrUnopened
	ErrNotFound      = gitdir.ErrNotFound
	ErrNoIdentity    = gitdir.ErrNoIdentity
	ErrBusy          = gitdir.ErrBusy
	ErrKilled        = gitdir.ErrKilled
	ErrLostRace      = gitdir.ErrLostRace
	ErrRefName       = refdb.ErrRefName
	ErrNoChange      = gitdir.ErrNoChange
	ErrNewerFormat   = gitdir.ErrNewerFormat
	ErrDirty         = gitdir.ErrDirty
	ErrConflict      = gitdir.ErrConflict
	ErrUnmerged      = gitdir.ErrUnmerged
	ErrDeletions     = gitdir.ErrDeletions
	ErrBare          = gitdir.ErrBare
	ErrUnborn        = gitdir.ErrUnborn
	ErrCorrupt       = gitdir.ErrCorrupt
	ErrBrokenRef     = gitdir.ErrBrokenRef
	ErrIrregular     = safefile.ErrIrregular
	ErrSign          = gitdir.ErrSign
	ErrWriterName    = gitdir.ErrWriterName
	ErrTooLarge      = gitdir.ErrTooLarge
	ErrRemote        = gitdir.ErrRemote
	ErrEntangled     = entrylog.ErrEntangled
)

// IgnoreNotFound is err unless that says that an object is not here.
func IgnoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Modes of tree entries, as git writes them.
const (
	ModeFile       = odb.ModeFile
	ModeExecutable = odb.ModeExecutable
	ModeSymlink    = odb.ModeSymlink
	ModeCommit     = odb.ModeCommit // a submodule
)

// Repo is an open repository. It keeps the pack files that it has read from open
// until Close. Its methods may be called from several goroutines.
type Repo struct {
	*gitdir.Place
	*entrylog.Store
	ofDir
	ofObjects
	ofRefs
	dir     *gitdir.Dir
	objects *odb.Store
	refs    *refdb.Store
	trees   *atomic.Pointer[TreePlace] // of all views of the repository

	// Watched are files outside of git by which this tool is configured, that an agent must
	// leave alone as it must git's.
	Watched []string
	// KeepIgnored is how many bytes of ignored files a snapshot keeps in all: 0 is DefaultKeep, less is none.
	KeepIgnored int64
	// Program is this program's file, absolute; OurHook reports whether a hook of that name, which was as it was,
	// is what this program makes of it. A guard has nothing against either.
	Program string
	OurHook func(hook string, was, is []byte) bool
}

// What a Repo has of the packages below, which document it; what else they can do is for
// this package alone.
type (
	ofDir interface {
		SetConfig(ctx context.Context, key, value string) error
		Identity(ctx context.Context) (Identity, error)
		Lock(ctx context.Context, name string) (unlock func(), err error)
		TryLock(name string) (unlock func(), ok bool, err error)
		DropLock(name string)
	}
	ofObjects interface {
		ReadCommit(ctx context.Context, id ID) (Commit, error)
		WriteCommit(ctx context.Context, c Commit) (ID, error) // which no ref holds yet
		Close() error
	}
	ofRefs interface {
		Resolve(ctx context.Context, rev string) (ID, error)
		Head(ctx context.Context) (ID, error)
		Branch(ctx context.Context) (string, error)
		Blob(ctx context.Context, treeish ID, path string) ([]byte, error)
		MergeBase(ctx context.Context, a, b ID) (ID, error)
		Ancestry(heads []ID) *refdb.Ancestry
		IsAncestor(ctx context.Context, a, b ID) (bool, error)
		Refs(ctx context.Context, prefix string) (map[string]ID, error)
		Ref(ctx context.Context, name string) (ID, error)
		SwapRef(ctx context.Context, name string, new, old ID) error
		DropRefs(ctx context.Context, names []string) error
	}
)

// Open finds the repository of dir as git itself does (so that GIT_DIR, ceilings,
// safe.directory, worktrees, submodules and symbolic links count) and reads its
// configuration. It is ErrNotRepository when git finds none or refuses it; the
// message is git's.
//
// In a hook git's variables say which repository, working tree and index are meant.
// They count as far as they are about dir: a hook that goes to another repository
// gets that one.
func Open(ctx context.Context, dir string) (*Repo, error) { return opened(gitdir.Open(ctx, dir)) }

func opened(dir *gitdir.Dir, err error) (*Repo, error) {
	if err != nil {
		return nil, err
	}
	objects := odb.New(dir)
	refs := refdb.New(dir, objects)
	repo := &Repo{Store: entrylog.New(dir, objects, refs), trees: new(atomic.Pointer[TreePlace])}
	repo.lieIn(dir, objects, refs)
	if dir.Gate != nil {
		standing := repo.Altered
		dir.Gate.Before.Store(&standing)
	}
	return repo, nil
}

// lieIn sets where the repository is seen from.
func (r *Repo) lieIn(dir *gitdir.Dir, objects *odb.Store, refs *refdb.Store) {
	r.Place, r.dir, r.objects, r.refs = dir.Place, dir, objects, refs
	r.ofDir, r.ofObjects, r.ofRefs = dir, objects, refs
}

// at is the same repository seen from another place of it: a linked worktree.
func (r *Repo) at(place gitdir.Place) *Repo {
	dir := r.dir.At(place)
	objects := r.objects.At(dir)
	refs := refdb.New(dir, objects)
	view := *r
	view.Store = r.Store.At(dir, objects, refs)
	view.lieIn(dir, objects, refs)
	return &view
}
