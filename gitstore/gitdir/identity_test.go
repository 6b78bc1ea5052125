package gitdir

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestPlainIdent checks with git that it takes these names as they are, and which of them git is asked about.
func TestPlainIdent(t *testing.T) {
	for name, plain := range map[string]bool{
		"Ada": true, "Ada B Lovelace": true, "Zoë": true, "o'Neil": true, "": false, "Ada B.": false, " Ada": false,
		"'Ada'": false, "A<d>a": false, "Ada\n": false, "\xff": false,
	} {
		if got := plainIdent(name); got != plain {
			t.Errorf("%q: %v, want %v", name, got, plain)
		}
		if !plain {
			continue
		}
		cmd := exec.Command("git", "var", "GIT_COMMITTER_IDENT")
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_NAME="+name, "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.Output()
		if err != nil || !strings.HasPrefix(string(out), name+" <a@example.com> ") {
			t.Errorf("git calls %q %q, %v", name, out, err)
		}
	}
}
