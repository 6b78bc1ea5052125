package reviewing

import (
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// kinds are the predefined kinds of review, with what each looks for.
var kinds = map[string]string{
	"security": `- Input that reaches a command, a query, a path, a template, a URL or a parser without being checked or quoted for it.
- Missing or wrong authentication, authorisation, ownership checks; what an unprivileged caller can now reach.
- Secrets and personal data in code, logs, errors, caches and test data; weak or home-made cryptography; predictable tokens.
- Races between a check and its use, symbolic links, temporary files, permissions, unbounded memory, time or recursion on foreign input.
- New dependencies, build steps and downloads, and what they may run.`,
	"tests": `- Behaviour that the change adds or alters and that no test would notice if it broke; name the case that is missing.
- Tests that cannot fail: nothing asserted, the result computed as the code does it, the thing under test replaced, errors ignored.
- Edge cases: empty, one, many, too large, malformed, concurrent, interrupted, the error paths.
- Tests that depend on time, order, network, locale, the machine or each other.
- Tests that were removed, skipped or loosened so that the change passes.`,
	"design": `- Responsibilities in the wrong place, layers that know too much, cycles, the same decision made in two places.
- Interfaces that are hard to use rightly: unclear names, flags that change meaning, hidden state, errors that say nothing.
- What will be costly to change later: formats, names and behaviour that others come to depend on.
- Code that is not needed: speculative options, dead branches, a second mechanism beside one that is there.
- Breaks with how the surrounding code does it, and with what the documentation promises.`,
	"performance": `- Work that grows faster than its input: nested loops over the same data, repeated scans, quadratic string building.
- Calls inside loops that leave the process: queries, requests, files, subprocesses; missing batching or caching, caches without bounds.
- Memory: whole files or result sets read at once, leaks, needless copies on hot paths.
- Locks held while waiting, serialised work that could go side by side, goroutines or threads without an end.
- Start-up cost and work done although nobody asked for its result. Say how large the input must be for it to matter.`,
}

// KindNames returns the names of the predefined kinds of review.
func KindNames() []string { return slices.Sorted(maps.Keys(kinds)) }

// writeKind writes what a review of one kind looks for. The program's own text is an instruction; the text of a request
// is quoted like everything that others wrote.
func writeKind(b *strings.Builder, p record.Panel) {
	if p.Kind == "" {
		return
	}
	b.WriteString("\nThis is a review of one kind: " + safetext.Line(p.Kind) +
		". Report only faults of this kind: other reviews look for the rest. Your verdict is about this kind alone.\n")
	if p.KindPrompt != "" {
		WriteBlock(b, "what_this_kind_looks_for", safetext.Quote(p.KindPrompt))
		return
	}
	b.WriteString("Look for:\n" + kinds[p.Kind] + "\n")
}
