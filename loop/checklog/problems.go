package checklog

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
)

// problems returns how many problems compilers, type checkers, linters and formatters reported.
func problems(command string, lines []string) string {
	return firstSaid(lines, countedProblems, tscErrors, cargoErrors, unformatted,
		func(lines []string) string { return listedFiles(command, lines) },
		func(lines []string) string { return placedProblems(command, lines) },
		brokenBuild)
}

// problemCounts are the lines in which tools count problems. A line without hint does not match.
var problemCounts = []struct {
	hint string
	line func() *regexp.Regexp
}{
	// eslint, stylelint, and pyright's "3 errors, 1 warning"
	{"error", pattern(`\b\d+ problems? \(\d+ errors?, \d+ warnings?|^\s*\d+ errors?, \d+ warnings?\b`)},
	// tsc, mypy, ruff, biome, svelte-check, phpstan
	{"ound ", pattern(`(?i)\bfound \d+ (?:error|warning|problem|issue|violation)s?\b(?:.* remaining\b)?`)},
	{"issue", pattern(`^\d+ issues?:`)},                         // golangci-lint
	{"offense", pattern(`\binspected, \d+ offenses? detected`)}, // RuboCop
	// javac, clang, MSBuild, webpack, psalm
	{"rror", pattern(`^\s*\d+ errors?$|\b\d+ errors? generated\.?$|^\s*\d+ Error\(s\)$|\bcompiled with \d+ errors?\b` +
		`|^\d+ errors? found\b`)},
}

func countedProblems(lines []string) string {
	for _, c := range problemCounts {
		sums := map[string]int{}
		for _, m := range matches(lines, c.hint, c.line()) {
			counts := countsIn(m[0])
			if left, ok := counts["remaining"]; ok { // ruff: "Found 3 errors (1 fixed, 2 remaining)"
				counts = map[string]int{"error": left}
			}
			for word, n := range counts {
				sums[word] += n
			}
		}
		if said := errorsAndWarnings(sums["error"], sums["warning"]); said != "" {
			return said
		}
		sums["problem"] += sums["violation"]
		for _, noun := range []string{"issue", "offense", "problem"} {
			if n := sums[noun]; n > 0 {
				return prose.Count(n, noun)
			}
		}
	}
	return ""
}

var tscPattern = pattern(`\berror TS\d+: `)

// tscErrors counts the errors of tsc if it prints no count.
func tscErrors(lines []string) string {
	errors := 0
	for range matches(lines, "error TS", tscPattern()) {
		errors++
	}
	return errorsAndWarnings(errors, 0)
}

// errorsAndWarnings returns "3 errors, 2 warnings", without counts of zero.
func errorsAndWarnings(errors, warnings int) string {
	said := ""
	if errors > 0 {
		said = prose.Count(errors, "error")
	}
	if warnings > 0 {
		said = joinSaid(said, prose.Count(warnings, "warning"))
	}
	return said
}

var (
	cargoPattern = pattern(
		"^error: (?:could not compile `[^`]*`.*|aborting) due to (?:\\d+ )?previous errors?")
	cargoWarningsPattern = pattern("^warning: `[^`]*` .*generated \\d+ warnings?")
)

// cargoErrors reads cargo build, check and clippy. A crate and its tests report the same
// errors, so the largest figure counts.
func cargoErrors(lines []string) string {
	most, warnings := 0, 0
	for line := range matches(lines, "error: ", cargoPattern()) {
		most = max(most, countsIn(line)["previous"], 1) // "due to previous error"
	}
	if most > 0 {
		return errorsAndWarnings(most, 0)
	}
	for line := range matches(lines, "generated", cargoWarningsPattern()) {
		warnings += countsIn(line)["warning"]
	}
	return errorsAndWarnings(0, warnings)
}

var unformattedPattern = pattern(`\bCode style issues (?:were )?found in \d+ files|^\d+ files? would be reformatted`)

// unformatted reads prettier, black, ruff format, cargo fmt and gofmt -d.
func unformatted(lines []string) string {
	n := 0
	for _, m := range matches(lines, "file", unformattedPattern()) {
		n += countsIn(m[0])["file"]
	}
	if n == 0 {
		n = prettierAbove(lines)
	}
	if n == 0 {
		n = diffedFiles(lines)
	}
	return notFormatted(n)
}

func notFormatted(files int) string {
	if files == 0 {
		return ""
	}
	return prose.Count(files, "file") + " not formatted"
}

// prettierAbove counts the files above the line that says that they have issues.
func prettierAbove(lines []string) int {
	files := 0
	for _, line := range lines {
		if strings.Contains(line, "Code style issues found in the above file") {
			return files
		}
		if strings.HasPrefix(line, "[warn] ") {
			files++
		}
	}
	return 0
}

// diffedFiles counts the files for which cargo fmt --check and gofmt -d print a difference.
func diffedFiles(lines []string) int {
	files := map[string]bool{}
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "Diff in "); ok {
			file, _, _ := strings.Cut(rest, ".rs")
			files[file] = true
		}
		if rest, ok := strings.CutPrefix(line, "diff "); ok && strings.Contains(rest, ".go.orig ") {
			files[rest] = true
		}
	}
	return len(files)
}

// listedFiles counts the files listed by gofmt -l and goimports -l.
func listedFiles(command string, lines []string) string {
	if !strings.Contains(command, "gofmt") && !strings.Contains(command, "gofumpt") &&
		!strings.Contains(command, "goimports") {
		return ""
	}
	n := 0
	for _, line := range lines {
		if strings.HasSuffix(line, ".go") && !strings.ContainsAny(line, ": \t") {
			n++
		}
	}
	return notFormatted(n)
}

var placedPattern = pattern(`^(?:vet: )?(\S+?):\d+(:\d+)?:? +(?:\[?(error|fatal error|warning|note)\b)?`)

// placedProblems counts the lines that begin with a place: go vet, staticcheck, flake8, gcc
// and many others.
func placedProblems(command string, lines []string) string {
	counts := map[string]int{}
	atLeast := ""
	for _, line := range lines {
		if strings.HasSuffix(line, "too many errors") {
			atLeast = "at least "
		} else if m := placedPattern().FindStringSubmatch(line); m != nil && isSource(m[1]) && m[2]+m[3] != "" {
			counts[strings.TrimPrefix(m[3], "fatal ")]++
		}
	}
	if said := errorsAndWarnings(counts["error"], counts["warning"]); said != "" {
		return said
	}
	if n := counts[""]; n > 0 {
		return atLeast + prose.Count(n, problemWord(command))
	}
	return ""
}

// problemWord returns the word for a line with a place: a compiler's are errors.
func problemWord(command string) string {
	if strings.Contains(command, "build") || strings.Contains(command, "compile") {
		return "error"
	}
	return "problem"
}

// isSource reports whether s is the path of a source file, as opposed to a time or an address.
func isSource(s string) bool {
	return place.HasExtension(s) && !strings.Contains(s, "://") &&
		strings.ContainsFunc(s[strings.LastIndexByte(s, '.')+1:], unicode.IsLetter)
}

// brokenBuildWords say only that a build failed.
var brokenBuildWords = []string{"BUILD FAILED", "BUILD FAILURE", "Failed to compile", "error during build",
	"error: could not compile", "Compilation failed"}

func brokenBuild(lines []string) string {
	if slices.ContainsFunc(lines, func(line string) bool { return prose.ContainsAny(line, brokenBuildWords) }) {
		return "build failed"
	}
	return ""
}
