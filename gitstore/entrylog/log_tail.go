package entrylog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// The tail of this clone's own log is a file with its newest entries and their objects.
// It restores what the log's ref or the object store has lost: to gc, when a writer was
// killed at the wrong moment, or to a fetch over the ref. An entry costs one write without
// a sync. From time to time the ref refs/runr-local/log/<writer> takes over the entries,
// and the file begins again.
const (
	keptPrefix  = "refs/runr-local/log/"
	tailEntries = 16      // entries after which the ref follows
	tailSize    = 1 << 20 // bytes after which it does
)

// logTail is the tail file, open for the holder of the log's lock.
type logTail struct {
	file    *os.File
	records []tailRecord
	size    int64 // of whole records; the rest was cut short
}

// tailRecord is one entry, and whether the log's ref is known to have moved to it.
type tailRecord struct {
	id, parent odb.ID
	moved      bool
	objects    odb.Batch
	at         int64 // offset in the file
}

func (s *Store) tailPath(writer string) string { return filepath.Join(s.dir.StateDir(), "log-"+writer) }

// openTail opens and reads the tail. The caller holds the log's lock.
func (s *Store) openTail(writer string) (*logTail, error) {
	path := s.tailPath(writer)
	f, err := safefile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, gitdir.ReadOnly(err)
	}
	_ = s.dir.Share(path)
	t := &logTail{file: f}
	data, err := io.ReadAll(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	t.records, t.size = decodeTail(data)
	return t, nil
}

// withTail calls do with the tail of a log, under the lock that all writers of the clone use.
func (s *Store) withTail(ctx context.Context, writer string, do func(*logTail) error) error {
	unlock, err := s.dir.Lock(ctx, "log")
	if err != nil {
		return err
	}
	defer unlock()
	tail, err := s.openTail(writer)
	if err != nil {
		return err
	}
	defer tail.file.Close()
	return do(tail)
}

// last returns the newest record, or nil if there is none.
func (t *logTail) last() *tailRecord {
	if len(t.records) == 0 {
		return nil
	}
	return &t.records[len(t.records)-1]
}

const (
	tailPending = "?"
	tailMoved   = "+"
)

// add writes an entry to the tail before the ref moves to it.
func (t *logTail) add(entry Entry, objects odb.Batch) error {
	record := tailRecord{id: entry.ID, parent: entry.Parent, objects: objects, at: t.size}
	data := record.encode()
	if _, err := t.file.WriteAt(data, t.size); err != nil {
		return err
	}
	t.records, t.size = append(t.records, record), t.size+int64(len(data))
	return nil
}

// confirm records that the ref has moved to the newest entry.
func (t *logTail) confirm() error {
	t.last().moved = true
	_, err := t.file.WriteAt([]byte(tailMoved), t.last().at)
	return err
}

// drop removes the newest entry, because the ref has not moved.
func (t *logTail) drop() error {
	t.size = t.last().at
	t.records = t.records[:len(t.records)-1]
	return t.file.Truncate(t.size)
}

// encode is a line "STATE ID PARENT SIZE", where no parent is "-" and SIZE is that of
// what follows: each object as a line "KIND SIZE" and its content, the commit last.
func (t tailRecord) encode() []byte {
	var body bytes.Buffer
	for _, o := range t.objects {
		fmt.Fprintf(&body, "%s %d\n", o.Kind, len(o.Data))
		body.Write(o.Data)
	}
	state := tailPending
	if t.moved {
		state = tailMoved
	}
	return append(fmt.Appendf(nil, "%s %s %s %d\n", state, t.id, cmp.Or(t.parent, "-"), body.Len()), body.Bytes()...)
}

// decodeTail parses the whole records in data and returns their size in bytes. It does not compute the ids of objects:
// only a restore needs them.
func decodeTail(data []byte) (records []tailRecord, size int64) {
	for {
		record, n := decodeTailRecord(data[size:])
		if n == 0 {
			return records, size
		}
		record.at = size
		records, size = append(records, record), size+int64(n)
	}
}

// decodeTailRecord parses the first record and returns its size, or 0 if it is incomplete.
func decodeTailRecord(data []byte) (record tailRecord, size int) {
	head, body, ok := cutSized(data, 4)
	if !ok {
		return record, 0
	}
	size = len(data) - len(body) + head.size
	record = tailRecord{moved: head.words[0] == tailMoved, id: odb.ID(head.words[1]), parent: odb.ID(head.words[2])}
	if record.parent == "-" {
		record.parent = ""
	}
	for body = body[:head.size]; len(body) > 0; {
		head, rest, ok := cutSized(body, 2)
		if !ok || odb.PackTypes[head.words[0]] == 0 {
			return record, 0
		}
		record.objects = append(record.objects, odb.BatchedObject{Kind: head.words[0], Data: rest[:head.size]})
		body = rest[head.size:]
	}
	return record, size
}

// sizedHead is a line of words, the last of which is the size of what follows.
type sizedHead struct {
	words []string
	size  int
}

// cutSized cuts a line of n words from data. It fails if less follows than the line announces.
func cutSized(data []byte, n int) (head sizedHead, rest []byte, ok bool) {
	line, rest, ok := bytes.Cut(data, []byte("\n"))
	head.words = strings.Split(string(line), " ")
	if !ok || len(head.words) != n {
		return head, nil, false
	}
	size, err := strconv.ParseUint(head.words[n-1], 10, 31)
	head.size = int(size)
	return head, rest, err == nil && head.size <= len(rest)
}

// tailEnd returns the last entry of the log according to its tail, and the one before it if the ref may not have moved
// yet. Both are "" for an empty tail.
func (s *Store) tailEnd(writer string) (last, before odb.ID, err error) {
	data, err := safefile.ReadFile(s.tailPath(writer))
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	records, _ := decodeTail(data)
	if len(records) == 0 {
		return "", "", nil
	}
	end := records[len(records)-1]
	if end.moved {
		return end.id, end.id, nil
	}
	return end.id, end.parent, nil
}
