package entrylog

import (
	"bytes"
	"cmp"
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

// The tail of this clone's own log is a file with its newest entries and the objects
// that they are made of. What it holds beyond the log's ref was taken away: by gc,
// from a writer that was killed before it could look, or by a fetch over the ref.
// It is one write without a sync for an entry. From time to time the entries that are
// certain go to a ref of the clone's own, refs/runr-local/log/<writer>, and the file
// begins again.
const (
	keptPrefix  = "refs/runr-local/log/"
	tailEntries = 16      // after which the ref follows
	tailSize    = 1 << 20 // or which
)

// logTail is the file, open for the one who holds the log's lock.
type logTail struct {
	file    *os.File
	records []tailRecord
	size    int64 // of records; what is behind was cut short
}

// tailRecord is one entry. Whether the ref has moved to it is written when it has.
type tailRecord struct {
	id, parent odb.ID
	moved      bool
	objects    odb.Batch
	at         int64 // in the file
}

func (s *Store) tailPath(writer string) string { return filepath.Join(s.dir.StateDir(), "log-"+writer) }

// openTail reads the tail. The caller holds the log's lock.
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

// last is the newest record, nil when there is none.
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

// add writes down an entry before the ref moves to it.
func (t *logTail) add(entry Entry, objects odb.Batch) error {
	record := tailRecord{id: entry.ID, parent: entry.Parent, objects: objects, at: t.size}
	data := record.encode()
	if _, err := t.file.WriteAt(data, t.size); err != nil {
		return err
	}
	t.records, t.size = append(t.records, record), t.size+int64(len(data))
	return nil
}

// confirm notes that the ref has moved to the newest entry.
func (t *logTail) confirm() error {
	t.last().moved = true
	_, err := t.file.WriteAt([]byte(tailMoved), t.last().at)
	return err
}

// drop takes the newest entry out: the ref has not moved.
func (t *logTail) drop() error {
	t.size = t.last().at
	t.records = t.records[:len(t.records)-1]
	return t.file.Truncate(t.size)
}

// clear begins the file again.
func (t *logTail) clear() error {
	t.records, t.size = nil, 0
	return t.file.Truncate(0)
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

// decodeTail reads records as far as they are whole, and gives their size in bytes.
// The ids of objects are left out: only who writes them again needs them.
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

// decodeTailRecord reads the first record and gives its size, 0 when it is not whole.
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

// sizedHead is a line of words, of which the last is the size of what follows.
type sizedHead struct {
	words []string
	size  int
}

// cutSized reads a line of n words when all is there that it announces.
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

// tailEnd is the entry that the tail says is the log's last, and the one before it
// where the ref need not have moved yet; both "" when the tail is empty.
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
