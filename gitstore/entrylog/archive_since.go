package entrylog

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// A clone that does not need old logs does not ask the remote for the archives of old months.
// An archive that was fetched once is updated ever after: nothing is removed from a clone.

// wantedMonths returns the months whose archives to fetch; a single "" means all. It records the months that are left
// out.
func (s *Store) wantedMonths(ctx context.Context, remote string, since time.Time) ([]string, error) {
	if since.IsZero() {
		return []string{""}, s.writeUnfetched(remote, nil)
	}
	own, err := s.storedWriter(ctx, s.AudienceOf(remote))
	if err != nil {
		return nil, err
	}
	refs, err := s.listRemote(ctx, remote, archivesPrefix+"*", logPrefix+own)
	if err != nil {
		return nil, err
	}
	_, here, err := s.logRefs(ctx)
	if err != nil {
		return nil, err
	}
	staged, err := s.sharedArchives(ctx, remote)
	if err != nil {
		return nil, err
	}
	var wanted, left []string
	for month := range refArchives(refs, archivesPrefix) {
		if here[month] == "" && month < monthOf(since) {
			left = append(left, month)
		} else {
			wanted = append(wanted, month)
		}
	}
	for _, known := range []archives{here, staged} { // so that archives deleted on the remote are pruned
		for month := range known {
			if !slices.Contains(wanted, month) && !slices.Contains(left, month) {
				wanted = append(wanted, month)
			}
		}
	}
	slices.Sort(wanted)
	slices.Sort(left)
	if len(left) > 0 && refs[logPrefix+own] == "" && s.mayHaveLog(ctx, own, since, left, here) {
		return []string{""}, s.writeUnfetched(remote, nil)
	}
	return wanted, s.writeUnfetched(remote, left)
}

// mayHaveLog reports whether the archives of left, the months not fetched, may hold the log of our own writer, which
// has no ref on the remote. A new log begun beside it would hide it. An id that this clone made after since cannot be
// in them; an id given by name can.
func (s *Store) mayHaveLog(ctx context.Context, own string, since time.Time, left []string, here archives) bool {
	if own == "" {
		return false
	}
	newer := archives{}
	for month, tip := range here {
		if month > left[len(left)-1] {
			newer[month] = tip
		}
	}
	if held, err := s.archived(ctx, newer); err == nil && held[own] != "" {
		return false
	}
	made, ok := s.writerMade(own)
	return !ok || made.Before(since)
}

// writerMadePath returns the file that records when this clone made its id.
func (s *Store) writerMadePath() string { return filepath.Join(s.dir.StateDir(), "writer-made") }

func (s *Store) noteWriterMade(a Audience, id string) error {
	if a != (Audience{}) { // only the home remote has archives
		return nil
	}
	return safefile.WriteFile(s.writerMadePath(), []byte(id+" "+time.Now().UTC().Format(time.RFC3339)+"\n"), 0o666)
}

// writerMade returns when this clone made id; ok is false for an id that was given to it.
func (s *Store) writerMade(id string) (at time.Time, ok bool) {
	text, err := safefile.ReadFile(s.writerMadePath())
	of, said, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	at, wrong := time.Parse(time.RFC3339, said)
	return at, err == nil && wrong == nil && of == id
}

func (s *Store) unfetchedPath() string { return filepath.Join(s.dir.StateDir(), "unfetched.json") }

// readUnfetched returns the months that were not fetched, by remote. A damaged file counts as empty; the next fetch
// rewrites it.
func (s *Store) readUnfetched() map[string][]string {
	all := map[string][]string{}
	text, err := safefile.ReadFile(s.unfetchedPath())
	if err != nil || json.Unmarshal(text, &all) != nil || all == nil {
		return map[string][]string{}
	}
	return all
}

func (s *Store) writeUnfetched(remote string, months []string) error {
	all := s.readUnfetched()
	if slices.Equal(all[remote], months) {
		return nil
	}
	if all[remote] = months; len(months) == 0 {
		delete(all, remote)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return safefile.WriteFile(s.unfetchedPath(), text, 0o666)
}

// Unfetched returns, oldest first, the months whose archives the remote had at the last fetch and this clone does not
// have. If remote is "", it looks at every remote.
func (s *Store) Unfetched(ctx context.Context, remote string) (left []string, err error) {
	all := s.readUnfetched()
	if len(all) == 0 {
		return nil, nil
	}
	_, here, err := s.logRefs(ctx)
	if err != nil {
		return nil, err
	}
	for of, months := range all {
		for _, month := range months {
			if (remote == "" || of == remote) && here[month] == "" && !slices.Contains(left, month) {
				left = append(left, month)
			}
		}
	}
	slices.Sort(left)
	return left, nil
}

// mayBeIn reports whether the archives of months may hold a log that ends at tip. They can if one of them is of the
// month of its last entry, or newer.
func (s *Store) mayBeIn(ctx context.Context, months []string, tip odb.ID) bool {
	if len(months) == 0 {
		return false
	}
	entry, err := s.Entry(ctx, tip)
	return err != nil || monthOf(entry.When) <= months[len(months)-1]
}
