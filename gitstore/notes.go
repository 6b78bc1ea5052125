package gitstore

import (
	"context"
	"fmt"
	"time"
)

// notesIdentity writes all notes: with the time given too, every clone that has the
// same notes makes the same commit of them.
var notesIdentity = Identity{Name: "git-runr", Email: "runr@localhost"}

// Notes is the notes of one ref, which may be changed in memory and then committed
// as a whole. It is not for use by several goroutines at once.
type Notes struct {
	repo     *Repo
	ref      string
	replaces ID // what the ref must be at when the notes are committed
	message  string
	root     *noteNode
	others   []otherEntry  // what is in the tree and no note; it is kept
	pending  map[ID][]byte // blobs that are not written yet
	opened   bool          // from what is stored, which can be read then
}

type otherEntry struct {
	path  string
	entry TreeEntry
}

// OpenNotes reads the notes of a ref such as "refs/notes/runr"; a ref that does
// not exist has none. Directories of the tree are read when they are needed.
func (r *Repo) OpenNotes(ctx context.Context, ref string) (*Notes, error) {
	tip, err := r.Ref(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("open notes: %w", err)
	}
	n := r.NewNotes(ref, tip)
	if tip == "" {
		return n, nil
	}
	commit, err := r.ReadCommit(ctx, tip)
	if err != nil {
		return nil, fmt.Errorf("open notes %s: %w", ref, err)
	}
	n.message, n.opened = commit.Message, true
	if err := n.unpack(ctx, n.root, 0, &noteItem{id: commit.Tree}); err != nil {
		return nil, fmt.Errorf("open notes %s: %w", ref, err)
	}
	return n, nil
}

// NewNotes begins notes from nothing, to replace what the ref is at: "" when there
// is no ref.
func (r *Repo) NewNotes(ref string, replaces ID) *Notes {
	return &Notes{repo: r, ref: ref, replaces: replaces, root: &noteNode{}, pending: map[ID][]byte{}}
}

// Message is the message of the commit that the notes were read from, "" for none.
func (n *Notes) Message() string { return n.message }

// CanHold reports whether a note can be on commit: whether that is a whole object id.
func (n *Notes) CanHold(commit ID) bool { return n.repo.validID(commit) }

// Get gives the note on a commit, nil when there is none.
func (n *Notes) Get(ctx context.Context, commit ID) ([]byte, error) {
	if !n.repo.validID(commit) {
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
func (n *Notes) Set(ctx context.Context, commit ID, text []byte) error {
	if !n.repo.validID(commit) {
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

// Commit writes the notes as a commit without parents, by a fixed author at the
// time given, and moves the ref to it; it gives the commit. When the ref is there
// already nothing is written but, for notes made from nothing, what is missing or
// damaged. It is ErrLostRace when the ref moved since the notes were opened: open them
// again and set what there is to set.
func (n *Notes) Commit(ctx context.Context, message string, when time.Time) (ID, error) {
	objects, err := n.encode(ctx, message, when.UTC())
	if err != nil {
		return "", fmt.Errorf("write notes: %w", err)
	}
	id := objects[len(objects)-1].id
	if id == n.replaces && !n.opened {
		if err := n.repo.mend(ctx, objects); err != nil {
			return "", fmt.Errorf("write notes: %w", err)
		}
	}
	if id != n.replaces {
		if err := n.repo.storeBatch(ctx, objects); err != nil {
			return "", fmt.Errorf("write notes: %w", err)
		}
		if err := n.repo.moveToNew(ctx, n.ref, id, n.replaces, objects); err != nil {
			return "", fmt.Errorf("write notes: %w", err)
		}
	}
	n.replaces, n.message = id, message
	clear(n.pending)
	return id, nil
}

// NotesCommit writes a commit of notes that no ref names: a tree of notes with
// parents, by the fixed author at the time given. The same is the same in every clone.
func (r *Repo) NotesCommit(ctx context.Context, tree ID, parents []ID, message string, when time.Time) (ID, error) {
	id, err := r.writeCommit(ctx, Commit{Tree: tree, Parents: parents, Author: notesIdentity, Committer: notesIdentity,
		AuthorWhen: when.UTC(), CommitterWhen: when.UTC(), Message: message})
	if err != nil {
		return "", fmt.Errorf("write notes: %w", err)
	}
	return id, nil
}

// encode makes the objects of the notes; the last one is the commit.
func (n *Notes) encode(ctx context.Context, message string, when time.Time) (objectBatch, error) {
	var objects objectBatch
	var root treeDir
	err := n.layOut(ctx, n.root, 0, 0, func(path string, item *noteItem) {
		if item.kind == noteDir {
			root.add(path, TreeEntry{Mode: ModeTree, ID: item.id})
			return
		}
		root.add(path, TreeEntry{Mode: ModeFile, ID: item.id})
		if text, ok := n.pending[item.id]; ok {
			objects.add(n.repo, "blob", text)
		}
	})
	if err != nil {
		return nil, err
	}
	for _, other := range n.others {
		root.add(other.path, other.entry)
	}
	tree, err := root.addTo(&objects, n.repo)
	if err != nil {
		return nil, err
	}
	data, err := encodeCommit(Commit{Tree: tree, Author: notesIdentity, Committer: notesIdentity,
		AuthorWhen: when, CommitterWhen: when, Message: message})
	if err != nil {
		return nil, err
	}
	objects.add(n.repo, "commit", data)
	return objects, nil
}

func (n *Notes) addBlob(text []byte) ID {
	id := n.repo.objectID("blob", text)
	n.pending[id] = append([]byte{}, text...)
	return id
}

func (n *Notes) blob(ctx context.Context, id ID) ([]byte, error) {
	if text, ok := n.pending[id]; ok {
		return text, nil
	}
	return n.repo.readKind(ctx, id, "blob")
}
