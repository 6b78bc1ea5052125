package scripttest

import (
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

// suggestedLine is a line to type: alone on its line, perhaps after a number and a label, and before a remark.
var suggestedLine = lazyre.Compile(`(?m)^ *(?:[0-9]+\. )?(?:[A-Z][a-z]+: )?(git runr [^\n]*?)(?: {2,}.*)?$`)

// placeholder is a word that a person fills in, and what only a shell's history or a document has.
var placeholder = lazyre.Compile(`(?:^| )-?\[?[A-Z]{2,}|[…|<>;()]`)

// continued ends a line that goes on in the next one.
var continued = lazyre.Compile(`\\\n *`)

var anyID = lazyre.Compile(`\b[0-9]{14}-[a-z2-9]{6}\b`)

// suggestedBefore are the lines that any script has looked at, with every id alike.
var suggestedBefore sync.Map

// checkSuggested wants that every line to type in what the command of args has just printed is accepted: its command
// and its flags parse, and what its ids name is there. Of lines that differ in ids alone one is looked at.
func checkSuggested(ts *testscript.TestScript, args []string) {
	if slices.Contains(args, "--help") || slices.Contains(args, "-h") || slices.Contains(args, "help") {
		return
	}
	dir := ts.MkAbs(".")
	if i := slices.Index(args, "-C"); i >= 0 && i+1 < len(args) {
		dir = ts.MkAbs(args[i+1])
	}
	text := continued().ReplaceAllString(ts.ReadFile("stdout")+"\n"+ts.ReadFile("stderr"), "")
	for _, m := range suggestedLine().FindAllStringSubmatch(text, -1) {
		line := strings.TrimSpace(m[1])
		if _, seen := suggestedBefore.LoadOrStore(anyID().ReplaceAllString(line, "ID"), true); seen ||
			placeholder().MatchString(line) {
			continue
		}
		accepted(ts, dir, line+" --help") // it parses, and nothing is done
		for _, id := range anyID().FindAllString(line, -1) {
			if slices.Contains(args, "demo") { // it leaves the directory to which it says to go
				break
			}
			accepted(ts, dir, "git runr show --json "+id)
		}
	}
}

// accepted fails the script where a line that is pasted in dir does not end with 0.
func accepted(ts *testscript.TestScript, dir, line string) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	for _, name := range []string{
		"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_RUNR_CLOCK",
		"TMPDIR",
	} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 0 {
		ts.Fatalf("it suggests %q, which ends with %d:\n%s", line, cmd.ProcessState.ExitCode(), out)
	}
}
