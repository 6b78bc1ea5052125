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
	cancelGrace  = 500 * time.Millisecond // the same when git-runr itself is told to end: it has to within a second
	drainDelay   = 2 * time.Second        // for what a daemon still holds open after the command ended
	killWait     = 2 * time.Second        // for the kernel to end what was killed

	// spawnVar marks everything a command starts, so that it can be found again
	// after it left the process group and lost its parent.
	spawnVar = "GIT_RUNR_SPAWN"
)

// Command is one program to run under supervision.
type Command struct {
	Args  []string // argv; never passed through a shell
	Dir   string   // where it runs; "" is the current directory
	Env   []string // the complete environment, KEY=VALUE
	Stdin io.Reader

	Timeout time.Duration // wall time before it is stopped; 0: none
	Idle    time.Duration // time without a byte of output before it is stopped; 0: none
	Grace   time.Duration // between TERM and KILL; 0: 5 s, and 0.5 s where the context ends

	MaxOutput  int       // bytes kept of each stream, half from the head and half from the tail; 0: defaultMaxOutput
	Merge      bool      // both streams go to Result.Stdout, in the order in which they were written
	Alone      bool      // nothing that it started outlives it, a daemon neither
	Transcript io.Writer // gets every byte of both streams as it comes; nil: none. Its errors do not stop the command

	// OnLine is told the newest line of output without escape sequences and
	// control characters. It is called from one goroutine, skips lines when they
	// come faster than it returns, and always gets the last one.
	OnLine func(line string)

	// event is given every whole line of standard output and returns what to show
	// for it ("" for nothing), and whether to leave it out of the transcript.
	event func(line []byte) (show string, noise bool)
	// stuck reports whether the newest event was one of trouble, such as that it tries again.
	// Of a command with events only others break its silence.
	stuck func() bool
	// vain reports whether nothing comes of going on, as the newest event says: it is stopped.
	vain func() bool
	// talk speaks with the command in place of Stdin; what it writes comes by event.
	talk talker
}

// talker speaks with a command.
type talker interface {
	// talk returns when there is nothing more to say, and whether all was said: how the
	// command ends after that says nothing of its work.
	talk(to io.Writer) bool
	// hangUp says that nothing more comes of the command: talk must return.
	hangUp()
}

// Result is how a command ended. Its streams hold head and tail; a line in
// between says how many bytes were left out.
type Result struct {
	Stdout, Stderr []byte
	Dropped        int64  // bytes left out of both
	ExitCode       int    // -1 when it did not end by itself
	Signal         string // what ended it, as in SIGKILL; "" when it exited
	TimedOut       bool
	Idled          bool
	Cancelled      bool
	Started        time.Time
	Duration       time.Duration
	LastOutput     time.Time // zero when it wrote nothing

	// Only Call fills these in.
	Edited  []string      // files below its directory that an agent said to edit
	Usage   spend.Usage   // with that of a call which failed
	Session spend.Session // as the agent calls it, zero where it tells none

	cutStdout bool // something of Stdout was left out
	vain      bool // stopped, for nothing would have come of it
}

var errUnstoppable = errors.New("still running after SIGKILL")

// Run runs c to its end, its time limit or the end of ctx, whichever is first,
// and leaves nothing of it running in the last two cases, nothing of its process
// group in the first. The error is for a
// command that could not be started (ErrNotFound and others) or not be stopped;
// a command that failed is a Result.
//
// Stdin must not block for ever when read: a prompt, not a terminal. A daemon
// that made itself a session of its own outlives a command which ended by itself
// and is not Alone: it is left, but its output is no longer waited for.
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
	return p.finish(p.watch(ctx))
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
	talked chan struct{} // closed when talk is over; nil without one
	said   bool          // by talk, all of it
	began  time.Time

	mark     string
	noteFile string // see Noted; "" for none
}

// start starts c with the program at path.
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
	theirs, err := p.openPipes()
	if err == nil {
		note(p.noteFile, noted{Mark: mark})
		p.began = time.Now()
		err = p.launch()
	}
	closeAll(theirs)
	if err != nil {
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

// openPipes connects the streams and starts their readers; it returns the ends
// that belong to the child. The pipes are ours, not exec's, so that Wait returns
// when the process ends and not when the last holder of a pipe does.
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

// openPipe gives the end of the child's, whose output goes to a writer until it ends.
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
		err := spawn(p.cmd, p.Alone)
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // the state says it all
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	if stdin != nil {
		p.copies.Go(func() { p.speak(stdin) })
	}
	return nil
}

// children are the processes that this package started and that have not ended, and how many of them are Alone.
var children = struct {
	sync.Mutex
	started map[int]bool
	alone   int
}{started: map[int]bool{}}

// spawn starts a command, and knows it as ours before anybody can look.
func spawn(cmd *exec.Cmd, alone bool) error {
	children.Lock()
	defer children.Unlock()
	err := cmd.Start()
	if err == nil {
		children.started[cmd.Process.Pid] = true
		if alone {
			children.alone++
		}
	}
	return err
}

// forget says that a command of spawn has ended: its number may be given to another.
func forget(cmd *exec.Cmd, alone bool) {
	children.Lock()
	defer children.Unlock()
	delete(children.started, cmd.Process.Pid)
	if alone {
		children.alone--
	}
}

// onlyOne reports whether one command that is Alone runs: with several nothing tells whose an orphan is, and the
// last one takes them all.
func onlyOne() bool {
	children.Lock()
	defer children.Unlock()
	return children.alone == 1
}

// speak tells the command what it is to hear.
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
	if err == nil {
		p.pipes = append(p.pipes, stdin)
	}
	return stdin, err
}

// cause is why watching a process ended.
type cause int

const (
	ended cause = iota
	timedOut
	idled
	cancelled
	gaveUp   // its events say that nothing comes of it
	finished // what there was to say is said
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

// after is time.After, and never for 0.
func after(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.After(d)
}

// finish stops the process if it has not ended, and collects what it left.
func (p *process) finish(why cause) (Result, error) {
	if why == finished && p.endsByItself() {
		why = ended
	}
	switch why {
	case ended:
	case cancelled:
		stop(p.family.signal, cmp.Or(p.Grace, cancelGrace))
	default:
		stop(p.family.signal, p.grace())
	}
	stopped := p.waitExit(why)
	took := time.Since(p.began)
	p.drain()
	p.rec.close()
	if why == ended { // after what it still had to say
		stop(p.left(), p.grace())
	}
	if stopped {
		forget(p.cmd, p.Alone)
	}

	r := Result{ExitCode: -1, Started: p.began, Duration: took}
	r.TimedOut, r.Idled, r.Cancelled, r.vain = why == timedOut, why == idled, why == cancelled, why == gaveUp
	p.rec.fill(&r)
	if !stopped {
		return r, fmt.Errorf("stop %q, process %d: %w", p.Args[0], p.cmd.Process.Pid, errUnstoppable)
	}
	note(p.noteFile, noted{Mark: p.mark, Ended: true})
	r.setStatus(p.cmd.ProcessState, why)
	if why == finished || why == ended && p.said {
		r.ExitCode, r.Signal = 0, ""
	}
	return r, nil
}

// left reaches what is to end with a process that ended by itself.
func (p *process) left() func(syscall.Signal) int {
	if p.Alone {
		return p.family.signal
	}
	return p.family.signalGroup
}

// endsByItself reports whether the process does so when nothing more is said to it.
func (p *process) endsByItself() bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(drainDelay):
		return false
	}
}

func (p *process) grace() time.Duration { return cmp.Or(p.Grace, defaultGrace) }

// waitExit reports whether the process ended. One that runs as another user
// cannot be killed and must not hold us.
func (p *process) waitExit(why cause) bool {
	if why == ended {
		return true
	}
	select {
	case <-p.exited:
		return true
	case <-time.After(killWait):
		return false
	}
}

// drain waits for the readers, and closes the pipes that somebody still holds.
func (p *process) drain() {
	late := time.AfterFunc(drainDelay, func() { closeAll(p.pipes) })
	p.copies.Wait()
	if late.Stop() {
		closeAll(p.pipes)
	}
}

// setStatus takes exit code and signal over. A command that we stopped did not
// end by itself, whatever it says: some exit 0 on TERM.
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

// stop ends all that signal reaches: TERM, grace to obey, KILL until none is left
// or killing does not help. signal returns how many there were.
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

// Traced gives a context whose commands have git note in file which refs it moves; ""
// is none.
func Traced(ctx context.Context, file string) context.Context {
	return context.WithValue(ctx, traceKey{}, file)
}
