package entrylog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Fetched lists what FetchLogs could not bring, and what it repaired.
type Fetched struct {
	Refused []Rejection // refs of the remote that could not be fetched
	Locks   []string    // lock files of a killed process that were removed, with their age
	Beside  string      // lock file that prevented pruning of refs, or ""
}

// FetchLogs brings the remote's logs, and its notes ref notes unless that is "", to refs/runr-remotes/, which then
// mirrors the remote. Objects are checked on arrival. A ref to an object that git refuses keeps its old value here; it
// is tried again when it has moved, or after some time.
func (s *Store) FetchLogs(ctx context.Context, remote, notes string) (Fetched, error) {
	var done Fetched
	if err := s.checkRemote(remote); err != nil {
		return done, err
	}
	known := s.readRefusals(remote)
	all := wantedRefs(remote, notes)
	for _, ref := range slices.Sorted(maps.Keys(known)) {
		all = append(all, "^"+ref)
	}
	err := s.fetchRefs(ctx, remote, all, "--prune")
	if err != nil && ctx.Err() == nil {
		if done.Locks = s.refs.DropStaleLocks(ctx, remotesPrefix+remote+"/"); len(done.Locks) > 0 {
			err = s.fetchRefs(ctx, remote, all, "--prune")
		}
	}
	if lock := packedLock(err); lock != "" && s.fetchRefs(ctx, remote, all, "--no-prune") == nil {
		done.Beside, err = lock, nil
	}
	if err == nil && len(known) == 0 {
		return done, nil
	}
	switch {
	case ctx.Err() != nil:
		return done, context.Cause(ctx)
	case unconnected(err):
		return done, remoteError(remote, err)
	case isLocked(err):
		return done, fmt.Errorf("fetch from %q: %w: %s", remote, gitdir.ErrBusy, localComplaint(err))
	}
	if broken := s.brokenRef(ctx); broken != "" && err != nil {
		return done, fmt.Errorf("fetch from %q: %w: ref %s names an object that cannot be read", remote, gitdir.ErrCorrupt,
			broken)
	}
	done.Refused, err = s.fetchApart(ctx, remote, notes, known, err == nil)
	return done, err
}

// packedLock returns the lock file of packed refs if it was in git's way. git holds it to delete refs, and a killed
// git leaves it for ever. It may be in use by the user, so it is not removed.
func packedLock(err error) string {
	_, path, _ := strings.Cut(localComplaint(err), "'")
	path, _, _ = strings.Cut(path, "'")
	if filepath.Base(path) != "packed-refs.lock" {
		return ""
	}
	return path
}

// One ref that cannot be fetched makes git's whole fetch fail. The refs are then fetched in
// parts, and a failing part is halved, down to the refs at fault. These are remembered with
// their values, so that a later fetch leaves them out and costs no more than before.

// Limits of one hunt, so that many bad refs cannot delay a fetch for long. The next fetch
// goes on with the rest; logs that are known here come first.
const (
	huntFetches = 100
	huntTime    = 10 * time.Minute
)

// How long a bad ref is left out if it does not move. What git's own check refused does not
// change; other failures may be repaired on the remote, so they are tried again sooner.
const (
	refusedAgain = 30 * 24 * time.Hour
	failedAgain  = time.Hour
)

// refusal is a ref of a remote that could not be fetched.
type refusal struct {
	Tip    odb.ID    `json:"tip"`
	Reason string    `json:"reason"`
	Until  time.Time `json:"until"` // when it is tried again, if it does not move before
}

// refusals maps the names of a remote's refs to their refusals.
type refusals map[string]refusal

func (s *Store) refusalsPath() string { return filepath.Join(s.dir.StateDir(), "refused.json") }

// allRefusals reads the refusals of all remotes. A damaged file counts as empty: it is only a cache.
func (s *Store) allRefusals() map[string]refusals {
	all := map[string]refusals{}
	text, err := safefile.ReadFile(s.refusalsPath())
	if err != nil || json.Unmarshal(text, &all) != nil || all == nil {
		return map[string]refusals{}
	}
	return all
}

func (s *Store) readRefusals(remote string) refusals { return s.allRefusals()[remote] }

func (s *Store) writeRefusals(remote string, of refusals) error {
	all := s.allRefusals()
	if maps.Equal(all[remote], of) {
		return nil
	}
	if all[remote] = of; len(of) == 0 {
		delete(all, remote)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return safefile.WriteFile(s.refusalsPath(), text, 0o666)
}

// fetchApart fetches every ref that can be fetched and returns the others. fetched means that all but the known
// refusals were fetched already.
func (s *Store) fetchApart(ctx context.Context, remote, notes string, known refusals,
	fetched bool) ([]Rejection, error) {
	there, err := s.listRemote(ctx, remote, logPrefix+"*", archivesPrefix+"*", notes)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(there, func(ref string, _ odb.ID) bool {
		return !strings.HasPrefix(ref, logPrefix) && !strings.HasPrefix(ref, archivesPrefix) && ref != notes
	})
	staged, err := s.refs.Refs(ctx, remotesPrefix+remote+"/")
	if err != nil {
		return nil, err
	}
	h := &hunt{repo: s, remote: remote, there: there, refused: refusals{}, fetches: huntFetches}
	var suspects []string
	for ref, tip := range there {
		was, left := known[ref]
		switch {
		case staged[stagedName(remote, ref)] == tip:
		case left && was.Tip == tip && time.Now().Before(was.Until):
			h.refused[ref] = was
		case left || !fetched:
			suspects = append(suspects, ref)
		}
	}
	if err := h.run(ctx, suspects); err != nil {
		return nil, err
	}
	return h.rejections(), s.writeRefusals(remote, h.refused)
}

// stagedName returns the local ref where a ref of a remote is staged.
func stagedName(remote, ref string) string {
	if writer, isLog := strings.CutPrefix(ref, logPrefix); isLog {
		return stagedPrefix(remote) + writer
	}
	if month, isArchive := strings.CutPrefix(ref, archivesPrefix); isArchive {
		return stagedArchives(remote) + month
	}
	return stagedNotes(remote)
}

// listRemote asks the remote for its refs that match patterns.
func (s *Store) listRemote(ctx context.Context, remote string, patterns ...string) (map[string]odb.ID, error) {
	out, err := s.transport(ctx, remote, "",
		append([]string{"ls-remote", "--quiet", "--end-of-options", remote}, patterns...)...)
	if err != nil {
		return nil, remoteError(remote, err)
	}
	there := map[string]odb.ID{}
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if refdb.CheckRefName(name) == nil && s.objects.ValidID(odb.ID(id)) {
			there[name] = odb.ID(id)
		}
	}
	return there, nil
}

// hunt is a search for the refs that cannot be fetched.
type hunt struct {
	repo    *Store
	remote  string
	there   map[string]odb.ID // all refs of the remote
	refused refusals
	fetches int      // number still allowed
	left    []string // refs not tried
}

// run fetches what it can of refs: first the logs that are here, then the others in random order, so that none is
// starved.
func (h *hunt) run(ctx context.Context, refs []string) error {
	bounded, cancel := context.WithTimeout(ctx, huntTime)
	defer cancel()
	tips, err := h.repo.Tips(ctx)
	if err != nil {
		return err
	}
	var here, logs []string
	for _, ref := range refs {
		writer, isLog := strings.CutPrefix(ref, logPrefix)
		switch {
		case !isLog:
			err = errors.Join(err, h.fetch(bounded, []string{ref}))
		case tips[writer] != "":
			here = append(here, ref)
		default:
			logs = append(logs, ref)
		}
	}
	slices.Sort(here)
	slices.Sort(logs)
	if at := len(logs); at > 1 { // start at a random place
		at = rand.IntN(at)
		logs = slices.Concat(logs[at:], logs[:at])
	}
	err = errors.Join(err, h.fetch(bounded, here), h.fetch(bounded, logs))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// fetch fetches refs, and after a failure each half of them.
func (h *hunt) fetch(ctx context.Context, refs []string) error {
	if len(refs) == 0 {
		return nil
	}
	if h.fetches == 0 || ctx.Err() != nil {
		h.left = append(h.left, refs...)
		return nil
	}
	h.fetches--
	err := h.repo.fetchRefs(ctx, h.remote, h.refspecs(refs), "--no-prune")
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		h.left = append(h.left, refs...)
		return nil
	case isLocked(err):
		return fmt.Errorf("fetch from %q: %w: %s", h.remote, gitdir.ErrBusy, localComplaint(err))
	case len(refs) > 1:
		half := len(refs) / 2
		return errors.Join(h.fetch(ctx, refs[:half]), h.fetch(ctx, refs[half:]))
	}
	h.refuse(refs[0], err)
	return nil
}

func (h *hunt) refuse(ref string, err error) {
	again := failedAgain
	if refusedByGit(err) {
		again = refusedAgain
	}
	h.refused[ref] = refusal{Tip: h.there[ref], Reason: fetchComplaint(err), Until: time.Now().Add(again)}
}

// refspecs returns a prefix pattern for refs and exclusions for the remote's other refs with that prefix. git needs a
// minute for five thousand refspecs and a second for as many exclusions.
func (h *hunt) refspecs(refs []string) []string {
	prefix := commonPrefix(slices.Min(refs), slices.Max(refs))
	if len(refs) == 1 {
		return []string{"+" + prefix + ":" + stagedName(h.remote, prefix)}
	}
	specs, wanted := []string{"+" + prefix + "*:" + stagedName(h.remote, prefix) + "*"}, each.Set(refs)
	for ref := range h.there {
		if strings.HasPrefix(ref, prefix) && !wanted[ref] {
			specs = append(specs, "^"+ref)
		}
	}
	return specs
}

// commonPrefix returns the longest common prefix of a and b.
func commonPrefix(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// rejections returns the refusals for people, and how many refs were not tried.
func (h *hunt) rejections() []Rejection {
	rejections := make([]Rejection, 0, len(h.refused))
	for ref, refused := range h.refused {
		rejections = append(rejections, Rejection{strings.TrimPrefix(ref, logPrefix), refused.Reason})
	}
	slices.SortFunc(rejections, func(a, b Rejection) int { return cmp.Compare(a.Writer, b.Writer) })
	if len(h.left) > 0 {
		rejections = append(rejections, Rejection{strings.TrimPrefix(slices.Min(h.left), logPrefix),
			fmt.Sprintf("it and %d more were not looked at this time: the next sync goes on with them", len(h.left)-1)})
	}
	return rejections
}
