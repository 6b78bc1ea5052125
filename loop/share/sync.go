// Package share is for what clones of a repository do through a remote: they exchange their logs (Sync), and let the
// remote decide who holds a review (Claim) and which clone does one (TakeLease). Logs and notes are pushed. The refs of
// claims and leases exist only on the remote and change there by compare-and-swap.
package share

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/internal/notes"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// Synced is the result of an exchange with a remote.
type Synced struct {
	Remote  string   `json:"remote"`
	Taken   int      `json:"taken"`   // events of others, new here
	Writers []string `json:"writers"` // the writers of these events
	Pushed  int      `json:"pushed"`  // own events that the remote did not have
	Others  int      `json:"pushed_logs_of_others,omitempty"`
	// writers whose log was replaced by one without redacted texts
	Replaced []string             `json:"replaced,omitempty"`
	Rejected []gitstore.Rejection `json:"rejected"`
	// Unreadable lists records that arrived and cannot be decoded: each with its log, and why.
	Unreadable []gitstore.Rejection `json:"unreadable"`
	Lost       []string             `json:"lost"` // own events that the fold does not count because of this sync
	Renewed    bool                 `json:"renewed_writer"`
	Notes      bool                 `json:"notes"`               // the remote has the notes as they are here
	NotesWhy   string               `json:"notes_why,omitempty"` // why it does not have them
	// a notes commit, not made by git-runr, that was replaced and is now in the history of the remote's notes
	NotesReplaced gitstore.ID `json:"notes_replaced,omitempty"`
	// Recovered lists what was damaged in this clone and has been repaired.
	Recovered []string `json:"recovered"`
	Retired   int      `json:"retired,omitempty"` // logs moved into the remote's archive
	// why the remote still has their refs, or why none were moved
	RetireWhy string `json:"retired_why,omitempty"`
	// logs that lost records which the remote does not have either
	Missing []gitstore.Rejection   `json:"missing"`
	Refused *gitstore.RefusedError `json:"refused,omitempty"` // the remote's refusal of this clone's log
}

// syncRetries bounds the attempts to push while others push, and logRetries those for a log that several clones share.
// Each time somebody succeeds.
const (
	syncRetries = 5
	logRetries  = 20
)

// Sync exchanges logs with a remote. Afterwards this clone folds the union of both, and the remote has this clone's
// log, unless it refused it. notes says whether to push the notes as well; that never fails a sync.
func Sync(ctx context.Context, s *store.Store, remote string, notes bool) (Synced, error) {
	x := &exchange{Store: s, audience: s.Repo.AudienceOf(remote), fresh: map[gitstore.ID]bool{},
		unread: map[gitstore.ID]bool{}, touched: map[string]bool{}}
	x.done = Synced{Remote: remote, Writers: []string{}, Rejected: []gitstore.Rejection{},
		Unreadable: []gitstore.Rejection{}, Lost: []string{}, Recovered: []string{}, Missing: []gitstore.Rejection{}}
	// the notes contain only what everybody at the elected remote may see
	x.notes = notes && x.audience == gitstore.Audience{}
	x.owns = len(s.Repo.Own()) > 0
	unlock, err := s.Repo.Lock(ctx, "sync")
	if err != nil {
		return x.done, err
	}
	defer unlock()
	s.Repo.PutBackLogs(ctx)
	err = x.run(ctx)
	if met := noteMet(s, remote, err, x.done.Refused); err != nil || met != nil {
		return x.done, errors.Join(err, met)
	}
	lost, err := lostBy(ctx, s, x.touched, x.fresh)
	x.done.Lost = append(x.done.Lost, lost...)
	return x.done, err
}

// metPath returns the file that holds why the last sync with the remote was incomplete. It is empty if all was done,
// and absent before the first sync.
func metPath(s *store.Store, remote string) string {
	return filepath.Join(s.Repo.StateDir(), "sync-met-"+url.PathEscape(remote))
}

func noteMet(s *store.Store, remote string, err error, refused *gitstore.RefusedError) error {
	if refused != nil {
		err = refused
	}
	if errors.Is(err, gitstore.ErrRemote) {
		return safefile.WriteFile(metPath(s, remote), []byte(err.Error()), 0o666)
	}
	if info, statErr := os.Stat(metPath(s, remote)); err != nil || statErr == nil && info.Size() == 0 {
		return nil
	}
	return safefile.WriteFile(metPath(s, remote), nil, 0o666)
}

// Complete reports whether the last sync of this clone with a remote was complete.
func Complete(s *store.Store, remote string) bool {
	info, err := os.Stat(metPath(s, remote))
	return err == nil && info.Size() == 0
}

// Unfetched returns the elected remote if this clone has fetched nothing from any remote and has no log of another
// clone, else "". It does not ask the remote.
func Unfetched(ctx context.Context, s *store.Store, configured string) (remote string, err error) {
	if remote, err = s.Repo.ElectRemote(configured); err != nil {
		return "", nil // without a remote, or with several of which none is elected, there is nothing to suggest
	}
	if Complete(s, remote) { // and there was nothing
		return "", nil
	}
	fetched, err := s.Repo.Refs(ctx, "refs/runr-remotes/")
	if err != nil || len(fetched) > 0 {
		return "", err
	}
	tips, err := s.Repo.Tips(ctx)
	for writer := range tips {
		if !s.Repo.Owns(writer) {
			return "", err
		}
	}
	return remote, err
}

// NotHere says what a result of Unfetched means: where it is not "", git runr sync fetches from it.
func NotHere(remote string) string {
	if remote == "" {
		return ""
	}
	return "If " + remote + " has reviews, they are not here: nothing has been fetched from it."
}

// Met returns why the last sync with a remote was incomplete, or "".
func Met(s *store.Store, remote string) string {
	text, _ := safefile.ReadFile(metPath(s, remote))
	return string(text)
}

// exchange is one Sync in progress.
type exchange struct {
	*store.Store
	done  Synced
	notes bool
	// audience is the audience that the remote belongs to.
	audience gitstore.Audience
	fresh    map[gitstore.ID]bool // events that arrived
	unread   map[gitstore.ID]bool // records that cannot be decoded
	touched  map[string]bool      // reviews of these events
	owns     bool                 // this clone has recorded events, which lostBy checks
}

// run exchanges logs until no other clone interferes. It fetches damaged objects again first, and once more if damage
// shows up on the way.
func (x *exchange) run(ctx context.Context) error {
	if x.Damaged(ctx) {
		if _, err := x.refetch(ctx); err != nil {
			return err
		}
	}
	err := x.rounds(ctx)
	if !isDamage(err) {
		return err
	}
	repaired, again := x.refetch(ctx)
	if again != nil || !repaired {
		return errors.Join(err, again)
	}
	return x.rounds(ctx)
}

func (x *exchange) rounds(ctx context.Context) error {
	for try := 1; ; try++ {
		pushed, err := x.round(ctx)
		if err != nil {
			return err
		}
		raced := errors.Is(pushed.Log, gitstore.ErrLostRace)
		switch {
		case !raced && (!errors.Is(pushed.Notes, gitstore.ErrLostRace) || x.done.Refused != nil):
			return nil
		case try == logRetries, try == syncRetries && errors.As(pushed.Log, new(*gitstore.RemoteLockError)):
			return pushed.Log
		case try >= syncRetries && !raced: // the next sync pushes the notes
			return nil
		}
		if err := duration.Sleep(ctx,
			time.Duration(min(try, syncRetries))*(20*time.Millisecond+rand.N(80*time.Millisecond))); err != nil {
			return err
		}
	}
}

// round makes one attempt of the exchange.
func (x *exchange) round(ctx context.Context) (gitstore.Pushed, error) {
	if err := x.take(ctx); err != nil {
		return gitstore.Pushed{}, err
	}
	if err := x.Project(ctx); err != nil {
		return gitstore.Pushed{}, err
	}
	own, err := Unpushed(ctx, x.Store, x.done.Remote)
	if err != nil {
		return gitstore.Pushed{}, err
	}
	x.done.Notes, x.done.NotesWhy = false, ""
	view := gitstore.ID("")
	if x.notes {
		if view, x.done.NotesWhy, err = x.notesToPush(ctx); err != nil {
			return gitstore.Pushed{}, err
		}
	}
	pushed, err := x.Repo.Push(ctx, x.done.Remote, store.NotesRef, view)
	var refused *gitstore.RefusedError
	if errors.As(err, &refused) && own > 0 { // a user who may only read has fetched all
		pushed, err = gitstore.Pushed{Log: refused}, nil
	}
	if err == nil {
		x.answered(own, pushed)
	}
	if view == "" || x.done.Refused != nil || err == nil && x.done.Notes || errors.Is(pushed.Notes, gitstore.ErrLostRace) {
		return pushed, err
	}
	if renewed, failed := x.renewDamaged(ctx); renewed || failed != nil {
		pushed.Notes = gitstore.ErrLostRace // so that they are pushed again
		return pushed, failed
	}
	return pushed, err
}

// renewDamaged rebuilds the notes if part of them cannot be read here, which may be why they were not pushed.
func (x *exchange) renewDamaged(ctx context.Context) (renewed bool, err error) {
	damaged, err := x.Repo.NotesDamage(ctx, store.NotesRef)
	if err != nil || len(damaged) == 0 {
		return false, err
	}
	return true, x.RebuildNotes(ctx)
}

// answered records the remote's answer to a push.
func (x *exchange) answered(own int, pushed gitstore.Pushed) {
	x.done.Refused, x.done.Others = nil, x.done.Others+pushed.Others
	if pushed.Log == nil {
		x.done.Pushed += own
	} else {
		errors.As(pushed.Log, &x.done.Refused)
	}
	if pushed.Notes != nil {
		x.done.NotesWhy = pushed.Notes.Error()
	}
	x.done.Notes = x.notes && x.done.NotesWhy == ""
}

// take fetches what the remote has, and adopts what is sound of it.
func (x *exchange) take(ctx context.Context) error {
	ref := ""
	if x.notes {
		ref = store.NotesRef
	}
	fetched, err := x.Repo.FetchLogs(ctx, x.done.Remote, ref)
	for _, lock := range fetched.Locks {
		x.done.Recovered = append(x.done.Recovered, "removed a lock that a killed process had left: "+lock)
	}
	if lock := fetched.Beside; lock != "" {
		x.done.Recovered = append(x.done.Recovered,
			fmt.Sprintf("continued despite %s; when no git is running here: %s", filepath.Base(lock),
				safetext.ShellLine("rm", lock)))
	}
	if err != nil {
		return err
	}
	judge := gitstore.Judge{Entry: x.check, Replaces: Replaces(x.Store, x.Trusted)}
	adopted, err := x.Repo.AdoptLogs(ctx, x.done.Remote, judge)
	if err != nil {
		return fmt.Errorf("take over logs: %w", err)
	}
	x.done.Taken += adopted.Events
	x.done.Replaced = append(x.done.Replaced, adopted.Replaced...)
	// the log as a whole is listed as rejected
	x.done.Unreadable = slices.DeleteFunc(x.done.Unreadable, func(r gitstore.Rejection) bool {
		return slices.ContainsFunc(adopted.Rejected, func(log gitstore.Rejection) bool { return log.Writer == r.Writer })
	})
	for _, writer := range adopted.Writers {
		x.done.Writers = each.Once(x.done.Writers, writer)
	}
	x.done.Rejected = append(append([]gitstore.Rejection{}, fetched.Refused...), adopted.Rejected...)
	if adopted.Diverged {
		shared := x.Repo.WriterFor(x.audience)
		own, closed, err := x.Repo.RenewWriter(ctx, x.done.Remote)
		if err != nil {
			return fmt.Errorf("take a new writer id: %w", err)
		}
		if x.done.Renewed = own != shared; closed {
			return x.take(ctx) // names the log that is closed now
		}
	}
	return x.recordDiverged(ctx)
}

// check decodes an event that arrived, and remembers it.
func (x *exchange) check(entry gitstore.Entry) error {
	event, err := record.DecodeEvent(entry)
	if errors.Is(err, gitstore.ErrNewerFormat) {
		return err
	}
	if err == nil {
		x.arrived(event)
	} else if !x.unread[entry.ID] {
		x.unread[entry.ID] = true
		x.done.Unreadable = append(x.done.Unreadable, gitstore.Rejection{Writer: entry.Writer, Reason: err.Error()})
	}
	return nil // an unreadable record is kept, and reported by log and fsck too
}

// Left returns the logs that syncs with a remote did not adopt, as far as this is known without asking the remote.
func Left(ctx context.Context, s *store.Store, remote string) ([]gitstore.Rejection, error) {
	newer := func(entry gitstore.Entry) error {
		if _, err := record.DecodeEvent(entry); errors.Is(err, gitstore.ErrNewerFormat) {
			return err
		}
		return nil
	}
	return s.Repo.LeftLogs(ctx, remote, gitstore.Judge{Entry: newer, Replaces: Replaces(s, nil)})
}

// arrived remembers another clone's event for lostBy.
func (x *exchange) arrived(event record.Event) {
	if !x.owns {
		return
	}
	x.fresh[event.ID] = true
	if event.Review != "" {
		x.touched[event.Review] = true
	}
}

// notesToPush puts the tree of the local notes on top of the remote's notes commit, so that only the difference travels
// and every push is a fast-forward. It returns the new commit, or "" if there is nothing to push. why says why the
// remote's notes are left alone although they differ.
func (x *exchange) notesToPush(ctx context.Context) (view gitstore.ID, why string, err error) {
	tip, err := x.Repo.Ref(ctx, store.NotesRef)
	if err != nil || tip == "" {
		return "", "", err
	}
	mine, err := x.Repo.ReadCommit(ctx, tip)
	if err != nil {
		return "", "", fmt.Errorf("read notes: %w", err)
	}
	for _, r := range x.done.Rejected {
		if r.Writer == store.NotesRef {
			return "", fmt.Sprintf("the notes of the remote cannot be fetched (git push %s :%s removes them)", x.done.Remote,
				store.NotesRef), nil
		}
	}
	theirs, err := x.Repo.SharedNotes(ctx, x.done.Remote)
	switch {
	case errors.Is(err, gitstore.ErrNotFound):
		return "", fmt.Sprintf("%s of the remote is not a commit, and is left alone", store.NotesRef), nil
	case err != nil:
		return "", "", err
	case theirs.ID == "":
		empty, err := notes.Empty(ctx, x.Repo)
		if err != nil || empty.Tree == mine.Tree {
			return "", "", err
		}
		theirs = empty
	case theirs.ID == tip:
		return "", "", nil
	case x.knowMore(theirs.Message):
		return "", "the notes of the remote cover logs that were not accepted here", nil
	case theirs.Tree != mine.Tree && !notes.Own(theirs.Message):
		x.done.NotesReplaced = theirs.ID
	}
	return x.rebaseNotes(ctx, tip, mine, theirs)
}

// rebaseNotes moves the local notes, commit mine at tip, onto those of the remote. It returns the new commit if the
// trees differ.
func (x *exchange) rebaseNotes(ctx context.Context, tip gitstore.ID,
	mine, theirs gitstore.Commit) (view gitstore.ID, why string, err error) {
	view = theirs.ID
	alone := x.Repo.NotesRestarted()
	switch {
	case alone:
		view, err = x.Repo.NotesCommit(ctx, mine.Tree, nil, mine.Message, mine.CommitterWhen)
		if err == nil && view == theirs.ID {
			err = x.Repo.EndNotesRestart()
		}
	case theirs.Tree != mine.Tree || theirs.Message != mine.Message:
		view, err = x.Repo.NotesCommit(ctx, mine.Tree, []gitstore.ID{theirs.ID}, mine.Message, mine.CommitterWhen)
	}
	if err == nil && view != tip {
		err = x.Repo.SwapRef(ctx, store.NotesRef, view, tip)
	}
	if errors.Is(err, gitstore.ErrLostRace) { // something was recorded meanwhile: the next sync moves the notes
		err = nil
	}
	if theirs.Tree == mine.Tree && (!alone || view == theirs.ID) {
		return "", "", err
	}
	return view, "", err
}

// knowMore reports whether notes were made by a clone that reads a log which this one could not adopt. An older program
// must not replace the notes of a newer one.
func (x *exchange) knowMore(message string) bool {
	known, _ := notes.ReadMessage(message)
	return slices.ContainsFunc(x.done.Rejected, func(r gitstore.Rejection) bool { return known[r.Writer] != "" })
}

// isDamage reports whether err may come from an unreadable object that a log needs.
func isDamage(err error) bool {
	return !errors.Is(err, gitstore.ErrRemote) &&
		(errors.Is(err, gitstore.ErrCorrupt) || errors.Is(err, gitstore.ErrNotFound) ||
			errors.As(err, new(*gitstore.GitError)))
}

// refetch fetches again what logs have lost here, and rebuilds what is derived from them. It reports whether it could
// fetch anything.
func (x *exchange) refetch(ctx context.Context) (repaired bool, err error) {
	brought, err := x.Repo.Refetch(ctx, x.done.Remote)
	x.done.Missing = append(x.done.Missing[:0], brought.Missing...)
	if err != nil || len(brought.Writers) == 0 {
		return false, err
	}
	for _, writer := range brought.Writers {
		x.done.Recovered = append(x.done.Recovered, "fetched again what the log of "+writer+" had lost here")
	}
	return true, x.Rebuild(ctx)
}

// Unpushed counts the own events that the remote did not have at the last fetch.
func Unpushed(ctx context.Context, s *store.Store, remote string) (int, error) {
	own := s.Repo.WriterFor(s.Repo.AudienceOf(remote))
	tips, err := s.Repo.Tips(ctx)
	if err != nil || tips[own] == "" {
		return 0, err
	}
	known, err := s.Repo.SharedTip(ctx, remote, own)
	if err != nil {
		return 0, err
	}
	replaced, err := s.Repo.WasReplaced(own, known)
	if err != nil {
		return 0, err
	}
	if replaced { // the beginning of the log may have stayed
		known, err = s.Repo.MergeBase(ctx, known, tips[own])
		if err = gitstore.IgnoreNotFound(err); err != nil {
			return 0, err
		}
	}
	count := 0
	err = s.Repo.Walk(ctx, own, tips[own], known, func(gitstore.Entry) error { count++; return nil })
	return count, err
}

// divergedRefs hold the events of a clone that was copied with its configuration, recorded under the shared id:
// refs/runr-local/diverged/<old id>/<tip>.
const divergedRefs = "refs/runr-local/diverged/"

// recordDiverged records again what only this clone knows, under its new id or in the log that several clones share. It
// runs at every sync, so that a killed process loses nothing.
func (x *exchange) recordDiverged(ctx context.Context) error {
	refs, err := x.Repo.Refs(ctx, divergedRefs)
	if err != nil {
		return err
	}
	for ref, tip := range refs {
		shared, _, _ := strings.Cut(strings.TrimPrefix(ref, divergedRefs), "/")
		if err := x.recordOnlyHere(ctx, shared, tip); err != nil {
			return fmt.Errorf("record again what %s wrote here: %w", shared, err)
		}
		if err := x.Repo.SwapRef(ctx, ref, "", tip); err != nil {
			return err
		}
	}
	return nil
}

// recordOnlyHere records again the entries up to tip that the log of the shared id lacks and that were not recorded
// again before.
func (x *exchange) recordOnlyHere(ctx context.Context, shared string, tip gitstore.ID) error {
	tips, err := x.Repo.Tips(ctx)
	if err != nil {
		return err
	}
	from := gitstore.ID("")
	if tips[shared] != "" {
		from, err = x.Repo.MergeBase(ctx, tip, tips[shared])
	}
	if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return err
	}
	own := x.Repo.WriterFor(x.audience)
	again, since := map[string]bool{}, gitstore.ID("")
	if own == shared {
		since = from
	}
	replaced, err := x.replacing(ctx, shared, tip, tips[shared])
	if err != nil {
		return err
	}
	if tips[own] != "" {
		err = x.Repo.Walk(ctx, own, tips[own], since, func(e gitstore.Entry) error { again[likeness(e)] = true; return nil })
		if err != nil {
			return err
		}
	}
	return x.Repo.Walk(ctx, shared, tip, from, func(e gitstore.Entry) error {
		if again[likeness(e)] || replaced[e.ID] {
			return nil
		}
		event, err := x.AppendAgain(ctx, x.audience, e)
		if err == nil {
			x.arrived(event)
		}
		return err
	})
}

// replacing returns the ids of the entries up to tip in whose place the log of the shared id has others, without
// redacted texts: see store.ReplaceLogs. There are none if its owner did not sign that.
func (x *exchange) replacing(ctx context.Context, shared string, tip,
	theirs gitstore.ID) (map[gitstore.ID]bool, error) {
	if theirs == "" {
		return nil, nil
	}
	was, r, err := compareLogs(ctx, x.Store, shared, tip, theirs)
	if err == nil {
		err = r.verify(ctx, x.Store, x.Trusted, was[0].Author, shared)
	}
	if err != nil { // then all of it is recorded again
		return nil, context.Cause(ctx)
	}
	x.done.Replaced = append(x.done.Replaced, shared)
	replaced := each.SetOf(was[:min(len(was), r.events)], func(e gitstore.Entry) gitstore.ID { return e.ID })
	return replaced, nil
}

// likeness returns a string that is equal for an event and its copy under another id.
func likeness(entry gitstore.Entry) string {
	e, err := record.DecodeEvent(gitstore.Entry{Message: entry.Message})
	if err != nil {
		return string(entry.ID)
	}
	return fmt.Sprintf("%s %s %s %s %s", e.Timestamp, e.Type, e.Run, e.Review, e.Payload)
}

// lostBy describes this clone's own events that the fold counted before the fresh ones arrived and does not count now,
// and all its uncounted events in reviews that still wait for somebody.
func lostBy(ctx context.Context, s *store.Store, touched map[string]bool,
	fresh map[gitstore.ID]bool) ([]string, error) {
	if len(s.Repo.Own()) == 0 || len(touched) == 0 { // a clone that recorded nothing has nothing to lose
		return nil, nil
	}
	ids, err := s.OwnReviews(ctx, touched)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, id := range ids {
		events, err := s.ReviewEvents(ctx, id)
		if err != nil {
			return nil, err
		}
		review, _ := record.FoldReview(events)
		before, _ := record.FoldReview(slices.DeleteFunc(slices.Clone(events), func(e record.Event) bool {
			return fresh[e.ID]
		}))
		for _, l := range review.Lost {
			told := slices.ContainsFunc(before.Lost, func(k record.Lost) bool { return k.Event == l.Event })
			if s.Repo.Owns(l.Writer) && (record.WaitingStatus(string(review.Status)) || !told) {
				lines = append(lines, fmt.Sprintf("%s of %s: %s", l.Type, id, l.Why))
			}
		}
	}
	return lines, nil
}
