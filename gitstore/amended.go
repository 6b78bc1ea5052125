package gitstore

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxReflogTail is how many bytes are read from a reflog's end to find its last line.
const maxReflogTail = 8 << 10

// Amended reports whether head was made by git commit --amend, according to the last line of
// HEAD's reflog. It starts no process, because the hook needs a fast answer. It returns false if
// the reflog is not a file.
func (r *Repo) Amended(head ID) bool {
	f, err := os.Open(filepath.Join(r.GitDir, "logs", "HEAD"))
	if err != nil {
		return false
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		_, _ = f.Seek(max(0, size-maxReflogTail), io.SeekStart)
	}
	tail, _ := io.ReadAll(io.LimitReader(f, maxReflogTail))
	lines := bytes.Split(bytes.TrimRight(tail, "\n"), []byte("\n"))
	who, why, _ := strings.Cut(string(lines[len(lines)-1]), "\t")
	ids := strings.Fields(who)
	return len(ids) > 1 && ids[1] == string(head) && strings.HasPrefix(why, "commit (amend)")
}
