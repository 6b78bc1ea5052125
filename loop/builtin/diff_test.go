package builtin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/unidiff"
)

func addedNumbers(f File) []int {
	var n []int
	for _, l := range f.Added {
		n = append(n, l.Number)
	}
	return n
}

// Names and counts are compared with git's own list (-z).
func TestParseDiffOddNames(t *testing.T) {
	names := []string{"plain.go", "a b", "x b/x", "tab\there", `quo"te`, `back\`, `q"\`, "é日本", "-dash", " lead", "trail ",
		"new\nline", "\x01ctl", "bad\xff", `sp"q `, "a/b/c/d", "b/b", `\"`, "dev/null"}
	r := newGitRepo(t)
	for _, n := range names {
		r.write(n, "one\n")
	}
	r.write("kept empty", "")
	for _, options := range [][]string{nil, {"--binary"}, {"-U0"}} {
		files := r.diff(options...)
		var got []string
		for _, f := range files {
			got = append(got, f.Path)
		}
		listed := strings.Split(strings.TrimSuffix(string(r.git("diff", "--cached", "--name-only", "-z")), "\x00"), "\x00")
		if !slices.Equal(got, listed) {
			t.Errorf("options %q: paths %q, git lists %q", options, got, listed)
		}
	}
}

func TestParseDiffBinaryAndEmptyWithOddNames(t *testing.T) {
	r := newGitRepo(t)
	for _, n := range []string{"d b/d", `back\`, "é", "plain"} {
		r.write(n+"/bin", "\x00\x01")
		r.write(n+"/empty", "")
	}
	for _, options := range [][]string{nil, {"--binary"}} {
		files := r.diff(options...)
		if len(files) != 8 {
			t.Fatalf("%d files", len(files))
		}
		bin := byPath(t, files, `back\/bin`)
		if !bin.Binary || !bin.New || bin.OldSize != 0 {
			t.Errorf("binary: %+v", bin)
		}
		if options != nil && bin.Size != 2 {
			t.Errorf("size %d, want 2", bin.Size)
		}
		if e := byPath(t, files, "d b/d/empty"); !e.New || e.Binary {
			t.Errorf("empty: %+v", e)
		}
	}
}

func TestParseDiffLines(t *testing.T) {
	r := newGitRepo(t)
	r.write("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n")
	r.commit()
	r.write("f", "1\nnew 2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\r\n13\n-- \n++ x\n@@ -1 +1 @@\ndiff --git a/x b/x\nlast")
	for _, options := range [][]string{{"-U3"}, {"-U0"}, {"-U100"}} {
		f := r.diff(options...)[0]
		if got := addedNumbers(f); !slices.Equal(got, []int{2, 12, 13, 14, 15, 16, 17, 18}) {
			t.Errorf("%q: added lines %v", options, got)
		}
		if f.Added[1] != (Line{Number: 12, Text: "12", CR: true}) || f.Added[4].Text != "++ x" || f.Added[7].Text != "last" {
			t.Errorf("%q: %+v", options, f.Added)
		}
		if !f.NoNewline || f.New || f.Size != -1 {
			t.Errorf("%q: %+v", options, f)
		}
	}
}

func TestParseDiffNoNewlineThatWasThere(t *testing.T) {
	r := newGitRepo(t)
	r.write("f", "a\nb")
	r.commit()
	r.write("f", "a\nc")
	if f := r.diff()[0]; f.NoNewline || len(f.Added) != 1 {
		t.Errorf("%+v", f)
	}
}

func TestParseDiffRenameModeAndLink(t *testing.T) {
	r := newGitRepo(t)
	r.write("old name", "a\nb\nc\nd\ne\nf\n")
	r.write("script", "x\n")
	r.write("becomes link", "text\n")
	r.write("gone", "x\n")
	r.commit()
	r.git("mv", "old name", `new "name"`)
	r.write(`new "name"`, "a\nb\nc\nd\ne\nf\ng\n")
	for _, name := range []string{"becomes link", "gone"} {
		if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("target", filepath.Join(r.dir, "becomes link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(r.dir, "script"), 0o755); err != nil {
		t.Fatal(err)
	}
	files := r.diff()
	if f := byPath(t, files, `new "name"`); !slices.Equal(addedNumbers(f), []int{7}) || f.Mode != "100644" {
		t.Errorf("rename: %+v", f)
	}
	if f := byPath(t, files, "script"); f.Mode != "100755" || f.OldMode != "100644" || f.New {
		t.Errorf("mode: %+v", f)
	}
	if f := byPath(t, files, "gone"); !f.Deleted || f.Size != 0 {
		t.Errorf("deleted: %+v", f)
	}
	// a change of type is a deletion and a new file
	last := files[0]
	for _, f := range files {
		if f.Path == "becomes link" {
			last = f
		}
	}
	if !last.Symlink() || !last.New {
		t.Errorf("link: %+v", last)
	}
	wantFound(t, reviewed(Input{Files: files}))
}

func TestParseDiffSubmodule(t *testing.T) {
	r := newGitRepo(t)
	r.write("x", "x\n")
	r.commit()
	id := strings.TrimSpace(string(r.git("rev-parse", "HEAD")))
	r.git("update-index", "--add", "--cacheinfo", "160000,"+id+",sub")
	files, err := parseDiff(context.Background(), r.git("diff", "--cached", "--full-index"))
	if err != nil || len(files) != 1 || !files[0].Submodule() || len(files[0].Added) != 0 {
		t.Fatalf("%+v, %v", files, err)
	}
	wantFound(t, reviewed(Input{Files: files}))
}

func TestParseDiffRefuses(t *testing.T) {
	r := newGitRepo(t)
	r.write("f", "base\n")
	r.commit()
	r.git("checkout", "-q", "-b", "side")
	r.write("f", "side\n")
	r.commit()
	r.git("checkout", "-q", "main")
	r.write("f", "main\n")
	r.commit()
	r.git("merge", "-q", "-s", "ours", "side")
	r.write("f", "both\n")
	r.git("add", "-A")
	r.git("commit", "-q", "--amend", "-m", "merge")
	if _, err := parseDiff(context.Background(), r.git("show", "--cc")); !errors.Is(err, unidiff.ErrCombined) {
		t.Errorf("combined diff: %v", err)
	}
	head := "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n"
	for name, patch := range map[string]string{
		"no diff":        "hello\n",
		"old style":      "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n",
		"cut off":        head + "@@ -1,2 +1,2 @@\n a\n",
		"bad header":     head + "@@ -1,x +1 @@\n+a\n",
		"no such line":   head + "@@ -1 +1 @@\nxa\n",
		"line 0":         head + "@@ -0,0 +0,1 @@\n+a\n",
		"goes back":      head + "@@ -5 +5 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n",
		"no prefix":      "diff --git f f\nold mode 100644\nnew mode 100755\n",
		"other prefix":   "diff --git i/f w/f\n--- i/f\n+++ w/f\n@@ -1 +1 @@\n-a\n+b\n",
		"bad quoting":    "diff --git \"a/\\q\" \"b/\\q\"\nold mode 100644\nnew mode 100755\n",
		"huge count":     head + "@@ -1,99999999999999999999 +1 @@\n+a\n",
		"what is it":     head + "@@ -1 +1 @@\n-a\n+b\nnonsense\n",
		"counts too low": head + "@@ -1 +1,1 @@\n-a\n+b\n+c\n",
	} {
		if files, err := parseDiff(context.Background(), []byte(patch)); err == nil {
			t.Errorf("%s: no error, %+v", name, files)
		}
	}
	if files, err := parseDiff(context.Background(), nil); err != nil || len(files) != 0 {
		t.Errorf("nothing: %v, %v", files, err)
	}
}

func FuzzParseDiff(f *testing.F) {
	f.Add([]byte(
		"diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@ x\n a\n-b\n+c\r\n+d\n" +
			"\\ No newline at end of file\n"))
	f.Add([]byte(
		"diff --git \"a/\\346\\227\" \"b/\\346\\227\"\nnew file mode 100644\nindex 0..1\nGIT binary patch\nliteral 2\n" +
			"Jcma\n\nliteral 0\nHcmV\n\n"))
	f.Add([]byte("diff --git a/a b/b\nsimilarity index 90%\nrename from a\nrename to b\n"))
	f.Add([]byte("diff --git a/x b/x b/x b/x\nold mode 100644\nnew mode 120000\nBinary files a/x and b/x differ\n"))
	f.Fuzz(func(t *testing.T, patch []byte) {
		files, err := parseDiff(context.Background(), patch)
		if err != nil {
			return
		}
		lines := 0
		for _, file := range files {
			if file.Path == "" {
				t.Fatal("no path")
			}
			for _, list := range [][]Line{file.Added, file.Context} {
				last := 0
				for _, l := range list {
					if l.Number <= last {
						t.Fatalf("line %d after %d", l.Number, last)
					}
					last = l.Number
				}
				lines += len(list)
			}
		}
		if lines > strings.Count(string(patch), "\n")+1 {
			t.Fatalf("%d lines from a patch of %d bytes", lines, len(patch))
		}
		reviewed(Input{Files: files})
	})
}
