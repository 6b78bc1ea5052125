package entrylog

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// Notes is the notes of one ref, which may be changed in memory and then committed
// as a whole. It is not for use by several goroutines at once.
type Notes struct {
	repo     *Store
	ref      string
	replaces odb.ID     // what the ref must be at when the notes are committed
	parents  []odb.ID   // what they are committed on
	was      odb.Commit // the first parent, where there is one
	root     *noteNode
	others   []otherEntry      // what is in the tree and no note; it is kept
	pending  map[odb.ID][]byte // blobs that are not written yet
	keep     odb.Durability    // of the objects; the ref is never synced
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

// A notes tree has one file for each note, named by the object the note is on. With
// many notes the names are split after every two digits into directories. git
// decides where by a rule about the tree that it holds in memory, with one level
// for each hex digit; to write the same bytes, the same tree is held here.

type noteKind int

const (
	noteLeaf  noteKind = iota // a note
	noteDir                   // a directory that was not read yet
	noteInner                 // a level of the tree
)

type noteItem struct {
	kind noteKind
	key  string // hex digits: of the object for a note, those of the path for a directory
	id   odb.ID // of the blob or the tree
	node *noteNode
}

// noteNode is one level: what there is for each value of one hex digit.
type noteNode [16]*noteItem

func (n *noteNode) slot(digit byte) **noteItem {
	if digit >= 'a' {
		return &n[digit-'a'+10]
	}
	return &n[digit-'0']
}

// insert puts a note or an unread directory at its place below node, which stands
// at a depth of level digits. A note that is there twice is joined, as git does.
func (n *Notes) insert(ctx context.Context, node *noteNode, level int, item *noteItem) error {
	for {
		if level == len(item.key) { // a directory of what is already spread out here
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
			*slot = nil
			if err := n.unpack(ctx, node, level, have); err != nil {
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

// unpack reads a directory and puts what is in it below node.
func (n *Notes) unpack(ctx context.Context, node *noteNode, level int, dir *noteItem) error {
	entries, err := n.repo.objects.ReadTree(ctx, dir.id)
	if err != nil {
		return fmt.Errorf("read notes: %w", err)
	}
	rest := len(n.repo.objects.ZeroID()) - len(dir.key)
	for _, e := range entries {
		name := strings.ToLower(e.Name) // git takes capital digits too
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

// unpackSlot reads the directory in a slot, and the next one that it may hold there.
func (n *Notes) unpackSlot(ctx context.Context, node *noteNode, level, slot int) error {
	for node[slot] != nil && node[slot].kind == noteDir {
		dir := node[slot]
		node[slot] = nil
		if err := n.unpack(ctx, node, level, dir); err != nil {
			node[slot] = dir
			return err
		}
	}
	return nil
}

// join makes one note of two on the same object, which only a foreign program can
// have left in the tree.
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

// find gives the note on an object, nil when there is none, and the levels above it.
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
			*slot = nil
			if err := n.unpack(ctx, node, level, have); err != nil {
				*slot = have
				return nil, nil, err
			}
		default:
			return nil, nil, nil
		}
	}
}

// remove takes a note out. A level that is left with one note gives it to the
// level above.
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

// only gives the one note of a level; false when there is more than that, or
// something else.
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

// full reports whether every digit has a level or a directory: git's sign that
// names are worth splitting here.
func (n *noteNode) full() bool {
	for _, item := range n {
		if item == nil || item.kind == noteLeaf {
			return false
		}
	}
	return true
}

// layOut visits what the tree on disk is made of below node: notes, and directories
// that stay as they are, each with its path. fanout is how many directories the
// path of a note has so far.
func (n *Notes) layOut(ctx context.Context, node *noteNode, level, fanout int, visit func(path string, item *noteItem)) error {
	if level%2 == 0 && level <= 2*fanout && node.full() {
		fanout++
	}
	for i := range node {
		if level >= 2*fanout {
			if err := n.unpackSlot(ctx, node, level, i); err != nil {
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

// notePath splits the first pairs of digits off as directories.
func notePath(key string, fanout int) string {
	var path strings.Builder
	for ; fanout > 0; fanout-- {
		path.WriteString(key[:2] + "/")
		key = key[2:]
	}
	return path.String() + key
}
