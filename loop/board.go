package loop

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
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

const (
	boardPause   = time.Second // how long the file stays as it is although an agent writes lines
	maxBoardLine = 200         // bytes of a line
	maxBoardSaid = 2 * maxEarly
)

// board is the file beside a review's lock that says what its reviewers are doing. It is
// for people: who reads it asks first whether the lock is held, and a board that cannot be
// written stops nobody.
type board struct {
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

func boardPath(s *store.Store, id string) string {
	return filepath.Join(s.Repo.StateDir(), reviewLock(id)+".json")
}

func newBoard(s *store.Store, id string) *board {
	return &board{store: s, path: boardPath(s, id), at: map[string]atWork{}}
}

// readBoard is what the reviewers of a review are doing, by their names; none where nobody
// is at it now.
func readBoard(s *store.Store, id string) map[string]atWork {
	data, err := safefile.ReadFile(boardPath(s, id))
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
	at := readBoard(s, id)
	for _, name := range slices.Sorted(maps.Keys(at)) {
		said = append(said, at[name].Said...)
	}
	return said
}

// dropBoards removes the locks of reviews that killed workers have left, and what is beside them.
func dropBoards(s *store.Store) error {
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
			dropBoard(s, strings.TrimPrefix(lock, reviewLock("")))
			unlock()
		}
	}
	return err
}

// dropBoard removes the lock of a review, which the caller holds, and what is beside it.
func dropBoard(s *store.Store, id string) {
	os.Remove(boardPath(s, id))
	s.Repo.DropLock(reviewLock(id))
}

// close ends the writing of the file.
func (b *board) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = nil
	if b.later != nil {
		b.later.Stop()
	}
}

// begin says that a reviewer is at work, and gives a Progress that tells what it writes.
func (b *board) begin(name string, p Progress) Progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at[name] = atWork{Since: b.store.EventTime()}
	b.write()
	return boardProgress{p, b, name}
}

// end says that a reviewer is at work no more.
func (b *board) end(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.at, name)
	b.write()
}

// line takes over what a reviewer wrote last. It is written a little later, with what it
// writes until then.
func (b *board) line(name, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, known := b.at[name]
	if !known {
		return
	}
	at.Line = prose.Cut(safetext.Line(text), maxBoardLine)
	b.at[name] = at
	if b.later == nil {
		b.later = time.AfterFunc(boardPause, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.later = nil
			b.write()
		})
	}
}

// say keeps what a reviewer said until it ends, and writes it at once.
func (b *board) say(name, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, known := b.at[name]; known && len(at.Said) < maxBoardSaid {
		at.Said = append(at.Said, prose.Cut(safetext.Line(text), 2*maxBoardLine))
		b.at[name] = at
		b.write()
	}
}

func (b *board) write() {
	if data, err := json.Marshal(b.at); err == nil && b.at != nil {
		_ = safefile.WriteFile(b.path, data, 0o600)
	}
}

type boardProgress struct {
	Progress
	board *board
	name  string
}

func (p boardProgress) Line(text string) {
	p.board.line(p.name, text)
	p.Progress.Line(text)
}

func (p boardProgress) Say(text string) {
	p.board.say(p.name, text)
	p.Progress.Say(text)
}
