package gitstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Alteration is a set of changes that were made in a repository, apart from files of a working tree, while an agent,
// a check or a hook ran, and that nobody has accepted or put back yet.
type Alteration struct {
	While string       `json:"while"` // "implementer NAME worked"
	At    time.Time    `json:"at"`
	Files []FileChange `json:"files,omitempty"`
	Refs  []RefChange  `json:"refs,omitempty"`
	Heads []HeadChange `json:"heads,omitempty"`
	Stash []Stashed    `json:"stash,omitempty"` // dropped entries, oldest first
	Begun []Begun      `json:"begun,omitempty"`
	// Staged are git directories of working trees whose index changed. Who changed it is unknown, and the old index
	// is not kept.
	Staged []string `json:"staged,omitempty"`

	StashByAgent bool `json:"stash_by_agent,omitempty"`
}

// Empty reports whether nothing changed.
func (a Alteration) Empty() bool {
	return len(a.Files)+len(a.Refs)+len(a.Heads)+len(a.Stash)+len(a.Begun)+len(a.Staged) == 0
}

// WithoutPeople returns a without the changes that may come from a person and that stop nothing.
func (a Alteration) WithoutPeople() Alteration {
	a.Files = slices.DeleteFunc(a.Files, func(c FileChange) bool { return c.Executes == "" })
	a.Refs = slices.DeleteFunc(a.Refs, func(c RefChange) bool { return !c.ByAgent })
	a.Heads = slices.DeleteFunc(a.Heads, func(h HeadChange) bool { return !h.ByAgent })
	if a.Begun, a.Staged = nil, nil; !a.StashByAgent {
		a.Stash = nil
	}
	return a
}

// Begun is an operation of git that was begun meanwhile, such as a rebase. Who began it is unknown.
type Begun struct {
	GitDir    string `json:"git_dir"`
	Operation string `json:"operation"`
}

// maxAlterations is how many of the alterations that stop nothing are kept, the newest.
const maxAlterations = 20

// AlteredError reports that git would run or follow something that was changed in the repository while an agent, a
// check or a hook ran, and that nobody has accepted. It is ErrTampered. Until then only git calls run that execute
// nothing configured.
type AlteredError struct {
	What  []string // for example .git/config (core.sshCommand)
	While string

	Unreadable bool // git cannot start, because it cannot read its configuration
}

func (e *AlteredError) Error() string {
	return fmt.Sprintf("%s changed while %s, and nobody has accepted it", strings.Join(e.What, ", "), e.While)
}

func (e *AlteredError) Unwrap() error { return ErrTampered }

// stands reports whether git would still run or follow the change in calls of this tool. These calls run no hooks, so
// a hook does not count. Nor does a file outside of the repository: it applies to all repositories and blocks none. In
// a configuration that has other settings since, it is the settings that count.
func (r *Repo) stands(ctx context.Context, c FileChange) bool {
	if c.Executes == "" || c.Outside || c.Kind == KindHook {
		return false
	}
	if c.Kind != KindConfig || c.isAs() {
		return c.isAs()
	}
	was, _ := settingsOf(ctx, c.Was) // an unreadable file set nothing
	is, _ := settingsOf(ctx, c.Is)
	now, err := settingsOf(ctx, lookAt(c.Path).Data)
	return err == nil && slices.ContainsFunc(r.executing(ctx, c.Settings, was, is), func(key string) bool {
		return slices.Equal(now[key], is[key])
	})
}

// unreadable reports whether git could not read a changed configuration.
func (c FileChange) unreadable() bool {
	return c.Kind == KindConfig && len(c.Settings) == 0 && c.IsLink == c.WasLink
}

// PlaceName shortens a path so that it reveals nothing about this machine: .git/config, ~/.gitconfig.
func (r *Repo) PlaceName(path string) string {
	if rel, err := filepath.Rel(r.CommonDir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(filepath.Join(".git", rel))
	}
	if rel, err := filepath.Rel(os.Getenv("HOME"), path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(filepath.Join("~", rel))
	}
	return path
}

// Alterations returns the changes that were made while agents, checks and hooks ran, and that nobody has accepted or
// put back, oldest first.
func (r *Repo) Alterations(ctx context.Context) (all []Alteration, err error) {
	if err := r.takeUpKilled(ctx); err != nil {
		return nil, err
	}
	return r.noted()
}

// noted returns the alterations recorded on disk.
func (r *Repo) noted() (all []Alteration, err error) {
	data, err := safefile.ReadFile(r.AlterationsFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was changed: %w", err)
	}
	for i := range all { // the files of a worktree that was removed concern nobody any more
		all[i].Files = slices.DeleteFunc(all[i].Files, func(c FileChange) bool {
			dir := filepath.Dir(c.Path)
			_, err := os.Lstat(dir)
			return filepath.Dir(dir) == filepath.Join(r.CommonDir, "worktrees") && errors.Is(err, fs.ErrNotExist)
		})
	}
	return slices.DeleteFunc(all, Alteration.Empty), nil
}

// Altered returns an *AlteredError if a recorded change that git or this tool would run or follow is still in place
// and nobody has accepted it.
func (r *Repo) Altered(ctx context.Context) error {
	return r.altered(ctx, func(c FileChange) bool { return r.stands(ctx, c) })
}

// AlteredForUser is Altered also for hooks of the repository, which only the user's own git runs.
func (r *Repo) AlteredForUser(ctx context.Context) error {
	return r.altered(ctx, func(c FileChange) bool {
		return r.stands(ctx, c) || c.Kind == KindHook && !c.Outside && c.isAs()
	})
}

func (r *Repo) altered(ctx context.Context, still func(FileChange) bool) error {
	all, err := r.Alterations(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrTampered)
	}
	for _, a := range all {
		e := &AlteredError{While: a.While}
		for _, c := range a.Files {
			if still(c) {
				e.Unreadable = e.Unreadable || c.unreadable()
				e.What = append(e.What, fmt.Sprintf("%s (%s)", r.PlaceName(c.Path), c.Executes))
			}
		}
		if len(e.What) > 0 {
			return e
		}
	}
	return nil
}

// planted reports whether a setting still has a value that it got while an agent, a check or a hook ran, and that
// nobody has accepted.
func (r *Repo) planted(ctx context.Context, key string) bool {
	all, err := r.noted()
	for _, a := range all {
		for _, c := range a.Files {
			if c.Kind != KindConfig || !slices.Contains(c.Settings, key) {
				continue
			}
			is, isErr := settingsOf(ctx, c.Is)
			now, nowErr := settingsOf(ctx, lookAt(c.Path).Data)
			if errors.Join(isErr, nowErr) != nil || slices.Equal(is[key], now[key]) {
				return true
			}
		}
	}
	return err != nil
}

// AlteredBelow reports whether a file below dir is still as it was changed while an agent, a check or a hook ran,
// would be executed, and nobody has accepted it.
func (r *Repo) AlteredBelow(ctx context.Context, dir string) bool {
	all, err := r.Alterations(ctx)
	for _, a := range all {
		if slices.ContainsFunc(a.Files, func(c FileChange) bool {
			return c.Executes != "" && gitdir.Below(c.Path, dir) && c.isAs()
		}) {
			return true
		}
	}
	return err != nil
}

// NoteAlteration records an alteration until it is accepted or put back.
func (r *Repo) NoteAlteration(ctx context.Context, a Alteration) error {
	return r.editAlterations(ctx, func(all []Alteration) []Alteration {
		all = append(all, a)
		harmless := each.Count(all, func(noted Alteration) bool { return !noted.stops() })
		return slices.DeleteFunc(all, func(noted Alteration) bool {
			old := harmless > maxAlterations && !noted.stops()
			if old {
				harmless--
			}
			return old
		})
	})
}

// stops reports whether git or this tool would run or follow a change in a, or whether an agent made one.
func (a Alteration) stops() bool {
	return slices.ContainsFunc(a.Files, func(c FileChange) bool { return c.Executes != "" }) ||
		slices.ContainsFunc(a.Refs, func(c RefChange) bool { return c.ByAgent }) ||
		slices.ContainsFunc(a.Heads, func(h HeadChange) bool { return h.ByAgent }) || a.StashByAgent && len(a.Stash) > 0
}

// AcceptAlterations removes all records: the changes stay as they are.
func (r *Repo) AcceptAlterations(ctx context.Context) error {
	return r.editAlterations(ctx, func([]Alteration) []Alteration { return nil })
}

func (r *Repo) editAlterations(ctx context.Context, edit func([]Alteration) []Alteration) error {
	unlock, err := r.Lock(ctx, "guard")
	if err != nil {
		return err
	}
	defer unlock()
	all, _ := r.noted() // an unreadable file is replaced
	all = edit(all)
	if len(all) == 0 {
		return gitdir.RemoveIfThere(r.AlterationsFile())
	}
	data, err := json.Marshal(all)
	if err == nil {
		err = safefile.WriteFile(r.AlterationsFile(), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note what was changed: %w", err)
	}
	return nil
}

// PutBack is the result of putting one change back.
type PutBack struct {
	What string
	Left string // why it was not put back, or ""
}

// RestoreAlterations puts changes back, newest first: each file, setting, ref and HEAD, but only if it has not been
// changed again since. If all is false, it puts back only what stopped the work. The rest stays recorded.
func (r *Repo) RestoreAlterations(ctx context.Context, all bool) (done []PutBack, err error) {
	noted, err := r.Alterations(ctx)
	if err != nil {
		return nil, err
	}
	var rest []Alteration
	for _, a := range slices.Backward(noted) {
		stay := Alteration{While: a.While, At: a.At, StashByAgent: a.StashByAgent}
		back, err := r.restore(ctx, a, all, &stay)
		if done = append(done, back...); err != nil {
			return done, err
		}
		if !stay.Empty() {
			rest = append(rest, stay)
		}
	}
	slices.Reverse(rest)
	known := len(noted)
	return done, r.editAlterations(ctx, func(now []Alteration) []Alteration {
		return append(rest, now[min(known, len(now)):]...)
	})
}

// restore puts an alteration back. It adds what it does not put back to stay.
func (r *Repo) restore(ctx context.Context, a Alteration, all bool, stay *Alteration) (done []PutBack, err error) {
	tell := func(what string, err error) (left bool) {
		done = append(done, said(what, err))
		return err != nil
	}
	for _, c := range a.Files {
		if !all && c.Executes == "" {
			stay.Files = append(stay.Files, c)
			continue
		}
		back, err := r.restoreFile(ctx, &c, all)
		if done = append(done, back...); err != nil {
			return done, err
		}
		if len(c.Settings) > 0 || slices.ContainsFunc(back, func(p PutBack) bool { return p.Left != "" }) {
			stay.Files = append(stay.Files, c)
		}
	}
	for _, c := range a.Refs {
		what := "ref " + c.Ref
		if c.Old == "" {
			what = "no ref " + c.Ref
		}
		left := !all && !c.ByAgent
		if !left {
			err := r.restoreRef(ctx, c) // first: git would wait for a pipe in the place of a branch that is checked out
			left = tell(what+r.besideRef(ctx, c), err)
		}
		if left {
			stay.Refs = append(stay.Refs, c)
		}
	}
	stay.Heads = each.Where(a.Heads, func(h HeadChange) bool {
		return !all && !h.ByAgent || tell("HEAD of "+r.PlaceName(h.GitDir), r.restoreHead(ctx, h))
	})
	stay.Stash = each.Where(a.Stash, func(s Stashed) bool {
		return !all && !a.StashByAgent || tell("stash entry "+s.ID.Short(), r.restoreStash(ctx, s))
	})
	stay.Staged = each.Where(a.Staged, func(dir string) bool {
		return !all || tell("the index of "+r.PlaceName(dir), errIndexGone)
	})
	stay.Begun = each.Where(a.Begun, func(b Begun) bool {
		if !all {
			return true
		}
		aside, err := r.setBegunAside(ctx, b)
		return tell(b.Operation+" in "+r.PlaceName(b.GitDir)+", which lies in "+r.PlaceName(aside), err)
	})
	return done, nil
}

// besideRef describes where a ref was, and warns if the branch is checked out, because its files are not changed.
func (r *Repo) besideRef(ctx context.Context, c RefChange) string {
	beside := ""
	if c.New != "" && isCommit(c.New) {
		beside = ", which was at " + string(c.New)
	}
	if at, err := r.CheckedOutIn(ctx, c.Ref); err == nil && at != "" {
		beside += " (not the files and the index of " + at + ": git status)"
	}
	return beside
}

func said(what string, err error) PutBack {
	if err != nil {
		return PutBack{what, err.Error()}
	}
	return PutBack{What: what}
}

var errIndexGone = errors.New(
	"its former content is not kept: git diff --cached shows the changes, git runr guard accept keeps it")

var errSince = errors.New("it was changed again since")

// restoreFile puts a file back, or single settings of a configuration: if all is false, those that make git run or
// follow something, because the others may be a person's. It removes what it put back from c.Settings.
func (r *Repo) restoreFile(ctx context.Context, c *FileChange, all bool) ([]PutBack, error) {
	name := r.PlaceName(c.Path)
	whole := func(err error) ([]PutBack, error) {
		if err == nil {
			c.Settings = nil
		}
		return []PutBack{said(name, err)}, nil
	}
	if c.isWas() { // a restore that was killed did it
		return whole(nil)
	}
	was, wasErr := settingsOf(ctx, c.Was)
	is, isErr := settingsOf(ctx, c.Is)
	now, nowErr := settingsOf(ctx, lookAt(c.Path).Data)
	single := c.Kind == KindConfig && c.WasLink == "" && c.IsLink == "" && errors.Join(wasErr, isErr, nowErr) == nil
	keys := c.Settings
	if !all {
		keys = r.executing(ctx, keys, was, is)
	}
	switch {
	case c.isAs() && (!single || len(keys) == len(c.Settings)):
		return whole(c.writeBack())
	case !single:
		return whole(errSince)
	}
	var done []PutBack
	for _, key := range keys {
		what := key + " in " + name
		if !slices.Equal(now[key], was[key]) {
			if !slices.Equal(now[key], is[key]) {
				done = append(done, said(what, errSince))
				continue
			}
			if err := setAll(ctx, c.Path, key, was[key]); err != nil {
				return done, fmt.Errorf("put back %s: %w", what, err)
			}
		}
		done = append(done, PutBack{What: what})
		c.Settings = slices.DeleteFunc(slices.Clone(c.Settings), func(k string) bool { return k == key })
	}
	c.Executes = strings.Join(r.executing(ctx, c.Settings, was, is), ", ")
	return done, nil
}

// setAll replaces all values of a setting in a configuration file.
func setAll(ctx context.Context, file, key string, values []string) error {
	set := func(args ...string) error {
		_, err := gitdir.Call{Bare: true, Unlocated: true, Dir: "/",
			Args: append([]string{"config", "--file", file}, args...)}.Run(ctx)
		return err
	}
	if err := set("--unset-all", key); err != nil && gitdir.ExitStatus(err) != 5 { // 5: there was none
		return err
	}
	for _, value := range values {
		if err := set("--add", key, value); err != nil {
			return err
		}
	}
	return nil
}

// writeBack restores the old content of the file without following links.
func (c FileChange) writeBack() error {
	if c.Part {
		return fmt.Errorf("it was not kept: it is not a regular file, or larger than %d KiB", guardedSize>>10)
	}
	at := c.At
	if c.WasLink != "" && c.WasLink == c.IsLink {
		at = c.Real // the target of the link changed, not the link
	}
	if dir, err := os.Lstat(filepath.Dir(at)); err == nil && dir.Mode()&fs.ModeSymlink != 0 {
		if err := os.Remove(filepath.Dir(at)); err != nil { // the link's target is not ours
			return err
		}
	} else if c.Is != nil {
		if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if c.Was == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return err
	}
	if c.WasLink != "" && at == c.At {
		return os.Symlink(c.WasLink, at)
	}
	return safefile.WriteFile(at, c.Was, c.Mode.Perm())
}

func (r *Repo) restoreRef(ctx context.Context, c RefChange) error {
	now, err := r.refs.Sayings(ctx, path.Dir(c.Ref))
	switch {
	case err != nil || ID(now[c.Ref]) == c.Old:
		return err
	case ID(now[c.Ref]) != c.New:
		if ownRef(c.Ref) && c.Old != "" && isCommit(c.Old) && isCommit(c.New) && r.isBack(ctx, c) { // and went on
			return nil
		}
		return errSince
	}
	if target, ok := strings.CutPrefix(string(c.Old), "ref: "); ok {
		_, err = r.dir.Git(ctx, "symbolic-ref", c.Ref, target)
		return err
	}
	if c.New != "" && isCommit(c.New) { // it may contain somebody's work
		if err := r.KeepCommit(ctx, c.New); err != nil {
			return err
		}
	}
	if !isCommit(c.New) {
		if file := r.refs.Path(c.Ref); errors.Is(safefile.CheckRegular(file), ErrIrregular) {
			if err := os.Remove(file); err != nil { // a pipe or the like, which git would wait for
				return err
			}
		}
		if c.Old == "" {
			_, err = r.dir.Git(ctx, "symbolic-ref", "-d", c.Ref)
			return err
		}
		_, err = r.dir.Git(ctx, "update-ref", "--no-deref", c.Ref, string(c.Old))
		return err
	}
	return r.refs.SwapAny(ctx, c.Ref, c.Old, c.New)
}

func (r *Repo) restoreHead(ctx context.Context, h HeadChange) error {
	text, err := safefile.ReadFile(filepath.Join(h.GitDir, "HEAD"))
	if err != nil {
		return err
	}
	switch strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(text)), "ref:")) {
	case h.Was:
		return nil
	case h.Is:
	default:
		return errSince
	}
	args := []string{"update-ref", "--no-deref", "HEAD", h.Was}
	if strings.HasPrefix(h.Was, "refs/") {
		args = []string{"symbolic-ref", "HEAD", h.Was}
	}
	_, err = r.dir.Call(ctx, gitdir.Call{GitDir: h.GitDir, Args: args})
	return err
}

func (r *Repo) restoreStash(ctx context.Context, s Stashed) error {
	listed := func() bool {
		return slices.ContainsFunc(r.stashed(), func(other Stashed) bool { return other.ID == s.ID })
	}
	if listed() {
		return nil
	}
	newest, err := r.Ref(ctx, "refs/stash")
	if err == nil && newest == s.ID { // its log was deleted, and git logs no move to the same commit
		err = r.refs.SwapAny(ctx, "refs/stash", "", newest)
	}
	if err != nil {
		return err
	}
	_, err = r.dir.Call(ctx, gitdir.Call{GitDir: r.CommonDir,
		Args: []string{"stash", "store", "-m", s.Message, string(s.ID)}})
	if err == nil && !listed() {
		return errors.New("git stash list does not show it")
	}
	return err
}

// setBegunAside moves the state of an operation from the git directory to the new directory aside, so that nobody
// continues it by accident. It keeps the operation's autostash.
func (r *Repo) setBegunAside(ctx context.Context, b Begun) (aside string, err error) {
	aside = filepath.Join(r.StateDir(), "guard", time.Now().UTC().Format("20060102150405.000000000"))
	for _, name := range operationFiles {
		from := filepath.Join(b.GitDir, name)
		if _, err := os.Lstat(from); err != nil {
			continue
		}
		if stashed, err := safefile.ReadFile(filepath.Join(from, "autostash")); err == nil {
			if err := r.KeepCommit(ctx, ID(bytes.TrimSpace(stashed))); err != nil {
				return aside, err
			}
		}
		if err := os.MkdirAll(aside, 0o700); err != nil {
			return aside, err
		}
		if err := os.Rename(from, filepath.Join(aside, name)); err != nil {
			return aside, err
		}
	}
	return aside, nil
}

// Diff returns the change as lines with - and +: settings with their values for a configuration, else lines of text.
func (c FileChange) Diff(ctx context.Context) []string {
	if c.IsLink != c.WasLink {
		return []string{"-" + linkOr(c.WasLink), "+" + linkOr(c.IsLink)}
	}
	was, is := splitLines(c.Was), splitLines(c.Is)
	if c.Kind == KindConfig {
		was, is = c.settingLines(ctx, c.Was), c.settingLines(ctx, c.Is)
	}
	var lines []string
	for _, line := range was {
		if !slices.Contains(is, line) {
			lines = append(lines, "-"+line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			lines = append(lines, "+"+line)
		}
	}
	return lines
}

func linkOr(to string) string {
	if to == "" {
		return "(no link)"
	}
	return "link to " + to
}

func splitLines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(string(bytes.TrimSuffix(text, []byte("\n"))), "\n")
}

func (c FileChange) settingLines(ctx context.Context, file []byte) (lines []string) {
	settings, err := settingsOf(ctx, file)
	if err != nil {
		return splitLines(file)
	}
	for _, key := range c.Settings {
		for _, value := range settings[key] {
			lines = append(lines, key+" = "+value)
		}
	}
	return lines
}
