package gitstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/git-runr/git-runr/gitstore/entrylog"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Types of the packages below that callers of a Repo need.
type (
	Audience        = entrylog.Audience
	Config          = gitdir.Config
	Identity        = gitdir.Identity
	GitError        = gitdir.GitError
	ID              = odb.ID
	Commit          = odb.Commit
	MissingError    = odb.MissingError
	IrregularError  = safefile.IrregularError
	DamagedError    = entrylog.DamagedError
	Entry           = entrylog.Entry
	Judge           = entrylog.Judge
	Notes           = entrylog.Notes
	Pushed          = entrylog.Pushed
	Record          = entrylog.Record
	RefusedError    = entrylog.RefusedError
	RemoteLockError = entrylog.RemoteLockError
	Rejection       = entrylog.Rejection
	RetireRule      = entrylog.RetireRule
	Retired         = entrylog.Retired
	TakenUp         = entrylog.TakenUp
	Tips            = entrylog.Tips
)

// Errors that callers distinguish with errors.Is. The wrapping error names the
// repository, ref or object.
var (
	ErrNoGit         = gitdir.ErrNoGit
	ErrNotRepository = gitdir.ErrNotRepository
	ErrUnopened      = gitdir.ErrUnopened
	ErrNotFound      = gitdir.ErrNotFound
	ErrNoRevision    = gitdir.ErrNoRevision
	ErrNoIdentity    = gitdir.ErrNoIdentity
	ErrBusy          = gitdir.ErrBusy
	ErrKilled        = gitdir.ErrKilled
	ErrOtherLog      = entrylog.ErrOtherLog
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

// notFound is an ErrNotFound whose text says by itself what there is not.
type notFound string

func (e notFound) Error() string { return string(e) }
func (e notFound) Unwrap() error { return ErrNotFound }

// NotFoundf returns an error with this text alone that wraps ErrNotFound.
func NotFoundf(format string, args ...any) error { return notFound(fmt.Sprintf(format, args...)) }

// IgnoreNotFound returns nil for ErrNotFound, and any other err unchanged.
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

// Repo is an open repository. It keeps the pack files that it has read open
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
	trees   *atomic.Pointer[TreePlace] // shared by all views of the repository
	hashed  *sync.Map                  // hashes of index entries by indexContent, shared by all views

	// Watched are files outside of git that configure this tool. An agent must leave them alone, like
	// git's own.
	Watched []string
	// KeepIgnored is how many bytes of ignored files a snapshot keeps in all: 0 means DefaultKeep, less means none.
	KeepIgnored int64
	// Program is the absolute path of this program. OurHook reports whether this program changed the hook from
	// was to is. A guard accepts both.
	Program string
	OurHook func(hook string, was, is []byte) bool
}

// Methods that a Repo promotes from the packages below, which document them. All other methods of those packages are
// for this package only.
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
		WriteCommit(ctx context.Context, c Commit) (ID, error) // no ref points to it yet
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
		Refs(ctx context.Context, prefixes ...string) (map[string]ID, error)
		Ref(ctx context.Context, name string) (ID, error)
		SwapRef(ctx context.Context, name string, new, old ID) error
		DropRefs(ctx context.Context, names []string) error
	}
)

// Open finds the repository of dir as git itself does, including GIT_DIR, ceilings,
// safe.directory, worktrees, submodules and symbolic links, and reads its configuration.
// It returns ErrNotRepository, with git's message, if git finds none or refuses it.
//
// In a hook, git's variables name a repository, working tree and index. They apply only if
// they belong to dir: a hook that changes to another repository opens that one.
func Open(ctx context.Context, dir string) (*Repo, error) { return opened(gitdir.Open(ctx, dir)) }

func opened(dir *gitdir.Dir, err error) (*Repo, error) {
	if err != nil {
		return nil, err
	}
	objects := odb.New(dir)
	refs := refdb.New(dir, objects)
	repo := &Repo{Store: entrylog.New(dir, objects, refs), trees: new(atomic.Pointer[TreePlace]),
		hashed: new(sync.Map)}
	repo.lieIn(dir, objects, refs)
	repo.Guarded = repo.guarded
	if dir.Gate != nil {
		standing := repo.Altered
		dir.Gate.Before.Store(&standing)
	}
	return repo, nil
}

// lieIn sets the directory and the stores of a view of the repository.
func (r *Repo) lieIn(dir *gitdir.Dir, objects *odb.Store, refs *refdb.Store) {
	r.Place, r.dir, r.objects, r.refs = dir.Place, dir, objects, refs
	r.ofDir, r.ofObjects, r.ofRefs = dir, objects, refs
}

// at returns a view of the same repository from another worktree.
func (r *Repo) at(place gitdir.Place) *Repo {
	dir := r.dir.At(place)
	objects := r.objects.At(dir)
	refs := refdb.New(dir, objects)
	view := *r
	view.Store = r.Store.At(dir, objects, refs)
	view.lieIn(dir, objects, refs)
	return &view
}
