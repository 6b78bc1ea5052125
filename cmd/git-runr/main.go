// Command git-runr keeps the review loop of people and coding agents inside a git repository. Type it as "git runr";
// see git runr help. The page, the terminal screen and the tools of agents are in git-runr-serve, which this program
// starts for them: each start of a process initialises all packages that it links, and a hook needs none of theirs.
package main

import (
	"os"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/app"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
)

func main() { os.Exit(app.Main(screens.Shows{}, app.Clock(os.Getenv))) }
