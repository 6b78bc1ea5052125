package gitstore

import (
	"context"

	"git-runr/gitstore/entrylog"
	"git-runr/gitstore/gitdir"
	"git-runr/gitstore/odb"
	"git-runr/gitstore/refdb"
)

// What the packages below give to those who use a repository.
type (
	Config       = gitdir.Config
	Identity     = gitdir.Identity
	GitError     = gitdir.GitError
	ID           = odb.ID
	Commit       = odb.Commit
	MissingError = odb.MissingError
	DamagedError = entrylog.DamagedError
	Entry        = entrylog.Entry
	Notes        = entrylog.Notes
	Pushed       = entrylog.Pushed
	Record       = entrylog.Record
	RefusedError = entrylog.RefusedError
	Rejection    = entrylog.Rejection
	Tips         = entrylog.Tips
)

// Errors that callers tell apart with errors.Is. What wraps them says which
// repository, ref or object is meant.
var (
	ErrNoGit         = gitdir.ErrNoGit
	ErrNotRepository = gitdir.ErrNotRepository
	ErrNotFound      = gitdir.ErrNotFound
	ErrNoIdentity    = gitdir.ErrNoIdentity
	ErrBusy          = gitdir.ErrBusy
	ErrLostRace      = gitdir.ErrLostRace
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
	ErrSign          = gitdir.ErrSign
	ErrTooLarge      = gitdir.ErrTooLarge
	ErrRemote        = gitdir.ErrRemote
)

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
	dir     *gitdir.Dir
	objects *odb.Store
	refs    *refdb.Store
}

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
	return &Repo{dir.Place, entrylog.New(dir, objects, refs), dir, objects, refs}, nil
}

// at is the same repository seen from another place of it: a linked worktree.
func (r *Repo) at(place gitdir.Place) *Repo {
	dir := r.dir.At(place)
	objects := r.objects.At(dir)
	refs := refdb.New(dir, objects)
	return &Repo{dir.Place, r.Store.At(dir, objects, refs), dir, objects, refs}
}

// SetConfig writes one value to the repository's own configuration file.
func (r *Repo) SetConfig(ctx context.Context, key, value string) error {
	return r.dir.SetConfig(ctx, key, value)
}

// MergeBase is the best common ancestor of two commits; a *MissingError when they have
// none here.
func (r *Repo) MergeBase(ctx context.Context, a, b ID) (ID, error) {
	return r.refs.MergeBase(ctx, a, b)
}

// IsAncestor reports whether commit a is b or an ancestor of it.
func (r *Repo) IsAncestor(ctx context.Context, a, b ID) (bool, error) {
	return r.refs.IsAncestor(ctx, a, b)
}

// Identity is who acts here: user.name and user.email, else what git itself
// would use for a committer. It is ErrNoIdentity when git would refuse to commit.
func (r *Repo) Identity(ctx context.Context) (Identity, error) { return r.dir.Identity(ctx) }

// Lock takes a lock of this tool's own by name, and waits up to 30 s for another
// holder; then it is ErrBusy. The kernel gives the lock back when its holder dies.
// In a read-only repository the error wraps fs.ErrPermission or EROFS.
// The caller calls unlock once. The lock excludes other holders in this process too.
func (r *Repo) Lock(ctx context.Context, name string) (unlock func(), err error) {
	return r.dir.Lock(ctx, name)
}

// TryLock is Lock without waiting: ok is false when somebody else holds the lock.
func (r *Repo) TryLock(name string) (unlock func(), ok bool, err error) { return r.dir.TryLock(name) }

// DropLock removes the file of a lock that nobody will need again. The caller holds
// the lock, and what it guards must say so itself to whoever comes later: another
// process may hold a lock on the removed file.
func (r *Repo) DropLock(name string) { r.dir.DropLock(name) }

// Close gives back the pack files that reading has opened. The repository can
// still be used afterwards.
func (r *Repo) Close() error { return r.objects.Close() }

// ReadCommit reads a commit; a tag is not followed. What this version does not
// know in a header (signatures, merged tags, headers of other tools) is passed over.
func (r *Repo) ReadCommit(ctx context.Context, id ID) (Commit, error) {
	return r.objects.ReadCommit(ctx, id)
}

// Resolve gives the commit that a revision means, such as a branch, "HEAD~2" or
// an abbreviated id. It is ErrNotFound, with the revision as it was given, when
// there is none; a revision that begins with "-" is refused. HEAD needs no git
// process, and is ErrUnborn before the first commit.
func (r *Repo) Resolve(ctx context.Context, rev string) (ID, error) { return r.refs.Resolve(ctx, rev) }

// Head is the commit that is checked out; ErrUnborn before the first one.
func (r *Repo) Head(ctx context.Context) (ID, error) { return r.refs.Head(ctx) }

// Branch is the ref that HEAD stands on, such as refs/heads/main, also before its
// first commit; "" when HEAD is detached.
func (r *Repo) Branch(ctx context.Context) (string, error) { return r.refs.Branch(ctx) }

// Blob reads a file of a commit or tree at a slash-separated path. ErrNotFound
// when there is none, or something else than a file or symbolic link.
func (r *Repo) Blob(ctx context.Context, treeish ID, path string) ([]byte, error) {
	return r.refs.Blob(ctx, treeish, path)
}

// Refs gives the refs below a prefix such as "refs/runr/log/" by full name. What
// does not follow git's rules for names, and locks, are left out.
func (r *Repo) Refs(ctx context.Context, prefix string) (map[string]ID, error) {
	return r.refs.Refs(ctx, prefix)
}

// Ref gives the object that a ref points to, "" when there is no such ref. A
// symbolic ref is followed.
func (r *Repo) Ref(ctx context.Context, name string) (ID, error) { return r.refs.Ref(ctx, name) }

// SwapRef moves a ref from old to new in one step. old "" means that the ref must
// not exist, new "" deletes it. It is ErrLostRace when the ref is not at old,
// ErrBusy when its lock stays held, and ErrConflict when another ref's name is in
// the way. Symbolic refs are refused. Only refs of this tool, notes and branches
// can be moved.
func (r *Repo) SwapRef(ctx context.Context, name string, new, old ID) error {
	return r.refs.SwapRef(ctx, name, new, old)
}

// DropRefs deletes refs of this tool's own that are there.
func (r *Repo) DropRefs(ctx context.Context, names []string) error {
	return r.refs.DropRefs(ctx, names)
}
