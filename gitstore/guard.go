package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
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

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// ErrTampered is for a repository in which git is not run any more, for what it is told to
// do was changed by an agent.
var ErrTampered = gitdir.ErrTampered

// Guard is what an agent must leave alone in a repository, as it was before its turn: refs,
// hooks and what git is configured by.
type Guard struct {
	guardState
	repo  *Repo
	place fs.FileInfo // of the repository's directory
	file  string      // where the state lies on disk
	free  func()      // lets go of the lock that says that this process has it
}

// guardState is what a guard knows from before. It lies on disk while the guard is open: where this process is
// killed, the next one compares.
type guardState struct {
	While   string   // what goes on
	GitDir  string   // of the agent's working tree
	Own     []string // full names of the branches that may move
	Config  []string // files that git is configured by, there or not
	Hooks   []string // directories
	Before  map[string]guarded
	Tips    map[string]ID     // refs
	Others  map[string]head   // HEADs of other working trees, by their git directory
	Entries []Stashed         // of the stash
	Under   map[string]string // operations of git that were under way, by git directory
	Staged  map[string]string // hashes of what the indexes of other working trees say, by git directory
	Tracing string            // directory of the trace, "" for none
}

// guarded is a file as it was; with mode 0 there was none.
type guarded struct {
	Mode fs.FileMode
	Link string // where a symbolic link leads
	At   string // the path without links among the directories
	Real string // and without any
	Data []byte // of a link of what it leads to
	Part bool   // Data is not what the file holds, which is too large or no regular file
}

func (g guarded) same(as guarded) bool {
	return g.Mode == as.Mode && g.Link == as.Link && bytes.Equal(g.Data, as.Data)
}

// FileChange is a file that an agent must leave alone and that changed.
type FileChange struct {
	Path     string      `json:"path"`
	At       string      `json:"at"`       // before: without symbolic links among its directories
	Real     string      `json:"real"`     // and without any
	Was      []byte      `json:"was"`      // nil where there was none; at most guardedSize bytes
	Is       []byte      `json:"is"`       // nil where there is none
	WasLink  string      `json:"was_link"` // where it led as a symbolic link, "" for none
	IsLink   string      `json:"is_link"`  // where it leads
	Mode     fs.FileMode `json:"mode"`     // before; of Is where there was none
	Part     bool        `json:"part"`     // Was is not what the file held, which is too large or no regular file
	IsMode   fs.FileMode `json:"is_mode"`  // now
	Kind     FileKind    `json:"kind"`     // what it is to git
	Outside  bool        `json:"outside"`  // it does not lie in the repository
	Executes string      `json:"executes"` // what git, or this tool, would run or follow because of it; "" for nothing
	Settings []string    `json:"settings"` // the keys that changed, of a configuration
}

// FileKind is what a guarded file is to git.
type FileKind string

const (
	KindConfig FileKind = "config"
	KindHook   FileKind = "hook"
	KindOwn    FileKind = "own" // this tool's: the user's configuration, what is trusted
	KindOther  FileKind = "other"
)

// RefChange is a ref that moved. Old or New is "" where there was, or is, none, and
// "ref: REF" where it was or is symbolic.
type RefChange struct {
	Ref     string `json:"ref"`
	Old     ID     `json:"old"`
	New     ID     `json:"new"`
	ByAgent bool   `json:"by_agent"` // its own git says so, or no person's work looks like it; else it may have been anybody
}

// HeadChange is a working tree whose HEAD changed: what it said and says, a full ref name or
// a commit.
type HeadChange struct {
	GitDir  string `json:"git_dir"`
	Was     string `json:"was"`
	Is      string `json:"is"`
	ByAgent bool   `json:"by_agent"` // no git checked it out
}

// Stashed is an entry of the stash.
type Stashed struct {
	ID      ID     `json:"id"`
	Message string `json:"message"`
}

// head is what a HEAD says, and its reflog.
type head struct{ Says, Log string }

const (
	guardedSize  = 1 << 20 // bytes of a file that are compared
	guardedFiles = 1000    // of a directory of hooks
	tracedRefs   = 2000    // with more, the trace of a git that lists them is too long
)

// Guard notes what an agent that works in tree must leave alone, and while what: "implementer NAME worked". own
// are the full names of branches that it may move. The caller closes it.
func (r *Repo) Guard(ctx context.Context, tree *Worktree, while string, own ...string) (*Guard, error) {
	g := &Guard{repo: r, guardState: guardState{While: while, GitDir: tree.GitDir, Own: own}}
	var err error
	if g.Config, err = r.configFiles(ctx, tree); err != nil {
		return nil, fmt.Errorf("guard repository: %w", err)
	}
	g.Hooks, _ = filepath.Glob(filepath.Join(gitdir.GlobQuote(r.CommonDir), "modules", "*", "hooks"))
	g.Hooks = append(g.Hooks, filepath.Join(r.CommonDir, "hooks"))
	if dir, err := r.HooksDir(ctx); err == nil && dir.Path != os.DevNull { // else git finds none either
		g.Hooks = append(g.Hooks, dir.Path)
	}
	for _, dir := range slices.Clone(g.Hooks) {
		if to, err := filepath.EvalSymlinks(dir); err == nil && to != dir {
			g.Hooks = append(g.Hooks, to)
		}
	}
	if g.place, err = os.Lstat(r.CommonDir); err != nil {
		return nil, fmt.Errorf("guard repository: %w", err)
	}
	g.Before, g.Others, g.Entries, g.Under = g.look(), g.readHeads(), r.stashed(), g.operations()
	g.Staged = g.readIndexes(ctx)
	if g.Tips, err = r.guardedRefs(ctx); err != nil {
		return nil, fmt.Errorf("guard repository: %w", err)
	}
	if len(g.Tips) <= tracedRefs {
		if g.Tracing, err = os.MkdirTemp("", "git-runr-"); err != nil {
			return nil, fmt.Errorf("guard repository: %w", err)
		}
	}
	if err := g.save(); err != nil {
		return nil, fmt.Errorf("guard repository: %w", err)
	}
	return g, nil
}

// Close removes what the guard had on disk.
func (g *Guard) Close() {
	g.forget()
	if g.Tracing != "" {
		_ = os.RemoveAll(g.Tracing)
	}
}

// Trace is the file in which the agent's git says which refs it moves, when GIT_TRACE_REFS
// names it; "" for none.
func (g *Guard) Trace() string {
	if g.Tracing == "" {
		return ""
	}
	return filepath.Join(g.Tracing, "refs")
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
	for _, name := range []string{
		"config", "config.worktree", "commondir", "info/attributes", "info/exclude", "info/grafts", "shallow", "objects/info/alternates",
	} {
		files = append(files, filepath.Join(r.CommonDir, filepath.FromSlash(name)))
	}
	for _, pattern := range []string{"modules/*/config", "modules/*/*/config"} {
		found, _ := filepath.Glob(filepath.Join(gitdir.GlobQuote(r.CommonDir), filepath.FromSlash(pattern)))
		files = append(files, found...)
	}
	registered, _ := r.registrations() // without them there are none to guard
	for _, g := range registered {
		files = append(files, filepath.Join(g.gitDir, "config.worktree"), filepath.Join(g.gitDir, "commondir"))
		if g.dir != "" && !g.own() {
			files = append(files, filepath.Join(g.dir, ".git"))
		}
	}
	for _, name := range []string{"config.worktree", "commondir", "gitdir", "runr/shadow/commondir"} {
		files = append(files, filepath.Join(tree.GitDir, filepath.FromSlash(name)))
	}
	if home := os.Getenv("HOME"); home != "" && os.Getenv("GIT_CONFIG_GLOBAL") == "" {
		xdg := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(xdg, "git", "config"))
	}
	files = append(files, r.Watched...)
	slices.Sort(files)
	return slices.Compact(files), nil
}

// look reads what is guarded as it is now.
func (g *Guard) look() map[string]guarded {
	now := map[string]guarded{}
	for _, path := range g.Config {
		now[path] = lookAt(path)
	}
	for _, dir := range g.Hooks {
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

func lookAt(path string) guarded {
	g := guarded{At: path}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		g.At = filepath.Join(dir, filepath.Base(path))
	}
	g.Real = g.At
	info, err := os.Lstat(path)
	if err != nil {
		return g
	}
	g.Mode = info.Mode()
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		g.Link, _ = os.Readlink(path)
		if to, err := filepath.EvalSymlinks(path); err == nil {
			g.Real = to
		}
		data, _ := os.ReadFile(path) // what git reads
		g.Data, g.Part = data[:min(len(data), guardedSize)], len(data) > guardedSize
	case info.Mode().IsRegular() && info.Size() <= guardedSize:
		g.Data, _ = os.ReadFile(path)
	default:
		g.Data, g.Part = fmt.Append(nil, info.Size(), info.ModTime()), true
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

// Files are the guarded files that changed, but for what this program itself wrote.
func (g *Guard) Files(ctx context.Context) []FileChange {
	changes := []FileChange{}
	now := g.look()
	paths := maps.Clone(now)
	maps.Copy(paths, g.Before)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, is := g.Before[path], now[path]
		if was.same(is) {
			continue
		}
		c := FileChange{
			Path: path, At: cmp.Or(was.At, path), Real: cmp.Or(was.Real, path), WasLink: was.Link, IsLink: is.Link,
			Mode: was.Mode, IsMode: is.Mode, Part: was.Part, Kind: g.kindOf(path), Outside: !gitdir.Below(path, g.repo.CommonDir),
		}
		if was.Mode != 0 {
			c.Was = append([]byte{}, was.Data...)
		}
		if is.Mode != 0 {
			c.Is = append([]byte{}, is.Data...)
		}
		if was.Mode == 0 {
			c.Mode = is.Mode
		}
		if g.repo.judge(ctx, &c) {
			changes = append(changes, c)
		}
	}
	return changes
}

func (g *Guard) kindOf(path string) FileKind {
	name := filepath.Base(path)
	switch {
	case slices.Contains(g.repo.Watched, path):
		return KindOwn
	case !slices.Contains(g.Config, path):
		return KindHook
	case strings.Contains(name, "config"):
		return KindConfig
	}
	return KindOther
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

func (r *Repo) guardedRefs(ctx context.Context) (map[string]ID, error) {
	all := map[string]ID{}
	for _, prefix := range []string{"refs/heads", "refs/remotes", "refs/tags", "refs/runr", "refs/replace"} {
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
	for _, s := range g.Entries {
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
	head, _ := os.ReadFile(filepath.Join(g.GitDir, "HEAD"))
	on := strings.TrimSpace(strings.TrimPrefix(string(head), "ref: "))
	traced, changes := readTrace(g.Trace()), []RefChange{}
	refs := maps.Clone(now)
	maps.Copy(refs, g.Tips)
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		c := RefChange{Ref: ref, Old: g.Tips[ref], New: now[ref]}
		if c.Old == c.New || slices.Contains(g.Own, ref) || ref == on && c.Old == "" {
			continue
		}
		c.ByAgent = slices.Contains(traced[ref], c.New) && c.costs() || g.past(ctx, c)
		if c.ByAgent || !strings.HasPrefix(ref, "refs/runr/") && !strings.HasPrefix(ref, "refs/heads/runr/") {
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// past reports whether a ref was moved as no person does while an agent works: a replaced object,
// a branch that became symbolic, one that was moved past git or back by nothing
// that says what it is.
func (g *Guard) past(ctx context.Context, c RefChange) bool {
	switch branch := strings.HasPrefix(c.Ref, "refs/heads/"); {
	case strings.HasPrefix(c.Ref, "refs/replace/"), branch && !isCommit(c.New) && c.New != "":
		return true
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

// costs reports whether somebody could lose work, or get something else, by the change: not by a new branch,
// and not by a tag or a remote-tracking branch, which every fetch may bring.
func (c RefChange) costs() bool {
	return c.Old != "" && !strings.HasPrefix(c.Ref, "refs/tags/") && !strings.HasPrefix(c.Ref, "refs/remotes/")
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
		if text, err := os.ReadFile(filepath.Join(dir, "HEAD")); err == nil && dir != g.GitDir && !(registration{gitDir: dir}).own() {
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
		was, is := g.Others[dir], now[dir]
		if was.Says == "" || was.Says == is.Says {
			continue
		}
		c := HeadChange{GitDir: dir, Was: was.Says, Is: is.Says}
		if was.Log == is.Log && was.Log != "" {
			at, err := g.repo.Ref(ctx, is.Says)
			c.ByAgent = err != nil || at != ""
		}
		changed = append(changed, c)
	}
	return changed
}

// readIndexes hashes the entries of the indexes of the working trees but the agent's, flags included and without what
// git notes of the files themselves, which every git status writes. No lock is taken. An index that git cannot read
// is not compared.
func (g *Guard) readIndexes(ctx context.Context) map[string]string {
	hashes := map[string]string{}
	for dir := range g.readHeads() {
		out, err := g.repo.dir.Call(ctx, gitdir.Call{GitDir: dir, Args: []string{"ls-files", "-s", "-v", "-z"}})
		if err == nil {
			hashes[dir] = fmt.Sprintf("%x", sha256.Sum256(out))
		}
	}
	return hashes
}

// Restaged returns the git directories of working trees whose index changed, sorted. Where git noted in the reflog of
// HEAD that it committed, checked out or reset something there, the index went with that and is left out.
func (g *Guard) Restaged(ctx context.Context) (changed []string) {
	heads, now := g.readHeads(), g.readIndexes(ctx)
	for _, dir := range slices.Sorted(maps.Keys(now)) {
		was, known := g.Staged[dir]
		if known && was != now[dir] && heads[dir].Log == g.Others[dir].Log {
			changed = append(changed, dir)
		}
	}
	return changed
}

// operations are what git has begun in the working trees but those of this tool, by git directory.
func (g *Guard) operations() map[string]string {
	begun := map[string]string{}
	for dir := range g.readHeads() {
		if operation := operationIn(dir); operation != "" {
			begun[dir] = operation
		}
	}
	return begun
}

// Begun are the operations of git that were begun since, in working trees that are not this tool's.
func (g *Guard) Begun() (begun []Begun) {
	now := g.operations()
	for _, dir := range slices.Sorted(maps.Keys(now)) {
		if g.Under[dir] != now[dir] {
			begun = append(begun, Begun{dir, now[dir]})
		}
	}
	return begun
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
