package store

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/gitstore/testtmp"
)

// tornNotes returns a repository with two commits of notes, of which the second extends the first, its git directory,
// and the ids of the notes' objects.
func tornNotes(t *testing.T) (s *Store, gitDir string, objects []string) {
	t.Helper()
	s = newTestStore(t)
	now := testEpoch
	s.Now = func() time.Time { now = now.Add(time.Second); return now }
	events := noteEvents(testCommit(t, s, "one"), testCommit(t, s, "two"))
	recorded(t, s, events[0])
	notesAt(t, s, s.Project)
	for _, e := range events[1:] {
		recorded(t, s, e)
	}
	notesAt(t, s, s.Project)
	for line := range strings.Lines(testrepo.Git(t, s.Repo.WorkTree, "rev-list", "--objects", NotesRef)) {
		objects = append(objects, strings.Fields(line)[0])
	}
	if len(objects) < 4 {
		t.Fatalf("the notes are made of %q", objects)
	}
	return s, s.Repo.CommonDir, objects
}

// tears maps names to the damage that a power cut can do to a file that was not synced.
var tears = map[string]func(text []byte) []byte{
	"gone":  nil,
	"empty": func([]byte) []byte { return []byte{} },
	"cut":   func(text []byte) []byte { return text[:len(text)/2] },
}

func tear(t *testing.T, path string, how func([]byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil && how != nil {
		err = os.WriteFile(path, how(text), 0o444)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// checkWhole fails unless the notes match the logs and git can read them.
func checkWhole(t *testing.T, s *Store, project func(context.Context) error) {
	t.Helper()
	tip := notesAt(t, s, project)
	testrepo.Git(t, s.Repo.WorkTree, "log", "--notes=runr", "--all")
	for line := range strings.Lines(testrepo.Git(t, s.Repo.WorkTree, "rev-list", "--objects", NotesRef)) {
		testrepo.Git(t, s.Repo.WorkTree, "cat-file", "-p", strings.Fields(line)[0])
	}
	if want := notesAt(t, s, s.RebuildNotes); tip != want {
		t.Errorf("notes at %s, want %s", tip, want)
	}
}

// TestTornNotesBelow: a torn object below another torn object is written again, although its file exists.
func TestTornNotesBelow(t *testing.T) {
	s, gitDir, _ := tornNotes(t)
	rev := func(what string) string {
		return strings.TrimSpace(testrepo.Git(t, s.Repo.WorkTree, "rev-parse", NotesRef+what))
	}
	note := strings.Fields(testrepo.Git(t, s.Repo.WorkTree, "ls-tree", NotesRef))[2]
	for _, object := range []string{note, rev("^{tree}"), rev("~1^{tree}"), rev("~1"), rev("")} {
		tear(t, filepath.Join(gitDir, "objects", object[:2], object[2:]), tears["cut"])
	}
	again, err := gitstore.Open(t.Context(), s.Repo.WorkTree)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	s.Repo = again
	checkWhole(t, s, s.RebuildNotes)
}

// TestTornNotes: notes are not synced, so a power cut may tear any of their objects or the ref. No later operation
// fails, and a rebuild repairs the notes.
func TestTornNotes(t *testing.T) {
	_, _, objects := tornNotes(t)
	for name, how := range tears {
		if name != "empty" && !testtmp.Long() {
			continue
		}
		for i := range len(objects) + 1 {
			for what, then := range map[string]func(*Store) func(context.Context) error{
				"rebuilt": func(s *Store) func(context.Context) error { return s.RebuildNotes },
				"looked":  func(s *Store) func(context.Context) error { return s.Project },
				"written": func(s *Store) func(context.Context) error {
					one := testCommit(t, s, "three")
					recorded(t, s, noteEvents(one, one)[0])
					return s.Project
				},
			} {
				s, gitDir, objects := tornNotes(t)
				path := filepath.Join(gitDir, filepath.FromSlash(NotesRef))
				if i < len(objects) {
					path = filepath.Join(gitDir, "objects", objects[i][:2], objects[i][2:])
				}
				tear(t, path, how)
				again, err := gitstore.Open(t.Context(), s.Repo.WorkTree) // after the restart
				if err != nil {
					t.Fatal(err)
				}
				t.Run(what+" "+name+" "+filepath.Base(path)[:4], func(t *testing.T) {
					defer again.Close()
					s := &Store{Source: s.Source}
					s.Repo = again
					if err := then(s)(t.Context()); err != nil {
						t.Fatal(err)
					}
					checkWhole(t, s, s.RebuildNotes)
				})
			}
		}
	}
}
