package app

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/manual"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) configCommand() *cli.Command {
	return &cli.Command{
		Name: "config", Usage: "show all settings and where each comes from; KEY VALUE sets one", ArgsUsage: "[KEY [VALUE]]",
		Description: `Prints every key with its effective value and the file and line, the scope of git config or the
variable that sets it. KEY is a key, a section such as review, or a table such as agents.mine; for a single key, its
meaning is printed as well. KEY VALUE sets a key in the repository's git config, for this clone. To set it for
everybody, edit .runr.toml.`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "changed", Usage: "only keys that are set somewhere"}},
		Action: p.withConfig(showConfig),
	}
}

func showConfig(s *session, _ *store.Store, conf *config.Config) error {
	of := s.Args().First()
	if s.NArg() == 2 {
		if err := conf.Set(s.ctx, of, s.Args().Get(1)); err != nil || !s.json {
			return err
		}
	}
	values, err := conf.Effective(s.ctx, s.getenv, of)
	if err != nil {
		return err
	}
	if s.Bool("changed") {
		values = slices.DeleteFunc(values, func(v config.Value) bool { return v.From == "default" })
	}
	doc := map[string]any{"settings": append([]config.Value{}, values...)}
	return s.print(doc, func(w io.Writer) {
		for _, v := range values {
			safetext.Fprintf(w, "%s = %s  # %s\n", v.Key, cmp.Or(v.Text(), "none"), v.Where())
		}
		if len(values) == 1 {
			_, width := stdio.Terminal(w)
			manual.Fprint(w, "\n"+values[0].Explain(), min(width, 80))
		}
	})
}

func (p *program) trustCommand() *cli.Command {
	return &cli.Command{
		Name: "trust", Usage: "approve the commands in .runr.toml, and whose code they may run",
		Description: `Shows the commands and asks on a terminal; elsewhere it needs --yes. The approval is stored
outside the repository and covers exactly these commands: any change asks again. Without configured checks it covers
the project's standard ones. A check runs code of the commit that it checks. So checks run on the code that is checked
out now, and on what you commit in this clone from now on. For other people's commits add --code-of NAME, a name or
address that the commits claim, or --code-of all.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "show", Usage: "show the commands and whether they are trusted; change nothing"},
			&cli.BoolFlag{Name: "yes", Usage: "approve without asking"},
			&cli.StringSliceFlag{Name: "code-of",
				Usage: "also let checks run on the commits of `NAME`, or of all; may be given again"},
			&cli.BoolFlag{Name: "revoke", Usage: "withdraw the approval, or with --code-of only that consent"},
		},
		Action: p.withConfig(trust),
	}
}

type trustJSON struct {
	Status   config.TrustState `json:"status"`
	Commands []string          `json:"commands"` // new or changed since the approval
	Standard []string          `json:"standard_checks"`
	CodeOf   []string          `json:"code_of"`
}

func trust(s *session, store *store.Store, conf *config.Config) error {
	if err := s.requirePerson(store); err != nil && !s.Bool("show") {
		return err
	}
	names, revoke := s.StringSlice("code-of"), s.Bool("revoke")
	if len(names) > 0 && !s.Bool("show") {
		if err := conf.SetCodeOf(s.ctx, names, revoke, s.now()); err != nil {
			return err
		}
	}
	doc, known, err := s.trusted(store, conf)
	switch {
	case err != nil:
		return err
	case s.Bool("show") || len(names) > 0 && !s.Bool("yes"):
	case revoke:
		err = conf.Revoke()
	default:
		if doc.Status != config.Trusted || !known {
			err = s.confirmTrust(doc)
		}
		if err == nil {
			err = conf.Approve(s.ctx, s.now())
		}
	}
	if err != nil {
		return err
	}
	asked := doc.Commands
	if doc.Status == config.Trusted {
		asked = conf.Commands()
	}
	if doc, _, err = s.trusted(store, conf); err != nil {
		return err
	}
	return s.print(doc, func(w io.Writer) {
		if s.Bool("show") {
			screen.Each(w, "  %s\n", asked)
		}
		what := config.FileName
		if !conf.Executes() {
			what = "standard checks of the project"
		}
		safetext.Fprintf(w, "%s: %s\n", what, doc.Status)
		screen.When(w, len(doc.CodeOf) > 0, "checks run on the code of: %s\n", strings.Join(doc.CodeOf, ", "))
	})
}

// trusted returns what is trusted and what waits for approval. known is true if nothing is left to approve.
func (s *session) trusted(store *store.Store, conf *config.Config) (doc trustJSON, known bool, err error) {
	consent := conf.Consent(s.ctx)
	doc = trustJSON{CodeOf: append([]string{}, consent.CodeOf...), Standard: []string{}}
	doc.Status, doc.Commands = conf.Trust()
	head, err := store.Repo.Head(s.ctx)
	if errors.Is(err, gitstore.ErrUnborn) {
		return doc, consent.Standard, nil
	}
	if err != nil {
		return doc, false, err
	}
	if checks, not := conf.Checks(); len(checks)+len(not) == 0 && conf.Review.DetectChecks {
		for _, check := range conf.Standard(s.ctx, store, head) {
			doc.Standard = append(doc.Standard, check.Command)
		}
	}
	why, err := conf.Stranger(s.ctx, head)
	return doc, consent.Standard && why == "", err
}

// confirmTrust shows what would be approved and asks. Without a terminal it requires --yes.
func (s *session) confirmTrust(doc trustJSON) error {
	if s.Bool("yes") {
		return nil
	}
	show := func(w io.Writer) {
		screen.When(w, len(doc.Commands) > 0, "%s names these commands:\n", config.FileName)
		screen.Each(w, "  %s\n", doc.Commands)
		screen.When(w, len(doc.Standard) > 0, "The project has these checks:\n")
		screen.Each(w, "  %s\n", doc.Standard)
		screen.When(w, len(doc.Commands)+len(doc.Standard) == 0,
			"There are no commands to trust; checks would run on code that is new here.\n")
	}
	yes, asked := s.askPerson(show,
		"They will run with your rights, on the code that is checked out and on what you commit. Trust them?")
	if !asked {
		show(s.err)
		return exit.Problemf(exit.Untrusted, "cannot ask: not a terminal; pass --yes").WithHint("git runr trust --yes")
	}
	if !yes {
		return exit.Problemf(exit.Untrusted, "not trusted")
	}
	return nil
}

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "run the configured checks in this checkout", ArgsUsage: "[NAME…]",
		Action: p.withConfig(check),
	}
}

func noChecksFlag() cli.Flag { return &cli.BoolFlag{Name: "no-checks", Usage: "run no checks"} }

func check(s *session, store *store.Store, conf *config.Config) error {
	if _, err := store.Repo.Checkout(); err != nil {
		return err
	}
	run, not := conf.Checks()
	if len(run)+len(not) == 0 {
		missing := exit.Problemf(exit.NotFound, "no checks are configured")
		if _, err := os.Lstat(filepath.Join(store.Repo.WorkTree, config.FileName)); err == nil { // init keeps it
			return missing.WithHint("git runr help config   says how to add [checks.NAME] to " + config.FileName)
		}
		return missing.WithHint("git runr init   writes the checks that this project seems to have")
	}
	if len(not) > 0 {
		return config.NotTrusted(not[0])
	}
	run, err := chosenChecks(run, s.Args().Slice())
	if err != nil {
		return err
	}
	progress, checker := s.progress(), conf.Checker()
	defer progress.Close()
	results, failed := []record.CheckResult{}, false
	for _, c := range run {
		progress.Step("check", c.Name)
		result := checker.Judge(checker.Run(s.ctx, c, store.Repo.WorkTree, ""), nil, nil)
		failed = failed || !result.OK()
		results = append(results, result)
	}
	progress.Close()
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	return s.printEnding(map[string]any{"checks": results}, failed, exit.NotPassed, func(w io.Writer) {
		for _, c := range results {
			screen.When(w, !c.OK() && c.Output != "", "%s\n", safetext.Block(c.Output))
			safetext.Fprintf(w, "%s: %s\n", c.Name, c.State())
		}
	})
}

func chosenChecks(all []runplan.Check, names []string) ([]runplan.Check, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []runplan.Check
	for _, name := range names {
		at := slices.IndexFunc(all, func(c runplan.Check) bool { return c.Name == name })
		if at < 0 {
			return nil, exit.Problemf(exit.NotFound, "there is no check %q", name).
				WithHint("checks are " + strings.Join(each.Of(all, func(c runplan.Check) string { return c.Name }), ", "))
		}
		chosen = append(chosen, all[at])
	}
	return chosen, nil
}
