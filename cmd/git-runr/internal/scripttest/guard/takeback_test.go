package guard

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/testtmp"
)

// takeBack is a change that an agent makes to a person's files. After the attempt is reverted, every byte, link and
// mode is as before, except for the named paths. An undo restores the agent's state, and a second undo the state
// before it.
type takeBack struct {
	name     string
	prepare  string // what the person has
	attempt  string // what the agent does
	named    []string
	worktree bool // also in the run's own worktree, where an earlier attempt made what prepare makes
}

const crlf = `git config core.autocrlf true; printf 'one\r\ntwo\n' >crlf.txt; git add crlf.txt 2>/dev/null`

var takeBacks = []takeBack{
	{name: "new file", attempt: "mkdir -p n/e; echo n >n/e/new", worktree: true},
	{name: "modified", attempt: "echo agent >a.txt", worktree: true},
	{name: "over an edit", prepare: "echo mine >a.txt", attempt: "echo agent >>a.txt", worktree: true},
	{name: "over staged and unstaged", prepare: "echo staged >a.txt; git add a.txt; echo unstaged >a.txt",
		attempt: "echo agent >a.txt; git add a.txt", worktree: true},
	{name: "staged by the agent", prepare: "echo mine >a.txt", attempt: "git add a.txt", worktree: true},
	{name: "unstaged by the agent", prepare: "echo mine >a.txt; git add a.txt", attempt: "git reset -q", worktree: true},
	{name: "untracked overwritten", prepare: "echo mine >u", attempt: "echo agent >u", worktree: true},
	{name: "untracked deleted", prepare: "mkdir ud; echo mine >ud/u", attempt: "rm -r ud", worktree: true},
	{name: "tracked deleted", attempt: "rm a.txt d/b.txt", worktree: true},
	{name: "git rm", attempt: "git rm -q a.txt d/b.txt", worktree: true},
	{name: "git mv", attempt: "git mv a.txt moved.txt; git mv d dd", worktree: true},
	{name: "mv", attempt: "mv d dd; mv a.txt dd/", worktree: true},
	{name: "file to directory", attempt: "rm a.txt; mkdir a.txt; echo x >a.txt/x", worktree: true},
	{name: "directory to file", attempt: "rm -r d; echo x >d", worktree: true},
	{name: "directory to link", prepare: "mkdir to; echo t >to/b.txt", attempt: "rm -r d; ln -s to d", worktree: true},
	{name: "link changed", prepare: "ln -s a.txt l; ln -s /no/where m", attempt: "ln -sf d/b.txt l; rm m; echo file >m",
		worktree: true},
	{name: "file to link", attempt: "rm a.txt; ln -s d/b.txt a.txt", worktree: true},
	{name: "executable bit", prepare: "echo x >x; chmod +x x", attempt: "chmod -x x; chmod +x a.txt", worktree: true},
	{name: "odd names",
		prepare: `printf x >'a b'; printf x >"$(printf 'n\nl')"; printf x >"$(printf '\377')"; printf x >':(top)q'; printf x >--`,
		attempt: `printf y >'a b'; rm -- "$(printf 'n\nl')"; printf y >"$(printf '\377')"; printf y >':(top)q'; printf y >--; printf y >'*'`, worktree: true},
	{name: "line ends", prepare: crlf, attempt: `printf 'x\n' >crlf.txt`},
	{name: "lossy filter",
		prepare: `git config filter.drop.clean 'grep -v secret'; echo '*.nb filter=drop' >.gitattributes; printf 'a\nsecret\n' >x.nb; git add -A`, attempt: "echo b >x.nb"},
	{name: "intent to add", prepare: "echo n >n; git add -N n", attempt: "echo agent >n; git add n", worktree: true},
	{name: "hidden by an ignore rule", prepare: "echo mine >data.csv",
		attempt: "echo agent >data.csv; echo '*.csv' >>.gitignore", worktree: true},
	{name: "case of a file", prepare: "git config core.ignoreCase true", attempt: "mv a.txt A.txt", worktree: true},
	{name: "case of a directory", prepare: "git config core.ignoreCase true", attempt: "mv d D", worktree: true},
	{name: "mode of a file", prepare: "chmod 600 a.txt", attempt: "echo agent >a.txt; chmod 644 a.txt", worktree: true},
	{name: "mode of a file that is gone", prepare: "chmod 600 a.txt", attempt: "rm a.txt", worktree: true},
	{name: "mode of a file that is replaced", prepare: "chmod 600 a.txt", attempt: "echo agent >t; mv t a.txt",
		worktree: true},
	{name: "mode alone", prepare: "chmod 600 a.txt", attempt: "chmod 644 a.txt; chmod 640 d/b.txt", worktree: true},
	{name: "modes of all", prepare: "chmod 640 d/b.txt", attempt: "chmod -R go-rwx .", worktree: true},
	{name: "mode of a directory", prepare: "chmod 700 d", attempt: "rm -r d", worktree: true},
	{name: "mode that git is told not to look at", prepare: "git config core.fileMode false; chmod 600 a.txt",
		attempt: "chmod 755 a.txt"},
	{name: "empty directory", prepare: "mkdir -m 700 empty kept", attempt: "rmdir empty; echo x >kept/x", worktree: true},
	{name: "ignored overwritten", prepare: "echo 'mine, and ignored' >x.ign; chmod 600 x.ign",
		attempt: "echo agent >x.ign", named: []string{"x.ign"}},
	{name: "ignored replaced", prepare: "echo 'mine, and ignored' >x.ign; chmod 600 x.ign",
		attempt: "echo agent >t; mv t x.ign", named: []string{"x.ign"}},
	{name: "ignored deleted", prepare: "echo 'mine, and ignored' >x.ign; mkdir ign; echo mine >ign/y",
		attempt: "rm -r x.ign ign", named: []string{"x.ign", "ign/y"}},
	{name: "ignored mode", prepare: "echo 'mine, and ignored' >x.ign; chmod 600 x.ign", attempt: "chmod 644 x.ign",
		named: []string{"x.ign"}},
	{name: "ignored link", prepare: "ln -s a.txt x.ign", attempt: "ln -sf d x.ign", named: []string{"x.ign"}},
	{name: "ignored and no longer", prepare: "echo 'mine, and ignored' >x.ign; mkdir ign; echo mine >ign/y",
		attempt: ": >.gitignore", worktree: true},
	{name: "ignored and no longer, and changed", prepare: "echo 'mine, and ignored' >x.ign; mkdir ign; echo mine >ign/y",
		attempt: ": >.gitignore; echo agent >x.ign; rm ign/y", named: []string{"x.ign", "ign/y"}},
	{name: "git clean", prepare: "echo 'mine, and ignored' >x.ign; mkdir ign; echo mine >ign/y; echo mine >u",
		attempt: "git clean -qfdx", named: []string{"x.ign", "ign/y", "u"}},
	{name: "ignored and beyond what is kept", prepare: big, attempt: "echo agent >big.ign", named: []string{"big.ign"}},
	{name: "beyond what is kept, and no longer ignored", prepare: big, attempt: ": >.gitignore"},
	{name: "nested repository", prepare: nested, attempt: "echo agent >sub/f", named: []string{"sub/"}},
	{name: "nested repository that is none any more", prepare: nested, attempt: "rm -rf sub/.git", named: []string{"sub"}},
	{name: "nested repository deleted", prepare: nested, attempt: "rm -rf sub", named: []string{"sub/"}},
	{name: "pipe deleted", prepare: "mkfifo pipe", attempt: "rm pipe", named: []string{"pipe"}},
	{name: "pipe replaced", prepare: "mkfifo pipe", attempt: "rm pipe; echo agent >pipe", named: []string{"pipe"}},
	{name: "skip-worktree", prepare: "git update-index --skip-worktree a.txt; echo mine >a.txt",
		attempt: "echo agent >a.txt"},
}

const (
	big    = "git config runr.loop.keepIgnored 1000; head -c 2000 /dev/zero >big.ign; echo 'mine, and ignored' >x.ign"
	nested = "git init -q sub; echo mine >sub/f; git -C sub add f; git -C sub commit -qm sub; echo dirty >sub/f; echo " +
		"new >sub/n"
)

func TestTakenBackInPlace(t *testing.T) {
	for i, c := range takeBacks {
		t.Run(c.name, func(t *testing.T) {
			oneOfThree(t, i)
			t.Parallel()
			s := newTakeScene(t, c, c.attempt)
			s.sh(c.prepare)
			before := s.state(s.repo)
			s.runr("run", "--in-place", "../task.md")
			said := s.said + s.runr("show")
			after := s.state(s.repo)
			s.same("taken back", after, before, c.named)
			for _, name := range c.named {
				if !strings.Contains(said, name) {
					t.Errorf("%s is not named", name)
				}
			}
			s.runr("undo")
			undone := s.files(s.repo)
			if c.name == "empty directory" { // the undo leaves an empty directory
				delete(undone, "empty")
			}
			s.same("undone", undone, s.files(filepath.Join(s.root, "left")), c.named)
			s.runr("undo")
			s.same("undone again", s.state(s.repo), after, nil)
			if t.Failed() {
				t.Log(said)
			}
			out, _ := exec.Command("sh", "-c", "cd '"+s.repo+
				"' && git rev-list --objects --all | cut -d' ' -f1 | git cat-file --batch").Output()
			if strings.Contains(string(out), "mine, and ignored") {
				t.Error("an ignored file is among git's objects")
			}
		})
	}
}

// oneOfThree skips two of three cases where the long form is not asked for.
func oneOfThree(t *testing.T, i int) {
	if i%3 != 0 && !testtmp.Long() {
		t.Skip("one of three, without " + testtmp.LongVar)
	}
}

func TestTakenBackInWorktree(t *testing.T) {
	for i, c := range takeBacks {
		if !c.worktree {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			oneOfThree(t, i+1)
			t.Parallel()
			s := newTakeScene(t, c, `case $(cat "$ROOT/turn") in 1) `+c.prepare+"\n;; 2) "+c.attempt+"\n;; esac")
			before := s.state(s.repo)
			s.runr("run", "../task.md")
			s.same("the checkout", s.state(s.repo), before, nil)
			if t.Failed() || !exists(filepath.Join(s.root, "found-3")) {
				t.Fatal(s.said)
			}
			s.same("the run's working tree", s.files(filepath.Join(s.root, "found-3")),
				s.files(filepath.Join(s.root, "found-2")), nil)
			if t.Failed() {
				t.Log(s.said)
			}
		})
	}
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

type takeScene struct {
	t          *testing.T
	root, repo string
	env        []string
	said       string
}

func newTakeScene(t *testing.T, c takeBack, attempt string) *takeScene {
	root := t.TempDir()
	s := &takeScene{t: t, root: root, repo: filepath.Join(root, "r")}
	s.env = append(os.Environ(), "HOME="+root, "XDG_CONFIG_HOME="+root+"/config", "XDG_STATE_HOME="+root+"/state",
		"XDG_CACHE_HOME="+root+"/cache",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+root+"/gitconfig", "NO_COLOR=1", "ROOT="+root)
	verdicts := "critical pass pass"
	if c.worktree && strings.HasPrefix(attempt, "case") {
		verdicts = "warning critical pass"
	}
	finding := func(verdict, severity string) string {
		return fmt.Sprintf(
			"### Verdict: %s\n### Findings\n- **Severity:** %s\n- **File:Line:** work.txt:1\n- **Issue:** Bad\n"+
				"- **Fix:** Good\n", verdict, severity)
	}
	for name, text := range map[string]string{
		"gitconfig": "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n[maintenance]\n" +
			"\tauto = false\n",
		"task.md": "# A task\n", "turn": "0", "rounds": verdicts,
		"pass": "### Verdict: PASS\n", "critical": finding("CRITICAL", "Critical"),
		"warning": finding("NEEDS_FIX", "Warning"),
		"agent.sh": `cat >/dev/null; ROOT='` + root +
			`'; n=$(($(cat "$ROOT/turn")+1)); echo $n >"$ROOT/turn"; cp -a . "$ROOT/found-$n"
if test -e "$ROOT/inplace" && test $n -gt 1; then exit 0; fi
` + attempt + "\necho $n >work.txt; rm -rf \"$ROOT/left\"; cp -a . \"$ROOT/left\"\n",
		"rev.sh": `cat >/dev/null; cd '` + root + `'; set -- $(cat rounds); cat $1; shift; echo "$@" >rounds`,
		"config/git-runr/config.toml": "[loop]\nimplementer = \"impl\"\nreviewer = \"rev\"\n[agents.impl]\n" +
			"command = [\"sh\", \"" + root + "/agent.sh\"]\n" +
			"[agents.rev]\ncommand = [\"sh\", \"" + root + "/rev.sh\"]\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if verdicts == "critical pass pass" {
		os.WriteFile(filepath.Join(root, "inplace"), nil, 0o644)
	}
	if err := os.Mkdir(s.repo, 0o755); err != nil {
		t.Fatal(err)
	}
	s.sh("git init -q; printf 'one\\n' >a.txt; mkdir d; echo b >d/b.txt; printf '*.ign\\nign/\\n' >.gitignore; git add " +
		".; git commit -qm first")
	return s
}

func (s *takeScene) command(name string, argv ...string) string {
	s.t.Helper()
	cmd := exec.Command(name, argv...)
	cmd.Dir, cmd.Env = s.repo, s.env
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return string(out)
}

func (s *takeScene) sh(script string) {
	s.t.Helper()
	if out := s.command("sh", "-ec", "umask 022; "+script); out != "" {
		s.t.Fatal(out)
	}
}

func (s *takeScene) runr(argv ...string) string {
	s.t.Helper()
	out := s.command("git-runr", argv...)
	s.said += "$ " + strings.Join(argv, " ") + "\n" + out
	return out
}

// files returns the files, links, pipes and directories below a directory with their modes, without git's own.
func (s *takeScene) files(dir string) map[string]string {
	s.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if e.Name() == ".git" {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := e.Info()
		if err != nil || name == "." {
			return err
		}
		what := info.Mode().String() + " "
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			what += to
		case info.Mode().IsRegular():
			data, _ := os.ReadFile(path)
			what += string(data)
		}
		found[name] = what
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// state returns files, the index and the position of HEAD.
func (s *takeScene) state(dir string) map[string]string {
	found := s.files(dir)
	found[" index"] = s.command("git", "ls-files", "-s", "-v")
	found[" HEAD"] = s.command("git", "rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
	return found
}

// same checks that got and want are equal, except at the named paths and below them.
func (s *takeScene) same(when string, got, want map[string]string, named []string) {
	s.t.Helper()
	paths := maps.Clone(got)
	maps.Copy(paths, want)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		lost := slices.ContainsFunc(s.notKept(named), func(name string) bool {
			return path == strings.TrimSuffix(name, "/") || strings.HasPrefix(path, strings.TrimSuffix(name, "/")+"/")
		})
		if got[path] != want[path] && !lost {
			s.t.Errorf("%s: %q is %q, want %q", when, path, got[path], want[path])
		}
	}
}

// notKept returns the named paths that the program reported as changed and not kept. Only these may differ.
func (s *takeScene) notKept(named []string) []string {
	return slices.DeleteFunc(slices.Clone(named), func(name string) bool {
		return !slices.ContainsFunc(strings.Split(s.said, "\n"), func(line string) bool {
			return strings.Contains(line, "meanwhile, and not kept") && strings.Contains(line, name)
		})
	})
}
