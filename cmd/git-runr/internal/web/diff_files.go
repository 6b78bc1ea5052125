package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"image"
	_ "image/gif" // so that image.DecodeConfig knows it
	_ "image/jpeg"
	_ "image/png"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
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

// imageView is one version of an image.
type imageView struct {
	Label         string // before, after
	URL           string // "" if it is not shown
	Width, Height int    // in pixels, 0 if unknown
	Size          string
	Why           string // why it is not shown
}

// Swipes reports whether there are two images to lay over each other.
func (v fileView) Swipes() bool {
	return len(v.Images) == 2 && v.Images[0].URL != "" && v.Images[1].URL != ""
}

// maxImage is the size in bytes of the largest image that is shown.
const maxImage = 8 << 20

// rasterTypes are the image types that are shown with every change, detected by content as net/http does. SVG is text
// that may contain scripts. It is shown only on request, in an element and under a policy that each prevent browsers
// from running scripts and loading anything.
var rasterTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// isImage reports by its name whether the file is an image and not text.
func (f changedFile) isImage() bool {
	return f.Binary && slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp"},
		strings.ToLower(path.Ext(f.Path)))
}

// imageBytes returns how many bytes are read to measure the image, or 0 if the file is not an image.
func (f changedFile) imageBytes(sizes fileSizes) (n int64) {
	if !f.isImage() {
		return 0
	}
	for _, size := range []int64{sizes[record.SideOld][f.From()], sizes[record.SideNew][f.Path]} {
		if size <= maxImage {
			n += size
		}
	}
	return n
}

// images returns the versions of an image that browsers can show, or nil if the file is not an image.
func (p *pages) images(ctx context.Context, c comparison, f changedFile, sizes fileSizes) ([]imageView, error) {
	if !f.isImage() && !f.isDrawing() {
		return nil, nil
	}
	var found []imageView
	for _, side := range sidesOf(c, f) {
		size, there := sizes[side.side][side.path]
		if !there {
			continue
		}
		v := imageView{Label: side.label, URL: c.url("raw", "path", side.path, "side", string(side.side)),
			Size: prose.Bytes(size)}
		if size > maxImage {
			v.Why = "too large to show"
		} else {
			data, err := p.repo.Blob(ctx, side.tree, side.path)
			if err != nil {
				return nil, err
			}
			v.Width, v.Height = imageSize(data)
			_, v.Why = imageType(side.path, data)
		}
		if v.Why != "" {
			v.URL = ""
		}
		found = append(found, v)
	}
	return found, nil
}

// maxPixels is the largest image that is shown, in pixels: a small file can unpack to much memory in the browser.
const maxPixels = 64 << 20

// maxDrawing is the size in bytes of the largest SVG that is shown: a small file can keep a browser busy.
const maxDrawing = 512 << 10

func isSVG(name string) bool { return strings.EqualFold(path.Ext(name), ".svg") }

// imageType returns the content type to serve an image with, or the reason why it is not served.
func imageType(name string, data []byte) (kind, why string) {
	kind = http.DetectContentType(data)
	width, height := imageSize(data)
	switch {
	case isSVG(name) && len(data) > maxDrawing:
		return "", "too large to show"
	case isSVG(name):
		return "image/svg+xml", ""
	case !slices.Contains(rasterTypes, kind):
		return "", "not an image that browsers show"
	case width*height > maxPixels:
		return "", "too many pixels to show"
	}
	return kind, ""
}

// imageSize returns the width and height of an image in pixels, or 0 if they are unknown.
func imageSize(data []byte) (width, height int) {
	if config, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		return config.Width, config.Height
	}
	return webpSize(data)
}

// webpSize reads the size from the first chunk of a WebP file, which is of one of three kinds.
func webpSize(data []byte) (width, height int) {
	if len(data) < 30 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return 0, 0
	}
	little := binary.LittleEndian
	switch string(data[12:16]) {
	case "VP8 ":
		return int(little.Uint16(data[26:]) & 0x3fff), int(little.Uint16(data[28:]) & 0x3fff)
	case "VP8L":
		bits := little.Uint32(data[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		return int(little.Uint32(data[24:])&0xffffff) + 1, int(little.Uint32(data[26:])>>8) + 1
	}
	return 0, 0
}

// raw serves one side of an image, and nothing else.
func (p *pages) raw(w http.ResponseWriter, r *http.Request, one oneFile) error {
	name, tree := one.file.Path, one.to
	if r.FormValue("side") == string(record.SideOld) {
		name, tree = one.file.From(), one.from
	}
	sizes, err := p.repo.FileSizes(r.Context(), tree, []string{name})
	if err != nil {
		return err
	}
	if sizes[name] > maxImage {
		return gitstore.ErrTooLarge
	}
	data, err := p.repo.Blob(r.Context(), tree, name)
	if err != nil {
		return err
	}
	kind, why := imageType(name, data)
	if why != "" {
		return badRequest("%q: %s", name, why)
	}
	if dest := r.Header.Get("Sec-Fetch-Dest"); isSVG(name) && dest != "" && dest != "image" {
		return badRequest("%q is shown within a page only", name)
	}
	w.Header().Set("Vary", "Sec-Fetch-Dest")
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	w.Header().Set("Cache-Control", "private, max-age=3600")
	_, err = w.Write(data)
	return err
}
