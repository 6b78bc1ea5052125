package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxArgument is the longest argument that every system accepts: Linux limits one argument
// to 128 KiB with its final NUL byte.
const maxArgument = 128<<10 - 1

var (
	errPromptTooLong = fmt.Errorf(
		"the prompt does not fit into an argument of at most %d bytes; use {prompt_file} instead", maxArgument)
	errPromptNUL = errors.New("the prompt has a NUL byte, which no argument can hold; use {prompt_file} instead")
)

// delivery is how a prompt reaches a command.
type delivery struct {
	args  []string
	stdin io.Reader
	dir   string // directory of the prompt's file; "" for none
}

// deliver puts the prompt where args ask for it: its text for {prompt}, the name of a file for
// {prompt_file}. The file is outside of any checkout, readable by the user alone, and exists
// until close. Without either word the prompt goes to standard input. It is never cut.
func deliver(args []string, prompt string) (delivery, error) {
	has := func(word string) bool {
		return slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, word) })
	}
	inText, inFile := has("{prompt}"), has("{prompt_file}")
	if !inText && !inFile {
		return delivery{args: args, stdin: strings.NewReader(prompt)}, nil
	}
	var d delivery
	words := []string{}
	if inText {
		words = append(words, "{prompt}", prompt)
	}
	if inFile {
		name, err := d.write(prompt)
		if err != nil {
			d.close()
			return delivery{}, err
		}
		words = append(words, "{prompt_file}", name)
	}
	d.args = fill(args, words...)
	if inText {
		if err := fits(d.args, prompt); err != nil {
			d.close()
			return delivery{}, err
		}
	}
	return d, nil
}

func fits(args []string, prompt string) error {
	if strings.Contains(prompt, "\x00") {
		return errPromptNUL
	}
	if slices.ContainsFunc(args, func(arg string) bool { return len(arg) > maxArgument }) {
		return errPromptTooLong
	}
	return nil
}

// write writes the prompt to a new file and returns the file's name.
func (d *delivery) write(prompt string) (name string, err error) {
	if d.dir, err = os.MkdirTemp("", "git-runr-prompt-"); err != nil {
		return "", fmt.Errorf("write prompt: %w", err)
	}
	name = filepath.Join(d.dir, "prompt.md")
	if err := os.WriteFile(name, []byte(prompt), 0o600); err != nil {
		return "", fmt.Errorf("write prompt: %w", err)
	}
	return name, nil
}

func (d *delivery) close() {
	if d.dir != "" {
		_ = os.RemoveAll(d.dir)
	}
}
