package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// usage is the resource usage of a process, including the processes that it started and waited for.
type usage struct {
	Wall, CPU float64 // ms
	Peak      float64 // MB, of the largest of these processes
	Read      float64 // bytes, by system calls: memory maps are not counted
	Written   float64 // bytes, by system calls or as dirty pages, whichever is more
	Status    int
}

// measureArg makes this program run a command and write its usage to descriptor 3. A separate process does this,
// because Linux counts the memory of the starting process in the child's peak: this one has only a few megabytes,
// below which values cannot be told apart.
const measureArg = "-measure-one"

func measure(argv []string) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	if err := waitUnreaped(cmd.Process.Pid); err != nil {
		log.Fatal(err)
	}
	u := usage{Wall: ms(time.Since(start))}
	u.Read, u.Written = moved(cmd.Process.Pid)
	_ = cmd.Wait() // its status is reported below
	u.Status = cmd.ProcessState.ExitCode()
	u.CPU = ms(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
	u.Peak = float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
	if err := json.NewEncoder(os.NewFile(3, "usage")).Encode(u); err != nil {
		log.Fatal(err)
	}
}

// waitUnreaped waits until a process has ended, and leaves it in /proc.
func waitUnreaped(pid int) error {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return err
		}
	}
}

// moved returns the bytes that a process, and those that it waited for, read and wrote.
func moved(pid int) (read, written float64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		log.Fatal(err)
	}
	count := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		var n float64
		name, value, _ := strings.Cut(line, ": ")
		if _, err := fmt.Sscan(value, &n); err == nil {
			count[name] = n
		}
	}
	return count["rchar"], max(count["wchar"], count["write_bytes"])
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// took runs a command and returns its usage.
func (b *bench) took(c command) usage {
	r, w, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	cmd := b.command(c.dir, append([]string{b.self, measureArg}, c.argv...)...)
	cmd.ExtraFiles = []*os.File{w}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	w.Close()
	var u usage
	err = json.NewDecoder(r).Decode(&u)
	r.Close()
	if waited := cmd.Wait(); err != nil || waited != nil || u.Status != 0 {
		log.Fatalf("%s: status %d: %v\n%s", strings.Join(c.argv, " "), u.Status, err, said.String())
	}
	return u
}
