package record

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-runr/gitstore"
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

// anchorRepo is a repository whose last commit changes a.go.
func anchorRepo(t *testing.T) (*Store, string) {
	plainGit(t)
	dir := t.TempDir()
	runGit(t, dir, nil, "init", "-q", "-b", "main")
	commitFiles(t, dir, "first", map[string]string{"a.go": strings.Replace(anchorSource, "parse(data)", "parse(string(data))", 1), "gone.txt": "one\ntwo\n", "old.txt": strings.Repeat("some line\n", 9) + "last\n"})
	runGit(t, dir, nil, "rm", "-q", "gone.txt")
	runGit(t, dir, nil, "mv", "old.txt", "new.txt")
	commitFiles(t, dir, "second", map[string]string{"a.go": anchorSource, "new.txt": strings.Repeat("some line\n", 9) + "final\n", "logo.png": "\x89PNG\x00\n"})
	return gitStore(t, dir), dir
}

func commitFiles(t *testing.T, dir, message string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	runGit(t, dir, nil, "add", "-A")
	runGit(t, dir, nil, "commit", "-q", "-m", message)
}

// anchorAt comments on HEAD.
func anchorAt(t *testing.T, s *Store, file string, side Side, start, end int) Comment {
	t.Helper()
	subject, err := s.Subject(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Anchor(context.Background(), subject, file, side, start, end)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wantAt(t *testing.T, s *Store, c Comment, rev, want string) {
	t.Helper()
	at, err := s.Repo.Resolve(context.Background(), rev)
	if err != nil {
		t.Fatal(err)
	}
	placed, err := s.Place(context.Background(), c, at)
	if err != nil || placed.text() != want {
		t.Errorf("at %s: %s, %v; want %s", rev, placed.text(), err, want)
	}
}

func TestPlaceAfterRename(t *testing.T) {
	s, dir := anchorRepo(t)
	c := anchorAt(t, s, "a.go", SideNew, 4, 4)
	runGit(t, dir, nil, "mv", "a.go", "b.go")
	commitFiles(t, dir, "rename", map[string]string{"b.go": "// Command b.\n" + anchorSource})
	wantAt(t, s, c, "HEAD", "moved b.go:5")
	wantAt(t, s, c, "HEAD~1", "a.go:4")
}

func TestPlaceAfterAmend(t *testing.T) {
	s, dir := anchorRepo(t)
	c := anchorAt(t, s, "a.go", SideNew, 8, 8)
	long := anchorAt(t, s, "a.go", SideNew, 4, 4)
	deleted := anchorAt(t, s, "a.go", SideOld, 8, 8)
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("// New.\n"+anchorSource), 0o666); err != nil {
		t.Fatal(err)
	}
	runGit(t, dir, nil, "commit", "-q", "-a", "--amend", "-m", "amended")
	wantAt(t, s, c, "HEAD", "moved a.go:9")
	wantAt(t, s, deleted, "HEAD~1", "a.go:8")
	wantAt(t, s, deleted, "HEAD", "outdated: the lines were changed")
	runGit(t, dir, nil, "reflog", "expire", "--expire=now", "--all")
	runGit(t, dir, nil, "gc", "-q", "--prune=now")
	s = gitStore(t, dir)
	if _, err := s.Repo.ReadCommit(context.Background(), c.Commit); !errors.Is(err, gitstore.ErrNotFound) {
		t.Fatalf("the commit should be gone: %v", err)
	}
	wantAt(t, s, c, "HEAD", "outdated: the same words stand elsewhere, but nothing around them is as it was") // the quotation alone is short
	wantAt(t, s, long, "HEAD", "moved a.go:5")
}

func TestPlaceAfterRebase(t *testing.T) {
	s, dir := anchorRepo(t)
	c := anchorAt(t, s, "a.go", SideNew, 8, 8)
	whole := anchorAt(t, s, "new.txt", SideNew, 0, 0)
	runGit(t, dir, nil, "switch", "-q", "-c", "other", "HEAD~1")
	commitFiles(t, dir, "other", map[string]string{"a.go": "// Package a.\n" + strings.Replace(anchorSource, "parse(data)", "parse(string(data))", 1)})
	runGit(t, dir, nil, "rebase", "-q", "other", "main")
	wantAt(t, s, c, "main", "moved a.go:9")
	wantAt(t, s, whole, "main", "new.txt")
	wantAt(t, s, c, "other", "outdated: the lines were changed")
}

func TestAnchorFillsIn(t *testing.T) {
	s, dir := anchorRepo(t)
	head, base := gitstore.ID(runGit(t, dir, nil, "rev-parse", "HEAD")), gitstore.ID(runGit(t, dir, nil, "rev-parse", "HEAD~1"))
	blob := func(rev string) gitstore.ID { return gitstore.ID(runGit(t, dir, nil, "rev-parse", rev)) }
	for name, test := range map[string]struct {
		file       string
		side       Side
		start, end int
		want       Comment
	}{
		"a line":                   {"a.go", SideNew, 4, 0, Comment{File: "a.go", StartLine: 4, EndLine: 4, SelectedText: "\tdata, err := os.ReadFile(path)", Side: SideNew, Commit: head, Blob: blob("HEAD:a.go")}},
		"a range":                  {"./a.go", "", 8, 9, Comment{File: "a.go", StartLine: 8, EndLine: 9, SelectedText: "\treturn parse(data)\n}", Side: SideNew, Commit: head, Blob: blob("HEAD:a.go")}},
		"the old side":             {"a.go", SideOld, 8, 8, Comment{File: "a.go", StartLine: 8, EndLine: 8, SelectedText: "\treturn parse(string(data))", Side: SideOld, Commit: base, Blob: blob("HEAD~1:a.go")}},
		"a deleted file's line":    {"gone.txt", SideOld, 2, 2, Comment{File: "gone.txt", StartLine: 2, EndLine: 2, SelectedText: "two", Side: SideOld, Commit: base, Blob: blob("HEAD~1:gone.txt")}},
		"a deleted file":           {"gone.txt", SideNew, 0, 0, Comment{File: "gone.txt", Side: SideOld, Commit: base, Blob: blob("HEAD~1:gone.txt")}},
		"the old side by new name": {"new.txt", SideOld, 10, 10, Comment{File: "old.txt", StartLine: 10, EndLine: 10, SelectedText: "last", Side: SideOld, Commit: base, Blob: blob("HEAD~1:old.txt")}},
		"a binary file":            {"logo.png", SideNew, 0, 0, Comment{File: "logo.png", Side: SideNew, Commit: head, Blob: blob("HEAD:logo.png")}},
		"the whole":                {"", SideNew, 0, 0, Comment{Commit: head}},
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
		side       Side
		start, end int
		notFound   bool
	}{
		"no such file":            {"b.go", SideNew, 1, 1, true},
		"a directory":             {".", SideNew, 0, 0, true},
		"outside":                 {"../a.go", SideNew, 0, 0, true},
		"deleted":                 {"gone.txt", SideNew, 1, 1, true},
		"not there before":        {"logo.png", SideOld, 0, 0, true},
		"line beyond the end":     {"a.go", SideNew, 10, 10, false},
		"range beyond the end":    {"a.go", SideNew, 9, 10, false},
		"backwards":               {"a.go", SideNew, 5, 4, false},
		"negative":                {"a.go", SideNew, -1, 4, false},
		"an end without a start":  {"a.go", SideNew, 0, 4, false},
		"a line of a binary file": {"logo.png", SideNew, 1, 1, false},
		"a third side":            {"a.go", "left", 1, 1, false},
	} {
		c, err := s.Anchor(context.Background(), subject, test.file, test.side, test.start, test.end)
		var input *InputError
		if errors.Is(err, gitstore.ErrNotFound) != test.notFound || errors.As(err, &input) == test.notFound {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

func TestPlacesKeepTheirOrder(t *testing.T) {
	s, dir := anchorRepo(t)
	comments := []Comment{anchorAt(t, s, "new.txt", SideNew, 10, 10), anchorAt(t, s, "a.go", SideNew, 4, 4), {Comment: "on the whole"}, anchorAt(t, s, "new.txt", SideNew, 0, 0), anchorAt(t, s, "a.go", SideNew, 1, 1)}
	commitFiles(t, dir, "third", map[string]string{"a.go": "// a\n" + anchorSource})
	at, err := s.Repo.Resolve(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	placed, err := s.Places(context.Background(), comments, at)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"new.txt:10", "moved a.go:5", "", "new.txt", "moved a.go:2"} {
		if placed[i].text() != want {
			t.Errorf("%d: %s, want %s", i, placed[i].text(), want)
		}
	}
	if _, err := s.Places(context.Background(), comments, gitstore.ID(strings.Repeat("12", 20))); !errors.Is(err, gitstore.ErrNotFound) {
		t.Errorf("at nothing: %v", err)
	}
}

// A comment of another program may hold anything.
func TestPlaceForeignComments(t *testing.T) {
	s, _ := anchorRepo(t)
	good := anchorAt(t, s, "a.go", SideNew, 4, 4)
	with := func(change func(*Comment)) Comment {
		c := good
		change(&c)
		return c
	}
	for name, test := range map[string]struct {
		comment Comment
		want    string
	}{
		"lines that never were":  {with(func(c *Comment) { c.StartLine, c.EndLine = 90, 95 }), "outdated: the file never had these lines"},
		"backwards":              {with(func(c *Comment) { c.StartLine, c.EndLine = 7, 4 }), "outdated: the file never had these lines"},
		"negative":               {with(func(c *Comment) { c.StartLine = -3 }), "outdated: the file never had these lines"},
		"ids that are none":      {with(func(c *Comment) { c.Commit, c.Blob = "--all", "HEAD" }), "a.go:4"},
		"a commit as its blob":   {with(func(c *Comment) { c.Blob = c.Commit }), "a.go:4"},
		"no blob":                {with(func(c *Comment) { c.Blob = "" }), "a.go:4"},
		"a path out of the tree": {with(func(c *Comment) { c.File = "../../etc/passwd" }), "outdated: the file is gone"},
		"only lines":             {Comment{File: "a.go", StartLine: 4}, "outdated: what the lines held is not known any more"},
	} {
		placed, err := s.Place(context.Background(), test.comment, good.Commit)
		if err != nil || placed.text() != test.want {
			t.Errorf("%s: %s, %v; want %s", name, placed.text(), err, test.want)
		}
	}
}
