package store

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/internal/segment"
)

// Reads counts what a Store reads to answer: a test holds that it does not grow with what is there.
type Reads struct {
	segment.Reads              // of the index
	Events        atomic.Int64 // that were decoded
}

// Store is the runs and reviews of a repository: events appended to this clone's
// log, and state folded from the logs of all.
type Store struct {
	change.Source
	Redact  func(string) string              // takes secrets out of free text; nil: text is stored as it is
	Warn    func(id gitstore.ID, why string) // hears of records that say nothing that can be read; nil: they are only counted
	Tell    func(line string)                // hears of records that are lost or damaged, and of what was put right; nil: nobody does
	Reads   *Reads                           // is told what is read; nil: nobody counts
	Asks    gitstore.Audience                // whom a new request or run is for; zero: see audienceOf
	Private func(branch string) bool         // whether what is asked on a branch stays in this clone; nil: nothing does

	kept  atomic.Pointer[index] // that was read last, and is nobody's; nil for none
	steps atomic.Int32          // of several events each, that are being taken

	masked atomic.Pointer[strings.Replacer] // see Mask
}

// NewStore is the store of a repository.
func NewStore(repo *gitstore.Repo, now func() time.Time) *Store {
	return &Store{Source: change.Source{Repo: repo, Now: now}}
}

// EventTime is now as events have it: in UTC and whole milliseconds.
func (s *Store) EventTime() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

func (s *Store) tell(format string, args ...any) {
	if s.Tell != nil {
		s.Tell(fmt.Sprintf(format, args...))
	}
}

// tellDamage names records that cannot be read.
func (s *Store) tellDamage(damaged []damagedRecord) {
	for _, d := range damaged {
		s.tell("In the log of %s %s: git runr sync fetches it again.", d.Writer, d.Why)
	}
}
