package share

import (
	"context"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Remotes returns the remotes to exchange logs with by default: the elected one, the one that earlier records belong
// to, and every other remote that this clone has asked or answered something on.
func Remotes(ctx context.Context, s *store.Store, elected string) ([]string, error) {
	remotes := []string{elected}
	tips, err := s.Repo.Tips(ctx)
	for _, writer := range s.Repo.Own() {
		at := s.Repo.RemoteOf(s.Repo.Audience(writer))
		if at != "" && tips[writer] != "" && !slices.Contains(remotes, at) {
			remotes = append(remotes, at)
		}
	}
	return remotes, err
}

// SyncAll calls Sync for each of Remotes, until one cannot be reached.
func SyncAll(ctx context.Context, s *store.Store, elected string, notes bool) (all []Synced, err error) {
	remotes, err := Remotes(ctx, s, elected)
	for _, remote := range remotes {
		if err != nil {
			return all, err
		}
		done, failed := Sync(ctx, s, remote, notes)
		all, err = append(all, done), failed
	}
	return all, err
}

// Kept counts the events that stay in this clone: those of private logs, and of logs whose remote was removed. It
// leaves out the originals of reviews that were shared: others have the copy.
func Kept(ctx context.Context, s *store.Store) (kept int, err error) {
	tips, err := s.Repo.Tips(ctx)
	if err != nil {
		return 0, err
	}
	events, copies := map[string]int{}, map[string]string{} // by review
	for writer, tip := range tips {
		if s.Repo.Audience(writer) != (gitstore.Audience{Private: true}) {
			continue
		}
		err := s.Repo.Walk(ctx, writer, tip, "", func(entry gitstore.Entry) error {
			event, _ := record.DecodeEvent(entry) // an event that cannot be read stays here as well
			events[event.Review]++
			if copied := copyOf(event); copied != "" {
				copies[event.Review] = copied
			}
			return nil
		})
		if err != nil {
			return kept, err
		}
	}
	for review, count := range events {
		if copied := copies[review]; copied != "" {
			if _, err := s.ReviewByID(ctx, copied); err == nil {
				continue
			}
		}
		kept += count
	}
	return kept, nil
}

// copyOf returns the id of the copy of a private review that event closes because it was shared, or "".
func copyOf(event record.Event) string {
	if event.Type != record.EventReviewResolved.Name && event.Type != record.EventReviewCancelled.Name {
		return ""
	}
	by, err := record.EventReviewResolved.Payload(event)
	if id, shared := strings.CutPrefix(by.Note, store.SharedAs); err == nil && shared && record.ValidID(id) {
		return id
	}
	return ""
}
