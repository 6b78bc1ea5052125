package builtin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/config"

	"github.com/git-runr/git-runr/loop/reply"
)

// newText returns a new file as a diff shows it.
func newText(path, text string) File {
	f := File{Path: path, New: true, Mode: "100644", Size: int64(len(text))}
	f.NoNewline = text != "" && !strings.HasSuffix(text, "\n")
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		f.Added = append(f.Added, newLine(i+1, line))
	}
	return f
}

func review(files ...File) reply.Report { return reviewed(Input{Files: files, Shown: len(files)}) }

// leaks has gitleaks' rules.
var leaks = NewSecrets(func() (string, error) { return config.DefaultConfig, nil }, nil)

func reviewed(in Input) reply.Report {
	in.Secrets = leaks
	r, err := Review(context.Background(), in)
	if err != nil {
		panic(err)
	}
	return r
}

// found formats findings as "severity rule line".
func found(r reply.Report) []string {
	list := []string{}
	for _, f := range r.Findings {
		list = append(list, fmt.Sprintf("%s %s %d", f.Severity, f.Rule, f.Line))
	}
	slices.Sort(list)
	return list
}

func wantFound(t *testing.T, r reply.Report, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := found(r); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q\n%+v", got, want, r.Findings)
	}
}

// gitRepo is a test's real repository.
type gitRepo struct {
	t   *testing.T
	dir string
}

func newGitRepo(t *testing.T) gitRepo {
	t.Helper()
	r := gitRepo{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r gitRepo) git(args ...string) []byte {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func (r gitRepo) write(name, content string) {
	r.t.Helper()
	p := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r gitRepo) commit() {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "x")
}

// diff stages everything and returns the change, read with the program's options.
func (r gitRepo) diff(options ...string) []File {
	r.t.Helper()
	r.git("add", "-A")
	args := append([]string{"diff", "--cached", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index"},
		options...)
	files, err := parseDiff(r.t.Context(), r.git(args...))
	if err != nil {
		r.t.Fatal(err)
	}
	return files
}

func byPath(t *testing.T, files []File, path string) File {
	t.Helper()
	for _, f := range files {
		if f.Path == path {
			return f
		}
	}
	t.Fatalf("no %q in the diff", path)
	return File{}
}
