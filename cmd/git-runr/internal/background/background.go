// Package background starts processes that outlive the command: in sessions of their own, with output to files in the
// state directory.
package background

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
)

func Work(repo *gitstore.Repo) error {
	return start(repo, "work.log", environ(os.Environ()), "-q", "work")
}

func Serve(repo *gitstore.Repo) error {
	args := []string{"serve", "--detached"}
	if idle := repo.Config.Get("runr.serveIdle"); idle != "" {
		args = append(args, "--idle", idle)
	}
	env := slices.DeleteFunc(environ(os.Environ()), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_RUNR_ACTOR=") // the chat that asks is not the person who reads the page
	})
	return start(repo, "serve.log", env, args...)
}

// Command starts a command of this program in the background, on behalf of actor. Its output goes to log, a path
// below the state directory.
func Command(repo *gitstore.Repo, actor, log string, args ...string) error {
	return start(repo, log, append(environ(os.Environ()), "GIT_RUNR_ACTOR="+actor), args...)
}

// start starts this program in a repository. log is a path below the state directory.
func start(repo *gitstore.Repo, log string, env []string, args ...string) error {
	self, err := build.Program()
	if err != nil {
		return err
	}
	dir := cmp.Or(repo.WorkTree, repo.GitDir)
	return agent.StartDetached(self, append([]string{"-C", dir}, args...), dir, env, filepath.Join(repo.StateDir(), log))
}

// Browse opens url in the user's browser. Everybody on the machine can read the address on the command line.
func Browse(repo *gitstore.Repo, url string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	return agent.StartDetached(opener, []string{url}, repo.CommonDir, nil, filepath.Join(repo.StateDir(), "browser.log"))
}

// environ returns the environment for a background process: all variables, except those that git sets for its hooks.
// The committer's name stays, because the user sets it and git sets only the author's.
func environ(env []string) []string {
	users := []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_COMMITTER_NAME",
		"GIT_COMMITTER_EMAIL"}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_RUNR_") && !slices.Contains(users, name)
	})
}
