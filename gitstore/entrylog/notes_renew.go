package entrylog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// RenewNotes begins empty notes on top of the newest commit in the ref's history that can be read completely, and of
// the notes staged from remotes: a plain push of the result is then a fast-forward. It sets aside the damaged objects
// of the ref and returns them. It deletes the staged notes of a remote if they cannot be read, because missing objects
// would stop git's gc; the next sync fetches them again.
func (s *Store) RenewNotes(ctx context.Context, ref string) (n *Notes, damaged []odb.ID, err error) {
	tip, err := s.refs.Ref(ctx, ref)
	if err != nil {
		return nil, nil, fmt.Errorf("open notes: %w", err)
	}
	n, w := s.NewNotes(ref, tip), s.newSoundness()
	if tip != "" {
		if kind, _, err := s.objects.Read(ctx, tip); err == nil && kind != "commit" {
			n.was.ID = tip // another tool put it there
			return n, nil, nil
		}
	}
	for id := tip; id != ""; {
		if sound, err := w.check(ctx, id); err != nil {
			return nil, nil, err
		} else if sound {
			n.parents = []odb.ID{id}
			break
		}
		commit, _ := s.objects.ReadCommit(ctx, id) // an unreadable commit has no parents
		id = commit.Parent()
	}
	for _, id := range w.damaged {
		if err := s.setAside(id); err != nil {
			return nil, nil, err
		}
	}
	damaged = slices.Clone(w.damaged)
	if err := n.standOnStaged(ctx, w); err != nil {
		return nil, nil, err
	}
	if len(n.parents) > 0 {
		n.was, err = s.objects.ReadCommit(ctx, n.parents[0])
	}
	return n, damaged, err
}

// standOnStaged adds the notes of remotes as parents, unless the present parents contain them.
func (n *Notes) standOnStaged(ctx context.Context, w *soundness) error {
	staged, err := n.repo.refs.Refs(ctx, remotesPrefix)
	if err != nil {
		return err
	}
	for _, ref := range slices.Sorted(maps.Keys(staged)) {
		if ref != stagedNotes(strings.TrimSuffix(strings.TrimPrefix(ref, remotesPrefix), "/notes")) {
			continue
		}
		sound, err := w.check(ctx, staged[ref])
		if err != nil {
			return err
		}
		if sound {
			err = n.standOn(ctx, staged[ref])
		} else {
			err = n.repo.refs.SwapAny(ctx, ref, "", staged[ref])
		}
		if err != nil && !errors.Is(err, gitdir.ErrLostRace) {
			return err
		}
	}
	return nil
}

// standOn adds a commit as a parent and drops the parents in its history; it does nothing if a parent contains it.
func (n *Notes) standOn(ctx context.Context, id odb.ID) error {
	var apart []odb.ID
	for _, parent := range n.parents {
		older, err := n.repo.refs.IsAncestor(ctx, id, parent)
		if err != nil || older {
			return err
		}
		newer, err := n.repo.refs.IsAncestor(ctx, parent, id)
		if err != nil {
			return err
		}
		if !newer {
			apart = append(apart, parent)
		}
	}
	n.parents = append(apart, id)
	return nil
}

// NotesDamage lists the unreadable objects of the notes that a ref is at, and of their history.
func (s *Store) NotesDamage(ctx context.Context, ref string) ([]odb.ID, error) {
	tip, err := s.refs.Ref(ctx, ref)
	if err != nil || tip == "" {
		return nil, err
	}
	w := s.newSoundness()
	_, err = w.check(ctx, tip)
	return w.damaged, err
}

// soundness finds the objects that can be read together with everything that they refer to. Objects that a partial or
// shallow clone left out do not count as damaged.
type soundness struct {
	store   *Store
	partial bool
	cut     []odb.ID
	known   map[odb.ID]bool
	damaged []odb.ID
}

func (s *Store) newSoundness() *soundness {
	return &soundness{s, s.dir.Config.Get("extensions.partialclone") != "", s.objects.CutOff(), map[odb.ID]bool{}, nil}
}

func (w *soundness) check(ctx context.Context, id odb.ID) (sound bool, err error) {
	if sound, known := w.known[id]; known {
		return sound, nil
	}
	names, err := w.store.namedBy(ctx, id, slices.Contains(w.cut, id))
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil && !isDamage(err):
		return false, fmt.Errorf("read notes: %w", err)
	case err == nil || w.partial && errors.Is(err, gitdir.ErrNotFound):
		sound = true
	default:
		w.damaged = append(w.damaged, id)
	}
	for _, name := range names {
		below, err := w.check(ctx, name)
		if err != nil {
			return false, err
		}
		sound = sound && below
	}
	w.known[id] = sound
	return sound, nil
}

// namedBy lists the objects that an object refers to, without the parents of a commit at the end of a shallow clone.
func (s *Store) namedBy(ctx context.Context, id odb.ID, cut bool) (names []odb.ID, err error) {
	kind, data, err := s.objects.ReadHere(ctx, id)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "commit":
		commit, err := odb.DecodeCommit(data)
		if cut {
			commit.Parents = nil
		}
		return append(commit.Parents, commit.Tree), err
	case "tree":
		entries, err := odb.DecodeTree(data, len(id)/2)
		for _, e := range entries {
			if e.Mode != odb.ModeCommit {
				names = append(names, e.ID)
			}
		}
		return names, err
	}
	return nil, nil
}

// restartPath returns the file that exists until the remote has the notes without their history.
func (s *Store) restartPath() string { return filepath.Join(s.dir.StateDir(), "notes-restart") }

// RestartNotes drops the history of the notes of ref: the commit with the notes as they are has no parent. The next
// Push replaces the notes of the remote.
func (s *Store) RestartNotes(ctx context.Context, ref string) error {
	tip, err := s.refs.Ref(ctx, ref)
	if err != nil || tip == "" {
		return err
	}
	commit, err := s.objects.ReadCommit(ctx, tip)
	if err != nil {
		return fmt.Errorf("restart notes: %w", err)
	}
	if err := safefile.WriteFile(s.restartPath(), nil, 0o666); err != nil {
		return fmt.Errorf("restart notes: %w", err)
	}
	alone, err := s.NotesCommit(ctx, commit.Tree, nil, commit.Message, commit.CommitterWhen)
	if err != nil || alone == tip {
		return err
	}
	return s.refs.SwapRef(ctx, ref, alone, tip)
}

// NotesRestarted reports whether the remote still has the notes from before RestartNotes.
func (s *Store) NotesRestarted() bool {
	_, err := os.Stat(s.restartPath())
	return err == nil
}

// EndNotesRestart records that the remote has the notes without their history.
func (s *Store) EndNotesRestart() error {
	if err := os.Remove(s.restartPath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
