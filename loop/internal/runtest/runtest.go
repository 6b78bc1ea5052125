// Package runtest makes events, plans and repositories for tests of runs.
package runtest

import (
	"context"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

const (
	Review    = "20260107120000-abcdef"
	Run       = "20260107130000-ghjkmn"
	OneWriter = "aaaaaaaaaaaa"
	TwoWriter = "bbbbbbbbbbbb"
)

var Epoch = time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC)

// EventAt is the event of a clock, as it would come out of a log. A string is a
// payload as it is; anything else is encoded.
func EventAt(clock int, eventType string, what any) record.Event {
	body, isText := what.(string)
	if !isText {
		data, err := json.Marshal(what)
		if err != nil {
			panic(err)
		}
		body = string(data)
	}
	e := record.Event{
		V: record.FormatVersion, Clock: uint64(clock), Writer: OneWriter,
		Timestamp: Epoch.Add(time.Duration(clock) * time.Minute),
		Type:      eventType, Source: "cli", Payload: json.RawMessage(body),
		Actor: "Ann <ann@example.org>", Title: eventType + ": a title",
	}
	e.ID = gitstore.ID(fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, clock, eventType, body))))
	return e
}

// GitStore is the store of the repository in dir.
func GitStore(t testing.TB, dir string) *store.Store {
	repo, err := gitstore.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	return store.NewStore(repo, time.Now)
}

// NewStore is a repository of its own with nothing of the user's in it.
func NewStore(t *testing.T) *store.Store {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	ctx, dir := context.Background(), t.TempDir()
	repo, err := gitstore.Init(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"user.name": "Ann", "user.email": "ann@example.org"} {
		if err := repo.SetConfig(ctx, key, value); err != nil {
			t.Fatal(err)
		}
	}
	now := Epoch
	store := GitStore(t, dir)
	store.Now = func() time.Time { now = now.Add(time.Minute); return now }
	return store
}

// Clones are two clones of one bare repository, with one commit; now is the time of both.
func Clones(t *testing.T, now func() time.Time) (a, b *store.Store, remote string) {
	t.Helper()
	from, root := testrepo.New(t), t.TempDir()
	remote = filepath.Join(root, "remote.git")
	testrepo.Git(t, root, "clone", "-q", "--bare", from, remote)
	clone := func(name string) *store.Store {
		testrepo.Git(t, root, "clone", "-q", remote, name)
		s := GitStore(t, filepath.Join(root, name))
		s.Now = now
		return s
	}
	return clone("a"), clone("b"), remote
}

// Commit is a commit that events can speak of.
func Commit(t *testing.T, s *store.Store, message string) gitstore.ID {
	t.Helper()
	ctx := context.Background()
	tree, err := s.Repo.EmptyTree(ctx)
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.KeepTree(ctx, tree, tree, message)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Plan is a run of the default workflow.
func Plan() runplan.Plan {
	return runplan.Plan{
		Entity: runplan.Entity{Type: "task", Identifier: "T1", Title: "Add a thing"}, Base: "base", Branch: "runr/" + Run,
		Implementer: "imp", Reviewer: "rev",
		Policy: runplan.Policy{Workflow: runplan.DefaultWorkflow(), MaxRetries: 2, Threshold: runplan.ThresholdVerdict},
	}
}
