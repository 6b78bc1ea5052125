package loop

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

// setupName is the name of the check that makes a worktree ready: setup under [worktree].
const setupName = "setup"

func (c Checker) isSetup(check runplan.Check) bool {
	return check.Name == setupName && check.Command == c.Worktree.Setup && check.Command != ""
}

func notReadyText(setup record.CheckResult) string {
	if setup.OK() {
		return ""
	}
	return "setup failed: " + setup.State()
}

// settle gives the worktree that is watched the files that are copied and linked, and returns the setup that must still
// run there; nil where there is none, or where it succeeded and what it depends on is as it was. A checkout of the
// user's has all that already.
func (c Checker) settle(ctx context.Context, w watch) (*runplan.Check, error) {
	conf := c.Worktree
	if w.tree == nil || !w.tree.Own {
		return nil, nil
	}
	if len(conf.Copy)+len(conf.Link) > 0 || conf.PostCheckout {
		if err := c.furnish(ctx, w); err != nil {
			return nil, err
		}
	}
	if conf.Setup == "" {
		return nil, nil
	}
	key, err := c.setupKey(ctx, w.tree)
	if err != nil || w.tree.IsReady(key) {
		return nil, err
	}
	return &runplan.Check{Name: setupName, Command: conf.Setup, Timeout: conf.Timeout}, nil
}

func (c Checker) furnish(ctx context.Context, w watch) error {
	from, err := w.store.Repo.UserCheckout(ctx)
	if err != nil {
		w.progress.Say("nothing is copied or linked into the worktree: " + err.Error())
		return ctx.Err()
	}
	refused, err := w.tree.Furnish(ctx, from, c.Worktree.Copy, c.Worktree.Link)
	for _, line := range refused {
		w.progress.Say(line)
	}
	if err != nil {
		return err
	}
	w.store.Mask(copiedSecrets(from.Dir, w.tree.Placed()))
	return nil
}

// packageFiles are the manifests and lock files of package managers, on which a setup depends whatever is configured.
var packageFiles = []string{
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "requirements*.txt",
	"pyproject.toml", "poetry.lock", "uv.lock", "Pipfile.lock", "go.mod", "go.sum", "Cargo.lock", "Gemfile.lock", "composer.lock",
}

// setupKey is what the setup depends on: its command, the files of package managers, those that
// are configured, and those that its words name.
func (c Checker) setupKey(ctx context.Context, tree *gitstore.Worktree) (string, error) {
	globs := slices.Concat(packageFiles, c.Worktree.Inputs)
	for _, word := range strings.Fields(c.Worktree.Setup) {
		if word = path.Clean(strings.Trim(word, `'"`)); filepath.IsLocal(word) && word != "." && !strings.ContainsAny(word, `*?[\!`) {
			globs = append(globs[:len(globs):len(globs)], "/"+word)
		}
	}
	return tree.InputsKey(ctx, c.Worktree.Setup, globs)
}

// setUp runs the setup in the worktree that is watched.
func (c Checker) setUp(ctx context.Context, w watch, setup runplan.Check, id gitstore.ID) (result record.CheckResult, tampered *record.Failure, err error) {
	key := func() (string, error) { return c.setupKey(ctx, w.tree) }
	made, err := w.tree.SetUp(ctx, key, func() (bool, error) {
		var err error
		result, tampered, err = c.guarded(ctx, w, setup, id)
		return tampered == nil && result.OK(), err
	})
	if len(made) > 0 {
		w.progress.Say("made by setup and not ignored: left out of the change: " + prose.FirstNames(made, 10))
	}
	return result, tampered, err
}

// withSetup puts the setup, where one must run, before the checks of a change that has a check to run.
func (c Checker) withSetup(ctx context.Context, job checkup, kept keptChecks) ([]runplan.Check, error) {
	pending := false
	for _, check := range job.checks {
		result, known := kept.find(ctx, check, job.tree)
		pending = pending || !known || !result.OK()
	}
	if !pending {
		return job.checks, nil
	}
	setup, err := c.settle(ctx, job.watch("setup ran"))
	if err != nil || setup == nil {
		return job.checks, err
	}
	return append([]runplan.Check{*setup}, job.checks...), nil
}

// prepare makes the run's worktree ready for the first agent. One that cannot be made ready stops the run, unless an
// attempt is there already: then the checks say what is wrong with it.
func (t *turn) prepare() error {
	if t.run.Plan.InPlace || t.Checker.Run == nil {
		return nil
	}
	w := t.watch("setup ran")
	fresh := !t.tree.IsFurnished()
	setup, err := t.Checker.settle(t.ctx, w)
	if err == nil && fresh {
		err = t.postCheckout()
	}
	if err != nil || setup == nil {
		return err
	}
	t.Progress.Step(setupName, setup.Command)
	result, tampered, err := t.Checker.watched(t.ctx, w, *setup, t.run.Head())
	switch {
	case err != nil:
		return err
	case tampered != nil:
		return t.stop(record.Stop{Reason: tampered.Reason, Detail: tampered.Detail, Undo: tampered.Undo}, record.EventRunStopped)
	case result.OK():
		t.Progress.Say(fmt.Sprintf("setup took %s", time.Duration(result.Duration).Round(time.Millisecond)))
		return nil
	}
	if len(t.run.Attempts) > 0 {
		t.sayOutput(result)
		return nil
	}
	return t.stop(record.Stop{
		Reason: record.ReasonSetup, Detail: setup.Command + ": " + result.State(), SaidBy: setupName, Said: lastLines(result.Output),
	}, record.EventRunStopped)
}

func (t *turn) sayOutput(result record.CheckResult) {
	t.Progress.Say(result.Name + ": " + result.State())
	for line := range strings.SplitSeq(lastLines(result.Output), "\n") {
		t.Progress.Say("  " + line)
	}
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return prose.CutMiddle(strings.Join(lines[max(0, len(lines)-saidLines):], "\n"), saidBytes)
}

// postCheckout runs the user's post-checkout hook in the run's new worktree, as git worktree add does, where the
// configuration says so. As with git its failure changes nothing.
func (t *turn) postCheckout() error {
	dir, err := t.Store.Repo.HooksDir(t.ctx)
	if err != nil || !t.Checker.Worktree.PostCheckout || !t.Store.Repo.HasHook(t.ctx, dir, "post-checkout") {
		return err
	}
	if t.Store.Repo.AlteredBelow(t.ctx, dir.Path) {
		t.Progress.Say("post-checkout was not run: a hook changed while an agent worked, and nobody has accepted it: git runr guard")
		return nil
	}
	head := string(t.run.Head())
	line, ok := safetext.CommandLine("git", "-c", "core.hooksPath="+dir.Path, "hook", "run", "--ignore-missing", "post-checkout", "--", strings.Repeat("0", len(head)), head, "1")
	if !ok {
		return fmt.Errorf("run post-checkout: no shell can be told of %q", dir.Path)
	}
	t.Progress.Step("hook", "post-checkout")
	result, tampered, err := t.Checker.guarded(t.ctx, t.watch("the post-checkout hook ran"), runplan.Check{Name: "post-checkout", Command: line}, t.run.Head())
	if err == nil && tampered != nil {
		err = t.stop(record.Stop{Reason: tampered.Reason, Detail: tampered.Detail, Undo: tampered.Undo}, record.EventRunStopped)
	} else if err == nil && !result.OK() {
		t.sayOutput(result)
	}
	return err
}

// sayPlaced says that the agent committed what was put into the worktree, which no commit of the run may hold.
func (t *turn) sayPlaced(from gitstore.ID) error {
	head, err := t.tree.Repo().Head(t.ctx)
	if err != nil {
		return err
	}
	found, err := t.tree.CommittedPlaced(t.ctx, from, head)
	if found {
		t.Progress.Say("the agent committed files that [worktree] put there: its commits are joined into one without them")
	}
	return err
}

// A value of a copied file is masked in records when its name says that it is a secret, or it has a password in an
// address, and it is long enough and no plain word, so that nothing else is masked.
const (
	maxSecretFile = 64 << 10
	minSecret     = 6
	minWord       = 16
)

// copiedSecrets returns what looks like a secret in the files of dir that were put into a worktree: lines KEY=VALUE.
func copiedSecrets(dir string, placed []string) (secrets []string) {
	for _, name := range placed {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > maxSecretFile {
			continue
		}
		text, _ := os.ReadFile(file) // what cannot be read was not copied either
		for line := range strings.Lines(string(text)) {
			if secret := secretOf(line); secret != "" {
				secrets = append(secrets, secret)
			}
		}
	}
	return secrets
}

func secretOf(line string) string {
	name, value, ok := strings.Cut(line, "=")
	name, value = strings.ToLower(name), strings.Trim(strings.TrimSpace(value), `"'`)
	if at, err := url.Parse(value); err == nil && at.User != nil {
		value, _ = at.User.Password()
		name = "password"
	}
	for _, word := range []string{"key", "token", "secret", "pass", "pwd", "credential", "auth", "private"} {
		plain := strings.IndexFunc(value, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
		if ok && strings.Contains(name, word) && len(value) >= minSecret && (!plain || len(value) >= minWord) {
			return value
		}
	}
	return ""
}
