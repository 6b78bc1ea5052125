package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// ErrTampered reports that git is not run in the repository any more, because an agent changed
// what configures it.
var ErrTampered = gitdir.ErrTampered

// Guard records what an agent must leave alone in a repository, as it was before the agent's turn:
// refs, hooks and the files that configure git. After the turn it finds what changed.
type Guard struct {
	guardState
	repo  *Repo
	place fs.FileInfo // of the repository's directory
	file  string      // holds the state on disk
	free  func()      // releases the lock that shows that this process has the guard open

	checkout *Worktree         // the user's, if it is watched
	loose    map[string]string // states of its files that differ from its index, by path
}

// guardState is what a guard recorded when it was opened. It is on disk while the guard is open, so that
// another process can compare if this one is killed.
type guardState struct {
	While   string   // what happens meanwhile
	GitDir  string   // of the agent's working tree
	Own     []string // full names of the branches that the agent may move
	Config  []string // files that configure git; they need not exist
	Hooks   []string // directories of hooks
	Before  map[string]guarded
	Tips    map[string]ID     // refs
	Others  map[string]head   // HEADs of other working trees, by git directory
	Entries []Stashed         // entries of the stash
	Under   map[string]string // unfinished operations of git, by git directory
	Staged  map[string]string // hashes of the index contents of other working trees, by git directory
	Tracing string            // directory of the trace, or ""
}

// guarded is the recorded state of a file. Mode 0 means that it did not exist.
type guarded struct {
	Mode fs.FileMode
	Link string // target of a symbolic link
	At   string // the path with symbolic links in its directories resolved
	Real string // the path with all symbolic links resolved
	Data []byte // for a link, the content of its target
	Part bool   // Data is not the content: the file is too large or not a regular file
}

// FileChange is a change of a file that an agent must leave alone.
type FileChange struct {
	Path     string      `json:"path"`
	At       string      `json:"at"`       // before, with symbolic links in its directories resolved
	Real     string      `json:"real"`     // before, with all symbolic links resolved
	Was      []byte      `json:"was"`      // nil if the file did not exist; at most guardedSize bytes
	Is       []byte      `json:"is"`       // nil if the file does not exist
	WasLink  string      `json:"was_link"` // target before, if it was a symbolic link
	IsLink   string      `json:"is_link"`  // target now, if it is a symbolic link
	Mode     fs.FileMode `json:"mode"`     // before; if the file did not exist, now
	Part     bool        `json:"part"`     // Was is not the content: the file was too large or not a regular file
	IsMode   fs.FileMode `json:"is_mode"`  // now
	Kind     FileKind    `json:"kind"`     // its role
	Outside  bool        `json:"outside"`  // it is outside of the repository
	Executes string      `json:"executes"` // what git or this tool would run or follow because of the change, or ""
	Settings []string    `json:"settings"` // the changed keys of a configuration file
}

// FileKind is the role of a guarded file.
type FileKind string

const (
	KindConfig FileKind = "config"
	KindHook   FileKind = "hook"
	KindOwn    FileKind = "own" // of this tool: the user's configuration, the list of what is trusted
	KindOther  FileKind = "other"
)

// RefChange is a ref that moved. Old or New is "" if the ref did not, or does not, exist, and
// "ref: REF" if it was, or is, symbolic.
type RefChange struct {
	Ref string `json:"ref"`
	Old ID     `json:"old"`
	New ID     `json:"new"`
	// a trace of the agent's git, or a move that people do not make, shows it; else anybody may have moved the ref
	ByAgent bool `json:"by_agent"`
}

// HeadChange is a change of a working tree's HEAD. Was and Is are full ref names or commits.
type HeadChange struct {
	GitDir  string `json:"git_dir"`
	Was     string `json:"was"`
	Is      string `json:"is"`
	ByAgent bool   `json:"by_agent"` // the reflog has no checkout
}

// Stashed is an entry of the stash.
type Stashed struct {
	ID      ID     `json:"id"`
	Message string `json:"message"`
}

// head is the content of a HEAD and its reflog.
type head struct{ Says, Log string }

const (
	guardedSize  = 1 << 20 // how many bytes of a file are compared
	guardedFiles = 1000    // how many files of a directory of hooks are compared
	tracedRefs   = 2000    // with more refs, the trace of a git that lists them is too long
)

// Guard records what an agent that works in tree must leave alone. while says what happens meanwhile, such as
// "implementer NAME worked". own are the full names of branches that the agent may move. The caller closes the guard.
func (r *Repo) Guard(ctx context.Context, tree *Worktree, while string, own ...string) (*Guard, error) {
	g := &Guard{repo: r, guardState: guardState{While: while, GitDir: tree.GitDir, Own: own}}
	var err error
	if g.Config, err = r.configFiles(ctx, tree); err != nil {
		return nil, fmt.Errorf("guard repository: %w", err)
	}
	g.Hooks, _ = filepath.Glob(filepath.Join(gitdir.GlobQuote(r.CommonDir), "modules", "*", "hooks"))
	g.Hooks = append(g.Hooks, filepath.Join(r.CommonDir, "hooks"))
	if dir, err := r.HooksDir(ctx); err == nil && dir.Path != os.DevNull { // otherwise git finds none either
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

// Close removes the guard's files.
func (g *Guard) Close() {
	g.forget()
	if g.Tracing != "" {
		_ = os.RemoveAll(g.Tracing)
	}
}

// Trace returns the file in which the agent's git records moves of refs if GIT_TRACE_REFS names it, or "".
func (g *Guard) Trace() string {
	if g.Tracing == "" {
		return ""
	}
	return filepath.Join(g.Tracing, "refs")
}

// configFiles returns the paths of all files that configure git in this repository. They need not exist.
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
		if !gitdir.Below(path, tree.Dir) || !tree.Own { // the agent may change files of its own worktree
			files = append(files, filepath.Clean(path))
		}
	}
	for _, name := range []string{
		"config", "config.worktree", "commondir", "info/attributes", "info/exclude", "info/grafts", "shallow",
		"objects/info/alternates",
	} {
		files = append(files, filepath.Join(r.CommonDir, filepath.FromSlash(name)))
	}
	for _, pattern := range []string{"modules/*/config", "modules/*/*/config"} {
		found, _ := filepath.Glob(filepath.Join(gitdir.GlobQuote(r.CommonDir), filepath.FromSlash(pattern)))
		files = append(files, found...)
	}
	registered, _ := r.registrations() // on an error no worktree is guarded
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

// look reads the current state of all guarded files.
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

// filesIn returns the files in a directory, down to two levels of subdirectories, without *.sample.
func filesIn(dir string) (files []string) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(dir, path); {
		case err != nil || len(files) >= guardedFiles:
			return fs.SkipDir
		case entry.IsDir() && strings.Count(rel, string(filepath.Separator)) >= 2:
			return fs.SkipDir
		case !entry.IsDir() && !strings.HasSuffix(path, ".sample"): // git does not run samples
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
		data, _ := safefile.ReadFile(path) // git reads the target
		g.Data, g.Part = data[:min(len(data), guardedSize)], len(data) > guardedSize
	case info.Mode().IsRegular() && info.Size() <= guardedSize:
		g.Data, _ = safefile.ReadFile(path)
	default:
		g.Data, g.Part = fmt.Append(nil, info.Size(), info.ModTime()), true
	}
	return g
}

// Gone reports whether the repository was removed or replaced, or has no HEAD any more.
func (g *Guard) Gone() bool {
	now, err := os.Lstat(g.repo.CommonDir)
	if err != nil || !os.SameFile(now, g.place) {
		return true
	}
	_, err = os.Lstat(filepath.Join(g.repo.CommonDir, "HEAD"))
	return err != nil
}

// Files returns the guarded files that changed, except for changes that this program makes.
func (g *Guard) Files(ctx context.Context) []FileChange {
	changes := []FileChange{}
	now := g.look()
	for _, path := range each.Keys(now, g.Before) {
		was, is := g.Before[path], now[path]
		if was.Mode == is.Mode && was.Link == is.Link && bytes.Equal(was.Data, is.Data) {
			continue
		}
		c := FileChange{
			Path: path, At: cmp.Or(was.At, path), Real: cmp.Or(was.Real, path), WasLink: was.Link, IsLink: is.Link,
			Mode: was.Mode, IsMode: is.Mode, Part: was.Part, Kind: g.kindOf(path),
			Outside: !gitdir.Below(path, g.repo.CommonDir),
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
		Bare: true, Unlocated: true, Dir: "/", Args: []string{"config", "--file", "-", "--no-includes", "--list", "-z"},
		Stdin: bytes.NewReader(file),
		Env: []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_DIR=" + os.DevNull},
	}.Run(ctx)
	return gitdir.ParseConfig(string(out)), err
}

// Stop prevents this process from running git in the repository again: every call returns
// ErrTampered.
func (r *Repo) Stop() { r.dir.Gate.Shut.Store(true) }

// Stopped reports whether Stop was called.
func (r *Repo) Stopped() bool { return r.dir.Gate.Shut.Load() }

func (r *Repo) guardedRefs(ctx context.Context) (map[string]ID, error) {
	refs, err := r.refs.Sayings(ctx, "refs/heads", "refs/remotes", "refs/tags", "refs/runr", "refs/runr-local",
		"refs/replace")
	if err != nil {
		return nil, fmt.Errorf("read refs: %w", err)
	}
	all := map[string]ID{}
	for name, says := range refs {
		all[name] = ID(says)
	}
	return all, nil
}

// stashed returns the entries of the stash, oldest first. It returns none if reflogs are not files.
func (r *Repo) stashed() (entries []Stashed) {
	log, _ := safefile.ReadFile(filepath.Join(r.CommonDir, "logs", "refs", "stash"))
	for line := range strings.Lines(string(log)) {
		who, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.Fields(who); len(fields) > 1 {
			entries = append(entries, Stashed{ID(fields[1]), message})
		}
	}
	return entries
}

// Dropped returns the entries of the stash that are gone, oldest first. byAgent is true if the
// agent's git dropped an entry.
func (g *Guard) Dropped() (gone []Stashed, byAgent bool) {
	now := g.repo.stashed()
	gone = each.Where(g.Entries, func(s Stashed) bool {
		return !slices.ContainsFunc(now, func(other Stashed) bool { return other.ID == s.ID })
	})
	trace, _ := safefile.ReadFile(g.Trace())
	return gone, traceStash().Match(trace)
}

// Stowed returns the entries that were added to the stash, oldest first.
func (g *Guard) Stowed() []Stashed {
	return slices.DeleteFunc(g.repo.stashed(), func(s Stashed) bool { return slices.Contains(g.Entries, s) })
}

// Refs returns the refs that moved. It leaves out refs that the agent may move, and a new branch
// that its own working tree is on. Among the refs of this tool and the branches of other runs, it
// leaves out moves that are not by the agent, except of the log of another clone where no fetch does the like. What
// this program did not write in a log of this clone is the agent's.
func (g *Guard) Refs(ctx context.Context) ([]RefChange, error) {
	now, err := g.repo.guardedRefs(ctx)
	if err != nil {
		return nil, err
	}
	head, _ := safefile.ReadFile(filepath.Join(g.GitDir, "HEAD"))
	on := strings.TrimSpace(strings.TrimPrefix(string(head), "ref: "))
	traced, changes := readTrace(g.Trace()), []RefChange{}
	for _, ref := range each.Keys(now, g.Tips) {
		c := RefChange{Ref: ref, Old: g.Tips[ref], New: now[ref]}
		if c.Old == c.New || ref == on && c.Old == "" || g.mayMove(ctx, c) {
			continue
		}
		byItsGit := slices.Contains(traced[ref], c.New) // this program's own git leaves no trace
		c.ByAgent = byItsGit && (c.costs() || strings.HasPrefix(ref, "refs/runr/")) || g.past(ctx, c)
		if log, ok := g.repo.ForeignTo(ref); ok && c.Old == "" { // another process has put the log back
			c = RefChange{Ref: log, Old: cmp.Or(g.Tips[log], now[log]), New: c.New, ByAgent: true}
		} else if g.free != nil && g.repo.HasForeign(ctx, ref, c.New) {
			c.ByAgent = true
		}
		if c.ByAgent || !ownRef(ref) && !strings.HasPrefix(ref, "refs/heads/runr/") || g.repo.unfetched(ctx, c) {
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// otherLog returns the writer of another clone's log. ok is false if ref is anything else.
func (r *Repo) otherLog(ref string) (writer string, ok bool) {
	writer, ok = strings.CutPrefix(ref, "refs/runr/log/")
	return writer, ok && !r.Owns(writer)
}

// unfetched reports whether a change deletes the log of another clone, takes something from it, or brings to it what no
// remote had.
func (r *Repo) unfetched(ctx context.Context, c RefChange) bool {
	writer, isLog := r.otherLog(c.Ref)
	if !isLog || !isCommit(c.New) || !isCommit(c.Old) {
		return isLog
	}
	if follows, err := r.IsAncestor(ctx, c.Old, c.New); c.New == "" || c.Old != "" && (err != nil || !follows) {
		return true
	}
	fetched, err := r.Refs(ctx, "refs/runr-remotes/")
	if err != nil {
		return true
	}
	for ref, at := range fetched {
		if strings.HasSuffix(ref, "/log/"+writer) {
			if has, err := r.IsAncestor(ctx, c.New, at); err == nil && has {
				return false
			}
		}
	}
	return true
}

// mayMove reports whether the agent may make a change of one of its branches: anything to a branch of this program, and
// only new commits to a branch of a person.
func (g *Guard) mayMove(ctx context.Context, c RefChange) bool {
	if !slices.Contains(g.Own, c.Ref) {
		return false
	}
	if strings.HasPrefix(c.Ref, "refs/heads/runr/") || c.Old == "" {
		return true
	}
	forward, err := g.repo.IsAncestor(ctx, c.Old, c.New)
	return err == nil && forward
}

// past reports whether a ref moved in a way in which people do not move refs while an agent works:
// an object was replaced, a branch became symbolic, a branch moved without a line in its reflog, or
// it moved back without a message there.
func (g *Guard) past(ctx context.Context, c RefChange) bool {
	switch branch := strings.HasPrefix(c.Ref, "refs/heads/"); {
	case strings.HasPrefix(c.Ref, "refs/replace/"), branch && !isCommit(c.New) && c.New != "":
		return true
	case g.repo.Reftable || c.Old == "" || c.New == "" || !branch:
		return false
	}
	log, err := safefile.ReadFile(filepath.Join(g.repo.CommonDir, "logs", filepath.FromSlash(c.Ref)))
	if err != nil || len(log) == 0 {
		return false // there is no reflog
	}
	lines := strings.Split(strings.TrimRight(string(log), "\n"), "\n")
	who, message, _ := strings.Cut(lines[len(lines)-1], "\t")
	if fields := strings.Fields(who); len(fields) > 1 && fields[1] == string(c.Old) {
		return true // the last move that git recorded led to the old value
	}
	if message != "" { // every command for people writes one
		return false
	}
	forward, err := g.repo.IsAncestor(ctx, c.Old, c.New)
	return err != nil || !forward
}

// costs reports whether the change may lose somebody's work or replace it. A new branch does not, and
// neither does a tag or a remote-tracking branch, which any fetch may move.
func (c RefChange) costs() bool {
	return c.Old != "" && !strings.HasPrefix(c.Ref, "refs/tags/") && !strings.HasPrefix(c.Ref, "refs/remotes/")
}

func isCommit(id ID) bool { return !strings.HasPrefix(string(id), "ref:") && id != "?" }

var (
	traceUpdate = lazyre.Compile(` \d+: (refs/\S+) \S+ -> ([0-9a-f]{40,64}) \(F=`)
	traceRename = lazyre.Compile(` rename_ref: (refs/\S+) -> (refs/\S+?):? `)
	traceStash  = lazyre.Compile(` reflog_expire: refs/stash: | \d+: refs/stash \S+ -> 0+ \(F=`)
	traceDelete = lazyre.Compile(`^\S+ \S+ +(refs/\S+)$`)
)

// readTrace returns the refs that a git moved, and their new values; "" is a deletion. It ignores
// lines in an unknown format.
func readTrace(path string) map[string][]ID {
	moved := map[string][]ID{}
	data, err := safefile.ReadFile(path)
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

// readHeads returns the HEADs of the user's working trees, without the agent's.
func (g *Guard) readHeads() map[string]head {
	heads := map[string]head{}
	linked, _ := filepath.Glob(filepath.Join(gitdir.GlobQuote(g.repo.CommonDir), "worktrees", "*"))
	for _, dir := range append(linked, g.repo.CommonDir) {
		if text, err := safefile.ReadFile(filepath.Join(dir, "HEAD")); err == nil && dir != g.GitDir &&
			!(registration{gitDir: dir}).own() {
			log, _ := safefile.ReadFile(filepath.Join(dir, "logs", "HEAD"))
			says := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(text)), "ref:"))
			heads[dir] = head{says, string(log)}
		}
	}
	return heads
}

// Heads returns the working trees whose HEAD changed, sorted by git directory. It blames the agent if the
// reflog has no line for the change, unless the new branch has no commit yet.
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

// readIndexes returns a hash of the entries of the index of each of the user's working trees. The hash includes flags
// but not the cached file data, which every git status writes. It takes no lock. It leaves out an index that git
// cannot read. It asks git once for each content of an index.
func (g *Guard) readIndexes(ctx context.Context) map[string]string {
	hashes := map[string]string{}
	for dir := range g.readHeads() {
		content := indexContent(dir)
		if known, ok := g.repo.hashed.Load(content); ok {
			hashes[dir] = known.(string)
			continue
		}
		out, err := g.repo.dir.Call(ctx, gitdir.Call{GitDir: dir, Args: []string{"ls-files", "-s", "-v", "-z"}})
		if err != nil {
			continue
		}
		hashes[dir] = fmt.Sprintf("%x", sha256.Sum256(out))
		if indexContent(dir) == content { // else git may have read another one
			g.repo.hashed.Store(content, hashes[dir])
		}
	}
	return hashes
}

// indexContent returns a hash of the index in a git directory, with the shared part of a split index.
func indexContent(dir string) [sha256.Size]byte {
	shared, _ := filepath.Glob(filepath.Join(gitdir.GlobQuote(dir), "sharedindex.*"))
	all := sha256.New()
	for _, path := range append(shared, filepath.Join(dir, "index")) {
		fmt.Fprintf(all, "%s\x00", path)
		if file, err := safefile.Open(path); err == nil {
			size, _ := io.Copy(all, file) // an index that cannot be read counts as far as it can
			fmt.Fprintf(all, "\x00%d\x00", size)
			file.Close()
		}
	}
	return [sha256.Size]byte(all.Sum(nil))
}

// Restaged returns the git directories of working trees whose index changed, sorted. It leaves out an index if the
// reflog of HEAD changed too: a commit, checkout or reset changes the index.
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

// operations returns git's unfinished operations in the user's working trees, by git directory.
func (g *Guard) operations() map[string]string {
	begun := map[string]string{}
	for dir := range g.readHeads() {
		if operation := operationIn(dir); operation != "" {
			begun[dir] = operation
		}
	}
	return begun
}

// Begun returns git's operations that were begun since, in working trees that are not this tool's.
func (g *Guard) Begun() (begun []Begun) {
	now := g.operations()
	for _, dir := range slices.Sorted(maps.Keys(now)) {
		if g.Under[dir] != now[dir] {
			begun = append(begun, Begun{dir, now[dir]})
		}
	}
	return begun
}

// ownRef reports whether a ref is this tool's.
func ownRef(ref string) bool {
	return strings.HasPrefix(ref, "refs/runr/") || strings.HasPrefix(ref, "refs/runr-local/")
}

// PutBackOwn moves a ref of this tool back to its old value, or deletes a new one, and keeps the new commit. If the new
// value descends from the old one, it does that only to the log of another clone, and takes what this program did not
// write from a log of this clone. It reports whether the change is put back.
func (r *Repo) PutBackOwn(ctx context.Context, c RefChange) (bool, error) {
	if !ownRef(c.Ref) || !isCommit(c.Old) || !isCommit(c.New) {
		return false, nil
	}
	if c.New != "" {
		_, isOther := r.otherLog(c.Ref)
		if follows, err := r.IsAncestor(ctx, c.Old, c.New); c.Old != "" && err == nil && follows && !isOther {
			_, _ = r.TakeUpLog(ctx, nil) // on an error, the change is noted, and who reads the log next tries again
			return r.isBack(ctx, c), nil
		}
		if err := r.KeepCommit(ctx, c.New); err != nil {
			return false, err
		}
	}
	err := r.refs.SwapAny(ctx, c.Ref, c.Old, c.New)
	if errors.Is(err, ErrLostRace) && r.isBack(ctx, c) { // keeping another commit may have written it
		return true, nil
	}
	return err == nil, err
}

// isBack reports whether a ref of this tool contains its old value, and nothing that the change added.
func (r *Repo) isBack(ctx context.Context, c RefChange) bool {
	now, err := r.Ref(ctx, c.Ref)
	if err != nil || now == "" {
		return false
	}
	within := func(a, b ID) bool { is, err := r.IsAncestor(ctx, a, b); return err == nil && is }
	return within(c.Old, now) && (c.New == "" || within(c.New, c.Old) || !within(c.New, now))
}

// KeepCommit keeps a commit from gc, in case no ref contains it any more.
func (r *Repo) KeepCommit(ctx context.Context, id ID) error {
	if _, err := r.ReadCommit(ctx, id); err != nil {
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}
	return r.refs.Keep(ctx, strayPrefix+string(id), id)
}
