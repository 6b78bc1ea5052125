package entrylog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// RetireRule selects the logs that Retire retires.
type RetireRule struct {
	Before time.Time // the newest entry of a log is older
	Least  int       // fewer logs are not retired
	Most   int       // logs retired at once, oldest first; 0 means no limit
}

// Retired is what Retire did.
type Retired struct {
	Logs    int           // moved into the archive
	Refs    int           // deleted on the remote
	Refused *RefusedError // the remote's refusal to delete refs, or nil
}

// SharedLogs returns how many logs had a ref of their own on a remote at the last fetch.
func (s *Store) SharedLogs(ctx context.Context, remote string) (int, error) {
	staged, _, err := s.sharedTips(ctx, remote)
	return len(staged), err
}

// Retire moves the logs of others that rule selects into the archive of a remote, and deletes their refs there and
// here. It also finishes logs that are archived already, because an earlier Retire was killed. It touches only logs
// that are the same here and on the remote, after AdoptLogs. It returns ErrLostRace if another clone moved the
// archive: fetch and adopt again.
func (s *Store) Retire(ctx context.Context, remote string, rule RetireRule) (Retired, error) {
	var done Retired
	// an archive here goes to the home remote
	if err := s.checkRemote(remote); err != nil || s.AudienceOf(remote) != (Audience{}) {
		return done, err
	}
	base, err := s.retireFrom(ctx, remote)
	if err != nil || base.gone == nil {
		return done, err
	}
	logs, newest, err := s.retirable(ctx, base, rule.Before)
	if err != nil {
		return done, fmt.Errorf("retire logs: %w", err)
	}
	drop := some(base.gone, rule.Most)
	if len(logs) >= max(rule.Least, 1) {
		if rule.Most > 0 {
			logs = logs[:min(len(logs), rule.Most)]
		}
		err = s.pushArchives(ctx, remote, base, logs, newest)
		if done.Refused, _ = errors.AsType[*RefusedError](err); err != nil {
			return done, err
		}
		done.Logs = len(logs)
		for _, log := range logs {
			drop[log.writer] = log.tip
		}
	}
	done.Refs, err = s.dropShared(ctx, remote, drop)
	done.Refused, _ = errors.AsType[*RefusedError](err)
	return done, err
}

// some returns at most that many of the logs; all if most is 0.
func some(logs Tips, most int) Tips {
	if most == 0 || len(logs) <= most {
		return logs
	}
	few := Tips{}
	for _, writer := range slices.Sorted(maps.Keys(logs))[:most] {
		few[writer] = logs[writer]
	}
	return few
}

// retireBase is the state of refs and archives that logs are retired from.
type retireBase struct {
	archives archives // the same on the remote and here
	own      string
	staged   Tips // logs with refs on the remote
	here     Tips
	gone     Tips              // logs that the archives hold completely; nil if unknown
	months   map[string]string // the newest month whose archive holds a log
}

func (s *Store) retireFrom(ctx context.Context, remote string) (base retireBase, err error) {
	if base.own, err = s.storedWriter(ctx, s.AudienceOf(remote)); err != nil {
		return base, err
	}
	there, err := s.sharedArchives(ctx, remote)
	if err != nil {
		return base, err
	}
	live, here, err := s.logRefs(ctx)
	if err != nil || !maps.Equal(there, here) { // one was not accepted here, or not pushed yet
		return base, err
	}
	held, err := s.archived(ctx, there)
	if err != nil {
		return base, err
	}
	if base.staged, _, err = s.sharedTips(ctx, remote); err != nil {
		return base, err
	}
	base.archives, base.gone, base.here, base.months = there, Tips{}, maps.Clone(live), map[string]string{}
	for _, month := range slices.Sorted(maps.Keys(there)) {
		logs, err := s.archivedIn(ctx, month, there[month])
		if err != nil {
			return base, err
		}
		for writer := range logs {
			base.months[writer] = month
		}
	}
	for writer, tip := range held {
		if base.here[writer] == "" {
			base.here[writer] = tip
		}
		at := base.staged[writer]
		if at == "" || writer == base.own {
			continue
		}
		if older, err := s.refs.IsAncestor(ctx, at, tip); err == nil && older { // else the log has grown since
			base.gone[writer] = at
		}
	}
	return base, context.Cause(ctx)
}

// retirable returns the logs that have not moved since before, oldest first, and the time of each by its commit.
func (s *Store) retirable(ctx context.Context, base retireBase,
	before time.Time) (logs []archivedLog, at map[odb.ID]time.Time, err error) {
	var list strings.Builder
	at = map[odb.ID]time.Time{}
	for writer, tip := range base.staged {
		if writer != base.own && base.here[writer] == tip && base.gone[writer] == "" {
			logs = append(logs, archivedLog{writer, tip})
			list.WriteString(string(tip) + "\n")
		}
	}
	twice := map[odb.ID]bool{} // tips seen: a commit cannot have a parent twice
	err = s.readObjects(ctx, strings.NewReader(list.String()), func(id odb.ID, _ string, data []byte) error {
		entry, err := decodeEntry(id, data)
		_, again := at[id]
		twice[id], at[id] = again, entry.When
		return err
	})
	logs = slices.DeleteFunc(logs, func(log archivedLog) bool {
		month := base.month(log.writer, at[log.tip])
		return twice[log.tip] || !at[log.tip].Before(before) || !isMonth(month)
	})
	slices.SortFunc(logs, func(a, b archivedLog) int {
		return cmp.Or(at[a.tip].Compare(at[b.tip]), strings.Compare(a.writer, b.writer))
	})
	return logs, at, err
}

// month returns the archive for a log that ends at a time. It is never older than the archive that holds the log now,
// because the newest archive counts.
func (b retireBase) month(writer string, at time.Time) string {
	return max(monthOf(at), b.months[writer])
}

// pushArchives makes archive commits for logs and pushes them to the remote.
func (s *Store) pushArchives(ctx context.Context, remote string, base retireBase, logs []archivedLog,
	at map[odb.ID]time.Time) error {
	months := map[string][]archivedLog{}
	for _, log := range logs {
		month := base.month(log.writer, at[log.tip])
		months[month] = append(months[month], log)
	}
	var objects odb.Batch
	var moves []refdb.Moved
	for _, month := range slices.Sorted(maps.Keys(months)) {
		tip := base.archives[month]
		for some := range slices.Chunk(months[month], archiveLogs) {
			a := archive{before: tip, newest: at[some[len(some)-1].tip], logs: some}
			data, err := a.encode(objects.Add(s.objects, "tree", nil))
			if err != nil {
				return fmt.Errorf("write archive: %w", err)
			}
			tip = objects.Add(s.objects, "commit", data)
		}
		moves = append(moves, refdb.Moved{Name: archivesPrefix + month, New: tip, Old: base.archives[month]})
	}
	if err := s.objects.StoreBatch(ctx, objects, odb.Synced); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return s.swapArchives(ctx, remote, moves)
}

// swapArchives moves archives on the remote, and then here those that the remote accepted.
func (s *Store) swapArchives(ctx context.Context, remote string, moves []refdb.Moved) error {
	var specs, leases []string
	for _, m := range moves {
		specs = append(specs, string(m.New)+":"+m.Name)
		leases = append(leases, fmt.Sprintf("--force-with-lease=%s:%s", m.Name, m.Old))
	}
	answers, err := s.push(ctx, remote, specs, leases...)
	if err != nil {
		return err
	}
	var failed error
	for _, m := range moves {
		i := slices.IndexFunc(answers, func(a pushed) bool { return a.ref == m.Name })
		err := fmt.Errorf("%w %q says nothing of %s", gitdir.ErrRemote, remote, m.Name)
		if i >= 0 {
			err = answers[i].refusal(remote)
		}
		if err == nil {
			err = s.noteStaged(ctx, stagedName(remote, m.Name), m.New)
		}
		if err == nil {
			err = s.refs.SwapAny(ctx, m.Name, m.New, m.Old)
		}
		if failed == nil {
			failed = err
		}
	}
	return failed
}

// encode returns the commit of a. The same logs after the same archive give the same commit in every clone.
func (a archive) encode(emptyTree odb.ID) ([]byte, error) {
	c := odb.Commit{Tree: emptyTree, Author: notesIdentity, Committer: notesIdentity, AuthorWhen: a.newest.UTC(),
		CommitterWhen: a.newest.UTC(), Message: a.message()}
	if a.before != "" {
		c.Parents = append(c.Parents, a.before)
	}
	for _, log := range a.logs {
		c.Parents = append(c.Parents, log.tip)
	}
	return odb.EncodeCommit(c)
}

// droppedAtOnce is how many refs one push deletes. git compares each with all refs of the remote, of which fewer
// remain after each push.
const droppedAtOnce = 256

// dropShared deletes the refs of archived logs on a remote, unless they have moved, and then here.
func (s *Store) dropShared(ctx context.Context, remote string, logs Tips) (int, error) {
	gone := Tips{}
	var refused error
	for some := range slices.Chunk(slices.Sorted(maps.Keys(logs)), droppedAtOnce) {
		var specs, leases []string
		for _, writer := range some {
			specs = append(specs, ":"+logPrefix+writer)
			leases = append(leases, fmt.Sprintf("--force-with-lease=%s%s:%s", logPrefix, writer, logs[writer]))
		}
		answers, err := s.push(ctx, remote, specs, leases...)
		if err != nil {
			return len(gone), err
		}
		for _, answer := range answers {
			switch err := answer.refusal(remote); {
			case err == nil:
				writer := strings.TrimPrefix(answer.ref, logPrefix)
				gone[writer] = logs[writer]
			case isRefusal(err): // a lost race means that the writer returned
				refused = err
			}
		}
	}
	return len(gone), errors.Join(s.dropRetired(ctx, remote, gone), refused)
}

// dropRetired deletes the refs here of logs whose refs the remote no longer has.
func (s *Store) dropRetired(ctx context.Context, remote string, gone Tips) error {
	live, _, err := s.logRefs(ctx)
	if err != nil {
		return err
	}
	var drop []refdb.Moved
	for writer, tip := range gone {
		drop = append(drop, refdb.Moved{Name: stagedPrefix(remote) + writer, Old: tip})
		if live[writer] == tip && !s.wroteHere(ctx, writer) {
			drop = append(drop, refdb.Moved{Name: logPrefix + writer, Old: tip})
		}
	}
	if err = s.refs.SwapAll(ctx, drop); gitdir.ExitStatus(err) > 0 { // another process does it, or the next sync
		return nil
	}
	return err
}
