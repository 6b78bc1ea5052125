package gitstore

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// maxReflogTail is how many bytes are read from a reflog's end to find its last lines.
const maxReflogTail = 8 << 10

// Amended reports whether head was made by git commit --amend, according to the last line of
// HEAD's reflog. It starts no process, because the hook needs a fast answer. It returns false if
// the reflog is not a file.
func (r *Repo) Amended(head ID) bool {
	lines := r.headLog()
	last := lines[len(lines)-1]
	return last.to == head && last.amends()
}

// LastRewritten returns the newest commit among the last lines of HEAD's reflog that an amend or a rebase made, or to
// which a reset moved, or "".
// It starts no process, and returns "" if the reflog is not a file.
func (r *Repo) LastRewritten() (newest ID) {
	for _, line := range r.headLog() {
		if line.amends() || strings.HasPrefix(line.why, "rebase") || strings.HasPrefix(line.why, "reset") {
			newest = line.to
		}
	}
	return newest
}

// reflogLine is a line of a reflog: what HEAD became, and why.
type reflogLine struct {
	to  ID
	why string
}

func (l reflogLine) amends() bool { return strings.HasPrefix(l.why, "commit (amend)") }

// headLog returns the last lines of HEAD's reflog, oldest first. There is at least one, which may be empty.
func (r *Repo) headLog() (lines []reflogLine) {
	var tail []byte
	if f, err := safefile.Open(filepath.Join(r.GitDir, "logs", "HEAD")); err == nil {
		defer f.Close()
		if size, err := f.Seek(0, io.SeekEnd); err == nil {
			_, _ = f.Seek(max(0, size-maxReflogTail), io.SeekStart)
		}
		tail, _ = io.ReadAll(io.LimitReader(f, maxReflogTail))
	}
	for text := range bytes.SplitSeq(bytes.TrimRight(tail, "\n"), []byte("\n")) {
		head, why, _ := strings.Cut(string(text), "\t")
		line := reflogLine{why: why}
		if ids := strings.Fields(head); len(ids) > 1 {
			line.to = ID(ids[1])
		}
		lines = append(lines, line)
	}
	return lines
}
