package odb

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Modes of tree entries, as git writes them.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeSymlink    = "120000"
	ModeTree       = "40000"
	ModeCommit     = "160000" // a submodule
)

// TreeEntry is one entry of a tree.
type TreeEntry struct {
	Mode string // octal digits without leading zero: ModeFile and the like
	Name string // one path component
	ID   ID
}

// IsTree reports whether the entry is a directory.
func (e TreeEntry) IsTree() bool { return e.Mode == ModeTree }

// ReadTree reads a tree. Its entries are in git's order.
func (s *Store) ReadTree(ctx context.Context, id ID) ([]TreeEntry, error) {
	data, err := s.ReadKind(ctx, id, "tree")
	if err != nil {
		return nil, err
	}
	entries, err := DecodeTree(data, len(id)/2)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", id, err)
	}
	return entries, nil
}

// WriteTree stores a tree; the entries may be in any order. It stores the empty tree too:
// git can do without the object, but fsck reports it missing.
func (s *Store) WriteTree(ctx context.Context, entries []TreeEntry) (ID, error) {
	data, err := encodeTree(entries, len(s.ZeroID()))
	if err != nil {
		return "", err
	}
	return s.Write(ctx, "tree", data)
}

// DecodeTree parses entries of the form mode, space, name, NUL, id of hashSize bytes.
func DecodeTree(data []byte, hashSize int) ([]TreeEntry, error) {
	var entries []TreeEntry
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		if !ok || len(rest) < hashSize {
			return nil, fmt.Errorf("%w: tree cut short", gitdir.ErrCorrupt)
		}
		mode, name, ok := strings.Cut(string(head), " ")
		mode = strings.TrimLeft(mode, "0") // some programs wrote 040000
		if !ok || name == "" || !isOctal(mode) {
			return nil, fmt.Errorf("%w: tree entry %q", gitdir.ErrCorrupt, head)
		}
		entries = append(entries, TreeEntry{Mode: mode, Name: name, ID: ID(hex.EncodeToString(rest[:hashSize]))})
		data = rest[hashSize:]
	}
	return entries, nil
}

func isOctal(s string) bool {
	return s != "" && len(s) <= 6 && strings.Trim(s, "01234567") == ""
}

// encodeTree is the inverse of DecodeTree. It sorts the entries. It refuses duplicate names and
// names that git would not check out.
func encodeTree(entries []TreeEntry, idSize int) ([]byte, error) {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, CompareEntries)
	var data bytes.Buffer
	seen := make(map[string]bool, len(sorted))
	for _, e := range sorted {
		if e.Name == "" || e.Name == "." || e.Name == ".." || strings.EqualFold(e.Name, ".git") ||
			strings.ContainsAny(e.Name, "/\x00") {
			return nil, fmt.Errorf("write tree: bad file name %q", e.Name)
		}
		hash, err := hex.DecodeString(string(e.ID))
		mode := strings.TrimLeft(e.Mode, "0")
		if err != nil || len(e.ID) != idSize || !isOctal(mode) || seen[e.Name] {
			return nil, fmt.Errorf("write tree: bad entry %q %q %q", e.Mode, e.Name, e.ID)
		}
		seen[e.Name] = true
		data.WriteString(mode + " " + e.Name + "\x00")
		data.Write(hash)
	}
	return data.Bytes(), nil
}

// CompareEntries orders entries as git does: by bytes, a directory as if its name ended in a slash.
func CompareEntries(a, b TreeEntry) int {
	return cmp.Compare(sortName(a), sortName(b))
}

func sortName(e TreeEntry) string {
	if strings.TrimLeft(e.Mode, "0") == ModeTree {
		return e.Name + "/"
	}
	return e.Name
}

// AddFiles adds files, keyed by slash-separated paths, and their trees to a batch. It returns the id
// of the root tree, which is the empty tree if there are no files.
func (s *Store) AddFiles(objects *Batch, files map[string][]byte) (ID, error) {
	var root TreeDir
	for path, data := range files {
		root.Add(path, TreeEntry{Mode: ModeFile, ID: objects.Add(s, "blob", data)})
	}
	return root.AddTo(objects, s)
}

// TreeDir is a tree under construction.
type TreeDir struct {
	entries []TreeEntry
	dirs    map[string]*TreeDir
}

// Add adds an entry at a slash-separated path.
func (d *TreeDir) Add(path string, entry TreeEntry) {
	name, rest, nested := strings.Cut(path, "/")
	if !nested {
		entry.Name = name
		d.entries = append(d.entries, entry)
		return
	}
	if d.dirs == nil {
		d.dirs = map[string]*TreeDir{}
	}
	if d.dirs[name] == nil {
		d.dirs[name] = &TreeDir{}
	}
	d.dirs[name].Add(rest, entry)
}

// AddTo adds the tree and its subtrees to a batch and returns the id of the tree.
func (d *TreeDir) AddTo(objects *Batch, s *Store) (ID, error) {
	entries := slices.Clone(d.entries)
	for name, dir := range d.dirs {
		id, err := dir.AddTo(objects, s)
		if err != nil {
			return "", err
		}
		entries = append(entries, TreeEntry{ModeTree, name, id})
	}
	data, err := encodeTree(entries, len(s.ZeroID()))
	if err != nil {
		return "", err
	}
	return objects.Add(s, "tree", data), nil
}

// Named returns the index of the entry with a name, or -1. U+FFFD in name matches any byte that is not
// UTF-8, as in names that were recorded as JSON, if exactly one entry matches.
func Named(entries []TreeEntry, name string) int {
	found := slices.IndexFunc(entries, func(e TreeEntry) bool { return e.Name == name })
	if found >= 0 || !strings.Contains(name, "\uFFFD") {
		return found
	}
	for i, e := range entries {
		if string([]rune(e.Name)) != name {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// FindPath returns the entry at a slash-separated path below a tree. Named matches each part of the path.
func (s *Store) FindPath(ctx context.Context, tree ID, path string) (TreeEntry, error) {
	entry, _, err := s.findPath(ctx, tree, path)
	return entry, err
}

// RealPath returns the path of the entry that FindPath finds, as the tree has it; path if there is none.
func (s *Store) RealPath(ctx context.Context, tree ID, path string) string {
	if _, whole, err := s.findPath(ctx, tree, path); err == nil {
		return whole
	}
	return path
}

func (s *Store) findPath(ctx context.Context, tree ID, path string) (entry TreeEntry, whole string, err error) {
	for {
		name, rest, more := strings.Cut(path, "/")
		entries, err := s.ReadTree(ctx, tree)
		if err != nil {
			return TreeEntry{}, "", err
		}
		i := Named(entries, name)
		if i < 0 || more && !entries[i].IsTree() {
			return TreeEntry{}, "", gitdir.ErrNotFound
		}
		whole += entries[i].Name
		if !more {
			return entries[i], whole, nil
		}
		tree, whole, path = entries[i].ID, whole+"/", rest
	}
}
