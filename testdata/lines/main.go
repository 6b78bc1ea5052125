// Command lines counts the lines of Go of the program, without tests, by what a user gets for them.
// It writes a table into .github/ARCHITECTURE.md when "go run ./testdata/lines" is typed at the top of the repository.
// A file that belongs to no capability is an error, and so is a prefix that counts no file. loop/, gitstore/ and
// cmd/git-runr/ take the files of these directories that no longer prefix names, also those of a new package.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
)

// The table is between the lines begin and end of the document.
const (
	document = ".github/ARCHITECTURE.md"
	begin    = "<!-- lines by capability: go run ./testdata/lines -->\n"
	end      = "<!-- end of lines by capability -->\n"
)

// capability is what a user gets, and the prefixes of its files. The longest matching prefix decides.
type capability struct {
	name  string
	paths string
}

var capabilities = []capability{
	{"Reviews: ask, comment, answer, resolve, apply what a reviewer suggests", `
		cmd/git-runr/internal/app/review cmd/git-runr/internal/app/inbox
		cmd/git-runr/internal/editdiff cmd/git-runr/internal/steps loop/change loop/comment loop/closing loop/suggest
		loop/runner/person loop/internal/place loop/anchor loop/owners loop/people loop/unidiff`},
	{"A review follows the code through rebases and edits", `
		cmd/git-runr/internal/app/audit loop/lineage loop/locate gitstore/change_ids gitstore/amended
		gitstore/audit_log gitstore/remerge gitstore/renames`},
	{"Agents and reviews in the background: workers, queue, judging, verifying", `
		cmd/git-runr/internal/app/work cmd/git-runr/internal/app/verify cmd/git-runr/internal/worker
		cmd/git-runr/internal/background loop/agent loop/role loop/reviewing loop/queue`},
	{"Runs: implement, check, review, repeat", `
		cmd/git-runr/internal/app/run cmd/git-runr/internal/app/resume
		loop/ loop/runner loop/checking loop/runplan loop/spend
		loop/track loop/duration loop/workspace`},
	{"Answers of agents and output of checks, read into verdicts and findings", `
		loop/reply loop/checklog loop/prose loop/internal/markdown loop/internal/strictjson`},
	{"The built-in reviewer: secrets, mistakes and weak tests without a model", `
		loop/builtin loop/syntax cmd/git-runr/internal/leakrules cmd/git-runr/internal/app/secret_rules`},
	{"Why a run stopped, and what to type", "diagnose cmd/git-runr/internal/app/diagnose"},
	{"The record: events, their fold, the index, notes", `
		loop/record loop/store loop/internal/segment loop/internal/notes loop/internal/spill loop/safetext`},
	{"Storage in git: objects, refs, logs", `
		gitstore/ gitstore/odb gitstore/refdb gitstore/gitdir gitstore/safefile gitstore/entrylog`},
	{"Sharing: exchange with a remote, archives, claims and leases", `
		cmd/git-runr/internal/app/sync loop/share gitstore/entrylog/sync gitstore/entrylog/archive gitstore/entrylog/refetch
		gitstore/entrylog/remoteref gitstore/entrylog/transport gitstore/push`},
	{"Nothing is lost: snapshots, revert, landing, undo, guard", `
		cmd/git-runr/internal/app/undo cmd/git-runr/internal/app/guard loop/landing
		loop/checking/checkout loop/checking/watch loop/runner/plan_checkout loop/runner/revert loop/runner/worktree
		gitstore/guard gitstore/land
		gitstore/revert gitstore/restore gitstore/snapshot gitstore/undo gitstore/worktree gitstore/operation
		gitstore/journal gitstore/finish gitstore/retention gitstore/leftlocks`},
	{"The page", `
		cmd/git-runr/internal/web cmd/git-runr/internal/screens cmd/git-runr/internal/worddiff
		cmd/git-runr/internal/app/serve cmd/git-runr/internal/app/page`},
	{"The terminal screen", "cmd/git-runr/internal/tui cmd/git-runr/internal/app/tui cmd/git-runr/internal/app/screen"},
	{"Tools for agents (MCP), and agents told of them", `
		cmd/git-runr/internal/mcp cmd/git-runr/internal/app/mcp cmd/git-runr/internal/register cmd/git-runr/internal/agenthook
		cmd/git-runr/internal/app/agent cmd/git-runr/internal/app/init_agents`},
	{"git's hooks and the gate before a push", `
		hooks cmd/git-runr/internal/app/hooks cmd/git-runr/internal/app/gate loop/intake loop/runner/commit_hook gitstore/hook`},
	{"Configuration and trust", `
		cmd/git-runr/internal/config cmd/git-runr/internal/app/config cmd/git-runr/internal/app/init cmd/git-runr/internal/app/upkeep
		cmd/git-runr/internal/setup cmd/git-runr/internal/checkup`},
	{"Reports, logs and lists in text", `
		cmd/git-runr/internal/render cmd/git-runr/internal/overview
		cmd/git-runr/internal/app/show cmd/git-runr/internal/app/diff cmd/git-runr/internal/app/log
		cmd/git-runr/internal/app/status cmd/git-runr/internal/follow
		cmd/git-runr/internal/pick cmd/git-runr/internal/when cmd/git-runr/internal/screen cmd/git-runr/internal/progress
		cmd/git-runr/internal/notify`},
	{"Command line, help, manual, completion, demo", "cmd/git-runr/"},
	{"Import of another program's timelines", "loop/runrimport cmd/git-runr/internal/app/import"},
	{"Support of tests", `
		cmd/git-runr/internal/scripttest gitstore/test loop/internal/casetest loop/internal/roundtest
		loop/internal/runtest`},
}

func main() {
	if counts, err := count(); err != nil {
		log.Fatal(err)
	} else if err := replace(format(counts)); err != nil {
		log.Fatal(err)
	}
}

// count returns the number of lines of each capability.
func count() (map[string]int, error) {
	listed, err := exec.Command("git", "ls-files", "--", "*.go").Output()
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	counts, used := map[string]int{}, map[string]bool{}
	for name := range strings.FieldsSeq(string(listed)) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "testdata/") {
			continue
		}
		text, err := os.ReadFile(name)
		of, prefix := capabilityOf(name)
		if err != nil || of == "" {
			return nil, fmt.Errorf("%s cannot be read, or belongs to no capability: %v", name, err)
		}
		counts[of] += bytes.Count(text, []byte("\n"))
		used[prefix] = true
	}
	for _, c := range capabilities {
		for prefix := range strings.FieldsSeq(c.paths) {
			if !used[prefix] {
				return nil, fmt.Errorf("the prefix %q of %q counts no file", prefix, c.name)
			}
		}
	}
	return counts, nil
}

// capabilityOf returns the capability of a file, and the prefix that decides.
func capabilityOf(file string) (name, prefix string) {
	for _, c := range capabilities {
		for path := range strings.FieldsSeq(c.paths) {
			if strings.HasPrefix(file, path) && len(path) > len(prefix) {
				name, prefix = c.name, path
			}
		}
	}
	return name, prefix
}

func format(counts map[string]int) string {
	var b strings.Builder
	b.WriteString("| what a user gets | lines |\n|---|---:|\n")
	total := 0
	for _, c := range capabilities {
		fmt.Fprintf(&b, "| %s | %d |\n", c.name, counts[c.name])
		total += counts[c.name]
	}
	fmt.Fprintf(&b, "| **together** | **%d** |\n", total)
	return b.String()
}

// replace writes the table between its two lines of the document.
func replace(table string) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no place for the table", document)
	}
	return os.WriteFile(document, []byte(before+begin+table+end+after), 0o644)
}
