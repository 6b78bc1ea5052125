package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/background"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/progress"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/queue"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "let an implementer work on a task until its review passes", ArgsUsage: "[TASK.md]",
		Description: `Works on a task, on the findings of a submitted review (--review), or on an executor's finished
work (--context), which starts at the review. The run has a worktree of its own, and nothing lands by itself: see git
runr land. Of an executor's work, only the files in files_modified are taken. With --in-place, only files that the
agent lists or was seen to edit belong to the run; other files that change meanwhile are left alone and stop the run.
If the agent names none, as a command of your own may, every file that changes meanwhile belongs to the run.
Exit status: 0 passed, checked or ended by --on-exhausted, 3 files changed meanwhile, 4 stopped and needs a person, 30 an
agent failed.

A task file can limit the run, in its front matter or under the headings Scope and Verification: allowlist_add (or
allow, owns) and denylist, with paths or globs, and tier. [scope] must allow a path as well. The commands in its done
criteria are compared with the configured checks, and never run.`,
		Flags: append([]cli.Flag{
			messageFlag("the task as `TEXT`, instead of a file; - reads standard input"),
			&cli.StringFlag{Name: "context", Usage: "read review_context as JSON from `FILE`, or - for standard input"},
			&cli.StringFlag{Name: "review", Usage: "fix the findings of the submitted review `ID`"},
			&cli.StringSliceFlag{Name: "finding", Usage: "fix only `FINDING` of that review; may be given again"},
			&cli.BoolFlag{Name: "detached", Hidden: true,
				Usage: "refuse as ever, else begin in the background and print the run: what is printed goes to a log"},
			&cli.StringFlag{Name: "implementer", Usage: "`NAME` of the agent that writes"},
			&cli.StringFlag{Name: "reviewer", Usage: "`NAME` of an agent, builtin or human"},
			&cli.IntFlag{Name: "max-retries", Usage: "at most `N` fixes after a failed review", DefaultText: "loop.max_retries"},
			noChecksFlag(),
			&cli.BoolFlag{Name: "private", Usage: "keep the run and the reviews that it requests in this clone"},
			&cli.BoolFlag{Name: "in-place", Usage: "work in this checkout instead of a worktree"},
			&cli.StringFlag{Name: "on-exhausted", Usage: "`CHOICE` when the retries are used up: ask, commit, skip or stop"},
			&cli.StringFlag{Name: "profile", Usage: "`PROFILE` of the agent's models: quality, balanced or budget"},
			&cli.StringFlag{Name: "model",
				Usage: "`NAME` of the implementer's model; --reviewer NAME@MODEL sets the reviewer's"},
		}, limitFlags()...),
		Action: p.withConfig(run),
	}
}

func run(s *session, store *store.Store, conf *config.Config) error {
	if err := store.Repo.Altered(s.ctx); err != nil { // before anything is recorded
		return err
	}
	err := s.setFlags(conf, "loop", "implementer", "reviewer", "max-retries", "on-exhausted", "profile", "max-cost",
		"max-tokens", "wait-for-quota")
	if err != nil {
		return err
	}
	if err := config.CheckModel("--model", s.String("model")); err != nil {
		return err
	}
	if s.Bool("private") {
		store.Asks = &gitstore.Audience{Private: true}
	}
	plan, err := s.plan(store, conf)
	if err != nil {
		return err
	}
	if plan.Implementer != "" {
		if plan.Implementer, err = config.WithModel(plan.Implementer, s.String("model")); err != nil {
			return err
		}
	}
	if err := s.readyToRun(conf, plan); err != nil {
		return err
	}
	begin := plan.Base
	if plan.FromReview == "" { // the user's own change, perhaps in the working tree
		if begin, err = store.Repo.Head(s.ctx); err != nil {
			return err
		}
	}
	if _, not := conf.MayRun(s.ctx, plan.Checks, nil, begin); len(not) > 0 {
		return exit.Problemf(exit.Untrusted, "checks not run: %s", not[0]).
			WithHint("or leave them out: git runr run --no-checks")
	}
	if s.Bool("detached") {
		return s.runDetached(store, plan)
	}
	letGo, err := s.holdReview(store, plan.FromReview)
	if err != nil {
		return err
	}
	defer letGo()
	return s.carryOut(conf, store, func(runner *runner.Runner) (record.Run, error) {
		return runner.Start(s.ctx, plan, "cli")
	})
}

// readyToRun returns an error, before anything is recorded, if the run could not begin. It prints the configuration's
// warning, if any.
func (c *console) readyToRun(conf *config.Config, plan runplan.Plan) error {
	warning, err := conf.ReadyToRun(plan)
	if warning != "" {
		c.say("%s", warning)
	}
	return err
}

// runner returns a Runner with this session's configuration.
func (c *console) runner(conf *config.Config, store *store.Store, progress *progress.Display) *runner.Runner {
	return &runner.Runner{
		Store: store, Implementer: conf.Implementer, Reviewer: conf.Reviewer, Checker: conf.Checker(),
		Progress: progress, Explain: diagnose.Explain, Terms: conf.Terms(),
		Invite: func(ctx context.Context, request *record.ReviewRequest) error {
			_, _, err := conf.Invite(ctx, request)
			return err
		},
	}
}

// carryOut runs the loop that begin starts and shows the result.
func (s *session) carryOut(conf *config.Config, store *store.Store,
	begin func(*runner.Runner) (record.Run, error)) error {
	progress := s.progress()
	defer progress.Close()
	carrier := s.runner(conf, store, progress)
	if tty := s.terminal(); tty != nil {
		defer tty.Close()
		carrier.Ask = func(ctx context.Context, run record.Run, why runner.Step) (runplan.Choice, error) {
			progress.Done("")
			return s.ask(ctx, tty, run, why)
		}
	}
	done, err := begin(carrier)
	progress.Close()
	if done.ID != "" {
		s.project(s.ctx, store)
	}
	if from := done.Plan.FromReview; done.ID != "" && from != "" {
		actor, failed := s.actor(store)
		if failed == nil {
			failed = runner.AnswerFixed(s.ctx, store, done, actor)
		}
		if failed != nil {
			s.say("review %s does not say what was fixed: %v", from, failed)
		}
	}
	if err != nil {
		return err
	}
	if err := s.showEnd(store, done); err != nil || done.Stop == nil {
		return err
	}
	return stopStatus(done.Stop.Reason)
}

// project updates the notes. It only reports a failure: they can be rebuilt at any time.
func (c *console) project(ctx context.Context, store *store.Store) {
	if err := store.Project(context.WithoutCancel(ctx)); err != nil {
		c.say("the notes are behind (%v); type: git runr fsck --rebuild", err)
	}
}

// ask asks the person at the terminal how to continue a run that has used up its retries.
func (c *console) ask(ctx context.Context, tty io.Writer, run record.Run,
	why runner.Step) (runplan.Choice, error) {
	findings, _ := run.Open()
	name := run.Plan.Entity.Name()
	if why.Reason == record.ReasonChecksFailed {
		safetext.Fprintf(tty, "\nChecks fail after %d attempts for %s; the reviewer has nothing else against it.\n",
			len(run.Attempts), name)
		for _, check := range run.Failing() {
			safetext.Fprintf(tty, "\n  %s: %s\n", check.Name, check.Why())
		}
	} else {
		safetext.Fprintf(tty, "\nThe reviewer found issues after %d attempts for %s.\n", len(run.Attempts), name)
		render.Findings(tty, findings, "")
		for _, said := range run.Said() {
			render.Words(tty, said.Text)
		}
	}
	fmt.Fprint(tty,
		"\n  c  commit anyway: accept the current state with its known issues\n  s  skip: leave it undone and go on\n"+
			"  x  stop: a person will look\n")
	for {
		answer, err := c.question(ctx, tty, "How to proceed? [c/s/x] ")
		switch answer {
		case "c", "commit":
			return runplan.ChoiceCommit, nil
		case "s", "skip":
			return runplan.ChoiceSkip, nil
		case "x", "stop":
			return runplan.ChoiceStop, nil
		}
		if err != nil {
			return runplan.ChoiceStop, nil
		}
	}
}

// endJSON is the result of a run, including the object that orchestrators read.
type endJSON struct {
	record.RunSummary
	Outcome  runner.Result        `json:"outcome"`
	Stop     *record.Stop         `json:"stop,omitempty"`
	Criteria []diagnose.Criterion `json:"criteria,omitempty"`
}

func (s *session) showEnd(store *store.Store, run record.Run) error {
	doc := endJSON{
		RunSummary: run.Summary(), Outcome: runner.ResultOf(run, runner.ExecutorText(s.ctx, store, run)),
		Stop: run.Stop, Criteria: diagnose.Criteria(run),
	}
	return s.print(doc, func(w io.Writer) {
		render.Run(w, run, treeDir(store, run.ID))
		switch {
		case run.Stop != nil:
			writeStop(w, s, store, run)
			if id := run.Stop.Review; id != "" {
				safetext.Fprintf(w, "Or review it in a browser: %s\n", cmp.Or(s.reviewURL(store, id), "git runr serve --open"))
			}
		case run.Status == record.RunCompleted:
			render.Criteria(w, doc.Criteria)
			render.Completed(w, run)
		}
	})
}

// stopStatus returns the exit status for a stop reason, as an error without a message.
func stopStatus(reason string) error { return exit.With(exit.Status(record.ReasonOf(reason).Status)) }

// plan returns what the run works on and by which rules, from the command line and the configuration.
func (s *session) plan(store *store.Store, conf *config.Config) (runplan.Plan, error) {
	plan, err := conf.Plan()
	if err != nil {
		return plan, err
	}
	if plan.Base, err = store.Repo.Head(s.ctx); err != nil {
		return plan, err
	}
	if plan.NoChecks = s.Bool("no-checks"); !plan.NoChecks {
		var not []string
		plan.Checks, not = conf.RunChecks(s.ctx, store, plan.Base)
		for _, why := range not {
			s.say("checks not run: %s", why)
		}
	}
	if plan.Target, err = store.Branch(s.ctx); err != nil {
		return plan, err
	}
	given := 0
	for _, set := range []bool{s.NArg() > 0, s.IsSet("m"), s.String("context") != "", s.String("review") != ""} {
		if set {
			given++
		}
	}
	switch {
	case s.IsSet("finding") && s.String("review") == "", s.Bool("detached") && s.String("review") == "":
		return plan, exit.Problemf(exit.Usage, "--finding needs --review ID")
	case given != 1:
		return plan, exit.Problemf(exit.Usage, "use one of TASK.md, -m TEXT, --context FILE and --review ID")
	case s.Bool("in-place") && s.String("review") != "":
		return plan, exit.Problemf(exit.Usage, "--in-place needs a task file or --context")
	case s.String("context") != "":
		return plan, s.planContext(store, &plan, s.String("context"))
	case s.String("review") != "":
		review, err := store.Review(s.ctx, s.String("review"))
		if err != nil {
			return plan, err
		}
		if review.Status == record.ReviewOpen || review.Status == record.ReviewCancelled {
			return plan, &record.StateError{What: "review " + review.ID, Status: string(review.Status), Cannot: "fixed"}
		}
		return plan, runner.PlanReview(&plan, review, s.StringSlice("finding")...)
	}
	if err := s.planTask(&plan, s.Args().First()); err != nil || !s.Bool("in-place") {
		return plan, err
	}
	return plan, runner.PlanInPlace(s.ctx, store, &plan)
}

// planTask adds the task to plan, from -m or from the file called name.
func (s *session) planTask(plan *runplan.Plan, name string) error {
	var text string
	var err error
	if s.IsSet("m") {
		name = "task"
		text, err = s.message(false)
	} else {
		var file []byte
		file, err = s.readInput(name)
		text = string(file)
	}
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return exit.Problemf(exit.Usage, "task %q is empty", name)
	}
	for _, problem := range runner.PlanTask(plan, name, text) {
		s.say("%s", problem)
	}
	return nil
}

func (s *session) planContext(store *store.Store, plan *runplan.Plan, name string) error {
	text, err := s.readInput(name)
	if err != nil {
		return err
	}
	work, err := runner.ReadFinishedWork(text)
	if s.IsSet("max-retries") {
		work.Config.MaxRetries = nil
	}
	switch retries := work.Config.MaxRetries; {
	case err != nil:
		return exit.Problemf(exit.Usage, "review context %q: %v", name, err)
	case work.Disabled():
		return exit.Problemf(exit.Nothing, "review context %q: config.enabled is false", name)
	case retries != nil && *retries < 0:
		return exit.Problemf(exit.Usage, "review context %q: config.max_retries is negative", name)
	}
	plan.InPlace = s.Bool("in-place")
	left, unchanged, err := work.Plan(s.ctx, store, plan)
	if len(left) > 0 {
		s.say("left alone, not among the executor's files: %s", strings.Join(left, ", "))
	}
	if len(unchanged) > 0 {
		s.say("listed, but not changed: %s", strings.Join(unchanged, ", "))
	}
	return err
}

// maxInput is the maximum size of an input file in bytes.
const maxInput = 4 << 20

// readInput reads a file, relative to where the command was started, or standard input for "-".
func (s *session) readInput(name string) ([]byte, error) {
	in, err := s.openInput(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil || len(data) > maxInput {
		return nil, exit.Problemf(exit.Usage, "%q is not a text file of at most 4 MiB", name)
	}
	return data, nil
}

// openInput opens what readInput reads.
func (s *session) openInput(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(s.in), nil
	}
	file, err := os.Open(s.fromStart(name))
	if errors.Is(err, os.ErrNotExist) {
		inWords := ""
		if s.Command.Name == "run" && name == s.Args().First() { // the task
			inWords = "git runr run -m TEXT   to give the task in words"
		}
		return nil, exit.Problemf(exit.NotFound, "there is no file %q", name).
			WithHint(cmp.Or(withText(s.Command), inWords))
	}
	if err != nil {
		return nil, exit.Problemf(exit.Usage, "%w", err)
	}
	return file, nil
}

// fromStart resolves path relative to the directory in which the command was started.
func (s *session) fromStart(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.dir, path)
}

// runLease is the lease of a run's claim on the review that it addresses. It is renewed at every third of it.
const runLease = 30 * time.Minute

// holdReview claims the review that a run addresses, so that nobody else works on it until letGo is called. Without
// an id it does nothing. It leaves a closed review as it is, and one that this actor already holds without a lease.
func (s *session) holdReview(store *store.Store, id string) (letGo func(), err error) {
	nothing := func() {}
	if id == "" {
		return nothing, nil
	}
	review, err := store.Review(s.ctx, id)
	if err != nil || !review.ClosedAt.IsZero() {
		return nothing, err
	}
	hold := record.Hold{Lease: runLease}
	if hold.Actor, err = s.actor(store); err != nil {
		return nothing, err
	}
	if review.Claim != nil && record.SameActor(review.Claim.By, hold.Actor) && review.Claim.Until.IsZero() {
		return nothing, nil
	}
	claimed, err := s.claim(store, review.ID, hold)
	if state := new(record.StateError); errors.As(err, &state) && state.Holder != "" {
		err = pastClaim(err, review, "git runr inbox claim "+review.ID+" --force")
	}
	if err != nil {
		return nothing, err
	}
	review = claimed
	hold.Claim = review.Claim.ID
	remote := s.sharedRemote(store, review)
	stop := queue.Renew(context.WithoutCancel(s.ctx), hold.Lease, func(ctx context.Context) (lost bool) {
		state := new(record.StateError)
		return errors.As(share.RenewClaim(ctx, store, remote, review.ID, hold), &state)
	})
	return func() {
		stop()
		s.letGo(store, review.ID, hold)
	}, nil
}

// letGo releases the claim of a run on its review, unless somebody else holds it by now.
func (s *session) letGo(store *store.Store, id string, hold record.Hold) {
	ctx := context.WithoutCancel(s.ctx)
	review, err := store.Review(ctx, id)
	if err == nil && (review.Status != record.ReviewClaimed || review.Claim.ID != hold.Claim) {
		return
	}
	if err == nil {
		review, err = store.ReleaseReview(ctx, id, hold)
	}
	if err != nil {
		s.say("the claim of review %s stays until it lapses: %v", id, err)
		return
	}
	s.unshare(store, review, hold)
}

// startWait is how long runDetached waits for its run to begin.
const startWait = 20 * time.Second

// runDetached starts a run of a review in the background, waits until it has begun, and prints its id. It refuses if
// another run of the review is live.
func (s *session) runDetached(store *store.Store, plan runplan.Plan) error {
	unlock, err := store.Repo.Lock(s.ctx, "run-detached")
	if err != nil {
		return err
	}
	defer unlock()
	before, err := store.RunsOf(s.ctx, plan.FromReview)
	if err != nil {
		return err
	}
	for id := range before {
		if workspace.Live(store, id) {
			return exit.Problemf(exit.State, "run %s already works on review %s", id, plan.FromReview).
				WithHint("git runr log --follow " + id)
		}
	}
	actor, err := s.detachedActor(store, plan.FromReview)
	if err != nil {
		return err
	}
	args := []string{"run", "--review", plan.FromReview}
	if s.Bool("private") {
		args = append(args, "--private")
	}
	for _, id := range s.StringSlice("finding") {
		args = append(args, "--finding", id)
	}
	log := filepath.Join("web", "run-"+plan.FromReview+".log")
	if err := background.Command(store.Repo, actor, log, args...); err != nil {
		return err
	}
	for end := time.Now().Add(startWait); time.Now().Before(end); {
		if err := duration.Sleep(s.ctx, 50*time.Millisecond); err != nil {
			return err
		}
		runs, err := store.RunsOf(s.ctx, plan.FromReview)
		if err != nil {
			return err
		}
		for id := range runs {
			if !before[id] {
				doc := map[string]any{"run_id": id, "review_id": plan.FromReview}
				return s.print(doc, func(w io.Writer) {
					safetext.Fprintf(w, "Run %s started.\n", id)
					screen.Next(w, "git runr log --follow "+id)
				})
			}
		}
	}
	return exit.Problemf(exit.Busy, "the run did not start; see %q", filepath.Join(store.Repo.StateDir(), log))
}

// detachedActor returns who holds the review while a run in the background addresses it: the person if they hold it
// themselves, else this actor. It returns an error if somebody else has claimed the review.
func (s *session) detachedActor(store *store.Store, review string) (string, error) {
	now, err := store.Review(s.ctx, review)
	if err != nil {
		return "", err
	}
	person, err := s.person(store)
	if err != nil {
		return "", err
	}
	actor, err := s.actor(store)
	switch claim := now.Claim; {
	case err != nil || claim == nil || now.Status != record.ReviewClaimed || claim.Lapsed(s.now()):
	case claim.By == person:
		return person, nil
	case !record.SameActor(claim.By, actor):
		err := &record.StateError{What: "review " + review, Holder: claim.By}
		return "", pastClaim(err, now, "git runr inbox claim "+review+" --force")
	}
	return actor, err
}

// limitFlags returns the flags that limit what a run may use.
func limitFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "max-cost", Usage: "US `DOLLARS` that the whole run may cost", DefaultText: "loop.max_cost"},
		&cli.StringFlag{Name: "max-tokens", Usage: "`TOKENS` that the whole run may use", DefaultText: "loop.max_tokens"},
		&cli.StringFlag{Name: "wait-for-quota", Usage: "wait `DURATION` in a step for an agent's quota, such as 30m",
			DefaultText: "loop.wait_for_quota"},
	}
}

// setFlags sets the keys of a section in conf that flags of their names set.
func (s *session) setFlags(conf *config.Config, section string, names ...string) error {
	for _, name := range names {
		if s.IsSet(name) {
			if err := conf.SetFlag(section, name, fmt.Sprint(s.Value(name))); err != nil {
				return err
			}
		}
	}
	return nil
}
