// Package casetest runs a test on each archive of a folder: a file a case.
package casetest

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

// Update reports whether the archives are to be written and not compared with.
func Update() bool { return *update }

// Case is one archive: a comment that says what the case is about, then
// input, want.json and, where needed, nonce and options ("crlf", "bom", "no-final-newline").
type Case struct {
	Path    string
	Archive *txtar.Archive
}

// Name is the name of the archive.
func (c Case) Name() string { return strings.TrimSuffix(filepath.Base(c.Path), ".txtar") }

// File is the file of the archive called name, "" where there is none.
func (c Case) File(name string) string {
	for _, f := range c.Archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// Input is the file input, changed as the options ask.
func (c Case) Input() string {
	text, options := c.File("input"), c.File("options")
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

// Check compares got with the case's want.json.
func (c Case) Check(t *testing.T, got any) {
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
	} else if want := c.File("want.json"); b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func (c Case) write(t *testing.T, want []byte) {
	t.Helper()
	files := c.Archive.Files[:0:0]
	for _, f := range c.Archive.Files {
		if f.Name != "want.json" {
			files = append(files, f)
		}
	}
	c.Archive.Files = append(files, txtar.File{Name: "want.json", Data: want})
	if err := os.WriteFile(c.Path, txtar.Format(c.Archive), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Read reads the archives of testdata/dir.
func Read(t testing.TB, dir string) []Case {
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases in testdata/%s: %v", dir, err)
	}
	var cases []Case
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, Case{Path: path, Archive: archive})
	}
	return cases
}

// Run runs test on every archive of a folder.
func Run(t *testing.T, dir string, test func(t *testing.T, c Case)) {
	for _, c := range Read(t, dir) {
		t.Run(c.Name(), func(t *testing.T) { test(t, c) })
	}
}
