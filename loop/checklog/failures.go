package checklog

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/loop/prose"
)

// testSummary is how a test runner prints the number of failed tests. The figures of all
// matching lines are added up; with last set, the last line with failures counts.
type testSummary struct {
	hint   string // a line without it does not match
	line   *regexp.Regexp
	last   bool
	errors bool // errors are tests that could not run, and are not counted as failed tests
}

// testSummaries are the known runners. What a figure counts is read from the word beside it.
var testSummaries = sync.OnceValue(func() []testSummary {
	re := regexp.MustCompile
	return []testSummary{
		{hint: "Tests:", line: re(`\bTests:\s+\d.*\btotal\b`)}, // jest
		{hint: "Tests ", line: re(`\bTests  +\d.*\(\d+\)`)},    // vitest
		{hint: "test result:", line: re(`\btest result: `)},    // cargo
		{hint: " in ", errors: true, line: re( // pytest
			`^=* ?\d+ (?:failed|passed|errors?|skipped|deselected)\b.* in [\d.]+s`)},
		{hint: "Tests run:", last: true, line: re(`\bTests run: *\d+, *Failures: *\d+[^T]*$`)}, // surefire, JUnit
		{hint: "Assertions:", line: re(`^Tests: \d+, Assertions: `)},                           // PHPUnit
		{hint: "Total:", line: re(`\bFailed: +\d+, Passed: +\d+`)},                             // dotnet test
		{hint: ": ", line: re( // dotnet test, older and newer
			`^\s*(?:Total tests|total|Passed|succeeded|Failed|failed): +\d+$`)},
		{hint: "completed", line: re(`\d+ tests? completed, \d+ failed`)},                      // Gradle
		{hint: "tests failed out of", line: re(`\d+ tests failed out of \d+`)},                 // CTest
		{hint: "Executed ", last: true, line: re(`\bExecuted \d+ tests?, with \d+ failures?`)}, // XCTest
		{hint: "assertions,", line: re(`\d+ (?:runs|tests), \d+ assertions, `)},                // minitest
		{hint: "failure", line: re( // RSpec, ExUnit, Jasmine, gotestsum
			`\b\d+ (?:examples?|tests?|specs?),.* \d+ failures?\b`)},
		{hint: " ", line: re(`^(?:Ran \d+ tests? in|FAILED \()`)},               // unittest
		{hint: "ing", line: re(`^\s+\d+ (?:passing|failing)\b`)},                // Mocha
		{hint: "FAILED |", line: re(`\bFAILED \| \d+ passed`)},                  // Deno
		{hint: " ", line: re(`^(?:#|ℹ) (?:tests|pass|fail) +\d+$`)},             // TAP, node --test
		{hint: " ", line: re(`^\s+\d+ (?:pass|fail)$`)},                         // Bun
		{hint: "ed", line: re(`^\s+\d+ (?:failed|passed)(?: \([\d.]+m?s\))?$`)}, // Playwright
		{hint: "failed", line: re(`^\s*\d+ tests? failed$`)},                    // AVA
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
		var sum tally
		for line := range matches(lines, s.hint, s.line) {
			t := talliedIn(line)
			if !s.errors {
				t.failed, t.errors = t.failed+t.errors, 0
			}
			switch {
			case !s.last:
				sum = tally{sum.failed + t.failed, sum.passed + t.passed, sum.total + t.total, sum.errors + t.errors}
			case t.failed > 0:
				sum = t
			}
		}
		if said := sum.String(); said != "" {
			return said
		}
	}
	return ""
}

func talliedIn(line string) tally {
	counts := countsIn(line)
	sum := func(words ...string) (n int) {
		for _, word := range words {
			n += counts[word]
		}
		return n
	}
	return tally{
		failed: sum("failed", "fail", "failing", "failure"), passed: sum("passed", "pass", "passing"),
		total: sum("total", "of", "test", "run", "example", "spec"), errors: counts["error"],
	}
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
		if said := talliedIn(line).of("test file"); said != "" {
			return said
		}
	}
	return ""
}
