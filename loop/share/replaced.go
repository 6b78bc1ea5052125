package share

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
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
		was, r, err := compareLogs(ctx, s, writer, have, staged)
		if err != nil {
			return err
		}
		if len(was) > r.events {
			return gitstore.ErrOtherLog
		}
		return r.verify(ctx, s, trusted, was[0].Author, writer)
	}
}

func entries(ctx context.Context, s *store.Store, writer string, tip gitstore.ID) (all []gitstore.Entry, err error) {
	err = s.Repo.Walk(ctx, writer, tip, "", func(e gitstore.Entry) error { all = append(all, e); return nil })
	return all, err
}

// replacement is a log that replaces another one.
type replacement struct {
	end     gitstore.Entry // which says so
	events  int            // before end
	differs int            // how many of them say less than those that are here
}

// verify returns an error unless git verifies a signature of owner on the end of the log, or its writer is trusted.
func (r replacement) verify(ctx context.Context, s *store.Store, trusted []string, owner gitstore.Identity,
	writer string) error {
	if slices.Contains(trusted, writer) {
		return nil
	}
	found, err := s.Repo.Signatures(ctx, []gitstore.ID{r.end.ID}, nil)
	if err != nil || found[r.end.ID].By(owner.Email) {
		return err
	}
	state := string(found[r.end.ID].State)
	if signer := found[r.end.ID].Signer; signer != "" {
		state += ", of " + signer
	}
	return fmt.Errorf("it was replaced in the name of %s, with %s in %s more; git finds no good signature of %s on it "+
		"here (%s); if it is right: git runr sync --replaced %s", r.end.Author, record.Redacted,
		prose.Count(r.differs, "event"), owner.Email, state, writer)
}

// compareLogs compares the entries of a log with those of the staged one of the same writer, up to the last event that
// says that it replaces the log. The error is a gitstore.ErrOtherLog if there is none, or an event says something else.
func compareLogs(ctx context.Context, s *store.Store, writer string, have,
	staged gitstore.ID) (was []gitstore.Entry, r replacement, err error) {
	was, err = entries(ctx, s, writer, have)
	now, nowErr := entries(ctx, s, writer, staged)
	if err = errors.Join(err, nowErr); err != nil {
		return was, r, err
	}
	for at, e := range now {
		if p, ok := record.ReplacedBy(e); ok && p.Events == at {
			r.end, r.events = e, at
		}
	}
	if r.end.ID == "" || len(was) == 0 {
		return was, r, gitstore.ErrOtherLog
	}
	ids := map[gitstore.ID]gitstore.ID{}
	for at, before := range was[:min(len(was), r.events)] {
		e := now[at]
		if ids[before.ID] = e.ID; before.ID == e.ID {
			continue
		}
		if err := record.OnlyWithdraws(before, e, ids); err != nil {
			return was, r, fmt.Errorf("%w: %w", gitstore.ErrOtherLog, err)
		}
		if before.Message != e.Message || before.Tree != e.Tree {
			r.differs++
		}
		attached, err := s.Repo.Attachments(ctx, e.ID)
		if err != nil {
			return was, r, err
		}
		if e.Tree != before.Tree && len(attached) > 0 {
			return was, r, fmt.Errorf("%w: event %s would have other attachments", gitstore.ErrOtherLog, before.ID.Short())
		}
	}
	return was, r, nil
}
