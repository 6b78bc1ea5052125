package entrylog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// ReplaceLog writes one of this clone's own logs again, and moves its ref to the result. rewrite returns what replaces
// an entry, oldest first; was is the entry as it is, and ids maps the entries before it to what replaced them. end
// returns the entry that follows all, which is signed; the others are signed if they were. Entries before the first
// that changes stay as they are. The next Push to the log's remote puts the result in place of the log there, and other
// clones accept it if their Judge does. The ids of the replaced entries remain in a file, which says what on a remote
// is an earlier state of the log. It returns ErrNotFound if the writer has no log here, and ErrSign, with nothing
// changed, if git cannot sign.
func (s *Store) ReplaceLog(ctx context.Context, writer string,
	rewrite func(was Entry, ids map[odb.ID]odb.ID) (Record, error), end func() Record) error {
	err := s.withTail(ctx, writer, func(tail *logTail) error { return s.replaceLog(ctx, tail, writer, rewrite, end) })
	if err != nil {
		return fmt.Errorf("replace log %s: %w", writer, err)
	}
	return nil
}

func (s *Store) replaceLog(ctx context.Context, tail *logTail, writer string,
	rewrite func(was Entry, ids map[odb.ID]odb.ID) (Record, error), end func() Record) error {
	if _, err := s.soundTips(ctx, tail, writer); err != nil {
		return err
	}
	old, err := s.refs.Ref(ctx, s.logRef(writer))
	if err != nil {
		return err
	}
	if old == "" {
		return fmt.Errorf("it has no ref here: %w", gitdir.ErrNotFound)
	}
	chain := &entryChain{store: s, ids: map[odb.ID]odb.ID{}}
	err = s.Walk(ctx, writer, old, "", func(was Entry) error {
		record, err := rewrite(was, chain.ids)
		if err != nil {
			return err
		}
		return chain.replace(ctx, was, record)
	})
	if err != nil {
		return err
	}
	if err := chain.end(ctx, end()); err != nil {
		return err
	}
	if err := s.noteReplaced(writer, chain.replaced); err != nil {
		return err
	}
	if err := s.restartTail(ctx, tail, writer, chain.last); err != nil { // else TakeUpLog would restore the old log
		return err
	}
	return s.refs.SwapAny(ctx, s.logRef(writer), chain.last, old)
}

// entryChain collects entries that follow each other. All are stored when one of them is signed.
type entryChain struct {
	store    *Store
	pending  odb.Batch
	last     odb.ID
	ids      map[odb.ID]odb.ID // of the entries as they were, to their ids now
	replaced []odb.ID          // entries that got another id
}

// replace adds what replaces an entry, or the entry itself if neither it nor one before it changes.
func (c *entryChain) replace(ctx context.Context, was Entry, record Record) error {
	var objects odb.Batch
	tree, err := c.store.objects.AddFiles(&objects, record.Attachments)
	if err != nil {
		return err
	}
	if c.last == was.Parent && tree == was.Tree && record.Message == was.Message {
		c.last, c.ids[was.ID] = was.ID, was.ID
		return nil
	}
	c.pending = append(c.pending, objects...)
	signed, err := c.store.isSigned(ctx, was.ID)
	if err != nil {
		return err
	}
	err = c.add(ctx, entryCommit(tree, c.last, record), signed)
	c.ids[was.ID], c.replaced = c.last, append(c.replaced, was.ID)
	return err
}

// end adds an entry that is signed.
func (c *entryChain) end(ctx context.Context, record Record) error {
	tree, err := c.store.objects.AddFiles(&c.pending, record.Attachments)
	if err != nil {
		return err
	}
	return c.add(ctx, entryCommit(tree, c.last, record), true)
}

func (c *entryChain) add(ctx context.Context, commit odb.Commit, signed bool) (err error) {
	if !signed {
		data, err := odb.EncodeCommit(commit)
		if err == nil {
			c.last = c.pending.Add(c.store.objects, "commit", data)
		}
		return err
	}
	if err := c.store.objects.StoreBatch(ctx, c.pending, odb.Synced); err != nil {
		return err
	}
	c.pending = nil
	c.last, err = c.store.SignCommit(ctx, commit)
	return err
}

// isSigned reports whether an entry has a signature, good or not.
func (s *Store) isSigned(ctx context.Context, id odb.ID) (bool, error) {
	data, err := s.objects.ReadKind(ctx, id, "commit")
	header, _, _ := bytes.Cut(data, []byte("\n\n"))
	return bytes.Contains(header, []byte("\ngpgsig")), err
}

// replacedPath returns the file with the ids of the entries that ReplaceLog replaced, one a line.
func (s *Store) replacedPath(writer string) string {
	return filepath.Join(s.dir.StateDir(), "log-replaced-"+writer)
}

func (s *Store) noteReplaced(writer string, ids []odb.ID) error {
	before, err := s.replaced(writer)
	if err != nil {
		return err
	}
	lines := odb.IDLines(append(before, ids...))
	return safefile.WriteFile(s.replacedPath(writer), []byte(lines), 0o666)
}

// replaced returns the ids of the entries of a log that ReplaceLog replaced.
func (s *Store) replaced(writer string) (ids []odb.ID, err error) {
	data, err := safefile.ReadFile(s.replacedPath(writer))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return odb.Fields(data), err
}

// WasReplaced reports whether id is an earlier state of a log of this clone, from before ReplaceLog.
func (s *Store) WasReplaced(writer string, id odb.ID) (bool, error) {
	ids, err := s.replaced(writer)
	return slices.Contains(ids, id), err
}

// IsArchived reports whether an archive has a log. An archive is not written again.
func (s *Store) IsArchived(ctx context.Context, writer string) (bool, error) {
	_, archive, err := s.logRefs(ctx)
	if err != nil {
		return false, err
	}
	tips := Tips{}
	err = s.addArchived(ctx, tips, archive)
	return tips[writer] != "", err
}

// IsNamed reports whether a log of this clone is written under a name, which other clones may share.
func (s *Store) IsNamed(writer string) bool {
	for _, a := range append([]Audience{{}}, s.others()...) {
		if id, _ := s.named(a); id == writer {
			return true
		}
	}
	return false
}
