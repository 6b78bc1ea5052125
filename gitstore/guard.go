package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"git-runr/gitstore/gitdir"
)

// ErrTampered is for a repository in which git is not run any more, for what it is told to
// do was changed by an agent.
var ErrTampered = gitdir.ErrTampered

// Guard is what an agent must leave alone in a repository, as it was before its turn: refs,
// hooks and what git is configured by.
type Guard struct {
	repo    *Repo
	tree    *Worktree
	own     []string // full names of the branches that may move
	config  []string // files that git is configured by, there or not
	hooks   []string // directories
	before  map[string]guarded
	refs    map[string]ID
	heads   map[string]head // of other working trees, by their git directory
	stash   []Stashed
	place   fs.FileInfo // of the repository's directory
	tracing string      // directory of the trace, "" for none
}

// guarded is a file as it was; with mode 0 there was none.
type guarded struct {
	mode fs.FileMode
	link string // where a symbolic link leads
	at   string // the path without links among the directories
	real string // and without any
	data []byte // of a link of what it leads to
}

func (g guarded) same(as guarded) bool {
	return g.mode == as.mode && g.link == as.link && bytes.Equal(g.data, as.data)
}

// FileChange is a file that an agent must leave alone and that changed.
type FileChange struct {
	Path            string
	At, Real        string      // before: without symbolic links among its directories, and without any
	Was, Is         []byte      // nil where there was, or is, none
	WasLink, IsLink string      // where it led or leads as a symbolic link, "" for none
	Mode            fs.FileMode // before; of Is where there was none
	Configures      bool        // git, or this tool, is configured by it: else it is a hook
	watched         bool        // it is no file of git's
}

// RefChange is a ref that moved. Old or New is "" where there was, or is, none, and
// "ref: REF" where it was or is symbolic.
type RefChange struct {
	Ref      string
	Old, New ID
	ByAgent  bool // its own git says so, or no person's work looks like it; else it may have been anybody
}

// HeadChange is a working tree whose HEAD changed: what it said and says, a full ref name or
// a commit.
type HeadChange struct {
	GitDir  string
	Was, Is string
	ByAgent bool // no git checked it out
}

// Stashed is an entry of the stash.
type Stashed struct {
	ID      ID
	Message string
}

// head is what a HEAD says, and its reflog.
type head struct{ says, log string }

const (
	guardedSize  = 1 << 20 // bytes of a file that are compared
	guardedFiles = 1000    // of a directory of hooks
	tracedRefs   = 2000    // with more, the trace of a git that lists them is too long
)

// Guard notes what an agent that works in tree must leave alone. own are the full names
// of branches that it may move. The caller closes it.
func (r *Repo) Guard(ctx context.Context, tree *Worktree, own ...string) (*Guard, error) {
	g := &Guard{repo: r, tree: tree, own: own}
	var err error
	if g.config, err = r.configFiles(ctx, tree); err != nil {
		return nil, fmt.Errorf("guard repository: %w", err)
	}
	g.hooks = []string{filepath.Join(r.CommonDir, "hooks")}
	if dir, err := r.HooksDir(ctx); err == nil && dir.Path != os.DevNull { // else git finds none either
		g.hooks = append(g.hooks, dir.Path)
	}
	for _, dir := range slices.Clone(g.hooks) {
		if to, err := filepath.EvalSymlinks(dir); err == nil && to != dir {
			g.hooks = append(g.hooks, to)
		}
	}
	if g.place, err = os.Lstat(r.CommonDir); err != nil {
		return nil, fmt.Errorf("guard repository: %w", err)
	}
	g.before, g.heads, g.stash = g.look(), g.readHeads(), r.stashed()
	if g.refs, err = r.guardedRefs(ctx); err != nil {
		return nil, fmt.Errorf("guard repository: %w", err)
	}
	if len(g.refs) <= tracedRefs {
		if g.tracing, err = os.MkdirTemp("", "git-runr-"); err != nil {
			return nil, fmt.Errorf("guard repository: %w", err)
		}
	}
	return g, nil
}

// Close removes what the guard had on disk.
func (g *Guard) Close() {
	if g.tracing != "" {
		_ = os.RemoveAll(g.tracing)
	}
}

// Trace is the file in which the agent's git says which refs it moves, when GIT_TRACE_REFS
// names it; "" for none.
func (g *Guard) Trace() string {
	if g.tracing == "" {
		return ""
	}
	return filepath.Join(g.tracing, "refs")
}

// configFiles are the files by which git is configured in this repository, there or not.
func (r *Repo) configFiles(ctx context.Context, tree *Worktree) ([]string, error) {
	out, err := r.dir.Git(ctx, "config", "--list", "--show-origin", "--name-only", "-z")
	if err != nil {
		return nil, err
	}
	files := []string{}
	for _, item := range splitNUL(out) {
		path, ok := strings.CutPrefix(item, "file:")
		if !ok {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.GitDir, path)
		}
		if !gitdir.Below(path, tree.Dir) || !tree.Own { // what is in its own files, it may change
			files = append(files, filepath.Clean(path))
		}
	}
	for _, name := range []string{"config", "config.worktree", "info/attributes", "info/exclude", "info/grafts", "shallow", "objects/info/alternates"} {
		files = append(files, filepath.Join(r.CommonDir, filepath.FromSlash(name)))
	}
	for _, name := range []string{"config.worktree", "commondir", "gitdir", "runr/shadow/commondir"} {
		files = append(files, filepath.Join(tree.GitDir, filepath.FromSlash(name)))
	}
	if home := os.Getenv("HOME"); home != "" && os.Getenv("GIT_CONFIG_GLOBAL") == "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	files = append(files, r.Watched...)
	slices.Sort(files)
	return slices.Compact(files), nil
}

// look reads what is guarded as it is now.
func (g *Guard) look() map[string]guarded {
	now := map[string]guarded{}
	for _, path := range g.config {
		now[path] = lookAt(path)
	}
	for _, dir := range g.hooks {
		for _, path := range filesIn(dir) {
			now[path] = lookAt(path)
		}
	}
	return now
}

// filesIn are the files of a directory and of those in it.
func filesIn(dir string) (files []string) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(dir, path); {
		case err != nil || len(files) >= guardedFiles:
			return fs.SkipDir
		case entry.IsDir() && strings.Count(rel, string(filepath.Separator)) >= 2:
			return fs.SkipDir
		case !entry.IsDir() && !strings.HasSuffix(path, ".sample"): // which git does not run
			files = append(files, path)
		}
		return nil
	})
	return files
}

// GuardedContent is what a file holds now, and where it leads; nil when there is none.
func GuardedContent(path string) []byte {
	if now := lookAt(path); now.mode != 0 {
		return append([]byte(now.link+"\x00"), now.data...)
	}
	return nil
}

func lookAt(path string) guarded {
	g := guarded{at: path}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		g.at = filepath.Join(dir, filepath.Base(path))
	}
	g.real = g.at
	info, err := os.Lstat(path)
	if err != nil {
		return g
	}
	g.mode = info.Mode()
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		g.link, _ = os.Readlink(path)
		if to, err := filepath.EvalSymlinks(path); err == nil {
			g.real = to
		}
		data, _ := os.ReadFile(path) // what git reads
		g.data = data[:min(len(data), guardedSize)]
	case info.Mode().IsRegular() && info.Size() <= guardedSize:
		g.data, _ = os.ReadFile(path)
	default:
		g.data = fmt.Append(nil, info.Size(), info.ModTime())
	}
	return g
}

// Gone reports whether the repository was removed, replaced, or is none any more.
func (g *Guard) Gone() bool {
	now, err := os.Lstat(g.repo.CommonDir)
	if err != nil || !os.SameFile(now, g.place) {
		return true
	}
	_, err = os.Lstat(filepath.Join(g.repo.CommonDir, "HEAD"))
	return err != nil
}

// Files are the guarded files that changed. No git is run.
func (g *Guard) Files() []FileChange {
	changes := []FileChange{}
	now := g.look()
	paths := maps.Clone(now)
	maps.Copy(paths, g.before)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, is := g.before[path], now[path]
		if was.same(is) {
			continue
		}
		c := FileChange{Path: path, At: cmp.Or(was.at, path), Real: cmp.Or(was.real, path), WasLink: was.link, IsLink: is.link, Mode: was.mode, Configures: slices.Contains(g.config, path), watched: slices.Contains(g.repo.Watched, path)}
		if was.mode != 0 {
			c.Was = append([]byte{}, was.data...)
		}
		if is.mode != 0 {
			c.Is = append([]byte{}, is.data...)
		}
		if was.mode == 0 {
			c.Mode = is.mode
		}
		changes = append(changes, c)
	}
	return changes
}

// harmlessKeys are settings that people and git itself write while they work, and that
// neither run anything nor say where anything goes.
var harmlessKeys = lazyPattern(`^(branch\..*\.[^.]*|submodule\..*\.(url|active)|runr\.writer)$`)

// Harmless reports whether a change of a configuration file is of such settings only, as a
// git push -u or a new branch makes. Nothing that the file configures counts meanwhile.
func (c FileChange) Harmless(ctx context.Context) bool {
	name := filepath.Base(c.Path)
	if !c.Configures || c.watched || !strings.Contains(name, "config") || c.WasLink != c.IsLink {
		return false
	}
	was, err := settingsOf(ctx, c.Was)
	is, isErr := settingsOf(ctx, c.Is)
	if err != nil || isErr != nil {
		return false
	}
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	for key := range keys {
		if !slices.Equal(was[key], is[key]) && !harmlessKeys().MatchString(key) {
			return false
		}
	}
	return true
}

func settingsOf(ctx context.Context, file []byte) (Config, error) {
	out, err := gitdir.Call{
		Bare: true, Unlocated: true, Dir: "/", Args: []string{"config", "--file", "-", "--no-includes", "--list", "-z"}, Stdin: bytes.NewReader(file),
		Env: []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR=" + os.DevNull},
	}.Run(ctx)
	return gitdir.ParseConfig(string(out)), err
}

// Stop keeps this process from running git in the repository again: every call is
// ErrTampered.
func (r *Repo) Stop() { r.dir.Gate.Shut.Store(true) }

// Stopped reports whether Stop was called.
func (r *Repo) Stopped() bool { return r.dir.Gate.Shut.Load() }

// Before has check say before each run of git here why it is not to be run: this process may
// live longer than what it knew when it opened the repository is true.
func (r *Repo) Before(check func() error) { r.dir.Gate.Before.Store(&check) }

// MayRun returns why git is not to be run here now, nil where it may be: for what changes
// something without running git.
func (r *Repo) MayRun() error { return r.dir.Gate.Pass() }

func (r *Repo) guardedRefs(ctx context.Context) (map[string]ID, error) {
	all := map[string]ID{}
	for _, prefix := range []string{"refs/heads", "refs/tags", "refs/runr", "refs/replace"} {
		refs, err := r.refs.Sayings(ctx, prefix)
		if err != nil {
			return nil, fmt.Errorf("read refs below %s: %w", prefix, err)
		}
		for name, says := range refs {
			all[name] = ID(says)
		}
	}
	return all, nil
}

// stashed are the entries of the stash, oldest first; none where reflogs are no files.
func (r *Repo) stashed() (entries []Stashed) {
	log, _ := os.ReadFile(filepath.Join(r.CommonDir, "logs", "refs", "stash"))
	for line := range strings.Lines(string(log)) {
		who, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.Fields(who); len(fields) > 1 {
			entries = append(entries, Stashed{ID(fields[1]), message})
		}
	}
	return entries
}

// Dropped are the entries of the stash that are gone, oldest first. byAgent says that the
// agent's git dropped one.
func (g *Guard) Dropped() (gone []Stashed, byAgent bool) {
	now := g.repo.stashed()
	for _, s := range g.stash {
		if !slices.ContainsFunc(now, func(other Stashed) bool { return other.ID == s.ID }) {
			gone = append(gone, s)
		}
	}
	trace, _ := os.ReadFile(g.Trace())
	return gone, traceStash().Match(trace)
}

// Refs are the refs that moved, but for those that the agent may move, and a branch that
// it made and that its own working tree is on. What only others may have moved is left out
// of refs/runr and of the branches of other runs.
func (g *Guard) Refs(ctx context.Context) ([]RefChange, error) {
	now, err := g.repo.guardedRefs(ctx)
	if err != nil {
		return nil, err
	}
	head, _ := os.ReadFile(filepath.Join(g.tree.GitDir, "HEAD"))
	on := strings.TrimSpace(strings.TrimPrefix(string(head), "ref: "))
	traced, changes := readTrace(g.Trace()), []RefChange{}
	refs := maps.Clone(now)
	maps.Copy(refs, g.refs)
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		c := RefChange{Ref: ref, Old: g.refs[ref], New: now[ref]}
		if c.Old == c.New || slices.Contains(g.own, ref) || ref == on && c.Old == "" {
			continue
		}
		c.ByAgent = slices.Contains(traced[ref], c.New) || g.past(ctx, c)
		if c.ByAgent || !strings.HasPrefix(ref, "refs/runr/") && !strings.HasPrefix(ref, "refs/heads/runr/") {
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// past reports whether a ref was moved as no person does while an agent works: a tag that
// was there, a branch that became symbolic, one that was moved past git or back by nothing
// that says what it is.
func (g *Guard) past(ctx context.Context, c RefChange) bool {
	switch branch := strings.HasPrefix(c.Ref, "refs/heads/"); {
	case strings.HasPrefix(c.Ref, "refs/replace/"), branch && !isCommit(c.New) && c.New != "":
		return true
	case strings.HasPrefix(c.Ref, "refs/tags/"):
		return c.Old != ""
	case g.repo.Reftable || c.Old == "" || c.New == "" || !branch:
		return false
	}
	log, err := os.ReadFile(filepath.Join(g.repo.CommonDir, "logs", filepath.FromSlash(c.Ref)))
	if err != nil || len(log) == 0 {
		return false // none is kept
	}
	lines := strings.Split(strings.TrimRight(string(log), "\n"), "\n")
	who, message, _ := strings.Cut(lines[len(lines)-1], "\t")
	if fields := strings.Fields(who); len(fields) > 1 && fields[1] == string(c.Old) {
		return true // the last that git knows is what it was before
	}
	if message != "" { // every command that people type has one
		return false
	}
	forward, err := g.repo.IsAncestor(ctx, c.Old, c.New)
	return err != nil || !forward
}

func isCommit(id ID) bool { return !strings.HasPrefix(string(id), "ref:") && id != "?" }

var (
	traceUpdate = lazyPattern(` \d+: (refs/\S+) \S+ -> ([0-9a-f]{40,64}) \(F=`)
	traceRename = lazyPattern(` rename_ref: (refs/\S+) -> (refs/\S+?):? `)
	traceStash  = lazyPattern(` reflog_expire: refs/stash: | \d+: refs/stash \S+ -> 0+ \(F=`)
	traceDelete = lazyPattern(`^\S+ \S+ +(refs/\S+)$`)
)

// lazyPattern is compiled at its first use: most processes never look.
func lazyPattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// readTrace reads which refs a git moved, and to where; "" is a deletion. A format that is
// not known says nothing.
func readTrace(path string) map[string][]ID {
	moved := map[string][]ID{}
	data, err := os.ReadFile(path)
	if err != nil || path == "" {
		return moved
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if m := traceUpdate().FindStringSubmatch(line); m != nil {
			to := ID(m[2])
			if strings.Trim(m[2], "0") == "" {
				to = ""
			}
			moved[m[1]] = append(moved[m[1]], to)
		} else if m := traceRename().FindStringSubmatch(line); m != nil {
			moved[m[1]] = append(moved[m[1]], "")
		} else if m := traceDelete().FindStringSubmatch(line); m != nil {
			moved[m[1]] = append(moved[m[1]], "")
		}
	}
	return moved
}

// readHeads are the HEADs of the working trees but the agent's.
func (g *Guard) readHeads() map[string]head {
	heads := map[string]head{}
	linked, _ := filepath.Glob(filepath.Join(gitdir.GlobQuote(g.repo.CommonDir), "worktrees", "*"))
	for _, dir := range append(linked, g.repo.CommonDir) {
		if text, err := os.ReadFile(filepath.Join(dir, "HEAD")); err == nil && dir != g.tree.GitDir && !(registration{gitDir: dir}).own() {
			log, _ := os.ReadFile(filepath.Join(dir, "logs", "HEAD"))
			says := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(text)), "ref:"))
			heads[dir] = head{says, string(log)}
		}
	}
	return heads
}

// Heads are the working trees whose HEAD says something else than before, by git directory.
// What git checks out is in the reflog, but for a branch that has no commit yet.
func (g *Guard) Heads(ctx context.Context) (changed []HeadChange) {
	now := g.readHeads()
	for _, dir := range slices.Sorted(maps.Keys(now)) {
		was, is := g.heads[dir], now[dir]
		if was.says == "" || was.says == is.says {
			continue
		}
		c := HeadChange{GitDir: dir, Was: was.says, Is: is.says}
		if was.log == is.log && was.log != "" {
			at, err := g.repo.Ref(ctx, is.says)
			c.ByAgent = err != nil || at != ""
		}
		changed = append(changed, c)
	}
	return changed
}

// PutBackOwn puts a ref of this tool's own back to what it was, unless its new commits follow
// that one; what it was moved to is kept. It reports whether it did.
func (r *Repo) PutBackOwn(ctx context.Context, c RefChange) (bool, error) {
	if !strings.HasPrefix(c.Ref, "refs/runr/") || c.Old == "" || !isCommit(c.Old) || !isCommit(c.New) {
		return false, nil
	}
	if c.New != "" {
		if follows, err := r.IsAncestor(ctx, c.Old, c.New); err == nil && follows {
			return false, nil
		}
		if err := r.KeepCommit(ctx, c.New); err != nil {
			return false, err
		}
	}
	err := r.refs.SwapAny(ctx, c.Ref, c.Old, c.New)
	return err == nil, err
}

// KeepCommit keeps a commit that no ref may hold any more.
func (r *Repo) KeepCommit(ctx context.Context, id ID) error {
	if _, err := r.ReadCommit(ctx, id); err != nil {
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}
	return r.refs.Keep(ctx, strayPrefix+string(id), id)
}
