package builtin

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/syntax"
)

// maxPackages is the maximum number of Go packages in a command; with more it uses ./...
const maxPackages = 20

// tree gives the detection access to the project's files.
type tree struct {
	has  func(path string) bool
	read func(path string) ([]byte, error)
	runs func(command string) bool // reports whether the program of a command is installed
}

// Detect returns the standard checks for the changed paths of a project without configured
// checks: vet and test of the changed Go packages, cargo test, and the test script of an npm
// package without dependencies. has reports whether a file is in the tree, read returns its
// content, runs reports whether the program of a command is installed. Checks at the top are
// named vet and test, those of a module in a directory vet:DIR and test:DIR.
func Detect(has func(path string) bool, read func(path string) ([]byte, error), runs func(command string) bool,
	changed []string) []runplan.Check {
	t := tree{has, read, runs}
	var checks []runplan.Check
	for _, dir := range t.roots(changed, "go.mod", isGoInput) {
		checks = append(checks, t.goChecks(dir, changed)...)
	}
	isRust := func(p string) bool {
		return strings.HasSuffix(p, ".rs") || slices.Contains([]string{"Cargo.toml", "Cargo.lock"}, path.Base(p))
	}
	for _, dir := range t.roots(changed, "Cargo.toml", isRust) {
		checks = append(checks, check(dir, "test", "cargo test"))
	}
	isNode := func(p string) bool {
		lang := syntax.Reviewed(p)
		return lang != nil && lang.ID == "js" || path.Base(p) == "package.json"
	}
	for _, dir := range t.roots(changed, "package.json", isNode) {
		if t.testsWithoutDependencies(dir) {
			checks = append(checks, check(dir, "test", "npm test"))
		}
	}
	return t.runnable(checks)
}

func isGoInput(p string) bool {
	base := path.Base(p)
	return strings.HasSuffix(p, ".go") || base == "go.mod" || base == "go.sum"
}

// roots returns the nearest directories above the changed inputs that contain the marker
// file, sorted; "." is the top.
func (t tree) roots(changed []string, marker string, isInput func(string) bool) []string {
	seen := map[string]bool{}
	for _, p := range changed {
		if !isInput(p) || isA(p, "vendored") {
			continue
		}
		if dir, ok := t.above(p, marker); ok {
			seen[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// above returns the nearest directory above p that contains the marker.
func (t tree) above(p, marker string) (string, bool) {
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if t.has(path.Join(dir, marker)) {
			return dir, true
		}
		if dir == "." || dir == "/" {
			return "", false
		}
	}
}

func check(dir, name, command string) runplan.Check {
	if dir == "." {
		return runplan.Check{Name: name, Command: command}
	}
	return runplan.Check{Name: name + ":" + dir, Command: "cd " + shellQuote("./"+dir) + " && " + command}
}

func (t tree) goChecks(dir string, changed []string) []runplan.Check {
	list := strings.Join(t.goPackages(dir, changed), " ")
	if list == "" {
		return nil
	}
	return []runplan.Check{check(dir, "vet", "go vet "+list), check(dir, "test", "go test "+list)}
}

// goPackages returns the changed packages of one module, as arguments.
func (t tree) goPackages(module string, changed []string) []string {
	whole := []string{"./..."}
	seen := map[string]bool{}
	var gone []string
	for _, p := range changed {
		if dir, ok := t.above(p, "go.mod"); !ok || dir != module || !isGoInput(p) || isA(p, "vendored") {
			continue
		}
		if !strings.HasSuffix(p, ".go") {
			return whole
		}
		dir := path.Clean(strings.TrimPrefix(path.Dir(p)+"/", module+"/"))
		if !isPackageDir(dir) {
			continue
		}
		if t.has(p) {
			seen[dir] = true
		} else {
			gone = append(gone, dir)
		}
	}
	lost := func(dir string) bool { return !seen[dir] } // the package may be gone; its users must still compile
	if len(seen) > maxPackages || slices.ContainsFunc(gone, lost) {
		return whole
	}
	args := each.Of(slices.Collect(maps.Keys(seen)), func(dir string) string {
		return shellQuote(strings.TrimSuffix("./"+dir, "/."))
	})
	slices.Sort(args)
	return args
}

var importPath = lazy(`^[\w.~+@/-]+$`)

// isPackageDir reports whether dir can be a Go package. It rejects directories that the go
// command ignores, and names that no import path may have.
func isPackageDir(dir string) bool {
	if dir == "." {
		return true
	}
	for part := range strings.SplitSeq(dir, "/") {
		if part == "testdata" || hasAnyPrefix(part, ".", "_") {
			return false
		}
	}
	return importPath().MatchString(dir)
}

// packageJSON is the part of package.json that is used.
type packageJSON struct {
	Scripts              map[string]string `json:"scripts"`
	Dependencies         map[string]any    `json:"dependencies"`
	DevDependencies      map[string]any    `json:"devDependencies"`
	PeerDependencies     map[string]any    `json:"peerDependencies"`
	OptionalDependencies map[string]any    `json:"optionalDependencies"`
}

func (t tree) npm(dir string) (packageJSON, bool) {
	var p packageJSON
	data, err := t.read(path.Join(dir, "package.json"))
	if err != nil || json.Unmarshal(data, &p) != nil {
		return packageJSON{}, false
	}
	if strings.Contains(p.Scripts["test"], "no test specified") {
		delete(p.Scripts, "test") // the default of npm init
	}
	return p, true
}

func (t tree) testsWithoutDependencies(dir string) bool {
	p, ok := t.npm(dir)
	needs := len(p.Dependencies) + len(p.DevDependencies) + len(p.PeerDependencies) + len(p.OptionalDependencies)
	return ok && needs == 0 && p.Scripts["test"] != ""
}

// DetectAll returns the checks of the whole project for a first configuration, from the
// files at its top: go, npm (or pnpm, yarn, bun by the lock file), cargo, pytest and make,
// if their programs are installed. The first check with a name keeps it.
func DetectAll(has func(path string) bool, read func(path string) ([]byte, error),
	runs func(command string) bool) []runplan.Check {
	t := tree{has, read, runs}
	var checks []runplan.Check
	add := func(name, command string) { checks = append(checks, runplan.Check{Name: name, Command: command}) }
	if has("go.mod") {
		add("build", "go build ./...")
		add("vet", "go vet ./...")
		add("test", "go test ./...")
	}
	if has("Cargo.toml") {
		add("build", "cargo build")
		add("test", "cargo test")
		if runs("cargo-clippy") {
			add("clippy", "cargo clippy")
		}
	}
	checks = append(checks, t.npmChecks()...)
	if t.usesPytest() {
		add("test", t.pythonTool().run+"pytest")
	}
	checks = append(checks, t.makeChecks()...)
	return t.runnable(checks)
}

// runnable keeps the first check of each name whose program is installed.
func (t tree) runnable(checks []runplan.Check) []runplan.Check {
	seen := map[string]bool{}
	var kept []runplan.Check
	for _, c := range checks {
		if !seen[c.Name] && t.runs(c.Command) {
			seen[c.Name] = true
			kept = append(kept, c)
		}
	}
	return kept
}

func (t tree) npmChecks() []runplan.Check {
	p, ok := t.npm(".")
	if !ok {
		return nil
	}
	var checks []runplan.Check
	for _, name := range []string{"build", "typecheck", "lint", "test"} {
		if p.Scripts[name] != "" {
			checks = append(checks, runplan.Check{Name: name, Command: t.npmTool() + " run " + name})
		}
	}
	return checks
}

func (t tree) npmTool() string {
	for _, tool := range []struct{ lock, name string }{
		{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"},
	} {
		if t.has(tool.lock) {
			return tool.name
		}
	}
	return "npm"
}

// DetectSetup returns the command that prepares a fresh checkout for its checks, by the lock files at its top; "" if
// nothing has to be prepared or the program is not installed.
func DetectSetup(has func(path string) bool, read func(path string) ([]byte, error),
	runs func(command string) bool) string {
	t := tree{has, read, runs}
	commands := []string{t.npmSetup(), t.pythonTool().setup}
	return strings.Join(each.Where(commands, func(c string) bool { return c != "" && runs(c) }), " && ")
}

func (t tree) npmSetup() string {
	tool := t.npmTool()
	switch {
	case !t.has("package.json"):
		return ""
	case tool == "npm" && (t.has("package-lock.json") || t.has("npm-shrinkwrap.json")):
		return "npm ci"
	case tool == "npm":
		return ""
	case t.has(".yarnrc.yml"):
		return "yarn install --immutable"
	}
	return tool + " install --frozen-lockfile"
}

// pythonTool holds the command that prepares a Python project's environment, and the prefix that runs a program in it.
// Both are empty if the project has no lock file and the checkout no virtual environment.
type pythonTool struct{ setup, run string }

func (t tree) pythonTool() pythonTool {
	switch {
	case t.has("uv.lock"):
		return pythonTool{"uv sync --frozen", "uv run "}
	case t.has("poetry.lock"):
		return pythonTool{"poetry install", "poetry run "}
	case t.has("Pipfile.lock"):
		return pythonTool{"pipenv sync --dev", "pipenv run "}
	case !t.has(".venv/bin/python") || !t.has("requirements.txt"):
		return pythonTool{}
	}
	pip := "python3 -m venv .venv && .venv/bin/python -m pip install -q -r requirements.txt"
	if t.has("requirements-dev.txt") {
		pip += " -r requirements-dev.txt"
	}
	return pythonTool{pip, ".venv/bin/python -m "}
}

// pytestFiles are the files that show that a project uses pytest, with what they then contain.
var pytestFiles = map[string]string{"pytest.ini": "", "conftest.py": "", "requirements.txt": "pytest",
	"requirements-dev.txt": "pytest", "pyproject.toml": "pytest", "setup.cfg": "[tool:pytest]", "tox.ini": "pytest"}

func (t tree) usesPytest() bool {
	for name, words := range pytestFiles {
		if data, err := t.read(name); err == nil && strings.Contains(string(data), words) {
			return true
		}
	}
	return false
}

var makeTarget = lazy(`(?m)^([A-Za-z0-9_.-]+(?:[ \t]+[A-Za-z0-9_.-]+)*)[ \t]*::?(?:[^=:]|$)`)

func (t tree) makeChecks() []runplan.Check {
	targets := t.makeTargets()
	var checks []runplan.Check
	for _, name := range []string{"test", "check", "lint"} {
		if recipe, ok := targets[name]; ok && !slices.ContainsFunc(recipe, func(line string) bool { return !t.runs(line) }) {
			checks = append(checks, runplan.Check{Name: name, Command: "make " + name})
		}
	}
	return checks
}

// makeTargets reads the makefile that make would read, and returns the recipe lines of each target.
func (t tree) makeTargets() map[string][]string {
	targets := map[string][]string{}
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		data, err := t.read(name)
		if err != nil {
			continue
		}
		var open []string
		for line := range strings.SplitSeq(string(data), "\n") {
			if m := makeTarget().FindStringSubmatch(line); m != nil {
				open = strings.Fields(m[1])
			}
			recipe, isRecipe := strings.CutPrefix(line, "\t")
			for _, target := range open {
				lines := targets[target]
				if isRecipe {
					lines = append(lines, strings.TrimLeft(recipe, "@-+ "))
				}
				targets[target] = lines
			}
		}
		return targets
	}
	return targets
}

var plainWord = lazy(`^[\w@%+=:,./-]+$`)

// shellQuote quotes s as one word for sh.
func shellQuote(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
