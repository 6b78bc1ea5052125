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
	return firstSaid(lines, counted("eslint"), foundProblems, counted("tsc"), cargoErrors, counted("lint"),
		counted("errors"), unformatted,
		func(lines []string) string { return listedFiles(command, lines) },
		func(lines []string) string { return placedProblems(command, lines) },
		brokenBuild)
}

// problemCounts are the lines in which tools count problems, by tool or kind of line. nouns name the pattern's groups.
// A pattern without groups counts its lines.
var problemCounts = map[string][]problemCount{
	"eslint": {{"error", "error warning error warning", // also stylelint, and pyright's "3 errors, 1 warning"
		pattern(`\b\d+ problems? \((\d+) errors?, (\d+) warnings?|^\s*(\d+) errors?, (\d+) warnings?\b`)}},
	"tsc": {{"error TS", "error", pattern(`\berror TS\d+: `)}}, // if tsc prints no count
	"lint": {{"issue", "issue", pattern(`^(\d+) issues?:`)}, // golangci-lint
		{"offense", "offense", pattern(`\binspected, (\d+) offenses? detected`)}}, // RuboCop
	"errors": {{"rror", "error error error error error", pattern( // javac, clang, MSBuild, webpack, psalm
		`^\s*(\d+) errors?$|\b(\d+) errors? generated\.?$|^\s*(\d+) Error\(s\)$|\bcompiled with (\d+) errors?\b|^(\d+) errors? found\b`)}},
}

// problemCount is one form of such lines. A line without hint does not match.
type problemCount struct {
	hint, nouns string
	line        func() *regexp.Regexp
}

// counted returns a reader of one kind of problemCounts.
func counted(kind string) func(lines []string) string {
	return func(lines []string) string {
		for _, c := range problemCounts[kind] {
			sums := map[string]int{}
			nouns := strings.Fields(c.nouns)
			for _, m := range matches(lines, c.hint, c.line()) {
				if len(m) == 1 {
					sums[nouns[0]]++
				}
				for i, text := range m[1:] {
					n, _ := figure(text)
					sums[nouns[i]] += n
				}
			}
			if n := sums[nouns[0]]; n > 0 && nouns[0] != "error" {
				return prose.Count(n, nouns[0])
			}
			if said := errorsAndWarnings(sums["error"], sums["warning"]); said != "" {
				return said
			}
		}
		return ""
	}
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

var foundPattern = pattern(
	`(?i)\bfound (\d+) (error|warning|problem|issue|violation)s?\b(?:.*\((?:\d+ fixed, )?(\d+) remaining\))?`)

// foundProblems reads tsc, mypy, ruff, biome, svelte-check, phpstan: "Found 3 errors".
func foundProblems(lines []string) string {
	found := map[string]int{}
	for _, m := range matches(lines, "ound ", foundPattern()) {
		n, _ := figure(m[1])
		if m[3] != "" {
			n, _ = figure(m[3])
		}
		found[strings.ToLower(m[2])] += n
	}
	if said := errorsAndWarnings(found["error"], found["warning"]); said != "" {
		return said
	}
	if n := found["problem"] + found["issue"] + found["violation"]; n > 0 {
		return prose.Count(n, "problem")
	}
	return ""
}

var (
	cargoPattern         = pattern("^error: could not compile `[^`]*`.* due to (?:(\\d+) )?previous errors?")
	rustcPattern         = pattern(`^error: aborting due to (?:(\d+) )?previous errors?`)
	cargoWarningsPattern = pattern("^warning: `[^`]*` .*generated (\\d+) warnings?")
)

// cargoErrors reads cargo build, check and clippy. A crate and its tests report the same
// errors, so the largest figure counts.
func cargoErrors(lines []string) string {
	most := max(mostErrors(lines, cargoPattern()), mostErrors(lines, rustcPattern()))
	if most > 0 {
		return errorsAndWarnings(most, 0)
	}
	return errorsAndWarnings(0, sumOf(lines, "generated", cargoWarningsPattern()))
}

func mostErrors(lines []string, expr *regexp.Regexp) int {
	most := 0
	for _, m := range matches(lines, "error: ", expr) {
		n, ok := figure(m[1])
		if !ok {
			n = 1 // "due to previous error"
		}
		most = max(most, n)
	}
	return most
}

var (
	prettierPattern = pattern(`\bCode style issues (?:were )?found in (\d+) files`)
	reformatPattern = pattern(`^(\d+) files? would be reformatted`)
)

// unformatted reads prettier, black, ruff format, cargo fmt and gofmt -d.
func unformatted(lines []string) string {
	n := sumOf(lines, "Code style issues", prettierPattern()) + sumOf(lines, "would be reformatted", reformatPattern())
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
	if slices.ContainsFunc(lines, func(line string) bool { return containsAny(line, brokenBuildWords) }) {
		return "build failed"
	}
	return ""
}
