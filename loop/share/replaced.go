package share

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Replaces returns a function that decides whether a log may take the place of the one of its writer that is here. Each
// of its events has to say what the one here says, or less; and its end has to be signed by the author of the log's
// first event, which nobody can change, or its writer is one of trusted. The error is a gitstore.ErrOtherLog if the log
// says something else.
func Replaces(s *store.Store, trusted []string) func(ctx context.Context, writer string,
	have, staged gitstore.ID) error {
	return func(ctx context.Context, writer string, have, staged gitstore.ID) error {
		var was []gitstore.Entry
		err := s.Repo.Walk(ctx, writer, have, "", func(e gitstore.Entry) error { was = append(was, e); return nil })
		if err != nil {
			return err
		}
		end, err := compareLogs(ctx, s, was, writer, staged)
		if err != nil || slices.Contains(trusted, writer) {
			return err
		}
		found, err := s.Repo.Signatures(ctx, []gitstore.ID{end.ID}, nil)
		if err != nil {
			return err
		}
		if owner := was[0].Author; !found[end.ID].By(owner.Email) {
			return fmt.Errorf("%s replaced it by one without redacted texts, and git finds no good signature of %s on it here "+
				"(%s); if it is right: git runr sync --replaced %s", end.Author, owner.Email, found[end.ID].State, writer)
		}
		return nil
	}
}

// compareLogs returns the event that says that the staged log replaces one with the entries was.
func compareLogs(ctx context.Context, s *store.Store, was []gitstore.Entry, writer string,
	staged gitstore.ID) (end gitstore.Entry, err error) {
	at, ids := 0, map[gitstore.ID]gitstore.ID{}
	err = s.Repo.Walk(ctx, writer, staged, "", func(e gitstore.Entry) error {
		if at < len(was) {
			before := was[at]
			if err := record.OnlyWithdraws(before, e, ids); err != nil {
				return fmt.Errorf("%w: %w", gitstore.ErrOtherLog, err)
			}
			attached, err := s.Repo.Attachments(ctx, e.ID)
			if err != nil {
				return err
			}
			if e.Tree != before.Tree && len(attached) > 0 {
				return fmt.Errorf("%w: event %s would have other attachments", gitstore.ErrOtherLog, before.ID.Short())
			}
			ids[before.ID] = e.ID
		} else if p, ok := record.ReplacedBy(e); ok && p.Events == at {
			end = e
		}
		at++
		return nil
	})
	if err == nil && end.ID == "" {
		err = gitstore.ErrOtherLog
	}
	return end, err
}
