package odb

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

const (
	maxOpenPacks      = 32 // per object directory; each pack is two files
	maxAlternateDepth = 5  // as in git
	// listingSettles is how old a directory's time stamp must be to prove that nothing was added
	// after the directory was read: time stamps of file systems are coarse.
	listingSettles = 2 * time.Second
)

// ObjectsPath returns the directory of the repository's own objects.
func (s *Store) ObjectsPath() string { return filepath.Join(s.dir.CommonDir, "objects") }

// objectDirs returns our own directory and its alternates. The caller holds mu.
func (s *nativeStore) objectDirs() []*objectDir {
	if s.dirs == nil {
		s.addDir(s.own, 0)
	}
	return s.dirs
}

// addDir adds a directory and its alternates in git's order.
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
	text, err := safefile.ReadFile(filepath.Join(path, "info", "alternates"))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		if other := alternatePath(path, strings.TrimSuffix(line, "\n")); other != "" {
			s.addDir(other, depth+1)
		}
	}
}

// alternatePath parses one line of an alternates file. Relative paths are relative to the
// objects directory. It returns "" for an empty line and for a comment.
func alternatePath(objects, line string) string {
	if line == "" || line[0] == '#' {
		return ""
	}
	if line[0] == '"' { // git quotes as C does; Go unquotes all that git writes
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

// listingChanged reports whether there may be packs that are not listed yet.
func (d *objectDir) listingChanged() bool {
	stamp := modTime(filepath.Join(d.path, "pack"))
	return d.stale || d.listed.IsZero() || !stamp.Equal(d.stamp) || d.listed.Sub(stamp) < listingSettles
}

// modTime returns a file's time of modification, or the zero Time if the file does not exist.
func modTime(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
