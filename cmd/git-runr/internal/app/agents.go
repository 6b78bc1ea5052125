package app

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) agentsCommand() *cli.Command {
	return &cli.Command{
		Name: "agents", Usage: "list agents: installed or not, version, sign-in, use so far", ArgsUsage: "[NAME…]",
		Description: `Lists the built-in agents and those in [agents.NAME]: the version of the program, whether files
and variables suggest that you are signed in, where its arguments come from (tested with the tool itself, or from its
documentation), and what its calls in this repository used so far. --check asks each installed agent, or each NAME, for
one word. That is a real call, of 60 s at most.
Exit status: 0; with --check, 30 if one did not answer.`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "check", Usage: "make one small real call, and print the answer"}},
		Action: p.withConfig(agents),
	}
}

// agentDoc is one agent in the output of git runr agents.
type agentDoc struct {
	config.Agent
	Took  spend.Usage `json:"took,omitzero"` // usage by all clones in this repository so far
	Check *agentCheck `json:"check,omitempty"`
}

// agentCheck is the result of the small test call of --check.
type agentCheck struct {
	OK       bool              `json:"ok"`
	Said     string            `json:"said,omitempty"`
	Failure  *record.Failure   `json:"failure,omitempty"`
	Duration duration.Duration `json:"duration_ms"`
	Usage    spend.Usage       `json:"usage"`
}

func agents(s *session, store *store.Store, conf *config.Config) error {
	spent, err := store.Spent(s.ctx)
	if err != nil {
		return err
	}
	asked := s.Args().Slice()
	for _, name := range asked {
		if err := conf.KnownAgent("agents", name); err != nil {
			return err
		}
	}
	doc := struct {
		Agents []agentDoc `json:"agents"`
	}{[]agentDoc{}}
	for _, a := range conf.Agents(s.ctx) {
		isAsked := func(name string) bool { return name == a.Name || strings.HasPrefix(name, a.Name+"@") }
		if len(asked) == 0 || slices.ContainsFunc(asked, isAsked) {
			one := agentDoc{Agent: a}
			for _, name := range spent.Agents() { // of all its models
				if base, _, _ := strings.Cut(name, "@"); base == a.Name {
					one.Took = one.Took.Add(spent[name])
				}
			}
			doc.Agents = append(doc.Agents, one)
		}
	}
	failed := false
	if s.Bool("check") {
		if failed, err = s.checkAgents(conf, doc.Agents, len(asked) > 0); err != nil {
			return err
		}
	}
	return s.printEnding(doc, failed, exit.Agent, func(w io.Writer) { writeAgents(w, doc.Agents, len(asked) > 0) })
}

// checkAgents makes a test call of each installed agent, or of all agents that were named, one after the other in an
// empty repository.
func (s *session) checkAgents(conf *config.Config, agents []agentDoc, named bool) (failed bool, err error) {
	top, err := os.MkdirTemp("", "git-runr-check-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(top)) }()
	dir := filepath.Join(top, "tree")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return false, err
	}
	if _, err := gitstore.Init(s.ctx, dir); err != nil {
		return false, err
	}
	progress := s.progress()
	defer progress.Close()
	for i := range agents {
		a := &agents[i]
		if a.Path == "" && !named {
			continue
		}
		progress.Step("agents", a.Name)
		began := time.Now()
		answer, failure, err := conf.Ask(s.ctx, a.Name, dir, config.CheckLimit)
		if err != nil {
			return failed, err
		}
		a.Check = &agentCheck{OK: failure == nil, Said: s.redact(answer.Raw), Failure: failure,
			Duration: duration.Duration(time.Since(began)), Usage: answer.Usage}
		if failure != nil {
			failure.Detail, failed = s.redact(failure.Detail), true
		}
	}
	return failed, nil
}

func writeAgents(w io.Writer, agents []agentDoc, named bool) {
	var missing []string
	widest := 13
	for _, a := range agents {
		if a.Path != "" || a.Problem != "" {
			widest = max(widest, len(a.Name))
		}
	}
	for _, a := range agents {
		if a.Path == "" && a.Problem == "" && a.Check == nil && !named {
			missing = append(missing, a.Name)
			continue
		}
		writeAgent(w, a, widest)
	}
	screen.When(w, len(missing) > 0, "%s\n", screen.Faint.Of("not installed: "+strings.Join(missing, ", ")))
}

func writeAgent(w io.Writer, a agentDoc, widest int) {
	state := screen.Plain.Of(cmp.Or(a.Path, "not installed"))
	if a.Problem != "" {
		state = screen.Warning.Of(a.Problem)
	}
	safetext.Fprintf(w, "%-*s %-12s %s\n", widest, screen.Strong.Of(a.Name), cmp.Or(a.Version, "-"), state)
	if a.Problem == "" {
		signedIn := screen.Plain.Of("signed in: " + string(a.SignedIn))
		switch {
		case a.By != "":
			signedIn = screen.Good.Of("signed in: yes, by " + a.By)
		case a.SignedIn == agent.SignedInNo:
			signedIn.Meaning = screen.Warning
		}
		model := cmp.Or(a.Model, "its own choice")
		if a.Unused != "" {
			model = "takes none, " + a.Unused + " is not used"
		}
		safetext.Fprintf(w, "    %s; model: %s; arguments %s\n", signedIn, model, a.Arguments)
	}
	screen.When(w, a.Took.Calls > 0, "    so far here: %s in %s\n",
		cmp.Or(a.Took.String(), "use not reported"), prose.Count(a.Took.Calls, "call"))
	switch {
	case a.Check == nil:
	case a.Check.OK:
		safetext.Fprintf(w, "    %s in %s: %s\n", screen.Good.Of("answered"),
			time.Duration(a.Check.Duration).Round(time.Millisecond), safetext.Line(a.Check.Said))
	default:
		safetext.Fprintf(w, "    %s: %s\n", screen.Critical.Of("did not answer"), a.Check.Failure.Detail)
	}
}
