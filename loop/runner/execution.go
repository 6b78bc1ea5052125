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

// Runner carries out runs: it does what Next says until nothing is left to do.
type Runner struct {
	Store       *store.Store                                          // required
	Implementer func(name string) (role.Implementer, *record.Failure) // required
	Reviewer    func(name string) (role.Reviewer, *record.Failure)    // required
	Checker     checking.Checker                                      // required where the plan has checks
	Progress    checking.Progress                                     // required
	Terms       reviewing.Terms
	// Limits are those of a run that is resumed now; nil: those that it had.
	Limits func(run record.Run) runplan.RunLimits
	// Ask decides on a run whose retries are used up. nil: nobody is there to ask.
	Ask func(ctx context.Context, run record.Run, why Step) (runplan.Choice, error)
	// Keep begins an attempt again that was killed or failed on the files as they are
	// now, and takes nothing back of what it left.
	Keep    bool
	Explain Explainer // nil: stops are not explained
}

// Explainer gives stop, for which run is about to be stopped, with what its event says beyond
// the reason, and the files that it leaves behind, by their slash paths.
type Explainer func(run record.Run, stop record.Stop) (explained record.Stop, files map[string][]byte)

// execution is the work of one process on one run.
type execution struct {
	*Runner
	ctx      context.Context
	run      record.Run
	tree     *gitstore.Worktree
	base     map[string]record.CheckResult // what checks came to on the run's base, as far as they were run there
	warned   string                        // the implementer of whose silence people were told
	gapsSaid string                        // what people were told cannot be kept
	quiet    map[string]bool               // agents of which people were told what they do not tell

	meanwhile []string // what watch.meanwhile says of the attempt
}

// stopLeft stops what a killed process has left at work for run, in its working tree and in
// checkouts of reviews. The context is for all that is started now, which is noted until
// ended is called.
func (r *Runner) stopLeft(ctx context.Context, run record.Run) (_ context.Context, ended func(), err error) {
	dir := workspace.FilesDir(r.Store, run.ID)
	notes := filepath.Join(dir, "started")
	if agent.StopNoted(notes) > 0 {
		r.Progress.Say("stopped what a killed process had left at work")
	}
	if err := checking.StopInCheckouts(r.Store); err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, nil, fmt.Errorf("take up run %s: %w", run.ID, err)
	}
	return agent.Noted(ctx, notes), func() { _ = os.Remove(notes) }, nil // what is noted there has ended
}

// record appends one event of this run, if its newest state still allows it, and
// folds it in.
func (t *execution) record(d record.NewEvent) error {
	run, err := t.Store.RunEvent(t.ctx, t.run, d)
	if err == nil {
		t.run = run
	}
	return err
}

// transcript opens a file for what an agent says, up to maxTranscript and for this clone only.
func (t *execution) transcript(name string) (io.WriteCloser, error) {
	dir := workspace.FilesDir(t.Store, t.run.ID)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	file, err := openTranscript(filepath.Join(dir, name), maxTranscript)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	return file, nil
}
