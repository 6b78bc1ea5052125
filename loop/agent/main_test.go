//go:build unix

package agent

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const helperVar = "AGENT_TEST_HELPER"

// TestMain lets the test binary act as the programs that the tests run.
func TestMain(m *testing.M) {
	if os.Getenv(helperVar) == "" {
		os.Exit(m.Run())
	}
	// Not os.Exit: with it a binary that counts coverage writes to standard error, and one with
	// the race detector sleeps a second.
	syscall.Exit(help(os.Args[1], os.Args[2:]))
}

// helper returns a command that runs help(mode, args) in a process of its own.
func helper(mode string, args ...string) Command {
	return Command{
		Args:  append([]string{executablePath(), mode}, args...),
		Env:   []string{helperVar + "=1", "PATH=" + os.Getenv("PATH")},
		Grace: 50 * time.Millisecond,
	}
}

func executablePath() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// help is the body of a helper process; it returns the exit status.
func help(mode string, args []string) int {
	switch mode {
	case "say": // out err status
		fmt.Print(args[0])
		fmt.Fprint(os.Stderr, args[1])
		return atoi(args[2])
	case "cat":
		n, _ := io.Copy(os.Stdout, os.Stdin)
		fmt.Fprint(os.Stderr, n)
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "flood": // bytes to each stream
		flood(atoi(args[0]))
	case "alternate": // lines to both streams in turn
		for i := range atoi(args[0]) {
			fmt.Fprintln([]*os.File{os.Stdout, os.Stderr}[i%2], i)
		}
	case "tick": // lines pause
		for range atoi(args[0]) {
			fmt.Println("tick")
			time.Sleep(time.Duration(atoi(args[1])) * time.Millisecond)
		}
	case "sleep":
		ready()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		ready()
	case "polite": // exits 0 on TERM, as some agents do
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		fmt.Println("ready")
		<-term
	case "descend":
		return descend(args[0], args[1:])
	case "supervise": // pid file
		supervise(args[0])
	case "supervise-noted": // notes, script, pid file
		c := Command{Args: []string{"/bin/sh", "-c", args[1], args[2], executablePath()},
			Env: append(os.Environ(), helperVar+"=1"), Dir: filepath.Dir(args[0])}
		_, _ = Run(Noted(context.Background(), args[0]), c)
	case "adopt": // limit, script, its first argument
		AdoptOrphans()
		limit, _ := time.ParseDuration(args[0])
		c := Command{Args: []string{"/bin/sh", "-c", args[1], args[2], executablePath()}, within: limit,
			Env: append(os.Environ(), helperVar+"=1"), Alone: true, Grace: 50 * time.Millisecond}
		r, err := Run(context.Background(), c)
		fmt.Println(r.ExitCode, err)
	case "setsid": // command: becomes it, in a session of its own; setsid(1) is on no POSIX list
		_, _ = syscall.Setsid()
		path, err := exec.LookPath(args[0])
		fmt.Fprintln(os.Stderr, err, syscall.Exec(path, args, os.Environ()))
		return 98
	case "agent":
		return playAgent()
	case "acp": // script
		return playACP(args[0])
	case "beside": // script, its first argument
		beside(args[0], args[1])
	case "headless": // file that says that it began
		_, _ = syscall.Setsid()
		endFirstThread()
		_ = os.WriteFile(args[0], nil, 0o600)
		time.Sleep(time.Minute)
	case "hop": // way, file that says that it began
		_ = os.WriteFile(args[1], nil, 0o600)
		hop(args[0] == "session")
	default:
		return 99
	}
	return 0
}

// beside runs a script that leaves a daemon, while an Alone command runs.
func beside(script, arg string) {
	AdoptOrphans()
	env := append(os.Environ(), helperVar+"=1")
	began, over := make(chan bool, 1), make(chan error, 1)
	waits := Command{Args: []string{"/bin/sh", "-c", `echo on; while [ ! -e "$0.on" ]; do sleep 0.02; done`, arg}, Env: env,
		Alone: true, Timeout: 10 * time.Second, OnLine: func(string) { began <- true }}
	go func() {
		_, err := Run(context.Background(), waits)
		over <- err
	}()
	<-began
	_, err := Run(context.Background(), Command{Args: []string{"/bin/sh", "-c", script, arg, executablePath()}, Env: env})
	fmt.Println(err, <-over)
}

// ready reports that the process runs, and waits to be killed.
func ready() {
	fmt.Println("ready")
	time.Sleep(time.Minute)
}

func flood(n int) {
	chunk := []byte(strings.Repeat("0123456789abcde\n", 4096))
	for ; n > 0; n -= len(chunk) {
		_, _ = os.Stdout.Write(chunk)
		_, _ = os.Stderr.Write(chunk)
	}
}

// sleeper writes its process id to the file $0 and sleeps.
const sleeper = `echo $$ > "$0.new"; mv "$0.new" "$0"; exec sleep 60`

// descend starts a sleeper in the way named by kind. A kind with the ending "-exit" exits then,
// any other waits to be killed. The sleeper keeps our output open.
func descend(kind string, args []string) int {
	cmd := exec.Command("/bin/sh", "-c", sleeper, args[0])
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	way, _, leaves := strings.Cut(kind, "-")
	switch way {
	case "group":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	case "session":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case "bare": // a session of its own, and nothing of our environment
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	case "daemon": // a session of its own, and its parent is gone
		cmd = exec.Command(os.Args[0], "descend", "session-exit", args[0])
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		_ = cmd.Run()
	}
	if way != "daemon" {
		_ = cmd.Start()
	}
	for !fileExists(args[0]) {
		time.Sleep(5 * time.Millisecond)
	}
	if !leaves {
		ready()
	}
	return 0
}

// supervise runs an agent that never ends, and never ends itself.
func supervise(pidFile string) {
	c := Command{Args: []string{"/bin/sh", "-c", sleeper, pidFile}, Env: []string{"PATH=" + os.Getenv("PATH")}}
	_, _ = Run(context.Background(), c)
}

// playAgent copies the file named by SAYS to standard output, and exits with STATUS.
func playAgent() int {
	prompt, _ := io.ReadAll(bufio.NewReader(os.Stdin))
	if name := os.Getenv("HEARD"); name != "" {
		_ = os.WriteFile(name, prompt, 0o600)
	}
	if name := os.Getenv("ARGS"); name != "" {
		_ = os.WriteFile(name, []byte(strings.Join(os.Args[2:], "\n")), 0o600)
	}
	said, _ := os.ReadFile(os.Getenv("SAYS"))
	_, _ = os.Stdout.Write(said)
	fmt.Fprint(os.Stderr, os.Getenv("COMPLAINS"))
	if os.Getenv("STATUS") == "hang" {
		time.Sleep(time.Minute)
	}
	return atoi(os.Getenv("STATUS"))
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
