package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Unpushed lists commits of tips that the remote does not have yet, newest first, at most max.
// It excludes old, the commits of the refs on the remote, and the remote's branches as last
// fetched. If remote is not a configured remote, the branches of all remotes count. A tip may be
// a tag. It ignores tips that HasCommit does not report.
func (r *Repo) Unpushed(ctx context.Context, remote string, tips, old []ID, max int) ([]LoggedCommit, error) {
	var revs []ID
	for _, tip := range tips {
		commit, err := r.commitAt(ctx, tip)
		if err != nil {
			return nil, err
		}
		if commit != "" {
			revs = append(revs, commit)
		}
	}
	if len(revs) == 0 { // git would log HEAD
		return nil, nil
	}
	prefix := "refs/remotes/"
	if slices.Contains(r.Remotes(), remote) {
		prefix += remote + "/"
	}
	seen, err := r.Refs(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("list what the remote has: %w", err)
	}
	revs = append(revs, r.except(ctx, slices.AppendSeq(slices.Clone(old), maps.Values(seen)))...)
	commits, err := r.logMessages(ctx, revs, fmt.Sprintf("--max-count=%d", max), "--no-patch")
	if err != nil {
		return nil, fmt.Errorf("list what is pushed: %w", err)
	}
	return commits, nil
}

// RemoteAt returns the configured remote that a push to name goes to: name itself, or the one with that URL. It returns
// name if there is none.
func (r *Repo) RemoteAt(name string) string {
	remotes := r.Remotes()
	at := slices.IndexFunc(remotes, func(remote string) bool { return r.Config.Get("remote."+remote+".url") == name })
	if slices.Contains(remotes, name) || at < 0 {
		return name
	}
	return remotes[at]
}

// PushRemotes returns the remotes that a branch may be pushed to: the configured one, or else all.
func (r *Repo) PushRemotes(branch string) []string {
	remotes := r.Remotes()
	own := "branch." + branch
	for _, key := range []string{own + ".pushremote", "remote.pushdefault", own + ".remote"} {
		if name := r.Config.Get(key); slices.Contains(remotes, name) {
			return []string{name}
		}
	}
	return remotes
}

// Trunks are the branches of a remote that other branches are merged into: main, master, and the branch that the
// remote's HEAD names here.
type Trunks struct {
	Refs  []string // on the remote: refs/heads/main
	Known bool     // the remote's HEAD is known here
	// Guessed says that neither the remote's HEAD nor a branch main or master of it is known here.
	Guessed bool
	// Unseen says that no branch of the remote is known here.
	Unseen bool
	tips   []ID // as last fetched
}

// Trunks returns the trunks of a remote.
func (r *Repo) Trunks(ctx context.Context, remote string) (Trunks, error) {
	trunks, place := Trunks{Refs: []string{"refs/heads/main", "refs/heads/master"}}, "refs/remotes/"+remote+"/"
	if !slices.Contains(r.Remotes(), remote) {
		return trunks, nil
	}
	target, err := r.refs.SymbolicTarget(ctx, place+"HEAD")
	if err != nil {
		return trunks, fmt.Errorf("read the HEAD of %s: %w", remote, err)
	}
	name, known := strings.CutPrefix(target, place)
	if trunks.Known = known; known && !slices.Contains(trunks.Refs, "refs/heads/"+name) {
		trunks.Refs = append(trunks.Refs, "refs/heads/"+name)
	}
	for _, ref := range trunks.Refs {
		tip, err := r.Ref(ctx, place+strings.TrimPrefix(ref, "refs/heads/"))
		if err != nil {
			return trunks, err
		}
		if tip != "" {
			trunks.tips = append(trunks.tips, tip)
		}
	}
	if trunks.Guessed = !known && len(trunks.tips) == 0; trunks.Guessed {
		seen, err := r.Refs(ctx, place)
		trunks.Unseen = len(seen) == 0
		return trunks, err
	}
	return trunks, nil
}

// maxPushBase is how many commits PushBase looks at that no remote has.
const maxPushBase = 10_000

// PushBase returns the newest commit of head's history that a remote is known to have: on its trunks, or on its other
// branches if no trunk was fetched. If no branch of a remote is known, it is where branch, a full ref name, began here.
// It is "" if that is unknown, or head itself.
func (r *Repo) PushBase(ctx context.Context, remotes []string, branch string, head ID) (ID, error) {
	known := false
	for _, remote := range remotes {
		trunks, err := r.Trunks(ctx, remote)
		if err != nil {
			return "", err
		}
		known = known || len(trunks.tips) > 0 || trunks.Guessed && !trunks.Unseen
		for _, tip := range trunks.tips {
			base, err := r.MergeBase(ctx, tip, head)
			if missing := new(MissingError); err != nil && !errors.As(err, &missing) {
				return "", fmt.Errorf("find what %s has: %w", remote, err)
			}
			if base != "" && base != head {
				return base, nil
			}
		}
	}
	if !known && slices.Contains([]string{"refs/heads/main", "refs/heads/master"}, branch) {
		return "", nil // it is the trunk
	}
	if !known {
		base, _, err := r.BranchPointOf(ctx, branch, head)
		return base, err
	}
	fresh, err := r.Unpushed(ctx, "", []ID{head}, nil, maxPushBase)
	if n := len(fresh); err == nil && n > 0 && n < maxPushBase && len(fresh[n-1].Parents) > 0 {
		return fresh[n-1].Parents[0], nil
	}
	return "", err
}

// AddedBeside lists the commits of tip that no trunk has as last fetched, newest first, at most max: all commits if no
// trunk was fetched. In a shallow clone it then returns a *MissingError. ok is false if tip leads to no commit.
func (r *Repo) AddedBeside(ctx context.Context, trunks Trunks, tip ID,
	max int) (commits []LoggedCommit, ok bool, err error) {
	commit, err := r.commitAt(ctx, tip)
	if err != nil || commit == "" {
		return nil, false, err
	}
	revs := append([]ID{commit}, r.except(ctx, trunks.tips)...)
	commits, err = r.logMessages(ctx, revs, fmt.Sprintf("--max-count=%d", max), "--no-patch")
	if err == nil && len(trunks.tips) == 0 {
		err = r.Whole(string(tip.Short()), commits)
	}
	if err != nil {
		return nil, true, fmt.Errorf("list what is pushed: %w", err)
	}
	return commits, true, nil
}

// Added lists the commits in the history of tip and not of old, newest first, at most max. ok is false if old is not
// here.
func (r *Repo) Added(ctx context.Context, tip, old ID, max int) (commits []LoggedCommit, ok bool, err error) {
	if !r.objects.ValidID(old) || !r.objects.Has(ctx, old) {
		return nil, false, nil
	}
	commits, err = r.logMessages(ctx, []ID{tip, "^" + old}, fmt.Sprintf("--max-count=%d", max), "--no-patch")
	if err != nil {
		return nil, true, fmt.Errorf("list what is pushed: %w", err)
	}
	return commits, true, nil
}

// HasCommit reports whether tip is here and is a commit or a tag that leads to one.
func (r *Repo) HasCommit(ctx context.Context, tip ID) (bool, error) {
	commit, err := r.commitAt(ctx, tip)
	return commit != "", err
}

// commitAt returns the commit that tip is or leads to, or "" if there is none here.
func (r *Repo) commitAt(ctx context.Context, tip ID) (ID, error) {
	commit, err := r.refs.Resolve(ctx, string(tip)+"^{commit}")
	if err = IgnoreNotFound(err); err != nil {
		return "", fmt.Errorf("read what is pushed: %w", err)
	}
	return commit, nil
}

// LastMove returns the last message in HEAD's reflog, such as "commit: title" or
// "merge side: Fast-forward", or "" if there is no reflog.
func (r *Repo) LastMove(ctx context.Context) (string, error) {
	line, err := r.dir.GitLine(ctx, "log", "--walk-reflogs", "--max-count=1", "--format=%gs", "HEAD", "--")
	if err != nil {
		return "", fmt.Errorf("read the reflog of HEAD: %w", err)
	}
	return line, nil
}
