package unidiff

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const sample = `commit 1
diff --git a/f b/f
index 1..2 100644
--- a/f
+++ b/f
@@ -1,4 +1,5 @@ func f()
 one
-two
-three
+2
+3
+three and a half
 four
@@ -9 +10 @@
-last
\ No newline at end of file
+last
diff --git a/old name "b/n\303\251w"
similarity index 90%
rename from old name
rename to "n\303\251w"
diff --git a/g b/g
new file mode 100644
--- /dev/null
+++ b/g
@@ -0,0 +1 @@
+diff --git a/x b/x
`

// outline returns the contents of a patch as lines.
func outline(files []File) (lines []string) {
	for _, f := range files {
		lines = append(lines, fmt.Sprintf("%s>%s at %d", f.Old, f.New, f.Row))
		for _, h := range f.Hunks {
			lines = append(lines, fmt.Sprintf("-%d,%d +%d,%d%s at %d", h.OldStart, h.OldCount, h.NewStart, h.NewCount, h.Section,
				h.Row))
			for _, l := range h.Lines {
				lines = append(lines, fmt.Sprintf("%c %d %d %s %v", l.Kind, l.Old, l.New, l.Text, l.NoEOL))
			}
		}
	}
	return lines
}

func read(patch string) (files []File, err error) {
	for f, e := range Files(patch) {
		files, err = append(files, f), e
	}
	return files, err
}

func TestFiles(t *testing.T) {
	files, err := read(sample)
	want := []string{
		"f>f at 1", "-1,4 +1,5 func f() at 5",
		"  1 1 one false", "- 2 0 two false", "- 3 0 three false", "+ 0 2 2 false", "+ 0 3 3 false",
		"+ 0 4 three and a half false",
		"  4 5 four false", "-9,1 +10,1 at 13", "- 9 0 last true", "+ 0 10 last false",
		"old name>néw at 17", ">g at 21", "-0,0 +1,1 at 25", "+ 0 1 diff --git a/x b/x false",
	}
	if got := outline(files); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\ngot  %q\nwant %q", err, got, want)
	}
	if removed, added := files[0].Hunks[0].Block(1); removed != 2 || added != 3 {
		t.Errorf("a block of %d and %d lines", removed, added)
	}
}

// A patch that is cut off in the middle keeps the lines that it has.
func TestCutOff(t *testing.T) {
	files, err := read("diff --git a/f b/f\n@@ -1,3 +1,3 @@\n a\n-b\n")
	if got := outline(files); !errors.Is(err, ErrCutOff) || len(got) != 4 {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := read("diff --git a/old b/new\nsimilarity index 90%\n"); !errors.Is(err, ErrCutOff) {
		t.Errorf("a header: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	const head = "diff --git a/f b/f\n"
	for _, bad := range []string{
		"hello\n", "@@ -1 +1 @@\n", head + "@@ -1 +1\n", head + "@@ -1 +x @@\n", head + "@@ -1 +1 @@\n+a\n+b\n",
		head + "@@ -1 +1 @@\nxx\n",
		head + "@@ -0,0 +1 @@\n+a\nb\n", head + "@@ -1 +1,2 @@\n-a\n-b\n+c\n+d\n", head + "rename from \"a\nrename to b\n",
		head + "--- c/f\n", "diff --git f f\n",
	} {
		if files, err := read(bad); err == nil {
			t.Errorf("%q is read: %q", bad, outline(files))
		}
	}
	if _, err := read("diff --cc f\n@@@ -1 -1 +1 @@@\n++c\n"); !errors.Is(err, ErrCombined) {
		t.Errorf("combined: %v", err)
	}
}

// FuzzFiles: each file, hunk and line is in the patch at its row, and nothing is skipped except the text before the
// first file.
func FuzzFiles(f *testing.F) {
	f.Add(sample)
	f.Add("diff --git \"a/\\346\\227\" \"b/\\346\\227\"\nnew file mode 100644\nindex 0..1\nGIT binary patch\nliteral 2\n" +
		"Jcma\n\nliteral 0\nHcmV\n\n")
	f.Add("diff --git a/x b/x b/x b/x\nold mode 100644\nnew mode 120000\nBinary files a/x and b/x differ\n\n\n")
	f.Add("diff --git a/f b/f\n@@ -1,2 +1,3 @@\n\n-b\r\n+c\n+d\n\\ x\n")
	f.Fuzz(func(t *testing.T, patch string) {
		rows := strings.Split(patch, "\n")
		text := ""
		for file, err := range Files(patch) {
			if err != nil {
				return
			}
			if text += file.Text; file.Path() == "" || !strings.HasPrefix(rows[file.Row], gitHeader) {
				t.Fatalf("%+v", file)
			}
			newest := 0
			for _, h := range file.Hunks {
				if !strings.HasPrefix(rows[h.Row], "@@ -") {
					t.Fatalf("hunk at %q", rows[h.Row])
				}
				counts := [2]int{}
				for _, l := range h.Lines {
					if row := rows[l.Row]; row != string(l.Kind)+l.Text && row+l.Text != "" {
						t.Fatalf("%+v is %q", l, row)
					}
					if l.Kind != '+' {
						if counts[0]++; l.Old != h.OldStart+counts[0]-1 {
							t.Fatalf("%+v in %+v", l, h)
						}
					}
					if l.Kind != '-' {
						if counts[1]++; l.New != h.NewStart+counts[1]-1 || l.New <= newest {
							t.Fatalf("%+v in %+v", l, h)
						}
						newest = l.New
					}
				}
				if counts != [2]int{h.OldCount, h.NewCount} {
					t.Fatalf("%v lines in %+v", counts, h)
				}
			}
		}
		if !strings.HasSuffix(patch, text) || strings.HasPrefix(strings.TrimSuffix(patch, text), gitHeader) {
			t.Fatalf("%q is read of %q", text, patch)
		}
	})
}
