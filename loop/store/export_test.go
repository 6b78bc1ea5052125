package store

import (
	"context"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/notes"
)

// PretendRead makes the index and the notes record that all of tips was read, without the event lost.
func (s *Store) PretendRead(ctx context.Context, tips gitstore.Tips, lost gitstore.ID) error {
	writer := s.Repo.Writer()
	idx := openIndex(s.indexPath()).afresh()
	idx.Tips, idx.Segments, idx.Damaged = tips, nil,
		[]damagedRecord{{Writer: writer, ID: lost, Entry: lost, Why: "it is missing"}}
	if err := idx.save(s); err != nil {
		return err
	}
	replaces, err := s.Repo.Ref(ctx, NotesRef)
	if err == nil {
		at := time.Unix(0, 0)
		_, err = s.Repo.NewNotes(NotesRef, replaces).Commit(ctx, notes.Message(tips, at), at)
	}
	return err
}
