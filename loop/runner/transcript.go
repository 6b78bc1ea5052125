package runner

import (
	"fmt"
	"io"
	"os"
)

// maxTranscript is the maximum size in bytes of an agent's output on disk, for each attempt and each round.
const maxTranscript = 64 << 20

// transcriptFile is a file with a maximum size. At the limit it gets a last line that says so; the rest is dropped
// without an error, because the agent may go on writing.
type transcriptFile struct {
	file *os.File // not embedded: io.Copy would write past the limit by its ReadFrom
	left int64    // bytes until the limit
}

// openTranscript opens a file for appending, up to limit bytes.
func openTranscript(path string, limit int64) (io.WriteCloser, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &transcriptFile{file, limit - info.Size()}, nil
}

func (t *transcriptFile) Write(p []byte) (int, error) {
	if t.left <= 0 {
		return len(p), nil
	}
	kept := p[:min(int64(len(p)), t.left)]
	if t.left -= int64(len(kept)); t.left == 0 {
		kept = fmt.Appendf(kept[:len(kept):len(kept)], "\n[more than this is not kept]\n")
	}
	if _, err := t.file.Write(kept); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (t *transcriptFile) Close() error { return t.file.Close() }
