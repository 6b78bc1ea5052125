// Package agents tests git-runr with the agent tools that people use, the real programs, and a scripted model on
// loopback. The tools must be in directories of RUNR_AGENTS; run.sh installs them and runs the tests.
package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/testdata/agents/model"
)

// programs is a directory with git-runr as built from this source.
var programs string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	if os.Getenv("RUNR_AGENTS") == "" {
		fmt.Println("SKIP the agent tools: RUNR_AGENTS names no directories with them; testdata/agents/run.sh sees to that")
		return 0
	}
	dir, err := os.MkdirTemp("", "agents-*")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	if out, err := exec.Command("go", "build", "-o", dir, "github.com/git-runr/git-runr/cmd/...").
		CombinedOutput(); err != nil {
		fmt.Printf("%s%v\n", out, err)
		return 1
	}
	return m.Run()
}

// each runs a test with every tool, in parallel.
func each(t *testing.T, test func(t *testing.T, a tool)) {
	for _, a := range tools {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			test(t, a)
		})
	}
}

// world is a repository, and a home with a tool that is set up for a model.
type world struct {
	t          *testing.T
	tool       tool
	home, repo string
	env        []string
	sessions   []string // sessions of processes that worked here
	*model.Server
}

// newWorld makes a world with one commit, in which script answers as the tool's model.
func newWorld(t *testing.T, a tool, script model.Script) *world {
	t.Helper()
	for _, each := range a.each() {
		installed := func(dir string) bool {
			_, err := os.Stat(filepath.Join(dir, each.name))
			return err == nil
		}
		if !slices.ContainsFunc(filepath.SplitList(os.Getenv("RUNR_AGENTS")), installed) {
			t.Skipf("SKIP %s: it is not in RUNR_AGENTS", each.name)
		}
	}
	server, stop := model.Start(script)
	t.Cleanup(stop)
	dir := t.TempDir()
	w := &world{t: t, tool: a, home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "repo"), Server: server}
	w.env = append(a.env(server.URL),
		"HOME="+w.home, "PATH="+programs+":"+os.Getenv("RUNR_AGENTS")+":"+os.Getenv("PATH"),
		"TMPDIR="+filepath.Join(dir, "tmp"),
		"TERM=dumb", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "NO_PROXY=127.0.0.1")
	t.Cleanup(func() { w.nothingLeft() })
	w.files(dir, map[string]string{"tmp/.keep": "", "home/.npmrc": "offline=true\nregistry=http://127.0.0.1:9/\n",
		"home/.gitconfig": "[user]\nname = Ada\nemail = ada@example.com\n[init]\ndefaultBranch = main\n"})
	w.files(w.home, a.home(server.URL))
	w.files(w.repo, map[string]string{"README.md": "# sums\n"})
	w.git("init", "-q")
	w.commit("first")
	return w
}

func (w *world) files(dir string, files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	out, status := w.run("git", args...)
	if status != 0 {
		w.t.Fatalf("git %s: %d: %s", strings.Join(args, " "), status, out)
	}
	return out
}

func (w *world) commit(subject string) {
	w.t.Helper()
	w.git("add", "-A")
	w.git("commit", "-q", "-m", subject)
}

// run returns a command's output and exit status.
func (w *world) run(name string, args ...string) (string, int) {
	w.t.Helper()
	ctx, cancel := within(4 * time.Minute)
	defer cancel()
	cmd := w.command(ctx, name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// within returns a context that ends after limit on a quiet machine. If more processes are ready to run than there
// are cores, the time passes more slowly.
func within(limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for tick := time.Second; limit > 0; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(tick):
				limit -= time.Duration(float64(tick) / max(1, load()/float64(runtime.NumCPU())))
			}
		}
		cancel()
	}()
	return ctx, cancel
}

// load returns how many processes are ready to run, or 0 if that is unknown.
func load() (running float64) {
	text, _ := os.ReadFile("/proc/loadavg")
	_, _ = fmt.Sscan(string(text), &running)
	return running
}

// command returns a command with the world's own environment only.
func (w *world) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	if name == "git-runr" {
		name = filepath.Join(programs, name)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = w.repo, w.env
	return cmd
}

// runr runs git-runr, checks its status and returns its output.
func (w *world) runr(status int, args ...string) string {
	w.t.Helper()
	out, got := w.run("git-runr", args...)
	if got != status {
		w.t.Fatalf("git runr %s ended with %d, want %d:\n%s\nrequests: %s", strings.Join(args, " "), got, status, out,
			w.talk())
	}
	return out
}

// shown decodes what git-runr prints as JSON.
func (w *world) shown(into any, args ...string) {
	w.t.Helper()
	if out := w.runr(0, args...); json.Unmarshal([]byte(out), into) != nil {
		w.t.Fatalf("git runr %s: %s", strings.Join(args, " "), out)
	}
}

// talk returns one line per request, for failure messages.
func (w *world) talk() string {
	var b strings.Builder
	for _, r := range w.Requests() {
		prompt := r.Prompt
		fmt.Fprintf(&b, "\n  %s, model %s, turn %d, tools %v: %.150q", r.Form, r.Model, r.Turn, r.Tools, prompt)
	}
	for _, o := range w.Others() {
		b.WriteString("\n  " + o)
	}
	return b.String()
}

// has checks that a text contains each of these.
func has(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

// nothingLeft checks that no process of the world is still running.
func (w *world) nothingLeft() {
	w.t.Helper()
	var left []string
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if left = w.processes(); len(left) == 0 || time.Now().After(end) {
			break
		}
	}
	if len(left) > 0 {
		w.t.Errorf("still running:\n%s", strings.Join(left, "\n"))
	}
}

// processes returns the number and command line of processes that work below the world's directory, or share a
// session with one that did.
func (w *world) processes() (all []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	here := func(dir string) bool {
		cwd, _ := os.Readlink(dir + "/cwd")
		return strings.HasPrefix(cwd, filepath.Dir(w.home)+"/")
	}
	own := session("/proc/self")
	for _, dir := range dirs {
		if s := session(dir); s != "" && s != own && here(dir) {
			w.sessions = append(w.sessions, s)
		}
	}
	for _, dir := range dirs {
		if s := session(dir); s == "" || !here(dir) && !slices.Contains(w.sessions, s) {
			continue
		}
		line, _ := os.ReadFile(dir + "/cmdline")
		all = append(all, filepath.Base(dir)+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
	}
	return all
}

// session returns the session of a live process, or "".
func session(dir string) string {
	stat, _ := os.ReadFile(dir + "/stat")
	if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(fields) > 3 && fields[0] != "Z" {
		return fields[3]
	}
	return ""
}

var changeMark = regexp.MustCompile(`BEGIN (?:CHANGE|ANSWER) ([0-9a-f]+)`)

// verdict returns a reviewer's answer in the requested form.
func verdict(r model.Request, verdict string, findings ...finding) model.Reply {
	nonce := changeMark.FindStringSubmatch(r.Prompt)
	if nonce == nil {
		return model.Reply{Text: "There is no change to review."}
	}
	report, _ := json.Marshal(map[string]any{"verdict": verdict, "summary": "as scripted",
		"findings": append([]finding{}, findings...)})
	return model.Reply{Text: "```runr-review " + nonce[1] + "\n" + string(report) + "\n```\n"}
}

// finding is one finding of a review.
type finding struct {
	Severity string `json:"severity"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Issue    string `json:"issue"`
	Fix      string `json:"fix,omitempty"`
}
