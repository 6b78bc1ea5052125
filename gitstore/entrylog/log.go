package entrylog

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"git-runr/gitstore/gitdir"
	"git-runr/gitstore/odb"
	"git-runr/gitstore/refdb"
)

// logPrefix is where the logs are, one ref for each writer.
const logPrefix = "refs/runr/log/"

const pinRef = "refs/runr-local/pins"

// Store is the logs and notes of a repository, and what is exchanged of them.
type Store struct {
	dir     *gitdir.Dir
	objects *odb.Store
	refs    *refdb.Store
	writer  *writerID
}

// New is the logs of an open repository.
func New(dir *gitdir.Dir, objects *odb.Store, refs *refdb.Store) *Store {
	return &Store{dir: dir, objects: objects, refs: refs, writer: new(writerID)}
}

// At is the same logs seen from another place of the repository.
func (s *Store) At(dir *gitdir.Dir, objects *odb.Store, refs *refdb.Store) *Store {
	return &Store{dir: dir, objects: objects, refs: refs, writer: s.writer}
}

// appendTries is how often Append decides again after a lost race. Writers of one
// clone take turns under a lock, so only somebody else's git can be in between.
const appendTries = 10

// Record is what a caller wants to have recorded.
type Record struct {
	Author      gitdir.Identity
	When        time.Time         // whole seconds, UTC; the zero Time is now
	Message     string            // of the commit, without NUL bytes
	Attachments map[string][]byte // by slash-separated path; nil for none
}

// Entry is a record as it stands in a log.
type Entry struct {
	ID      odb.ID
	Writer  string // "" when only the id was known
	Parent  odb.ID // the entry before it in the same log, "" for the first
	Tree    odb.ID
	Author  gitdir.Identity
	When    time.Time
	Message string
}

// Tips are the last entries of all logs, by writer.
type Tips map[string]odb.ID

// Decide looks at the tips and says what to append. It is called again when the
// log moved meanwhile, so it must not have effects of its own. ErrNoChange means
// that there is nothing to append.
type Decide func(ctx context.Context, tips Tips, writer string) (Record, error)

// Tips gives the last entries of all logs, this clone's own and those taken over.
func (s *Store) Tips(ctx context.Context) (Tips, error) {
	refs, err := s.refs.Refs(ctx, logPrefix)
	if err != nil {
		return nil, err
	}
	tips := make(Tips, len(refs))
	for name, id := range refs {
		if writer := strings.TrimPrefix(name, logPrefix); isWriter(writer) {
			tips[writer] = id
		}
	}
	return tips, nil
}

// Append adds one entry to this clone's log: decide is called under a lock that
// all writers of the clone take, and what it decided on is what is appended to.
// When Append returns, the entry is on disk and its ref has moved. It is
// ErrNoChange, with no entry, when decide said so, and ErrBusy when the lock or
// the ref's lock stays held.
func (s *Store) Append(ctx context.Context, decide Decide) (Entry, error) {
	unlock, err := s.dir.Lock(ctx, "log")
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	defer unlock()
	writer, err := s.ensureWriter(ctx)
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	tail, err := s.openTail(writer)
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	defer tail.close()
	for range appendTries {
		entry, err := s.appendOnce(ctx, tail, writer, decide)
		if !errors.Is(err, gitdir.ErrLostRace) {
			return entry, err
		}
	}
	return Entry{}, fmt.Errorf("append: %w %d times", gitdir.ErrLostRace, appendTries)
}

func (s *Store) appendOnce(ctx context.Context, tail *logTail, writer string, decide Decide) (Entry, error) {
	tips, err := s.soundTips(ctx, tail, writer)
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	record, err := decide(ctx, tips, writer)
	if err != nil {
		return Entry{}, err
	}
	entry, objects, err := s.writeEntry(ctx, tips[writer], record)
	if err == nil {
		entry.Writer = writer
		err = s.moveTo(ctx, tail, entry, objects)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	return entry, nil
}

// soundTips are the tips when this clone's own log is as its writer left it.
func (s *Store) soundTips(ctx context.Context, tail *logTail, writer string) (Tips, error) {
	if _, err := s.takeUp(ctx, tail, writer, nil); err != nil {
		return nil, err
	}
	if err := s.keepTail(ctx, tail, writer); err != nil {
		return nil, err
	}
	return s.Tips(ctx)
}

// moveTo moves the log's ref to an entry, whose objects are in the log's tail first.
func (s *Store) moveTo(ctx context.Context, tail *logTail, entry Entry, objects odb.Batch) error {
	if err := tail.add(entry, objects); err != nil {
		return err
	}
	ref := logPrefix + entry.Writer
	err := s.refs.MoveToNew(ctx, ref, entry.ID, entry.Parent, objects)
	if err != nil {
		if have, readErr := s.refs.Ref(ctx, ref); readErr != nil || have != entry.ID {
			return errors.Join(err, tail.drop())
		}
	} // else it has moved, whatever came after that
	_ = tail.confirm() // whoever writes next finds out without it
	return nil
}

// writeEntry stores the objects of an entry.
func (s *Store) writeEntry(ctx context.Context, parent odb.ID, record Record) (Entry, odb.Batch, error) {
	if record.When.IsZero() {
		record.When = time.Now()
	}
	when := record.When.UTC().Truncate(time.Second)
	var objects odb.Batch
	tree, err := s.objects.AddFiles(&objects, record.Attachments)
	if err != nil {
		return Entry{}, nil, err
	}
	commit := odb.Commit{Tree: tree, Author: record.Author, Committer: record.Author, AuthorWhen: when, CommitterWhen: when, Message: record.Message}
	if parent != "" {
		commit.Parents = []odb.ID{parent}
	}
	if s.signs() {
		return s.writeSigned(ctx, commit, objects)
	}
	data, err := odb.EncodeCommit(commit)
	if err != nil {
		return Entry{}, nil, err
	}
	id := objects.Add(s.objects, "commit", data)
	if err := s.objects.StoreBatch(ctx, objects); err != nil {
		return Entry{}, nil, err
	}
	entry, err := decodeEntry(id, data)
	return entry, objects, err
}

func (s *Store) writeSigned(ctx context.Context, commit odb.Commit, objects odb.Batch) (Entry, odb.Batch, error) {
	if err := s.objects.StoreBatch(ctx, objects); err != nil {
		return Entry{}, nil, err
	}
	id, err := s.SignCommit(ctx, commit)
	if err != nil {
		return Entry{}, nil, err
	}
	data, err := s.objects.ReadKind(ctx, id, "commit")
	if err != nil {
		return Entry{}, nil, err
	}
	objects.Add(s.objects, "commit", data)
	entry, err := decodeEntry(id, data)
	return entry, objects, err
}

// Entry reads one entry. Its writer is not known from the id.
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
	entry := Entry{ID: id, Tree: commit.Tree, Author: commit.Author, When: commit.AuthorWhen, Message: commit.Message}
	if len(commit.Parents) > 0 {
		entry.Parent = commit.Parents[0]
	}
	return entry, nil
}

// Attachment reads a file that was recorded with an entry; ErrNotFound when it has
// none of that path.
func (s *Store) Attachment(ctx context.Context, id odb.ID, path string) ([]byte, error) {
	data, err := s.refs.Blob(ctx, id, path)
	return data, s.noteDamage(ctx, id, err)
}

// Limits of the trees that are listed: an entry from elsewhere can hold any tree.
const (
	maxTreeDepth   = 8
	maxTreeEntries = 10_000
)

// Attachments lists the paths of the files recorded with an entry, sorted as in a
// tree. It is ErrTooLarge for a tree that no version of this tool writes.
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

// Pin keeps a commit from gc. Pins are a chain of commits on one ref, each with what
// it pins as its second parent: a ref a pin would slow down every command of the
// user's that looks at all refs. why is for people.
func (s *Store) Pin(ctx context.Context, why string, commit odb.ID) error {
	if _, err := s.objects.ReadKind(ctx, commit, "commit"); err != nil {
		return fmt.Errorf("pin %s: %w", why, err)
	}
	for range appendTries {
		old, err := s.refs.Ref(ctx, pinRef)
		if err != nil {
			return fmt.Errorf("pin: %w", err)
		}
		replaces := old
		if old != "" && !s.objects.Has(ctx, old) {
			old = "" // a chain that begins again is better than one that no git can walk
		}
		pin := odb.Commit{Tree: s.objects.EmptyTreeID(), Author: notesIdentity, Committer: notesIdentity, Message: "pin " + why + "\n"}
		pin.AuthorWhen, pin.CommitterWhen = time.Unix(0, 0), time.Unix(0, 0)
		if old != "" {
			pin.Parents = append(pin.Parents, old)
		}
		pin.Parents = append(pin.Parents, commit)
		data, err := odb.EncodeCommit(pin)
		if err != nil {
			return fmt.Errorf("pin %s: %w", why, err)
		}
		var objects odb.Batch
		objects.Add(s.objects, "tree", nil)
		id := objects.Add(s.objects, "commit", data)
		if err := s.objects.StoreBatch(ctx, objects); err != nil {
			return fmt.Errorf("pin %s: %w", why, err)
		}
		if err := s.refs.MoveToNew(ctx, pinRef, id, replaces, objects); !errors.Is(err, gitdir.ErrLostRace) {
			return err
		}
	}
	return fmt.Errorf("pin %s: %w", why, gitdir.ErrLostRace)
}
