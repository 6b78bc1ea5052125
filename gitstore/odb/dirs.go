package odb

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	maxOpenPacks      = 32 // of one object directory; two files each
	maxAlternateDepth = 5  // as git
	// listingSettles is how old a directory's time must be to tell that nothing
	// was added since it was read: time stamps of file systems are coarse.
	listingSettles = 2 * time.Second
)

// ObjectsPath is where the repository keeps its own objects.
func (s *Store) ObjectsPath() string { return filepath.Join(s.dir.CommonDir, "objects") }

// objectDirs gives our own directory and those it borrows from. The caller holds mu.
func (s *nativeStore) objectDirs() []*objectDir {
	if s.dirs == nil {
		s.addDir(s.own, 0)
	}
	return s.dirs
}

// addDir adds a directory and, in git's order, those named in its alternates file.
func (s *nativeStore) addDir(path string, depth int) {
	for _, d := range s.dirs {
		if d.path == path {
			return
		}
	}
	s.dirs = append(s.dirs, &objectDir{path: path, bases: &s.bases})
	if depth >= maxAlternateDepth {
		return
	}
	text, err := os.ReadFile(filepath.Join(path, "info", "alternates"))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		if other := alternatePath(path, strings.TrimSuffix(line, "\n")); other != "" {
			s.addDir(other, depth+1)
		}
	}
}

// alternatePath reads one line of an alternates file: a path, relative ones from
// the objects directory; "" for an empty line and a comment.
func alternatePath(objects, line string) string {
	if line == "" || line[0] == '#' {
		return ""
	}
	if line[0] == '"' { // quoted as in C, which Go reads too for what git writes
		unquoted, err := strconv.Unquote(line)
		if err != nil {
			return ""
		}
		line = unquoted
	}
	if !filepath.IsAbs(line) {
		line = filepath.Join(objects, line)
	}
	return filepath.Clean(line)
}

// listingChanged reports whether there may be packs that were not listed.
func (d *objectDir) listingChanged() bool {
	stamp := modTime(filepath.Join(d.path, "pack"))
	return d.stale || d.listed.IsZero() || !stamp.Equal(d.stamp) || d.listed.Sub(stamp) < listingSettles
}

// modTime is zero for a file that is not there.
func modTime(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
