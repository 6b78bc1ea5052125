package proctest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/app"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/shows"
)

// killShim replaces git. It counts its calls by making directories, writes the arguments into them, and kills the
// calling program at the call that KILL names ("before 7", "after 7"). With "in 7" a process that git starts does the
// killing; it finds the program in KILLS. CALLS/ended exists when git has ended. The file n holds the number at which
// counting begins.
const killShim = `#!/bin/sh
n=$(($(cat "$CALLS/n" 2>/dev/null || echo 0) + 1))
while ! mkdir "$CALLS/$n" 2>/dev/null; do n=$((n+1)); done
echo $n >"$CALLS/n"
echo " $* " >"$CALLS/$n/args"
[ "$KILL" != "before $n" ] || { kill -9 $PPID; exit 1; }
[ "$KILL" != "in $n" ] || { KILLS=$PPID %[1]s "$@"; : >"$CALLS/ended"; exit; }
[ "$KILL" = "after $n" ] || exec %[1]s "$@"
%[1]s "$@"
rc=$?
kill -9 $PPID
exit $rc
`

// startMortal is start, but with KILL "asked 7" the program is killed when it reads the clock for the 7th time, which
// it does right before it records an event. CALLS/asked contains how often it read the clock.
func startMortal() int {
	calls, ask := os.Getenv("CALLS"), app.Clock(os.Getenv)
	if calls == "" {
		return app.Main(shows.All(), ask)
	}
	at, asked := 0, 0
	fmt.Sscanf(os.Getenv("KILL"), "asked %d", &at)
	status := app.Main(shows.All(), func() time.Time {
		if asked++; asked == at {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
		return ask()
	})
	_ = os.WriteFile(filepath.Join(calls, "asked"), fmt.Append(nil, asked), 0o644)
	return status
}

// killPlace is where the program is killed: a home of its own and a PATH with the shim.
type killPlace struct {
	t    *testing.T
	bin  string
	home string
	env  []string
}

func newKillPlace(t *testing.T) killPlace {
	t.Helper()
	p := killPlace{t: t, bin: t.TempDir()}
	home := t.TempDir()
	p.home = home
	p.write(home, "config",
		"[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n[core]\n\tfsync = none\n")
	p.env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+filepath.Join(home, "config"))
	git, err := exec.LookPath("git")
	p.must(err)
	p.must(os.WriteFile(filepath.Join(p.bin, "git"), fmt.Appendf(nil, killShim, git), 0o755))
	return p
}

func (p *killPlace) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *killPlace) write(dir, name, text string) {
	p.t.Helper()
	path := filepath.Join(dir, name)
	p.must(os.MkdirAll(filepath.Dir(path), 0o755))
	p.must(os.WriteFile(path, []byte(text), 0o644))
}

// command returns the program's command. kill is "", a point at which it is killed, or "none" to count only.
func (p *killPlace) command(dir, kill string, args []string) *exec.Cmd {
	cmd := exec.Command("git-runr", args...)
	cmd.Dir, cmd.Env = dir, p.env
	if kill != "" {
		cmd.Env = append(slices.Clip(p.env), "PATH="+p.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "KILL="+kill,
			callsVar+p.t.TempDir())
	}
	return cmd
}

const callsVar = "CALLS="

// callsOf returns the directory in which a command's calls are counted.
func callsOf(cmd *exec.Cmd) string { return strings.TrimPrefix(cmd.Env[len(cmd.Env)-1], callsVar) }

// callsMade returns the calls of git that a command made.
func callsMade(cmd *exec.Cmd) (calls []string) {
	for n := 1; ; n++ {
		call, err := os.ReadFile(filepath.Join(callsOf(cmd), fmt.Sprint(n), "args"))
		if err != nil {
			return calls
		}
		calls = append(calls, string(call))
	}
}
