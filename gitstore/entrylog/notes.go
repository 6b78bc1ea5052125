package entrylog

import (
	"context"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// OpenNotes reads the notes of a ref such as "refs/notes/runr"; a ref that does
// not exist has none. Directories of the tree are read when they are needed.
func (s *Store) OpenNotes(ctx context.Context, ref string) (*Notes, error) {
	tip, err := s.refs.Ref(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("open notes: %w", err)
	}
	n := s.NewNotes(ref, tip)
	if tip == "" {
		return n, nil
	}
	commit, err := s.objects.ReadCommit(ctx, tip)
	if err != nil {
		return nil, fmt.Errorf("open notes %s: %w", ref, err)
	}
	n.was, n.parents, n.keep = commit, []odb.ID{tip}, odb.Unsynced
	if err := n.unpack(ctx, n.root, 0, &noteItem{id: commit.Tree}); err != nil {
		return nil, fmt.Errorf("open notes %s: %w", ref, err)
	}
	return n, nil
}

// NewNotes begins notes from nothing, to replace what the ref is at: "" when there
// is no ref. Nothing of what it replaces is read, so it does not become the parent: see RenewNotes.
func (s *Store) NewNotes(ref string, replaces odb.ID) *Notes {
	return &Notes{repo: s, ref: ref, replaces: replaces, root: &noteNode{}, pending: map[odb.ID][]byte{}, keep: odb.Synced}
}

// Clear takes all notes away, to be derived again.
func (n *Notes) Clear() { n.root, n.others, n.keep = &noteNode{}, nil, odb.Synced }

// Message is the message of the commit that the notes were read from, "" for none.
func (n *Notes) Message() string { return n.was.Message }

// Was returns the commit that the notes are committed on, of several the first; the zero Commit for none.
func (n *Notes) Was() odb.Commit { return n.was }

// CanHold reports whether a note can be on commit: whether that is a whole object id.
func (n *Notes) CanHold(commit odb.ID) bool { return n.repo.objects.ValidID(commit) }

// Get gives the note on a commit, nil when there is none.
func (n *Notes) Get(ctx context.Context, commit odb.ID) ([]byte, error) {
	if !n.repo.objects.ValidID(commit) {
		return nil, fmt.Errorf("note on %q: not an object id", commit)
	}
	item, _, err := n.find(ctx, string(commit))
	if item == nil || err != nil {
		return nil, err
	}
	return n.blob(ctx, item.id)
}

// Set puts a note on a commit in place of the one that is there. An empty text
// takes the note away.
func (n *Notes) Set(ctx context.Context, commit odb.ID, text []byte) error {
	if !n.repo.objects.ValidID(commit) {
		return fmt.Errorf("note on %q: not an object id", commit)
	}
	if len(text) == 0 {
		return n.remove(ctx, string(commit))
	}
	item, _, err := n.find(ctx, string(commit))
	if err != nil {
		return err
	}
	id := n.addBlob(text)
	if item != nil {
		item.id = id
		return nil
	}
	return n.insert(ctx, n.root, 0, &noteItem{key: string(commit), id: id})
}

// Commit writes the notes as a commit by a fixed author at the time given, on top of the commit
// that they were read from, and moves the ref to it; it returns the commit. It writes nothing when
// tree and message are those of the one parent; a commit that is there already it mends. Notes that were read and added to are not synced, as those of git notes are
// not: what a power cut takes of them can be made from nothing. The error is ErrLostRace when the
// ref moved since the notes were opened: open them again and set what there is to set.
func (n *Notes) Commit(ctx context.Context, message string, when time.Time) (odb.ID, error) {
	id, err := n.commit(ctx, message, when.UTC())
	if err != nil {
		return "", fmt.Errorf("write notes: %w", err)
	}
	return id, nil
}

func (n *Notes) commit(ctx context.Context, message string, when time.Time) (odb.ID, error) {
	objects, commit, err := n.encode(ctx, message, when)
	if err != nil {
		return "", err
	}
	id := objects[len(objects)-1].ID
	switch {
	case len(n.parents) == 1 && commit.Tree == n.was.Tree && commit.Message == n.was.Message:
		return n.was.ID, n.moveBack(ctx)
	case id == n.replaces:
		return id, n.repo.mend(ctx, objects)
	}
	if err := n.repo.setAsideTorn(ctx, objects); err != nil {
		return "", err
	}
	if len(objects) > odb.BatchLoose {
		objects = n.repo.withoutShared(ctx, objects)
	}
	if err := n.repo.objects.StoreBatch(ctx, objects, n.keep); err != nil {
		return "", err
	}
	if err := n.repo.refs.MoveToNew(ctx, n.ref, id, n.replaces, objects); err != nil {
		return "", err
	}
	commit.ID = id
	n.replaces, n.was, n.parents = id, commit, []odb.ID{id}
	clear(n.pending)
	return id, nil
}

// moveBack moves the ref to the one parent, which says all that there is to say.
func (n *Notes) moveBack(ctx context.Context) error {
	if n.was.ID == n.replaces {
		return nil
	}
	return n.repo.refs.SwapRef(ctx, n.ref, n.was.ID, n.replaces)
}

// withoutShared leaves out what of the objects the notes of a remote hold: it came with the
// fetch, and its refs keep it.
func (s *Store) withoutShared(ctx context.Context, objects odb.Batch) odb.Batch {
	refs, err := s.refs.Refs(ctx, remotesPrefix)
	if err != nil {
		return objects
	}
	have := map[odb.ID]bool{}
	for ref, id := range refs {
		if path.Base(ref) != "notes" {
			continue
		}
		if commit, err := s.objects.ReadCommit(ctx, id); err == nil {
			_ = s.listTree(ctx, commit.Tree, have) // what cannot be read is written
		}
	}
	return slices.DeleteFunc(objects, func(o odb.BatchedObject) bool { return have[o.ID] })
}

// listTree collects a tree that can be read and what is below it.
func (s *Store) listTree(ctx context.Context, tree odb.ID, have map[odb.ID]bool) error {
	entries, err := s.objects.ReadTree(ctx, tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsTree() && !have[e.ID] {
			err = s.listTree(ctx, e.ID, have)
		}
		if err != nil {
			return err
		}
		have[e.ID] = true
	}
	have[tree] = true
	return nil
}

// NotesCommit writes a commit of notes that no ref names: a tree of notes with
// parents, by the fixed author at the time given. The same is the same in every clone.
func (s *Store) NotesCommit(ctx context.Context, tree odb.ID, parents []odb.ID, message string, when time.Time) (odb.ID, error) {
	id, err := s.objects.WriteCommit(ctx, odb.Commit{Tree: tree, Parents: parents, Author: notesIdentity, Committer: notesIdentity,
		AuthorWhen: when.UTC(), CommitterWhen: when.UTC(), Message: message})
	if err != nil {
		return "", fmt.Errorf("write notes: %w", err)
	}
	return id, nil
}

// encode makes the objects of the notes; the last one is the commit, which it returns as well.
func (n *Notes) encode(ctx context.Context, message string, when time.Time) (objects odb.Batch, commit odb.Commit, err error) {
	var root odb.TreeDir
	err = n.layOut(ctx, n.root, 0, 0, func(path string, item *noteItem) {
		if item.kind == noteDir {
			root.Add(path, odb.TreeEntry{Mode: odb.ModeTree, ID: item.id})
			return
		}
		root.Add(path, odb.TreeEntry{Mode: odb.ModeFile, ID: item.id})
		if text, ok := n.pending[item.id]; ok {
			objects.Add(n.repo.objects, "blob", text)
		}
	})
	if err != nil {
		return nil, commit, err
	}
	for _, other := range n.others {
		root.Add(other.path, other.entry)
	}
	tree, err := root.AddTo(&objects, n.repo.objects)
	if err != nil {
		return nil, commit, err
	}
	commit = odb.Commit{Tree: tree, Parents: n.parents, Author: notesIdentity, Committer: notesIdentity,
		AuthorWhen: when, CommitterWhen: when, Message: message}
	data, err := odb.EncodeCommit(commit)
	if err != nil {
		return nil, commit, err
	}
	objects.Add(n.repo.objects, "commit", data)
	return objects, commit, nil
}
