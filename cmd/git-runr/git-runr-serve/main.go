// Command git-runr-serve is git-runr with the page, the terminal screen and the tools of agents. The program git-runr
// starts it for git runr serve, tui and mcp.
package main

import (
	"os"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/app"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/shows"
)

func main() { os.Exit(app.Main(shows.All(), app.Clock(os.Getenv))) }
