package loop

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the want files of the case archives")

// parseCase is one archive: a comment that says what the case is about, then
// input, want.json and, where needed, nonce and options ("crlf", "bom", "no-final-newline").
type parseCase struct {
	path    string
	archive *txtar.Archive
}

func (c parseCase) file(name string) string {
	for _, f := range c.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func (c parseCase) input() string {
	text, options := c.file("input"), c.file("options")
	if strings.Contains(options, "no-final-newline") {
		text = strings.TrimSuffix(text, "\n")
	}
	if strings.Contains(options, "crlf") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if strings.Contains(options, "bom") {
		text = "\uFEFF" + text
	}
	return text
}

// check compares got with the case's want.json.
func (c parseCase) check(t *testing.T, got any) {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(got); err != nil {
		t.Fatal(err)
	}
	if *update {
		c.write(t, b.Bytes())
	} else if want := c.file("want.json"); b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func (c parseCase) write(t *testing.T, want []byte) {
	t.Helper()
	files := c.archive.Files[:0:0]
	for _, f := range c.archive.Files {
		if f.Name != "want.json" {
			files = append(files, f)
		}
	}
	c.archive.Files = append(files, txtar.File{Name: "want.json", Data: want})
	if err := os.WriteFile(c.path, txtar.Format(c.archive), 0o666); err != nil {
		t.Fatal(err)
	}
}

func readCases(t testing.TB, dir string) []parseCase {
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases in testdata/%s: %v", dir, err)
	}
	var cases []parseCase
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, parseCase{path: path, archive: archive})
	}
	return cases
}

// runCases runs test on every archive of a folder.
func runCases(t *testing.T, dir string, test func(t *testing.T, c parseCase)) {
	for _, c := range readCases(t, dir) {
		t.Run(strings.TrimSuffix(filepath.Base(c.path), ".txtar"), func(t *testing.T) { test(t, c) })
	}
}

func TestParseReviewCases(t *testing.T) {
	runCases(t, "review", func(t *testing.T, c parseCase) {
		report := ParseReview(c.input(), strings.TrimSpace(c.file("nonce")))
		report.Text = "" // the input once more
		c.check(t, report)
	})
}

func TestParseExecutorCases(t *testing.T) {
	runCases(t, "executor", func(t *testing.T, c parseCase) {
		c.check(t, ParseExecutor(c.input()))
	})
}
