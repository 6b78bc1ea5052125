package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-runr/gitstore"
	"git-runr/gitstore/safefile"
	"git-runr/loop/agent"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// watch is how an agent's turn is watched for what it does to the repository beside its
// own files; that of a check or a hook likewise, which runs what an agent wrote.
type watch struct {
	store    *record.Store
	progress Progress
	tree     *gitstore.Worktree
	own      []string // full names of branches that it may move
	dir      string   // for what changed files held
	while    string   // "implementer NAME worked"
	alone    bool     // nothing is said of refs that somebody else may have moved

	meanwhile *[]string // gets what is said of those, with the lines that put them back; nil: nothing does
}

// during has use started with the context of an agent's turn, and gives a failure where the
// agent tampered with the repository. The files are looked at before git is run again; when
// git is configured otherwise than before, it is not run again at all, and refs are read
// without it.
func (w watch) during(ctx context.Context, use func(context.Context) error) (*record.Failure, error) {
	guard, err := w.store.Repo.Guard(ctx, w.tree, w.own...)
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	err = use(agent.Traced(ctx, guard.Trace()))
	after := context.WithoutCancel(ctx) // also what an interrupted agent did
	if guard.Gone() {
		w.store.Repo.Stop()
		return nil, goneError{w.store.Repo.CommonDir, w.while}
	}
	found, stop, filesErr := w.files(after, guard.Files())
	if err = errors.Join(err, filesErr); stop {
		w.store.Repo.Stop()
		moved, refsErr := w.refs(after, guard)
		if errors.Is(refsErr, gitstore.ErrTampered) { // this git keeps refs in tables that it alone reads
			moved, refsErr = append(moved, tampering{what: "refs could not be compared"}), nil
		}
		failure := w.failure(append(found, moved...))
		return failure, errors.Join(err, refsErr, w.mark(guard.Files(), failure.Undo))
	}
	moved, refsErr := w.refs(after, guard)
	if err == nil {
		err = refsErr
	}
	return w.failure(append(found, moved...)), err
}

// goneError is for a repository that is there no more.
type goneError struct{ dir, while string }

func (e goneError) Error() string {
	return fmt.Sprintf("the repository in %s was removed or replaced while %s", e.dir, e.while)
}

func (goneError) Unwrap() error { return gitstore.ErrTampered }

// tampering is one thing that an agent changed, and the lines that put it back.
type tampering struct {
	what string
	undo []string
}

func (w watch) failure(found []tampering) *record.Failure {
	if len(found) == 0 {
		return nil
	}
	f := &record.Failure{Reason: record.ReasonTamperedRepo}
	var what []string
	for _, t := range found {
		what = append(what, t.what)
		for _, line := range t.undo {
			if line != "" && !slices.Contains(f.Undo, line) {
				f.Undo = append(f.Undo, line)
			}
		}
	}
	for _, line := range f.Undo {
		if w.alone { // nobody else shows it
			w.progress.Say("to put back what changed: " + line)
		}
	}
	f.Detail = fmt.Sprintf("while %s: %s", w.while, strings.Join(what, "; "))
	return f
}

// files tells the changes of hooks and configuration that are no person's everyday work.
// stop says that git is configured otherwise than before.
func (w watch) files(ctx context.Context, changes []gitstore.FileChange) (found []tampering, stop bool, err error) {
	var harmless []string
	nonce, err := newNonce()
	for n, c := range changes {
		name := w.name(c.Path)
		if c.Harmless(ctx) {
			harmless = append(harmless, name)
			continue
		}
		stop = stop || c.Configures
		found = append(found, w.putAside(filepath.Join(w.dir, "tampered", nonce), n, name, c))
	}
	if len(harmless) > 0 && !w.alone {
		w.progress.Say(fmt.Sprintf("%s changed while %s, in what it says of branches or submodules: was that you?", prose.Names(harmless), w.while))
	}
	return found, stop, err
}

// name is a guarded file as people know it.
func (w watch) name(path string) string {
	if rel, err := filepath.Rel(w.store.Repo.CommonDir, path); err == nil && filepath.IsLocal(rel) {
		return ".git/" + filepath.ToSlash(rel)
	}
	return path
}

// putAside keeps what a file held before and holds now, and says how it is put back.
func (w watch) putAside(dir string, n int, name string, c gitstore.FileChange) tampering {
	base := filepath.Join(dir, fmt.Sprintf("%d-%s", n+1, filepath.Base(c.Path)))
	what := name + " was changed"
	switch {
	case c.Was == nil:
		what = name + " was written"
	case c.Is == nil:
		what = name + " was removed"
	}
	if c.IsLink != c.WasLink && c.IsLink != "" {
		what = fmt.Sprintf("%s is a link to %s now", name, safetext.Line(c.IsLink))
	}
	for suffix, data := range map[string][]byte{".was": c.Was, ".is": c.Is} {
		if data == nil {
			continue
		}
		mode := c.Mode.Perm()
		if suffix == ".is" {
			mode = 0o600 // nobody runs it by mistake
		}
		if err := safefile.WriteFile(base+suffix, data, mode); err != nil {
			w.progress.Say(err.Error())
		}
	}
	return tampering{what, putFileBack(c, base+".was")}
}

// putFileBack are the commands that put a file back to what was has of it. What is there is
// removed first: cp and ln would write through a link.
func putFileBack(c gitstore.FileChange, was string) (lines []string) {
	add := func(argv ...string) { lines = append(lines, safetext.ShellLine(argv...)) }
	path := c.At
	if c.WasLink != "" && c.WasLink == c.IsLink {
		path = c.Real // it is what the link leads to
	}
	dir, err := os.Lstat(filepath.Dir(path))
	if err == nil && dir.Mode()&os.ModeSymlink != 0 { // what it leads to is not ours
		add("rm", "-f", filepath.Dir(path))
		err = os.ErrNotExist
	} else if c.Is != nil {
		add("rm", "-f", path)
	}
	if err != nil && c.Was != nil {
		add("mkdir", "-p", filepath.Dir(path))
	}
	switch {
	case c.Was == nil:
	case c.WasLink != "" && path == c.At:
		add("ln", "-s", c.WasLink, path)
	default:
		add("cp", "-p", was, path)
	}
	return lines
}

// refs tells what the agent did to refs, the stash and other HEADs, and says what somebody
// did meanwhile.
func (w watch) refs(ctx context.Context, guard *gitstore.Guard) (found []tampering, err error) {
	note := func(byAgent bool, t tampering) {
		switch {
		case byAgent:
			found = append(found, t)
		case !w.alone:
			w.asks(t)
		}
	}
	repo := w.store.Repo
	changes, err := guard.Refs(ctx)
	for _, c := range changes {
		t := tampering{movedText(c), []string{putBack(c, repo.SHA256())}}
		if c.ByAgent {
			if done, ownErr := repo.PutBackOwn(ctx, c); done || ownErr != nil {
				t.undo, err = nil, errors.Join(err, ownErr)
			}
		}
		err = errors.Join(err, w.keep(ctx, c.Old))
		note(c.ByAgent, t)
	}
	dropped, byAgent := guard.Dropped()
	for _, s := range dropped {
		err = errors.Join(err, w.keep(ctx, s.ID))
		what := fmt.Sprintf("%s of the stash was dropped (%s)", s.ID.Short(), safetext.Line(s.Message))
		note(byAgent, tampering{what, []string{safetext.ShellLine("git", "stash", "store", "-m", s.Message, string(s.ID))}})
	}
	for _, h := range guard.Heads(ctx) {
		note(h.ByAgent, tampering{fmt.Sprintf("HEAD of %s went from %s to %s", h.GitDir, short(h.Was), short(h.Is)), []string{putHeadBack(h)}})
	}
	return found, err
}

// asks says what somebody did meanwhile, who may have been the agent.
func (w watch) asks(t tampering) {
	w.progress.Say(fmt.Sprintf("%s while %s: was that you?", t.what, w.while))
	line := fmt.Sprintf("if not: %s", strings.Join(t.undo, "; "))
	w.progress.Say(line)
	if w.meanwhile != nil {
		*w.meanwhile = append(*w.meanwhile, t.what+"; "+line)
	}
}

// keep keeps a commit that a ref was moved from.
func (w watch) keep(ctx context.Context, id gitstore.ID) error {
	if id == "" || strings.HasPrefix(string(id), "ref:") || id == "?" {
		return nil
	}
	if err := w.store.Repo.KeepCommit(ctx, id); !errors.Is(err, gitstore.ErrTampered) {
		return err
	}
	return nil // gc does not take it for two weeks
}

func movedText(c gitstore.RefChange) string {
	name := safetext.Line(strings.TrimPrefix(c.Ref, "refs/heads/"))
	switch {
	case c.Old == "":
		return fmt.Sprintf("%s was made at %s", name, short(string(c.New)))
	case c.New == "":
		return fmt.Sprintf("%s was deleted, from %s", name, short(string(c.Old)))
	}
	return fmt.Sprintf("%s was moved from %s to %s", name, short(string(c.Old)), short(string(c.New)))
}

// putBack is the command that puts a ref back unless somebody moved it since.
func putBack(c gitstore.RefChange, sha256 bool) string {
	argv := []string{"git", "update-ref", c.Ref, string(c.Old), string(c.New)}
	if target, ok := strings.CutPrefix(string(c.Old), "ref: "); ok {
		return safetext.ShellLine("git", "symbolic-ref", c.Ref, target)
	}
	_, symbolic := strings.CutPrefix(string(c.New), "ref: ")
	switch {
	case symbolic && c.Old == "":
		argv = []string{"git", "symbolic-ref", "-d", c.Ref}
	case symbolic || c.New == "?":
		argv = []string{"git", "update-ref", "--no-deref", c.Ref, string(c.Old)}
	case c.Old == "":
		argv = []string{"git", "update-ref", "-d", c.Ref, string(c.New)}
	case c.New == "" && sha256:
		argv[4] = strings.Repeat("0", 64)
	case c.New == "":
		argv[4] = strings.Repeat("0", 40)
	}
	return safetext.ShellLine(argv...)
}

func putHeadBack(h gitstore.HeadChange) string {
	argv := []string{"git", "--git-dir=" + h.GitDir, "update-ref", "--no-deref", "HEAD", h.Was}
	if strings.HasPrefix(h.Was, "refs/") {
		argv = append(argv[:2:2], "symbolic-ref", "HEAD", h.Was)
	}
	return safetext.ShellLine(argv...)
}

// short is a branch or a commit as a ref says it, for people.
func short(says string) string {
	says = strings.TrimPrefix(says, "ref: ")
	if strings.HasPrefix(says, "refs/") {
		return safetext.Line(strings.TrimPrefix(says, "refs/heads/"))
	}
	return gitstore.ID(safetext.Line(says)).Short()
}

// tamperMark is what later processes are told of configuration that was changed while
// something ran that has to leave it alone.
type tamperMark struct {
	Files map[string]string `json:"files"` // to the hash of what was made of it, "" for nothing
	Undo  []string          `json:"undo"`
	While string            `json:"while,omitempty"`
}

func tamperPath(repo *gitstore.Repo) string { return filepath.Join(repo.StateDir(), "tampered.json") }

func contentHash(data []byte) string {
	if data == nil {
		return ""
	}
	return safefile.Hash(data)
}

// mark notes what git is not to be configured by: this process does not run it any more,
// and later ones do not either while it is so.
func (w watch) mark(changes []gitstore.FileChange, undo []string) error {
	mark := tamperMark{Files: map[string]string{}, Undo: undo, While: w.while}
	for _, c := range changes {
		if c.Configures {
			mark.Files[c.Path] = contentHash(gitstore.GuardedContent(c.Path))
		}
	}
	data, err := json.Marshal(mark)
	if err == nil {
		err = safefile.WriteFile(tamperPath(w.store.Repo), data, 0o666)
	}
	if err != nil {
		return fmt.Errorf("note what was tampered with: %w", err)
	}
	return nil
}

// TamperedError is for a repository whose configuration still is what was made of it while
// an agent, a check or a hook ran.
type TamperedError struct {
	Files []string
	While string   // it changed: "check NAME ran"
	Undo  []string // lines to type that put it back
	Mark  string   // file: without it the configuration counts
}

func (e *TamperedError) Error() string {
	return fmt.Sprintf("%s changed while %s, and nobody has looked at it: git is configured by it", prose.Names(e.Files), e.While)
}

func (e *TamperedError) Unwrap() error { return gitstore.ErrTampered }

// Accept is the line to type for configuration that is to stay as it is.
func (e *TamperedError) Accept() string {
	return safetext.ShellLine("rm", e.Mark)
}

// Untampered is a *TamperedError while configuration is what was made of it.
func Untampered(repo *gitstore.Repo) error {
	data, err := safefile.ReadFile(tamperPath(repo))
	if err != nil {
		return nil
	}
	var mark tamperMark
	_ = json.Unmarshal(data, &mark) // what cannot be read names nothing
	e := &TamperedError{Undo: mark.Undo, While: cmp.Or(mark.While, "an agent worked"), Mark: tamperPath(repo)}
	for _, path := range slices.Sorted(maps.Keys(mark.Files)) {
		if contentHash(gitstore.GuardedContent(path)) == mark.Files[path] {
			e.Files = append(e.Files, path)
		}
	}
	if len(e.Files) > 0 {
		return e
	}
	_ = os.Remove(e.Mark)
	return nil
}
