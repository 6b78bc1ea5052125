package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/syntax"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// Limits of one response, so that no change overloads the server or the browser. A click
// shows more.
const (
	firstLines    = 1200    // changed lines that a page shows at once
	firstFiles    = 20      // files that a page shows at once
	firstPictures = 4 << 20 // bytes of images after which a page reads no more at once
	foldLines     = 500     // a file with more changed lines is folded
	foldBytes     = 100_000 // a file with a larger patch is folded
	maxPatch      = 4 << 20 // of one file, in bytes
	rowsShown     = 4000    // rows of one file in one answer
	highlightSize = 512_000 // a larger file is coloured from its diff alone
	allContext    = 1 << 20 // lines of context: the whole file
)

// fileView is one file of a comparison as the page shows it.
type fileView struct {
	changedFile
	Load     string // address of the diff, if it is not here
	Folded   string // why it needs a click to be shown, or ""
	Note     string // text instead of lines
	Hunks    []hunkView
	Images   []imageView
	Rendered []blockRun // the rendered text, such as Markdown
	Look     string     // address of the other view, rendered or text; "" if there is none
	Who      string     // address of the view with authors, or without; "" if there is none
	Blamed   bool       // shown with authors
	AsText   bool       // Look is text
	Notes    []*remark  // on the whole file, and on hidden lines
	More     string     // address of the next rows
	All      string     // address of the whole file
	Tail     *gapView   // after the last hunk
	Cut      bool       // the rest is too large for the page
	Split    bool
	Viewed   bool
	CRLF     bool   // all its lines end in CR LF
	File     string // the whole new file
	OldFile  string // the whole old file
	Compose  string // address of the comment form, or ""
	Anchor   string // address of the page that contains this part
	gapsURL  string
}

// Shown reports whether the file is on the page, or folded behind a click. Any other file is loaded when it scrolls
// into view, and is one line until then.
func (v fileView) Shown() bool { return v.Load == "" || v.Folded != "" }

// Columns returns how many cells a row of the file has.
func (v fileView) Columns() int {
	n := 4
	if v.Split {
		n = 6
	}
	if v.Blamed {
		n++
	}
	return n
}

// viewOptions say how files are shown.
type viewOptions struct {
	split    bool
	noSpace  bool   // hide changes of white space only
	space    string // "ignore" or "show" if the address sets it; links keep it
	rendered string // "1": rendered
	blame    string // "1": with authors
	context  int
	skip     int // rows shown by earlier responses
	remarks  map[int]remarksAt
	viewed   map[string]bool
	compose  bool
}

// fileViews returns the files of a page: the first ones complete, the others as the addresses from which to load them.
func (p *pages) fileViews(ctx context.Context, c comparison, list []changedFile, o viewOptions) ([]fileView, error) {
	views := make([]fileView, len(list))
	var now []int
	lines, pictures := 0, int64(0)
	for i, f := range list {
		views[i] = p.newFileView(c, f, o)
		views[i].Load = c.diffURL(f, o)
		if views[i].Folded = f.folded(); views[i].Viewed && views[i].Folded == "" {
			views[i].Folded = "viewed"
		}
		if views[i].Folded == "" && len(now) < firstFiles && lines+f.Lines() <= firstLines {
			now, lines = append(now, i), lines+f.Lines()
		}
	}
	patches, err := p.patches(ctx, c, list, now, o.noSpace)
	if err != nil {
		return nil, err
	}
	sizes, err := p.sizes(ctx, c, list, now)
	if err != nil {
		return nil, err
	}
	for _, i := range now {
		patch, ok := patches[i]
		switch {
		case !ok: // the patches before it filled the response, or it is loaded by itself
		case patch.size() > foldBytes:
			views[i].Folded = "long lines"
		case pictures > firstPictures && list[i].isImage():
		default:
			pictures += list[i].imageBytes(sizes)
			views[i].Load = ""
			if err := p.fill(ctx, c, &views[i], patch, sizes, o); err != nil {
				return nil, err
			}
		}
	}
	return views, nil
}

// folded returns why a file needs a click to be shown, or "".
func (f changedFile) folded() string {
	switch {
	case f.Generated:
		return "generated"
	case f.Lines() > foldLines:
		return "large"
	}
	return ""
}

func (p *pages) newFileView(c comparison, f changedFile, o viewOptions) fileView {
	v := fileView{changedFile: f, Split: o.split, Viewed: o.viewed[f.Path], Anchor: c.url("") + "#" + f.Key()}
	if f.Status != "D" {
		v.File = c.url("file", "path", f.Path, "side", string(record.SideNew))
	}
	if f.Status != "A" {
		v.OldFile = c.url("file", "path", f.From(), "side", string(record.SideOld))
	}
	if o.compose {
		v.Compose = c.url("comment", "path", f.Path)
	}
	if plain := o; f.Status != "D" && !f.Binary && o.rendered == "" {
		v.Blamed = o.blame != ""
		if plain.blame = "1"; v.Blamed {
			plain.blame = ""
		}
		v.Who = c.diffURL(f, plain)
	}
	if o.blame = ""; f.stands() {
		v.AsText = o.rendered != ""
		if o.rendered = "1"; v.AsText {
			o.rendered = ""
		}
		v.Look = c.diffURL(f, o)
	}
	return v
}

// patch is git's diff of one file. It has two parts if the type of the file changed.
type patch []unidiff.File

// filesOf parses a diff that may be cut off; it keeps the complete lines.
func filesOf(text []byte) (patch, error) {
	var files patch
	for f, err := range unidiff.Files(string(text)) {
		if err != nil && !errors.Is(err, unidiff.ErrCutOff) {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// size returns the size in bytes.
func (p patch) size() (n int) {
	for _, f := range p {
		n += len(f.Text)
	}
	return n
}

func (p patch) hunks() (all []unidiff.Hunk) {
	for _, f := range p {
		all = append(all, f.Hunks...)
	}
	return all
}

// patches returns the patches of the files with the given indexes, as far as one response can hold them, and except
// those of files that git pairs differently in the whole diff: they are loaded by themselves. A symbolic link that
// became a file has two patches. If white space is ignored, a file without other changes has an empty one.
func (p *pages) patches(ctx context.Context, c comparison, list []changedFile, now []int,
	noSpace bool) (map[int]patch, error) {
	if len(now) == 0 {
		return nil, nil
	}
	spec := gitstore.DiffSpec{From: c.from, To: c.to, MaxBytes: maxPatch, IgnoreSpace: noSpace}
	for _, i := range now {
		spec.Paths = append(spec.Paths, list[i].pathspecs()...)
	}
	all, truncated, err := p.repo.Diff(ctx, spec)
	if err != nil {
		return nil, err
	}
	parts, err := filesOf(all)
	if err != nil {
		return nil, err
	}
	if truncated && len(parts) > 0 {
		parts = parts[:len(parts)-1]
	}
	byName, found := map[string]patch{}, map[int]patch{}
	for _, f := range parts {
		name := cmp.Or(f.New, f.Old)
		byName[name] = append(byName[name], f)
	}
	for _, i := range now {
		f := list[i]
		patch := byName[f.Path]
		if f.isOf(patch) || len(patch) == 0 && noSpace && !truncated && f.Lines() > 0 {
			found[i] = patch
		}
	}
	return found, nil
}

// isOf reports whether patch is the complete patch of the file and of its rename.
func (f changedFile) isOf(patch patch) bool {
	if f.Status == "T" {
		return len(patch) == 2
	}
	return len(patch) == 1 && (patch[0].Old == "" || patch[0].Old == f.From())
}

// fileDiff returns the diff of one file, whatever its size, from row o.skip on.
func (p *pages) fileDiff(ctx context.Context, c comparison, f changedFile, o viewOptions) (fileView, error) {
	v := p.newFileView(c, f, o)
	sizes, err := p.sizes(ctx, c, []changedFile{f}, []int{0})
	if err != nil {
		return v, err
	}
	if v.AsText {
		done, err := p.render(ctx, c, &v, sizes)
		if done || err != nil {
			v.Notes = (&rowMaker{notes: o.remarks[f.Index]}).left(false)
			return v, err
		}
		v.Note, o.rendered = "Too large to show as anything but text", ""
	}
	spec := gitstore.DiffSpec{From: c.from, To: c.to, Paths: f.pathspecs(), MaxBytes: maxPatch, Context: o.context,
		IgnoreSpace: o.noSpace}
	text, cut, err := p.repo.Diff(ctx, spec)
	if err != nil {
		return v, err
	}
	patch, err := filesOf(text)
	if err != nil {
		return v, err
	}
	v.Cut, v.Folded = cut, ""
	return v, p.fill(ctx, c, &v, patch, sizes, o)
}

// fill adds the rows of patch to the view.
func (p *pages) fill(ctx context.Context, c comparison, v *fileView, patch patch, sizes fileSizes,
	o viewOptions) error {
	hunks := patch.hunks()
	if err := p.fillWithoutLines(ctx, c, v, len(hunks) > 0, sizes, o); err != nil {
		return err
	}
	v.CRLF = allCRLF(hunks)
	both := o.noSpace && o.split
	whole, err := p.wholes(ctx, c, v.changedFile, len(hunks) > 0, both, sizes)
	if err != nil {
		return err
	}
	if (v.Status == "M" || v.Status == "R") && !v.Binary {
		v.All = c.diffURL(v.changedFile, o, "context", strconv.Itoa(allContext))
		v.gapsURL = c.url("lines", "path", v.Path, "blame", o.blame)
	}
	maker := rowMaker{split: o.split, crlf: v.CRLF, notes: o.remarks[v.Index], shown: map[shown.Line]bool{}}
	if both {
		maker.old = strings.Split(string(whole[record.SideOld]), "\n")
	}
	parts, next := window(hunks, o.skip)
	maker.tokens = tokensOf(v.changedFile, parts, whole)
	gaps := gapsOf(hunks, whole[record.SideNew])
	for _, h := range parts {
		view := maker.hunk(h.Hunk)
		if gap := gaps[h.index]; h.first && gap.Count > 0 && v.All != "" {
			view.Gap = &gap
		}
		v.Hunks = append(v.Hunks, view)
	}
	if next > 0 {
		v.More = c.diffURL(v.changedFile, o, "skip", strconv.Itoa(next), "context", strconv.Itoa(o.context))
	} else if gap := gaps[len(hunks)]; len(hunks) > 0 && gap.Count > 0 && v.All != "" {
		v.Tail = &gap
	}
	if o.skip == 0 {
		v.Notes = maker.left(next > 0)
	}
	if v.Blamed {
		if why := p.blamed(ctx, c, v.changedFile, v.Hunks); why != "" {
			v.Blamed, v.Note = false, "The authors of the lines are not known: "+why
		}
	}
	return nil
}

// fillWithoutLines adds the images of a binary file, or says why no line of a file is shown.
func (p *pages) fillWithoutLines(ctx context.Context, c comparison, v *fileView, hasLines bool, sizes fileSizes,
	o viewOptions) (err error) {
	switch {
	case v.Binary:
		if v.Images, err = p.images(ctx, c, v.changedFile, sizes); err == nil && v.Images == nil {
			v.Note = "Binary file: nothing to show"
		}
	case hasLines:
	case o.noSpace && v.Lines() > 0 && !v.Cut:
		o.space = "show"
		v.Folded, v.Load = "white space", c.diffURL(v.changedFile, o)
	case v.Status == "A" || v.Status == "D":
		v.Note = "Empty file"
	default:
		v.Note = "No lines changed"
	}
	return err
}

// part is the shown part of a hunk. index is the position of the hunk, and first means that it is shown from its first
// line on.
type part struct {
	unidiff.Hunk
	index int
	first bool
}

// window returns the part of hunks that one response shows, and how many lines precede the next part, 0 at the end. It
// cuts a hunk if necessary.
func window(hunks []unidiff.Hunk, skip int) (shown []part, next int) {
	at, end := 0, skip+rowsShown
	for i, h := range hunks {
		from, to := max(0, skip-at), min(len(h.Lines), end-at)
		if from < to {
			lines := h.Lines[from:to]
			h.Lines = lines
			shown = append(shown, part{h, i, from == 0})
		}
		at += len(hunks[i].Lines)
	}
	if at > end {
		next = end
	}
	return shown, next
}

// allCRLF reports whether every terminated line ends in CR LF, so that no line needs a mark.
func allCRLF(hunks []unidiff.Hunk) bool {
	some := false
	for _, h := range hunks {
		for _, l := range h.Lines {
			carriage := strings.HasSuffix(l.Text, "\r")
			if !carriage && !l.NoEOL {
				return false
			}
			some = some || carriage
		}
	}
	return some
}

// wholes returns the texts of a file by side, if they are needed and small enough: to colour lines in context, to
// count lines, and to get the old text of lines that both sides have.
func (p *pages) wholes(ctx context.Context, c comparison, f changedFile, needed, both bool,
	sizes fileSizes) (map[record.Side][]byte, error) {
	whole := map[record.Side][]byte{}
	if !needed {
		return whole, nil
	}
	for _, side := range sidesOf(c, f) {
		size, there := sizes[side.side][side.path]
		if !there || size > highlightSize || side.side == record.SideOld && !both && syntax.Coloured(f.Path) == nil {
			continue
		}
		text, err := p.repo.Blob(ctx, side.tree, side.path)
		if err != nil {
			return nil, err
		}
		whole[side.side] = text
	}
	return whole, nil
}

// tokensOf returns the tokens of the lines in hunks, by side and number. It scans the whole file if it has it: a line
// alone does not tell whether it is inside a comment. Else it scans each hunk as if nothing were open before it.
func tokensOf(f changedFile, hunks []part, whole map[record.Side][]byte) map[shown.Line][]syntax.Token {
	tokens := map[shown.Line][]syntax.Token{}
	lang := syntax.Coloured(f.Path)
	if lang == nil {
		return tokens
	}
	for _, side := range []record.Side{record.SideOld, record.SideNew} {
		scan, number := syntax.NewScanner(lang), 0
		for line := range bytes.Lines(whole[side]) {
			number++
			tokens[shown.Line{Side: side, Line: number}] = slices.Clone(scan.Line(strings.TrimSuffix(string(line), "\n")))
		}
		if whole[side] != nil {
			continue
		}
		for _, h := range hunks {
			scan := syntax.NewScanner(lang)
			for _, l := range h.Lines {
				if n := numberOf(l, side); n > 0 {
					tokens[shown.Line{Side: side, Line: n}] = slices.Clone(scan.Line(l.Text))
				}
			}
		}
	}
	return tokens
}

// fileSizes maps side and path to the size of a file in bytes.
type fileSizes map[record.Side]map[string]int64

// sizes returns the sizes of the files with the given indexes, on both sides.
func (p *pages) sizes(ctx context.Context, c comparison, list []changedFile, now []int) (fileSizes, error) {
	var before, after []string
	for _, i := range now {
		if list[i].Status != "A" {
			before = append(before, list[i].From())
		}
		if list[i].Status != "D" {
			after = append(after, list[i].Path)
		}
	}
	old, err := p.repo.FileSizes(ctx, c.from, before)
	if err != nil {
		return nil, err
	}
	new, err := p.repo.FileSizes(ctx, c.to, after)
	return fileSizes{record.SideOld: old, record.SideNew: new}, err
}

// numberOf returns the number of the line on a side, or 0 if the side does not have it.
func numberOf(l unidiff.Line, side record.Side) int {
	if side == record.SideOld {
		return l.Old
	}
	return l.New
}

// list returns the files that differ, in git's order.
func (s *Server) list(ctx context.Context, c comparison) (*fileList, error) {
	key := strings.Join(append([]string{string(c.from), string(c.to)}, c.paths...), "\x00")
	s.lists.Lock()
	defer s.lists.Unlock()
	for _, known := range s.lists.kept {
		if known.key == key {
			return known.list, nil
		}
	}
	stats, err := s.repo.DiffStat(ctx, gitstore.DiffSpec{From: c.from, To: c.to, Paths: c.paths})
	if err != nil {
		return nil, err
	}
	changes, err := s.repo.Changed(ctx, c.from, c.to)
	if err != nil {
		return nil, err
	}
	list := newFileList(stats, changes)
	s.lists.kept = append(s.lists.kept, keptList{key, list})
	s.lists.kept = s.lists.kept[max(0, len(s.lists.kept)-listsKept):]
	return list, nil
}

// reviewComparison returns the change under review.
func (s *Server) reviewComparison(ctx context.Context, review record.Review) (comparison, error) {
	subject := review.Request.Subject
	c := comparison{to: subject.Tree, at: subject.Commit, paths: subject.Paths, base: "/review/" + review.ID}
	if subject.Commit == "" {
		c.at, c.unnamed = subject.Tree, subject.Tree
	}
	var err error
	c.from, err = s.Store.ComparedWith(ctx, subject)
	return c, err
}

// fileOf returns the file under review called name; fileList.find explains which names match.
func (s *Server) fileOf(ctx context.Context, review record.Review, name string) (changedFile, error) {
	c, err := s.reviewComparison(ctx, review)
	if err != nil {
		return changedFile{}, err
	}
	list, err := s.list(ctx, c)
	if err != nil {
		return changedFile{}, err
	}
	file, known := list.find(name)
	if !known {
		err = &record.NotFoundError{What: "file", ID: name}
	}
	return file, err
}
