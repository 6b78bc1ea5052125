package builtin

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/reply"
)

// maxPerCheck is how many findings one check gives.
const maxPerCheck = 10

// Judge fills in what a check's result means for a change, beside what the check came
// to on the base: see loop.Checker. changed are the paths of the change; a file name
// in the output that fits one of them is taken for it.
func Judge(result record.CheckResult, base *record.CheckResult, changed []string) record.CheckResult {
	result.FailsOnBase, result.Failures, result.FailuresMore, result.FailuresOnBase, result.Excerpt = false, nil, 0, 0, ""
	if result.Reason != record.NotInstalled {
		result.NotRun = notRun(result, base != nil && base.OK())
	}
	if result.OK() || result.NotRun != "" {
		return result
	}
	lines := outputLines(result.Output)
	now := readFailures(result, lines, changed)
	fresh := now
	if base != nil && !base.OK() && base.Reason != record.NotInstalled && notRun(*base, false) == "" {
		was := readFailures(*base, outputLines(base.Output), changed)
		fresh = missingFrom(was, now)
		result.FailsOnBase = sameFailure(result, *base, now, was, fresh)
	}
	result.FailuresOnBase = len(now) - len(fresh)
	shown := ours(fresh)
	result.Excerpt = excerpt(lines, shown)
	for _, f := range shown[:min(len(shown), maxPerCheck)] {
		result.Failures = append(result.Failures, f.recorded())
	}
	result.FailuresMore = max(len(shown)-maxPerCheck, 0)
	return result
}

// sameFailure reports whether a check fails on the change only as it fails on the base:
// with failures that the base has too, or where none can be told apart in the same words.
func sameFailure(result, base record.CheckResult, now, was, fresh []failure) bool {
	if result.Reason != base.Reason {
		return false
	}
	if len(now)+len(was) == 0 {
		return steady(lastLines(result)) == steady(lastLines(base))
	}
	return len(now) > 0 && len(fresh) == 0
}

// checkFindings are the findings of a judged result: warnings with the places that its
// output names for what failed, notes for what fails on the base too. A check that
// could not be run says nothing about the change and is none.
func checkFindings(result record.CheckResult) []reply.Finding {
	note := func(text string) reply.Finding {
		return checkFinding(result.Name, reply.Note, record.CheckFailure{Message: text})
	}
	switch {
	case result.OK(), result.NotRun != "":
		return nil
	case result.FailsOnBase:
		return []reply.Finding{note("fails on the base too: " + lastLines(result))}
	case len(result.Failures) == 0:
		return []reply.Finding{checkFinding(result.Name, reply.Warning, record.CheckFailure{Message: "failed: " + lastLines(result)})}
	}
	var found []reply.Finding
	for _, f := range result.Failures {
		found = append(found, checkFinding(result.Name, reply.Warning, f))
	}
	if left := result.FailuresMore; left > 0 {
		found[len(found)-1].Issue += fmt.Sprintf(" (and %d more)", left)
	}
	if n := result.FailuresOnBase; n > 0 {
		are := " are"
		if n == 1 {
			are = " is"
		}
		found = append(found, note(prose.Count(n, "failure")+are+" on the base too"))
	}
	return found
}

func checkFinding(name string, severity reply.Severity, f record.CheckFailure) reply.Finding {
	place := reply.Finding{Severity: severity, File: f.File, Line: f.Line, Rule: record.RuleOfCheck + name}
	f.File = "" // it is the finding's
	text, _ := RedactSecrets(oneLine(f.String(), 500))
	place.Issue = "check " + oneLine(name, 60) + ": " + text
	return place
}

// missingFrom gives the failures of now that was does not have. The same failure
// may stand at another line.
func missingFrom(was, now []failure) []failure {
	seen := map[string]bool{}
	for _, f := range was {
		seen[f.key()] = true
	}
	return slices.DeleteFunc(slices.Clone(now), func(f failure) bool { return seen[f.key()] })
}

// notRunSigns are the words by which a tool says that it lacks something. Those
// that a change can cause itself count only when the base has not passed.
var notRunSigns = []struct {
	pattern   func() *regexp.Regexp
	byMachine bool
}{
	{lazy(`(?m)^(?:go: .*|.*proxy\.golang\.org.*)(?:dial tcp|lookup .*: |no such host|i/o timeout|connection refused|TLS handshake)`), true},
	{lazy(`(?m)^npm (?:ERR!|error) (?:code |network )?(?:ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|network)`), true},
	{lazy(`(?m)Could not resolve host|failed to download from|Temporary failure in name resolution|failed to get .* as a dependency of package`), true},
	{lazy(`(?m)^go: (?:download go\S*|no such tool|go\.mod requires go >=|cannot find GOROOT).*`), true},
	{lazy(`(?mi)^.*: (?:no space left on device|cannot allocate memory)$`), true},
	{lazy(`(?m)(?:no required module provides package|missing go\.sum entry|cannot find module providing package).*`), false},
	{lazy(`(?m)(?:build constraints exclude all Go files|no Go files in|matched no packages).*`), false},
	{lazy(`(?m)Cannot find (?:module|package) '[^./'][^']*'`), false},
	{lazy(`(?m)ModuleNotFoundError: No module named .*|No module named pytest`), false},
	{lazy(`(?m)^(?:/bin/)?(?:sh|bash|dash|zsh)(?:: (?:line )?\d+)?: \S+: (?:command )?not found$`), false},
}

// notRun says why a check could not run for reasons of the machine, or "". What a
// change can cause itself is its fault where the check passed on the base.
func notRun(result record.CheckResult, basePassed bool) string {
	switch {
	case result.OK(), result.Reason == reasonTimeout:
		return ""
	case result.Reason != "" && !isCrash(result.Reason) && !(basePassed && strings.HasPrefix(result.Reason, "signal:")):
		return strings.ReplaceAll(oneLine(result.Reason, 200), "_", " ")
	case basePassed:
		return signOf(result, true)
	}
	switch result.ExitCode {
	case 126, 127:
		return cmp.Or(missingProgram(result.Output), lastLines(result))
	case 130, 137, 143:
		return fmt.Sprintf("it was killed (exit status %d)", result.ExitCode)
	}
	return signOf(result, false)
}

// reasonTimeout is the Reason of a check that took longer than it may: it failed,
// unless it does so on the base too.
const reasonTimeout = "timeout"

// signOf is what the output says that the machine lacks; only what no change can cause
// with onlyMachine.
func signOf(result record.CheckResult, onlyMachine bool) string {
	if strings.Contains(result.Output, "--- FAIL: ") {
		return ""
	}
	for _, sign := range notRunSigns {
		if onlyMachine && !sign.byMachine {
			continue
		}
		if m := sign.pattern().FindString(result.Output); m != "" {
			return cmp.Or(missingProgram(m), oneLine(m, 200))
		}
	}
	return ""
}

// missingSigns are the ways in which shells, env and make say that a program is not
// there or cannot be started.
var missingSigns = lazy(`(?m)^(?:.*: )?(?:line )?(?:\d+: )?(\S+): ((?:command )?not found|[Pp]ermission denied|cannot execute.*)$` +
	`|^(?:zsh|fish)(?::\d+)?: (?:command not found|Unknown command):? (\S+)$` +
	`|^(?:\S*/)?(?:env|make(?:\[\d+\])?|exec): [‘'"]?([^\s‘’'":]+)[’'"]?: No such file or directory$`)

// missingProgram names the program that output says is missing; "" where it says none.
func missingProgram(output string) string {
	all := missingSigns().FindAllStringSubmatch(strings.Join(outputLines(output), "\n"), -1)
	if len(all) == 0 {
		return ""
	}
	m := all[len(all)-1]
	name, why := oneLine(strings.Trim(m[1]+m[3]+m[4], "‘’'\"`"), 100), m[2]
	switch {
	case why != "" && !strings.HasSuffix(why, "not found"):
		return name + " cannot be run: permission denied"
	case strings.Contains(name, "/"):
		return name + " is not there"
	}
	return name + " is not installed"
}

// isCrash tells the signals by which a program ends itself from those that others send.
func isCrash(reason string) bool {
	name, ok := strings.CutPrefix(strings.ToUpper(reason), "SIGNAL:")
	return ok && slices.Contains([]string{"SEGV", "ABRT", "BUS", "FPE", "ILL", "TRAP", "SYS",
		"SEGMENTATION FAULT", "ABORTED", "BUS ERROR", "TRACE/BREAKPOINT TRAP"}, strings.TrimPrefix(name, "SIG"))
}

// lastLines is the end of the output as one line, or from its first failure on where
// that was found; the exit status where it says nothing.
func lastLines(result record.CheckResult) string {
	if result.Excerpt != "" {
		lines := nonBlank(strings.Split(result.Excerpt, "\n"))
		return oneLine(strings.Join(lines[:min(len(lines), 4)], " | "), 400)
	}
	lines := nonBlank(outputLines(result.Output))
	if len(lines) == 0 {
		return fmt.Sprintf("exit status %d, no output", result.ExitCode)
	}
	return oneLine(strings.Join(lines[max(0, len(lines)-4):], " | "), 400)
}

// readFailures reads the output of go test, then what any compiler or linter writes.
func readFailures(result record.CheckResult, lines, changed []string) []failure {
	at := newPlaces(result.Command, changed)
	return append(goTestFailures(lines, at), placedFailures(lines, at)...)
}

// ours are the failures in files of the tree, or in none, each place once.
func ours(all []failure) []failure {
	seen := map[string]bool{}
	var kept []failure
	for _, f := range all {
		place := f.key()
		if f.file != "" {
			place = fmt.Sprintf("%s:%d", f.file, f.line)
		}
		if !f.foreign && !seen[place] {
			seen[place] = true
			kept = append(kept, f)
		}
	}
	return kept
}
