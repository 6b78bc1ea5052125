// Package editdiff lets a person comment on a diff in an editor: it makes the text from a patch, and parses what the
// person wrote.
package editdiff

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// editHelp is the help above the diff. Lines with its mark are ignored when the text is parsed.
const (
	helpMark = "#!"
	editHelp = `#! The verdict is approve, request changes or comment.
#! What you write here, above the diff, is about the change as a whole.
#! To comment on a line, write below it; begin with anything but + - @ \ or a blank.
#! Begin with ^3 to mean the three lines above you. Below a file's name you comment on
#! the file, below a line with @@ on that whole part. Leave the diff's own lines as they
#! are. If you change nothing, or empty the file, nothing is recorded.
`
)

// Text is a diff in the form that a person edits.
type Text struct {
	text  string
	patch []string
}

// String returns the text for the editor.
func (e Text) String() string { return e.text }

// newText returns the text for a patch from gitstore.Repo.Diff. notes are lines for the reader.
func newText(patch []byte, notes []string) Text {
	var b strings.Builder
	b.WriteString("verdict: comment\n\n" + editHelp)
	for _, note := range notes {
		fmt.Fprintf(&b, "%s %s\n", helpMark, safetext.Line(note))
	}
	b.WriteString("\n")
	text := strings.TrimSuffix(string(patch), "\n")
	return Text{text: b.String() + text + "\n", patch: strings.Split(text, "\n")}
}

// Written is what a person wrote.
type Written struct {
	Decision record.Decision // CommentOnly without a verdict
	Message  string          // on the whole change
	Comments []Comment       // in the order of the text
}

// Comment is a comment on lines of one side of a file, or, if Start is 0, on the whole file. Side is "" for a whole
// file.
type Comment struct {
	Path       string
	Side       record.Side
	Start, End int
	Text       string // Markdown
	Line       int    // its first line in the edited text, from 1
}

// Empty reports whether nothing was written.
func (w Written) Empty() bool {
	return w.Decision == record.CommentOnly && w.Message == "" && len(w.Comments) == 0
}

// Parse parses the edited text. Its errors are of type *lineError. All lines of the patch must be there in their order;
// everything between them is comments, each about the line above. The first line of a comment must not look like a line
// of a diff, so that a duplicated or invented diff line is an error. An emptied file is an empty result.
func (e Text) Parse(saved string) (Written, error) {
	lines := strings.Split(strings.TrimPrefix(saved, "\uFEFF"), "\n")
	at, ok := e.align(lines)
	if !ok {
		if !slices.ContainsFunc(lines, func(l string) bool { return !isBlank(l) && !strings.HasPrefix(l, helpMark) }) {
			return Written{Decision: record.CommentOnly}, nil
		}
		return Written{}, e.mismatch(lines)
	}
	result, err := parseTop(lines[:at[0]])
	if err != nil {
		return Written{}, err
	}
	places := readPatch(e.patch)
	for i, from := range at {
		to := len(lines)
		if i+1 < len(at) {
			to = at[i+1]
		}
		comment, err := parseComment(lines[from+1:to], from+2, places[i])
		if err != nil {
			return Written{}, err
		}
		if comment.Text != "" {
			result.Comments = append(result.Comments, comment)
		}
	}
	return result, nil
}

// align finds the patch's lines in the edited file. Some editors remove trailing blanks; align ignores these only if
// the lines do not match otherwise.
func (e Text) align(lines []string) (at []int, ok bool) {
	if at, ok = alignLast(lines, e.patch, func(a, b string) bool { return a == b }); ok {
		return at, true
	}
	return alignLast(lines, e.patch, equalBeforeBlanks)
}

func equalBeforeBlanks(a, b string) bool {
	return strings.TrimRight(a, " \t\r") == strings.TrimRight(b, " \t\r")
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// alignLast matches from the end: if a line of a comment equals the next line of the diff, the later one is the diff's.
func alignLast(lines, patch []string, equal func(a, b string) bool) (at []int, ok bool) {
	at = make([]int, len(patch))
	k := len(patch) - 1
	for i := len(lines) - 1; i >= 0 && k >= 0; i-- {
		if equal(lines[i], patch[k]) {
			at[k] = i
			k--
		}
	}
	return at, k < 0
}

// mismatch reports which line of the patch is missing, and where it should be.
func (e Text) mismatch(lines []string) error {
	k, next := 0, 0
	for i, line := range lines {
		if k < len(e.patch) && equalBeforeBlanks(line, e.patch[k]) {
			k, next = k+1, i+1
		}
	}
	missing := safetext.Line(e.patch[min(k, len(e.patch)-1)])
	return &lineError{next + 1, fmt.Sprintf("do not change the diff's own lines; this one was %q", missing)}
}

// parseTop parses the part above the diff.
func parseTop(lines []string) (Written, error) {
	result := Written{Decision: record.CommentOnly}
	var message []string
	given := false
	for i, line := range lines {
		value, isVerdict := cutVerdict(line)
		switch {
		case strings.HasPrefix(line, helpMark):
		case isVerdict && given:
			return Written{}, &lineError{i + 1, "there is already a verdict above"}
		case isVerdict:
			given = true
			var ok bool
			if result.Decision, ok = decisionOf(value); !ok {
				return Written{}, &lineError{i + 1, fmt.Sprintf("unknown verdict %q: use approve, request changes or comment",
					safetext.Line(value))}
			}
		default:
			message = append(message, strings.TrimSuffix(line, "\r"))
		}
	}
	result.Message = trimBlankLines(message)
	return result, nil
}

// cutVerdict parses "verdict: VALUE".
func cutVerdict(line string) (value string, ok bool) {
	name, value, ok := strings.Cut(line, ":")
	return strings.TrimSpace(value), ok && strings.EqualFold(name, "verdict")
}

func decisionOf(value string) (record.Decision, bool) {
	decision, ok := map[string]record.Decision{
		"approve": record.Approve, "approved": record.Approve, "request changes": record.RequestChanges,
		"changes requested": record.RequestChanges, "comment": record.CommentOnly, "": record.CommentOnly,
	}[strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(value))]
	return decision, ok
}

// parseComment parses the lines below a line of the diff; first is the number of the first one. Blank lines alone are
// no comment: the text is "".
func parseComment(lines []string, first int, place patchPlace) (Comment, error) {
	begin := slices.IndexFunc(lines, func(l string) bool { return !isBlank(l) })
	if begin < 0 {
		return Comment{}, nil
	}
	at := first + begin
	if line := lines[begin]; strings.ContainsRune("+-@\\ \t", rune(line[0])) || strings.HasPrefix(line, "diff --git ") {
		return Comment{}, &lineError{at, "not a line of the diff; a comment must not begin like one"}
	}
	text := each.Of(lines[begin:], func(line string) string { return strings.TrimSuffix(line, "\r") })
	if n, rest, ok := cutUpwards(text[0]); ok {
		text[0] = rest
		if place, ok = place.upwards(n); !ok {
			return Comment{}, &lineError{at, fmt.Sprintf("there are fewer than %s of one side above it", prose.Count(n, "line"))}
		}
	}
	comment := Comment{Path: place.path(), Side: place.side, Start: place.start, End: place.end,
		Text: trimBlankLines(text), Line: at}
	if comment.Text == "" {
		return Comment{}, &lineError{at, "the comment is empty"}
	}
	return comment, nil
}

// cutUpwards parses "^N TEXT".
func cutUpwards(line string) (n int, rest string, ok bool) {
	mark, rest, _ := strings.Cut(line, " ")
	digits, ok := strings.CutPrefix(mark, "^")
	n, err := strconv.Atoi(digits)
	return n, rest, ok && err == nil && n > 0
}

func trimBlankLines(lines []string) string {
	for len(lines) > 0 && isBlank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && isBlank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

// lineError is an error in a line of the edited text.
type lineError struct {
	Line int // from 1
	Why  string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// patchPlace is the place to which a line of a patch belongs: lines of one side of a file, or the whole file if start
// is 0.
type patchPlace struct {
	file       *unidiff.File
	side       record.Side
	start, end int
	first      int // where the hunk begins on that side
}

// path returns the file's name on the place's side.
func (p patchPlace) path() string {
	if p.side == record.SideOld {
		return p.file.Old
	}
	return p.file.Path()
}

// upwards extends the place to n lines ending at it, or returns false if the hunk has too few lines on that side.
func (p patchPlace) upwards(n int) (patchPlace, bool) {
	p.start = p.end - n + 1
	return p, n >= 1 && p.end > 0 && p.start >= p.first
}

// readPatch returns the place of each row of a patch.
func readPatch(rows []string) []patchPlace {
	places := slices.Repeat([]patchPlace{{file: &unidiff.File{}}}, len(rows))
	for f := range unidiff.Files(strings.Join(rows, "\n") + "\n") {
		for i := range strings.Count(f.Text, "\n") {
			places[f.Row+i].file = &f
		}
		for _, h := range f.Hunks {
			placeHunk(places, &f, h)
		}
	}
	return places
}

// placeHunk sets the places of a hunk's rows. The heading is the place of the whole hunk; a context line is a place on
// the new side.
func placeHunk(places []patchPlace, file *unidiff.File, h unidiff.Hunk) {
	places[h.Row] = patchPlace{file, record.SideNew, h.NewStart, h.NewStart + h.NewCount - 1, h.NewStart}
	if h.NewCount == 0 {
		places[h.Row] = patchPlace{file, record.SideOld, h.OldStart, h.OldStart + h.OldCount - 1, h.OldStart}
	}
	for _, l := range h.Lines {
		place := patchPlace{file, record.SideNew, l.New, l.New, h.NewStart}
		if l.Kind == '-' {
			place = patchPlace{file, record.SideOld, l.Old, l.Old, h.OldStart}
		}
		places[l.Row] = place
		if l.NoEOL {
			places[l.Row+1] = place
		}
	}
}

// maxPatch is the maximum size in bytes of a diff opened in an editor.
const maxPatch = 32 << 20

// ErrNoLines reports a change without lines to comment on.
var ErrNoLines = errors.New("no line is changed")

// File is the file that a person edits. Its name is derived from the change, so that a person who returns to the same
// change finds an earlier text.
type File struct {
	Text
	Path  string
	Found bool // it existed already
}

// Open creates the file for a change, unless it exists. draft is the person's existing draft.
func Open(ctx context.Context, store *store.Store, subject record.Subject, draft store.Draft) (File, error) {
	change, err := reviewing.ReadChange(ctx, store, subject,
		role.Limits{Binary: true, Opens: true, Generated: true, MaxBytes: maxPatch})
	if err != nil {
		return File{}, err
	}
	if len(change.Patch) == 0 {
		return File{}, ErrNoLines
	}
	name := sha256.Sum256(change.Patch)
	made := File{
		Text: newText(change.Patch, notes(subject, change, draft)),
		Path: filepath.Join(store.Repo.StateDir(), "edit", hex.EncodeToString(name[:6])+".diff"),
	}
	if text, err := made.Read(); err == nil && text != "" {
		made.Found = true
		return made, nil
	}
	if err := safefile.WriteFile(made.Path, []byte(made.String()), 0o600); err != nil {
		return made, fmt.Errorf("open the diff: %w", err)
	}
	return made, nil
}

// notes returns lines that say what the diff is, and what it leaves out.
func notes(subject record.Subject, change reviewing.Change, draft store.Draft) []string {
	lines := []string{fmt.Sprintf("The change: %s %s", subject.Spec, subject.Title)}
	for _, m := range subject.Messages {
		lines = append(lines, "commit "+m.Commit.Short())
		for line := range strings.Lines(m.Text) {
			lines = append(lines, "    "+strings.TrimRight(line, "\r\n"))
		}
	}
	for _, left := range change.Census.LeftOut {
		lines = append(lines, fmt.Sprintf("Not shown (%s): %s", left.Why, left.Path))
	}
	if n := len(draft.Comments); n > 0 {
		lines = append(lines, fmt.Sprintf("Your draft has %s already, to be submitted with this.", prose.Count(n, "comment")))
	}
	return lines
}

// Read returns the file's text. A missing file counts as empty.
func (f File) Read() (string, error) {
	text, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read what was written: %w", err)
	}
	return string(text), nil
}

// Untouched reports whether nothing was written into the file.
func (f File) Untouched() bool {
	text, err := f.Read()
	if err != nil {
		return false
	}
	written, err := f.Parse(text)
	return err == nil && written.Empty()
}

// Drop removes the file. If that fails, the text is offered again.
func (f File) Drop() { os.Remove(f.Path) }

// Bind binds the comments to the files of subject. An error names the line of the text.
func (w Written) Bind(ctx context.Context, store *store.Store, subject record.Subject) ([]record.Comment, error) {
	var bound []record.Comment
	for _, said := range w.Comments {
		comment, err := locate.AnchorComment(ctx, store, subject, record.Comment{File: said.Path, Side: said.Side,
			StartLine: said.Start, EndLine: said.End})
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", said.Line, err)
		}
		comment.Comment = said.Text
		bound = append(bound, comment)
	}
	return bound, nil
}
