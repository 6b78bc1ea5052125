package gitstore

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

// logPrefix is where the logs are, one ref for each writer.
const logPrefix = "refs/runr/log/"

const pinRef = "refs/runr-local/pins"

// appendTries is how often Append decides again after a lost race. Writers of one
// clone take turns under a lock, so only somebody else's git can be in between.
const appendTries = 10

// Record is what a caller wants to have recorded.
type Record struct {
	Author      Identity
	When        time.Time         // whole seconds, UTC; the zero Time is now
	Message     string            // of the commit, without NUL bytes
	Attachments map[string][]byte // by slash-separated path; nil for none
}

// Entry is a record as it stands in a log.
type Entry struct {
	ID      ID
	Writer  string // "" when only the id was known
	Parent  ID     // the entry before it in the same log, "" for the first
	Tree    ID
	Author  Identity
	When    time.Time
	Message string
}

// Tips are the last entries of all logs, by writer.
type Tips map[string]ID

// Decide looks at the tips and says what to append. It is called again when the
// log moved meanwhile, so it must not have effects of its own. ErrNoChange means
// that there is nothing to append.
type Decide func(ctx context.Context, tips Tips, writer string) (Record, error)

// Tips gives the last entries of all logs, this clone's own and those taken over.
func (r *Repo) Tips(ctx context.Context) (Tips, error) {
	refs, err := r.Refs(ctx, logPrefix)
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
func (r *Repo) Append(ctx context.Context, decide Decide) (Entry, error) {
	unlock, err := r.Lock(ctx, "log")
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	defer unlock()
	writer, err := r.ensureWriter(ctx)
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	tail, err := r.openTail(writer)
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	defer tail.close()
	for range appendTries {
		entry, err := r.appendOnce(ctx, tail, writer, decide)
		if !errors.Is(err, ErrLostRace) {
			return entry, err
		}
	}
	return Entry{}, fmt.Errorf("append: %w %d times", ErrLostRace, appendTries)
}

func (r *Repo) appendOnce(ctx context.Context, tail *logTail, writer string, decide Decide) (Entry, error) {
	tips, err := r.soundTips(ctx, tail, writer)
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	record, err := decide(ctx, tips, writer)
	if err != nil {
		return Entry{}, err
	}
	entry, objects, err := r.writeEntry(ctx, tips[writer], record)
	if err == nil {
		entry.Writer = writer
		err = r.moveTo(ctx, tail, entry, objects)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	return entry, nil
}

// soundTips are the tips when this clone's own log is as its writer left it.
func (r *Repo) soundTips(ctx context.Context, tail *logTail, writer string) (Tips, error) {
	if _, err := r.takeUp(ctx, tail, writer, nil); err != nil {
		return nil, err
	}
	if err := r.keepTail(ctx, tail, writer); err != nil {
		return nil, err
	}
	return r.Tips(ctx)
}

// moveTo moves the log's ref to an entry, whose objects are in the log's tail first.
func (r *Repo) moveTo(ctx context.Context, tail *logTail, entry Entry, objects objectBatch) error {
	if err := tail.add(entry, objects); err != nil {
		return err
	}
	ref := logPrefix + entry.Writer
	err := r.moveToNew(ctx, ref, entry.ID, entry.Parent, objects)
	if err != nil {
		if have, readErr := r.Ref(ctx, ref); readErr != nil || have != entry.ID {
			return errors.Join(err, tail.drop())
		}
	} // else it has moved, whatever came after that
	_ = tail.confirm() // whoever writes next finds out without it
	return nil
}

// writeEntry stores the objects of an entry.
func (r *Repo) writeEntry(ctx context.Context, parent ID, record Record) (Entry, objectBatch, error) {
	if record.When.IsZero() {
		record.When = time.Now()
	}
	when := record.When.UTC().Truncate(time.Second)
	var objects objectBatch
	tree, err := r.addFiles(&objects, record.Attachments)
	if err != nil {
		return Entry{}, nil, err
	}
	commit := Commit{Tree: tree, Author: record.Author, Committer: record.Author, AuthorWhen: when, CommitterWhen: when, Message: record.Message}
	if parent != "" {
		commit.Parents = []ID{parent}
	}
	if r.signs() {
		return r.writeSigned(ctx, commit, objects)
	}
	data, err := encodeCommit(commit)
	if err != nil {
		return Entry{}, nil, err
	}
	id := objects.add(r, "commit", data)
	if err := r.storeBatch(ctx, objects); err != nil {
		return Entry{}, nil, err
	}
	entry, err := decodeEntry(id, data)
	return entry, objects, err
}

func (r *Repo) writeSigned(ctx context.Context, commit Commit, objects objectBatch) (Entry, objectBatch, error) {
	if err := r.storeBatch(ctx, objects); err != nil {
		return Entry{}, nil, err
	}
	id, err := r.signCommit(ctx, commit)
	if err != nil {
		return Entry{}, nil, err
	}
	data, err := r.readKind(ctx, id, "commit")
	if err != nil {
		return Entry{}, nil, err
	}
	objects.add(r, "commit", data)
	entry, err := decodeEntry(id, data)
	return entry, objects, err
}

// Entry reads one entry. Its writer is not known from the id.
func (r *Repo) Entry(ctx context.Context, id ID) (Entry, error) {
	data, err := r.readKind(ctx, id, "commit")
	if err != nil {
		return Entry{}, r.noteDamage(ctx, id, err)
	}
	return decodeEntry(id, data)
}

func decodeEntry(id ID, data []byte) (Entry, error) {
	commit, err := decodeCommit(data)
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
func (r *Repo) Attachment(ctx context.Context, id ID, path string) ([]byte, error) {
	data, err := r.Blob(ctx, id, path)
	return data, r.noteDamage(ctx, id, err)
}

// Limits of the trees that are listed: an entry from elsewhere can hold any tree.
const (
	maxTreeDepth   = 8
	maxTreeEntries = 10_000
)

// Attachments lists the paths of the files recorded with an entry, sorted as in a
// tree. It is ErrTooLarge for a tree that no version of this tool writes.
func (r *Repo) Attachments(ctx context.Context, id ID) ([]string, error) {
	tree, err := r.treeOf(ctx, id)
	if err != nil {
		return nil, r.noteDamage(ctx, id, err)
	}
	paths, err := r.listFiles(ctx, tree, "", nil)
	return paths, r.noteDamage(ctx, id, err)
}

func (r *Repo) listFiles(ctx context.Context, tree ID, prefix string, paths []string) ([]string, error) {
	entries, err := r.readTree(ctx, tree)
	if err != nil {
		return nil, err
	}
	if len(paths)+len(entries) > maxTreeEntries || strings.Count(prefix, "/") > maxTreeDepth {
		return nil, fmt.Errorf("list tree %s: %w", tree, ErrTooLarge)
	}
	for _, e := range entries {
		name := path.Join(prefix, e.Name)
		if !e.isTree() {
			paths = append(paths, name)
			continue
		}
		if paths, err = r.listFiles(ctx, e.ID, name+"/", paths); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// Pin keeps a commit from gc. Pins are a chain of commits on one ref, each with what
// it pins as its second parent: a ref a pin would slow down every command of the
// user's that looks at all refs. why is for people.
func (r *Repo) Pin(ctx context.Context, why string, commit ID) error {
	if _, err := r.readKind(ctx, commit, "commit"); err != nil {
		return fmt.Errorf("pin %s: %w", why, err)
	}
	for range appendTries {
		old, err := r.Ref(ctx, pinRef)
		if err != nil {
			return fmt.Errorf("pin: %w", err)
		}
		replaces := old
		if old != "" && !r.hasObject(ctx, old) {
			old = "" // a chain that begins again is better than one that no git can walk
		}
		pin := Commit{Tree: r.emptyTreeID(), Author: notesIdentity, Committer: notesIdentity, Message: "pin " + why + "\n"}
		pin.AuthorWhen, pin.CommitterWhen = time.Unix(0, 0), time.Unix(0, 0)
		if old != "" {
			pin.Parents = append(pin.Parents, old)
		}
		pin.Parents = append(pin.Parents, commit)
		data, err := encodeCommit(pin)
		if err != nil {
			return fmt.Errorf("pin %s: %w", why, err)
		}
		var objects objectBatch
		objects.add(r, "tree", nil)
		id := objects.add(r, "commit", data)
		if err := r.storeBatch(ctx, objects); err != nil {
			return fmt.Errorf("pin %s: %w", why, err)
		}
		if err := r.moveToNew(ctx, pinRef, id, replaces, objects); !errors.Is(err, ErrLostRace) {
			return err
		}
	}
	return fmt.Errorf("pin %s: %w", why, ErrLostRace)
}
