package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/git-runr/git-runr/loop/spend"
)

const (
	// defaultMaxOutput is how many bytes of each stream are kept when Command.MaxOutput is 0.
	defaultMaxOutput = 4 << 20

	defaultGrace = 5 * time.Second        // between TERM and KILL
	cancelGrace  = 500 * time.Millisecond // the same when ctx is done: git-runr itself must end within a second
	drainDelay   = 2 * time.Second        // wait for output that a daemon still holds open after the command ended
	killWait     = 2 * time.Second        // wait for the kernel to end killed processes

	orphanLimit = 3 * time.Second // until what an Alone command left must have ended

	// spawnVar marks every process that a command starts, so that it can be found after it
	// left the process group and lost its parent.
	spawnVar = "GIT_RUNR_SPAWN"
)

// Command is one program to run under supervision.
type Command struct {
	Args  []string // argv; never passed through a shell
	Dir   string   // working directory; "" is the current directory
	Env   []string // the complete environment, KEY=VALUE
	Stdin io.Reader

	Timeout time.Duration // limit of wall time; 0: none
	Idle    time.Duration // limit of time without a byte of output; 0: none
	Grace   time.Duration // between TERM and KILL; 0: 5 s, or 0.5 s when the context ended

	MaxOutput int           // bytes kept of each stream, half from the head and half from the tail; 0: defaultMaxOutput
	Merge     bool          // both streams go to Result.Stdout, in the order of writing
	Alone     bool          // stop everything that it started when it ends, daemons too
	within    time.Duration // limit of killing what an Alone command left; 0: orphanLimit
	// receives every byte of both streams as it arrives; nil: none. Its errors do not stop the command
	Transcript io.Writer

	// OnLine receives the newest line of output without escape sequences and control
	// characters. It is called from one goroutine, skips lines that arrive faster than it
	// returns, and always gets the last one.
	OnLine func(line string)

	// event receives every whole line of standard output. It returns what to show for the
	// line ("" for nothing), and whether to leave it out of the transcript.
	event func(line []byte) (show string, noise bool)
	// stuck reports whether the newest event was about trouble, such as a retry. Such events
	// do not reset the idle limit of a command that has events.
	stuck func() bool
	// vain reports whether the newest event makes going on pointless; the command is then stopped.
	vain func() bool
	// talk holds a conversation with the command, in place of Stdin; its output arrives by event.
	talk talker
}

// talker holds a conversation with a command over its standard streams.
type talker interface {
	// talk returns when the conversation is over, and reports whether it was completed. How the
	// command exits after a completed conversation says nothing about its work.
	talk(to io.Writer) bool
	// hangUp says that the command writes nothing more; talk must then return.
	hangUp()
}

// Result is how a command ended. Its streams hold head and tail; a line between them
// states how many bytes were left out.
type Result struct {
	Stdout, Stderr []byte
	Dropped        int64  // bytes left out of both streams
	ExitCode       int    // -1 when it did not exit by itself
	Signal         string // the signal that ended it, such as SIGKILL; "" when it exited
	TimedOut       bool
	Idled          bool
	Cancelled      bool
	Started        time.Time
	Duration       time.Duration
	LastOutput     time.Time // zero when it wrote nothing

	// Only Call fills these in.
	Edited  []string      // files below its directory that the agent reported to edit
	Usage   spend.Usage   // includes the usage of a failed call
	Session spend.Session // the agent's session; zero if it reports none

	cutStdout bool // part of Stdout was left out
	vain      bool // stopped because going on was pointless
}

var errUnstoppable = errors.New("still running after SIGKILL")

// Run runs c until it exits, its time limit passes or ctx ends. In the last two cases no
// process of it is left running; after an exit no process of its process group is. The
// error is for a command that could not be started (ErrNotFound and others) or not be
// stopped; a command that failed is a Result.
//
// Reading Stdin must not block for ever: pass a prompt, not a terminal. A daemon with a
// session of its own outlives a command that exits by itself and is not Alone; Run does
// not wait for the daemon's output.
func Run(ctx context.Context, c Command) (Result, error) {
	path, err := lookup(c.Args, c.Env)
	if err != nil {
		return Result{}, err
	}
	if err := checkDir(c.Dir); err != nil {
		return Result{}, fmt.Errorf("start %q: %w", c.Args[0], err)
	}
	if ctx.Err() != nil {
		return Result{ExitCode: -1, Cancelled: true, Started: time.Now()}, nil
	}
	p, err := start(ctx, c, path)
	if err != nil {
		return Result{}, fmt.Errorf("start %q: %w", c.Args[0], err)
	}
	return p.finish(ctx, p.watch(ctx))
}

// process is a started command.
type process struct {
	Command
	cmd    *exec.Cmd
	family *family
	rec    *recorder
	pipes  []io.Closer // our ends of the pipes
	copies sync.WaitGroup
	exited chan struct{} // closed when cmd.ProcessState is known
	talked chan struct{} // closed when talk returned; nil without a talker
	said   bool          // talk completed its conversation
	began  time.Time

	mark     string
	noteFile string // see Noted; "" for no file
}

// start starts c, whose program is the file at path.
func start(ctx context.Context, c Command, path string) (*process, error) {
	attr, err := ownSession()
	if err != nil {
		return nil, err
	}
	mark := rand.Text()
	p := &process{Command: c, rec: newRecorder(c), exited: make(chan struct{}), mark: mark}
	p.noteFile, _ = ctx.Value(noteKey{}).(string)
	endWithUs(attr)
	p.cmd = &exec.Cmd{Path: path, Args: c.Args, Dir: c.Dir, SysProcAttr: attr}
	p.cmd.Env = append(append([]string{}, c.Env...), spawnVar+"="+os.Getenv(spawnVar)+":"+mark)
	if trace, _ := ctx.Value(traceKey{}).(string); trace != "" {
		p.cmd.Env = append(p.cmd.Env, "GIT_TRACE_REFS="+trace)
	}
	if err := p.openAndLaunch(); err != nil {
		closeAll(p.pipes)
		p.copies.Wait()
		p.rec.close()
		return nil, err
	}
	p.family = newFamily(p.cmd.Process.Pid, mark, p.Alone)
	left := p.family.noted()
	left.Dir = c.Dir
	note(p.noteFile, left)
	return p, nil
}

// openPipes connects the streams and starts their readers; it returns the child's ends.
// The pipes are ours, not exec's, so that Wait returns when the process ends and not when
// the last holder of a pipe does.
func (p *process) openPipes() (theirs []io.Closer, err error) {
	hangUp := func() {}
	if p.talk != nil {
		p.talked, hangUp = make(chan struct{}), p.talk.hangUp
	}
	out, err := p.openPipe(p.rec.stdout, hangUp)
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if p.Merge {
		return []io.Closer{out}, nil
	}
	errs, err := p.openPipe(p.rec.stderr, func() {})
	if err != nil {
		return []io.Closer{out}, err
	}
	p.cmd.Stderr = errs
	return []io.Closer{out, errs}, nil
}

// openPipe opens a pipe, copies its output to a writer, then calls end. It returns the child's end.
func (p *process) openPipe(to io.Writer, end func()) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.pipes = append(p.pipes, r)
	p.copies.Go(func() {
		_, _ = io.Copy(to, r)
		end()
	})
	return w, nil
}

// openAndLaunch opens the pipes and launches the process. It closes the child's ends of the pipes.
func (p *process) openAndLaunch() error {
	theirs, err := p.openPipes()
	defer closeAll(theirs)
	if err != nil {
		return err
	}
	note(p.noteFile, noted{Mark: p.mark})
	p.began = time.Now()
	return p.launch()
}

// launch starts the process and the goroutine that waits for it. Both happen on
// one locked thread: the kernel's parent-death signal is tied to the thread that
// forked (golang/go#27505).
func (p *process) launch() error {
	stdin, err := p.openStdin()
	if err != nil {
		return err
	}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := spawn(p.cmd, p.mark, p.Alone)
		started <- err
		if err != nil {
			return
		}
		_ = p.cmd.Wait() // ProcessState holds the result
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return err
	}
	if stdin != nil {
		p.copies.Go(func() { p.speak(stdin) })
	}
	return nil
}

// speak writes the prompt to the command, or holds the conversation, and closes its standard input.
func (p *process) speak(stdin io.WriteCloser) {
	if p.talk == nil {
		_, _ = io.Copy(stdin, p.Stdin) // a command need not read its prompt
	} else {
		p.said = p.talk.talk(stdin)
		defer close(p.talked)
	}
	_ = stdin.Close()
}

func (p *process) openStdin() (io.WriteCloser, error) {
	if p.Stdin == nil && p.talk == nil {
		return nil, nil
	}
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.pipes = append(p.pipes, stdin)
	return stdin, nil
}

// cause is why watching a process ended.
type cause int

const (
	ended cause = iota
	timedOut
	idled
	cancelled
	gaveUp   // its events say that going on is pointless
	finished // the conversation is over
)

// watch waits for the end of the process or a reason to stop it.
func (p *process) watch(ctx context.Context) cause {
	timeout, idle := after(p.Timeout), after(p.Idle)
	for {
		select {
		case <-p.exited:
			return ended
		case <-p.talked:
			return finished
		case <-ctx.Done():
			return cancelled
		case <-p.rec.vain:
			return gaveUp
		case <-timeout:
			return timedOut
		case <-idle:
			rest := p.Idle - time.Since(p.rec.began.Add(p.rec.lastOutput()))
			if rest <= 0 {
				return idled
			}
			idle = after(rest)
		}
	}
}

// after is time.After, except that 0 never fires.
func after(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.After(d)
}

// finish stops the process if it has not ended, stops what it left behind, and returns the result.
func (p *process) finish(ctx context.Context, why cause) (Result, error) {
	if why == finished && p.exitsWithin(drainDelay) { // by itself, after its conversation
		why = ended
	}
	switch why {
	case ended:
	case cancelled:
		stop(p.family.signal, cmp.Or(p.Grace, cancelGrace))
	default:
		stop(p.family.signal, p.grace())
	}
	stopped := why == ended || p.exitsWithin(killWait) // nobody can kill one that runs as another user
	took := time.Since(p.began)
	p.drain()
	p.rec.close()
	if why == ended { // after the rest of its output is read
		left := p.family.signalGroup
		if p.Alone {
			left = p.family.signal
		}
		stop(left, p.grace())
	}
	if stopped {
		forget(p.cmd, p.Alone)
	}
	cleared := !p.Alone || !stopped || endOrphans(ctx, cmp.Or(p.within, orphanLimit))

	r := Result{ExitCode: -1, Started: p.began, Duration: took}
	r.TimedOut, r.Idled, r.Cancelled, r.vain = why == timedOut, why == idled, why == cancelled, why == gaveUp
	p.rec.fill(&r)
	if !stopped {
		return r, fmt.Errorf("stop %q, process %d: %w", p.Args[0], p.cmd.Process.Pid, errUnstoppable)
	}
	if !cleared {
		return r, fmt.Errorf("stop what %q started: %w: find it with ps -ef, end it, and try again", p.Args[0],
			errUnstoppable)
	}
	note(p.noteFile, noted{Mark: p.mark, Ended: true})
	r.setStatus(p.cmd.ProcessState, why)
	if why == finished || why == ended && p.said {
		r.ExitCode, r.Signal = 0, ""
	}
	return r, nil
}

// exitsWithin waits for the process to exit, and reports whether it did.
func (p *process) exitsWithin(limit time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(limit):
		return false
	}
}

func (p *process) grace() time.Duration { return cmp.Or(p.Grace, defaultGrace) }

// drain waits for the readers; after drainDelay it closes the pipes that others still hold.
func (p *process) drain() {
	late := time.AfterFunc(drainDelay, func() { closeAll(p.pipes) })
	p.copies.Wait()
	if late.Stop() {
		closeAll(p.pipes)
	}
}

// setStatus sets exit code and signal. A command that we stopped gets no exit code: some
// programs exit 0 on TERM.
func (r *Result) setStatus(state *os.ProcessState, why cause) {
	if state == nil {
		return
	}
	if why == ended {
		r.ExitCode = state.ExitCode()
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.Signal = signalName(ws.Signal())
	}
}

// stop ends all processes that signal reaches: TERM, grace, then KILL until none is left
// or killing does not help. signal returns the number of processes.
func stop(signal func(syscall.Signal) int, grace time.Duration) {
	if signal(syscall.SIGTERM) == 0 {
		return
	}
	pause := 5 * time.Millisecond
	for end := time.Now().Add(grace); time.Now().Before(end) && signal(0) > 0; {
		time.Sleep(min(pause, time.Until(end)))
		pause = min(2*pause, 200*time.Millisecond)
	}
	for range 50 {
		if signal(syscall.SIGKILL) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func closeAll(files []io.Closer) {
	for _, f := range files {
		_ = f.Close()
	}
}

type traceKey struct{}

// Traced returns a context whose commands have git write the refs that they move to file;
// "" turns that off.
func Traced(ctx context.Context, file string) context.Context {
	return context.WithValue(ctx, traceKey{}, file)
}
