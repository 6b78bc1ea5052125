// Package setup installs git-runr in a repository and removes it again. It remembers the original state, so that the
// removal restores it exactly.
package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/register"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/hooks"
	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

// Detect finds the checks that the project in a checkout seems to have, and what a fresh worktree of it lacks.
func Detect(ctx context.Context, repo *gitstore.Repo) (checks []runplan.Check, given runplan.Worktree, err error) {
	at := func(name string) string { return filepath.Join(repo.WorkTree, filepath.FromSlash(name)) }
	exists := func(name string) bool { _, err := os.Stat(at(name)); return err == nil }
	read := func(name string) ([]byte, error) { return os.ReadFile(at(name)) }
	given.Setup = builtin.DetectSetup(exists, read, config.Runnable)
	checks = append([]runplan.Check{}, builtin.DetectAll(exists, read, config.Runnable)...)
	tree, err := repo.Checkout()
	if err != nil {
		return checks, given, err
	}
	given.Copy, err = tree.IgnoredBy(ctx, ".env*", "*/.env*", "*/*/.env*", "go.work*")
	return checks, given, err
}

// WriteConfig creates a checkout's .runr.toml, which must not exist. It remembers the file first, so that after a kill
// it is known whose it is.
func WriteConfig(repo *gitstore.Repo, checks []runplan.Check, given runplan.Worktree) error {
	text := []byte(config.Initial(checks, given))
	b, _ := readBefore(repo)
	b.Wrote = safefile.Hash(text)
	if err := b.save(repo); err != nil {
		return err
	}
	return safefile.CreateWhole(filepath.Join(repo.WorkTree, config.FileName), text, 0o666)
}

// displayRef is git's setting for the notes that git log shows.
const displayRef = "notes.displayRef"

// ShowsNotes reports whether plain git log shows the notes.
func ShowsNotes(repo *gitstore.Repo) bool {
	return slices.Contains(repo.Config["notes.displayref"], store.NotesRef)
}

// ShowNotes makes plain git log show the notes, even if there are none yet. It adds nothing to what git fetches.
func ShowNotes(ctx context.Context, records *store.Store) error {
	if err := records.BeginNotes(ctx); err != nil || ShowsNotes(records.Repo) {
		return err
	}
	return records.Repo.AddConfig(ctx, displayRef, store.NotesRef)
}

// Program returns the path of this program. It prefers a name in path, a list of directories, which remains valid after
// an upgrade. It returns "" if the path is unknown.
func Program(path string) string {
	self, err := build.Program()
	if err != nil {
		return ""
	}
	own, err := os.Stat(self)
	if err != nil {
		return ""
	}
	for _, dir := range filepath.SplitList(path) {
		name := filepath.Join(dir, "git-runr")
		if info, err := os.Stat(name); err == nil && filepath.IsAbs(name) && os.SameFile(info, own) {
			return name
		}
	}
	return self
}

// before is the state of a repository before the first init.
type before struct {
	V          int    `json:"v"`
	Config     []byte `json:"config"`              // content of its file
	State      bool   `json:"state"`               // our directory existed
	HooksDir   bool   `json:"hooks_dir"`           // the hooks directory existed
	ShowsNotes bool   `json:"shows_notes"`         // git log showed the notes
	Wrote      string `json:"wrote_sha,omitempty"` // of .runr.toml, if init wrote it
}

func beforePath(repo *gitstore.Repo) string { return filepath.Join(repo.StateDir(), "init.json") }

// readBefore returns the remembered state, or a guess if there is none.
func readBefore(repo *gitstore.Repo) (b before, known bool) {
	data, err := os.ReadFile(beforePath(repo))
	if err == nil && json.Unmarshal(data, &b) == nil && b.V == 1 {
		return b, true
	}
	return before{V: 1, HooksDir: true}, false
}

func (b before) save(repo *gitstore.Repo) error {
	data, _ := json.Marshal(b) // our own types can be encoded
	if err := os.MkdirAll(repo.StateDir(), 0o777); err != nil {
		return err
	}
	return safefile.WriteDurable(beforePath(repo), append(data, '\n'), 0o666)
}

// Remember records the state of the repository, the first time only, before anything is installed.
func Remember(repo *gitstore.Repo) error {
	if _, known := readBefore(repo); known {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(repo.CommonDir, "config"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return before{
		V: 1, Config: text, State: isThere(repo.StateDir()), HooksDir: isThere(filepath.Join(repo.CommonDir, "hooks")),
		ShowsNotes: ShowsNotes(repo),
	}.save(repo)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// putConfigBack restores the original file if git's changes left only different white space.
func (b before) putConfigBack(repo *gitstore.Repo) error {
	path := filepath.Join(repo.CommonDir, "config")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || len(b.Config) == 0 {
		return err
	}
	now, err := os.ReadFile(path)
	if err != nil || bytes.Equal(now, b.Config) || said(now) != said(b.Config) {
		return err
	}
	return safefile.WriteExact(path, b.Config, info.Mode().Perm())
}

// said returns the settings in a git configuration file, without empty lines and empty sections, which git may leave
// after a comment.
func said(text []byte) string {
	var b strings.Builder
	section := ""
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = line + "\n"
		default:
			b.WriteString(section + line + "\n")
			section = ""
		}
	}
	return b.String()
}

// emptyOwn removes this clone's own directory, except for the entries in keep.
func (b before) emptyOwn(repo *gitstore.Repo, keep []string) error {
	entries, err := os.ReadDir(repo.StateDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if !slices.Contains(keep, entry.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(repo.StateDir(), entry.Name())))
		}
	}
	if len(keep) == 0 && !b.State {
		err = errors.Join(err, os.Remove(repo.StateDir()))
	}
	os.Remove(filepath.Join(repo.CommonDir, "worktrees")) // git's own, which it leaves empty
	if !b.HooksDir {
		os.Remove(filepath.Join(repo.CommonDir, "hooks")) // stays if it is not empty
	}
	return err
}

// Removal is one removal to do.
type Removal struct {
	What string // for people
	Do   func() error
}

// removal collects removals.
type removal struct {
	todo []Removal
	left []string
	kept string
}

func (r *removal) add(what string, do func() error) { r.todo = append(r.todo, Removal{what, do}) }

// Removals returns what to remove from a repository, in order: the last ones restore what the others leave. left says
// what stays, and why. kept is the file that stays because it belongs to the project. conf is nil if it cannot be
// read. Records stay unless refs is set.
func Removals(ctx context.Context, records *store.Store, conf *config.Config,
	refs bool) (todo []Removal, left []string, kept string, err error) {
	repo := records.Repo
	was, known := readBefore(repo)
	r := &removal{}
	for _, path := range leftFiles(ctx, repo) {
		r.add(path+", left by a process that was killed", func() error { return os.Remove(path) })
	}
	if err := r.hooks(ctx, repo); err != nil {
		return nil, nil, "", err
	}
	if err := r.agents(repo); err != nil {
		return nil, nil, "", err
	}
	if !was.ShowsNotes && ShowsNotes(repo) {
		r.add("the notes in git log ("+displayRef+")", func() error {
			return repo.UnsetValue(ctx, displayRef, store.NotesRef)
		})
	}
	if refs {
		if err := r.records(ctx, repo); err != nil {
			return nil, nil, "", err
		}
	}
	if conf != nil {
		if state, _ := conf.Trust(); state != config.Untrusted {
			r.add("the approval of commands and checks here", conf.Revoke)
		}
	}
	r.file(ctx, repo, was)
	whole := known || refs && len(r.todo) > 0
	for key := range repo.Config {
		if refs && gitstore.IsWriterKey(key) && key != "runr.writer" {
			r.add("the id of this clone ("+key+")", func() error { return repo.UnsetKey(ctx, key) })
		}
	}
	if repo.Config.Get("runr.writer") != "" && !bytes.Contains(was.Config, []byte("writer")) {
		r.add("the id of this clone (runr.writer)", func() error { return repo.UnsetKey(ctx, "runr.writer") })
	}
	if whole {
		r.own(repo, was, refs)
	}
	return r.todo, r.left, r.kept, nil
}

func (r *removal) hooks(ctx context.Context, repo *gitstore.Repo) error {
	statuses, err := hooks.StatusOf(ctx, repo, false)
	ours := func(st hooks.Status) bool {
		return st.State == hooks.Installed || st.State == hooks.Outdated || st.Known
	}
	if err != nil {
		return err
	}
	what := "git's hooks that call git-runr"
	if !slices.ContainsFunc(statuses, ours) {
		if repo.Config.Get(hooks.ProgramKey) == "" {
			return nil
		}
		what = "the program for hooks that a person maintains (" + hooks.ProgramKey + ")"
	}
	r.add(what, func() error { _, err := hooks.Uninstall(ctx, repo); return err })
	return nil
}

func (r *removal) agents(repo *gitstore.Repo) error {
	if repo.WorkTree == "" {
		return nil
	}
	plan, err := register.Removing(register.Place{Top: repo.WorkTree, GitDir: repo.GitDir}, register.Names())
	if err != nil {
		return err
	}
	if r.left = append(r.left, plan.Left()...); !plan.Empty() {
		r.add("what agents are told about git-runr", plan.Write)
	}
	return nil
}

// records removes the refs with this clone's records.
func (r *removal) records(ctx context.Context, repo *gitstore.Repo) error {
	var names []string
	for _, prefix := range append([]string{"refs/runr/"}, gitstore.PrivateRefs()...) {
		refs, err := repo.Refs(ctx, prefix)
		if err != nil {
			return err
		}
		names = slices.AppendSeq(names, maps.Keys(refs))
	}
	if notes, err := repo.Ref(ctx, store.NotesRef); err != nil {
		return err
	} else if notes != "" {
		names = append(names, store.NotesRef)
	}
	slices.Sort(names)
	if len(names) > 0 {
		r.add(prose.Count(len(names), "ref")+" with every record of this clone", func() error {
			return repo.DropRefs(ctx, names)
		})
	}
	return nil
}

// leftFiles returns the temporary files that a killed init left.
func leftFiles(ctx context.Context, repo *gitstore.Repo) []string {
	left := append(hooks.Left(ctx, repo), safefile.Left(beforePath(repo))...)
	if repo.WorkTree != "" {
		left = append(left, safefile.Left(filepath.Join(repo.WorkTree, config.FileName))...)
	}
	return left
}

// file removes .runr.toml if init wrote it.
func (r *removal) file(ctx context.Context, repo *gitstore.Repo, was before) {
	path := filepath.Join(repo.WorkTree, config.FileName)
	text, err := os.ReadFile(path)
	if repo.WorkTree == "" || err != nil || was.Wrote == "" {
		return
	}
	head, err := repo.Head(ctx)
	committed := false
	if err == nil {
		committed, _ = repo.HasPath(ctx, head, config.FileName)
	}
	switch {
	case committed:
		r.kept = path + ": it is committed; git rm " + config.FileName
	case safefile.Hash(text) != was.Wrote:
		r.left = append(r.left, path+": it was changed since")
	default:
		r.add(path, func() error { return os.Remove(path) })
	}
}

// own removes this clone's own directory; all of it only if the records are removed too.
func (r *removal) own(repo *gitstore.Repo, was before, refs bool) {
	keep := []string{}
	what := repo.StateDir()
	for _, name := range []string{"drafts", "runs", "edit", "rewrites"} {
		if entries, _ := os.ReadDir(filepath.Join(repo.StateDir(), name)); len(entries) > 0 && !refs {
			keep = append(keep, name)
		}
	}
	if len(keep) > 0 {
		what += ", but for " + strings.Join(keep, ", ")
	}
	r.add(what, func() error { return errors.Join(was.putConfigBack(repo), was.emptyOwn(repo, keep)) })
}
