package odb

import (
	"errors"
	"io/fs"
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

// objectDir is one directory of objects: the repository's own or an alternate.
type objectDir struct {
	path   string
	packs  []*packFile // the one used last first
	listed time.Time   // when packs was read
	stamp  time.Time   // of the pack directory at that moment
	stale  bool        // a listed pack is gone
}

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
	s.dirs = append(s.dirs, &objectDir{path: path})
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

// listPacks reads the pack directory again and keeps what is open and still there.
func (d *objectDir) listPacks() error {
	dir := filepath.Join(d.path, "pack")
	d.listed, d.stamp, d.stale = time.Now(), modTime(dir), false
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known := map[string]*packFile{}
	for _, p := range d.packs {
		known[p.path] = p
	}
	d.packs = nil
	for _, entry := range names {
		name, ok := strings.CutSuffix(entry.Name(), ".idx")
		if !ok {
			continue
		}
		path := filepath.Join(dir, name)
		p := known[path]
		if p == nil {
			p = &packFile{path: path}
		}
		delete(known, path)
		d.packs = append(d.packs, p)
	}
	for _, gone := range known {
		gone.close()
	}
	return nil
}

// listingChanged reports whether there may be packs that were not listed.
func (d *objectDir) listingChanged() bool {
	stamp := modTime(filepath.Join(d.path, "pack"))
	return d.stale || d.listed.IsZero() || !stamp.Equal(d.stamp) || d.listed.Sub(stamp) < listingSettles
}

// closePacks closes all but the first keep open packs.
func (d *objectDir) closePacks(keep int) {
	for _, p := range d.packs {
		if p.index == nil {
			continue
		}
		if keep > 0 {
			keep--
			continue
		}
		p.close()
	}
}

// modTime is zero for a file that is not there.
func modTime(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
