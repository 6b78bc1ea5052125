package app

import (
	"os"
	"runtime"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/background"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/store"
)

// reviewURL returns the address of a review's page, with the token that opens it. Without a server it starts one in
// the background. It returns "" if none runs and mayServe forbids to start one.
func (s *session) reviewURL(store *store.Store, reviewID string) string {
	address, secret, ok := screens.Running(s.ctx, store.Repo)
	if !ok && s.mayServe(store.Repo) {
		if err := background.Serve(store.Repo); err != nil {
			s.say("the page is not served (%v); type: git runr serve --open", err)
			return ""
		}
		address, secret, ok = screens.Await(s.ctx, store.Repo, serveWait)
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

// orScreens returns the action of a command that shows a screen: show if this program has it. Otherwise the process
// becomes git-runr-serve, with the same command line; the action returns only if that fails.
func (p *program) orScreens(has bool, show cli.ActionFunc) cli.ActionFunc {
	if has {
		return show
	}
	return p.action(func(s *session) error {
		serve, err := build.Screens()
		if err == nil && s.argv != nil {
			err = syscall.Exec(serve, append([]string{serve}, s.argv[1:]...), os.Environ())
		}
		return exit.Problemf(exit.NotFound, "%s needs the program git-runr-serve: %w", s.Command.Name, err).
			WithHint(build.InstallLine + "   installs both")
	})
}
