package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
)

const approvedConfig = `
# checks of the project
[checks.test]
command = "go vet ./... && go test <in >out"
timeout = "5m"

[agents.mine]
command = ["my-agent", "--flag"]
env = ["MY_API_KEY"]

[loop]
max_retries = 2
`

func executablesOf(t *testing.T, file string) []byte {
	t.Helper()
	c, err := load(input{RepoFile: []byte(file), RepoPath: ".runr.toml"})
	if err != nil {
		t.Fatal(err)
	}
	return c.executables()
}

// approvedStore returns a store in which approvedConfig is approved for the returned repository.
func approvedStore(t *testing.T) (approvals, string) {
	t.Helper()
	store := approvals{Dir: filepath.Join(t.TempDir(), "state", "trust")}
	identity := filepath.Join(t.TempDir(), ".git")
	if err := store.approve(identity, executablesOf(t, approvedConfig), Consent{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	return store, identity
}

func TestTrustFollowsTheCommands(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(approvedConfig, old) {
			t.Fatalf("%q is not in the configuration", old)
		}
		return strings.Replace(approvedConfig, old, new, 1)
	}
	reordered := `[agents.mine]
env = ["MY_API_KEY"]
command = ["my-agent", "--flag"]
[checks.test]
timeout = "5m"
command = 'go vet ./... && go test <in >out'
`
	tests := []struct {
		name, file string
		want       TrustState
	}{
		{"same", approvedConfig, Trusted},
		{"comment", replace("# checks", "# other checks"), Trusted},
		{"CR LF", strings.ReplaceAll(approvedConfig, "\n", "\r\n"), Trusted},
		{"order, quotes and policy", reordered, Trusted},
		{"retries", replace("max_retries = 2", "max_retries = 9"), Trusted},
		{"timeout of a check", replace("5m", "6m"), Trusted},
		{"word of a match", replace(`timeout = "5m"`, `match = ["x"]`), Trusted},
		{"idle timeout of an agent", replace("env =", "idle_timeout = \"1m\"\nenv ="), Trusted},
		{"byte in a command", replace("vet", "vat"), changed},
		{"case of a command", replace("go vet", "Go vet"), changed},
		{"space in a command", replace("vet ./", "vet  ./"), changed},
		{"argument split", replace(`"my-agent", "--flag"`, `"my-agent --flag"`), changed},
		{"argument added", replace(`"--flag"`, `"--flag", ""`), changed},
		{"environment", replace("MY_API_KEY", "AWS_SECRET_ACCESS_KEY"), changed},
		{"environment gone", replace(`env = ["MY_API_KEY"]`, ""), changed},
		{"model of a command", replace("env =", "models.quality = \"m\"\nenv ="), changed},
		{"preset of a command", replace("env =", "preset = \"codex\"\nenv ="), changed},
		{"name of a check", replace("checks.test", "checks.Test"), changed},
		{"agent moved to a preset's name", replace("agents.mine", "agents.codex"), changed},
		{"check added", approvedConfig + "[checks.more]\ncommand = \"true\"\n", changed},
		{"check gone", replace("[checks.test]\ncommand = \"go vet ./... && go test <in >out\"\ntimeout = \"5m\"\n", ""),
			changed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store, identity := approvedStore(t)
			state, approved := store.status(identity, executablesOf(t, tt.file))
			if state != tt.want {
				t.Errorf("got %s, want %s", state, tt.want)
			}
			if want := executablesOf(t, approvedConfig); string(approved) != string(want) {
				t.Errorf("approved was %s, want %s", approved, want)
			}
		})
	}
}

func TestTrustIsOfOneClone(t *testing.T) {
	store, identity := approvedStore(t)
	commands := executablesOf(t, approvedConfig)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.MkdirAll(identity, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(identity, link); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, identity string
		want           TrustState
	}{
		{"a worktree gives the same directory", identity, Trusted},
		{"written with dots", identity + "/../.git/", Trusted},
		{"through a symbolic link", link, Trusted},
		{"another clone", filepath.Join(t.TempDir(), ".git"), Untrusted},
		{"below it", identity + "/modules/x", Untrusted},
		{"not absolute", ".git", Untrusted},
		{"nothing", "", Untrusted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if state, _ := store.status(tt.identity, commands); state != tt.want {
				t.Errorf("got %s, want %s", state, tt.want)
			}
		})
	}
}

func TestTrustRevoke(t *testing.T) {
	store, identity := approvedStore(t)
	if err := store.revoke(identity); err != nil {
		t.Fatalf("revoke: %v", err)
	}
	if state, approved := store.status(identity, executablesOf(t, approvedConfig)); state != Untrusted || approved != nil {
		t.Errorf("after revoke: %s, %s", state, approved)
	}
	if err := store.revoke(identity); err != nil {
		t.Errorf("second revoke: %v", err)
	}
}

func TestTrustApproveAgain(t *testing.T) {
	store, identity := approvedStore(t)
	next := executablesOf(t, strings.Replace(approvedConfig, "vet", "build", 1))
	if err := store.approve(identity, next, Consent{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if state, _ := store.status(identity, next); state != Trusted {
		t.Errorf("the new commands are %s", state)
	}
	if state, _ := store.status(identity, executablesOf(t, approvedConfig)); state != changed {
		t.Errorf("the old commands are %s", state)
	}
}

func TestTrustFilesAreTheOwners(t *testing.T) {
	store, identity := approvedStore(t)
	if info, err := os.Stat(store.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v", info, err)
	}
	entries, err := os.ReadDir(store.Dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	if info, err := os.Stat(store.file(identity)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file: %v, %v", info, err)
	}
}

func TestTrustSpoiltRecordIsNoApproval(t *testing.T) {
	commands := executablesOf(t, approvedConfig)
	tests := []struct {
		name  string
		spoil func(record string) string
	}{
		{"cut", func(s string) string { return s[:len(s)/2] }},
		{"empty", func(string) string { return "" }},
		{"other commands under the old hash", func(s string) string { return strings.Replace(s, "vet", "vat", 1) }},
		{"newer version", func(s string) string { return strings.Replace(s, `"v":1`, `"v":2`, 1) }},
		{"only a hash", func(s string) string { return `{"v":1,"sha256":` + s[strings.Index(s, `"sha256":`)+9:] }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store, identity := approvedStore(t)
			record, err := os.ReadFile(store.file(identity))
			if err != nil {
				t.Fatal(err)
			}
			spoilt := tt.spoil(string(record))
			if spoilt == string(record) {
				t.Fatal("nothing was spoilt")
			}
			if err := os.WriteFile(store.file(identity), []byte(spoilt), 0o600); err != nil {
				t.Fatal(err)
			}
			if state, approved := store.status(identity, commands); state != Untrusted || approved != nil {
				t.Errorf("got %s, %s", state, approved)
			}
		})
	}
}

func TestTrustRecordOfAnotherRepositoryIsNoApproval(t *testing.T) {
	store, identity := approvedStore(t)
	other := filepath.Join(t.TempDir(), ".git")
	record, err := os.ReadFile(store.file(identity))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store.file(other), record, 0o600); err != nil {
		t.Fatal(err)
	}
	if state, _ := store.status(other, executablesOf(t, approvedConfig)); state != Untrusted {
		t.Errorf("got %s", state)
	}
}

func TestTrustSymbolicLinkIsNoRecord(t *testing.T) {
	store, identity := approvedStore(t)
	moved := filepath.Join(t.TempDir(), "record")
	if err := os.Rename(store.file(identity), moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, store.file(identity)); err != nil {
		t.Fatal(err)
	}
	if state, _ := store.status(identity, executablesOf(t, approvedConfig)); state != Untrusted {
		t.Errorf("got %s", state)
	}
}

func TestTrustWithoutAHome(t *testing.T) {
	store := newApprovals(func(string) string { return "" })
	commands := executablesOf(t, approvedConfig)
	if state, _ := store.status("/repo/.git", commands); state != Untrusted {
		t.Errorf("got %s", state)
	}
	var p *exit.Problem
	if err := store.approve("/repo/.git", commands, Consent{}, time.Now()); !errors.As(err, &p) ||
		p.Status != exit.Untrusted || len(p.Hint) == 0 {
		t.Errorf("approve: %v", err)
	}
	if err := store.revoke("/repo/.git"); err != nil {
		t.Errorf("revoke: %v", err)
	}
}

func TestTrustStorePlace(t *testing.T) {
	tests := []struct {
		name string
		env  map[string]string
		want string
	}{
		{"state home", map[string]string{"XDG_STATE_HOME": "/state", "HOME": "/home/ann"}, "/state/git-runr/trust"},
		{"home", map[string]string{"HOME": "/home/ann"}, "/home/ann/.local/state/git-runr/trust"},
		{"a relative state home does not count", map[string]string{"XDG_STATE_HOME": ".state", "HOME": "/home/ann"},
			"/home/ann/.local/state/git-runr/trust"},
		{"a relative home does not count", map[string]string{"HOME": "."}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := newApprovals(func(name string) string { return tt.env[name] }).Dir; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// No environment variable except those for the user's directories is read, so a process of the repository cannot
// grant trust.
func TestTrustAsksNoVariable(t *testing.T) {
	asked := map[string]bool{}
	newApprovals(func(name string) string { asked[name] = true; return "/home/ann" })
	newApprovals(func(name string) string { asked[name] = true; return "" })
	delete(asked, "XDG_STATE_HOME")
	delete(asked, "HOME")
	if len(asked) > 0 {
		t.Errorf("also asked for %v", asked)
	}
}

func TestTrustDiff(t *testing.T) {
	old := executablesOf(t, approvedConfig)
	file := strings.Replace(approvedConfig, "./...", "./\u202e", 1) + "[checks.lint]\ncommand = \"lint \\u001b[2K\"\n"
	file = strings.Replace(file, `env = ["MY_API_KEY"]`, "", 1)
	got := strings.Join(trustDiff(old, executablesOf(t, file)), "\n") + "\n"
	want := `- agents.mine.env = ["MY_API_KEY"]
+ checks.lint.command = "lint \u001b[2K"
- checks.test.command = "go vet ./... && go test <in >out"
+ checks.test.command = "go vet ./\u{202e} && go test <in >out"
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTrustDiffOfTheFirstTime(t *testing.T) {
	got := strings.Join(trustDiff(nil, executablesOf(t, approvedConfig)), "\n") + "\n"
	want := `+ agents.mine.command = ["my-agent","--flag"]
+ agents.mine.env = ["MY_API_KEY"]
+ checks.test.command = "go vet ./... && go test <in >out"
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if same := trustDiff([]byte(`{"a":{"b":"c"}}`), []byte(`{"a":{"b":"c"}}`)); len(same) > 0 {
		t.Errorf("no change shows %q", same)
	}
}
