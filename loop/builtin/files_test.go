package builtin

import (
	"strings"
	"testing"
)

func TestWhitespace(t *testing.T) {
	for _, c := range []struct {
		path, text string
		want       []string
	}{
		{"a.go", "a \nb\nc\t\n", []string{"note whitespace 1"}},
		{"a.go", "ok\n \tx\n", []string{"note whitespace 2"}},
		{"a.go", "\t  x\n\t\ty\n * x\n", nil},
		{"a.go", "no end", []string{"note whitespace 1"}},
		{"a.go", "a\nb\r\nc\n", []string{"note whitespace 2"}},
		{"a.go", "var s = `\na \n \tb\n`\nx \n", []string{"note whitespace 5"}},
		{"a.bat", "a\r\nb\r\n", nil},
		{"a.bat", "a\r\nb\nc\r\n", []string{"note whitespace 2"}},
		{"a.bat", "a\r\nb\r\nno end", []string{"note whitespace 3"}},
		{"a.md", "a hard break  \nnext\n", nil},
		{"a.md", "one \nnext\n   \n", []string{"note whitespace 1"}},
		{"testdata/x.txt", "a \nb", nil},
		{"x.diff", " \n", nil},
		{"x.snap", "a \n", nil},
		{"vendor/x.go", "a \n", nil},
		{"x.tsv", "a\t\n", nil},
		{"empty.go", "", nil},
	} {
		t.Run(c.path+" "+c.text, func(t *testing.T) {
			f := newText(c.path, c.text)
			if c.text == "" {
				f.Added = nil
			}
			wantFound(t, review(f), c.want...)
		})
	}
}

func TestWhitespaceCountsAndGoesByTheContext(t *testing.T) {
	r := review(newText("a.go", "x\na \nb \nc \n"))
	if got := r.Findings[0].Issue; !strings.Contains(got, "3 lines, first at 2") {
		t.Errorf("issue %q", got)
	}
	f := newText("a.go", "old\r\nold\r\nnew\n")
	f.New, f.Context, f.Added = false, f.Added[:2], f.Added[2:]
	wantFound(t, review(f), "note whitespace 3")
}

func TestWholeFiles(t *testing.T) {
	binary := func(path string, size int64) File {
		return File{Path: path, New: true, Binary: true, Size: size, Mode: "100644"}
	}
	text := func(path string, size int64) File {
		f := newText(path, "x\n")
		f.Size = size
		return f
	}
	changed := func(f File, old int64) File {
		f.New, f.OldSize = false, old
		return f
	}
	for _, c := range []struct {
		name string
		file File
		want []string
	}{
		{"picture", binary("logo.png", 1000), nil},
		{"font", binary("a.woff2", 1000), nil},
		{"unknown binary", binary("model.bin", 1000), []string{"note binary-file 0"}},
		{"large picture", binary("big.png", 600<<10), []string{"warning large-file 0"}},
		{"program", binary("tool.exe", 1000), []string{"warning build-artefact 0"}},
		{"archive", binary("a.tar.gz", 1000), []string{"warning build-artefact 0"}},
		{"library", binary("libx.so.1.2", 1000), []string{"warning build-artefact 0"}},
		{"bytecode", binary("__pycache__/a.cpython-311.pyc", 1000), []string{"warning build-artefact 0"}},
		{"finder", binary(".DS_Store", 1000), []string{"warning build-artefact 0"}},
		{"archive of a test", binary("testdata/a.zip", 1000), []string{"note build-artefact 0"}},
		{"wrapper", binary("gradle/wrapper/gradle-wrapper.jar", 1000), []string{"note binary-file 0"}},
		{"changed binary", changed(binary("model.bin", 1000), 900), nil},
		{"object file by name only", text("a.o", 10), nil},
		{"large text", text("data.sql", 2<<20), []string{"warning large-file 0"}},
		{"large lock file", text("package-lock.json", 2<<20), nil},
		{"text that grew", changed(text("data.sql", 2<<20), 1000), []string{"warning large-file 0"}},
		{"text that was large", changed(text("data.sql", 2<<20), 3<<20), nil},
		{"size unknown", changed(text("data.sql", -1), -1), nil},
		{"merge backup", text("a.go.orig", 10), []string{"warning leftover-file 0"}},
		{"rejected hunks", text("a.go.rej", 10), []string{"warning leftover-file 0"}},
		{"editor backup", text("notes~", 10), []string{"warning leftover-file 0"}},
		{"mergetool", text("a_BASE_1234.go", 10), []string{"warning leftover-file 0"}},
		{"not mergetool", text("DATA_BASE.go", 10), nil},
		{"test of rejects", text("testdata/a.rej", 10), []string{"note leftover-file 0"}},
	} {
		t.Run(c.name, func(t *testing.T) { wantFound(t, review(c.file), c.want...) })
	}
}

func TestDeletedFilesAreNotJudged(t *testing.T) {
	wantFound(t, review(File{Path: "tool.exe", Deleted: true, Binary: true}, File{Path: "a.orig", Deleted: true}))
}

func TestSizeIsAskedFor(t *testing.T) {
	f := File{Path: "model.bin", New: true, Binary: true, Size: -1}
	r := reviewed(Input{Files: []File{f}, Sizes: map[string]int64{"model.bin": 3 << 20, "other": 1}})
	wantFound(t, r, "warning large-file 0", "note binary-file 0")
	if !strings.Contains(r.Findings[0].Issue, "3.0 MiB") {
		t.Errorf("issue %q", r.Findings[0].Issue)
	}
}

func TestEnvFiles(t *testing.T) {
	wantFound(t, review(newText(".env", "PORT=3000\n")), "warning env-file 0")
	wantFound(t, review(newText("app/.env.production", "# x\nPORT=3000\n")), "warning env-file 0")
	wantFound(t, review(newText(".env.example", "PORT=3000\n")))
	wantFound(t, review(newText(".env", "# nothing\nPORT=\nHOST=$HOST\n")))
	changed := newText(".env", "PORT=3000\n")
	changed.New = false
	wantFound(t, review(changed), "note env-file 0")
}

// isNamed takes a * only at the ends of a pattern.
func TestPathPatterns(t *testing.T) {
	for kind, patterns := range pathPatterns() {
		for _, p := range patterns {
			if strings.ContainsAny(strings.Trim(p, "*"), "*?[") || p != strings.ToLower(p) {
				t.Errorf("%s: %q", kind, p)
			}
		}
	}
}
