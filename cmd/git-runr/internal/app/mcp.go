package app

import (
	"context"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/background"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/loop/record"
)

// mcpLease is how long an agent's claim lasts after its conversation ends without a release.
const mcpLease = 30 * time.Minute

func (p *program) mcpCommand() *cli.Command {
	return &cli.Command{
		Name: "mcp", Usage: "serve the inbox to a coding agent, on standard input and output",
		Description: `A Model Context Protocol server, which an agent tool starts. To register it with the tools used
here, or to remove it:

  git runr init --agents
  git runr init --agents --remove

--read-only registers a server without tools that write. By hand, and in opencode.json:

  claude mcp add runr -- git runr mcp    claude mcp remove runr
  codex mcp add runr -- git runr mcp     codex mcp remove runr
  gemini mcp add runr git runr mcp       gemini mcp remove runr
  "mcp": {"runr": {"type": "local", "command": ["git", "runr", "mcp"]}}

Tools that read: review_list, review_get, review_diff, review_wait, diagnose. Tools that write: review, review_claim,
review_release, review_answer, review_reply, review_resolve, review_comment, review_submit. An answer has at most
20,000 tokens; a cut one says how to get the rest. An agent acts under its own name: it can comment, request changes
and answer findings; it cannot approve, or end a review that waits for a person.

The server works on the repository that it was started in. It asks no questions, and no tool waits for a person.`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "read-only", Usage: "offer only the tools that read"}},
		Action: p.orScreens(p.shows.Tools != nil, p.action(serveMCP)),
	}
}

func serveMCP(s *session) error {
	if person, _ := stdio.Terminal(s.in); person {
		s.say("This waits for an agent tool on standard input; git runr mcp -h says how to register it. ^D ends it.")
	}
	collect(longGC)
	return s.shows.Tools(s.ctx, screens.Tools{Version: buildNow().Name(), ReadOnly: s.Bool("read-only"),
		Open: s.mcpProject, Lease: mcpLease, Log: s.say}, s.in, s.out)
}

// mcpProject opens the repository for one tool call.
func (s *session) mcpProject(ctx context.Context) (*screens.Project, error) {
	each := s.session(s.Command, ctx)
	store, conf, err := each.configured()
	if err != nil {
		return nil, err
	}
	checks, _ := conf.Checks() // unapproved commands must not be suggested
	return &screens.Project{
		Taker: each.steps(store), Checks: checks, Fix: conf.FixLine, Offered: func(run record.Run) (record.Run, error) {
			return each.offered(store, run)
		},
		Ask:         conf.RequestOn,
		StartWorker: func() error { return background.Work(store.Repo) },
		Page:        func(review record.Review) string { return each.reviewURL(store, review.ID) },
		Close:       func() { store.Repo.Close() },
	}, nil
}
