// Package background starts what goes on when a command has ended: processes in sessions of
// their own, whose output is in files of the state directory.
package background

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
)

// Work starts git runr work.
func Work(repo *gitstore.Repo) error {
	return start(repo, "work.log", environ(os.Environ()), "-q", "work")
}

// Serve starts git runr serve.
func Serve(repo *gitstore.Repo) error {
	args := []string{"serve", "--detached"}
	if idle := repo.Config.Get("runr.serveIdle"); idle != "" {
		args = append(args, "--idle", idle)
	}
	env := slices.DeleteFunc(environ(os.Environ()), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_RUNR_ACTOR=") // of the chat that asks; the page is a person's
	})
	return start(repo, "serve.log", env, args...)
}

// Command starts a command of this program, as actor, that its user does not wait for; log takes
// what it writes.
func Command(repo *gitstore.Repo, actor, log string, args ...string) error {
	return start(repo, log, append(environ(os.Environ()), "GIT_RUNR_ACTOR="+actor), args...)
}

// start starts this program in a repository. log is below the state directory.
func start(repo *gitstore.Repo, log string, env []string, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir := cmp.Or(repo.WorkTree, repo.GitDir)
	return agent.StartDetached(self, append([]string{"-C", dir}, args...), dir, env, filepath.Join(repo.StateDir(), log))
}

// Browse starts the user's browser. Everybody on the machine can read the address
// on its command line.
func Browse(repo *gitstore.Repo, url string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	return agent.StartDetached(opener, []string{url}, repo.CommonDir, nil, filepath.Join(repo.StateDir(), "browser.log"))
}

// environ is what a process in the background inherits: everything but what a hook of
// git's sets for itself. The committer is the user's own word: git sets the author's only.
func environ(env []string) []string {
	var kept []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case slices.Contains([]string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"}, name):
		case strings.HasPrefix(name, "GIT_RUNR_"):
		case strings.HasPrefix(name, "GIT_"):
			continue
		}
		kept = append(kept, kv)
	}
	return kept
}
