package reviewing

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
)

// changedLine is a line that a patch adds or deletes, with its place.
type changedLine struct {
	path string
	at   int // in the old or the new version
	text string
}

// cut returns the files of a patch, and fails the test if they cannot be read.
func cut(t testing.TB, patch []byte) []filePatch {
	t.Helper()
	files, err := cutPatch(patch)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// changedLines returns the changed lines of patches.
func changedLines(t testing.TB, patches ...[]byte) []changedLine {
	t.Helper()
	var all []changedLine
	for _, patch := range patches {
		for _, f := range cut(t, patch) {
			for _, h := range f.hunks {
				old, new := h.old, h.new
				for _, line := range h.lines {
					switch line[0] {
					case '+':
						all = append(all, changedLine{f.path, new, string(line)})
						new++
					case '-':
						all = append(all, changedLine{f.path, old, string(line)})
						old++
					default:
						old++
						new++
					}
				}
			}
		}
	}
	return all
}

// randomPatch returns a patch of several files in git's format, and git's counts of it.
func randomPatch(r *rand.Rand, longest int) ([]byte, []gitstore.FileStat) {
	var patch bytes.Buffer
	var stats []gitstore.FileStat
	for i := range 1 + r.IntN(6) {
		stat := gitstore.FileStat{Path: fmt.Sprintf("dir/file-%d.go", i)}
		fmt.Fprintf(&patch, "diff --git a/%[1]s b/%[1]s\nindex %040d..%040d 100644\n", stat.Path, 1, 2)
		if r.IntN(8) == 0 {
			fmt.Fprintf(&patch, "Binary files a/%[1]s and b/%[1]s differ\n", stat.Path)
			stat.Binary = true
		} else {
			fmt.Fprintf(&patch, "--- a/%[1]s\n+++ b/%[1]s\n", stat.Path)
			randomHunks(r, &patch, &stat, longest)
		}
		stats = append(stats, stat)
	}
	return patch.Bytes(), stats
}

func randomHunks(r *rand.Rand, patch *bytes.Buffer, stat *gitstore.FileStat, longest int) {
	h := hunk{old: 1, new: 1, section: " func f() {"}
	for range 1 + r.IntN(4) {
		h = h.below(h.section)
		gap := r.IntN(50)
		h.old, h.new = h.old+gap, h.new+gap
		for range 1 + r.IntN(30) {
			kind := " +-"[r.IntN(3)]
			h.lines = append(h.lines, fmt.Appendf(nil, "%c%s\n", kind, strings.Repeat("x", r.IntN(longest))))
			switch kind {
			case '+':
				stat.Added++
			case '-':
				stat.Deleted++
			}
		}
		if r.IntN(5) == 0 {
			last := len(h.lines) - 1
			h.lines[last] = append(h.lines[last], "\\ No newline at end of file\n"...)
		}
		patch.Write(h.text())
	}
}

// TestPartsAddUp: every changed line is in exactly one part, at its place, or is counted as not sent. No part exceeds
// the limit.
func TestPartsAddUp(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		patch, stats := randomPatch(r, 10+r.IntN(300))
		limits := role.Limits{MaxBytes: int64(500 + r.IntN(3000)), MaxParts: 1 + r.IntN(200)}
		change := Change{Census: census(stats, stats, nil, nil, limits)}
		for _, f := range stats {
			if !f.Binary {
				change.Files = append(change.Files, f.Path)
			}
		}
		total := change.Census.SentLines
		if err := change.split(patch, limits); err != nil {
			t.Fatal(err)
		}

		var patches [][]byte
		sent := 0
		for i, part := range change.Parts {
			if int64(len(part.Patch)) > limits.MaxBytes || len(change.Parts) > limits.MaxParts {
				t.Fatalf("seed %d: part %d of %d has %d bytes, %+v", seed, i, len(change.Parts), len(part.Patch), limits)
			}
			patches, sent = append(patches, part.Patch), sent+part.Lines
		}
		want, got := changedLines(t, patch), changedLines(t, patches...)
		if len(want) != total || len(got) != sent || change.Census.SentLines != sent || change.Census.Lines != total {
			t.Fatalf("seed %d: %d of %d lines in the parts, which say %d, census %+v", seed, len(got), len(want), sent,
				change.Census)
		}
		rest := slices.Clone(want)
		for _, line := range got {
			i := slices.Index(rest, line)
			if i < 0 {
				t.Fatalf("seed %d: %+v is there twice, or is none", seed, line)
			}
			rest = slices.Delete(rest, i, i+1)
		}
		missed := 0
		for _, l := range change.Census.LeftOut {
			n := l.Lines
			if n == 0 {
				n = len(slices.DeleteFunc(slices.Clone(want), func(c changedLine) bool { return c.path != l.Path }))
			}
			missed += n
		}
		if missed != len(rest) || (len(rest) > 0) != change.Census.Partial() {
			t.Fatalf("seed %d: %d lines are not sent, and %d said to be: %+v", seed, len(rest), missed, change.Census.LeftOut)
		}
	}
}

// TestPartsKeepFilesWhole: a file that fits into one part is not split.
func TestPartsKeepFilesWhole(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		patch, _ := randomPatch(r, 40)
		files := cut(t, patch)
		limit := 0
		for _, f := range files {
			limit = max(limit, f.size)
		}
		seen := map[string]bool{}
		for _, part := range pack(files, limit+1, 100).parts {
			for _, f := range part.Files {
				if seen[f] {
					t.Fatalf("seed %d: %s is in two parts", seed, f)
				}
				seen[f] = true
			}
		}
	}
}

// TestPartsOneLongLine: a line that no part can hold is counted as not sent, and the lines around it are sent.
func TestPartsOneLongLine(t *testing.T) {
	long := "+" + strings.Repeat("y", 5000) + "\n"
	patch := []byte("diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1,5 @@\n one\n+two\n" + long +
		"+four\n five\n" +
		"diff --git a/b b/b\nindex 1..2 100644\n--- a/b\n+++ b/b\n@@ -0,0 +1 @@\n" + long)
	stats := []gitstore.FileStat{{Path: "a", Added: 3}, {Path: "b", Added: 1}}
	change := Change{Files: []string{"a", "b"}, Census: census(stats, stats, nil, nil, role.Limits{})}
	if err := change.split(patch, role.Limits{MaxBytes: 1000, MaxParts: 9}); err != nil {
		t.Fatal(err)
	}
	c := change.Census
	want := []record.LeftOut{{Path: "a", Why: record.LeftTooLarge, Lines: 1}, {Path: "b", Why: record.LeftTooLarge}}
	if c.SentLines != 2 || c.Lines != 4 || c.SentFiles != 1 || !slices.Equal(c.LeftOut, want) ||
		!slices.Equal(change.Files, []string{"a"}) {
		t.Errorf("%+v, %q", c, change.Files)
	}
	if got := changedLines(t, change.Parts[0].Patch); len(change.Parts) != 1 ||
		!slices.Equal(got, []changedLine{{"a", 2, "+two\n"}, {"a", 4, "+four\n"}}) {
		t.Errorf("%d parts, %+v", len(change.Parts), got)
	}
	contains(t, string(change.Parts[0].Patch), "@@ below a line of 5002 bytes, not shown\n")
	if c.Left() != "a (1 line of it, too large), b (too large)" {
		t.Errorf("%s", c.Left())
	}
}

// TestPartsLeaveOutTheLargest: if there are too few parts for all files, the largest files are left out.
func TestPartsLeaveOutTheLargest(t *testing.T) {
	var patch bytes.Buffer
	var stats []gitstore.FileStat
	for _, lines := range []int{30, 10, 200, 20} {
		path := fmt.Sprintf("f%d", lines)
		fmt.Fprintf(&patch, "diff --git a/%[1]s b/%[1]s\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,%d @@\n%s", path, lines,
			strings.Repeat("+line\n", lines))
		stats = append(stats, gitstore.FileStat{Path: path, Added: lines})
	}
	change := Change{Census: census(stats, stats, nil, nil, role.Limits{})}
	if err := change.split(patch.Bytes(), role.Limits{MaxBytes: 700}); err != nil {
		t.Fatal(err)
	}
	if c := change.Census; len(change.Parts) != 1 || c.SentLines < 60 || len(c.LeftOut) != 1 ||
		c.LeftOut[0].Path != "f200" {
		t.Errorf("%d parts, %+v", len(change.Parts), c)
	}
}

// TestReadChangeInParts: files whose patches have unusual forms are split and counted correctly.
func TestReadChangeInParts(t *testing.T) {
	testrepo.Isolate(t)
	dir := t.TempDir()
	testrepo.Git(t, dir, "init", "-q")
	long := func(word string, n int) string { return strings.Repeat(word+" of a line that is a little longer\n", n) }
	version := func(message string, files map[string]string) {
		testrepo.Git(t, dir, "rm", "-rq", "--ignore-unmatch", ".")
		for name, text := range files {
			path := filepath.Join(dir, name)
			target, isLink := strings.CutPrefix(text, "-> ")
			err := os.MkdirAll(filepath.Dir(path), 0o777)
			if isLink && err == nil {
				err = os.Symlink(target, path)
			} else if err == nil {
				err = os.WriteFile(path, []byte(text), 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		testrepo.Git(t, dir, "add", "-A")
		testrepo.Git(t, dir, "commit", "-qm", message)
	}
	odd := "sp ace/tab\tnew\nline\"ü.txt"
	version("one", map[string]string{"moved.txt": long("moved", 40), "kind.txt": long("kind", 20), "link": "-> kind.txt",
		odd: long("odd", 30), "gone.txt": long("gone", 30), "end.txt": "a\nb"})
	version("two", map[string]string{
		"to/moved.txt": long("moved", 40) + "more\n", "kind.txt": "-> link", "link": long("link", 20), odd: long("even", 30),
		"end.txt": "a\nb\nc",
		"new.txt": long("new", 90), "picture.bin": "\x00\x01", "crlf.txt": strings.ReplaceAll(long("crlf", 20), "\n", "\r\n"),
	})
	store := runtest.GitStore(t, dir)
	subject, err := store.Subject(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := ReadChange(context.Background(), store, subject, role.Limits{})
	if err != nil || len(whole.Parts) != 1 {
		t.Fatalf("%d parts, %v", len(whole.Parts), err)
	}
	parts, err := ReadChange(context.Background(), store, subject, role.Limits{MaxBytes: 2000, MaxParts: 100})
	if err != nil || len(parts.Parts) < 5 || !slices.Equal(parts.Files, whole.Files) || parts.Census.Partial() ||
		parts.Census.SentLines != parts.Census.Lines {
		t.Fatalf("%d parts, %q, %+v, %v", len(parts.Parts), parts.Files, parts.Census, err)
	}
	var got, named []string
	for _, part := range parts.Parts {
		got, named = append(got, changedTexts(t, part.Patch)...), append(named, part.Files...)
		if len(part.Patch) > 2000 {
			t.Errorf("a part of %d bytes", len(part.Patch))
		}
	}
	want := changedTexts(t, whole.Patch)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || len(got) != parts.Census.Lines {
		t.Errorf("%d lines in parts, %d in the change, census %+v", len(got), len(want), parts.Census)
	}
	for _, f := range whole.Files {
		if !slices.Contains(named, f) {
			t.Errorf("no part names %q", f)
		}
	}
}

// changedTexts returns the added and deleted lines of a patch, with the marks of missing line ends.
func changedTexts(t testing.TB, patch []byte) []string {
	t.Helper()
	var texts []string
	for _, f := range cut(t, patch) {
		for _, h := range f.hunks {
			for _, line := range h.lines {
				if isChanged(line) {
					texts = append(texts, string(line))
				}
			}
		}
	}
	return texts
}

func FuzzCutPatch(f *testing.F) {
	patch, _ := randomPatch(rand.New(rand.NewPCG(1, 1)), 50)
	f.Add(patch, 300)
	f.Add([]byte("diff --git a/x b/x\n@@ -1 +1 @@\n\\ No newline\n@@ -\n\n+"), 200)
	f.Add([]byte("\n0"), 300)
	f.Fuzz(func(t *testing.T, patch []byte, limit int) {
		size, lines := 0, 0
		files, err := cutPatch(patch)
		if err != nil {
			return
		}
		for _, file := range files {
			size, lines = size+file.size, lines+file.lines
		}
		if !bytes.HasPrefix(patch, []byte("diff --git ")) {
			return // there is text before the first file
		}
		if size != len(patch) {
			t.Fatalf("%d of %d bytes", size, len(patch))
		}
		packed := pack(files, max(limit, 1)%5000+1, 3)
		for _, part := range packed.parts {
			lines -= part.Lines
		}
		for _, unseen := range packed.unseen {
			lines -= unseen
		}
		if lines != 0 {
			t.Fatalf("%d lines are lost", lines)
		}
	})
}
