// Package demo shows the whole loop on a temporary repository, by running this program, and plays the agents that work
// there.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// tasks are the tasks of the demo's implementer. It never solves the second one.
var tasks = map[string]string{
	"greeting.md": "# Add a greeting script\n\nWrite greet.sh, which greets the person named by its first argument.\n\n" +
		"## Done criteria\n\n- `sh greet.sh NAME` prints a greeting\n- names with spaces work\n" +
		"- no credentials in the script\n",
	"usage.md": "# Print a usage line\n\ngreet.sh without an argument prints how it is used.\n\n## Done criteria\n\n" +
		"- `sh greet.sh` prints a usage line\n",
}

const check = "sh greet.sh demo | grep -q demo"

// configuration is the demo's: this program plays both agents.
const configuration = `[loop]
implementer = "scripted-implementer"
reviewer = "scripted-reviewer"

[agents.scripted-implementer]
command = [%q, "demo-agent", "implement"]

[agents.scripted-reviewer]
command = [%q, "demo-agent", "review"]

[checks.greets]
command = %q
`

// scratch is the demo's repository.
type scratch struct {
	out  io.Writer
	dir  string
	self string
	repo *gitstore.Repo
}

// Run runs the demo and writes it to out. With keep it leaves the repository, and says where it is.
func Run(ctx context.Context, out io.Writer, keep bool) error {
	self, err := build.Program()
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "git-runr-demo-")
	if err != nil {
		return err
	}
	broken := make(chan os.Signal, 1) // a closed pipe must not end the demo before it has cleaned up
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	if keep {
		defer func() {
			if line, ok := safetext.CommandLine("cd", filepath.Join(root, "repo")); ok {
				safetext.Fprintf(out, "\nLook around:\n  %s\n", line)
			}
		}()
	} else {
		defer os.RemoveAll(root)
	}
	d := &scratch{out: out, dir: filepath.Join(root, "repo"), self: self}
	if err := d.make(ctx); err != nil {
		return err
	}
	return d.tell(ctx)
}

func (d *scratch) make(ctx context.Context) error {
	if err := os.MkdirAll(d.dir, 0o777); err != nil {
		return err
	}
	var err error
	if d.repo, err = gitstore.Init(ctx, d.dir); err != nil {
		return err
	}
	err = errors.Join(d.repo.SetConfig(ctx, "user.name", "Demo"), d.repo.SetConfig(ctx, "user.email", "demo@example.com"))
	files := map[string]string{"README.md": "# demo\n", config.FileName: fmt.Sprintf(configuration, d.self, d.self, check)}
	maps.Copy(files, tasks)
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o666))
	}
	if err != nil {
		return err
	}
	tree, err := d.repo.Checkout()
	if err != nil {
		return err
	}
	author := gitstore.Identity{Name: "Demo", Email: "demo@example.com"}
	_, _, err = tree.CommitAll(ctx, gitstore.CommitSpec{Message: "A demo project\n", Author: author, When: time.Now(),
		Ref: "refs/heads/main"})
	return err
}

// tell runs the demo's commands one by one, as a user would.
func (d *scratch) tell(ctx context.Context) error {
	d.title("A task: the first attempt has a critical fault and is reverted, the second gets a warning, the third passes.")
	for _, line := range []string{"trust --yes", "run greeting.md", "land"} {
		if err := d.command(ctx, 0, strings.Fields(line)...); err != nil {
			return err
		}
	}
	fmt.Fprintln(d.out, "\n$ git log --notes=runr")
	log, err := d.repo.LogWithNotes(ctx, store.NotesRef, 5)
	if err != nil {
		return err
	}
	safetext.Fprintf(d.out, "%s", safetext.Block(log))
	d.title("A second task: the implementer never does what the reviewer asks, so the loop stops and says what is unmet.")
	if err := d.command(ctx, int(exit.Stopped), "run", "usage.md"); err != nil {
		return err
	}
	if err := d.command(ctx, 0, "status"); err != nil {
		return err
	}
	d.title("Now in a repository of your own:  git runr review --wait")
	return nil
}

func (d *scratch) title(text string) { safetext.Fprintf(d.out, "\n== %s\n", text) }

// command runs this program as a user would type it, and checks its exit status.
func (d *scratch) command(ctx context.Context, want int, args ...string) error {
	safetext.Fprintf(d.out, "\n$ git runr %s\n", strings.Join(args, " "))
	result, err := agent.Run(ctx, agent.Command{
		Args: append([]string{d.self}, args...), Dir: d.dir, Env: d.environ(), Timeout: time.Minute, Transcript: d.out,
	})
	if err != nil {
		return err
	}
	if result.ExitCode != want {
		return fmt.Errorf("demo: git runr %s ended with status %d, not %d", strings.Join(args, " "), result.ExitCode, want)
	}
	return nil
}

// environ returns an environment that separates the demo from the user's configuration and trust.
func (d *scratch) environ() []string {
	home := filepath.Dir(d.dir)
	kept := agent.Environ(os.Environ(), []string{"GOCOVERDIR"})
	return append(kept, "HOME="+home, "XDG_CONFIG_HOME="+home+"/config", "XDG_STATE_HOME="+home+"/state",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_RUNR_DEPTH=0", "CI=true")
}

// Implement plays the implementer: it writes files in the current directory, and its report to out. Like any agent, it
// depends on its prompt alone.
func Implement(prompt io.Reader, out io.Writer) error {
	asked, err := io.ReadAll(io.LimitReader(prompt, 1<<20))
	if err != nil {
		return err
	}
	text := script(string(asked))
	if err := os.WriteFile("greet.sh", []byte(text), 0o666); err != nil {
		return err
	}
	if strings.Contains(string(asked), "IMPLEMENT greeting") {
		if err := os.WriteFile("credentials.txt", []byte("service password: hunter2\n"), 0o666); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(out,
		"## SUBTASK COMPLETE\n**Status:** passed\n\n### Files Modified\n- greet.sh\n\n### Verification Results\n"+
			"ran sh greet.sh demo: it greeted\n")
	return err
}

// attemptNumber matches the number of the attempt in a prompt.
var attemptNumber = lazyre.Compile(`This is attempt (\d+)`)

// script returns the implementer's greet.sh for a prompt.
func script(prompt string) string {
	switch {
	case strings.Contains(prompt, "usage:") || strings.Contains(prompt, " usage"):
		number := "1"
		if m := attemptNumber().FindStringSubmatch(prompt); m != nil {
			number = m[1]
		}
		return "# try " + number + "\necho \"Hello, $1!\"\n"
	case strings.Contains(prompt, "FIX "):
		return "echo \"Hello, $1!\"\n"
	case strings.Contains(prompt, "RE-EXECUTE"):
		return "echo Hello, $1!\n"
	}
	return "password=hunter2\necho Hello, $1!\n"
}

// changeMark matches the nonce and the change in a reviewer's prompt.
var changeMark = lazyre.Compile(`(?s)----- BEGIN CHANGE (\S+) -----\n(.*)\n----- END CHANGE`)

// Review plays the reviewer: it writes its verdict on the change in its prompt.
func Review(prompt io.Reader, out io.Writer) error {
	asked, err := io.ReadAll(io.LimitReader(prompt, 1<<20))
	if err != nil {
		return err
	}
	m := changeMark().FindStringSubmatch(string(asked))
	if m == nil {
		return exit.Problemf(exit.Usage, "no change in the prompt")
	}
	_, err = safetext.Fprintf(out, "I have read the change.\n\n```runr-review %s\n%s\n```\n", m[1],
		verdict(string(asked), m[2]))
	return err
}

func verdict(prompt, change string) string {
	finding := func(said, severity, issue, fix string) string {
		return fmt.Sprintf(
			`{"verdict":%q,"summary":"","findings":[{"severity":%q,"file":"greet.sh","line":1,"issue":%q,"fix":%q}]}`, said,
			severity, issue, fix)
	}
	switch {
	case strings.Contains(change, "+password="):
		return finding("CRITICAL", "critical", "The script holds a password",
			"Take the password out and start again without it")
	case strings.Contains(change, "+echo Hello, $1!"):
		return finding("NEEDS_FIX", "warning", "The argument is not quoted", "Put the text and $1 in double quotes")
	case strings.Contains(prompt, "<subtask_title>\nPrint a usage line") && !strings.Contains(change, "+echo usage"):
		return finding("NEEDS_FIX", "warning", "No usage line is printed without an argument",
			"Print a usage line when $1 is empty")
	}
	return `{"verdict":"PASS","summary":"All criteria are met.","findings":[]}`
}
