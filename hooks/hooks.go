package hooks

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// ErrByHand is wrapped by errors about a hook that only a person can change; the Status of that hook says how.
var ErrByHand = errors.New("this needs a change by hand")

// The git hooks that call us.
const (
	PostCommit  = "post-commit"
	PostRewrite = "post-rewrite"
	PostMerge   = "post-merge"
	PrePush     = "pre-push"
)

// names are the hooks that are installed. pre-push is optional, since every push waits for it.
var names = [...]string{PostCommit, PostRewrite, PostMerge, PrePush}

// isFed reports whether git writes to the standard input of the hook.
func isFed(hook string) bool { return hook == PostRewrite || hook == PrePush }

// Setup says how git calls us.
type Setup struct {
	Program string // absolute path of the program; if it is "" or the file is gone, git-runr on PATH
	Gate    bool   // also before each push
	Write   bool   // also write to the files of a hook manager
}

// StatusOf returns for each hook whether git would run us. It includes pre-push if gate is set or the hook is
// installed.
func StatusOf(ctx context.Context, repo *gitstore.Repo, gate bool) ([]Status, error) {
	s, err := survey(ctx, repo, gate)
	if err != nil {
		return nil, err
	}
	return s.each(func(place) error { return nil })
}

// Install makes git run `program hooks run HOOK` in each hook, and removes pre-push if no gate is wanted. It writes
// nothing that is correct already. In a bare repository without worktrees only pre-push would run, so it installs no
// other, and returns an error that wraps gitstore.ErrBare if no gate is wanted. It returns one that wraps ErrByHand
// where it must not write.
func Install(ctx context.Context, repo *gitstore.Repo, setup Setup) ([]Status, error) {
	if strings.ContainsAny(setup.Program, "\n\r\x00") {
		return nil, fmt.Errorf("install hooks: a script cannot contain the program path %q", setup.Program)
	}
	s, err := survey(ctx, repo, setup.Gate)
	if err != nil {
		return nil, err
	}
	if setup.Write && !s.byConfig() {
		err = s.writeManaged()
	}
	statuses, failed := s.each(func(p place) error {
		switch {
		case p.Idle && s.gate:
			return nil
		case p.Idle:
			return fmt.Errorf("nothing was installed, because no commit is made here: %w", gitstore.ErrBare)
		case !s.wants(p.Hook):
			return errors.Join(s.unconfigure(ctx, p.Hook), p.uninstall(repo))
		case s.byConfig():
			return s.configure(ctx, p, setup.Program)
		}
		return errors.Join(p.install(setup.Program), s.unconfigure(ctx, p.Hook))
	})
	shared := func(st Status) bool { return st.Snippet != "" || st.Manager != "" }
	if known := repo.Config.Get(ProgramKey); setup.Program != "" && known != setup.Program &&
		slices.ContainsFunc(statuses, shared) {
		err = errors.Join(err, repo.SetConfig(ctx, ProgramKey, setup.Program))
	}
	if err := errors.Join(err, failed); err != nil {
		return statuses, err
	}
	return statuses, s.remember(statuses)
}

// Uninstall removes exactly what Install wrote, and deletes a hook file that contains nothing else. It also checks the
// places where an earlier Install may have written: the default directory, and where pre-commit moves scripts. For a
// line that a person added it returns an error that wraps ErrByHand.
func Uninstall(ctx context.Context, repo *gitstore.Repo) ([]Status, error) {
	s, err := survey(ctx, repo, false)
	if err != nil {
		return nil, err
	}
	managed := s.unwriteManaged()
	for _, path := range Left(ctx, repo) {
		managed = errors.Join(managed, os.Remove(path))
	}
	statuses, err := s.each(func(p place) error {
		return errors.Join(s.unconfigure(ctx, p.Hook), p.uninstall(repo))
	})
	if err = errors.Join(managed, err); err != nil {
		return statuses, err
	}
	for _, st := range statuses {
		if st.State == Installed {
			return statuses, fmt.Errorf("%s hook: %s: %w", st.Hook, st.Detail, ErrByHand)
		}
	}
	if err := errors.Join(s.remember(nil), repo.UnsetKey(ctx, ProgramKey)); err != nil {
		return statuses, err
	}
	return StatusOf(ctx, repo, false) // nothing is expected to be installed any more
}

// Left returns the temporary files that a killed Install or Uninstall left beside the hooks.
func Left(ctx context.Context, repo *gitstore.Repo) (left []string) {
	dirs := []string{filepath.Join(repo.CommonDir, "hooks")}
	if dir, err := repo.HooksDir(ctx); err == nil && dir.Path != dirs[0] {
		dirs = append(dirs, dir.Path)
	}
	for _, dir := range dirs {
		for _, hook := range names {
			left = append(left, safefile.Left(filepath.Join(dir, hook))...)
		}
	}
	return left
}

// site is a repository with what its hooks have in common.
type site struct {
	repo   *gitstore.Repo
	dir    gitstore.HooksDir
	gate   bool
	others []string        // worktrees with a hooks directory of their own
	idle   bool            // no commits are made here
	before map[string]bool // hooks that Install has installed

	byConfig func() bool // this git runs hooks from its configuration
}

func survey(ctx context.Context, repo *gitstore.Repo, gate bool) (*site, error) {
	s := &site{repo: repo, gate: gate, before: map[string]bool{}}
	var err error
	if s.dir, err = repo.HooksDir(ctx); err != nil {
		return nil, fmt.Errorf("find hooks: %w", err)
	}
	if repo.Bare || s.dir.Relative != "" {
		if s.others, err = repo.OtherWorktrees(ctx); err != nil {
			return nil, fmt.Errorf("find hooks: %w", err)
		}
	}
	s.idle = repo.Bare && len(s.others) == 0
	s.byConfig = sync.OnceValue(func() bool {
		major, minor, err := repo.Version(ctx)
		return err == nil && (major > 2 || major == 2 && minor >= 54)
	})
	f, err := readFile(s.memory())
	for hook := range strings.FieldsSeq(f.text) {
		s.before[hook] = true
	}
	return s, err
}

// wants reports whether hook should be installed.
func (s *site) wants(hook string) bool { return hook != PrePush || s.gate }

// memory returns the file with the names of the installed hooks, so that a removed hook is noticed.
func (s *site) memory() string { return filepath.Join(s.repo.StateDir(), "hooks") }

// remember records which hooks are installed.
func (s *site) remember(statuses []Status) error {
	var text strings.Builder
	for _, st := range statuses {
		if st.State == Installed {
			text.WriteString(st.Hook + "\n")
		}
	}
	f, err := readFile(s.memory())
	if err != nil || f.text == text.String() {
		return err
	}
	if text.Len() == 0 {
		return os.Remove(s.memory())
	}
	return safefile.WriteFile(s.memory(), []byte(text.String()), 0o666)
}

// look determines the state of a hook.
func (s *site) look(hook string) (place, error) {
	p, err := look(s.repo, s.dir, hook)
	p.Idle = s.idle && hook != PrePush
	if err != nil {
		return p, err
	}
	s.lookConfig(&p)
	return p, nil
}

// each calls act for each hook and returns the states afterwards, of the hooks that are wanted or installed.
func (s *site) each(act func(place) error) ([]Status, error) {
	var statuses []Status
	failed := map[string]error{}
	for _, hook := range names {
		p, err := s.lookAfter(hook, act)
		if err != nil {
			failed[hook] = err
		}
		if s.wants(hook) || p.State == Installed || p.State == Outdated {
			statuses = append(statuses, s.status(p))
		}
	}
	return statuses, join(failed)
}

// lookAfter calls act for a hook and returns the state afterwards, or the state before if act fails.
func (s *site) lookAfter(hook string, act func(place) error) (place, error) {
	p, err := s.look(hook)
	if err != nil {
		return p, err
	}
	if err := act(p); err != nil {
		return p, err
	}
	return s.look(hook)
}

// status returns the state of one hook as shown by "git runr hooks status".
func (s *site) status(p place) Status {
	p.Known = s.before[p.Hook]
	switch {
	case p.Idle:
		p.Detail = "a bare repository makes no commits, so the hook would never run"
	case p.State == Absent && p.Known:
		p.Fails, p.Detail = true, "it was installed, and is gone"
	case p.State == Absent && p.Hook == PrePush: // it is listed, so it is wanted
		p.Fails, p.Known, p.Detail = true, true, "hooks.pre_push is on, and it is not installed"
	default:
		p.Fails = p.State != Installed && p.State != Absent && !p.works
		p.Known = p.Known || p.Fails && p.Hook == PrePush && s.gate
	}
	if s.dir.Relative != "" {
		p.Without = slices.DeleteFunc(slices.Clone(s.others), func(top string) bool {
			f, err := readFile(filepath.Join(top, s.dir.Relative, p.Hook))
			return err == nil && calls(f.text, p.Hook) && f.whyDead(top) == nil
		})
	}
	return p.Status
}

// Problem returns a line about the first hook that was installed or configured and would not run, or "".
func Problem(statuses []Status) string {
	for _, st := range statuses {
		if st.Fails && st.Known {
			return fmt.Sprintf("The %s hook would not run: %s", st.Hook, st.Detail)
		}
	}
	return ""
}

// join joins the errors of several hooks. What must be done by hand is mostly the same for all, and is said once.
func join(failed map[string]error) error {
	var all error
	var alike []string
	for _, hook := range names {
		err := failed[hook]
		switch {
		case err == nil:
		case errors.Is(err, ErrByHand) && all != nil:
			alike = append(alike, hook)
		case errors.Is(err, gitstore.ErrBare):
			return err
		case all == nil:
			all = fmt.Errorf("%s hook: %w", hook, err)
		default:
			all = fmt.Errorf("%w; %s hook: %w", all, hook, err)
		}
	}
	if len(alike) > 0 {
		all = fmt.Errorf("%w (the same for %s)", all, strings.Join(alike, ", "))
	}
	return all
}

func (p place) install(program string) error {
	if p.State == Installed && !p.editable {
		return nil
	}
	if !p.editable {
		return fmt.Errorf("%s: %w", p.Detail, ErrByHand)
	}
	text, mode := p.file.text, p.file.mode
	if !p.file.exists {
		text, mode = skeleton, 0o755
	}
	text, err := withBlock(text, block(p.Hook, program))
	if err != nil {
		return fmt.Errorf("%q: %w: %w", p.Path, err, ErrByHand)
	}
	if p.file.ours() {
		mode |= 0o111 // that activates nobody else's script
	}
	if p.file.exists && text == p.file.text && mode == p.file.mode {
		return nil
	}
	return safefile.WriteExact(p.Path, []byte(text), mode)
}

func (p place) uninstall(repo *gitstore.Repo) error {
	var paths []string
	if !p.untouchable {
		paths = append(paths, p.Path, p.Path+".legacy")
	}
	if old := filepath.Join(repo.CommonDir, "hooks", p.Hook); old != p.Path {
		paths = append(paths, old)
	}
	for _, path := range paths {
		if err := removeBlock(path); err != nil {
			return err
		}
	}
	return nil
}

// removeBlock removes our block from a file. It does nothing if the file is missing, a link, or without a block.
func removeBlock(path string) error {
	f, err := readFile(path)
	if err != nil || !f.exists || f.problem != nil {
		return err
	}
	text, err := withoutBlock(f.text)
	switch {
	case err != nil:
		return fmt.Errorf("%q: %w: %w", path, err, ErrByHand)
	case text == f.text:
		return nil
	case f.ours() || text == "" && isYAML(path):
		return os.Remove(path)
	}
	return safefile.WriteExact(path, []byte(text), f.mode)
}

// inProgress are the files in a worktree's git directory that show an unfinished command, or one whose rewritten
// commits post-rewrite will report. The files of cherry-pick, revert of several and am are missing here, because no
// later hook reports their commits.
var inProgress = [...]struct{ file, what string }{
	{"rebase-merge", "a rebase"},
	{"rebase-apply/rebasing", "a rebase"},
	{"MERGE_HEAD", "a merge"},
	{"REVERT_HEAD", "a revert"},
	{"BISECT_LOG", "a bisection"},
}

// ShouldRun decides whether a hook has anything to do: it has not for commits of this program or of an agent that it
// started, nor while git makes a series of commits (the package comment has the table). env returns an environment
// variable. The reason is a clause for people, "" if the hook should run.
func ShouldRun(ctx context.Context, repo *gitstore.Repo, hook string,
	env func(string) string) (run bool, reason string) {
	if depth := env("GIT_RUNR_DEPTH"); depth != "" && depth != "0" {
		return false, "git-runr itself started this (GIT_RUNR_DEPTH is set)"
	}
	if repo.IsOwnWorktree() {
		return false, "this worktree belongs to a run"
	}
	if hook == PrePush {
		return true, ""
	}
	branch, err := repo.Branch(ctx)
	if err != nil {
		return false, err.Error()
	}
	if run, ok := strings.CutPrefix(branch, "refs/heads/runr/"); ok {
		return false, fmt.Sprintf("runr/%s is the branch of a run", run)
	}
	if what := underWay(repo, hook); what != "" {
		return false, what + " is in progress"
	}
	return true, ""
}

// underWay returns the git command in progress that keeps hook from doing anything, or "". It ignores the command that
// runs hook at its end, whose files still exist.
func underWay(repo *gitstore.Repo, hook string) string {
	for _, p := range inProgress {
		if hook == PostRewrite || hook == PostMerge && p.file == "MERGE_HEAD" {
			continue
		}
		if _, err := os.Stat(filepath.Join(repo.GitDir, p.file)); err == nil {
			return p.what
		}
	}
	return ""
}

// maxFed is the maximum number of bytes read from git's input to a hook.
const maxFed = 64 << 20

// Rewritten parses git's input to post-rewrite: lines of OLD NEW and perhaps more.
func Rewritten(in io.Reader) ([]gitstore.Moved, error) {
	var pairs []gitstore.Moved
	err := eachLine(in, func(words []string) bool {
		if len(words) < 2 {
			return false
		}
		pairs = append(pairs, gitstore.Moved{From: gitstore.ID(words[0]), To: gitstore.ID(words[1])})
		return isID(words[0]) && isID(words[1])
	})
	return pairs, err
}

// Push is a ref to be pushed. An empty New means that the ref is deleted, an empty Old that it is new.
type Push struct {
	Local  string // as the user named it: refs/heads/main, HEAD~1, (delete)
	New    gitstore.ID
	Remote string // the remote ref
	Old    gitstore.ID
}

// Pushed parses git's input to pre-push: lines of LOCAL-REF ID REMOTE-REF ID.
func Pushed(in io.Reader) ([]Push, error) {
	var refs []Push
	err := eachLine(in, func(words []string) bool {
		if len(words) != 4 || !isID(words[1]) || !isID(words[3]) {
			return false
		}
		refs = append(refs, Push{words[0], present(words[1]), words[2], present(words[3])})
		return true
	})
	return refs, err
}

// present returns id, or "" for an id of zeros.
func present(id string) gitstore.ID {
	if strings.Trim(id, "0") == "" {
		return ""
	}
	return gitstore.ID(id)
}

func isID(word string) bool {
	return (len(word) == 40 || len(word) == 64) && strings.Trim(word, "0123456789abcdef") == ""
}

// eachLine calls take with the words of each line that is not empty. take returns false for a line that git would not
// write.
func eachLine(in io.Reader, take func(words []string) bool) error {
	lines := bufio.NewScanner(io.LimitReader(in, maxFed))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) > 0 && !take(words) {
			return fmt.Errorf("read what git passes to the hook: %.80q", lines.Text())
		}
	}
	return lines.Err()
}
