package main

import (
	"runtime"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/background"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/web"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/store"
)

// reviewURL returns the address of a review's page, with the token that opens it. Without a server it starts one in
// the background. It returns "" if none runs and mayServe forbids to start one.
func (s *session) reviewURL(store *store.Store, reviewID string) string {
	address, secret, ok := web.Running(s.ctx, store.Repo)
	if !ok && s.mayServe(store.Repo) {
		if err := background.Serve(store.Repo); err != nil {
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

// mayServe reports whether a server may be started without being asked for: it is not disabled, and this machine can
// have a browser.
func (s *session) mayServe(repo *gitstore.Repo) bool {
	if setting := repo.Config.Get("runr.serve"); setting != "" && !repo.Config.Bool("runr.serve") || s.Bool("no-serve") {
		return false
	}
	if s.getenv("CI") != "" || s.getenv("SSH_CONNECTION") != "" {
		return false
	}
	return runtime.GOOS == "darwin" || s.getenv("DISPLAY") != "" || s.getenv("WAYLAND_DISPLAY") != ""
}
