package locate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/anchor"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Placed is the place of a comment's lines in another version. If they cannot be found, Outdated is set, Why gives the
// reason, and File and the lines are the last known place.
type Placed struct {
	File      string `json:"file,omitempty"`       // "" for a comment on the whole change
	StartLine int    `json:"start_line,omitempty"` // 0 for a comment on a file
	EndLine   int    `json:"end_line,omitempty"`
	Moved     bool   `json:"moved,omitempty"` // to another file or other lines
	Outdated  bool   `json:"outdated,omitempty"`
	Why       string `json:"why,omitempty"`
}

// Reasons why a comment has no place, in addition to those of package anchor.
const (
	whyGone    = "the file is gone"
	whyBinary  = "the file is binary now"
	whyLarge   = "the file is too large to look into"
	whyUnknown = "the content of the lines is no longer known"
)

// Place finds a comment's lines in the commit or tree at. It compares the two versions directly, so it works across
// commits, amends and rebases. For a comment on the old side, at is the base in which it is shown, or a later version,
// where the comment is outdated unless its text is there again. Place returns gitstore.ErrNotFound if at is not in this
// clone; the comment's own commit and blob may be missing.
func Place(ctx context.Context, s *store.Store, c record.Comment, at gitstore.ID) (Placed, error) {
	placed, err := Places(ctx, s, []record.Comment{c}, at)
	if err != nil {
		return Placed{}, err
	}
	return placed[0], nil
}

// Places is Place for several comments, in their order. It does less work for comments on the same file.
func Places(ctx context.Context, s *store.Store, comments []record.Comment, at gitstore.ID) ([]Placed, error) {
	tree, err := s.Repo.TreeOf(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("place comments: %w", err)
	}
	p := newPlacer(s, tree)
	placed := make([]Placed, len(comments))
	for i, c := range comments {
		if placed[i], err = p.place(ctx, c); err != nil {
			return nil, fmt.Errorf("place comment %s: %w", c.ID, err)
		}
	}
	return placed, nil
}

// placer places comments in one tree. It keeps what it has read and compared for the next comment.
type placer struct {
	repo     *gitstore.Repo
	at       gitstore.ID
	found    map[renamesKey]map[string]string // renames
	compared map[versions]*anchor.Relocation
	texts    map[gitstore.ID]version
}

func newPlacer(s *store.Store, at gitstore.ID) *placer {
	return &placer{s.Repo, at, map[renamesKey]map[string]string{}, map[versions]*anchor.Relocation{},
		map[gitstore.ID]version{}}
}

type renamesKey struct {
	from      gitstore.ID
	rewritten bool
}

// versions are two versions of a file, as their blobs.
type versions struct{ old, new gitstore.ID }

// version is the content of a file.
type version struct {
	id   gitstore.ID
	text []byte // nil if unknown
	rows []string
	why  string // why there are no lines
}

func (p *placer) place(ctx context.Context, c record.Comment) (Placed, error) {
	if c.File == "" {
		return Placed{}, nil
	}
	now, err := p.version(ctx, p.at, c.File)
	gone := errors.Is(err, gitstore.ErrNotFound)
	if err != nil && !gone {
		return Placed{}, err
	}
	placed := Placed{File: c.File, StartLine: c.StartLine, EndLine: cmp.Or(c.EndLine, c.StartLine)}
	if gone {
		placed.Outdated, placed.Why = true, whyGone
	} else if err := p.lines(ctx, c, now, &placed); err != nil {
		return placed, err
	}
	if !placed.Outdated {
		return placed, nil
	}
	return p.placeRenamed(ctx, c, placed, !gone)
}

// placeRenamed searches the renamed file of a comment; without one it returns placed.
func (p *placer) placeRenamed(ctx context.Context, c record.Comment, placed Placed, rewritten bool) (Placed, error) {
	renames, err := p.renames(ctx, c.Commit, rewritten)
	file := renames[p.repo.RealPath(ctx, c.Commit, c.File)]
	if err != nil || file == "" {
		return placed, err
	}
	now, err := p.version(ctx, p.at, file)
	if err != nil {
		return placed, err
	}
	renamed := Placed{File: file, StartLine: placed.StartLine, EndLine: placed.EndLine, Moved: true}
	err = p.lines(ctx, c, now, &renamed)
	if rewritten && renamed.Outdated {
		return placed, err
	}
	return renamed, err
}

// lines finds the comment's lines in a version of its file.
func (p *placer) lines(ctx context.Context, c record.Comment, now version, placed *Placed) error {
	if c.StartLine == 0 {
		return nil
	}
	old, err := p.old(ctx, c)
	if err != nil {
		return err
	}
	start, end, why := p.relocate(c, old, now, placed.EndLine)
	if why != "" {
		placed.Outdated, placed.Why = true, why
		return nil
	}
	placed.Moved = placed.Moved || start != placed.StartLine
	placed.StartLine, placed.EndLine = start, end
	return nil
}

// relocate compares the two versions. It prefers the old version, if known, to the quotation, from which secrets are
// removed.
func (p *placer) relocate(c record.Comment, old, now version, end int) (newStart, newEnd int, why string) {
	if now.why != "" {
		return 0, 0, now.why
	}
	quoted, known := anchor.Selected(old.rows, c.StartLine, end)
	switch {
	case !known && c.SelectedText == "" && old.id != "" && old.why == "":
		return 0, 0, anchor.WhyRange
	case !known && c.SelectedText == "":
		return 0, 0, whyUnknown
	case !known:
		return anchor.Relocate(nil, now.text, c.StartLine, end, c.SelectedText)
	case old.id == now.id:
		return c.StartLine, end, ""
	}
	both := versions{old.id, now.id}
	if p.compared[both] == nil {
		p.compared[both] = anchor.NewRelocation(old.text, now.text)
	}
	return p.compared[both].Find(c.StartLine, end, quoted)
}

// old returns the version on which the comment was made; it is empty if that is missing.
func (p *placer) old(ctx context.Context, c record.Comment) (version, error) {
	old, err := p.read(ctx, c.Blob)
	if err == nil && old.why == "" {
		return old, nil
	}
	if err != nil && !absent(err) {
		return version{}, err
	}
	old, err = p.version(ctx, c.Commit, c.File)
	if c.Commit == "" || absent(err) || c.Blob != "" && old.id != c.Blob {
		return version{}, nil
	}
	return old, err
}

// absent reports whether an object is missing, damaged or too large. The caller then goes on without it.
func absent(err error) bool {
	return errors.Is(err, gitstore.ErrNotFound) || errors.Is(err, gitstore.ErrCorrupt) ||
		errors.Is(err, gitstore.ErrTooLarge)
}

// version reads a file of a commit or tree. For a submodule it returns the line that git diff shows.
func (p *placer) version(ctx context.Context, treeish gitstore.ID, file string) (version, error) {
	entry, err := p.repo.File(ctx, treeish, file)
	if err != nil {
		return version{}, err
	}
	if entry.Mode == gitstore.ModeCommit {
		text := fmt.Appendf(nil, "Subproject commit %s\n", entry.ID)
		return version{id: blobID(p.repo.SHA256(), text), text: text, rows: anchor.SplitLines(string(text))}, nil
	}
	return p.read(ctx, entry.ID)
}

// read reads a blob. If the blob is too large, the version has no lines.
func (p *placer) read(ctx context.Context, id gitstore.ID) (version, error) {
	if known, ok := p.texts[id]; ok {
		return known, nil
	}
	text, err := p.repo.ReadBlob(ctx, id)
	v := version{id: id, text: text}
	switch {
	case errors.Is(err, gitstore.ErrTooLarge):
		v.why, err = whyLarge, nil
	case err != nil:
		return version{}, err
	case bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0: // git's rule
		v.why = whyBinary
	default:
		v.rows = anchor.SplitLines(string(text))
	}
	p.texts[id] = v
	return v, err
}

// renames returns the renames between the comment's commit and the tree, or none if git cannot detect them because the
// commit is missing or the change too large.
func (p *placer) renames(ctx context.Context, from gitstore.ID, rewritten bool) (map[string]string, error) {
	key := renamesKey{from, rewritten}
	if known, ok := p.found[key]; ok || from == "" {
		return known, nil
	}
	renames, err := p.repo.Renames(ctx, from, p.at, rewritten)
	if absent(err) || errors.As(err, new(*gitstore.GitError)) {
		renames, err = nil, nil
	}
	p.found[key] = renames
	return renames, err
}

// anchoredText reads the file of c in the version of c. A file of the old version may be given by its new name, and
// gets its old name. A comment on the whole of a deleted file moves to the old side.
func anchoredText(ctx context.Context, s *store.Store, subject record.Subject, c *record.Comment) ([]byte, error) {
	p := newPlacer(s, subject.Tree)
	now, err := p.version(ctx, c.Commit, c.File)
	if noSuchFile(err) && c.Side == record.SideNew && c.StartLine == 0 {
		if old, oldErr := p.version(ctx, subject.Base, c.File); oldErr == nil {
			c.Side, c.Commit = record.SideOld, subject.Base
			return old.text, nil
		}
	}
	if noSuchFile(err) && c.Side == record.SideOld {
		now, err = p.oldName(ctx, subject, c, err)
	}
	if err == nil && now.why == whyLarge {
		return nil, &record.InputError{Why: fmt.Sprintf("%q is too large to comment on", c.File)}
	}
	return now.text, err
}

// noSuchFile reports whether a version lacks a file. It is false if the version itself is missing.
func noSuchFile(err error) bool {
	return errors.Is(err, gitstore.ErrNotFound) && !errors.As(err, new(*gitstore.MissingError))
}

// oldName reads the file that c gives by the name that the change gave it.
func (p *placer) oldName(ctx context.Context, subject record.Subject, c *record.Comment,
	notFound error) (version, error) {
	renames, err := p.renames(ctx, subject.Base, false)
	if err != nil {
		return version{}, err
	}
	for from, to := range renames {
		if to == c.File {
			c.File = from
			return p.version(ctx, c.Commit, from)
		}
	}
	return version{}, notFound
}
