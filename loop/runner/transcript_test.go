package runner

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTranscriptLimit: the transcript file is bounded, also over several calls, because an agent may print without
// end.
func TestTranscriptLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "attempt-1.log")
	const limit = 1000
	for call := range 3 {
		file, err := openTranscript(path, limit)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(file, strings.NewReader(strings.Repeat(fmt.Sprintln("line of call", call), 30)))
		if err != nil || n < 400 {
			t.Fatalf("call %d: %d bytes were taken, %v", call, n, err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	said := "\n[more than this is not kept]\n"
	if len(text) != limit+len(said) || !strings.HasSuffix(string(text), said) || strings.Count(string(text), said) != 1 {
		t.Errorf("%d bytes are kept:\n%s", len(text), text)
	}
}
