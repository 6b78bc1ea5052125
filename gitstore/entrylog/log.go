package entrylog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Decide returns the record to append after looking at the tips, or ErrNoChange for nothing to append. It is called
// again if the log has moved, so it must not have side effects.
type Decide func(ctx context.Context, tips Tips, writer string) (Record, error)

// Append calls AppendFor for the elected remote.
func (s *Store) Append(ctx context.Context, decide Decide) (Entry, error) {
	return s.AppendFor(ctx, Audience{}, decide)
}

// AppendFor adds one entry to this clone's log for an audience. It calls decide under a lock that all writers of the
// clone use, so the log does not move in between. When it returns, the entry is on disk and its ref has moved. It
// returns ErrNoChange if decide did, and ErrBusy if the lock or the ref's lock stays held.
func (s *Store) AppendFor(ctx context.Context, to Audience, decide Decide) (Entry, error) {
	unlock, err := s.dir.Lock(ctx, "log")
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	defer unlock()
	writer, err := s.ensureWriter(ctx, to)
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	tail, err := s.openTail(writer)
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	defer tail.file.Close()
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
	if err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	entry.Writer = writer
	if err := s.moveTo(ctx, tail, entry, objects); err != nil {
		return Entry{}, fmt.Errorf("append: %w", err)
	}
	return entry, nil
}

// soundTips returns the tips after it has verified this clone's own log, and repaired it if necessary.
func (s *Store) soundTips(ctx context.Context, tail *logTail, writer string) (Tips, error) {
	refs, err := s.allLogRefs(ctx)
	if err != nil {
		return nil, err
	}
	done, err := s.takeUp(ctx, tail, writer, refs[s.logRef(writer)], nil)
	if err == nil {
		err = s.keepTail(ctx, tail, writer)
	}
	if err == nil && done.Moved {
		refs, err = s.allLogRefs(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.tipsOf(ctx, refs)
}

// moveTo writes the objects of an entry to the log's tail file and then moves the log's ref to the entry.
func (s *Store) moveTo(ctx context.Context, tail *logTail, entry Entry, objects odb.Batch) error {
	if err := tail.add(entry, objects); err != nil {
		return err
	}
	ref := s.logRef(entry.Writer)
	err := s.refs.MoveToNew(ctx, ref, entry.ID, entry.Parent, objects)
	if err != nil {
		if have, readErr := s.refs.Ref(ctx, ref); readErr != nil || have != entry.ID {
			return errors.Join(err, tail.drop())
		}
	} // else the ref has moved in spite of the error
	_ = tail.confirm() // optional: the next writer can find out by itself
	s.stood.Store(entry.ID)
	return nil
}

// writeEntry stores the objects of an entry and returns both.
func (s *Store) writeEntry(ctx context.Context, parent odb.ID, record Record) (Entry, odb.Batch, error) {
	var objects odb.Batch
	tree, err := s.objects.AddFiles(&objects, record.Attachments)
	if err != nil {
		return Entry{}, nil, err
	}
	commit := entryCommit(tree, parent, record)
	key := "runr.sign"
	if s.dir.Config.Get(key) == "" {
		key = "commit.gpgsign"
	}
	if s.dir.Config.Bool(key) {
		return s.writeSigned(ctx, commit, objects)
	}
	data, err := odb.EncodeCommit(commit)
	if err != nil {
		return Entry{}, nil, err
	}
	id := objects.Add(s.objects, "commit", data)
	if err := s.objects.StoreBatch(ctx, objects, odb.Synced); err != nil {
		return Entry{}, nil, err
	}
	entry, err := decodeEntry(id, data)
	return entry, objects, err
}

// entryCommit returns the commit of an entry that follows parent, "" for none.
func entryCommit(tree, parent odb.ID, record Record) odb.Commit {
	if record.When.IsZero() {
		record.When = time.Now()
	}
	when := record.When.UTC().Truncate(time.Second)
	commit := odb.Commit{Tree: tree, Author: record.Author, Committer: record.Author, AuthorWhen: when,
		CommitterWhen: when, Message: record.Message}
	if parent != "" {
		commit.Parents = []odb.ID{parent}
	}
	return commit
}

func (s *Store) writeSigned(ctx context.Context, commit odb.Commit, objects odb.Batch) (Entry, odb.Batch, error) {
	if err := s.objects.StoreBatch(ctx, objects, odb.Synced); err != nil {
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
