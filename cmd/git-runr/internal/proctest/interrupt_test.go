//go:build unix

package proctest

import (
	"os"
	"path/filepath"
	"testing"
)

// TestInterruptAtInitsQuestion checks that init ends at once if it is interrupted at its question, and that nothing was
// written before.
func TestInterruptAtInitsQuestion(t *testing.T) {
	w := &killWorld{newKillPlace(t), filepath.Join(t.TempDir(), "repo")}
	w.env = append(w.env, "CI=", "TERM=xterm")
	w.write(w.repo, "go.mod", "module x\n")
	w.git(w.repo, "init", "-q")
	s := openScreen(w, 120, 24, "init")
	s.wait("with your rights? [y/N]")
	s.press("\x03")
	s.wait("nothing was written", "git-runr: interrupted")
	<-s.over
	_ = s.cmd.Wait()
	if status := s.cmd.ProcessState.ExitCode(); status != 130 {
		t.Errorf("exit status %d", status)
	}
	for _, name := range []string{".runr.toml", ".git/runr", ".git/hooks/post-commit"} {
		if _, err := os.Lstat(filepath.Join(w.repo, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}
