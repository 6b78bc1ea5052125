package entrylog

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// Notes is the notes of one ref. They are changed in memory and then committed together. Notes must not be used by
// several goroutines at once.
type Notes struct {
	repo     *Store
	ref      string
	replaces odb.ID     // what the ref must be at when the notes are committed
	parents  []odb.ID   // parents of the next commit
	was      odb.Commit // the first parent, if any
	root     *noteNode
	others   []otherEntry      // tree entries that are not notes; they are kept
	pending  map[odb.ID][]byte // blobs that are not written yet
	keep     odb.Durability    // for the objects; the ref is never synced
}

type otherEntry struct {
	path  string
	entry odb.TreeEntry
}

func (n *Notes) addBlob(text []byte) odb.ID {
	id := n.repo.objects.ObjectID("blob", text)
	n.pending[id] = append([]byte{}, text...)
	return id
}

func (n *Notes) blob(ctx context.Context, id odb.ID) ([]byte, error) {
	if text, ok := n.pending[id]; ok {
		return text, nil
	}
	return n.repo.objects.ReadKind(ctx, id, "blob")
}

// A notes tree has one file for each note, named by the annotated object. If there are many
// notes, the names are split into directories after every two digits. git decides where from
// its tree in memory, which has one level for each hex digit. This package holds the same
// tree, to write the same bytes as git.

type noteKind int

const (
	noteLeaf  noteKind = iota // a note
	noteDir                   // a directory that is not read yet
	noteInner                 // a level of the tree
)

type noteItem struct {
	kind noteKind
	key  string // hex digits of the object of a note, or of the path of a directory
	id   odb.ID // of the blob or the tree
	node *noteNode
}

// noteNode is one level of the tree: an item for each value of one hex digit.
type noteNode [16]*noteItem

func (n *noteNode) slot(digit byte) **noteItem {
	if digit >= 'a' {
		return &n[digit-'a'+10]
	}
	return &n[digit-'0']
}

// insert puts a note or an unread directory below node, which is at depth level. Two notes on one object are joined,
// as git does.
func (n *Notes) insert(ctx context.Context, node *noteNode, level int, item *noteItem) error {
	for {
		if level == len(item.key) { // a directory for this very level
			return n.unpack(ctx, node, level, item)
		}
		slot := node.slot(item.key[level])
		have := *slot
		switch {
		case have == nil:
			*slot = item
			return nil
		case have.kind == noteInner:
			node, level = have.node, level+1
		case have.kind == noteLeaf && have.key == item.key:
			return n.join(ctx, have, item)
		case have.kind == noteDir && strings.HasPrefix(item.key, have.key):
			if err := n.unpackSlot(ctx, node, level, slot); err != nil {
				return err
			}
		case item.kind == noteDir && strings.HasPrefix(have.key, item.key):
			return n.unpack(ctx, node, level, item)
		default:
			inner := &noteNode{}
			*inner.slot(have.key[level+1]) = have
			*slot = &noteItem{kind: noteInner, node: inner}
			node, level = inner, level+1
		}
	}
}

// unpack reads a directory and inserts its entries below node.
func (n *Notes) unpack(ctx context.Context, node *noteNode, level int, dir *noteItem) error {
	entries, err := n.repo.objects.ReadTree(ctx, dir.id)
	if err != nil {
		return fmt.Errorf("read notes: %w", err)
	}
	rest := len(n.repo.objects.ZeroID()) - len(dir.key)
	for _, e := range entries {
		name := strings.ToLower(e.Name) // git accepts upper-case digits too
		item := &noteItem{key: dir.key + name, id: e.ID}
		switch {
		case odb.IsHex(name) && len(name) == rest && strings.HasPrefix(e.Mode, "100"):
		case odb.IsHex(name) && len(name) == 2 && rest > 2 && e.IsTree():
			item.kind = noteDir
		default:
			n.others = append(n.others, otherEntry{notePath(dir.key, len(dir.key)/2) + e.Name, e})
			continue
		}
		if err := n.insert(ctx, node, level, item); err != nil {
			return err
		}
	}
	return nil
}

// unpackSlot reads the directory in a slot, and the nested one that may then be in the slot.
func (n *Notes) unpackSlot(ctx context.Context, node *noteNode, level int, slot **noteItem) error {
	for *slot != nil && (*slot).kind == noteDir {
		dir := *slot
		*slot = nil
		if err := n.unpack(ctx, node, level, dir); err != nil {
			*slot = dir
			return err
		}
	}
	return nil
}

// join merges two notes on the same object, which only another program can have written.
func (n *Notes) join(ctx context.Context, have, item *noteItem) error {
	if have.id == item.id {
		return nil
	}
	first, err := n.blob(ctx, have.id)
	if err != nil {
		return err
	}
	second, err := n.blob(ctx, item.id)
	if err != nil {
		return err
	}
	text := bytes.Join([][]byte{bytes.TrimSuffix(first, []byte("\n")), second}, []byte("\n\n"))
	have.id = n.addBlob(text)
	return nil
}

// find returns the note on an object, or nil, and the levels above it.
func (n *Notes) find(ctx context.Context, key string) (item *noteItem, path []*noteNode, err error) {
	node := n.root
	for level := 0; ; {
		slot := node.slot(key[level])
		switch have := *slot; {
		case have == nil:
			return nil, nil, nil
		case have.kind == noteInner:
			path = append(path, node)
			node, level = have.node, level+1
		case have.kind == noteLeaf && have.key == key:
			return have, append(path, node), nil
		case have.kind == noteDir && strings.HasPrefix(key, have.key):
			if err := n.unpackSlot(ctx, node, level, slot); err != nil {
				return nil, nil, err
			}
		default:
			return nil, nil, nil
		}
	}
}

// remove deletes a note. A level left with a single note is merged into the level above.
func (n *Notes) remove(ctx context.Context, key string) error {
	item, path, err := n.find(ctx, key)
	if item == nil || err != nil {
		return err
	}
	last := len(path) - 1
	*path[last].slot(key[last]) = nil
	for level := last; level > 0; level-- {
		only, single := path[level].only()
		if !single {
			return nil
		}
		*path[level-1].slot(key[level-1]) = only
	}
	return nil
}

// only returns the note of a level that holds nothing else; ok is false for any other level.
func (n *noteNode) only() (*noteItem, bool) {
	var found *noteItem
	for _, item := range n {
		if item == nil {
			continue
		}
		if found != nil || item.kind != noteLeaf {
			return nil, false
		}
		found = item
	}
	return found, true
}

// layOut visits the entries of the tree on disk below node: notes and unchanged directories, each with its path.
// fanout is how many directories the path of a note has so far.
func (n *Notes) layOut(ctx context.Context, node *noteNode, level, fanout int,
	visit func(path string, item *noteItem)) error {
	single := func(item *noteItem) bool { return item == nil || item.kind == noteLeaf }
	if level%2 == 0 && level <= 2*fanout && !slices.ContainsFunc(node[:], single) {
		fanout++ // every digit has a level or a directory: git splits names at this level
	}
	for i := range node {
		if level >= 2*fanout {
			if err := n.unpackSlot(ctx, node, level, &node[i]); err != nil {
				return err
			}
		}
		switch item := node[i]; {
		case item == nil:
		case item.kind == noteInner:
			if err := n.layOut(ctx, item.node, level+1, fanout, visit); err != nil {
				return err
			}
		case item.kind == noteDir:
			visit(strings.TrimSuffix(notePath(item.key, len(item.key)/2), "/"), item)
		default:
			visit(notePath(item.key, fanout), item)
		}
	}
	return nil
}

// notePath turns the first fanout pairs of digits into directories.
func notePath(key string, fanout int) string {
	var path strings.Builder
	for ; fanout > 0; fanout-- {
		path.WriteString(key[:2] + "/")
		key = key[2:]
	}
	return path.String() + key
}
