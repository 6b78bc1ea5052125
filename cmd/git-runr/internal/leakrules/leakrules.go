// Package leakrules reads gitleaks' rules for secrets. Only git-runr-serve links the package that has them: with what
// that package imports, it takes a fifth of the start of a process. The program git-runr asks git-runr-serve for them
// once, and keeps them in a file of the user's cache.
package leakrules

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/agent"
)

// Command is the command of git-runr-serve that prints the rules.
const Command = "secret-rules"

// digest is the SHA-256 of gitleaks' configuration in the version that go.mod names. A file with other content is not
// used: anybody who can write the cache could otherwise hide a secret.
const digest = "e163e53b9e7e8a8511e77271e2b323ed057759542a6d988258afe3a1fa329caf"

// textLimit is more bytes than the rules have.
const textLimit = 1 << 20

// printTime is how long git-runr-serve may take to print the rules.
const printTime = 10 * time.Second

// FileName returns the name of the file with the rules of this version.
func FileName() string { return "secret-rules-" + digest[:12] + ".toml" }

// Read returns the rules in the file at path; "" stands for no file. If the file is missing or damaged, it asks
// git-runr-serve, the program at the path that serve returns, and writes the file if it can.
func Read(path string, serve func() (string, error)) (string, error) {
	if path != "" {
		if text, err := readFile(path); err == nil && genuine(text) {
			return string(text), nil
		}
	}
	program, err := serve()
	if err != nil {
		return "", err
	}
	text, err := ask(program, printTime)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, Command, err)
	}
	if !genuine(text) {
		return "", fmt.Errorf("%q did not print the rules of this version", program)
	}
	if path != "" && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = safefile.WriteFile(path, text, 0o600) // the next process asks again
	}
	return string(text), nil
}

// readFile reads at most textLimit bytes. It refuses a pipe or a device, which might never end.
func readFile(path string) ([]byte, error) {
	file, err := safefile.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, textLimit))
}

// ask returns what program prints within the time limit when it is asked for the rules. Of more than textLimit bytes it
// returns a part.
func ask(program string, limit time.Duration) ([]byte, error) {
	answer, err := agent.Run(context.Background(), agent.Command{Args: []string{program, Command}, Env: os.Environ(),
		Timeout: limit, MaxOutput: textLimit, Alone: true})
	if err == nil && answer.TimedOut {
		err = fmt.Errorf("no answer within %s", limit)
	} else if err == nil && answer.ExitCode != 0 {
		err = fmt.Errorf("exit status %d", answer.ExitCode)
	}
	return answer.Stdout, err
}

func genuine(text []byte) bool {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]) == digest
}
