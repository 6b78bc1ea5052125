package agent

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ErrNotFound reports that a program does not exist; the error that wraps it names the program.
var ErrNotFound = errors.New("program not found")

var errNoProgram = errors.New("empty command")

// lookup finds the program of argv on the PATH of env, the command's own environment. It
// never returns a relative path, because the checked-out tree must not decide which program
// runs. The error is ErrNotFound, or exec.ErrDot for a relative name or a program that is
// only in a relative directory of PATH.
func lookup(argv, env []string) (string, error) {
	if len(argv) == 0 || argv[0] == "" {
		return "", errNoProgram
	}
	name := argv[0]
	if filepath.IsAbs(name) {
		return name, executable(name)
	}
	if strings.ContainsRune(name, filepath.Separator) || name == "." || name == ".." {
		return "", fmt.Errorf("run %q: use the program's absolute path, or a name on PATH: %w", name, exec.ErrDot)
	}
	return searchPath(name, lastValue(env, "PATH"))
}

func searchPath(name, path string) (string, error) {
	err := fmt.Errorf("%q: %w on PATH", name, ErrNotFound)
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if executable(file) != nil {
			continue
		}
		if filepath.IsAbs(dir) {
			return file, nil
		}
		err = fmt.Errorf("run %q: found only in %q, a relative entry of PATH: %w", name, dir, exec.ErrDot)
	}
	return "", err
}

// executable returns nil for a regular file with an execute bit.
func executable(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("%q: %w", file, ErrNotFound)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("%q: %w", file, os.ErrPermission)
	}
	return nil
}

// checkDir returns an error if dir is missing; otherwise the kernel's error would blame the program.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &os.PathError{Op: "chdir", Path: dir, Err: syscall.ENOTDIR}
	}
	return nil
}

// lastValue returns the value of key in env; the last entry counts, as in exec.
func lastValue(env []string, key string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, key+"="); ok {
			return v
		}
	}
	return ""
}
