package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImports holds the direction cmd → diagnose, hooks → loop → gitstore, the one
// within gitstore (entrylog → refdb → odb → gitdir), and that git has one door.
func TestImports(t *testing.T) {
	layer := map[string]int{"gitstore": 0, "loop": 1, "diagnose": 2, "hooks": 2, "cmd": 3}
	within := map[string]int{ // gitstore/…: what all may use, then each what is below it
		"safefile": 0, "testtmp": 0, "testrepo": 0, "gitdir": 1, "odb": 2, "refdb": 3, "entrylog": 4, "": 5,
	}
	for _, p := range listPackages(t) {
		name, local := strings.CutPrefix(p.ImportPath, "git-runr/")
		if !local {
			continue
		}
		top, _, _ := strings.Cut(name, "/")
		part := strings.TrimPrefix(strings.TrimPrefix(name, "gitstore"), "/")
		level, known := within[part]
		if top == "gitstore" && !known {
			t.Errorf("%s is at no level of gitstore", p.ImportPath)
		}
		for _, imported := range p.Imports {
			if below, own := strings.CutPrefix(imported, "git-runr/gitstore"); own && top == "gitstore" && within[strings.TrimPrefix(below, "/")] >= level {
				t.Errorf("%s imports %s, against the direction", p.ImportPath, imported)
			}
			other, _, _ := strings.Cut(strings.TrimPrefix(imported, "git-runr/"), "/")
			if strings.HasPrefix(imported, "git-runr/") && other != top && layer[other] >= layer[top] {
				t.Errorf("%s imports %s, against the direction", p.ImportPath, imported)
			}
			if strings.HasPrefix(imported, "github.com/go-git/") && top != "gitstore" {
				t.Errorf("%s imports %s: only gitstore may", p.ImportPath, imported)
			}
			if low, own := strings.CutPrefix(imported, "git-runr/gitstore/"); own && top != "gitstore" && within[low] > 0 {
				t.Errorf("%s imports %s: outside, package gitstore stands for it", p.ImportPath, imported)
			}
			if imported == "os/exec" && top != "gitstore" && name != "loop/agent" {
				t.Errorf("%s runs commands: only gitstore and loop/agent may", p.ImportPath)
			}
		}
	}
}

// layers of loop, from the bottom: a package imports none of its own layer or above. What
// agents and checks say is read without knowing of git, of events or of runs.
var layers = [][]string{
	{"loop/safetext", "loop/internal/strictjson", "loop/internal/casetest", "loop/anchor"},
	{"loop/prose"},
	{"loop/internal/markdown"},
	{"loop/internal/place"},
	{"loop/checklog", "loop/reply"},
	{"loop/internal/roundtest", "loop/track"},
	{"gitstore"},
	{"loop/record"},
	{"loop/agent", "loop/builtin"},
	{"loop"},
}

func layerOf(path string) (int, bool) {
	name := strings.TrimPrefix(path, "git-runr/")
	if strings.HasPrefix(name, "gitstore/") {
		name = "gitstore"
	}
	at := slices.IndexFunc(layers, func(layer []string) bool { return slices.Contains(layer, name) })
	return at, at >= 0
}

// TestImportsWithinLoop holds the layers, and that each package of loop has one.
func TestImportsWithinLoop(t *testing.T) {
	for _, p := range listPackages(t) {
		if !strings.HasPrefix(p.ImportPath, "git-runr/loop") {
			continue
		}
		at, ok := layerOf(p.ImportPath)
		if !ok {
			t.Errorf("%s has no layer", p.ImportPath)
		}
		for _, imported := range p.Imports {
			if below, ok := layerOf(imported); ok && below >= at {
				t.Errorf("%s imports %s, against the direction", p.ImportPath, imported)
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
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "git-runr/...").Output()
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
