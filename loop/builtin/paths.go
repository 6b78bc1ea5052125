package builtin

import (
	"path"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/reply"
)

// kind classifies a path by the rules that apply to it.
type kind struct {
	exempt  bool // generated, vendored, minified or a lock file: only markers and secrets are reported
	fixture bool // test code or test data: findings weigh less
	docs    bool // prose: no rules about code
	patch   bool // contains diffs, snapshots or expected output: white space and markers are content
}

// warning returns the severity of a fault: in test code and test data it is only noted.
func (k kind) warning() reply.Severity {
	if k.fixture {
		return reply.Note
	}
	return reply.Warning
}

func kindOf(f File) kind {
	p := f.Path
	lower := strings.ToLower(p)
	base := path.Base(lower)
	return kind{
		exempt:  isVendored(lower) || isLockFile(base) || isGeneratedName(base) || saysGenerated(f),
		fixture: isTestData(lower) || isTestCode(lower),
		docs:    isDocs(lower),
		patch: isTestData(lower) || hasAnySuffix(base, ".patch", ".diff", ".txtar", ".snap", ".golden", ".rej",
			".approved.txt"),
	}
}

// inDir reports whether one of the directories of p has one of the names.
func inDir(p string, names ...string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(p), "/"), func(dir string) bool {
		return slices.Contains(names, dir)
	})
}

func isVendored(p string) bool {
	return inDir(p, "vendor", "node_modules", "bower_components", "third_party", "thirdparty",
		"dist", ".yarn", "site-packages", "pods", "_vendor")
}

func isLockFile(base string) bool {
	return hasAnySuffix(base, ".lock", ".lockb", ".lockfile", ".sum") ||
		slices.Contains([]string{"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "packages.lock.json"}, base)
}

func isGeneratedName(base string) bool {
	return hasAnySuffix(base, ".pb.go", "_pb2.py", "_pb2_grpc.py", ".pb.cc", ".pb.h", "_pb.js", "_pb.d.ts",
		".min.js", ".min.css", ".min.mjs", ".bundle.js", ".map", ".designer.cs", ".g.dart", ".freezed.dart") ||
		strings.Contains(base, "_generated.") || strings.Contains(base, ".generated.") || hasAnyPrefix(base, "zz_generated")
}

// saysGenerated reports whether the first lines, if the diff shows them, mark the file as generated.
func saysGenerated(f File) bool {
	for _, lines := range [][]Line{f.Added, f.Context} {
		for _, l := range lines {
			if l.Number > 20 {
				break
			}
			if strings.Contains(l.Text, "DO NOT EDIT") || strings.Contains(l.Text, "@"+"generated") {
				return true
			}
		}
	}
	return false
}

func isTestData(p string) bool {
	base := path.Base(p)
	return strings.Contains(base, "test_data") || strings.Contains(base, "testdata") ||
		inDir(p, "testdata", "fixtures", "fixture", "__fixtures__", "__snapshots__", "__mocks__", "test-data",
			"test_data", "golden", "goldens", "mocks", "snapshots", "cassettes")
}

func isTestCode(p string) bool {
	base := path.Base(p)
	stem := strings.TrimSuffix(base, path.Ext(base))
	return hasAnySuffix(stem, "_test", ".test", "_spec", ".spec", "-test", "-spec", ".cy", ".e2e", ".stories") ||
		hasAnyPrefix(base, "test_") || base == "conftest.py" ||
		hasAnySuffix(base, "test.java", "tests.java", "test.kt", "test.cs", "tests.cs", "test.php", "tests.swift") ||
		inDir(p, "test", "tests", "__tests__", "spec", "specs", "e2e", "testing", "examples", "example")
}

func isDocs(p string) bool {
	return hasAnySuffix(p, ".md", ".mdx", ".markdown", ".rst", ".adoc", ".asciidoc", ".txt", ".org", ".tex", ".pod",
		".html", ".htm") ||
		slices.Contains([]string{"readme", "changelog", "license", "copying", "notice", "authors", "contributing"},
			path.Base(p))
}

// isUnderScripts reports whether printing is the purpose of the file.
func isUnderScripts(p string) bool {
	p = strings.ToLower(p)
	base := path.Base(p)
	return inDir(p, "scripts", "script", "bin", "tools", "tool", "cli", "cmd", "tasks", "build", "benchmark", "benchmarks",
		"bench") ||
		strings.Contains(base, ".config.") || strings.Contains(base, "logger") || strings.Contains(base, "logging") ||
		hasAnyPrefix(base, "cli.", "cli-", "gulpfile", "gruntfile", "rollup", "webpack", "log.", "console", "debug.",
			"debug-", "repl") ||
		strings.HasSuffix(strings.TrimSuffix(base, path.Ext(base)), "-cli")
}
