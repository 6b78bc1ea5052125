package scripttest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/git-runr/git-runr/gitstore/testrepo"
)

// FakeAgent is an agent of the tests: fake-agent DIR; what follows, as the arguments
// of a preset do, is not read. Turn n saves its prompt as
// DIR/prompt-n and does what DIR/n says, or DIR/last when there is no DIR/n:
//
//	write FILE TEXT   replaces a file of the working directory (\n in TEXT is a newline, TURN is n)
//	append FILE TEXT  adds to one
//	remove FILE
//	say FILE          answers with a file of DIR; NONCE in it becomes the prompt's nonce
//	rmtree DIR
//	exit N, sleep DURATION, kill
//	wait FILE         until it is there
//	orphan            kills git-runr; what follows may or may not be done
//	interrupt         sends git-runr what ^C does, and waits for its end
func FakeAgent(args []string, in io.Reader, out, errOut io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintln(errOut, "usage: fake-agent DIR")
		return 2
	}
	dir := args[0]
	prompt, err := io.ReadAll(in)
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	turn := 1
	for ; testrepo.Exists(filepath.Join(dir, fmt.Sprintf("prompt-%d", turn))); turn++ {
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("prompt-%d", turn)), prompt, 0o644); err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	script, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(turn)))
	if err != nil {
		script, err = os.ReadFile(filepath.Join(dir, "last"))
	}
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	for line := range strings.Lines(string(script)) {
		line = strings.ReplaceAll(strings.TrimSpace(line), "TURN", fmt.Sprint(turn))
		if status, done := fakeStep(dir, string(prompt), line, out); done {
			return status
		}
	}
	return 0
}

func fakeStep(dir, prompt, line string, out io.Writer) (status int, done bool) {
	verb, rest, _ := strings.Cut(line, " ")
	name, text, _ := strings.Cut(rest, " ")
	text = strings.ReplaceAll(text, `\n`, "\n")
	var err error
	switch verb {
	case "write":
		os.MkdirAll(filepath.Dir(name), 0o755)
		err = os.WriteFile(name, []byte(text), 0o644)
	case "append":
		before, _ := os.ReadFile(name) // it may be new
		err = os.WriteFile(name, append(before, text...), 0o644)
	case "remove":
		err = os.Remove(rest)
	case "rmtree":
		err = os.RemoveAll(rest)
	case "wait":
		for !testrepo.Exists(rest) {
			time.Sleep(5 * time.Millisecond)
		}
	case "orphan":
		signalParent(syscall.SIGKILL)
	case "interrupt":
		signalParent(os.Interrupt)
		time.Sleep(time.Minute)
	case "say":
		var said []byte
		said, err = os.ReadFile(filepath.Join(dir, rest))
		fmt.Fprint(out, strings.ReplaceAll(string(said), "NONCE", promptNonce(prompt)))
	case "exit":
		fmt.Sscan(rest, &status)
		return status, true
	case "sleep":
		d, _ := time.ParseDuration(rest)
		time.Sleep(d)
	case "kill":
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		time.Sleep(time.Minute)
	}
	if err != nil {
		return 1, true
	}
	return 0, false
}

func signalParent(what os.Signal) {
	if parent, err := os.FindProcess(os.Getppid()); err == nil {
		parent.Signal(what)
	}
}

func promptNonce(prompt string) string {
	for _, before := range []string{"----- BEGIN CHANGE ", "\n```runr-rulings ", "\n```runr-review "} {
		if _, rest, ok := strings.Cut(prompt, before); ok {
			return rest[:strings.IndexAny(rest+"\n", " \n")]
		}
	}
	return ""
}
