package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/manual"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
)

// TestCommandsThatTextsName: every "git runr …" in the README, in help, in hints and in comments of the sources is an
// existing command with existing flags.
func TestCommandsThatTextsName(t *testing.T) {
	top := filepath.Join("..", "..", "..", "..")
	named := 0
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		isText := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".md") ||
			strings.HasSuffix(name, ".html")
		switch {
		case err == nil && entry.IsDir() && path != top && strings.HasPrefix(name, "."):
			return fs.SkipDir
		case err != nil || entry.IsDir() || !isText:
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range namedCommand.FindAllStringSubmatch(string(text), -1) {
			named++
			if why := unknownWord(strings.Fields(m[1])); why != "" {
				t.Errorf("%s: %q: %s", path, m[0], why)
			}
		}
		return err
	})
	if err != nil || named < 100 {
		t.Errorf("%d commands, %v", named, err)
	}
}

// namedCommand matches "git runr" and the words after it, up to a character that ends a command.
var namedCommand = regexp.MustCompile("git runr((?: [^\\s\"'`\\\\;,)(<…]+)+)")

// unknownWord follows words to a subcommand and its flags, as far as they are parts of a command, and returns a
// message about the first unknown word.
func unknownWord(words []string) string {
	app := (&program{}).app()
	flags, commands := slices.Concat(app.Flags, []cli.Flag{cli.HelpFlag}), app.Commands
	for i, word := range words {
		word = strings.Trim(word, "[].:|")
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		isFlag := len(word) > 1 && word[0] == '-'
		known := func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }
		switch {
		case strings.HasPrefix(word, "%"):
			return "" // filled in where it is printed
		case at >= 0:
			flags, commands = append(flags, commands[at].Flags...), commands[at].Commands
		case isFlag && word != "--" && !slices.ContainsFunc(flags, known):
			return fmt.Sprintf("flag %q is not known", word)
		case i == 0 && !isFlag && word != "or" && word != strings.ToUpper(word):
			return fmt.Sprintf("command %q is not known", word)
		case !isFlag:
			commands = nil // the rest is an argument or prose
		}
	}
	return ""
}

// TestReadme runs every command of the README, of the help topics and of the agents' skill in a repository that
// contains what the commands name. A command with [choices|of|forms] is run in each form.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("runs some hundred commands")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	skill, err := os.ReadFile(filepath.Join("..", "register", "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	w := newReadmeWorld(t)
	all := string(text) + "\n" + string(skill)
	for _, topic := range manual.Written() {
		all += "\n" + topic.Text()
	}
	lines := readmeCommands(all)
	if len(lines) < 45 {
		t.Errorf("only %d commands were found: %q", len(lines), lines)
	}
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			for _, form := range forms(line) {
				w.run(t, form)
			}
		})
	}
}

// executedElsewhere maps commands of the README that are not run here to what runs them.
var executedElsewhere = map[string]string{
	"go test ./...":          "whoever reads this",
	"git runr demo":          "testdata/script/demo.txtar",
	"git help runr":          "man_test.go: it wants man",
	"git runr review --edit": "testdata/script/review_edit.txtar: it wants a person",
	"git runr serve --open":  "testdata/script/serve.txtar: it stays",
	"git runr tui":           "tui_test.go: it wants a terminal",
	"git runr work --watch":  "testdata/script/work_queue.txtar: it stays",
}

var codeSpan = regexp.MustCompile("`([^`\n]+)`")

// readmeCommands returns the commands in indented lines and in code spans. A span that continues the one before it,
// as in "`git runr inbox claim ID`, `resolve ID`", is written out.
func readmeCommands(text string) []string {
	var all []string
	add := func(line string) {
		if line = strings.TrimSpace(line); executedElsewhere[line] == "" && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	for _, fenced := range regexp.MustCompile("(?s)```.*?```").FindAllString(text, -1) {
		text = strings.Replace(text, fenced, "", 1)
	}
	for line := range strings.Lines(text) {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			code, _, _ = strings.Cut(code, " #")
			if word, _, _ := strings.Cut(code, " "); word == "git" || word == "go" || word == "cd" {
				add(code)
			}
			continue
		}
		before := []string{"git", "runr"}
		for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
			span := strings.ReplaceAll(m[1], `\|`, "|")
			words := strings.Fields(span)
			if words[0] == "git" && len(words) > 1 {
				add(span)
				before = words[:min(3, len(words))]
				continue
			}
			for _, prefix := range [][]string{before, before[:2]} {
				if len(words) > 1 && hasCommand(prefix[2:], words[0]) {
					add(strings.Join(append(slices.Clone(prefix), words...), " "))
					break
				}
			}
		}
	}
	return all
}

// hasCommand reports whether the command at words has a subcommand called name.
func hasCommand(words []string, name string) bool {
	commands := (&program{}).app().Commands
	for _, word := range append(slices.Clone(words), name) {
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		if at < 0 {
			return false
		}
		commands = commands[at].Commands
	}
	return true
}

var optional = regexp.MustCompile(` ?\[([^\]]*)\]`)

// forms returns the commands that a line stands for: the one without the optional parts, and one for each choice of
// each optional part.
func forms(line string) []string {
	all := choices(optional.ReplaceAllString(line, ""))
	for _, m := range optional.FindAllStringSubmatchIndex(line, -1) {
		for choice := range strings.SplitSeq(line[m[2]:m[3]], "|") {
			before, after := optional.ReplaceAllString(line[:m[0]], ""), optional.ReplaceAllString(line[m[1]:], "")
			all = append(all, choices(before+" "+choice+after)...)
		}
	}
	return all
}

// choices returns the forms of a line with words such as commit|skip|stop.
func choices(line string) []string {
	words := strings.Fields(line)
	at := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, "|") })
	if at < 0 {
		return []string{line}
	}
	var all []string
	for choice := range strings.SplitSeq(words[at], "|") {
		all = append(all, choices(strings.Join(slices.Concat(words[:at], []string{choice}, words[at+1:]), " "))...)
	}
	return all
}

// readmeWorld is a repository that contains what the README's commands name.
type readmeWorld struct {
	dir   string            // the repository, two levels below a directory that is restored before each command
	kept  string            // a copy of that directory
	used  bool              // the repository has to be restored
	words map[string]string // values of placeholders
	env   []string          // the environment before the test: the go command needs its caches
}

func newReadmeWorld(t *testing.T) *readmeWorld {
	t.Helper()
	env := os.Environ()
	for name, value := range map[string]string{
		"HOME": t.TempDir(), "XDG_CONFIG_HOME": t.TempDir(), "XDG_STATE_HOME": t.TempDir(), "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_CONFIG_GLOBAL": os.DevNull,
		"GIT_AUTHOR_NAME":   "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_COMMITTER_NAME": "Ada",
		"GIT_COMMITTER_EMAIL": "ada@example.com",
		"GIT_RUNR_ACTOR":      "Ada", "CI": "1", "GIT_EDITOR": "false",
	} {
		t.Setenv(name, value)
	}
	top, err := os.MkdirTemp("", "readme")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeTree(t, top) })
	w := &readmeWorld{env: env, dir: filepath.Join(top, "world", "your", "repository"), words: map[string]string{
		"TASK.md": "task.md", "A..B": "HEAD~1..HEAD", "REV": "later", "COMMIT": "HEAD", "CHECK": "test", "N": "1",
		"FILE.jsonl": "timeline.jsonl",
		"FILE":       "context.json", "BRANCH": "side", "NAME": "Ada", "SNAPSHOT": "latest/1", "DIR": "../elsewhere",
		"FILE:LINE": "a.txt:1", "TEXT": "'some text'",
	}}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "codex"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for name, content := range map[string]string{
		"a.txt": "one\n", "task.md": "# Say hello\n",
		"context.json":   `{"executor_result":"done","files_modified":["a.txt"],"context":{"identifier":"X-1","title":"one"}}`,
		"timeline.jsonl": `{"type":"run_started","runId":"r1","timestamp":"2026-01-01T15:00:00Z"}` + "\n",
		".runr.toml": "[loop]\nimplementer = \"mine\"\n[agents.mine]\n" +
			"command = [\"sh\", \"-c\", \"cat >/dev/null; echo hello >hello.txt; echo done\"]\n[agents.broken]\n" +
			"command = [\"false\"]\n[checks.test]\ncommand = \"true\"\n",
	} {
		if err := errors.Join(os.MkdirAll(w.dir, 0o755),
			os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"git init -q -b main", "git add a.txt task.md", "git commit -qm first", "git add .", "git commit -qm second",
		"git branch side",
		"git checkout -q -b later", "echo later >later.txt", "git add later.txt", "git commit -qm later",
		"git checkout -q main",
		"git init -q --bare ../remote.git", "git remote add origin ../remote.git", "git runr trust --yes",
		"git runr review --wait", "git runr review --reviewer human", "git runr inbox comment latest a.txt:1 -m 'say two'",
		"git runr inbox submit latest --request-changes -m nearly", "git runr run task.md",
	} {
		if out, status := execLine(t, w.dir, os.Environ(), line); status != 0 {
			t.Fatalf("%s: %d\n%s", line, status, out)
		}
	}
	if out, status := execLine(t, w.dir, os.Environ(),
		"git runr run task.md --implementer broken"); status != int(exit.Agent) {
		t.Fatalf("a run that stops: %d\n%s", status, out)
	}
	var inbox inboxJSON
	out, _ := execLine(t, w.dir, os.Environ(), "git runr inbox list --status inbox --json")
	if err := json.Unmarshal([]byte(out), &inbox); err != nil || len(inbox.Reviews) != 2 {
		t.Fatalf("%v in %s", err, out)
	}
	var review render.ReviewDocument
	out, _ = execLine(t, w.dir, os.Environ(), "git-runr inbox get latest --json")
	if err := json.Unmarshal([]byte(out), &review); err != nil || len(review.Comments) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	execLine(t, w.dir, os.Environ(), "git gc -q") // leaves less to copy
	w.kept = filepath.Join(t.TempDir(), "kept")
	copyTree(t, filepath.Dir(filepath.Dir(w.dir)), w.kept)
	w.words["ID"], w.words["REVIEW"], w.words["FINDING"], w.words["RUN"] = review.ID, review.ID, review.Comments[0].ID,
		"latest"
	writer, _ := execLine(t, w.dir, os.Environ(), "git config runr.writer")
	w.words["WRITER"] = strings.TrimSpace(writer)
	return w
}

// readsOnly matches commands that do not change the repository.
var readsOnly = regexp.MustCompile(
	`^(cd|go|git log|git runr (help|show|log|diagnose|report|audit|metrics|parse|diff|inbox get))\b`)

// removeTree removes a directory. It tries again while a background worker, which ends by itself, still writes there.
func removeTree(t *testing.T, dir string) {
	t.Helper()
	err := os.RemoveAll(dir)
	for range 600 {
		if err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
		err = os.RemoveAll(dir)
	}
	t.Fatal(err)
}

// putBack replaces dir by a copy of the kept directory in one step, because a background worker may create a
// directory in it at any moment.
func (w *readmeWorld) putBack(t *testing.T, dir string) {
	t.Helper()
	fresh := dir + ".fresh"
	copyTree(t, w.kept, fresh)
	err := os.Rename(fresh, dir)
	for range 600 {
		if err == nil {
			return
		}
		removeTree(t, dir)
		err = os.Rename(fresh, dir)
	}
	t.Fatal(err)
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// execLine runs a line in sh and returns its output and status.
func execLine(t *testing.T, dir string, env []string, line string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", line, err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// run runs a form in a copy of the repository. A usage error, a bug or a missing program fails the test.
func (w *readmeWorld) run(t *testing.T, form string) {
	t.Helper()
	line, ok := w.fill(t, form)
	if !ok {
		return
	}
	parent := filepath.Dir(filepath.Dir(w.dir))
	if w.used {
		w.putBack(t, parent)
	}
	w.used = !readsOnly.MatchString(line)
	dir, env := w.dir, os.Environ()
	switch what, ok := strings.CutPrefix(line, "go install "); {
	case strings.HasPrefix(line, "cd "):
		dir = parent
	case ok: // without compiling
		dir, env, line = filepath.Join("..", "..", "..", ".."), w.env, "go install -n "+what
	}
	out, status := execLine(t, dir, env, line)
	wrong := []int{int(exit.Usage), int(exit.Bug), 126, 127, -1}
	if stock := !strings.HasPrefix(line, "git runr"); stock && status != 0 || slices.Contains(wrong, status) ||
		strings.HasPrefix(line, "git log") && out == "" {
		t.Errorf("%s: %d\n%s", line, status, out)
	}
}

// fill replaces placeholders by their values.
func (w *readmeWorld) fill(t *testing.T, form string) (line string, ok bool) {
	t.Helper()
	words := strings.Fields(form)
	for i, word := range words {
		with, known := w.words[word]
		switch {
		case known:
			words[i] = with
		case word == "PATH…":
			words[i] = "a.txt"
		case len(word) > 1 && strings.ToUpper(word) == word && strings.ToLower(word) != word && word != "HEAD":
			t.Errorf("%s: nothing is known of %s", form, word)
			return "", false
		}
	}
	return strings.Join(words, " "), true
}
