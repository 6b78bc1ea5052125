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

// A clone that does not want what is old does not name the archives of old months to the
// remote. What has come once is followed for good: nothing is taken away from a clone.

// wantedMonths are the months whose archives are to be fetched, "" for all.
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
	for _, known := range []archives{here, staged} { // else what the remote has no more would stay
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

// mayHaveLog reports whether the log of our own writer, which has no ref on the remote, may
// be in the archives of months that are left: a log that is begun anew beside it would
// hide it. An id that was made here since then was nobody's before; one that was given, as a
// name is, may have been.
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

// writerMadePath is the file that says when this clone made its id.
func (s *Store) writerMadePath() string { return filepath.Join(s.dir.StateDir(), "writer-made") }

func (s *Store) noteWriterMade(a Audience, id string) error {
	if a != (Audience{}) { // only the home remote has archives
		return nil
	}
	return safefile.WriteFile(s.writerMadePath(), []byte(id+" "+time.Now().UTC().Format(time.RFC3339)+"\n"), 0o666)
}

// writerMade is when this clone made an id; not ok for one that it was given.
func (s *Store) writerMade(id string) (at time.Time, ok bool) {
	text, err := safefile.ReadFile(s.writerMadePath())
	of, said, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	at, wrong := time.Parse(time.RFC3339, said)
	return at, err == nil && wrong == nil && of == id
}

func (s *Store) unfetchedPath() string { return filepath.Join(s.dir.StateDir(), "unfetched.json") }

// readUnfetched are the months that were left by remote. A damaged file is none: the next
// fetch writes it.
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

// Unfetched are the months whose archives a remote, or any for "", had at the last fetch and this
// clone does not have, oldest first.
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

// mayBeIn reports whether a log that ends at tip may be in the archives of months: it is in
// that of its last entry, or in a newer one.
func (s *Store) mayBeIn(ctx context.Context, months []string, tip odb.ID) bool {
	if len(months) == 0 {
		return false
	}
	entry, err := s.Entry(ctx, tip)
	return err != nil || monthOf(entry.When) <= months[len(months)-1]
}
