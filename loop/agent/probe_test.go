//go:build unix

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tool writes a program that answers --help with help, counts the requests for it, and
// otherwise behaves like codex.
func tool(t *testing.T, dir, help string) {
	t.Helper()
	script := "#!/bin/sh\nfor a; do if [ \"$a\" = --help ]; then echo \"$0 $*\" >>'" + dir + "/asked'; cat <<'END'\n" +
		help + "\nEND\nexit 0; fi; done\n" +
		"cat >/dev/null; echo called >>'" + dir + "/called'\ncat <<'END'\n" + codexFine + "END\n"
	if err := os.WriteFile(filepath.Join(dir, "codex.new"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "codex.new"), filepath.Join(dir, "codex")); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, file string) int {
	t.Helper()
	data, _ := os.ReadFile(file)
	return strings.Count(string(data), "\n")
}

// A hardening option that the tool no longer has stops the call with the option's name. The help
// is read once per version of the tool.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache")
	call := func(role Role) error {
		_, _, err := Call(t.Context(), Spec{Name: "codex"},
			Ask{Role: role, Dir: t.TempDir(), Base: []string{"PATH=" + dir + ":" + os.Getenv("PATH")}},
			CallOptions{Cache: cache})
		return err
	}
	tool(t, dir, "Usage: codex exec\n  -c, --config <key=value>\n  -s, --sandbox <MODE>")
	for range 3 {
		if err := call(Reviewer); err != nil {
			t.Fatal(err)
		}
	}
	if asked, called := count(t, dir+"/asked"), count(t, dir+"/called"); asked != 1 || called != 3 {
		t.Errorf("asked %d times, called %d times", asked, called)
	}
	if said, _ := os.ReadFile(dir + "/asked"); !strings.HasSuffix(strings.TrimSpace(string(said)), "/codex exec --help") {
		t.Errorf("asked with %q", said)
	}
	tool(t, dir, "Usage: codex exec\n  -c, --config <key=value>\n      --sandboxing <MODE>   (was: --sandbox-mode)")
	err := call(Reviewer)
	if err == nil || !strings.Contains(err.Error(), "unknown option --sandbox") {
		t.Errorf("%v", err)
	}
	if err := call(Implementer); err == nil {
		t.Error("an implementer is not kept in its sandbox")
	}
	if asked, called := count(t, dir+"/asked"), count(t, dir+"/called"); asked != 2 || called != 3 {
		t.Errorf("asked %d times, called %d times", asked, called)
	}
	tool(t, dir, "no help today")
	if err := call(Reviewer); err != nil {
		t.Errorf("a help that names none of the flags says nothing: %v", err)
	}
}

// The help is not read if another program starts the tool, or without a cache.
func TestProbeNot(t *testing.T) {
	dir := t.TempDir()
	tool(t, dir, "  -c")
	for _, tc := range []struct {
		spec  Spec
		cache string
	}{
		{Spec{Name: "codex"}, ""},
		{Spec{Name: "codex", Preset: "codex", Command: []string{dir + "/codex", "x"}}, dir + "/cache"},
		{Spec{Name: "mine", Command: []string{"codex"}}, dir + "/cache"},
	} {
		_, _, err := Call(t.Context(), tc.spec,
			Ask{Role: Reviewer, Dir: t.TempDir(), Base: []string{"PATH=" + dir + ":" + os.Getenv("PATH")}},
			CallOptions{Cache: tc.cache})
		if err != nil || fileExists(dir+"/asked") {
			t.Errorf("%+v: %v", tc.spec, err)
		}
	}
}

func TestFlagsIn(t *testing.T) {
	help := "  -m, --model <M>  (alias: --llm)\n--no-skills, -ns  no\n[--json] |--tools| `--mode`\n" +
		"a-b --x=1 see https://x/--no"
	if got := strings.Join(flagsIn(help), " "); got != "--json --llm --mode --model --no-skills --tools --x -m -ns" {
		t.Errorf("%q", got)
	}
}
