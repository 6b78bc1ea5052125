package locate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/anchor"
	"github.com/git-runr/git-runr/loop/internal/casetest"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// anchorCase is one archive: a comment that describes the case, then comment (FILE[:LINES] [old]), the files of two
// versions as old/PATH and new/PATH, and want (the new place, or "outdated: REASON"). Options change a file after it
// was read (crlf, chomp, trail, binary, symlink, submodule, exec, latin1) or remove stored facts from the comment
// (forget commit, blob, text).
type anchorCase struct{ casetest.Case }

// changed applies the options for a file and returns its git mode and text.
func (c anchorCase) changed(f txtar.File) (mode, text string) {
	mode, text = gitstore.ModeFile, string(f.Data)
	for _, line := range anchor.SplitLines(c.File("options")) {
		option, name, _ := strings.Cut(line, " ")
		if name != f.Name {
			continue
		}
		switch option {
		case "crlf":
			text = strings.ReplaceAll(text, "\n", "\r\n")
		case "chomp":
			text = strings.TrimSuffix(text, "\n")
		case "trail":
			text = strings.ReplaceAll(text, "\n", " \t\n")
		case "binary":
			text = "\x00" + text
		case "latin1":
			text = strings.ReplaceAll(text, "é", "\xe9")
		case "exec":
			mode = gitstore.ModeExecutable
		case "symlink":
			mode, text = gitstore.ModeSymlink, strings.TrimSuffix(text, "\n")
		case "submodule":
			mode, text = gitstore.ModeCommit, strings.TrimSpace(text)
		}
	}
	return mode, text
}

// comment returns the case's comment, without the facts that the options remove.
func (c anchorCase) comment(ctx context.Context, s *store.Store, subject record.Subject) (record.Comment, error) {
	where, side, _ := strings.Cut(strings.TrimSpace(c.File("comment")), " ")
	file, lines, _ := strings.Cut(where, ":")
	from, to, _ := strings.Cut(lines, "-")
	start, _ := strconv.Atoi(from)
	end, _ := strconv.Atoi(to)
	anchored := subject // a comment on the new side is on the case's old version
	if side == "" {
		anchored.Tree = subject.Base
	}
	comment, err := AnchorComment(ctx, s, anchored, record.Comment{File: file, Side: record.Side(side), StartLine: start,
		EndLine: end})
	gone := gitstore.ID(strings.Repeat("1", len(subject.Base)))
	for _, what := range strings.Fields(c.File("options")) {
		switch what {
		case "forget-commit":
			comment.Commit = gone
		case "forget-blob":
			comment.Blob = gone
		case "forget-text":
			comment.SelectedText = ""
		}
	}
	return comment, err
}

// text formats a place as the cases' want files do.
func (p Placed) text() string {
	where := reply.Finding{File: p.File, Line: p.StartLine, EndLine: p.EndLine}.Place()
	switch {
	case p.Outdated:
		return "outdated: " + p.Why
	case p.Moved:
		return "moved " + where
	}
	return where
}

func readAnchorCases(t testing.TB) (cases []anchorCase) {
	for _, c := range casetest.Read(t, "anchor") {
		cases = append(cases, anchorCase{c})
	}
	if len(cases) < 40 {
		t.Fatalf("%d cases", len(cases))
	}
	return cases
}

// importStream returns all versions of all cases for git fast-import, under refs/cases/.
func importStream(cases []anchorCase) []byte {
	var b bytes.Buffer
	for _, c := range cases {
		for _, version := range []string{"old", "new"} {
			fmt.Fprintf(&b, "commit refs/cases/%s/%s\ncommitter Ada <ada@example.com> 1700000000 +0000\ndata 0\n\n", c.Name(),
				version)
			for _, f := range c.Archive.Files {
				path, ours := strings.CutPrefix(f.Name, version+"/")
				if !ours {
					continue
				}
				mode, text := c.changed(f)
				if mode == gitstore.ModeCommit {
					fmt.Fprintf(&b, "M %s %s %q\n", mode, text, path)
					continue
				}
				fmt.Fprintf(&b, "M %s inline %q\ndata %d\n%s\n", mode, path, len(text), text)
			}
		}
	}
	return b.Bytes()
}

func TestAnchorCases(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) { testAnchorCases(t, format) })
	}
}

func testAnchorCases(t *testing.T, format string) {
	testrepo.Isolate(t)
	dir, cases := t.TempDir(), readAnchorCases(t)
	if format == "sha256" { // objects go through git there, which is slow
		cases = slices.DeleteFunc(cases, func(c anchorCase) bool {
			return !strings.HasPrefix(c.Name(), "rename") && !strings.HasPrefix(c.Name(), "submodule")
		})
	}
	testrepo.Git(t, dir, "init", "-q", "--object-format="+format)
	stream := importStream(cases)
	if format == "sha256" {
		stream = bytes.ReplaceAll(stream, []byte("M 160000 "), []byte("M 160000 "+strings.Repeat("0", 24)))
	}
	testrepo.GitInput(t, dir, string(stream), "fast-import", "--quiet")
	store, ctx := runtest.GitStore(t, dir), context.Background()
	for _, c := range cases {
		var err error
		subject := record.Subject{}
		for version, id := range map[string]*gitstore.ID{"old": &subject.Base, "new": &subject.Tree} {
			if *id, err = store.Repo.Resolve(ctx, "refs/cases/"+c.Name()+"/"+version); err != nil {
				t.Fatal(err)
			}
		}
		comment, err := c.comment(ctx, store, subject)
		if err != nil {
			t.Errorf("%s: %v", c.Name(), err)
			continue
		}
		placed, err := Place(ctx, store, comment, subject.Tree)
		if got, want := placed.text(), strings.TrimSpace(c.File("want")); err != nil || got != want {
			t.Errorf("%s: %s\ngot  %s, %v\nwant %s", c.Name(), c.Archive.Comment, got, err, want)
		}
		back, err := Place(ctx, store, comment, comment.Commit)
		if err == nil && (back.Outdated || back.Moved) {
			t.Errorf("%s: in its own version it is %s", c.Name(), back.text())
		}
		if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
			t.Errorf("%s: in its own version: %v", c.Name(), err)
		}
	}
}
