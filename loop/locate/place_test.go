package locate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

const anchorSource = `package a

func load(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return parse(data)
}
`

// anchorRepo returns a repository whose last commit changes a.go.
func anchorRepo(t *testing.T) (*store.Store, string) {
	testrepo.Isolate(t)
	dir := t.TempDir()
	testrepo.Git(t, dir, "init", "-q", "-b", "main")
	commitFiles(t, dir, "first",
		map[string]string{"a.go": strings.Replace(anchorSource, "parse(data)", "parse(string(data))", 1),
			"gone.txt": "one\ntwo\n", "old.txt": strings.Repeat("some line\n", 9) + "last\n"})
	testrepo.Git(t, dir, "rm", "-q", "gone.txt")
	testrepo.Git(t, dir, "mv", "old.txt", "new.txt")
	commitFiles(t, dir, "second", map[string]string{"a.go": anchorSource,
		"new.txt": strings.Repeat("some line\n", 9) + "final\n", "logo.png": "\x89PNG\x00\n"})
	return runtest.GitStore(t, dir), dir
}

func commitFiles(t *testing.T, dir, message string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		testrepo.WriteFile(t, dir, name, text)
	}
	testrepo.Git(t, dir, "add", "-A")
	testrepo.Git(t, dir, "commit", "-q", "-m", message)
}

// anchorAt returns a comment on HEAD.
func anchorAt(t *testing.T, s *store.Store, file string, side record.Side, start, end int) record.Comment {
	t.Helper()
	subject, err := s.Subject(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	c, err := AnchorComment(context.Background(), s, subject, record.Comment{File: file, Side: side, StartLine: start,
		EndLine: end})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wantAt(t *testing.T, s *store.Store, c record.Comment, rev, want string) {
	t.Helper()
	at, err := s.Repo.Resolve(context.Background(), rev)
	if err != nil {
		t.Fatal(err)
	}
	placed, err := Place(context.Background(), s, c, at)
	if err != nil || placed.text() != want {
		t.Errorf("at %s: %s, %v; want %s", rev, placed.text(), err, want)
	}
}

func TestPlaceAfterRename(t *testing.T) {
	s, dir := anchorRepo(t)
	c := anchorAt(t, s, "a.go", record.SideNew, 4, 4)
	testrepo.Git(t, dir, "mv", "a.go", "b.go")
	commitFiles(t, dir, "rename", map[string]string{"b.go": "// Command b.\n" + anchorSource})
	wantAt(t, s, c, "HEAD", "moved b.go:5")
	wantAt(t, s, c, "HEAD~1", "a.go:4")
}

func TestPlaceAfterAmend(t *testing.T) {
	s, dir := anchorRepo(t)
	c := anchorAt(t, s, "a.go", record.SideNew, 8, 8)
	long := anchorAt(t, s, "a.go", record.SideNew, 4, 4)
	deleted := anchorAt(t, s, "a.go", record.SideOld, 8, 8)
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("// New.\n"+anchorSource), 0o666); err != nil {
		t.Fatal(err)
	}
	testrepo.Git(t, dir, "commit", "-q", "-a", "--amend", "-m", "amended")
	wantAt(t, s, c, "HEAD", "moved a.go:9")
	wantAt(t, s, deleted, "HEAD~1", "a.go:8")
	wantAt(t, s, deleted, "HEAD", "outdated: the lines were changed")
	testrepo.Git(t, dir, "reflog", "expire", "--expire=now", "--all")
	testrepo.Git(t, dir, "gc", "-q", "--prune=now")
	s = runtest.GitStore(t, dir)
	if _, err := s.Repo.ReadCommit(context.Background(), c.Commit); !errors.Is(err, gitstore.ErrNotFound) {
		t.Fatalf("the commit should be gone: %v", err)
	}
	// the quoted text alone is too short
	wantAt(t, s, c, "HEAD", "outdated: the same words are elsewhere, but between other lines")
	wantAt(t, s, long, "HEAD", "moved a.go:5")
}

func TestPlaceAfterRebase(t *testing.T) {
	s, dir := anchorRepo(t)
	c := anchorAt(t, s, "a.go", record.SideNew, 8, 8)
	whole := anchorAt(t, s, "new.txt", record.SideNew, 0, 0)
	testrepo.Git(t, dir, "switch", "-q", "-c", "other", "HEAD~1")
	commitFiles(t, dir, "other",
		map[string]string{"a.go": "// Package a.\n" + strings.Replace(anchorSource, "parse(data)", "parse(string(data))", 1)})
	testrepo.Git(t, dir, "rebase", "-q", "other", "main")
	wantAt(t, s, c, "main", "moved a.go:9")
	wantAt(t, s, whole, "main", "new.txt")
	wantAt(t, s, c, "other", "outdated: the lines were changed")
}

func TestAnchorFillsIn(t *testing.T) {
	s, dir := anchorRepo(t)
	head, base := gitstore.ID(testrepo.Git(t, dir, "rev-parse", "HEAD")),
		gitstore.ID(testrepo.Git(t, dir, "rev-parse", "HEAD~1"))
	blob := func(rev string) gitstore.ID { return gitstore.ID(testrepo.Git(t, dir, "rev-parse", rev)) }
	for name, test := range map[string]struct {
		file       string
		side       record.Side
		start, end int
		want       record.Comment
	}{
		"a line": {"a.go", record.SideNew, 4, 0,
			record.Comment{File: "a.go", StartLine: 4, EndLine: 4, SelectedText: "\tdata, err := os.ReadFile(path)",
				Side: record.SideNew, Commit: head, Blob: blob("HEAD:a.go")}},
		"a range": {"./a.go", "", 8, 9,
			record.Comment{File: "a.go", StartLine: 8, EndLine: 9, SelectedText: "\treturn parse(data)\n}", Side: record.SideNew,
				Commit: head, Blob: blob("HEAD:a.go")}},
		"the old side": {"a.go", record.SideOld, 8, 8,
			record.Comment{File: "a.go", StartLine: 8, EndLine: 8, SelectedText: "\treturn parse(string(data))",
				Side: record.SideOld, Commit: base, Blob: blob("HEAD~1:a.go")}},
		"a deleted file's line": {"gone.txt", record.SideOld, 2, 2,
			record.Comment{File: "gone.txt", StartLine: 2, EndLine: 2, SelectedText: "two", Side: record.SideOld, Commit: base,
				Blob: blob("HEAD~1:gone.txt")}},
		"a deleted file": {"gone.txt", record.SideNew, 0, 0,
			record.Comment{File: "gone.txt", Side: record.SideOld, Commit: base, Blob: blob("HEAD~1:gone.txt")}},
		"the old side by new name": {"new.txt", record.SideOld, 10, 10,
			record.Comment{File: "old.txt", StartLine: 10, EndLine: 10, SelectedText: "last", Side: record.SideOld, Commit: base,
				Blob: blob("HEAD~1:old.txt")}},
		"a binary file": {"logo.png", record.SideNew, 0, 0,
			record.Comment{File: "logo.png", Side: record.SideNew, Commit: head, Blob: blob("HEAD:logo.png")}},
		"the whole": {"", record.SideNew, 0, 0, record.Comment{Commit: head}},
	} {
		if c := anchorAt(t, s, test.file, test.side, test.start, test.end); c != test.want {
			t.Errorf("%s: %+v\nwant %+v", name, c, test.want)
		}
	}
}

func TestAnchorRefuses(t *testing.T) {
	s, _ := anchorRepo(t)
	subject, err := s.Subject(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		file       string
		side       record.Side
		start, end int
		notFound   bool
	}{
		"no such file":            {"b.go", record.SideNew, 1, 1, true},
		"a directory":             {".", record.SideNew, 0, 0, true},
		"outside":                 {"../a.go", record.SideNew, 0, 0, true},
		"deleted":                 {"gone.txt", record.SideNew, 1, 1, true},
		"not there before":        {"logo.png", record.SideOld, 0, 0, true},
		"line beyond the end":     {"a.go", record.SideNew, 10, 10, false},
		"range beyond the end":    {"a.go", record.SideNew, 9, 10, false},
		"backwards":               {"a.go", record.SideNew, 5, 4, false},
		"negative":                {"a.go", record.SideNew, -1, 4, false},
		"an end without a start":  {"a.go", record.SideNew, 0, 4, false},
		"a line of a binary file": {"logo.png", record.SideNew, 1, 1, false},
		"a third side":            {"a.go", "left", 1, 1, false},
	} {
		c, err := AnchorComment(context.Background(), s, subject, record.Comment{File: test.file, Side: test.side,
			StartLine: test.start, EndLine: test.end})
		var input *record.InputError
		if errors.Is(err, gitstore.ErrNotFound) != test.notFound || errors.As(err, &input) == test.notFound {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

func TestPlacesKeepTheirOrder(t *testing.T) {
	s, dir := anchorRepo(t)
	comments := []record.Comment{anchorAt(t, s, "new.txt", record.SideNew, 10, 10),
		anchorAt(t, s, "a.go", record.SideNew, 4, 4), {Comment: "on the whole"},
		anchorAt(t, s, "new.txt", record.SideNew, 0, 0), anchorAt(t, s, "a.go", record.SideNew, 1, 1)}
	commitFiles(t, dir, "third", map[string]string{"a.go": "// a\n" + anchorSource})
	at, err := s.Repo.Resolve(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	placed, err := Places(context.Background(), s, comments, at)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"new.txt:10", "moved a.go:5", "", "new.txt", "moved a.go:2"} {
		if placed[i].text() != want {
			t.Errorf("%d: %s, want %s", i, placed[i].text(), want)
		}
	}
	if _, err := Places(context.Background(), s, comments, gitstore.ID(strings.Repeat("12", 20))); !errors.Is(err,
		gitstore.ErrNotFound) {
		t.Errorf("at nothing: %v", err)
	}
}

// A comment of another program may contain anything.
func TestPlaceForeignComments(t *testing.T) {
	s, _ := anchorRepo(t)
	good := anchorAt(t, s, "a.go", record.SideNew, 4, 4)
	with := func(change func(*record.Comment)) record.Comment {
		c := good
		change(&c)
		return c
	}
	for name, test := range map[string]struct {
		comment record.Comment
		want    string
	}{
		"lines that never were": {with(func(c *record.Comment) { c.StartLine, c.EndLine = 90, 95 }),
			"outdated: the file never had these lines"},
		"backwards": {with(func(c *record.Comment) { c.StartLine, c.EndLine = 7, 4 }),
			"outdated: the file never had these lines"},
		"negative": {with(func(c *record.Comment) { c.StartLine = -3 }),
			"outdated: the file never had these lines"},
		"ids that are none":    {with(func(c *record.Comment) { c.Commit, c.Blob = "--all", "HEAD" }), "a.go:4"},
		"a commit as its blob": {with(func(c *record.Comment) { c.Blob = c.Commit }), "a.go:4"},
		"no blob":              {with(func(c *record.Comment) { c.Blob = "" }), "a.go:4"},
		"a path out of the tree": {with(func(c *record.Comment) { c.File = "../../etc/passwd" }),
			"outdated: the file is gone"},
		"lines that never were, without their text": {with(func(c *record.Comment) {
			c.StartLine, c.EndLine, c.SelectedText = 90, 95, ""
		}), "outdated: the file never had these lines"},
		"only lines": {record.Comment{File: "a.go", StartLine: 4}, "outdated: the content of the lines is no longer known"},
	} {
		placed, err := Place(context.Background(), s, test.comment, good.Commit)
		if err != nil || placed.text() != test.want {
			t.Errorf("%s: %s, %v; want %s", name, placed.text(), err, test.want)
		}
	}
}
