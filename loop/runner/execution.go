package runner

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Runner executes runs: it does what Next says until nothing is left to do.
type Runner struct {
	Store       *store.Store                                          // required
	Implementer func(name string) (role.Implementer, *record.Failure) // required
	Reviewer    func(name string) (role.Reviewer, *record.Failure)    // required
	Checker     checking.Checker                                      // required where the plan has checks
	Progress    checking.Progress                                     // required
	Terms       reviewing.Terms
	// Limits returns the limits of a run that is resumed now; if nil, the run keeps its own.
	Limits func(run record.Run) runplan.RunLimits
	// Ask asks a person about a run whose retries are used up. nil means that nobody can be asked.
	Ask func(ctx context.Context, run record.Run, why Step) (runplan.Choice, error)
	// Invite completes a request to a person with who is asked by name and which approvals it needs. nil: anybody.
	Invite func(ctx context.Context, request *record.ReviewRequest) error
	// Keep retries a killed or failed attempt on the files as they are now, and reverts nothing.
	Keep    bool
	Explain Explainer // nil: stops are not explained
}

// Explainer completes the stop of a run that is about to be stopped: it returns the stop with what its event says
// beyond the reason, and the files to store with it, keyed by slash-separated path.
type Explainer func(run record.Run, stop record.Stop) (explained record.Stop, files map[string][]byte)

// execution is the work of one process on one run.
type execution struct {
	*Runner
	ctx      context.Context
	run      record.Run
	tree     *gitstore.Worktree
	asMade   bool                          // nobody has written to tree since it was made
	made     gitstore.Snapshot             // of tree as it was made; zero if unknown
	base     map[string]record.CheckResult // results of checks on the run's base, as far as they were run there
	warned   string                        // the implementer about whose missing reports the user was warned
	gapsSaid string                        // the last warning about files that cannot be kept
	quiet    map[string]bool               // agents that do not report cost or tokens, about which the user was warned

	meanwhile []string // what watch noticed during the attempt
	changed   []string // what changed in the worktree between two tries of an attempt
}

// stopLeft stops processes that a killed process left running for a run, in the run's working tree and in checkouts of
// reviews, and reports whether the working tree had any.
func stopLeft(s *store.Store, run record.Run) (stopped bool, err error) {
	stopped = agent.StopNoted(workspace.RunNotes(s, run.ID)) > 0
	return stopped, checking.StopInCheckouts(s)
}

// takeUp calls stopLeft. Processes started with the returned context are noted in a file until ended is called.
func (r *Runner) takeUp(ctx context.Context, run record.Run) (_ context.Context, ended func(), err error) {
	dir := workspace.FilesDir(r.Store, run.ID)
	notes := workspace.RunNotes(r.Store, run.ID)
	stopped, err := stopLeft(r.Store, run)
	if err != nil {
		return nil, nil, err
	}
	if stopped {
		r.Progress.Say("stopped what a killed process had left running")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, nil, fmt.Errorf("take up run %s: %w", run.ID, err)
	}
	return agent.Noted(ctx, notes), func() { _ = os.Remove(notes) }, nil // all processes noted there have ended
}

// record appends one event to this run, if its newest state allows the event, and folds it in.
func (t *execution) record(d record.NewEvent) error {
	run, err := t.Store.RunEvent(t.ctx, t.run, d)
	if err == nil {
		t.run = run
	}
	return err
}

// keepPrompt writes the prompt of an attempt's agent to a file that stays in this clone.
func (t *execution) keepPrompt(attempt int, text string) error {
	file := filepath.Join(workspace.FilesDir(t.Store, t.run.ID), fmt.Sprintf("attempt-%d.prompt.md", attempt))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("keep prompt: %w", err)
	}
	return nil
}

// transcript opens a file for an agent's output, up to maxTranscript bytes. The file stays in this clone.
func (t *execution) transcript(name string) (io.WriteCloser, error) {
	return openTranscript(filepath.Join(workspace.FilesDir(t.Store, t.run.ID), name), maxTranscript)
}

// maxTranscript is the maximum size in bytes of an agent's output on disk, for each attempt and each round.
const maxTranscript = 64 << 20

// transcriptFile is a file with a maximum size. At the limit it gets a last line that says so; the rest is dropped
// without an error, because the agent may go on writing.
type transcriptFile struct {
	file *os.File // not embedded: io.Copy would write past the limit by its ReadFrom
	left int64    // bytes until the limit
}

// openTranscript opens a file for appending, up to limit bytes.
func openTranscript(path string, limit int64) (io.WriteCloser, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	return &transcriptFile{file, limit - info.Size()}, nil
}

func (t *transcriptFile) Write(p []byte) (int, error) {
	if t.left <= 0 {
		return len(p), nil
	}
	kept := p[:min(int64(len(p)), t.left)]
	if t.left -= int64(len(kept)); t.left == 0 {
		kept = fmt.Appendf(kept[:len(kept):len(kept)], "\n[more than this is not kept]\n")
	}
	if _, err := t.file.Write(kept); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (t *transcriptFile) Close() error { return t.file.Close() }
