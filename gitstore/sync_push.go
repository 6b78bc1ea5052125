package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pushRefs is how many refs one git push names: they stand on its command line.
const pushRefs = 1000

// Pushed is what a remote made of a push. Each is nil for what the remote has now,
// ErrLostRace for what somebody else moved there, and a *RefusedError.
type Pushed struct {
	Log   error // this clone's own log
	Notes error
}

// Push pushes this clone's log, and those of others, as far as the remote has not
// got them by the last FetchLogs, and notes, a commit for the notes ref of that name,
// unless it is "". Nothing is forced. What becomes of the others' logs is their
// writers' business. An error is about the remote as a whole.
func (r *Repo) Push(ctx context.Context, remote, notesRef string, notes ID) (Pushed, error) {
	if err := r.checkRemote(remote); err != nil {
		return Pushed{}, err
	}
	if notes != "" && (!strings.HasPrefix(notesRef, "refs/notes/") || checkRefName(notesRef) != nil) {
		return Pushed{}, fmt.Errorf("push %q: not a notes ref", notesRef)
	}
	own, err := r.storedWriter(ctx)
	if err != nil {
		return Pushed{}, err
	}
	logs, err := r.unpushed(ctx, remote, own)
	if err != nil {
		return Pushed{}, err
	}
	var ours, others, view []string
	for _, writer := range slices.Sorted(maps.Keys(logs)) {
		refspec := string(logs[writer]) + ":" + logPrefix + writer
		if writer == own {
			ours = append(ours, refspec)
		} else {
			others = append(others, refspec)
		}
	}
	if notes != "" {
		view = append(view, string(notes)+":"+notesRef)
	}
	refused, err := r.pushParts(ctx, remote, ours, view, others)
	if err != nil {
		return Pushed{}, err
	}
	pushed := Pushed{Log: refused[logPrefix+own], Notes: refused[notesRef]}
	if pushed.Log == nil && len(ours) > 0 {
		err = r.noteStaged(ctx, stagedPrefix(remote)+own, logs[own])
	}
	if pushed.Notes == nil && notes != "" {
		err = errors.Join(err, r.noteStaged(ctx, stagedNotes(remote), notes))
	}
	return pushed, err
}

// noteStaged records what the remote has now, as the next fetch would.
func (r *Repo) noteStaged(ctx context.Context, ref string, tip ID) error {
	before, err := r.Ref(ctx, ref)
	if err == nil {
		err = r.swapRef(ctx, ref, tip, before)
	}
	if errors.Is(err, ErrLostRace) { // somebody has fetched since
		err = nil
	}
	return err
}

// unpushed are the logs that have more than what the remote has. A log that it has
// more of, or another form of, is left out, but for our own: there the remote has to
// say so.
func (r *Repo) unpushed(ctx context.Context, remote, own string) (Tips, error) {
	logs, err := r.Tips(ctx)
	if err != nil {
		return nil, err
	}
	staged, err := r.Refs(ctx, stagedPrefix(remote))
	if err != nil {
		return nil, err
	}
	for writer, tip := range logs {
		there := staged[stagedPrefix(remote)+writer]
		if there == "" || there != tip && writer == own {
			continue
		}
		ahead := there != tip
		if ahead {
			ahead, err = r.IsAncestor(ctx, there, tip)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil || !ahead {
			delete(logs, writer)
		}
	}
	return logs, nil
}

// pushParts pushes all parts at once, and each by itself when the remote refused some
// of it: many refuse a push as a whole for one ref that they do not like. It gives
// what was not taken, by ref.
func (r *Repo) pushParts(ctx context.Context, remote string, parts ...[]string) (refused map[string]error, err error) {
	parts = slices.DeleteFunc(parts, func(part []string) bool { return len(part) == 0 })
	refused, err = r.pushList(ctx, remote, slices.Concat(parts...))
	if err != nil || len(parts) < 2 {
		return refused, err
	}
	for _, part := range parts {
		if !slices.ContainsFunc(part, func(refspec string) bool { return isRefusal(refused[target(refspec)]) }) {
			continue
		}
		alone, err := r.pushList(ctx, remote, part)
		if err != nil {
			return refused, err
		}
		for _, refspec := range part {
			refused[target(refspec)] = alone[target(refspec)]
		}
	}
	return refused, nil
}

// target is the remote's ref of a refspec.
func target(refspec string) string {
	_, ref, _ := strings.Cut(refspec, ":")
	return ref
}

func isRefusal(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused)
}

// pushList pushes refspecs, and gives what the remote did not take.
func (r *Repo) pushList(ctx context.Context, remote string, refspecs []string) (map[string]error, error) {
	refused := map[string]error{}
	for some := range slices.Chunk(refspecs, pushRefs) {
		answers, err := r.push(ctx, remote, some)
		if err != nil {
			return refused, err
		}
		for _, answer := range answers {
			if err := answer.refusal(remote); err != nil {
				refused[answer.ref] = err
			}
		}
	}
	return refused, nil
}

// SharedNotes is the commit that the remote's notes were at by the last FetchLogs;
// its ID is "" when there were none. It is ErrNotFound when they are no commit.
func (r *Repo) SharedNotes(ctx context.Context, remote string) (Commit, error) {
	tip, err := r.Ref(ctx, stagedNotes(remote))
	if err != nil || tip == "" {
		return Commit{}, err
	}
	commit, err := r.ReadCommit(ctx, tip)
	if err != nil {
		return Commit{}, fmt.Errorf("notes of remote %q: %w", remote, err)
	}
	return commit, nil
}

// ForgetSharedNotes drops what is known of the notes of remotes: a sync brings them
// again. What is missing of them would stop git's own gc.
func (r *Repo) ForgetSharedNotes(ctx context.Context) error {
	staged, err := r.Refs(ctx, remotesPrefix)
	if err != nil {
		return err
	}
	for ref, id := range staged {
		remote := strings.TrimSuffix(strings.TrimPrefix(ref, remotesPrefix), "/notes")
		if ref != stagedNotes(remote) {
			continue
		}
		if err := r.swapRef(ctx, ref, "", id); err != nil && !errors.Is(err, ErrLostRace) {
			return err
		}
	}
	return nil
}
