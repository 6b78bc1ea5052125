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

// maxDetachLog is the size in bytes at which the log of detached processes is rotated.
const maxDetachLog = 1 << 20

// StartDetached starts program with args in dir and returns without waiting for it. The
// process does not belong to the call that we run in. It leads a session of its own, so
// that a closed terminal or an interrupted `git commit` does not reach it. Its standard
// input is empty. Its output is appended to logPath (mode 0600), which is renamed to
// logPath+".1" at 1 MiB. It inherits no other descriptor, so that a reader of one of our
// pipes does not wait for it. env is its whole environment; nil passes ours on.
//
// If our process keeps running, as the page's server does, it reaps the child.
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
	cmd.Dir, cmd.Env = dir, slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(kv, spawnVar+"=")
	})
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = session
	if err := spawn(cmd, "", false); err != nil {
		return fmt.Errorf("start %q: %w", program, err)
	}
	go func() { // ends with the process, or with ours
		_ = cmd.Wait()
		forget(cmd, false)
	}()
	return nil
}

// Session returns a number that the processes of one terminal or chat share; without
// sessions it returns our process id.
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
		// Another process may have renamed it just now; nothing is left to do then.
		if err := os.Rename(path, path+".1"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// closeInheritedOnExec keeps descriptors that our parent left open from our children;
// descriptors that we opened are marked already.
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
