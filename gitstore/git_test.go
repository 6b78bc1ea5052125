package gitstore

import (
	"bytes"
	"io"
	"testing"
)

// io.Copy prefers a ReadFrom, which an embedded buffer would lend the writers.
func TestWritersKeepTheirLimit(t *testing.T) {
	flood := func() io.Reader { return struct{ io.Reader }{bytes.NewReader(make([]byte, 1<<20))} }
	head := &headWriter{left: 100}
	if n, err := io.Copy(head, flood()); n != 1<<20 || err != nil || head.kept.Len() != 100 {
		t.Errorf("head took %d, kept %d, %v", n, head.kept.Len(), err)
	}
	limited := &limitWriter{left: 100}
	if _, err := io.Copy(limited, flood()); err == nil || !limited.full || limited.kept.Len() > 100 {
		t.Errorf("limited kept %d, full %v, %v", limited.kept.Len(), limited.full, err)
	}
}
