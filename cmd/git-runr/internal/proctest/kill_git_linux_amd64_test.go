package proctest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/gitstore/testtmp"
)

const (
	systemCall   = 0x80 // in the signal of a stop at a system call, by PTRACE_O_TRACESYSGOOD
	traceOptions = syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACEFORK |
		syscall.PTRACE_O_TRACEVFORK | syscall.PTRACE_O_TRACEEXEC
)

// Git's own processes are killed at the system calls that change files: each git that the program started together
// with its own children, and in every second case the program as well. Then doctor, the command and both fscks have
// to succeed.
//
// There are about 640 points; without RUNR_KILLS=all only some of them are tested.

func init() { standIns["mortal-git"] = func() { syscall.Exit(mortalGit(os.Args[1:])) } }

// gitShim counts the calls of git by making directories, and passes them to mortal-git.
const gitShim = `#!/bin/sh
n=1
while ! mkdir "$CALLS/$n" 2>/dev/null; do n=$((n+1)); done
echo "$*" >"$CALLS/$n/args"
case " $KILL " in
*" call $n "*|*" count "*) KILLS=$PPID CALL="$CALLS/$n" exec mortal-git %[1]s "$@" ;;
esac
exec %[1]s "$@"
`

// mortalGit runs git and kills it at the file change that KILL names: "call 3 at 7", or "call 3 at 7 all" to kill the
// program as well. It writes the number of file changes to CALL/changes.
func mortalGit(argv []string) int {
	runtime.LockOSThread()
	var call, at int
	var all string
	fmt.Sscanf(os.Getenv("KILL"), "call %d at %d %s", &call, &at, &all)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	const endWithTracer = 0x100000 // PTRACE_O_EXITKILL
	first, status := cmd.Process.Pid, syscall.WaitStatus(0)
	if _, err := syscall.Wait4(first, &status, 0, nil); err != nil {
		return 1
	}
	if err := syscall.PtraceSetOptions(first, traceOptions|endWithTracer); err != nil {
		return 1
	}
	within, ended, changes := map[int]bool{first: false}, 0, 0
	for pid, signal := first, 0; ; {
		_ = syscall.PtraceSyscall(pid, signal)
		var err error
		if pid, err = syscall.Wait4(-1, &status, syscall.WNOTHREAD|syscall.WALL, nil); err != nil {
			break
		}
		signal = 0
		switch {
		case !status.Stopped():
			delete(within, pid)
			if pid == first {
				ended = status.ExitStatus()
			}
		case status.StopSignal() == syscall.SIGTRAP|systemCall:
			within[pid] = !within[pid]
			if within[pid] && changesFiles(pid) {
				changes++
			}
			if changes == at && at > 0 {
				endAll(within, all == "all")
			}
		case status.StopSignal() == syscall.SIGTRAP && status.TrapCause() == syscall.PTRACE_EVENT_EXEC:
			within[pid] = true // the next stop is the end of the call
		case status.StopSignal() != syscall.SIGSTOP && status.StopSignal() != syscall.SIGTRAP:
			signal = int(status.StopSignal())
		}
	}
	_ = os.WriteFile(filepath.Join(os.Getenv("CALL"), "changes"), fmt.Append(nil, changes), 0o644)
	return ended
}

// endAll kills the program first if program is set, then the processes, and then itself.
func endAll(pids map[int]bool, program bool) {
	_ = os.WriteFile(filepath.Join(os.Getenv("CALL"), "killed"), nil, 0o644)
	if pid, err := strconv.Atoi(os.Getenv("KILLS")); err == nil && program {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	var status syscall.WaitStatus
	for len(pids) > 0 {
		pid, err := syscall.Wait4(-1, &status, syscall.WNOTHREAD|syscall.WALL, nil)
		if err != nil {
			break
		}
		if !status.Stopped() {
			delete(pids, pid)
		}
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// changesFiles reports whether the system call that begins changes something on disk.
func changesFiles(pid int) bool {
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(pid, &regs) != nil {
		return false
	}
	const renameat2 = 316
	switch regs.Orig_rax {
	case syscall.SYS_OPENAT:
		return regs.Rdx&(syscall.O_CREAT|syscall.O_TRUNC) != 0
	case syscall.SYS_OPEN:
		return regs.Rsi&(syscall.O_CREAT|syscall.O_TRUNC) != 0
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64, syscall.SYS_FTRUNCATE:
		file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, regs.Rdi))
		return err == nil && filepath.IsAbs(file) && !strings.HasPrefix(file, "/dev/null")
	case syscall.SYS_RENAME, syscall.SYS_RENAMEAT, renameat2, syscall.SYS_LINK, syscall.SYS_LINKAT, syscall.SYS_SYMLINK,
		syscall.SYS_SYMLINKAT, syscall.SYS_UNLINK, syscall.SYS_UNLINKAT, syscall.SYS_MKDIR, syscall.SYS_MKDIRAT,
		syscall.SYS_RMDIR:
		return true
	}
	return false
}

// gitDoor is a command whose git is killed.
type gitDoor struct {
	name   string
	before string // typed before it, in the repository
	argv   []string
	next   []string // typed afterwards; nil: the command again
}

const gitDoorRun = "git-runr -q run ../task.md || true; "

var gitDoors = []gitDoor{
	{name: "run", argv: []string{"run", "../task.md"}, next: []string{"resume", "latest"}},
	{name: "run in place", argv: []string{"run", "--in-place", "../task.md"}, next: []string{"resume", "latest"}},
	{name: "abort", before: "echo 'say nothing' >../agents/rev/last; " + gitDoorRun, argv: []string{"abort", "latest"}},
	{name: "land", before: gitDoorRun, argv: []string{"land", "latest"}},
	{name: "undo", before: gitDoorRun + "git-runr -q land latest; ", argv: []string{"undo"}},
	{name: "sync", before: "git-runr -q review --no-serve --reviewer human; ", argv: []string{"sync"}},
	{name: "first sync",
		before: "echo three >>tracked.txt; git commit -qam third; git-runr -q review --no-serve --reviewer human; git-runr " +
			"-q inbox submit latest --approve; ", argv: []string{"sync"}},
	{name: "review", before: "echo more >>tracked.txt; ",
		argv: []string{"review", "--wait", "--worktree", "--reviewer", "rev"}},
}

// gitScene is a repository with a remote and a colleague's clone below one directory, so that all of it can be
// restored.
type gitScene struct {
	killPlace
	root, saved string
	door        gitDoor
}

const gitSceneMade = `set -e
git init -q --bare ../remote.git
git init -q
echo one >README.md; echo one >tracked.txt; git add .; git commit -q -m first; echo more >>tracked.txt; git commit -qam second
git remote add origin ../remote.git; git push -q origin main
git clone -q ../remote.git ../other
cd ../other
git-runr -q review --no-serve --reviewer human
git-runr -q sync
cd ../repo
git-runr -q sync
cd ../other
git-runr -q inbox submit latest --request-changes
echo two >>README.md; git commit -qam third; git push -q origin main
git-runr -q review --no-serve --reviewer human
git-runr -q sync
cd ../repo
`

func newGitScene(t *testing.T, door gitDoor) *gitScene {
	t.Helper()
	base := t.TempDir()
	s := &gitScene{killPlace: newKillPlace(t), root: filepath.Join(base, "now"), saved: filepath.Join(base, "saved"),
		door: door}
	git, err := exec.LookPath("git")
	s.must(err)
	s.must(os.WriteFile(filepath.Join(s.bin, "git"), fmt.Appendf(nil, gitShim, git), 0o755))
	config, err := os.ReadFile(filepath.Join(s.home, "config"))
	s.must(err)
	s.write(s.root, "config", string(config))
	s.env = append(os.Environ(), "HOME="+s.root, "XDG_CONFIG_HOME="+s.root,
		"XDG_STATE_HOME="+filepath.Join(s.root, "state"),
		"XDG_CACHE_HOME="+filepath.Join(s.root, "cache"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+filepath.Join(s.root, "config"))
	for name, text := range killFiles {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "ROOT", s.root), "write new.txt TURN", "write deep/new.txt TURN")
		s.write(s.root, name, strings.ReplaceAll(text, "append "+s.root+"/repo/during.txt TURN\\n\n", ""))
	}
	s.write(s.root, "agents/rev/nothing", "nothing\n")
	s.must(os.Remove(filepath.Join(s.root, "agents/rev/1")))
	s.must(os.Mkdir(s.repo(), 0o755))
	scripttest.RunIn(t, s.repo(), s.env, "sh", "-c", gitSceneMade+door.before)
	s.must(os.Rename(s.root, s.saved))
	return s
}

func (s *gitScene) repo() string { return filepath.Join(s.root, "repo") }

// runr runs the program, which has to end within five minutes: each of its calls of git is traced.
func (s *gitScene) runr(kill string, argv []string) (cmd *exec.Cmd, status int, said string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	made := s.command(s.repo(), kill, argv)
	cmd = exec.CommandContext(ctx, made.Args[0], made.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = made.Dir, made.Env, time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		s.t.Errorf("%q does not end: %v", argv, err)
	}
	return cmd, cmd.ProcessState.ExitCode(), string(out)
}

// restore restores the state before the command.
func (s *gitScene) restore() {
	s.t.Helper()
	s.must(os.RemoveAll(s.root))
	scripttest.RunIn(s.t, "/", s.env, "cp", "-a", s.saved, s.root)
}

// points returns all file changes that the command's git processes make.
func (s *gitScene) points() (points []string, told map[string]string) {
	s.t.Helper()
	s.restore()
	cmd, status, said := s.runr("count", s.door.argv)
	if status != 0 && status != 3 {
		s.t.Fatalf("%q ended with %d:\n%s", s.door.argv, status, said)
	}
	told = map[string]string{}
	for i, args := range callsMade(cmd) {
		data, _ := os.ReadFile(filepath.Join(callsOf(cmd), fmt.Sprint(i+1), "changes"))
		changes, _ := strconv.Atoi(string(data))
		for at := range changes {
			point := fmt.Sprintf("call %d at %d", i+1, at+1)
			if len(points)%2 == 1 {
				point += " all"
			}
			points, told[point] = append(points, point), args
		}
	}
	s.well(s.door.name)
	return points, told
}

func TestGitKilledAnywhere(t *testing.T) {
	for i, door := range gitDoors {
		t.Run(door.name, func(t *testing.T) {
			t.Parallel()
			s := newGitScene(t, door)
			points, told := s.points()
			t.Logf("%d points", len(points))
			every := len(points) // one point, another one for each door
			switch {
			case os.Getenv("RUNR_KILLS") == "all":
				every = 1
			case testtmp.Long():
				every = max(1, len(points)/3)
			}
			for n := (i*37 + len(points)/2) % every; n < len(points); n += every {
				t.Run(points[n], func(t *testing.T) {
					s.t = t
					s.killedAt(points[n], told[points[n]])
				})
			}
		})
	}
}

func (s *gitScene) killedAt(point, args string) {
	s.restore()
	cmd, status, said := s.runr(point, s.door.argv)
	call, _, _ := strings.Cut(strings.TrimPrefix(point, "call "), " ")
	if !testrepo.Exists(filepath.Join(callsOf(cmd), call, "killed")) {
		return // fewer changes this time
	}
	if all := strings.HasSuffix(point, "all"); all != (status == -1) || status == 70 || strings.Contains(said, "panic") {
		s.t.Errorf("killed, it ended with %d:\n%s", status, said)
	}
	all := fmt.Sprintf("git %s\n%d\n%s", args, status, said)
	typed := func(argv ...string) (int, string) {
		_, status, said := s.runr("", argv)
		all += fmt.Sprintf("$ git runr %s (%d)\n%s", strings.Join(argv, " "), status, said)
		return status, said
	}
	if status, _ := typed("doctor"); status != 0 && status != 1 && status != 4 {
		s.t.Errorf("doctor ended with %d", status)
	}
	again := slices.Clip(s.door.argv)
	if s.door.next != nil {
		again = s.door.next
	}
	for tries := 0; ; tries++ {
		status, said := typed(again...)
		if status == 0 || status == 11 || status == 5 {
			break
		}
		if s.door.name == "run in place" && status == 3 {
			if strings.Contains(said, "--keep") {
				again = append(slices.Clone(again), "--keep")
				continue
			}
			break // files that the agent does not claim are left alone
		}
		if status == 75 {
			s.unlock(said)
		}
		if status == 10 && strings.Contains(said, "there is no run yet") {
			again = s.door.argv
		}
		if tries == 3 {
			s.t.Errorf("no end")
			break
		}
	}
	typed("gc")
	s.well(s.door.name)
	if s.t.Failed() {
		s.t.Log(all)
	}
}

// well checks the final state: nothing is damaged, and no lock is left.
func (s *gitScene) well(door string) {
	s.t.Helper()
	for _, dir := range []string{"repo", "remote.git"} {
		out, err := exec.Command("git", "-C", filepath.Join(s.root, dir), "fsck", "--no-dangling", "--no-progress").
			CombinedOutput()
		if err != nil || len(out) > 0 {
			s.t.Errorf("git fsck in %s: %v\n%s", dir, err, out)
		}
	}
	if _, status, said := s.runr("", []string{"fsck"}); status != 0 {
		s.t.Errorf("fsck ended with %d:\n%s", status, said)
	}
	s.locks()
	if door == "abort" || door == "land" {
		if left, _ := os.ReadDir(filepath.Join(s.repo(), ".git", "worktrees")); len(left) > 0 {
			s.t.Errorf("worktree %s is left", left[0].Name())
		}
	}
}

// unlock does what the program tells the person to do about the lock of a killed git.
func (s *gitScene) unlock(said string) {
	if path := filepath.Join(s.repo(), ".git/refs/runr-remotes"); strings.Contains(said, path) {
		s.age(path)
		return
	}
	_, line, found := strings.Cut(said, "\n    rm ")
	path, _, _ := strings.Cut(line, "\n")
	if !found || os.Remove(path) != nil {
		s.t.Errorf("no lock is named:\n%s", said)
	}
}

// locks checks git's lock files: the program's own refs have none, and doctor names the others.
func (s *gitScene) locks() {
	s.t.Helper()
	old := time.Now().Add(-time.Hour)
	var others []string
	_ = filepath.WalkDir(filepath.Join(s.repo(), ".git"), func(path string, _ os.DirEntry, err error) error {
		own := strings.Contains(path, "/refs/runr") || strings.Contains(path, "/refs/notes")
		switch {
		case err != nil || !strings.HasSuffix(path, ".lock") || strings.Contains(path, "/.git/runr/"):
		case own:
			s.t.Errorf("left: %s", path)
		default:
			others = append(others, path)
			s.must(os.Chtimes(path, old, old))
		}
		return nil
	})
	if len(others) == 0 {
		return
	}
	_, _, said := s.runr("", []string{"doctor"})
	for _, path := range others {
		if !strings.Contains(said, path) {
			s.t.Errorf("doctor does not tell of %s", path)
		}
	}
}

// age makes locks older than the ten seconds in which a fetch's lock may be in use.
func (s *gitScene) age(dir string) {
	old := time.Now().Add(-11 * time.Second)
	_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") {
			s.must(os.Chtimes(path, old, old))
		}
		return nil
	})
}
