//go:build unix

package scripttest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/creack/pty"
)

// endOfTerminal follows what a terminal showed. No program writes it.
const endOfTerminal = "\x00end\x00"

// atTerminal is `at-terminal [-stdin FILE] COMMAND ARG…`: runs a command that has a terminal, on which its input is
// typed, and prints what the terminal showed after the command's own output. testscript's ttyin loses the end of that
// on a busy machine. It returns the command's exit status.
func atTerminal(args []string, out, errs io.Writer) int {
	status, err := runAtTerminal(args, out, errs)
	if err != nil {
		fmt.Fprintf(errs, "at-terminal: %v\n", err)
		return 125
	}
	return status
}

func runAtTerminal(args []string, out, errs io.Writer) (status int, err error) {
	typed := ""
	if len(args) > 1 && args[0] == "-stdin" {
		text, err := os.ReadFile(args[1])
		if err != nil {
			return 0, err
		}
		typed, args = string(text), args[2:]
	}
	if len(args) == 0 {
		return 0, errors.New("no command")
	}
	ours, theirs, err := pty.Open()
	if err != nil {
		return 0, err
	}
	defer ours.Close()
	defer theirs.Close()
	shown := make(chan []byte, 1)
	go func() { shown <- readTerminal(ours) }()
	if _, err := io.WriteString(ours, typed+"\x04"); err != nil {
		return 0, err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = out, errs, []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if typed != "" {
		cmd.Stdin = theirs
	}
	failed := cmd.Run()
	if _, err := io.WriteString(theirs, endOfTerminal); err != nil {
		return 0, err
	}
	if _, err := out.Write(<-shown); err != nil {
		return 0, err
	}
	if exited := new(exec.ExitError); errors.As(failed, &exited) {
		return exited.ExitCode(), nil
	}
	return 0, failed
}

// readTerminal reads up to endOfTerminal, since a process in the background may keep the terminal open.
func readTerminal(r io.Reader) []byte {
	var text []byte
	for in := bufio.NewReader(r); !bytes.HasSuffix(text, []byte(endOfTerminal)); {
		b, err := in.ReadByte()
		if err != nil {
			return text
		}
		text = append(text, b)
	}
	return []byte(strings.TrimSuffix(string(text), endOfTerminal))
}
