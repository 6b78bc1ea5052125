package runrimport

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"git-runr/loop/checklog"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/runplan"
)

// maxSourceOutput is how much of a command's output is kept, in bytes: its end.
const maxSourceOutput = 256 << 10

// evidenceOf adds one command's result. That of the same command before it, in the
// same turn, no longer counts.
func (im *importer) evidenceOf(command string, exit int, output string) {
	command = prose.Cut(strings.TrimSpace(command), 4<<10)
	if command == "" || len(im.pending) >= maxSourceList {
		return
	}
	if over := len(output) - maxSourceOutput; over > 0 {
		output = "…\n" + strings.ToValidUTF8(output[over:], "")
	}
	im.pending = slices.DeleteFunc(im.pending, func(c record.CheckResult) bool { return c.Command == command })
	result := record.CheckResult{Command: command, ExitCode: exit, Output: output, Said: checklog.Said(command, output, exit)}
	if exit < 0 {
		result.Reason = "not_recorded"
	}
	result.Name = im.checkName(command)
	im.pending, im.checkedAt = append(im.pending, result), im.at
}

// flushChecks records the commands' results as one check step.
func (im *importer) flushChecks() {
	if len(im.pending) == 0 {
		return
	}
	run := record.CheckRun{Step: im.step(runplan.StepCheck), Results: im.pending}
	im.pending = nil
	if a := im.run.LastAttempt(); a != nil {
		run.Attempt, run.Tree = a.Number, a.Commit
	}
	for i := range run.Results {
		run.Results[i].Tree = string(run.Tree)
	}
	whole := run.Results
	run.Results = record.WithoutOutput(whole)
	now := im.at
	im.at = im.checkedAt
	im.add(record.EventChecksCompleted.New(importSource, run.Title(), run).AttachChecks(whole))
	im.at = now
}

// checkName is the name of the configured check with that command, else one made
// from the command, which is no configured check's and no other command's.
func (im *importer) checkName(command string) string {
	taken := map[string]bool{}
	for _, c := range im.run.Plan.Checks {
		if strings.TrimSpace(c.Command) == command {
			return c.Name
		}
		taken[c.Name] = true
	}
	for _, c := range im.pending {
		taken[c.Name] = true
	}
	tool, word := commandWords(command)
	name := word
	if taken[name] {
		name = tool + "-" + word
	}
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%s-%d", tool, word, i)
	}
	return name
}

// runnerWords come before the word that says what a command does.
var runnerWords = prose.WordSet(`npm npx pnpm yarn bun bunx run exec go cargo make python python3 poetry uv bundle sh bash node env
	mvn gradle gradlew just task deno dotnet mix composer`)

// commandWords are a command's program and the word that says what it does: npm and
// typecheck for "npm run typecheck".
func commandWords(command string) (tool, word string) {
	for _, field := range strings.Fields(command) {
		if strings.HasPrefix(field, "-") || strings.Contains(field, "=") {
			continue
		}
		name := strings.ToLower(record.SafeName(path.Base(field)))
		name = strings.Trim(prose.Cut(strings.TrimSuffix(name, path.Ext(name)), 40), "_-.")
		if name == "" {
			continue
		}
		if tool == "" {
			tool = name
		}
		if word = name; !runnerWords.Has(name) {
			break
		}
	}
	return cmp.Or(tool, "command"), cmp.Or(word, "command")
}
