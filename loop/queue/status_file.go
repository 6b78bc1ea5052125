package queue

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

const (
	statusPause   = time.Second // minimum time between two writes of an agent's lines
	maxStatusLine = 200         // bytes of a line
	maxStatusSaid = 2 * reviewing.MaxEarly
)

// statusFile is the file next to a review's lock that says what its reviewers are doing. It informs people only:
// readers first check that the lock is held, and a write error stops nothing.
type statusFile struct {
	store *store.Store
	path  string

	mu    sync.Mutex // guards the fields below
	at    map[string]atWork
	later *time.Timer // pending write; nil if the file is up to date
}

// atWork describes what a reviewer is doing.
type atWork struct {
	Since time.Time `json:"since"`
	Line  string    `json:"line,omitempty"` // the last line of its output
	Said  []string  `json:"said,omitempty"` // messages that people must see
}

func statusPath(s *store.Store, id string) string {
	return filepath.Join(s.Repo.StateDir(), reviewLock(id)+".json")
}

// readStatus returns what the reviewers of a review are doing, by name, or nil if none is running.
func readStatus(s *store.Store, id string) map[string]atWork {
	var at map[string]atWork
	data, err := safefile.ReadFile(statusPath(s, id))
	if err != nil || !workspace.Held(s, reviewLock(id)) || json.Unmarshal(data, &at) != nil {
		return nil
	}
	return at
}

// SoFar returns the messages for people from the reviewers that are working on a review in this clone.
func SoFar(s *store.Store, id string) (said []string) {
	at := readStatus(s, id)
	for _, name := range slices.Sorted(maps.Keys(at)) {
		said = append(said, at[name].Said...)
	}
	return said
}

// dropStatuses removes the locks and status files that killed workers have left.
func dropStatuses(s *store.Store) error {
	files, err := os.ReadDir(s.Repo.StateDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, file := range files {
		lock, kind, _ := strings.Cut(file.Name(), ".")
		if !strings.HasPrefix(lock, reviewLock("")) {
			continue
		}
		unlock, err := tryLock(s.Repo, lock)
		if err != nil {
			return err
		}
		if unlock != nil {
			if strings.HasPrefix(kind, "json.") { // a worker was killed while it wrote the file
				os.Remove(filepath.Join(s.Repo.StateDir(), file.Name()))
			}
			dropStatus(s, strings.TrimPrefix(lock, reviewLock("")))
			unlock()
		}
	}
	return err
}

// dropStatus removes the lock of a review, which the caller holds, and its status file.
func dropStatus(s *store.Store, id string) {
	os.Remove(statusPath(s, id))
	s.Repo.DropLock(reviewLock(id))
}

// close stops all writes of the file.
func (b *statusFile) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = nil
	if b.later != nil {
		b.later.Stop()
	}
}

// begin records that a reviewer is running, and returns a Progress that writes its output to the file.
func (b *statusFile) begin(name string, p checking.Progress) checking.Progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at[name] = atWork{Since: b.store.EventTime()}
	b.write()
	return statusProgress{p, b, name}
}

func (b *statusFile) end(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.at, name)
	b.write()
}

func (b *statusFile) write() {
	if data, err := json.Marshal(b.at); err == nil && b.at != nil {
		_ = safefile.WriteFile(b.path, data, 0o600)
	}
}

type statusProgress struct {
	checking.Progress
	status *statusFile
	name   string
}

// Line records the reviewer's last line. The file is written a little later, with the newest line then.
func (p statusProgress) Line(text string) {
	p.Progress.Line(text)
	b := p.status
	b.mu.Lock()
	defer b.mu.Unlock()
	at, known := b.at[p.name]
	if !known {
		return
	}
	at.Line = prose.Cut(safetext.Line(text), maxStatusLine)
	b.at[p.name] = at
	if b.later == nil {
		b.later = time.AfterFunc(statusPause, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.later = nil
			b.write()
		})
	}
}

// Say keeps a message until the reviewer ends, and writes the file at once.
func (p statusProgress) Say(text string) {
	p.Progress.Say(text)
	b := p.status
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, known := b.at[p.name]; known && len(at.Said) < maxStatusSaid {
		at.Said = append(at.Said, prose.Cut(safetext.Line(text), 2*maxStatusLine))
		b.at[p.name] = at
		b.write()
	}
}
