package store

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/internal/segment"
	"github.com/git-runr/git-runr/loop/record"
)

// Reads counts what a Store reads. A test checks that it does not grow with the size of the repository.
type Reads struct {
	segment.Reads              // reads of the index
	Events        atomic.Int64 // decoded events
}

// Store holds the runs and reviews of a repository: events appended to this clone's logs, and state folded from the
// logs of all clones.
type Store struct {
	change.Source
	Redact func(string) string              // removes secrets from free text; nil: text is stored as it is
	Warn   func(id gitstore.ID, why string) // receives unreadable records; nil: they are only counted
	// receives messages about lost or damaged records and repairs; nil: they are dropped
	Tell  func(line string)
	Reads *Reads             // counts reads; nil: nothing is counted
	Asks  *gitstore.Audience // audience of new requests and runs; nil: see AudienceOf
	// sets Unproven and Unsigned of events before reviews are folded; nil: signatures do not matter
	Vouch func(context.Context, []record.Event) error
	// writers whose log another one may replace without a signature: see share.Replaces
	Trusted []string
	// returns the patterns of the branches that are private to this clone; nil: none are
	Private func() (gitstore.Globs, error)

	kept  atomic.Pointer[index] // the index read last, if it is not in use; else nil
	steps atomic.Int32          // the number of groups of events in progress: see Together

	masked atomic.Pointer[strings.Replacer] // see Mask
}

// NewStore returns the store of a repository.
func NewStore(repo *gitstore.Repo, now func() time.Time) *Store {
	return &Store{Source: change.Source{Repo: repo, Now: now}}
}

// Vouched returns a store for reading in which reviews are folded from events that vouch has seen.
func (s *Store) Vouched(vouch func(context.Context, []record.Event) error) *Store {
	return &Store{Source: s.Source, Redact: s.Redact, Warn: s.Warn, Tell: s.Tell, Reads: s.Reads, Asks: s.Asks,
		Trusted: s.Trusted, Private: s.Private, Vouch: vouch}
}

// EventTime returns the present time as in events: UTC, in whole milliseconds.
func (s *Store) EventTime() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

func (s *Store) tell(format string, args ...any) {
	if s.Tell != nil {
		s.Tell(fmt.Sprintf(format, args...))
	}
}

// tellDamage reports unreadable records to Tell.
func (s *Store) tellDamage(damaged []damagedRecord) {
	for _, d := range damaged {
		s.tell("In the log of %s %s: git runr sync fetches it again.", d.Writer, d.Why)
	}
}
