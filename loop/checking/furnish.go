package checking

import (
	"context"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// SetupName is the name of the check that prepares a worktree: setup under [worktree].
const SetupName = "setup"

func (c Checker) isSetup(check runplan.Check) bool {
	return check.Name == SetupName && check.Command == c.Worktree.Setup && check.Command != ""
}

func notReadyText(setup record.CheckResult) string {
	if setup.OK() {
		return ""
	}
	return "setup failed: " + setup.State()
}

// Settle copies and links the configured files into the watched worktree, and returns the setup that must still run
// there. It returns nil if there is none, or if the setup succeeded and its inputs have not changed. The user's
// checkout needs none of this.
func (c Checker) Settle(ctx context.Context, w Watch) (*runplan.Check, error) {
	conf := c.Worktree
	if w.Tree == nil || !w.Tree.Own {
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
	key, err := c.setupKey(ctx, w.Tree)
	if err != nil || w.Tree.IsReady(key) {
		return nil, err
	}
	return &runplan.Check{Name: SetupName, Command: conf.Setup, Timeout: conf.Timeout}, nil
}

func (c Checker) furnish(ctx context.Context, w Watch) error {
	from, err := w.Store.Repo.UserCheckout(ctx)
	if err != nil {
		w.Progress.Say("nothing is copied or linked into the worktree: " + err.Error())
		return ctx.Err()
	}
	refused, err := w.Tree.Furnish(ctx, from, c.Worktree.Copy, c.Worktree.Link)
	for _, line := range refused {
		w.Progress.Say(line)
	}
	if err != nil {
		return err
	}
	w.Store.Mask(copiedSecrets(from.Dir, w.Tree.Placed()))
	return nil
}

// packageFiles are manifests and lock files of package managers. Every setup depends on them.
var packageFiles = []string{
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb",
	"requirements*.txt",
	"pyproject.toml", "poetry.lock", "uv.lock", "Pipfile.lock", "go.mod", "go.sum", "Cargo.lock", "Gemfile.lock",
	"composer.lock",
}

// setupKey returns a key of everything that the setup depends on: its command, files of package managers, configured
// files, and files that its words name.
func (c Checker) setupKey(ctx context.Context, tree *gitstore.Worktree) (string, error) {
	globs := slices.Concat(packageFiles, c.Worktree.Inputs, namedFiles(c.Worktree.Setup))
	return tree.InputsKey(ctx, c.Worktree.Setup, globs)
}

// intoDir are the words before a directory in which a command works.
var intoDir = []string{"cd", "-C", "--prefix", "--cwd", "--dir"}

// namedFiles returns globs of the files and directories that the words of a command may name. The command does not
// depend on all files of a directory in which it works: there its other words are looked up as well.
func namedFiles(command string) (globs []string) {
	dirs, before := []string{""}, ""
	for _, word := range strings.Fields(command) {
		word = strings.Trim(word, `'";()`)
		enters := slices.Contains(intoDir, before)
		before, word = word, path.Clean(word)
		if !filepath.IsLocal(word) || word == "." || strings.ContainsAny(word, `*?[\!`) {
			continue
		}
		for _, dir := range dirs {
			if name := path.Join(dir, word); enters {
				dirs = append(dirs, name)
			} else {
				globs = append(globs, "/"+name)
			}
		}
	}
	return globs
}

// setUp runs the setup in the watched worktree.
func (c Checker) setUp(ctx context.Context, w Watch, setup runplan.Check,
	id gitstore.ID) (result record.CheckResult, tampered *record.Failure, err error) {
	key := func() (string, error) { return c.setupKey(ctx, w.Tree) }
	made, err := w.Tree.SetUp(ctx, key, func() (bool, error) {
		var err error
		result, tampered, err = c.Guarded(ctx, w, setup, id)
		return tampered == nil && result.OK(), err
	})
	if len(made) > 0 {
		w.Progress.Say("made by setup and not ignored: left out of the change: " + prose.FirstNames(made, 10))
	}
	return result, tampered, err
}

// withSetup adds the setup, if it must run, before the checks of a change that has a check to run.
func (c Checker) withSetup(ctx context.Context, job Job, kept keptChecks) ([]runplan.Check, error) {
	pending := func(check runplan.Check) bool {
		result, known := kept.find(ctx, check, job.Tree)
		return !known || !result.OK()
	}
	if !slices.ContainsFunc(job.Checks, pending) {
		return job.Checks, nil
	}
	setup, err := c.Settle(ctx, job.Watch("setup ran"))
	if err != nil || setup == nil {
		return job.Checks, err
	}
	return append([]runplan.Check{*setup}, job.Checks...), nil
}

// A value in a copied file is masked in records if its name suggests a secret or it is a password in a URL, and if it
// is long enough and not a plain word, so that nothing else is masked.
const (
	maxSecretFile = 64 << 10
	minSecret     = 6
	minWord       = 16
)

// copiedSecrets returns probable secrets, from lines KEY=VALUE, in the files of dir that were put into a worktree.
func copiedSecrets(dir string, placed []string) (secrets []string) {
	for _, name := range placed {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > maxSecretFile {
			continue
		}
		text, _ := os.ReadFile(file) // an unreadable file was not copied either
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
