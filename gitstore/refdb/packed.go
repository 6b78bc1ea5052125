package refdb

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// maxRefLine is longer than any line of packed-refs: an id, a space and a name.
const maxRefLine = 8 << 10

// packedRef returns one ref from packed-refs, or "" if it is not there.
func (s *Store) packedRef(name string) (odb.ID, error) {
	var found odb.ID
	err := s.scanPacked(func(have string, id odb.ID) bool {
		if have == name {
			found = id
		}
		return have != name
	}, name)
	if err != nil {
		return "", fmt.Errorf("read ref %s: %w", name, err)
	}
	return found, nil
}

// scanPacked visits the packed refs whose names begin with one of prefixes. If visit returns false, it continues with
// the next prefix.
func (s *Store) scanPacked(visit func(name string, id odb.ID) bool, prefixes ...string) error {
	f, err := safefile.Open(filepath.Join(s.dir.CommonDir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	for _, prefix := range prefixes {
		if err := scanPackedRefs(f, info.Size(), prefix, visit); err != nil {
			return err
		}
	}
	return nil
}

// scanPackedRefs is scanPacked for any file and one prefix. If the header says that the file is
// sorted, it reads only the relevant part.
func scanPackedRefs(f io.ReaderAt, size int64, prefix string, visit func(name string, id odb.ID) bool) error {
	start, sorted := int64(0), false
	head := make([]byte, 256)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if line, _, ok := bytes.Cut(head[:n], []byte("\n")); ok && bytes.HasPrefix(line, []byte("#")) {
		sorted = bytes.Contains(append(line, ' '), []byte(" sorted "))
		start = int64(len(line)) + 1
	}
	if sorted {
		if start, err = searchPacked(f, start, size, prefix); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(io.NewSectionReader(f, start, size-start))
	lines.Buffer(nil, maxRefLine)
	for lines.Scan() {
		id, name, ok := parsePackedLine(lines.Text())
		switch {
		case !ok:
		case strings.HasPrefix(name, prefix):
			if !visit(name, id) {
				return nil
			}
		case sorted && name > prefix:
			return nil
		}
	}
	return lines.Err()
}

// searchPacked searches a sorted file by bisection. It returns the offset of a line before which no
// name begins with prefix.
func searchPacked(f io.ReaderAt, low, high int64, prefix string) (int64, error) {
	for high-low > maxRefLine {
		mid := low + (high-low)/2
		name, next, err := nextPackedLine(f, mid, high)
		if err != nil {
			return 0, err
		}
		if name == "" || name >= prefix {
			high = mid
		} else {
			low = next
		}
	}
	return low, nil
}

// nextPackedLine returns the first ref whose line starts after offset, and the offset of the line
// after it. The name is "" if there is no such line before end.
func nextPackedLine(f io.ReaderAt, offset, end int64) (name string, next int64, err error) {
	r := bufio.NewReaderSize(io.NewSectionReader(f, offset, end-offset), 512)
	for first := true; ; first = false {
		line, err := r.ReadString('\n')
		offset += int64(len(line))
		if err == io.EOF {
			return "", offset, nil
		}
		if err != nil {
			return "", 0, err
		}
		if _, name, ok := parsePackedLine(strings.TrimSuffix(line, "\n")); ok && !first {
			return name, offset, nil
		}
	}
}

// parsePackedLine parses "ID NAME". It rejects comments and the lines with the target of a
// tag ("^ID").
func parsePackedLine(line string) (odb.ID, string, bool) {
	id, name, ok := strings.Cut(strings.TrimSuffix(line, "\r"), " ")
	ok = ok && name != "" && (len(id) == 40 || len(id) == 64) && odb.IsHex(id)
	return odb.ID(id), name, ok
}
