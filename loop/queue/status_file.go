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
)

const (
	statusPause   = time.Second // how long the file stays as it is although an agent writes lines
	maxStatusLine = 200         // bytes of a line
	maxStatusSaid = 2 * reviewing.MaxEarly
)

// statusFile is the file beside a review's lock that says what its reviewers are doing. It is
// for people: who reads it asks first whether the lock is held, and a file that cannot be
// written stops nobody.
type statusFile struct {
	store *store.Store
	path  string

	mu    sync.Mutex // guards what follows
	at    map[string]atWork
	later *time.Timer // that writes it; nil while it is as it should be
}

// atWork is what a reviewer is doing.
type atWork struct {
	Since time.Time `json:"since"`
	Line  string    `json:"line,omitempty"` // of its output, the last one
	Said  []string  `json:"said,omitempty"` // that people must know
}

func statusPath(s *store.Store, id string) string {
	return filepath.Join(s.Repo.StateDir(), reviewLock(id)+".json")
}

func newStatusFile(s *store.Store, id string) *statusFile {
	return &statusFile{store: s, path: statusPath(s, id), at: map[string]atWork{}}
}

// readStatus is what the reviewers of a review are doing, by their names; none where nobody
// is at it now.
func readStatus(s *store.Store, id string) map[string]atWork {
	data, err := safefile.ReadFile(statusPath(s, id))
	if err != nil {
		return nil
	}
	var at map[string]atWork
	if !held(s.Repo, reviewLock(id)) || json.Unmarshal(data, &at) != nil {
		return nil
	}
	return at
}

// SoFar returns what the reviewers at work on a review in this clone have said that people must know.
func SoFar(s *store.Store, id string) (said []string) {
	at := readStatus(s, id)
	for _, name := range slices.Sorted(maps.Keys(at)) {
		said = append(said, at[name].Said...)
	}
	return said
}

// dropStatuses removes the locks of reviews that killed workers have left, and what is beside them.
func dropStatuses(s *store.Store) error {
	files, err := os.ReadDir(s.Repo.StateDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, file := range files {
		lock := strings.TrimSuffix(file.Name(), filepath.Ext(file.Name()))
		if !strings.HasPrefix(lock, reviewLock("")) {
			continue
		}
		unlock, err := tryLock(s.Repo, lock)
		if err != nil {
			return err
		}
		if unlock != nil {
			dropStatus(s, strings.TrimPrefix(lock, reviewLock("")))
			unlock()
		}
	}
	return err
}

// dropStatus removes the lock of a review, which the caller holds, and what is beside it.
func dropStatus(s *store.Store, id string) {
	os.Remove(statusPath(s, id))
	s.Repo.DropLock(reviewLock(id))
}

// close ends the writing of the file.
func (b *statusFile) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = nil
	if b.later != nil {
		b.later.Stop()
	}
}

// begin says that a reviewer is at work, and gives a Progress that tells what it writes.
func (b *statusFile) begin(name string, p checking.Progress) checking.Progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at[name] = atWork{Since: b.store.EventTime()}
	b.write()
	return statusProgress{p, b, name}
}

// end says that a reviewer is at work no more.
func (b *statusFile) end(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.at, name)
	b.write()
}

// line takes over what a reviewer wrote last. It is written a little later, with what it
// writes until then.
func (b *statusFile) line(name, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, known := b.at[name]
	if !known {
		return
	}
	at.Line = prose.Cut(safetext.Line(text), maxStatusLine)
	b.at[name] = at
	if b.later == nil {
		b.later = time.AfterFunc(statusPause, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.later = nil
			b.write()
		})
	}
}

// say keeps what a reviewer said until it ends, and writes it at once.
func (b *statusFile) say(name, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, known := b.at[name]; known && len(at.Said) < maxStatusSaid {
		at.Said = append(at.Said, prose.Cut(safetext.Line(text), 2*maxStatusLine))
		b.at[name] = at
		b.write()
	}
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

func (p statusProgress) Line(text string) {
	p.status.line(p.name, text)
	p.Progress.Line(text)
}

func (p statusProgress) Say(text string) {
	p.status.say(p.name, text)
	p.Progress.Say(text)
}
