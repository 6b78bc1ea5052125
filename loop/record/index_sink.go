package record

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"git-runr/loop/internal/segment"
)

// written is a segment that this process has written.
type written struct {
	*segment.Segment
	path string // "" in memory
	dir  string // in which it belongs
}

// name is what a manifest calls it; "" where it is in no place for that.
func (w *written) name() string {
	if w.path == "" || filepath.Dir(w.path) != w.dir {
		return ""
	}
	return filepath.Base(w.path)
}

// drop removes its file.
func (w *written) drop() {
	if w != nil && w.path != "" {
		_ = os.Remove(w.path)
	}
}

// sink takes the bytes of a segment: into a file in dir, else into one for temporary ones, and
// into memory where they are few or there is no room.
type sink struct {
	buf  bytes.Buffer
	file *os.File
	dir  string
}

func newSink(dir string, large bool) *sink {
	k := &sink{dir: dir}
	if large && os.MkdirAll(dir, 0o777) == nil {
		k.file = createIn(dir)
	}
	if large && k.file == nil {
		k.file = createIn(os.TempDir())
	}
	return k
}

// createIn makes a file of a name of its own, nil where it cannot.
func createIn(dir string) *os.File {
	path := filepath.Join(dir, strings.Replace(segmentNames, "*", strconv.FormatUint(rand.Uint64(), 36), 1))
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil
	}
	return file
}

// Write goes on in memory when the file can take no more.
func (k *sink) Write(b []byte) (int, error) {
	if k.file == nil {
		return k.buf.Write(b)
	}
	n, err := k.file.Write(b)
	if err == nil {
		return n, nil
	}
	if err := k.toMemory(); err != nil {
		return 0, err
	}
	rest, err := k.buf.Write(b[n:])
	return n + rest, err
}

func (k *sink) toMemory() error {
	_, err := k.file.Seek(0, io.SeekStart)
	if err == nil {
		_, err = k.buf.ReadFrom(k.file)
	}
	k.drop()
	k.file = nil
	return err
}

// drop takes the file away.
func (k *sink) drop() {
	if k.file != nil {
		k.file.Close()
		_ = os.Remove(k.file.Name())
	}
}

// open ends what w writes to k, and opens it.
func (k *sink) open(w *segment.Writer) (*written, error) {
	size, err := w.Close()
	if err != nil {
		k.drop()
		return nil, err
	}
	top := &written{dir: k.dir}
	if k.file == nil {
		top.Segment, err = segment.New(bytes.NewReader(k.buf.Bytes()), size)
		return top, err
	}
	if top.Segment, err = segment.Open(k.file.Name()); err != nil {
		k.drop()
		return nil, err
	}
	top.path = k.file.Name()
	k.file.Close()
	return top, nil
}
