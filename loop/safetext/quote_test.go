package safetext

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/testneed"
)

func TestShellWord(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "''"},
		{"HEAD~1", "'HEAD~1'"},
		{"20261121030405-ab12", "20261121030405-ab12"},
		{"--note", "--note"},
		{"src/a_b.go:12,+3@x=y%", "src/a_b.go:12,+3@x=y%"},
		{"it's", `'it'\''s'`},
		{`a\b`, `'a'\\'b'`},
		{`\'`, `\\\'`},
		{"=ls", "'=ls'"},
		{"%self", "'%self'"},
		{"a b", `"a b"`},
		{"naïve", "'naïve'"},
	}
	for _, tt := range tests {
		got, ok := ShellWord(tt.in)
		if !ok || got != tt.want {
			t.Errorf("ShellWord(%q) = %q, %v, want %q", tt.in, got, ok, tt.want)
		}
	}
}

func TestShellWordRefuses(t *testing.T) {
	for _, in := range []string{"a\nb", "a\tb", "a\x1ab", "\x15rm", "\x00", "\x7f", "\u202e", "a\u200bb", "\u0085", "\xff",
		"\r\n"} {
		if got, ok := ShellWord(in); ok {
			t.Errorf("ShellWord(%q) = %q, want a refusal", in, got)
		}
		if _, ok := CommandLine("git", "runr", "show", in); ok {
			t.Errorf("CommandLine offers %q", in)
		}
	}
}

func TestShellLine(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want string
	}{
		{"/a b/c", `cp "/a b/c"`},
		{"/a\nb/\x1b[2J%s'\\é", `cp "$(printf '/a\012b/\033\1332J\045s\047\134\303\251')"`},
		{"-e\x01", `cp "$(printf '\055e\001')"`},
	} {
		got := ShellLine("cp", tt.in)
		if got != tt.want || Line(got) != got {
			t.Errorf("ShellLine(%q) = %q, want %q", tt.in, got, tt.want)
		}
		sh, err := exec.LookPath("sh")
		if err != nil {
			continue
		}
		if read, err := exec.Command(sh, "-c", "cp() { printf %s \"$1\"; }; "+got).Output(); err != nil ||
			string(read) != tt.in {
			t.Errorf("sh reads %q from %q, %v", read, got, err)
		}
	}
}

func TestPortableCommand(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"npm run typecheck", "npm run typecheck"},
		{"npm test -- --coverage", "npm test -- --coverage"},
		{"sh typecheck.sh", "sh typecheck.sh"},
		{"npm ci && npm test", "sh -c 'npm ci && npm test'"},
		{"go test ./... | tee x", "sh -c 'go test ./... | tee x'"},
		{"CI=1 make test", `sh -c "CI=1 make test"`},
		{"cd web", `sh -c "cd web"`},
		{"exit 1", `sh -c "exit 1"`},
		{"make =x", `sh -c "make =x"`},
		{"grep 'a b' $FILE", `sh -c 'grep '\''a b'\'' $FILE'`},
		{"", ""}, {"  ", ""}, {"make\ntest", ""}, {"make\ttest", ""}, {"make \u202etest", ""}, {"make\xff", ""},
		{"make\x1b", ""},
	} {
		got, ok := PortableCommand(tt.in)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("PortableCommand(%q) = %q, %v, want %q", tt.in, got, ok, tt.want)
		}
	}
}

// TestShellsRunPortableCommands: each line has the same effect in every shell as its text in sh,
// and the shell continues after it.
func TestShellsRunPortableCommands(t *testing.T) {
	commands := []string{
		"printf %s, a b", "printf 'a b|'", "X=1 && printf $X", "printf a && printf b", "printf `echo c`", "false || printf d",
		`printf '%s|' "it's" \$HOME '!!' {a,b} =x`, "exit 3", "cd / && printf here", "X=5 sh -c 'printf $X'",
		"set -- q && printf $1",
		"for i in 1 2; do printf $i; done", "printf %%1", "test -d /",
	}
	var script, inSh strings.Builder
	for _, c := range commands {
		line, ok := PortableCommand(c)
		if !ok {
			t.Fatalf("refuses %q", c)
		}
		script.WriteString(line + "\nprintf ';'\n")
		inSh.WriteString("(" + c + ")\nprintf ';'\n")
	}
	want := runShell(t, "sh", []string{"-s"}, inSh.String())
	for name, args := range shells(t) {
		t.Run(name, func(t *testing.T) {
			if got := runShell(t, name, args, script.String()); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestCommandLine(t *testing.T) {
	got, ok := CommandLine("git", "runr", "intervene", "2026-x", "--note", "don't $(reboot)")
	if want := `git runr intervene 2026-x --note 'don'\''t $(reboot)'`; !ok || got != want {
		t.Errorf("got %q, %v, want %q", got, ok, want)
	}
	if got, _ := CommandLine("A=b", "c=d"); got != "'A=b' c=d" {
		t.Errorf("first word stays an assignment: %q", got)
	}
	if _, ok := CommandLine(); ok {
		t.Error("an empty command is offered")
	}
}

// hostileArgs are words that some shell would expand if unquoted.
var hostileArgs = []string{
	"", " ", "-n", "--", "~", "~root/x", "=ls", "=", "a=~", "!history", "!!", "a!b", "it's !x", `\!x`,
	"{a,b}", "{1..3}", "$HOME", "$(echo x)", "`echo x`", "${x}", "*", "?", "[a-z]*", "**/*.go", "^x", "x^y", "#x", "a#b",
	"a;b", "a|b", "a&b", "a&&b", "<in", ">out", "(x)", "()", "\"", "\"a b\"", "'", "''", "'''", "a'b", "\\", `\\`, `\\\`,
	`\'`, `'\`, `\n`, `a\ b`,
	`end\`, `'\''`, "%self", "%1", "@x", "+x", ":x", ",x", "a,b", "naïve", "漢 字", "a\u00a0b", "⚠\ufe0f", "if", "-", ".",
	"..",
	"npm test -- --coverage", "a  b ", "=ls x", "%1 x", "a=b c", "Fixed a, b and c-d/e.f:1 @g +h 5%", "don't stop",
	"say \"a b\"",
}

// shells returns the installed shells, with the options for reading a script from standard input
// without the user's start-up files.
func shells(t testing.TB) map[string][]string {
	all := map[string][]string{
		"sh": {"-s"}, "dash": {"-s"}, "bash": {"--norc", "--noprofile", "-s"},
		"zsh": {"-f", "-s"}, "fish": {"--no-config"}, "busybox": {"sh", "-s"},
	}
	for name := range all {
		if _, ok := testneed.Look(t, name); !ok {
			delete(all, name)
		}
	}
	return all
}

func runShell(t testing.TB, name string, args []string, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "LC_ALL=C.UTF-8", "HISTFILE=/dev/null"}
	cmd.Stdin = strings.NewReader(script)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, said.String())
	}
	return string(out)
}

// printScript prints each word followed by "|", so that splitting shows.
func printScript(t testing.TB, words []string) string {
	var b strings.Builder
	for _, w := range words {
		word, ok := ShellWord(w)
		if !ok {
			t.Fatalf("ShellWord refuses %q", w)
		}
		b.WriteString("printf '%s|' " + word + " end\n")
	}
	return b.String()
}

func wantPrinted(words []string) string {
	return strings.Join(words, "|end|") + "|end|"
}

func TestShellsReadWhatWasQuoted(t *testing.T) {
	for name, args := range shells(t) {
		t.Run(name, func(t *testing.T) {
			got := runShell(t, name, args, printScript(t, hostileArgs))
			if want := wantPrinted(hostileArgs); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// An interactive bash expands !words before it parses quotes, which affects pasted commands.
func TestInteractiveBashExpandsNoHistory(t *testing.T) {
	testneed.Program(t, "bash")
	script := "set -o history\nset -H\necho !!-works\n" + printScript(t, hostileArgs) + "exit 0\n"
	got := runShell(t, "bash", []string{"--norc", "--noprofile", "-i"}, script)
	shown, printed, _ := strings.Cut(got, "\n")
	if shown == "!!-works" {
		t.Skip("this bash does not expand history from standard input")
	}
	if want := wantPrinted(hostileArgs); printed != want {
		t.Errorf("got  %q\nwant %q", printed, want)
	}
}

func FuzzShellWord(f *testing.F) {
	for _, s := range hostileArgs {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		word, ok := ShellWord(s)
		if !ok {
			if Line(s) == s {
				t.Errorf("refuses %q", s)
			}
			return
		}
		if strings.ContainsAny(word, "\n\r\x00") {
			t.Fatalf("more than a line: %q", word)
		}
		for _, name := range []string{"dash", "bash"} {
			if args, has := shells(t)[name]; has {
				if got := runShell(t, name, args, printScript(t, []string{s})); got != wantPrinted([]string{s}) {
					t.Errorf("%s reads %q as %q", name, s, got)
				}
			}
		}
	})
}
