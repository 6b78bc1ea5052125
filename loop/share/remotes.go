package share

import (
	"context"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
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

// Kept counts the events that stay in this clone: those of private logs, and of logs whose remote was removed.
func Kept(ctx context.Context, s *store.Store) (kept int, err error) {
	tips, err := s.Repo.Tips(ctx)
	if err != nil {
		return 0, err
	}
	for writer, tip := range tips {
		if s.Repo.Audience(writer) != (gitstore.Audience{Private: true}) {
			continue
		}
		if err := s.Repo.Walk(ctx, writer, tip, "", func(gitstore.Entry) error { kept++; return nil }); err != nil {
			return kept, err
		}
	}
	return kept, nil
}
