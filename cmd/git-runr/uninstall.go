package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/config"
	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/register"
	"git-runr/gitstore"
	"git-runr/gitstore/safefile"
	"git-runr/hooks"
	"git-runr/loop"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

func (p *program) uninstallCommand() *cli.Command {
	return &cli.Command{
		Name: "uninstall", Usage: "take back what init did in this repository",
		Description: "Takes out the hooks, the notes in git log, what agents were told, this clone's cache and settings of its own, the\n" +
			"approval of .runr.toml, and that file if init wrote it and nobody changed or committed it. Configuration and hooks\n" +
			"are then as they were, to the byte. What is recorded stays: --refs deletes that, too, of this clone.\n" +
			"Drafts and files of runs stay unless --refs is given. Exit status 3 where something was left alone.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "refs", Usage: "also delete every record: reviews, runs, notes, snapshots; branches of runs stay"},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done"},
			&cli.BoolFlag{Name: "yes", Usage: "do it without asking"},
		},
		Action: p.action(uninstall),
	}
}

// before is how a repository was when init first came, for uninstall.
type before struct {
	V          int    `json:"v"`
	Config     []byte `json:"config"`              // its file
	State      bool   `json:"state"`               // there was a directory of ours
	HooksDir   bool   `json:"hooks_dir"`           // there was one for hooks
	ShowsNotes bool   `json:"shows_notes"`         // git log showed them
	Wrote      string `json:"wrote_sha,omitempty"` // of .runr.toml, where init wrote it
}

func beforePath(repo *gitstore.Repo) string { return filepath.Join(repo.StateDir(), "init.json") }

// readBefore is what init remembered; where it did not, a guess.
func readBefore(repo *gitstore.Repo) (b before, known bool) {
	data, err := os.ReadFile(beforePath(repo))
	if err == nil && json.Unmarshal(data, &b) == nil && b.V == 1 {
		return b, true
	}
	return before{V: 1, HooksDir: true}, false
}

func (b before) save(repo *gitstore.Repo) error {
	data, err := json.Marshal(b)
	if err == nil {
		err = os.MkdirAll(repo.StateDir(), 0o777)
	}
	if err == nil {
		err = safefile.WriteDurable(beforePath(repo), append(data, '\n'), 0o666)
	}
	return err
}

// rememberBefore notes how the repository is before init does anything, the first time.
func rememberBefore(repo *gitstore.Repo) error {
	if _, known := readBefore(repo); known {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(repo.CommonDir, "config"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b := before{V: 1, Config: text, State: isThere(repo.StateDir()), HooksDir: isThere(filepath.Join(repo.CommonDir, "hooks"))}
	b.ShowsNotes = slices.Contains(repo.Config["notes.displayref"], record.NotesRef)
	return b.save(repo)
}

// rememberFile notes that init wrote .runr.toml.
func rememberFile(repo *gitstore.Repo, text []byte) error {
	b, _ := readBefore(repo)
	b.Wrote = sha(text)
	return b.save(repo)
}

func sha(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

type uninstallJSON struct {
	Done   []string `json:"done"` // or would be
	Left   []string `json:"left"` // alone, and why
	DryRun bool     `json:"dry_run"`
}

// removal is one thing that uninstall does.
type removal struct {
	what string
	do   func() error
}

func uninstall(s *session) error {
	if s.NArg() > 0 {
		return exit.Problemf(exit.Usage, "uninstall takes no arguments").WithHint("git runr uninstall -h")
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	if loop.AtWork(store) {
		return exit.Problemf(exit.Busy, "reviews are being done in this clone").WithHint("git runr", "then again: git runr uninstall")
	}
	doc := uninstallJSON{Done: []string{}, Left: []string{}, DryRun: s.Bool("dry-run")}
	todo, err := s.removals(store, &doc)
	if err != nil {
		return err
	}
	for _, r := range todo {
		doc.Done = append(doc.Done, r.what)
	}
	if !doc.DryRun && len(todo) > 0 {
		if err := s.agreeToRemove(doc); err != nil {
			return err
		}
		for _, r := range todo {
			if err := r.do(); err != nil {
				return fmt.Errorf("%s: %w", r.what, err)
			}
		}
	}
	return s.printLeaving(doc, doc.Left, func(w io.Writer) { writeUninstall(w, doc) })
}

func (s *session) agreeToRemove(doc uninstallJSON) error {
	if s.Bool("yes") {
		return nil
	}
	if !s.json {
		writeUninstall(s.out, uninstallJSON{Done: doc.Done, Left: doc.Left, DryRun: true})
	}
	if s.agreesTo("Do this?") {
		return nil
	}
	line := "git runr uninstall --yes"
	if s.Bool("refs") {
		line += " --refs"
	}
	return exit.Problemf(exit.Stopped, "nothing was done: nobody said yes").WithHint(line)
}

func writeUninstall(w io.Writer, doc uninstallJSON) {
	verb := map[bool]string{true: "would be removed", false: "removed"}[doc.DryRun]
	for _, what := range doc.Done {
		safetext.Fprintf(w, "%s: %s\n", verb, what)
	}
	for _, left := range doc.Left {
		safetext.Fprintf(w, "left alone: %s\n", left)
	}
	if len(doc.Done)+len(doc.Left) == 0 {
		fmt.Fprintln(w, "Nothing to do.")
	}
}

// removals are what is to be done, in this order: what is last puts back what the others leave.
func (s *session) removals(store *record.Store, doc *uninstallJSON) ([]removal, error) {
	repo := store.Repo
	was, known := readBefore(repo)
	var todo []removal
	add := func(what string, do func() error) { todo = append(todo, removal{what, do}) }

	statuses, err := hooks.StatusOf(s.ctx, repo, false)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(statuses, func(st hooks.Status) bool {
		return st.State == hooks.Installed || st.State == hooks.Outdated || st.Known
	}) {
		add("git's hooks that call git-runr", func() error { _, err := hooks.Uninstall(s.ctx, repo); return err })
	}
	if repo.WorkTree != "" {
		plan, err := register.Removing(register.Place{Top: repo.WorkTree, GitDir: repo.GitDir}, register.Names())
		if err != nil {
			return nil, err
		}
		if doc.Left = append(doc.Left, plan.Left()...); !plan.Empty() {
			add("what agents are told of git-runr", plan.Write)
		}
	}
	if !was.ShowsNotes && slices.Contains(repo.Config["notes.displayref"], record.NotesRef) {
		add("the notes in git log (notes.displayRef)", func() error { return repo.UnsetValue(s.ctx, "notes.displayRef", record.NotesRef) })
	}
	if s.Bool("refs") {
		refs, err := recordRefs(s, repo)
		if err != nil {
			return nil, err
		}
		if len(refs) > 0 {
			add(prose.Count(len(refs), "ref")+" with every record of this clone", func() error { return repo.DropRefs(s.ctx, refs) })
		}
	}
	s.removeFile(store, was, doc, add)
	s.removeOwn(repo, was, known || s.Bool("refs") && len(todo) > 0, add)
	return todo, nil
}

// recordRefs are the refs under which this clone keeps records.
func recordRefs(s *session, repo *gitstore.Repo) ([]string, error) {
	var names []string
	for _, prefix := range []string{"refs/runr/", "refs/runr-local/", "refs/runr-remotes/"} {
		refs, err := repo.Refs(s.ctx, prefix)
		if err != nil {
			return nil, err
		}
		for name := range refs {
			names = append(names, name)
		}
	}
	if notes, err := repo.Ref(s.ctx, record.NotesRef); err != nil {
		return nil, err
	} else if notes != "" {
		names = append(names, record.NotesRef)
	}
	slices.Sort(names)
	return names, nil
}

// removeFile takes out .runr.toml where init wrote it, and what was approved of it.
func (s *session) removeFile(store *record.Store, was before, doc *uninstallJSON, add func(string, func() error)) {
	conf, err := config.Read(s.ctx, store.Repo, s.getenv)
	if state := config.Untrusted; err == nil && conf.Executes() {
		if state, _ = conf.Trust(); state != config.Untrusted {
			add("the approval of "+config.FileName, conf.Revoke)
		}
	}
	path := filepath.Join(store.Repo.WorkTree, config.FileName)
	text, err := os.ReadFile(path)
	if store.Repo.WorkTree == "" || err != nil || was.Wrote == "" {
		return
	}
	head, err := store.Repo.Head(s.ctx)
	committed := false
	if err == nil {
		committed, _ = store.Repo.HasPath(s.ctx, head, config.FileName)
	}
	switch {
	case committed:
		doc.Left = append(doc.Left, path+": it is committed; git rm "+config.FileName)
	case sha(text) != was.Wrote:
		doc.Left = append(doc.Left, path+": it was changed since")
	default:
		add(path, func() error { return os.Remove(path) })
	}
}

// removeOwn takes out this clone's own directory and its id.
func (s *session) removeOwn(repo *gitstore.Repo, was before, whole bool, add func(string, func() error)) {
	if repo.Config.Get("runr.writer") != "" && !bytes.Contains(was.Config, []byte("writer")) {
		add("the id of this clone (runr.writer)", func() error { return repo.UnsetKey(s.ctx, "runr.writer") })
	}
	if whole {
		keep := []string{}
		if !s.Bool("refs") {
			for _, name := range []string{"drafts", "runs", "edit", "rewrites"} {
				if entries, _ := os.ReadDir(filepath.Join(repo.StateDir(), name)); len(entries) > 0 {
					keep = append(keep, name)
				}
			}
		}
		what := repo.StateDir()
		if len(keep) > 0 {
			what += ", but for " + strings.Join(keep, ", ")
		}
		add(what, func() error { return errors.Join(putConfigBack(repo, was), emptyOwn(repo, keep, was)) })
	}
}

// putConfigBack makes up for space that git left or added when it changed the file.
func putConfigBack(repo *gitstore.Repo, was before) error {
	path := filepath.Join(repo.CommonDir, "config")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || len(was.Config) == 0 {
		return err
	}
	now, err := os.ReadFile(path)
	if err != nil || bytes.Equal(now, was.Config) || said(now) != said(was.Config) {
		return err
	}
	return safefile.WriteExact(path, was.Config, info.Mode().Perm())
}

// said is what a file of git's configuration says: without empty lines and sections, which git
// may leave where a comment stands before them.
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

// emptyOwn removes this clone's own directory but for what is kept of it.
func emptyOwn(repo *gitstore.Repo, keep []string, was before) error {
	entries, err := os.ReadDir(repo.StateDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if !slices.Contains(keep, entry.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(repo.StateDir(), entry.Name())))
		}
	}
	if len(keep) == 0 && !was.State {
		err = errors.Join(err, os.Remove(repo.StateDir()))
	}
	os.Remove(filepath.Join(repo.CommonDir, "worktrees")) // git's own, which it leaves empty
	if !was.HooksDir {
		os.Remove(filepath.Join(repo.CommonDir, "hooks")) // one with something in it stays
	}
	return err
}
