// Package shows joins the screens: the page, the tools of agents and the terminal screen.
package shows

import (
	"context"
	"io"

	"github.com/zricethezav/gitleaks/v8/config"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/mcp"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/tui"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/web"
)

// All returns all screens.
func All() screens.Shows {
	return screens.Shows{
		Page: web.Run,
		Tools: func(ctx context.Context, given screens.Tools, in io.Reader, out io.Writer) error {
			return mcp.New(given).Run(ctx, in, out)
		},
		Terminal: tui.Run,
		Rules:    config.DefaultConfig,
	}
}
