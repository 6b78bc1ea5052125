package app

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/background"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) tuiCommand() *cli.Command {
	return &cli.Command{
		Name: "tui", Usage: "browse inbox, diffs and runs in the terminal", ArgsUsage: "",
		Description: `Updates as things happen, also over ssh, and does what the other commands do: comment on lines,
answer, submit, claim, resolve, start a run and follow it, land. The keys are at the bottom; ? shows all. A run goes on
when the terminal closes, and text that was typed and not submitted is kept.`,
		Action: p.orScreens(p.shows.Terminal != nil, p.action(showTerminal)),
	}
}

func showTerminal(s *session) error {
	if s.json {
		return exit.Problemf(exit.Usage, "tui takes no arguments").WithHint("git runr tui -h")
	}
	in, _ := stdio.Terminal(s.in)
	out, _ := stdio.Terminal(s.out)
	if !in || !out || slices.Contains([]string{"", "dumb"}, s.getenv("TERM")) {
		return exit.Problemf(exit.Usage, "tui needs a terminal that can move its cursor").WithHint("git runr inbox",
			"git runr serve --open")
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	person, err := s.person(store)
	if err != nil {
		return err
	}
	collect(longGC)
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "NO_COLOR=") })
	if !s.coloured(true) {
		env = append(env, "NO_COLOR=1")
	}
	return s.shows.Terminal(s.ctx, screens.Terminal{
		Store: store, Actor: person, Now: s.now, ASCII: !s.utf8(),
		Do:   func(ctx context.Context, args ...string) (string, int) { return s.inside(ctx, store, args) },
		Work: func() error { return background.Work(store.Repo) },
		In:   s.in, Out: stdio.Beneath(s.out).(*os.File), Env: env,
	})
}

// inside executes a command line of this program in this process, with empty standard input.
func (c *console) inside(ctx context.Context, store *store.Store, args []string) (out string, status int) {
	var wrote bytes.Buffer
	p := c.writing(&wrote)
	p.in, p.err = strings.NewReader(""), &wrote
	dir := cmp.Or(store.Repo.WorkTree, store.Repo.GitDir)
	status = p.run(ctx, slices.Concat([]string{"git-runr", "-C", dir}, args))
	return wrote.String(), status
}
