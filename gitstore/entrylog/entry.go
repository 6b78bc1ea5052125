package entrylog

import (
	"context"
	"fmt"
	"maps"
	"path"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// logPrefix is the prefix of the refs of logs, one for each writer.
const logPrefix = "refs/runr/log/"

// Record is the content of an entry to append.
type Record struct {
	Author      gitdir.Identity
	When        time.Time         // stored in whole seconds, UTC; the zero Time means now
	Message     string            // commit message, without NUL bytes
	Attachments map[string][]byte // by slash-separated path; may be nil
}

// Entry is a record in a log.
type Entry struct {
	ID      odb.ID
	Writer  string // "" when only the id was known
	Parent  odb.ID // the entry before it in the same log, "" for the first
	Tree    odb.ID
	Author  gitdir.Identity
	When    time.Time
	Message string
}

// Tips maps each writer to the last entry of its log.
type Tips map[string]odb.ID

// Tips returns the last entries of all logs: this clone's own, those of others, and retired ones.
func (s *Store) Tips(ctx context.Context) (Tips, error) {
	refs, err := s.allLogRefs(ctx)
	if err != nil {
		return nil, err
	}
	return s.tipsOf(ctx, refs)
}

// allLogRefs reads the refs of all logs and archives at once.
func (s *Store) allLogRefs(ctx context.Context) (map[string]odb.ID, error) {
	return s.refs.Refs(ctx, logPrefix, archivesPrefix, privatePrefix)
}

// tipsOf returns the last entries of the logs that refs name.
func (s *Store) tipsOf(ctx context.Context, refs map[string]odb.ID) (Tips, error) {
	tips := refTips(refs, logPrefix)
	if err := s.addArchived(ctx, tips, refArchives(refs, archivesPrefix)); err != nil {
		return nil, err
	}
	maps.Copy(tips, refTips(refs, privatePrefix))
	return tips, nil
}

// Entry reads one entry and leaves its Writer empty: the commit does not name it.
func (s *Store) Entry(ctx context.Context, id odb.ID) (Entry, error) {
	data, err := s.objects.ReadKind(ctx, id, "commit")
	if err != nil {
		return Entry{}, s.noteDamage(ctx, id, err)
	}
	return decodeEntry(id, data)
}

func decodeEntry(id odb.ID, data []byte) (Entry, error) {
	commit, err := odb.DecodeCommit(data)
	if err != nil {
		return Entry{}, fmt.Errorf("read entry %s: %w", id, err)
	}
	return Entry{ID: id, Parent: commit.Parent(), Tree: commit.Tree, Author: commit.Author, When: commit.AuthorWhen,
		Message: commit.Message}, nil
}

// Attachment reads a file recorded with an entry, or returns ErrNotFound if there is none at path.
func (s *Store) Attachment(ctx context.Context, id odb.ID, path string) ([]byte, error) {
	data, err := s.refs.Blob(ctx, id, path)
	return data, s.noteDamage(ctx, id, err)
}

// Limits of a listed tree: an entry from another clone can hold any tree.
const (
	maxTreeDepth   = 8
	maxTreeEntries = 10_000
)

// Attachments lists the paths of the files recorded with an entry, in tree order. It returns ErrTooLarge for a tree
// beyond the limits, which git-runr does not write.
func (s *Store) Attachments(ctx context.Context, id odb.ID) ([]string, error) {
	tree, err := s.refs.TreeOf(ctx, id)
	if err != nil {
		return nil, s.noteDamage(ctx, id, err)
	}
	paths, err := s.listFiles(ctx, tree, "", nil)
	return paths, s.noteDamage(ctx, id, err)
}

func (s *Store) listFiles(ctx context.Context, tree odb.ID, prefix string, paths []string) ([]string, error) {
	entries, err := s.objects.ReadTree(ctx, tree)
	if err != nil {
		return nil, err
	}
	if len(paths)+len(entries) > maxTreeEntries || strings.Count(prefix, "/") > maxTreeDepth {
		return nil, fmt.Errorf("list tree %s: %w", tree, gitdir.ErrTooLarge)
	}
	for _, e := range entries {
		name := path.Join(prefix, e.Name)
		if !e.IsTree() {
			paths = append(paths, name)
			continue
		}
		if paths, err = s.listFiles(ctx, e.ID, name+"/", paths); err != nil {
			return nil, err
		}
	}
	return paths, nil
}
