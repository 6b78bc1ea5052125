package builtin

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/syntax"
)

// maxPackages is how many Go packages are named in a command before it says ./...
const maxPackages = 20

// tree is how the detection sees the files of the project.
type tree struct {
	has  func(path string) bool
	read func(path string) ([]byte, error)
	runs func(command string) bool // reports whether the program of a command is here
}

// Detect gives the standard checks for the changed paths of a project that
// configured none: vet and test of the changed Go packages, cargo test, and the
// test script of an npm package that needs no dependencies. has reports whether
// a file is in the tree, read gives its content, runs whether the program of a command is here. The checks of the top are called
// vet and test, those of a module in a directory vet:DIR and test:DIR.
func Detect(has func(path string) bool, read func(path string) ([]byte, error), runs func(command string) bool, changed []string) []runplan.Check {
	t := tree{has, read, runs}
	var checks []runplan.Check
	for _, dir := range t.roots(changed, "go.mod", isGoInput) {
		checks = append(checks, t.goChecks(dir, changed)...)
	}
	for _, dir := range t.roots(changed, "Cargo.toml", isRustInput) {
		checks = append(checks, check(dir, "test", "cargo test"))
	}
	for _, dir := range t.roots(changed, "package.json", isNodeInput) {
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

func isRustInput(p string) bool {
	base := path.Base(p)
	return strings.HasSuffix(p, ".rs") || base == "Cargo.toml" || base == "Cargo.lock"
}

func isNodeInput(p string) bool {
	lang := syntax.Reviewed(p)
	return lang != nil && lang.ID == "js" || path.Base(p) == "package.json"
}

// roots are the directories that hold the marker file above the changed inputs,
// sorted; "." is the top.
func (t tree) roots(changed []string, marker string, isInput func(string) bool) []string {
	seen := map[string]bool{}
	for _, p := range changed {
		if !isInput(p) || isVendored(p) {
			continue
		}
		if dir, ok := t.above(p, marker); ok {
			seen[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// above is the nearest directory above p that holds the marker.
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

// goPackages are the packages of one module that the change touches, as arguments.
func (t tree) goPackages(module string, changed []string) []string {
	whole := []string{"./..."}
	seen := map[string]bool{}
	var gone []string
	for _, p := range changed {
		if dir, ok := t.above(p, "go.mod"); !ok || dir != module || !isGoInput(p) || isVendored(p) {
			continue
		}
		if !strings.HasSuffix(p, ".go") {
			return whole
		}
		dir := relative(module, path.Dir(p))
		if !isPackageDir(dir) {
			continue
		}
		if t.has(p) {
			seen[dir] = true
		} else {
			gone = append(gone, dir)
		}
	}
	for _, dir := range gone {
		if !seen[dir] {
			return whole // nobody knows whether the package is still there, but its users are
		}
	}
	if len(seen) > maxPackages {
		return whole
	}
	return packageArguments(seen)
}

func packageArguments(dirs map[string]bool) []string {
	var args []string
	for dir := range dirs {
		arg := "."
		if dir != "." {
			arg = "./" + dir
		}
		args = append(args, shellQuote(arg))
	}
	slices.Sort(args)
	return args
}

func relative(base, dir string) string {
	if base == "." {
		return dir
	}
	if dir == base {
		return "."
	}
	return strings.TrimPrefix(dir, base+"/")
}

var importPath = lazy(`^[\w.~+@/-]+$`)

// isPackageDir leaves out the directories that the go command does not look at,
// and names that no import path may have.
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

// packageJSON is what matters of an npm package.
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
		delete(p.Scripts, "test") // what npm init writes
	}
	return p, true
}

func (t tree) testsWithoutDependencies(dir string) bool {
	p, ok := t.npm(dir)
	needs := len(p.Dependencies) + len(p.DevDependencies) + len(p.PeerDependencies) + len(p.OptionalDependencies)
	return ok && needs == 0 && p.Scripts["test"] != ""
}

// DetectAll gives the checks of the whole project for a first configuration, from
// what lies at its top: go, npm (or pnpm, yarn, bun by the lock file), cargo,
// pytest and make, as far as their programs are here. Names are unique; the first that claims one keeps it.
func DetectAll(has func(path string) bool, read func(path string) ([]byte, error), runs func(command string) bool) []runplan.Check {
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

// runnable keeps the first check of each name whose program is here.
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

// DetectSetup returns the command that makes a fresh checkout of the project ready for its checks, by the lock files
// at its top; "" where nothing has to be made, or its program is not here.
func DetectSetup(has func(path string) bool, read func(path string) ([]byte, error), runs func(command string) bool) string {
	t := tree{has, read, runs}
	var commands []string
	for _, command := range []string{t.npmSetup(), t.pythonTool().setup} {
		if command != "" && runs(command) {
			commands = append(commands, command)
		}
	}
	return strings.Join(commands, " && ")
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

// pythonTool is how a Python project's environment is made, and how a program in it is run: nothing of both where the
// project has no lock file, and the checkout no virtual environment.
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

func (t tree) usesPytest() bool {
	if t.has("pytest.ini") || t.has("conftest.py") || t.contains("requirements.txt", "pytest") || t.contains("requirements-dev.txt", "pytest") {
		return true
	}
	return t.contains("pyproject.toml", "pytest") || t.contains("setup.cfg", "[tool:pytest]") || t.contains("tox.ini", "pytest")
}

func (t tree) contains(name, words string) bool {
	data, err := t.read(name)
	return err == nil && strings.Contains(string(data), words)
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

// makeTargets reads the file that make would read: the lines of each target's recipe.
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

// shellQuote makes one word for sh.
func shellQuote(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
