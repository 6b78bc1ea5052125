package entrylog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// pushRefs is how many refs one git push names on its command line.
const pushRefs = 1000

// Pushed is the result of a push. A field is nil if the remote has the ref now, ErrLostRace if somebody else moved it
// there, or a *RefusedError.
type Pushed struct {
	Log   error // this clone's own log
	Notes error
	// Others is the number of logs of other writers that the remote did not have as they are here.
	Others int
}

// Push pushes to a remote this clone's log, the logs of others that came from there, and notes, a commit for notesRef,
// unless that is "". It skips what the remote had at the last FetchLogs. Archives go to the elected remote only.
// Nothing is forced but what ReplaceLog and RestartNotes replaced, and that only if the remote still has what was
// fetched last. It does not report refusals of the logs of others. The error is about the remote as a whole.
func (s *Store) Push(ctx context.Context, remote, notesRef string, notes odb.ID) (Pushed, error) {
	if err := s.checkRemote(remote); err != nil {
		return Pushed{}, err
	}
	if notes != "" && (!strings.HasPrefix(notesRef, "refs/notes/") || refdb.CheckRefName(notesRef) != nil) {
		return Pushed{}, fmt.Errorf("push %q: not a notes ref", notesRef)
	}
	to := s.AudienceOf(remote)
	own, err := s.storedWriter(ctx, to)
	if err != nil {
		return Pushed{}, err
	}
	held := archives{}
	if to == (Audience{}) {
		if held, err = s.unpushedArchives(ctx, remote); err != nil {
			return Pushed{}, err
		}
	}
	logs, err := s.unpushed(ctx, remote, own, held)
	if err != nil {
		return Pushed{}, err
	}
	var ours, others, view, old []string
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
	} else {
		notesRef = ""
	}
	for _, month := range slices.Sorted(maps.Keys(held)) {
		old = append(old, string(held[month])+":"+archivesPrefix+month)
	}
	leases, err := s.leases(ctx, remote, own, notesRef)
	if err != nil {
		return Pushed{}, err
	}
	refused, err := s.pushParts(ctx, remote, leases, ours, view, others, old)
	if err != nil {
		return Pushed{}, err
	}
	pushed := Pushed{Log: refused[logPrefix+own], Notes: refused[notesRef]}
	for writer := range logs {
		if writer != own && refused[logPrefix+writer] == nil {
			pushed.Others++
		}
	}
	if pushed.Log == nil && len(ours) > 0 {
		err = s.noteStaged(ctx, stagedPrefix(remote)+own, logs[own])
	}
	if pushed.Notes == nil && notes != "" {
		err = errors.Join(err, s.noteStaged(ctx, stagedNotes(remote), notes), s.EndNotesRestart())
	}
	return pushed, err
}

// leases returns the options of git push that let refs be replaced on the remote.
func (s *Store) leases(ctx context.Context, remote, own, notes string) (options []string, err error) {
	lease := func(ref string, staged odb.ID) {
		options = append(options, fmt.Sprintf("--force-with-lease=%s:%s", ref, staged))
	}
	if own != "" {
		staged, err := s.refs.Ref(ctx, stagedPrefix(remote)+own)
		if err != nil {
			return nil, err
		}
		if replaced, err := s.WasReplaced(own, staged); err != nil {
			return nil, err
		} else if replaced {
			lease(logPrefix+own, staged)
		}
	}
	if notes != "" && s.NotesRestarted() {
		staged, err := s.refs.Ref(ctx, stagedNotes(remote))
		if err != nil {
			return nil, err
		}
		if staged != "" {
			lease(notes, staged)
		}
	}
	return options, nil
}

// noteStaged records what the remote has now, as the next fetch would.
func (s *Store) noteStaged(ctx context.Context, ref string, tip odb.ID) error {
	before, err := s.refs.Ref(ctx, ref)
	if err != nil {
		return err
	}
	err = s.refs.SwapAny(ctx, ref, tip, before)
	if errors.Is(err, gitdir.ErrLostRace) { // somebody has fetched since
		return nil
	}
	return err
}

// unpushedArchives returns this clone's archives that are missing or older on the remote.
func (s *Store) unpushedArchives(ctx context.Context, remote string) (archives, error) {
	_, here, err := s.logRefs(ctx)
	if err != nil {
		return nil, err
	}
	there, err := s.sharedArchives(ctx, remote)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(here, func(month string, tip odb.ID) bool {
		known := there[month]
		if known == "" || known == tip {
			return known == tip
		}
		more, err := s.refs.IsAncestor(ctx, known, tip)
		return err != nil || !more
	})
	return here, context.Cause(ctx)
}

// unpushed returns the logs that have entries which the remote does not have. It leaves out logs that are longer there
// or have diverged, except our own, so that the remote's refusal is seen.
func (s *Store) unpushed(ctx context.Context, remote, own string, along archives) (Tips, error) {
	logs, err := s.Tips(ctx)
	if err != nil {
		return nil, err
	}
	staged, archived, err := s.sharedTips(ctx, remote)
	if err != nil {
		return nil, err
	}
	goes, err := s.archived(ctx, along)
	if err != nil {
		return nil, err
	}
	maps.Copy(archived, goes)
	goesThere, err := s.goers(ctx, remote)
	if err != nil {
		return nil, err
	}
	for writer, tip := range logs {
		if !goesThere(writer) || archived[writer] == tip {
			delete(logs, writer)
			continue
		}
		there := cmp.Or(staged[writer], archived[writer])
		if there == "" || there != tip && writer == own {
			continue
		}
		ahead := there != tip
		if ahead {
			ahead, err = s.refs.IsAncestor(ctx, there, tip)
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

// pushParts pushes all parts at once, and then each by itself if the remote refused any of it: many servers refuse a
// whole push for one ref. It returns the refusals by ref.
func (s *Store) pushParts(ctx context.Context, remote string, options []string,
	parts ...[]string) (refused map[string]error, err error) {
	parts = slices.DeleteFunc(parts, func(part []string) bool { return len(part) == 0 })
	refused, err = s.pushList(ctx, remote, options, slices.Concat(parts...))
	if err != nil || len(parts) < 2 {
		return refused, err
	}
	for _, part := range parts {
		if !slices.ContainsFunc(part, func(refspec string) bool { return isRefusal(refused[target(refspec)]) }) {
			continue
		}
		alone, err := s.pushList(ctx, remote, options, part)
		if err != nil {
			return refused, err
		}
		for _, refspec := range part {
			refused[target(refspec)] = alone[target(refspec)]
		}
	}
	return refused, nil
}

// target returns the remote's ref of a refspec.
func target(refspec string) string {
	_, ref, _ := strings.Cut(refspec, ":")
	return ref
}

func isRefusal(err error) bool { return errors.As(err, new(*RefusedError)) }

// pushList pushes refspecs and returns the refusals by ref.
func (s *Store) pushList(ctx context.Context, remote string, options, refspecs []string) (map[string]error, error) {
	refused := map[string]error{}
	for some := range slices.Chunk(refspecs, pushRefs) {
		answers, err := s.push(ctx, remote, some, options...)
		if err != nil {
			return refused, err
		}
		for _, answer := range answers {
			if err := answer.refusal(remote); err != nil {
				refused[answer.ref] = err
			}
			// the fetch before did not bring it
			if answer.flag == '=' && answer.ref == logPrefix+s.WriterFor(s.AudienceOf(remote)) {
				refused[answer.ref] = &RefusedError{Remote: remote, Ref: answer.ref, Hidden: true,
					Reason: "a server that hides it (uploadpack.hideRefs), or a fetch URL of a mirror"}
			}
		}
	}
	return refused, nil
}

// SharedNotes returns the commit of the remote's notes at the last FetchLogs, with an empty ID if there were none. It
// returns ErrNotFound if they are not a commit.
func (s *Store) SharedNotes(ctx context.Context, remote string) (odb.Commit, error) {
	tip, err := s.refs.Ref(ctx, stagedNotes(remote))
	if err != nil || tip == "" {
		return odb.Commit{}, err
	}
	commit, err := s.objects.ReadCommit(ctx, tip)
	if err != nil {
		return odb.Commit{}, fmt.Errorf("notes of remote %q: %w", remote, err)
	}
	return commit, nil
}
