package hooks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
)

// State says whether git runs our hook, or why not.
type State string

const (
	Absent    State = "absent"    // nothing calls us; Install can change that
	Installed State = "installed" // git runs us, by our own block or a line added by hand
	Outdated  State = "outdated"  // our block is of another version or its program is gone; Install repairs it
	Foreign   State = "foreign"   // a file or directory that we must not change: add Snippet by hand
	Managed   State = "managed"   // a hook manager writes the file: add Snippet to its configuration
	Dead      State = "dead"      // a hook exists or was intended, and git would not run it
)

// Status is the state of one of our hooks in one repository.
type Status struct {
	Hook    string `json:"hook"`               // git's name of it: post-commit
	Path    string `json:"path"`               // the file that git looks for, absolute
	State   State  `json:"state"`              //
	Manager string `json:"manager,omitempty"`  // husky, lefthook, pre-commit, overcommit
	Detail  string `json:"detail,omitempty"`   // the reason and what to do, in one sentence
	Snippet string `json:"snippet,omitempty"`  // text to add by hand; "" if there is nothing to add
	Known   bool   `json:"expected,omitempty"` // it was installed before, or the configuration asks for it
	Fails   bool   `json:"fails,omitempty"`    // git would not run us, although it should or something prevents it
	Idle    bool   `json:"-"`                  // no commits are made in the repository
	Repair  string `json:"repair,omitempty"`   // the command that switches the hooks on again; "" if they are not off
	// Without lists other worktrees that have a hooks directory of their own, because of a relative core.hooksPath, and
	// no hook that calls us.
	Without []string `json:"worktrees_without,omitempty"`
}

// place is one hook in the place where git looks for it.
type place struct {
	Status
	file        file
	editable    bool     // Install may write the file
	untouchable bool     // the directory does not belong to this clone: not even Uninstall may write there
	by          *manager // the manager involved; nil: none
	works       bool     // git runs us, but the text is from another version
}

// look determines the state of a hook. The first matching rule decides: what belongs to others comes before what we may
// write.
func look(repo *gitstore.Repo, dir gitstore.HooksDir, hook string) (place, error) {
	p := place{Status: Status{Hook: hook, Path: filepath.Join(dir.Path, hook)}}
	if info, err := os.Stat(dir.Path); err == nil && !info.IsDir() {
		p.Path, p.untouchable = dir.Path, true
		p.State, p.Detail = Dead, fmt.Sprintf("hooks are switched off: core.hooksPath leads to %q, which is not a directory",
			dir.Path)
		if scope := dir.Scope; scope == "local" || scope == "global" || scope == "worktree" || scope == "system" {
			p.Repair = "git config --" + scope + " --unset-all core.hooksPath"
		}
		return p, nil
	}
	var err error
	if p.file, err = readFile(p.Path); err != nil {
		return p, fmt.Errorf("read: %w", err)
	}
	reason := notOurs(repo, dir)
	p.untouchable = reason != ""
	manager := findManager(repo, dir.Path, hook, p.file)
	p.by = manager
	_, block, _, damaged := cutBlock(p.file.text)
	switch {
	case manager != nil && manager.name == "husky": // the whole directory is the manager's
		p.managed(manager)
	case p.untouchable:
		p.foreign(reason)
	case block != "" && p.file.problem == nil:
		p.own(block)
	case manager != nil:
		p.managed(manager)
	case !p.file.exists:
		p.missing(repo)
	case p.file.whyDead(p.Path) != nil:
		p.dead(p.file.whyDead(p.Path))
	case p.file.problem != nil:
		p.foreign(fmt.Sprintf("%q is left alone: %v", p.Path, p.file.problem))
	case damaged != nil:
		p.foreign(fmt.Sprintf("%q is left alone: %v", p.Path, damaged))
	default:
		p.script()
	}
	return p, nil
}

// notOurs returns why we must not write in the directory, or "".
func notOurs(repo *gitstore.Repo, dir gitstore.HooksDir) string {
	if dir.Tracked {
		return fmt.Sprintf("%q is under version control", dir.Path)
	}
	if dir.Project {
		return fmt.Sprintf("%q is in the working tree, where a hook would be committed for everybody (it is not ignored)",
			dir.Path)
	}
	if dir.Scope == "global" || dir.Scope == "system" {
		return fmt.Sprintf("%q serves all repositories (core.hooksPath is set in the %s configuration)", dir.Path, dir.Scope)
	}
	real, err := filepath.EvalSymlinks(dir.Path)
	if dir.Scope != "" || err != nil || inside(real, repo.CommonDir) ||
		repo.WorkTree != "" && inside(real, repo.WorkTree) {
		return ""
	}
	return fmt.Sprintf("%q is a link to %q, which may serve other repositories", dir.Path, real)
}

func inside(path, dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) }

// calledByLine says that a file calls us, and not by our block.
const calledByLine = "called by a line that was added by hand"

// byHand sets the state of a hook that only a person can change: state if none of texts calls us, else a state that
// says whether git would run the file.
func (p *place) byHand(state State, detail, snippet string, texts ...string) {
	p.State, p.Detail, p.Snippet = state, detail, snippet
	at := slices.IndexFunc(texts, func(text string) bool { return calls(text, p.Hook) })
	if at < 0 {
		return
	}
	p.State, p.Detail, p.Snippet = Installed, calledByLine, ""
	if _, block, _, _ := cutBlock(texts[at]); calls(block, p.Hook) {
		p.Detail = "called by a block of git-runr"
	}
	if !p.file.exists {
		p.State, p.Detail = Dead, fmt.Sprintf("the call is configured, but %q is missing; type: %s", p.Path, p.installer())
	} else if err := p.file.whyDead(p.Path); err != nil {
		p.State, p.Detail = Dead, err.Error()
	}
}

// installer returns the command with which the manager writes its hooks.
func (p *place) installer() string {
	return cmp.Or(map[string]string{"": "git runr hooks install", "husky": "npx husky"}[p.Manager], p.Manager+" install")
}

func (p *place) foreign(reason string) {
	if !p.file.exists {
		reason += fmt.Sprintf("; %q can be an executable script with the text", p.Path)
	}
	text := shellText(p.Hook)
	if notShell(p.file.text) != nil {
		text = callText(p.Hook)
	}
	p.byHand(Foreign, reason, text, p.file.text)
}

func (p *place) managed(m *manager) {
	p.Manager = m.name
	p.byHand(Managed, m.where, m.snippet, m.texts()...)
}

// missing sets the state of a missing hook file. Our hook may still exist where git no longer looks.
func (p *place) missing(repo *gitstore.Repo) {
	p.State, p.editable = Absent, true
	old := filepath.Join(repo.CommonDir, "hooks", p.Hook)
	if old == p.Path {
		return
	}
	f, err := readFile(old)
	if _, block, _, _ := cutBlock(f.text); err == nil && block != "" {
		p.State = Dead
		p.Detail = fmt.Sprintf("git does not look at %q, because core.hooksPath points to %q", old, filepath.Dir(p.Path))
	}
}

// script sets the state of a shell script without our block.
func (p *place) script() {
	p.State, p.editable = Absent, true
	p.Detail = "a shell script is there; install adds a block to it"
	if calls(p.file.text, p.Hook) {
		p.State, p.editable, p.Detail = Installed, false, calledByLine
	}
}

// own sets the state of a file with our block.
func (p *place) own(text string) {
	if err := p.file.whyDead(p.Path); err != nil {
		p.dead(err)
		p.editable = p.file.ours()
		return
	}
	p.State, p.editable = Installed, true
	program, current := programOf(p.Hook, text)
	switch {
	case !current:
		p.State, p.works, p.Detail = Outdated, true, "the block was written by another version of git-runr, or changed"
	case !runnable(program) && !OnPath(os.Getenv("PATH"), "git-runr"):
		p.State, p.Detail = Outdated, fmt.Sprintf("%q is gone and git-runr is not on PATH, so the hook does nothing", program)
	}
}

// dead sets the state of a file that git would not run. Install does not make somebody's script executable: its owner
// may have disabled it.
func (p *place) dead(why error) {
	p.State, p.Detail = Dead, why.Error()
	if p.file.mode&0o111 == 0 {
		p.Detail += "; make it executable or remove it"
	}
}

// maxScript is the maximum size of a script in bytes.
const maxScript = 1 << 20

// file is a hook file as found.
type file struct {
	exists  bool
	text    string // of the target of a symbolic link; "" if it was not read
	mode    fs.FileMode
	problem error // why it must not be rewritten, or nil
}

// readFile reads a hook file. It returns an error only if the file exists and cannot be read.
func readFile(path string) (file, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, nil
	}
	if err != nil {
		return file{}, err
	}
	f := file{exists: true, mode: info.Mode().Perm()}
	if info.Mode().Type() == fs.ModeSymlink {
		f.problem = errors.New("it is a symbolic link")
		if info, err = os.Stat(path); err != nil {
			f.problem = errors.New("it is a symbolic link that leads nowhere")
			return f, nil
		}
		f.mode = info.Mode().Perm()
	}
	if !info.Mode().IsRegular() || info.Size() > maxScript {
		f.problem = errors.New("it is not a script")
		return f, nil
	}
	data, err := os.ReadFile(path)
	f.text = string(data)
	f.problem = cmp.Or(f.problem, notShell(f.text))
	return f, err
}

// whyDead returns why git skips the file, or nil.
func (f file) whyDead(path string) error {
	if f.mode&0o111 == 0 {
		return fmt.Errorf("%q is not executable, so git skips it", path)
	}
	interpreter, _ := interpreter(f.text)
	if interpreter == "" {
		return nil
	}
	if _, err := os.Stat(interpreter); err != nil {
		return fmt.Errorf("%q asks for the interpreter %q, which does not exist", path, interpreter)
	}
	return nil
}

// ours reports whether the file contains only what we wrote.
func (f file) ours() bool {
	rest, err := withoutBlock(f.text)
	return err == nil && rest == skeleton && rest != f.text
}

// OnPath reports whether a shell with this PATH would find a program called name.
func OnPath(path, name string) bool {
	return slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool {
		return filepath.IsAbs(dir) && runnable(filepath.Join(dir, name))
	})
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
