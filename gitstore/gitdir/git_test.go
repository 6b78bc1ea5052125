package gitdir

import (
	"bytes"
	"io"
	"testing"
)

// TestWritersKeepTheirLimit uses io.Copy, which would call ReadFrom of an embedded buffer and ignore the limit.
func TestWritersKeepTheirLimit(t *testing.T) {
	flood := func() io.Reader { return struct{ io.Reader }{bytes.NewReader(make([]byte, 1<<20))} }
	head := &headWriter{LimitWriter{Left: 100}}
	if n, err := io.Copy(head, flood()); n != 1<<20 || err != nil || head.Kept.Len() != 100 {
		t.Errorf("head took %d, kept %d, %v", n, head.Kept.Len(), err)
	}
	limited := &LimitWriter{Left: 100}
	if _, err := io.Copy(limited, flood()); err == nil || !limited.Full || limited.Kept.Len() > 100 {
		t.Errorf("limited kept %d, full %v, %v", limited.Kept.Len(), limited.Full, err)
	}
}
