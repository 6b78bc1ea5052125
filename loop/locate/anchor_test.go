package locate

import (
	"context"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// filesSubject returns a change that adds files.
func filesSubject(t *testing.T, s *store.Store, files map[string]string) record.Subject {
	t.Helper()
	for name, text := range files {
		testrepo.WriteFile(t, s.Repo.WorkTree, name, text)
	}
	subject, err := s.WorkingSubject(t.Context(), record.SubjectWorktree)
	if err != nil {
		t.Fatal(err)
	}
	return subject
}

func TestAnchorComment(t *testing.T) {
	s, ctx := runtest.NewStore(t), context.Background()
	subject := filesSubject(t, s, map[string]string{
		"a.go": "one\ntwo\nthree\n", "crlf": "one\r\ntwo", "empty": "", "bin": "a\x00b\n", "latin": "caf\xe9\n",
	})
	for _, test := range []struct {
		in   record.Comment
		want string // the quoted text, or the error
	}{
		{record.Comment{File: "a.go", StartLine: 2}, "two"},
		{record.Comment{File: "a.go", StartLine: 2, EndLine: 3}, "two\nthree"},
		{record.Comment{File: "a.go", StartLine: 1, EndLine: 2, SelectedText: "one\r\ntwo\r\n"}, "one\ntwo"},
		{record.Comment{File: "a.go", StartLine: 3, SelectedText: "hre"}, "three"},
		{record.Comment{File: "a.go"}, ""},
		{record.Comment{File: "a.go", SelectedText: "anything"}, ""},
		{record.Comment{SelectedText: "anything", StartLine: 3}, ""},
		{record.Comment{File: "crlf", StartLine: 1, EndLine: 2}, "one\r\ntwo"},
		{record.Comment{File: "latin", StartLine: 1}, "caf\uFFFD"},
		{record.Comment{File: "bin"}, ""},
		{record.Comment{File: "bin", StartLine: 1}, `"bin" is binary`},
		{record.Comment{File: "a.go", StartLine: 4}, `"a.go" has 3 lines, no line 4`},
		{record.Comment{File: "a.go", StartLine: 2, EndLine: 9}, `no line 9`},
		{record.Comment{File: "a.go", StartLine: 3, EndLine: 2}, "3-2 is not a range"},
		{record.Comment{File: "a.go", StartLine: -1}, "is not a range"},
		{record.Comment{File: "a.go", EndLine: 2}, "0-2 is not a range"},
		{record.Comment{File: "empty", StartLine: 1}, "has 0 lines"},
		{record.Comment{File: "a.go", StartLine: 1, SelectedText: "two"}, "differs from"},
		{record.Comment{File: "a.go", StartLine: 1, EndLine: 2, SelectedText: "one"}, "differs from"},
		{record.Comment{File: "b.go"}, `file "b.go" does not exist in `},
		{record.Comment{File: "a.go", Side: record.SideOld}, `file "a.go" does not exist in 4b825dc`},
		{record.Comment{File: "a.go", Side: "left"}, "use new or old"},
	} {
		c, err := AnchorComment(ctx, s, subject, test.in)
		got := c.SelectedText
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != test.want || err != nil && (test.want == "" || !strings.Contains(got, test.want)) {
			t.Errorf("%+v: %q, want %q", test.in, got, test.want)
		}
	}
}

func TestAnchorCommentNamesTheBlob(t *testing.T) {
	s, ctx := runtest.NewStore(t), context.Background()
	subject := filesSubject(t, s, map[string]string{"a.go": "one\n"})
	c, err := AnchorComment(ctx, s, subject, record.Comment{File: "a.go", StartLine: 1})
	if err != nil {
		t.Fatal(err)
	}
	// git hash-object of "one\n"
	if c.Blob != "5626abf0f72e58d7a153368ba57db4c673c0e171" || c.Commit != subject.Tree || c.Side != record.SideNew ||
		c.EndLine != 1 {
		t.Errorf("%+v", c)
	}
}
