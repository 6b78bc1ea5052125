package builtin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// maxPerCheck is the maximum number of findings from one check.
const maxPerCheck = 10

// Judge fills in what a check's result means for a change, by comparing it with the result
// on the base; see checking.Checker. changed are the paths of the change: a file name in the
// output that matches one of them is taken for that file.
func Judge(result record.CheckResult, base *record.CheckResult, changed []string) record.CheckResult {
	result.FailsOnBase, result.Failures, result.FailuresMore, result.FailuresOnBase, result.Excerpt = false, nil, 0, 0, ""
	if result.Reason != record.NotInstalled {
		result.NotRun = notRun(result, base != nil && base.OK())
	}
	if result.OK() || result.NotRun != "" {
		return result
	}
	lines := outputLines(result.Output)
	now := readFailures(result, result.Output, changed)
	fresh := now
	if base != nil && !base.OK() && base.Reason != record.NotInstalled && notRun(*base, false) == "" {
		was := readFailures(*base, base.Output, changed)
		fresh = missingFrom(was, now, unsteady(now, result, changed))
		result.FailsOnBase = result.Reason == base.Reason && len(fresh) == 0 &&
			(len(now) > 0 || len(was) == 0 && sameLines(result, *base))
	}
	result.FailuresOnBase = len(now) - len(fresh)
	shown := ours(fresh)
	result.Excerpt = excerpt(lines, shown)
	for _, f := range shown[:min(len(shown), maxPerCheck)] {
		result.Failures = append(result.Failures,
			record.CheckFailure{Test: oneLine(f.test, 200), File: f.file, Line: f.line, Message: oneLine(f.msg, 500)})
	}
	result.FailuresMore = max(len(shown)-maxPerCheck, 0)
	return result
}

// unsteady returns the keys of failures that a second run of the check on the same tree did
// not repeat in the same words: their random part is not the change's fault.
func unsteady(now []failure, result record.CheckResult, changed []string) map[string]bool {
	if result.Again == "" {
		return nil
	}
	return each.SetOf(missingFrom(readFailures(result, result.Again, changed), now, nil), failure.key)
}

// sameLines reports whether the ends of two outputs without a readable failure are equal.
// Words that differ between two runs on one tree are ignored.
func sameLines(result, base record.CheckResult) bool {
	now, was := endWords(result.Output), endWords(base.Output)
	again, wasAgain := endWords(cmp.Or(result.Again, result.Output)), endWords(cmp.Or(base.Again, base.Output))
	if len(now) != len(again) || len(was) != len(wasAgain) {
		return true // it prints something else each time, so change and base cannot be compared
	}
	if len(now) != len(was) {
		return false
	}
	for i := range now {
		if now[i] != was[i] && now[i] == again[i] && was[i] == wasAgain[i] {
			return false
		}
	}
	return true
}

// endWords returns the words of the last lines of output, without parts that change from run to run.
func endWords(output string) []string {
	return strings.Fields(steady(lastLines(record.CheckResult{Output: output})))
}

// checkFindings returns the findings of a judged result: warnings with the places in its
// output. It returns none for a check that did not run or fails on the base too, because
// that says nothing about the change.
func (sec *Secrets) checkFindings(result record.CheckResult) []reply.Finding {
	if !result.Fails() {
		return nil
	}
	if len(result.Failures) == 0 {
		return []reply.Finding{sec.checkFinding(result.Name, record.CheckFailure{Message: "failed: " + lastLines(result)})}
	}
	found := each.Of(result.Failures, func(f record.CheckFailure) reply.Finding {
		return sec.checkFinding(result.Name, f)
	})
	if left := result.FailuresMore; left > 0 {
		found[len(found)-1].Issue += fmt.Sprintf(" (and %d more)", left)
	}
	return found
}

func (sec *Secrets) checkFinding(name string, f record.CheckFailure) reply.Finding {
	place := reply.Finding{Severity: reply.Warning, File: f.File, Line: f.Line, Rule: record.RuleOfCheck + name}
	f.File = "" // the finding has the place
	text, _ := sec.Redact(oneLine(f.String(), 500))
	place.Issue = "check " + oneLine(name, 60) + ": " + text
	return place
}

// missingFrom returns the failures of now that are not in was. The same failure may be at
// another line; a failure with an unsteady message is compared by its file alone.
func missingFrom(was, now []failure, unsteady map[string]bool) []failure {
	seen := map[string]bool{}
	for _, f := range was {
		seen[f.key()], seen[f.name] = true, true
	}
	return slices.DeleteFunc(slices.Clone(now), func(f failure) bool {
		return seen[f.key()] || unsteady[f.key()] && seen[f.name]
	})
}

// machineSigns matches a tool's complaint about the network, its toolchain, a program or
// space, which no change causes.
var machineSigns = lazy(
	`(?m)^(?:go: |.*proxy\.golang\.org).*(?:dial tcp|lookup .*: |no such host|i/o timeout|connection refused|TLS handshake).*` +
		`|^.*(?:\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|ERR_PNPM_META_FETCH_FAIL|ERR_SOCKET_TIMEOUT)\b|getaddrinfo|[Nn]etwork is unreachable).*` +
		`|^.*(?:npm (?:ERR!|error)|registry\.|pypi\.org|crates\.io|repo\.maven).*(?:ETIMEDOUT|ECONNREFUSED|ECONNRESET|fetch failed|timed? ?out|network).*` +
		`|^.*(?:Could not resolve host|Temporary failure in name resolution|Name or service not known|failed to download from|failed to get .* as a dependency of package).*` +
		`|^go: (?:download go\S*|no such tool|go\.mod requires go >=|cannot find GOROOT).*|^.*toolchain not available.*` +
		`|^error: (?:toolchain '[^']+' is not installed|no such command: .*|rustup could not).*` +
		`|^.*(?:ERR_PNPM_UNSUPPORTED_ENGINE|EBADENGINE|Unsupported engine).*` +
		`|(?i)^.*: (?:no space left on device|cannot allocate memory)$`)

// missingParts matches a tool's complaint about a missing library or program. A change can
// cause that itself, so it counts only if the check did not pass on the base.
var missingParts = lazy(
	`(?m)Cannot find (?:module|package) '[^./'][^']*'|ModuleNotFoundError: No module named .*|No module named pytest` +
		`|.*(?:no required module provides package|missing go.sum entry|cannot find module providing package).*` +
		`|.*(?:build constraints exclude all Go files|no Go files in|matched no packages).*` +
		`|^(?:/bin/)?(?:sh|bash|dash|zsh)(?:: (?:line )?\d+)?: \S+: (?:command )?not found$` +
		`|^make(?:\[\d+\])?: \*\*\* \[.*\] Error 12[67]$|^.*\bspawn \S+ ENOENT.*|^.*Command failed with exit code 127.*`)

// notRun returns why a check could not run on this machine, or "". A missing part is the
// change's fault if the check passed on the base.
func notRun(result record.CheckResult, basePassed bool) string {
	switch {
	case result.OK(), result.Reason == reasonTimeout:
		return ""
	case result.Reason != "" && !isCrash(result.Reason) && !(basePassed && strings.HasPrefix(result.Reason, "signal:")):
		return strings.ReplaceAll(oneLine(result.Reason, 200), "_", " ")
	case namesTest(result):
		return ""
	}
	if m := machineSigns().FindString(result.Output); m != "" {
		return oneLine(m, 200)
	}
	if basePassed {
		return ""
	}
	switch result.ExitCode {
	case 126, 127:
		return cmp.Or(missingProgram(result.Output), lastLines(result))
	case 130, 137, 143:
		return fmt.Sprintf("it was killed (exit status %d)", result.ExitCode)
	}
	if m := missingParts().FindString(result.Output); m != "" {
		return cmp.Or(missingProgram(result.Output), oneLine(m, 200))
	}
	return ""
}

// namesTest reports whether the output names a failed test, which proves that the check ran.
func namesTest(result record.CheckResult) bool {
	return slices.ContainsFunc(readFailures(result, result.Output, nil), func(f failure) bool { return f.test != "" })
}

// reasonTimeout is the Reason of a check that exceeded its time limit. Such a check failed,
// unless it times out on the base too.
const reasonTimeout = "timeout"

// missingSigns matches the messages of shells, env and make about a program that is missing
// or cannot be started.
var missingSigns = lazy(
	`(?m)^(?:.*: )?(?:line )?(?:\d+: )?(\S+): ((?:command )?not found|[Pp]ermission denied|cannot execute.*)$` +
		`|^(?:zsh|fish)(?::\d+)?: (?:command not found|Unknown command):? (\S+)$` +
		`|^(?:\S*/)?(?:env|make(?:\[\d+\])?|exec): [‘'"]?([^\s‘’'":]+)[’'"]?: No such file or directory$`)

// missingProgram describes the program that output reports as missing; "" if there is none.
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

// isCrash reports whether a program caused its signal itself, as opposed to a signal sent by others.
func isCrash(reason string) bool {
	name, ok := strings.CutPrefix(strings.ToUpper(reason), "SIGNAL:")
	return ok && slices.Contains([]string{"SEGV", "ABRT", "BUS", "FPE", "ILL", "TRAP", "SYS",
		"SEGMENTATION FAULT", "ABORTED", "BUS ERROR", "TRACE/BREAKPOINT TRAP"}, strings.TrimPrefix(name, "SIG"))
}

// lastLines returns as one line the excerpt from the first failure on, or else the end of the
// output; the exit status if the output is empty.
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

// readFailures reads the failures in an output: of go test, and of any compiler, linter or test runner.
func readFailures(result record.CheckResult, output string, changed []string) []failure {
	lines, at := outputLines(output), newPlaces(result.Command, changed)
	return append(goTestFailures(lines, at), placedFailures(lines, at)...)
}

// ours returns the failures in files of the tree or without a file, one for each place.
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
