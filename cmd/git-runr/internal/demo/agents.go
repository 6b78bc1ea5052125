package demo

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Implement is the implementer: it writes files in the current directory, and its report on
// out. What it does follows from its prompt alone, like any agent's work.
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
	_, err = fmt.Fprint(out, "## SUBTASK COMPLETE\n**Status:** passed\n\n### Files Modified\n- greet.sh\n\n### Verification Results\nran sh greet.sh demo: it greeted\n")
	return err
}

// attemptNumber finds which attempt a prompt is for.
var attemptNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`This is attempt (\d+)`) })

// script is greet.sh as the implementer writes it for a prompt.
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

// changeMark finds the nonce and the change in a reviewer's prompt.
var changeMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)----- BEGIN CHANGE (\S+) -----\n(.*)\n----- END CHANGE`)
})

// Review is the reviewer: it writes its verdict on the change in its prompt.
func Review(prompt io.Reader, out io.Writer) error {
	asked, err := io.ReadAll(io.LimitReader(prompt, 1<<20))
	if err != nil {
		return err
	}
	m := changeMark().FindStringSubmatch(string(asked))
	if m == nil {
		return exit.Problemf(exit.Usage, "no change in the prompt")
	}
	_, err = safetext.Fprintf(out, "I have read the change.\n\n```runr-review %s\n%s\n```\n", m[1], verdict(string(asked), m[2]))
	return err
}

func verdict(prompt, change string) string {
	finding := func(said, severity, issue, fix string) string {
		return fmt.Sprintf(`{"verdict":%q,"summary":"","findings":[{"severity":%q,"file":"greet.sh","line":1,"issue":%q,"fix":%q}]}`, said, severity, issue, fix)
	}
	switch {
	case strings.Contains(change, "+password="):
		return finding("CRITICAL", "critical", "The script holds a password", "Take the password out and start again without it")
	case strings.Contains(change, "+echo Hello, $1!"):
		return finding("NEEDS_FIX", "warning", "The argument is not quoted", "Put the text and $1 in double quotes")
	case strings.Contains(prompt, "<subtask_title>\nPrint a usage line") && !strings.Contains(change, "+echo usage"):
		return finding("NEEDS_FIX", "warning", "No usage line is printed without an argument", "Print a usage line when $1 is empty")
	}
	return `{"verdict":"PASS","summary":"All criteria are met.","findings":[]}`
}
