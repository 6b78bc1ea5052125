package share

import (
	"context"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/store"
)

// Remotes returns the remotes with which a clone exchanges where none is named: the elected one, the one that what was
// recorded before belongs to, and each other one of which this clone has asked or answered something.
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

// SyncAll is Sync with each of Remotes. It ends with the first that cannot be reached.
func SyncAll(ctx context.Context, s *store.Store, elected string, terms Terms) (all []Synced, err error) {
	remotes, err := Remotes(ctx, s, elected)
	for _, remote := range remotes {
		if err != nil {
			return all, err
		}
		done, failed := Sync(ctx, s, remote, terms)
		all, err = append(all, done), failed
	}
	return all, err
}

// Kept counts the events that stay in this clone: those of private logs, and of own logs whose remote is gone.
func Kept(ctx context.Context, s *store.Store) (kept int, err error) {
	tips, err := s.Repo.Tips(ctx)
	for writer, tip := range tips {
		if err == nil && s.Repo.Audience(writer) == (gitstore.Audience{Private: true}) {
			err = s.Repo.Walk(ctx, writer, tip, "", func(gitstore.Entry) error { kept++; return nil })
		}
	}
	return kept, err
}
