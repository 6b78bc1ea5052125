package segment

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// sink stores the bytes of a new segment: in a file in dir, or else in the directory for temporary
// files. If the segment is small or no file can be written, the bytes stay in memory.
type sink struct {
	buf  bytes.Buffer
	file *os.File
	why  error // why there is no file in dir; nil if none was wanted
}

func newSink(dir, name string, large bool) *sink {
	k := &sink{}
	if !large {
		return k
	}
	if k.why = os.MkdirAll(dir, 0o777); k.why == nil {
		k.file, k.why = createIn(dir, name)
	}
	if k.file == nil {
		k.file, _ = createIn(os.TempDir(), name)
	}
	return k
}

// createIn creates a file with a unique name.
func createIn(dir, name string) (*os.File, error) {
	path := filepath.Join(dir, name+"-"+strconv.FormatUint(rand.Uint64(), 36)+".seg")
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// Write continues in memory if the file cannot be written any more.
func (k *sink) Write(b []byte) (int, error) {
	if k.file == nil {
		return k.buf.Write(b)
	}
	n, err := k.file.Write(b)
	if err == nil {
		return n, nil
	}
	k.why = err
	if err := k.toMemory(); err != nil {
		return 0, err
	}
	rest, err := k.buf.Write(b[n:])
	return n + rest, err
}

func (k *sink) toMemory() error {
	defer func() { k.drop(); k.file = nil }()
	if _, err := k.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := k.buf.ReadFrom(k.file)
	return err
}

// drop closes and removes the file.
func (k *sink) drop() {
	if k.file != nil {
		k.file.Close()
		_ = os.Remove(k.file.Name())
	}
}

// open opens the stored bytes as a segment.
func (k *sink) open(size int64) (s *Segment, err error) {
	if k.file == nil {
		s, err = New(bytes.NewReader(k.buf.Bytes()), size)
	} else {
		s, err = Open(k.file.Name())
	}
	if err != nil {
		k.drop()
		return nil, err
	}
	if s.why = k.why; k.file != nil {
		k.file.Close()
	}
	return s, nil
}
