package app

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// inside is the path of the packages that only cmd/git-runr uses.
const inside = "cmd/git-runr/internal/"

// layers lists the packages from the bottom up: a package imports only packages of lower layers.
var layers = [][]string{
	{"gitstore/each", "gitstore/lazyre"},
	{"loop/safetext", "loop/duration", "loop/internal/strictjson", "loop/internal/segment", "loop/internal/spill",
		"loop/internal/casetest", "loop/anchor", "loop/syntax", "loop/unidiff", "gitstore/safefile", "gitstore/testneed",
		"gitstore/testtmp", "gitstore/testrepo"},
	// These read the output of agents and checks, without knowing git, events or runs.
	{"loop/prose"},
	{"loop/internal/markdown"},
	{"loop/internal/place"},
	{"loop/checklog", "loop/reply"},
	{"loop/internal/roundtest", "loop/track"},
	// Storage in git.
	{"gitstore/gitdir"},
	{"gitstore/odb"},
	{"gitstore/refdb"},
	{"gitstore/entrylog"},
	{"gitstore"},
	{"loop/internal/notes", "loop/change", "loop/comment", "loop/owners", "loop/people", "loop/spend"},
	{"loop/runplan"},
	// Recorded data, and what runs and reviews do.
	{"loop/record"},
	{"loop/store"},
	{"loop/role", "loop/lineage", "loop/locate", "loop/share", "loop/closing", "loop/workspace"},
	{"loop/intake", "loop/landing", "loop/suggest"},
	{"loop/internal/runtest"},
	{"loop/agent", "loop/builtin"},
	{"loop/checking"},
	{"loop/reviewing"},
	{"loop/queue", "loop/runner"},
	{"loop"},
	{"diagnose", "hooks", "loop/runrimport"},
	{inside + "build", inside + "screen", inside + "shown"},
	{inside + "background", inside + "editdiff", inside + "exit", inside + "extras", inside + "leakrules",
		inside + "nearest", inside + "progress", inside + "render", inside + "steps", inside + "when", inside + "worddiff"},
	{inside + "pick", inside + "screens"},
	{inside + "argv", inside + "config", inside + "follow", inside + "manual", inside + "mcp", inside + "overview",
		inside + "stdio", inside + "web"},
	{inside + "agenthook", inside + "checkup", inside + "demo", inside + "notify", inside + "register", inside + "tui",
		inside + "worker"},
	{inside + "complete", inside + "setup"},
	{inside + "scripttest"},
	{inside + "scripttest/guard", inside + "scripttest/inbox", inside + "scripttest/other", inside + "scripttest/review",
		inside + "scripttest/rewrites", inside + "scripttest/runs", inside + "scripttest/share"},
	{inside + "shows"},
	{inside + "app"},
	{inside + "proctest"},
	{"cmd/git-runr", "cmd/git-runr/git-runr-serve"},
}

func layerOf(name string) int {
	return slices.IndexFunc(layers, func(layer []string) bool { return slices.Contains(layer, name) })
}

// TestImports checks the layers, and that only gitstore runs git.
func TestImports(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, "github.com/git-runr/git-runr/")
		at := layerOf(name)
		if at < 0 {
			t.Errorf("%s has no layer", p.ImportPath)
		}
		inGitstore := strings.HasPrefix(name+"/", "gitstore/")
		for _, imported := range p.Imports {
			other, own := strings.CutPrefix(imported, "github.com/git-runr/git-runr/")
			below := layerOf(other)
			switch {
			case own && below >= at:
				t.Errorf("%s imports %s, against the direction", p.ImportPath, imported)
			case own && !inGitstore && below >= layerOf("gitstore/gitdir") && below <= layerOf("gitstore/entrylog"):
				t.Errorf("%s imports %s: outside, package gitstore stands for it", p.ImportPath, imported)
			case strings.HasPrefix(imported, "github.com/go-git/") && !inGitstore:
				t.Errorf("%s imports %s: only gitstore may", p.ImportPath, imported)
			case imported == "os/exec" && !inGitstore && name != "loop/agent" && name != inside+"scripttest":
				t.Errorf("%s runs commands: only gitstore and loop/agent may", p.ImportPath)
			}
		}
	}
}

type listed struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "github.com/git-runr/git-runr/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	if len(packages) < 7 {
		t.Fatalf("only %d packages listed", len(packages))
	}
	return packages
}
