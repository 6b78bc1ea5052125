package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// PushLogs pushes this clone's log, and those of others, as far as the remote has
// not got them by the last FetchLogs. Nothing to push is no error. It is ErrLostRace
// when the remote's copy of our own log has more; what becomes of the others' logs is
// their writers' business.
func (r *Repo) PushLogs(ctx context.Context, remote string) error {
	if err := r.checkRemote(remote); err != nil {
		return err
	}
	logs, err := r.Tips(ctx)
	if err != nil {
		return err
	}
	own, err := r.storedWriter(ctx)
	if err != nil {
		return err
	}
	todo, err := r.unpushed(ctx, remote, own, logs)
	if err != nil || len(todo) == 0 {
		return err
	}
	emptied, err := r.pushSome(ctx, remote, own, todo)
	if err != nil || !emptied {
		return err
	}
	_, err = r.pushSome(ctx, remote, own, logs)
	return err
}

// unpushed are the logs that have more than what is staged. A log that the remote
// has more of, or another form of, is left out, but for our own: there the remote
// has to say so.
func (r *Repo) unpushed(ctx context.Context, remote, own string, logs Tips) (Tips, error) {
	staged, err := r.Refs(ctx, stagedPrefix(remote))
	if err != nil {
		return nil, err
	}
	todo := Tips{}
	for writer, tip := range logs {
		there := staged[stagedPrefix(remote)+writer]
		if there == tip {
			continue
		}
		if there != "" && writer != own {
			behind, err := r.IsAncestor(ctx, there, tip)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil || !behind {
				continue
			}
		}
		todo[writer] = tip
	}
	return todo, nil
}

// pushSome pushes logs. The remote was emptied when it takes a log for new that it
// had at the last fetch; then it lacks the others too.
func (r *Repo) pushSome(ctx context.Context, remote, own string, logs Tips) (emptied bool, err error) {
	var refspecs []string
	for _, writer := range slices.Sorted(maps.Keys(logs)) {
		refspecs = append(refspecs, string(logs[writer])+":"+logPrefix+writer)
	}
	answers, err := r.push(ctx, remote, refspecs)
	if err != nil {
		return false, err
	}
	var refused error
	for _, answer := range answers {
		writer := strings.TrimPrefix(answer.ref, logPrefix)
		if err := answer.refusal(remote); err != nil {
			if writer == own {
				refused = err
			}
			continue
		}
		had, err := r.noteStaged(ctx, stagedPrefix(remote)+writer, logs[writer])
		if err != nil {
			return false, err
		}
		emptied = emptied || answer.flag == '*' && had
	}
	return emptied, refused
}

// noteStaged records what the remote has now, and whether it had a log there before.
func (r *Repo) noteStaged(ctx context.Context, ref string, tip ID) (had bool, err error) {
	before, err := r.Ref(ctx, ref)
	if err != nil || tip == "" {
		return false, err
	}
	err = r.swapRef(ctx, ref, tip, before)
	if errors.Is(err, ErrLostRace) { // another sync has fetched since
		err = nil
	}
	return before != "", err
}

// PushNotes pushes a notes ref over what the remote has, if that is still what it
// was a moment ago; else ErrLostRace. Notes are a view that every clone can make, so
// the newest may replace the others.
func (r *Repo) PushNotes(ctx context.Context, remote, ref string) error {
	if err := r.checkRemote(remote); err != nil {
		return err
	}
	if !strings.HasPrefix(ref, "refs/notes/") || checkRefName(ref) != nil {
		return fmt.Errorf("push %q: not a notes ref", ref)
	}
	tip, err := r.Ref(ctx, ref)
	if err != nil || tip == "" {
		return err
	}
	seen, err := r.remoteRef(ctx, remote, ref)
	if err != nil || seen == tip {
		return err
	}
	answers, err := r.push(ctx, remote, []string{string(tip) + ":" + ref}, "--force-with-lease="+ref+":"+string(seen))
	if err != nil {
		return err
	}
	for _, answer := range answers {
		if err := answer.refusal(remote); err != nil {
			return err
		}
	}
	return nil
}

// remoteRef asks the remote what a ref is at, "" when it has none.
func (r *Repo) remoteRef(ctx context.Context, remote, ref string) (ID, error) {
	out, err := r.transport(ctx, remote, "ls-remote", "--quiet", "--end-of-options", remote, ref)
	if err != nil {
		return "", remoteError(remote, err)
	}
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if name == ref && r.validID(ID(id)) {
			return ID(id), nil
		}
	}
	return "", nil
}
