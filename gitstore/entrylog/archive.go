package entrylog

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Every short-lived clone leaves a log. Logs that have not moved for a while are retired into
// an archive: refs/runr/archives/<month> is a chain of commits. The parents of each are the
// archive commit before it and then the tips of logs whose last entry is of that month (UTC),
// or of an earlier month if an archive holds them already. The refs of these logs are then
// deleted. Everything stays reachable and no id changes. Package gitstore shows the message.
// If several archives hold a log, the newest counts, by month and then by place in the chain.
// A ref of the log's own overrides them all.
const (
	archivesPrefix = "refs/runr/archives/"
	archiveMonth   = "2006-01"
	archiveFormat  = 1
	archiveLogs    = 256       // logs in one archive commit
	maxArchiveLogs = 1024      // logs read from one archive commit
	maxArchived    = 1_000_000 // logs read from one chain
)

const (
	archiveTitle   = "git-runr archive"
	archiveVersion = "Runr-Archive: "
	archiveNewest  = "Runr-Newest: "
	archiveLog     = "Runr-Log: "
)

// archiveHelp tells the user of an older git-runr, which cannot read archives, how to get the logs back.
const archiveHelp = `Logs of clones that have not written for a while. Their refs are gone, their events are
reachable from here, and git runr sync brings them. A git-runr that knows no archives does
not see them: install a newer one, or give it their refs with

  git fetch REMOTE 'refs/runr/archives/*:refs/runr/archives/*'
  for month in $(git for-each-ref --format='%(refname)' refs/runr/archives); do
    git log --first-parent --reverse --format=%b "$month"
  done | sed -n 's/^Runr-Log: //p' |
    while read -r log tip; do git update-ref "refs/runr/log/$log" "$tip"; done
`

// stagedArchives returns the prefix of the refs where the archives of a remote are staged.
func stagedArchives(remote string) string { return remotesPrefix + remote + "/archives/" }

// archives maps a month to the newest commit of its archive chain.
type archives map[string]odb.ID

func monthOf(at time.Time) string { return at.UTC().Format(archiveMonth) }

func isMonth(s string) bool {
	at, err := time.Parse(archiveMonth, s)
	return err == nil && monthOf(at) == s
}

// refArchives returns the archives among refs whose names begin with prefix.
func refArchives(refs map[string]odb.ID, prefix string) archives {
	found := archives{}
	for name, id := range refs {
		if month, is := strings.CutPrefix(name, prefix); is && isMonth(month) {
			found[month] = id
		}
	}
	return found
}

// archive is one commit of an archive chain.
type archive struct {
	before odb.ID // "" for the first
	newest time.Time
	logs   []archivedLog
}

type archivedLog struct {
	writer string
	tip    odb.ID
}

func (a archive) message() string {
	var b strings.Builder
	count := fmt.Sprint(len(a.logs), " logs")
	if len(a.logs) == 1 {
		count = "1 log"
	}
	fmt.Fprintf(&b, "%s: %s\n\n%s\n%s%d\n%s%s\n", archiveTitle, count, archiveHelp, archiveVersion, archiveFormat,
		archiveNewest, a.newest.UTC().Format(time.RFC3339))
	for _, log := range a.logs {
		fmt.Fprintf(&b, "%s%s %s\n", archiveLog, log.writer, log.tip)
	}
	return b.String()
}

// decodeArchive parses an archive commit. It returns ErrNewerFormat, with both format numbers, for a format that this
// program does not know.
func decodeArchive(c odb.Commit) (archive, error) {
	var a archive
	said, isArchive := strings.CutPrefix(c.Message, archiveTitle)
	_, said, versioned := strings.Cut(said, "\n"+archiveVersion)
	if !isArchive || !versioned {
		return a, fmt.Errorf("%s is not an archive of logs", c.ID.Short())
	}
	version, said, _ := strings.Cut(said, "\n")
	switch n, err := strconv.ParseUint(version, 10, 31); {
	case err != nil || n == 0:
		return a, fmt.Errorf("archive %s: format %q", c.ID.Short(), version)
	case n > archiveFormat:
		return a, fmt.Errorf("archive %s: %w: format %d, this program reads up to %d", c.ID.Short(), gitdir.ErrNewerFormat, n,
			archiveFormat)
	}
	newest, said, _ := strings.Cut(said, "\n")
	var err error
	if a.newest, err = time.Parse(time.RFC3339, strings.TrimPrefix(newest, archiveNewest)); err != nil {
		return a, fmt.Errorf("archive %s: its time is %q", c.ID.Short(), newest)
	}
	if a.logs, err = archivedLogs(said); err == nil {
		err = a.join(c.Parents)
	}
	if err != nil {
		err = fmt.Errorf("archive %s: %w", c.ID.Short(), err)
	}
	return a, err
}

func archivedLogs(said string) (logs []archivedLog, err error) {
	seen := map[string]bool{}
	for line := range strings.Lines(said) {
		rest, named := strings.CutPrefix(strings.TrimSuffix(line, "\n"), archiveLog)
		writer, tip, _ := strings.Cut(rest, " ")
		switch {
		case !named || !isWriter(writer):
			return nil, fmt.Errorf("%q names no log", line)
		case seen[writer]:
			return nil, fmt.Errorf("log %s is in it twice", writer)
		case len(logs) == maxArchiveLogs:
			return nil, fmt.Errorf("%w: more than %d logs", gitdir.ErrTooLarge, maxArchiveLogs)
		}
		seen[writer] = true
		logs = append(logs, archivedLog{writer, odb.ID(tip)})
	}
	return logs, nil
}

// join checks that the logs of a are the parents of its commit, after an optional first parent: the archive commit
// before it.
func (a *archive) join(parents []odb.ID) error {
	if len(parents) == len(a.logs)+1 {
		a.before, parents = parents[0], parents[1:]
	}
	if len(a.logs) == 0 || !slices.EqualFunc(a.logs, parents, func(log archivedLog, id odb.ID) bool {
		return log.tip == id
	}) {
		return errors.New("its parents are not the logs that it names")
	}
	return nil
}

// archived returns the tips of all logs in archives. It leaves out the chains that it cannot read and returns the
// first such error.
func (s *Store) archived(ctx context.Context, all archives) (Tips, error) {
	logs := Tips{}
	var wrong error
	for _, month := range slices.Sorted(maps.Keys(all)) {
		some, err := s.archivedIn(ctx, month, all[month])
		maps.Copy(logs, some)
		if wrong == nil {
			wrong = err
		}
	}
	return logs, wrong
}

// archivedIn returns the tips of the logs in the chain of a month that ends at tip.
func (s *Store) archivedIn(ctx context.Context, month string, tip odb.ID) (Tips, error) {
	if known, ok := s.archives.Load(tip); ok {
		return known.(Tips), nil
	}
	stored := s.readArchiveCache(month)
	if stored.tip != tip {
		logs, err := s.readArchives(ctx, tip, stored)
		if err != nil {
			return nil, err
		}
		stored = &archiveCache{tip, logs}
		_ = safefile.WriteFile(s.archiveCachePath(month), stored.encode(), 0o666)
	}
	s.archives.Store(tip, stored.logs)
	return stored.logs, nil
}

// readArchives reads the chain from tip back to the commit that known was made from.
func (s *Store) readArchives(ctx context.Context, tip odb.ID, known *archiveCache) (Tips, error) {
	var chain []archive
	count := 0
	for id := tip; id != "" && id != known.tip; {
		commit, err := s.objects.ReadCommit(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read archive %s: %w", id.Short(), err)
		}
		a, err := decodeArchive(commit)
		if err != nil {
			return nil, err
		}
		if count += len(a.logs); count > maxArchived {
			return nil, fmt.Errorf("archive %s: %w: more than %d logs", tip.Short(), gitdir.ErrTooLarge, maxArchived)
		}
		chain = append(chain, a)
		id = a.before
	}
	logs := Tips{}
	if len(chain) == 0 || chain[len(chain)-1].before != "" {
		maps.Copy(logs, known.logs)
	}
	for _, a := range slices.Backward(chain) {
		for _, log := range a.logs {
			logs[log.writer] = log.tip
		}
	}
	return logs, nil
}

// archiveCache is the content of one archive chain, cached in a file. The file begins with a checksum and can be
// deleted at any time.
type archiveCache struct {
	tip  odb.ID
	logs Tips
}

func (s *Store) archiveCachePath(month string) string {
	return filepath.Join(s.dir.StateDir(), "cache", "archive-"+month)
}

func (c *archiveCache) encode() []byte {
	body := []byte(string(c.tip) + "\n")
	for _, writer := range slices.Sorted(maps.Keys(c.logs)) {
		body = append(body, writer+" "+string(c.logs[writer])+"\n"...)
	}
	return append(fmt.Appendf(nil, "%08x\n", crc32.ChecksumIEEE(body)), body...)
}

// readArchiveCache reads the cache of a month; it is empty if the file is missing or damaged.
func (s *Store) readArchiveCache(month string) *archiveCache {
	c := &archiveCache{logs: Tips{}}
	data, err := safefile.ReadFile(s.archiveCachePath(month))
	sum, body, _ := strings.Cut(string(data), "\n")
	if err != nil || sum != fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body))) {
		return c
	}
	tip, rest, _ := strings.Cut(body, "\n")
	for line := range strings.Lines(rest) {
		writer, id, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		c.logs[writer] = odb.ID(id)
	}
	c.tip = odb.ID(tip)
	return c
}

// logRefs returns the logs that have a ref here, and the archives of this clone.
func (s *Store) logRefs(ctx context.Context) (live Tips, here archives, err error) {
	refs, err := s.refs.Refs(ctx, sharedPrefix)
	if err != nil {
		return nil, nil, err
	}
	return refTips(refs, logPrefix), refArchives(refs, archivesPrefix), nil
}

// refTips returns the logs among refs whose names begin with prefix.
func refTips(refs map[string]odb.ID, prefix string) Tips {
	tips := make(Tips, len(refs))
	for name, id := range refs {
		if writer, isLog := strings.CutPrefix(name, prefix); isLog && isWriter(writer) {
			tips[writer] = id
		}
	}
	return tips
}

// addArchived adds archived logs to tips; a log's own ref overrides the archives. It reports a damaged archive and
// leaves out its logs until the archive is fetched again.
func (s *Store) addArchived(ctx context.Context, tips Tips, here archives) error {
	logs := Tips{}
	for _, month := range slices.Sorted(maps.Keys(here)) {
		some, err := s.archivedIn(ctx, month, here[month])
		if err != nil && ctx.Err() == nil && isDamage(err) {
			s.ReportDamage(here[month])
			continue
		}
		if err != nil {
			return err
		}
		maps.Copy(logs, some)
	}
	for writer, tip := range logs {
		if tips[writer] == "" {
			tips[writer] = tip
		}
	}
	return nil
}

// sharedArchives returns the archives that the last fetch brought from a remote.
func (s *Store) sharedArchives(ctx context.Context, remote string) (archives, error) {
	refs, err := s.refs.Refs(ctx, stagedArchives(remote))
	return refArchives(refs, stagedArchives(remote)), err
}

// sharedTips returns the tips of the logs that a remote had at the last fetch, by their own refs and by its archives.
// It ignores archives that cannot be read.
func (s *Store) sharedTips(ctx context.Context, remote string) (staged, archived Tips, err error) {
	refs, err := s.refs.Refs(ctx, remotesPrefix+remote+"/")
	if err != nil {
		return nil, nil, err
	}
	archived, _ = s.archived(ctx, refArchives(refs, stagedArchives(remote)))
	return refTips(refs, stagedPrefix(remote)), archived, context.Cause(ctx)
}

// SharedTip returns the tip of a log that a remote had at the last fetch, or "" if it had none.
func (s *Store) SharedTip(ctx context.Context, remote, writer string) (odb.ID, error) {
	tip, err := s.refs.Ref(ctx, stagedPrefix(remote)+writer)
	if err != nil || tip != "" {
		return tip, err
	}
	_, archived, err := s.sharedTips(ctx, remote)
	return archived[writer], err
}
