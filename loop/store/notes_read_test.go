package store

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// Events of a log that were collected during a sync are used only if they are all that the notes lack.
func TestProjectRead(t *testing.T) {
	ctx := t.Context()
	s := newTestStore(t)
	for _, what := range []string{"one", "two", "three"} {
		subject := record.Subject{Kind: record.SubjectCommit, Tree: testCommit(t, s, what)}
		made, err := s.RequestReview(ctx, record.ReviewRequest{Subject: subject, Reviewer: record.Human}, "cli")
		if err == nil {
			_, err = s.SubmitPerson(ctx, made.ID, record.Person{Actor: "ann", Decision: record.RequestChanges, Message: what})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tips, err := s.Repo.Tips(ctx)
	if err != nil {
		t.Fatal(err)
	}
	writer := s.Repo.Writer()
	var entries []gitstore.Entry
	if err := s.Repo.Walk(ctx, writer, tips[writer], "", func(e gitstore.Entry) error { entries = append(entries, e); return nil }); err != nil {
		t.Fatal(err)
	}
	collect := func(from, to int, says gitstore.ID) *Heard {
		y := &Heard{Index: true}
		for _, entry := range entries[from:to] {
			event, err := record.DecodeEvent(entry)
			if err != nil {
				t.Fatal(err)
			}
			y.Add(event)
		}
		if from > 0 {
			y.Covers(writer, entries[from-1].ID, says)
		} else {
			y.Covers(writer, "", entries[0].ID) // in two parts, as they arrived
			y.Covers(writer, entries[0].ID, says)
		}
		return y
	}
	if err := s.RebuildNotes(ctx); err != nil {
		t.Fatal(err)
	}
	want, err := s.Repo.Ref(ctx, NotesRef)
	if err != nil {
		t.Fatal(err)
	}
	last := len(entries)
	for name, test := range map[string]struct {
		heard *Heard
		used  bool
	}{
		"nothing":     {&Heard{}, false},
		"all":         {collect(0, last, tips[writer]), true},
		"not the end": {collect(0, last-1, entries[last-2].ID), false},
		"not enough":  {collect(2, last, tips[writer]), false},
	} {
		if used := test.heard.Between(writer, "", tips[writer]) != nil; used != test.used {
			t.Errorf("%s: used is %t", name, used)
		}
		if err := s.Repo.SwapRef(ctx, NotesRef, "", want); err != nil {
			t.Fatal(err)
		}
		if err := s.ProjectRead(ctx, test.heard); err != nil {
			t.Fatal(err)
		}
		checkIndexRead(t, s, name, test.heard, test.used)
		if got, err := s.Repo.Ref(ctx, NotesRef); got != want || err != nil {
			t.Errorf("%s: notes at %s, not at %s: %v", name, got, want, err)
		}
	}
}

// checkIndexRead makes the cache from the collected events, if they are all that the cache lacks, and compares it
// with a cache that was read from the logs.
func checkIndexRead(t *testing.T, s *Store, name string, y *Heard, used bool) {
	t.Helper()
	if err := os.RemoveAll(filepath.Dir(s.indexPath())); err != nil {
		t.Fatal(err)
	}
	if err := s.IndexRead(t.Context(), y); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got := openIndex(s.indexPath())
	defer got.close()
	if made := len(got.Tips) > 0; made != used {
		t.Fatalf("%s: a cache is made: %t", name, made)
	}
	if !used {
		return
	}
	tips, err := s.Repo.Tips(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := scratchIndex()
	defer want.close()
	if err := s.readOn(t.Context(), want, tips); err != nil {
		t.Fatal(err)
	}
	compareIndexes(t, s, name, got, want)
	if got.Events != want.Events || got.Clock != want.Clock || !maps.Equal(got.Tips, want.Tips) {
		t.Errorf("%s: %d events up to clock %d, want %d up to %d", name, got.Events, got.Clock, want.Events, want.Clock)
	}
}
