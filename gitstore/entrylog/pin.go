package entrylog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

const pinRef = "refs/runr-local/pins"

// appendTries is how often Append tries again after a lost race. The writers of one clone take turns under a lock, so
// only a foreign git process can interfere.
const appendTries = 10

// Pin protects a commit from gc. Pins form a chain of commits on one ref, each with the pinned commit as its second
// parent: one ref per pin would slow down every command that reads all refs. why is the message, for people.
func (s *Store) Pin(ctx context.Context, why string, commit odb.ID) error {
	if _, err := s.objects.ReadKind(ctx, commit, "commit"); err != nil {
		return fmt.Errorf("pin %s: %w", why, err)
	}
	for range appendTries {
		old, err := s.refs.Ref(ctx, pinRef)
		if err != nil {
			return fmt.Errorf("pin: %w", err)
		}
		pin := odb.Commit{Tree: s.objects.EmptyTreeID(), Author: notesIdentity, Committer: notesIdentity,
			Message: "pin " + why + "\n"}
		pin.AuthorWhen, pin.CommitterWhen = time.Unix(0, 0), time.Unix(0, 0)
		if old != "" && s.objects.Has(ctx, old) { // else begin a new chain: git could not walk a broken one
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
		if err := s.objects.StoreBatch(ctx, objects, odb.Synced); err != nil {
			return fmt.Errorf("pin %s: %w", why, err)
		}
		if err := s.refs.MoveToNew(ctx, pinRef, id, old, objects); !errors.Is(err, gitdir.ErrLostRace) {
			return err
		}
	}
	return fmt.Errorf("pin %s: %w", why, gitdir.ErrLostRace)
}
