package entrylog

import (
	"context"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// OpenNotes reads the notes of a ref such as "refs/notes/runr"; a ref that does not exist has no notes. It reads the
// directories of the tree on demand.
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

// NewNotes begins empty notes, to replace the commit that the ref is at ("" if there is no ref). That commit is not
// read and does not become a parent: see RenewNotes.
func (s *Store) NewNotes(ref string, replaces odb.ID) *Notes {
	return &Notes{repo: s, ref: ref, replaces: replaces, root: &noteNode{}, pending: map[odb.ID][]byte{}, keep: odb.Synced}
}

// Clear removes all notes, so that the caller can derive them again.
func (n *Notes) Clear() { n.root, n.others, n.keep = &noteNode{}, nil, odb.Synced }

// Message returns the message of the commit that the notes were read from, or "" if there was none.
func (n *Notes) Message() string { return n.was.Message }

// Was returns the parent of the next commit of the notes, the first if there are several, or the zero Commit.
func (n *Notes) Was() odb.Commit { return n.was }

// CanHold reports whether a note can be attached to commit: whether commit is a full object id.
func (n *Notes) CanHold(commit odb.ID) bool { return n.repo.objects.ValidID(commit) }

// Get returns the note on a commit, or nil if there is none.
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

// Set replaces the note on a commit. An empty text removes it.
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

// Commit writes the notes as a commit by a fixed author at the given time, on top of the commit that they were read
// from, moves the ref to it, and returns its id. If tree and message equal those of the single parent, it writes
// nothing; if the commit exists already, it repairs missing objects. Notes that were read and added to are not synced,
// just like those of git notes: they can be derived again after a power cut. It returns ErrLostRace if the ref has
// moved since the notes were opened: open them again and repeat the changes.
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
		if n.was.ID != n.replaces { // the ref goes back to the parent, which has the same content
			err = n.repo.refs.SwapRef(ctx, n.ref, n.was.ID, n.replaces)
		}
		return n.was.ID, err
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

// withoutShared removes the objects that the staged notes of a remote contain: a fetch brought them, and its refs keep
// them.
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
			// an unreadable tree only means that more is written
			_ = s.walkTree(ctx, commit.Tree, have, func(context.Context, odb.ID) error { return nil })
		}
	}
	return slices.DeleteFunc(objects, func(o odb.BatchedObject) bool { return have[o.ID] })
}

// NotesCommit writes a commit of notes that no ref names, by the fixed author at the given time. The same arguments
// give the same commit in every clone.
func (s *Store) NotesCommit(ctx context.Context, tree odb.ID, parents []odb.ID, message string,
	when time.Time) (odb.ID, error) {
	id, err := s.objects.WriteCommit(ctx, odb.Commit{Tree: tree, Parents: parents, Author: notesIdentity,
		Committer:  notesIdentity,
		AuthorWhen: when.UTC(), CommitterWhen: when.UTC(), Message: message})
	if err != nil {
		return "", fmt.Errorf("write notes: %w", err)
	}
	return id, nil
}

// encode makes the objects of the notes. The last one is the commit, which it also returns.
func (n *Notes) encode(ctx context.Context, message string,
	when time.Time) (objects odb.Batch, commit odb.Commit, err error) {
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
