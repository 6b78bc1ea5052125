package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// comparison is a pair of trees, and the page that shows their differences.
type comparison struct {
	from, to gitstore.ID
	at       gitstore.ID // the commit with the tree to, or ""
	unnamed  gitstore.ID // at, if it is a snapshot of uncommitted work
	paths    []string    // only these; empty means all
	base     string      // "/review/ID" or "/run/ID"
	query    url.Values
}

// url returns the address of one of the comparison's pages, such as diff, for one file. Pairs with an empty value are
// left out.
func (c comparison) url(page string, pairs ...string) string {
	q := url.Values{}
	maps.Copy(q, c.query)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	u := url.URL{Path: c.base, RawQuery: q.Encode()}
	if page != "" {
		u.Path += "/" + page
	}
	return u.String()
}

// diffURL returns the address of the diff of one file, shown with options o.
func (c comparison) diffURL(f changedFile, o viewOptions, pairs ...string) string {
	return c.url("diff", append(pairs, "path", f.Path, "space", o.space, "rendered", o.rendered, "blame", o.blame)...)
}

// changedFile is one file of a comparison.
type changedFile struct {
	gitstore.FileStat
	Index            int
	Status           string // git's A, M, D, R or T
	OldMode, NewMode string // "" on a side without the file
	Generated        bool   // written by a tool, so folded
}

// Key returns an id for the file that is safe in a page, whatever bytes its name has.
func (f changedFile) Key() string { return fileKey(f.Path) }

func fileKey(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "f" + hex.EncodeToString(sum[:6])
}

// From is the path on the old side, Lines how many were changed.
func (f changedFile) From() string { return cmp.Or(f.OldPath, f.Path) }
func (f changedFile) Lines() int   { return f.Added + f.Deleted }

// Dir and Base are the two parts of the path.
func (f changedFile) Dir() string  { return strings.TrimSuffix(safetext.Name(f.Path), f.Base()) }
func (f changedFile) Base() string { return path.Base(safetext.Name(f.Path)) }

// fileSide is a file on one side of a comparison.
type fileSide struct {
	side        record.Side
	tree        gitstore.ID
	path, label string
}

func sidesOf(c comparison, f changedFile) [2]fileSide {
	return [2]fileSide{{record.SideOld, c.from, f.From(), "before"}, {record.SideNew, c.to, f.Path, "after"}}
}

// pathspecs returns the paths that make git show the file, and its rename.
func (f changedFile) pathspecs() []string {
	if f.OldPath != "" {
		return []string{f.OldPath, f.Path}
	}
	return []string{f.Path}
}

// What says in a word or two what changed about the file apart from its lines.
func (f changedFile) What() string {
	switch {
	case f.Status == "A":
		return "new"
	case f.Status == "D":
		return "deleted"
	case f.OldPath != "":
		return "renamed"
	case f.Status == "T":
		return "type changed"
	}
	return ""
}

// Mode describes the change of the mode, or returns "" if it did not change.
func (f changedFile) Mode() string {
	if f.OldMode == f.NewMode || f.OldMode == "" && f.NewMode == gitstore.ModeFile || f.NewMode == "" {
		return ""
	}
	if f.OldMode == "" {
		return modeName(f.NewMode)
	}
	return modeName(f.OldMode) + " → " + modeName(f.NewMode)
}

func modeName(mode string) string {
	return cmp.Or(map[string]string{"100644": "file", "100755": "executable", "120000": "symbolic link",
		"160000": "submodule"}[mode], "mode "+mode)
}

// generated reports by its name whether a tool writes the file.
func generated(name string) bool {
	base := path.Base(name)
	ends := []string{".lock", "-lock.json", "-lock.yaml", "-shrinkwrap.json", ".min.js", ".min.css", ".snap", ".lockb",
		".map", ".pb.go"}
	return base == "go.sum" || slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(base, end) })
}

// fileList is the files of a comparison.
type fileList struct {
	files          []changedFile
	byPath         map[string]int
	added, deleted int
}

// find returns the file called name on either side, or the file for which a browser or a record uses that name.
func (l *fileList) find(name string) (file changedFile, known bool) {
	if i, ok := l.byPath[name]; ok {
		return l.files[i], true
	}
	for path, i := range l.byPath {
		if inForms(path) != inForms(name) {
			continue
		}
		if known && file.Index != i {
			return changedFile{}, false
		}
		file, known = l.files[i], true
	}
	return file, known
}

// index returns the position of the file that find finds.
func (l *fileList) index(name string) (int, bool) {
	f, known := l.find(name)
	return f.Index, known
}

// inForms returns name as forms and JSON return it, apart from line endings: each byte that is not UTF-8 becomes
// U+FFFD.
func inForms(name string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string([]rune(name)))
}

// listCache keeps the lists of recent comparisons: trees do not change. It is locked while a list is made, so that
// requests for the same one share it.
type listCache struct {
	sync.Mutex
	kept []keptList // the newest last
}

type keptList struct {
	key  string
	list *fileList
}

// listsKept is how many lists are kept; a list of 50,000 files needs about 20 MB.
const listsKept = 4

func newFileList(stats []gitstore.FileStat, changes []gitstore.Change) *fileList {
	list := &fileList{byPath: map[string]int{}}
	known := map[string]gitstore.Change{}
	for _, c := range changes {
		known[c.Path] = c
	}
	for _, stat := range stats {
		change := known[stat.Path]
		f := changedFile{
			FileStat: stat, Index: len(list.files), Status: change.Status, OldMode: change.OldMode, NewMode: change.NewMode,
			Generated: generated(stat.Path),
		}
		if stat.OldPath != "" {
			f.Status, f.OldMode = "R", known[stat.OldPath].OldMode
		}
		list.byPath[f.Path] = f.Index
		list.files = append(list.files, f)
		list.added, list.deleted = list.added+f.Added, list.deleted+f.Deleted
	}
	for _, f := range list.files {
		if _, taken := list.byPath[f.From()]; !taken {
			list.byPath[f.From()] = f.Index
		}
	}
	return list
}
