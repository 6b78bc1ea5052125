package checklog

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/loop/prose"
)

// testSummary describes how a test runner prints the number of failed tests. The figures of
// all matching lines are added up; with last set, the last line with failures counts.
type testSummary struct {
	hint       string         // a line without it does not match
	line       *regexp.Regexp // groups named failed and total hold the figures
	wordsFirst bool           // "failures: 2", not "2 failures"
	failed     string         // words for failed tests
	passed     string
	total      string
	errors     string // words for tests that could not run
	last       bool
}

// testSummaries are the known runners, one per line.
var testSummaries = sync.OnceValue(func() []testSummary {
	re := regexp.MustCompile
	return []testSummary{
		// jest
		{hint: "Tests:", line: re(`\bTests:\s+\d.*\btotal\b`), failed: "failed", total: "total"},
		// vitest
		{hint: "Tests ", line: re(`\bTests  +\d.*\(\d+\)`), failed: "failed", passed: "passed"},
		// cargo
		{hint: "test result:", line: re(`\btest result: `), failed: "failed", passed: "passed"},
		// pytest
		{hint: " in ", line: re(`^=* ?\d+ (?:failed|passed|errors?|skipped|deselected)\b.* in [\d.]+s`), failed: "failed",
			passed: "passed", errors: "error errors"},
		// surefire, JUnit
		{hint: "Tests run:", line: re(`\bTests run: *\d+, *Failures: *\d+[^T]*$`), wordsFirst: true,
			failed: "failures errors", total: "run", last: true},
		// PHPUnit
		{hint: "Assertions:", line: re(`^Tests: \d+, Assertions: `), wordsFirst: true, failed: "failures errors",
			total: "tests"},
		// dotnet test
		{hint: "Total:", line: re(`\bFailed: +\d+, Passed: +\d+`), wordsFirst: true, failed: "failed", total: "total"},
		// dotnet test, older and newer
		{hint: ": ", line: re(`^\s*(?:Total tests|total|Passed|succeeded|Failed|failed): +\d+$`), wordsFirst: true,
			failed: "failed", total: "tests total"},
		// Gradle
		{hint: "completed", line: re(`(?P<total>\d+) tests? completed, (?P<failed>\d+) failed`)},
		// CTest
		{hint: "tests failed out of", line: re(`(?P<failed>\d+) tests failed out of (?P<total>\d+)`)},
		// XCTest
		{hint: "Executed ", line: re(`\bExecuted (?P<total>\d+) tests?, with (?P<failed>\d+) failures?`), last: true},
		// minitest
		{hint: "assertions,", line: re(`\d+ (?:runs|tests), \d+ assertions, `), failed: "failures errors",
			total: "runs tests"},
		// RSpec, ExUnit, Jasmine, gotestsum
		{hint: "failure", line: re(`\b\d+ (?:examples?|tests?|specs?),.* \d+ failures?\b`), failed: "failures failure",
			total: "example examples test tests spec specs"},
		// unittest
		{hint: " ", line: re(`^(?:Ran \d+ tests? in|FAILED \()`), wordsFirst: true, failed: "failures errors", total: "ran"},
		// Mocha
		{hint: "ing", line: re(`^\s+\d+ (?:passing|failing)\b`), failed: "failing", passed: "passing"},
		{hint: "FAILED |", line: re(`\bFAILED \| \d+ passed`), failed: "failed", passed: "passed"}, // Deno
		// TAP, node --test
		{hint: " ", line: re(`^(?:#|ℹ) (?:tests|pass|fail) +\d+$`), wordsFirst: true, failed: "fail", total: "tests"},
		{hint: " ", line: re(`^\s+\d+ (?:pass|fail)$`), failed: "fail", passed: "pass"}, // Bun
		// Playwright
		{hint: "ed", line: re(`^\s+\d+ (?:failed|passed)(?: \([\d.]+m?s\))?$`), failed: "failed", passed: "passed"},
		{hint: "failed", line: re(`^\s*(?P<failed>\d+) tests? failed$`)}, // AVA
	}
})

// tally holds the totals of the summaries.
type tally struct{ failed, passed, total, errors int }

// String returns "2 of 12 tests failed"; "" if none failed.
func (t tally) String() string { return t.of("test") }

func (t tally) of(what string) string {
	total := t.total
	if total == 0 && t.passed > 0 {
		total = t.failed + t.passed
	}
	var said string
	switch {
	case t.failed > 0 && total >= t.failed:
		said = fmt.Sprintf("%d of %s failed", t.failed, prose.Count(total, what))
	case t.failed > 0:
		said = prose.Count(t.failed, what) + " failed"
	}
	if t.errors > 0 {
		said = joinSaid(said, prose.Count(t.errors, "error"))
	}
	return said
}

// summedTests returns how many tests failed by the summaries of test runners; "" if none did.
func summedTests(lines []string) string {
	for _, s := range testSummaries() {
		if said := s.read(lines).String(); said != "" {
			return said
		}
	}
	return ""
}

// read adds up the matching lines.
func (s testSummary) read(lines []string) tally {
	var sum tally
	for line, m := range matches(lines, s.hint, s.line) {
		t := s.tally(line, m)
		switch {
		case !s.last:
			sum = tally{sum.failed + t.failed, sum.passed + t.passed, sum.total + t.total, sum.errors + t.errors}
		case t.failed > 0:
			sum = t
		}
	}
	return sum
}

func (s testSummary) tally(line string, m []string) tally {
	if at := s.line.SubexpIndex("failed"); at > 0 {
		t := tally{}
		t.failed, _ = figure(m[at])
		if at = s.line.SubexpIndex("total"); at > 0 {
			t.total, _ = figure(m[at])
		}
		return t
	}
	counts := countsIn(line, s.wordsFirst)
	sum := func(words string) int {
		n := 0
		for word := range strings.FieldsSeq(words) {
			n += counts[word]
		}
		return n
	}
	return tally{failed: sum(s.failed), passed: sum(s.passed), total: sum(s.total), errors: sum(s.errors)}
}

// countsIn returns the figures in a line, by the word after each, or before if wordsFirst is set.
func countsIn(line string, wordsFirst bool) map[string]int {
	counts := map[string]int{}
	word, number, hasNumber := "", 0, false
	for field := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" \t,;:=|()!.", r) }) {
		n, isNumber := figure(field)
		switch {
		case isNumber && wordsFirst && word != "":
			counts[word] += n
			word = ""
		case isNumber:
			number, hasNumber = n, true
		case wordsFirst:
			word = strings.ToLower(field)
		case hasNumber:
			counts[strings.ToLower(field)] += number
			hasNumber = false
		}
	}
	return counts
}

// failedGoTests reads go test's output. Subtests are indented and not counted.
func failedGoTests(lines []string) string {
	failed, passed, packages, broken := 0, 0, 0, false
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "--- FAIL: "):
			failed++
		case strings.HasPrefix(line, "--- PASS: "):
			passed++
		case strings.HasPrefix(line, "FAIL\t") &&
			(strings.HasSuffix(line, "[build failed]") || strings.HasSuffix(line, "[setup failed]")):
			broken = true
		case strings.HasPrefix(line, "FAIL\t"):
			packages++
		}
	}
	said := tally{failed: failed, passed: passed}.String()
	if said == "" && packages > 0 {
		said = prose.Count(packages, "package") + " failed"
	}
	if broken {
		return joinSaid(said, "build failed")
	}
	return said
}

var tapResult = pattern(`^(not )?ok \d{1,6}(?: |$)`)

// failedTAP counts the results of a TAP stream without a summary.
func failedTAP(lines []string) string {
	var t tally
	for line, m := range matches(lines, "ok ", tapResult()) {
		directive := strings.ToUpper(line)
		if strings.Contains(directive, "# TODO") || strings.Contains(directive, "# SKIP") {
			continue
		}
		t.total++
		if m[1] != "" {
			t.failed++
		}
	}
	return t.String()
}

var testFiles = pattern(`\bTest (?:Suites:|Files) +\d`)

// failedTestFiles reads the suites of jest and the files of vitest, for files that failed
// before one of their tests ran.
func failedTestFiles(lines []string) string {
	for line := range matches(lines, "Test ", testFiles()) {
		counts := countsIn(line, false)
		t := tally{failed: counts["failed"], passed: counts["passed"], total: counts["total"]}
		if said := t.of("test file"); said != "" {
			return said
		}
	}
	return ""
}
