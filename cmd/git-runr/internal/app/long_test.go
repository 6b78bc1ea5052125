package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	anyFunction  = regexp.MustCompile(`(?m)^func `)
)

// TestLongFormsAreRun: the stage of .ci/run for long forms names the package of each test with a long form, and its
// pattern matches the test. A helper with a long form is of a test in its file.
func TestLongFormsAreRun(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	_, stage, _ := strings.Cut(string(script), "RUNR_LONG=1 go test ")
	stage, _, _ = strings.Cut(stage, "\n\n")
	packages, quoted, ok := strings.Cut(stage, "-run '")
	if !ok {
		t.Fatalf("no stage for long forms:\n%s", stage)
	}
	pattern := regexp.MustCompile(strings.TrimSuffix(strings.TrimSpace(quoted), "'"))
	seen := 0
	for _, name := range testFiles(t, root) {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(source), "testtmp.Long()") || strings.HasSuffix(name, "/long_test.go") {
			continue
		}
		seen++
		dir, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil || !strings.Contains(packages, "./"+filepath.ToSlash(dir)+" ") {
			t.Errorf("the stage for long forms does not run ./%s", dir)
		}
		run := false
		for _, match := range testFunction.FindAllStringSubmatch(string(source), -1) {
			run = run || pattern.MatchString(match[1])
		}
		for _, body := range anyFunction.Split(string(source), -1) {
			if strings.HasPrefix(body, "Test") && strings.Contains(body, "testtmp.Long()") {
				run = run && pattern.MatchString(body[:strings.IndexByte(body, '(')])
			}
		}
		if !run {
			t.Errorf("the stage for long forms does not run the tests of %s", name)
		}
	}
	if seen < 10 {
		t.Errorf("%d files with long forms", seen)
	}
}

func testFiles(t *testing.T, root string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
