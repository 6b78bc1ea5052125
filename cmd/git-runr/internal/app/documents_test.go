package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// namedFile matches a code span that names a file, namedThing one that names an identifier.
var (
	anyWord    = regexp.MustCompile(`\w+`)
	namedFile  = regexp.MustCompile("`([\\w./-]*\\w\\.(?:go|sh|mjs|txtar|bundle|yaml))`")
	namedThing = regexp.MustCompile("`(?:\\w+\\.)?((?:Test|Fuzz)[A-Z]\\w+|[a-z]+[A-Z]\\w+|[A-Z][a-z]+[A-Za-z]*)`")
)

// TestDocumentsNameWhatIsThere: the files, tests, identifiers and commands that the contributors' documents name
// exist.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	top := filepath.Join("..", "..", "..", "..")
	var files []string
	words := map[string]bool{} // words of the sources
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err == nil && entry.Name() == ".git":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil || entry.IsDir():
			return err
		}
		files = append(files, "/"+filepath.ToSlash(path))
		if strings.HasSuffix(path, ".go") && entry.Name() != "documents_test.go" {
			text, err := os.ReadFile(path)
			for _, word := range anyWord.FindAll(text, -1) {
				words[string(word)] = true
			}
			return err
		}
		return nil
	})
	documents, globErr := filepath.Glob(filepath.Join(top, ".github", "*.md"))
	if err != nil || globErr != nil || len(documents) < 4 {
		t.Fatalf("%q: %v, %v", documents, err, globErr)
	}
	isThere := func(name string) bool {
		for _, file := range files {
			if strings.HasSuffix(file, "/"+name) {
				return true
			}
		}
		return false
	}
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range namedFile.FindAllStringSubmatch(string(text), -1) {
			if !isThere(m[1]) {
				t.Errorf("%s: no file %q", document, m[1])
			}
		}
		for _, m := range namedThing.FindAllStringSubmatch(string(text), -1) {
			if !words[m[1]] {
				t.Errorf("%s: nothing is called %q", document, m[1])
			}
		}
		for _, m := range namedCommand.FindAllStringSubmatch(string(text), -1) {
			if why := unknownWord(strings.Fields(m[1])); why != "" {
				t.Errorf("%s: %q: %s", document, m[0], why)
			}
		}
	}
}
