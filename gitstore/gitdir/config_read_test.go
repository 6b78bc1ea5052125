package gitdir

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// configTexts maps texts of git configuration files to whether they are read without git.
var configTexts = map[string]bool{
	"": true, "\n\n": true, "# a\n;b\n": true, "[core]": true, "[a]\nb": true, "[a]\nb=": true,
	"[core]\n\tbare = false\n\tx\n": true, "[a]b=c\n[A \"B\"] B = C": true, "[a.B]\nc = d\n": true,
	"[a \t\"b\"]\nc=d\n": true,
	"[a]\nb = c d  e   # f\nc = g ; h\nd = \"i # j\" k\ne = \"  l \" \nf = m\t\n": true,
	"[a]\nb = \"\"\nc = x \"\" \nd = \"a\"b\"c\"\n":                               true,
	"[a]\nb = c\\\n d\\\\e\\tf\\ng\\\"h\\bi\nc = \"j \\\n k\"\nd = l \\\n\ne = m": true, "[a]\nb = \\\n": true,
	"[a \"b\\\"c\\\\d\\e\"]\nx = y\n": false, "[a \"\"]\nx = y\n": true, "[a-1]\nb-2 = ü ß\n": true, "[a]\n = b\n": false,
	"[a]\nb = c\nb = d\n[a]\nb = e\n": true, "[a]\nb == c\n": true, "  [a]   b = c [d]\n": true,
	"[a]\nb = c\td\n": false, "[a]\r\nb = c\r\n": false, "\ufeff[a]\nb = c\n": false, "[a]\nb = \"c\n": false,
	"[a]\nb = c\\d\n": false, "[a]\nb = c\\": false,
	"b = c\n": false, "[a\nb = c\n": false, "[a]\nb c\n": false, "[a]\nb # c\n": false, "[a]\n1b = c\n": false,
	"[a\"b\"]\nc = d\n":   false,
	"[a \"b\" ]\nc = d\n": false, "[a \"b\n\"]\nc = d\n": false, "[a \"b]\nc = d\n": false, "[a b]\nc = d\n": false,
	"[]\na = b\n": false, "[": false, "[a \"b\\": false,
}

// TestParseFileIsWhatGitLists compares the result for each text with git's.
func TestParseFileIsWhatGitLists(t *testing.T) {
	for text, want := range configTexts {
		if checkParse(t, text) != want {
			t.Errorf("%q: read without git: %t", text, !want)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	for text := range configTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkParse(t, text) })
}

// checkParse reports whether text is read without git. If so, the result must be what git lists.
func checkParse(t *testing.T, text string) bool {
	t.Helper()
	got := Config{}
	if !got.parseFile(text) {
		return false
	}
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "git", "config", "--no-includes", "--file", path, "--list", "-z").Output()
	if said := ParseConfig(string(out)); err != nil || !maps.EqualFunc(got, said, slices.Equal) {
		t.Errorf("%q is read as %q, and git lists %q (%v)", text, got, said, err)
	}
	return true
}

// TestOpenReadsConfigurationItself checks that an open repository has the configuration that git lists, and
// that git runs only if the files leave a doubt.
func TestOpenReadsConfigurationItself(t *testing.T) {
	write := func(path, text string) func(*testing.T, string) {
		return func(t *testing.T, top string) {
			path := strings.NewReplacer("TOP", top, "HOME", os.Getenv("HOME")).Replace(path)
			made(t, filepath.Dir(path))
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	set := func(key, value string) func(*testing.T, string) {
		return func(t *testing.T, top string) { t.Setenv(key, strings.Replace(value, "TOP", top, 1)) }
	}
	for name, c := range map[string]struct {
		prepare func(*testing.T, string)
		git     int // how often git runs
	}{
		"plain":                   {func(*testing.T, string) {}, 0},
		"the user's":              {write("HOME/.gitconfig", "[user]\n\tname = Ada\n[core]\n\tabbrev = 9\n"), 0},
		"the user's other":        {write("HOME/.config/git/config", "[user]\n\tname = Ada\n"), 0},
		"elsewhere":               {set("XDG_CONFIG_HOME", "TOP"), 0},
		"a file of one's own":     {set("GIT_CONFIG_GLOBAL", "TOP/.git/config"), 0},
		"none":                    {set("GIT_CONFIG_GLOBAL", os.DevNull), 0},
		"a file of the system's":  {set("GIT_CONFIG_SYSTEM", "TOP/.git/config"), 0},
		"no file of the system's": {set("GIT_CONFIG_NOSYSTEM", "1"), 0},
		"an empty name":           {set("GIT_CONFIG_GLOBAL", ""), 1},
		"odd":                     {set("GIT_CONFIG_NOSYSTEM", "yes"), 1},
		"included":                {write("HOME/.gitconfig", "[include]\n\tpath = more\n"), 1},
		"included on a branch":    {write("HOME/.gitconfig", "[includeIf \"onbranch:main\"]\n\tpath = more\n"), 1},
		"included here": {func(t *testing.T, top string) { run(t, top, "git", "config", "include.path", "more") },
			1},
		"of a worktree": {func(t *testing.T, top string) {
			run(t, top, "git", "config", "extensions.worktreeConfig", "true")
		}, 1},
		"not plain":               {write("HOME/.gitconfig", "[user]\n\tname = A\tB\n"), 1},
		"another format":          {func(t *testing.T, top string) { run(t, top, "git", "config", "core.bare", "off") }, 2},
		"a git that is not known": {otherGit, 1},
		"that, without a system": {func(t *testing.T, top string) {
			otherGit(t, top)
			t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
		}, 0},
		"a relative file of user's": {set("GIT_CONFIG_GLOBAL", "x"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if !isDistributed(gitProgram(t)) {
				t.Skip("the git of this machine is not known")
			}
			top := scratchRepo(t)
			t.Setenv("HOME", t.TempDir())
			for _, name := range []string{"XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"} {
				t.Setenv(name, "")
				os.Unsetenv(name)
			}
			c.prepare(t, top)
			trace := filepath.Join(t.TempDir(), "trace")
			t.Setenv("GIT_TRACE", trace)
			repo, err := OpenIn(t.Context(), Call{Dir: top, Bare: true})
			if err != nil {
				t.Fatal(err)
			}
			traced, _ := os.ReadFile(trace)
			if got := strings.Count(string(traced), "trace: built-in"); got != c.git {
				t.Errorf("git ran %d times, want %d:\n%s", got, c.git, traced)
			}
			out, err := Call{Dir: top, Bare: true, Args: []string{"config", "--list", "-z"}}.Run(t.Context())
			if said := ParseConfig(string(out)); err != nil || !maps.EqualFunc(repo.Config, said, slices.Equal) {
				t.Errorf("read %q, and git lists %q (%v)", repo.Config, said, err)
			}
		})
	}
}

func gitProgram(t *testing.T) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	return git
}

// otherGit puts a script on PATH that runs git with another system configuration file.
func otherGit(t *testing.T, top string) {
	bin := made(t, filepath.Join(t.TempDir(), "bin"))
	script := "#!/bin/sh\nGIT_CONFIG_SYSTEM='" + top + "/.git/config' exec '" + gitProgram(t) + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// TestSystemConfig checks that the git of this machine, if isDistributed knows it, reads systemConfig.
func TestSystemConfig(t *testing.T) {
	if !isDistributed(gitProgram(t)) {
		t.Skip("the git of this machine is not known")
	}
	cmd := exec.CommandContext(t.Context(), "git", "config", "--system", "--list", "--show-origin")
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=")
	out, _ := cmd.CombinedOutput()
	if !strings.Contains(string(out), systemConfig) {
		t.Errorf("git says of its system's file: %q", out)
	}
}
