package builtin

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/runplan"
)

// project maps paths to contents.
type project map[string]string

func (p project) has(path string) bool { _, ok := p[path]; return ok }

func (p project) read(path string) ([]byte, error) {
	text, ok := p[path]
	if !ok {
		return nil, errors.New("no such file")
	}
	return []byte(text), nil
}

func listChecks(checks []runplan.Check) []string {
	list := []string{}
	for _, c := range checks {
		list = append(list, c.Name+": "+c.Command)
	}
	return list
}

func TestDetect(t *testing.T) {
	many := project{"go.mod": ""}
	var manyChanged []string
	for i := range maxPackages + 1 {
		name := fmt.Sprintf("p%d/x.go", i)
		many[name] = ""
		manyChanged = append(manyChanged, name)
	}
	goTree := project{"go.mod": "", "go.sum": "", "x.go": "", "a/x.go": "", "a/b/y.go": "", "vendor/v/v.go": "",
		"a/testdata/t.go": "",
		"sub/go.mod":      "", "sub/x.go": "", "sub/c/x.go": "", "odd dir/go.mod": "", "odd dir/it's/x.go": "",
		"odd dir/ok/x.go": "", "README.md": ""}
	for _, c := range []struct {
		name    string
		tree    project
		changed []string
		want    []string
	}{
		{"nothing known", project{"README.md": ""}, []string{"README.md"}, nil},
		{"go, no go file changed", goTree, []string{"README.md"}, nil},
		{"go", goTree, []string{"a/x.go", "x.go", "a/b/y.go"},
			[]string{"vet: go vet . ./a ./a/b", "test: go test . ./a ./a/b"}},
		{"go.mod", goTree, []string{"a/x.go", "go.mod"}, []string{"vet: go vet ./...", "test: go test ./..."}},
		{"many packages", many, manyChanged, []string{"vet: go vet ./...", "test: go test ./..."}},
		{"module below", goTree, []string{"sub/c/x.go", "a/x.go"}, []string{
			"vet: go vet ./a", "test: go test ./a", "vet:sub: cd ./sub && go vet ./c", "test:sub: cd ./sub && go test ./c"}},
		{"odd names", goTree, []string{"odd dir/ok/x.go", "odd dir/it's/x.go"}, []string{
			"vet:odd dir: cd './odd dir' && go vet ./ok", "test:odd dir: cd './odd dir' && go test ./ok"}},
		{"no package of the module", goTree, []string{"vendor/v/v.go", "a/testdata/t.go"}, nil},
		{"file removed, package stays", goTree, []string{"a/gone.go", "a/x.go"},
			[]string{"vet: go vet ./a", "test: go test ./a"}},
		{"file removed, package unknown", goTree, []string{"gone/x.go"},
			[]string{"vet: go vet ./...", "test: go test ./..."}},
		{"no module", project{"x.go": ""}, []string{"x.go"}, nil},
		{"rust", project{"Cargo.toml": "", "src/a.rs": ""}, []string{"src/a.rs"}, []string{"test: cargo test"}},
		{"rust below", project{"c/Cargo.toml": "", "c/src/a.rs": ""}, []string{"c/src/a.rs"},
			[]string{"test:c: cd ./c && cargo test"}},
		{"npm", project{"package.json": `{"scripts":{"test":"node --test"}}`, "a.js": ""}, []string{"a.js"},
			[]string{"test: npm test"}},
		{"npm, nothing of it changed", project{"package.json": `{"scripts":{"test":"node --test"}}`, "a.md": ""},
			[]string{"a.md"}, nil},
		{"npm with dependencies", project{"package.json": `{"scripts":{"test":"jest"},"devDependencies":{"jest":"1"}}`},
			[]string{"a.js"}, nil},
		{"npm without a test", project{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`},
			[]string{"a.js"}, nil},
		{"npm, broken", project{"package.json": `{`}, []string{"a.js"}, nil},
		{"nothing changed", goTree, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := listChecks(Detect(c.tree.has, c.tree.read, allHere, c.changed)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func allHere(string) bool { return true }

// A check whose program is not installed is not proposed: here make and go are installed, and no linter.
func TestDetectAllProposesWhatIsHere(t *testing.T) {
	files := project{
		"go.mod": "module x\n", "Cargo.toml": "[package]\n", "package.json": `{"scripts":{"build":"tsc"}}`, "pytest.ini": "",
		"Makefile": "lint:\n\t$(info lint)\n\t@golangci-lint run -v\n\ncheck: x.c\n\tgo vet ./...\n\nx.c:\n" +
			"\tno-such-program\n",
	}
	runs := func(command string) bool {
		program, _, _ := strings.Cut(command, " ")
		return !slices.Contains([]string{"golangci-lint", "cargo", "cargo-clippy", "npm", "pytest", "no-such-program"},
			program)
	}
	want := []string{"build: go build ./...", "vet: go vet ./...", "test: go test ./...", "check: make check"}
	if got := listChecks(DetectAll(files.has, files.read, runs)); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestDetectAll(t *testing.T) {
	for _, c := range []struct {
		name string
		tree project
		want []string
	}{
		{"nothing", project{"README.md": ""}, nil},
		{"go", project{"go.mod": ""}, []string{"build: go build ./...", "vet: go vet ./...", "test: go test ./..."}},
		{"go and make",
			project{"go.mod": "", "Makefile": "BIN := x\n.PHONY: test lint\ntest lint: build\n\tx\ncheck::\n\ty\n"},
			[]string{"build: go build ./...", "vet: go vet ./...", "test: go test ./...", "check: make check",
				"lint: make lint"}},
		{"cargo", project{"Cargo.toml": ""}, []string{"build: cargo build", "test: cargo test", "clippy: cargo clippy"}},
		{"npm", project{"package.json": `{"scripts":{"test":"jest","lint":"eslint .","start":"x"}}`},
			[]string{"lint: npm run lint", "test: npm run test"}},
		{"pnpm", project{"package.json": `{"scripts":{"typecheck":"tsc"}}`, "pnpm-lock.yaml": ""},
			[]string{"typecheck: pnpm run typecheck"}},
		{"yarn", project{"package.json": `{"scripts":{"build":"x"}}`, "yarn.lock": ""}, []string{"build: yarn run build"}},
		{"pytest", project{"pyproject.toml": "[tool.pytest.ini_options]\n"}, []string{"test: pytest"}},
		{"python without pytest", project{"pyproject.toml": "[project]\n"}, nil},
		{"make", project{"Makefile": "test: a\n\tx\nlint = no\ncheck := no\nall:\n"}, []string{"test: make test"}},
		{"make, no such targets", project{"Makefile": "all:\n\techo test: x\nx: test\n"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := listChecks(DetectAll(c.tree.has, c.tree.read, allHere)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestShellQuote(t *testing.T) {
	for _, s := range []string{"./a", "a b", "it's", `back\slash`, "$(id)", "`id`", "new\nline", "*", "~", "é", "!x", "-n",
		""} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s' "+shellQuote(s)+" x").Output()
		if want := s + "x"; err != nil || string(out) != want {
			t.Errorf("%q came out as %q, %v", s, out, err)
		}
	}
}
