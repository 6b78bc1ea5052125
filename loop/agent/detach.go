package agent

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxDetachLog is the size in bytes at which the log of detached processes is put aside.
const maxDetachLog = 1 << 20

// StartDetached starts program with args in dir and returns at once, without
// waiting for it. The process is no part of a call that we run in, and leads a session of its own, so that a closed
// terminal or an interrupted `git commit` does not reach it; its standard input
// is empty, its output is appended to logPath (mode 0600; at 1 MiB the file is
// kept as logPath+".1" and begun anew), and it inherits no other descriptor, so
// that nobody who reads a pipe of ours waits for it. env is the whole
// environment; nil passes ours on.
//
// A process of ours that stays, such as the page's server, reaps it when it ends.
func StartDetached(program string, args []string, dir string, env []string, logPath string) error {
	session, err := ownSession()
	if err != nil {
		return fmt.Errorf("start %q: %w", program, err)
	}
	log, err := openDetachLog(logPath)
	if err != nil {
		return fmt.Errorf("start %q: %w", program, err)
	}
	defer log.Close()
	closeInheritedOnExec()
	cmd := exec.Command(program, args...)
	if env == nil {
		env = os.Environ()
	}
	cmd.Dir, cmd.Env = dir, slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, spawnVar+"=") })
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = session
	if err := spawn(cmd, false); err != nil {
		return fmt.Errorf("start %q: %w", program, err)
	}
	go func() { // ends with the process, or with ours
		_ = cmd.Wait()
		forget(cmd, false)
	}()
	return nil
}

// Session is a number that processes of one terminal or chat share; where there is none
// it is our process id.
func Session() int {
	session, err := sessionOf(0)
	if err != nil {
		return os.Getpid()
	}
	return session
}

func openDetachLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() >= maxDetachLog {
		// Another process may have put it aside just now: then there is nothing left to do.
		if err := os.Rename(path, path+".1"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// closeInheritedOnExec keeps from our children the descriptors that whoever
// started us left open; those that we opened ourselves are marked already.
func closeInheritedOnExec() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			closeOnExec(fd)
		}
	}
}
