package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"git-runr/cmd/git-runr/internal/web"
	"git-runr/gitstore"
	"git-runr/loop/agent"
	"git-runr/loop/record"
)

// reviewURL is the address of a review's page, with the token that opens it; "" where
// no server runs. start starts one in the background where a browser can be near.
func (s *session) reviewURL(store *record.Store, reviewID string, start bool) string {
	address, secret, ok := web.Running(s.ctx, store.Repo)
	if !ok && start && s.mayServe(store.Repo) {
		if err := s.startServer(store.Repo); err != nil {
			s.say("the page is not served (%v); type: git runr serve --open", err)
			return ""
		}
		address, secret, ok = web.Await(s.ctx, store.Repo, serveWait)
	}
	if !ok {
		return ""
	}
	return address.ReviewURL(secret, reviewID)
}

// mayServe reports whether a server may be started unasked: nobody forbade it, and a
// browser can be on this machine.
func (s *session) mayServe(repo *gitstore.Repo) bool {
	if setting := repo.Config.Get("runr.serve"); setting != "" && !repo.Config.Bool("runr.serve") || s.Bool("no-serve") {
		return false
	}
	if s.getenv("CI") != "" || s.getenv("SSH_CONNECTION") != "" {
		return false
	}
	return runtime.GOOS == "darwin" || s.getenv("DISPLAY") != "" || s.getenv("WAYLAND_DISPLAY") != ""
}

// startServer starts git runr serve in a session of its own.
func (s *session) startServer(repo *gitstore.Repo) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir := repo.WorkTree
	if dir == "" {
		dir = repo.GitDir
	}
	args := []string{"-C", dir, "serve", "--detached"}
	if idle := repo.Config.Get("runr.serveIdle"); idle != "" {
		args = append(args, "--idle", idle)
	}
	env := slices.DeleteFunc(workerEnviron(os.Environ()), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_RUNR_ACTOR=") // of the chat that asks; the page is a person's
	})
	return agent.StartDetached(self, args, dir, env, filepath.Join(repo.StateDir(), "serve.log"))
}
