package app

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/complete"
	"github.com/git-runr/git-runr/gitstore/testneed"
)

// completing makes a repository with a review, and installs the completion scripts where the shells look for them. It
// returns the review's id.
func completing(t *testing.T) (dir, data, id string) {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, "config"), "XDG_DATA_HOME": filepath.Join(home, "data"),
		"XDG_CACHE_HOME":      filepath.Join(home, "cache"),
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_RUNR_ACTOR": "Ada", "CI": "1", "TERM": "xterm",
		"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_COMMITTER_NAME": "Ada",
		"GIT_COMMITTER_EMAIL": "ada@example.com",
	} {
		t.Setenv(name, value)
	}
	dir, data = filepath.Join(home, "repo"), filepath.Join(home, "data")
	for _, line := range []string{"git init -q -b main " + dir, "echo x >" + dir + "/x", "git -C " + dir + " add x",
		"git -C " + dir + " commit -qm 'fix: the \"title\"'", "git -C " + dir + " runr review --reviewer human --no-serve"} {
		if out, status := execLine(t, home, os.Environ(), line); status != 0 {
			t.Fatalf("%s: %d\n%s", line, status, out)
		}
	}
	id, _ = execLine(t, dir, os.Environ(), "git runr complete -- show 2 | cut -f1")
	if id = strings.TrimSpace(id); len(id) < 20 {
		t.Fatalf("no id: %q", id)
	}
	for from, to := range map[string]string{"bash.sh": "bash-completion/completions/git-runr", "zsh.sh": "zsh/_git-runr",
		"fish.fish": "fish/vendor_conf.d/git-runr.fish"} {
		text, err := complete.Scripts.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(data, to)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(data, to), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, data, id
}

// tabs maps lines that are typed before a tab to a word that the shell then offers; ID stands for the review's id.
var tabs = map[string]string{
	"git-runr inb":                          "inbox",
	"git-runr show 2":                       "ID",
	"git-runr review --reviewer buil":       "builtin",
	"git-runr review --reviewer=buil":       "builtin",
	"git-runr help trouble":                 "troubleshooting",
	"git-runr parse review some-f":          "some-file",
	"git runr inb":                          "inbox",
	"git runr show 2":                       "ID",
	"git runr review --reviewer buil":       "builtin",
	"git runr --no-co":                      "--no-color",
	"git runr inbox list --verdict pass_wi": "pass_with_notes",
}

// Every value that is offered for a flag appears in the flag's help.
func TestFlagValuesAreThoseOfHelp(t *testing.T) {
	seen := 0
	everyCommand(func(c *cli.Command, words ...string) {
		for _, f := range c.Flags {
			for _, value := range complete.FlagValues(f.Names()[0]) {
				if seen++; !strings.Contains(f.String(), value) {
					t.Errorf("%q: %s does not name %q", words, f.String(), value)
				}
			}
		}
	})
	if seen < 20 {
		t.Errorf("only %d values", seen)
	}
}

func writeFileAt(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCompletionInBash(t *testing.T) {
	testneed.Program(t, "bash")
	dir, data, id := completing(t)
	writeFileAt(t, dir, "some-file", "")
	for line, want := range tabs {
		if strings.HasPrefix(line, "git-runr ") {
			completesInBash(t, dir, `. "$1/bash-completion/completions/git-runr"; f=__git_runr_program; `, data, line,
				strings.ReplaceAll(want, "ID", id))
		}
	}
}

// If the library of completions is installed, git's own completion finds the script of git runr.
func TestCompletionOfGitInBash(t *testing.T) {
	const library, gits = "/usr/share/bash-completion/bash_completion", "/usr/share/bash-completion/completions/git"
	testneed.Program(t, "bash")
	testneed.File(t, library)
	testneed.File(t, gits)
	dir, data, id := completing(t)
	writeFileAt(t, dir, "some-file", "")
	for line, want := range tabs {
		if strings.HasPrefix(line, "git ") {
			completesInBash(t, dir, `. `+library+`; . `+gits+`; f=__git_wrap__git_main; `, data, line,
				strings.ReplaceAll(want, "ID", id))
		}
	}
}

// completesInBash checks that line is completed by want, after script has set f to the completing function.
func completesInBash(t *testing.T, dir, script, data, line, want string) {
	t.Helper()
	script += `COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=9 COMP_WORDS=(${2//=/ = }) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); $f git; printf '%s\n' "${COMPREPLY[@]}"`
	out, err := exec.Command("bash", "-c", `cd "$0"; `+script, dir, data, line).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%q: %v, %q, want %q", line, err, out, want)
	}
}

func TestCompletionInFish(t *testing.T) {
	testneed.Program(t, "fish")
	dir, _, id := completing(t)
	writeFileAt(t, dir, "some-file", "")
	for line, want := range tabs {
		// fish finds the script below XDG_DATA_HOME by itself
		cmd := exec.Command("fish", "-c", `cd $argv[1]; complete -C $argv[2]`, dir, line)
		out, err := cmd.CombinedOutput()
		offered, means, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
		if want == "ID" && !strings.Contains(means, `fix: the "title"`) {
			t.Errorf("%q: %q has no title", line, out)
		}
		_, offered, _ = strings.Cut("="+offered, "=")
		if want = strings.ReplaceAll(want, "ID", id); err != nil || !strings.HasSuffix(offered, want) {
			t.Errorf("%q: %v, %q, want %q", line, err, out, want)
		}
	}
}

func TestCompletionInZsh(t *testing.T) {
	testneed.Program(t, "zsh")
	dir, data, id := completing(t)
	writeFileAt(t, dir, "some-file", "")
	for line, want := range tabs {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		out, err := exec.CommandContext(ctx, "zsh", "-f", "-c", zshTyping, dir, data, line).CombinedOutput()
		cancel()
		want = "\r\n[" + line[:strings.LastIndexAny(line, " =")+1] + strings.ReplaceAll(want, "ID", id)
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v, no %q in %q", line, err, want, out)
		}
	}
}

// zshTyping types $2 and a tab into its own zsh, with the completions in $1/zsh, and prints the whole line.
const zshTyping = `cd $0; zmodload zsh/zpty; zpty z zsh -f -i
zpty -w z "stty cols 200; PS1='> '; unsetopt prompt_sp; fpath=($1/zsh \$fpath); autoload -Uz compinit; compinit -D -u; echo rea''dy"
zpty -r z out '*ready*'
zpty -w -n z "$2"$'\t\C-aprint -r -- "[\C-e]"; print e""nd\n'
zpty -r z out $'*\nend*'; print -r -- "$out"; zpty -d z`
