package app

import (
	"io"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/leakrules"
	"github.com/git-runr/git-runr/loop/safetext"
)

// secretRulesCommand returns the hidden command with which git-runr gets the rules for secrets from git-runr-serve.
func (p *program) secretRulesCommand() *cli.Command {
	return &cli.Command{
		Name: leakrules.Command, Hidden: true, Usage: "print gitleaks' rules for secrets",
		Action: p.orScreens(p.shows.Rules != "", p.action(func(s *session) error {
			_, err := io.WriteString(s.out, s.shows.Rules)
			return err
		})),
	}
}

// leakRules returns gitleaks' rules for secrets.
func (p *program) leakRules() (string, error) {
	if p.shows.Rules != "" {
		return p.shows.Rules, nil
	}
	return leakrules.Read(config.UnderHome(p.getenv, "XDG_CACHE_HOME", ".cache", "git-runr/"+leakrules.FileName()),
		build.Screens)
}

// withoutRules says what is done without gitleaks' rules, and how to get them.
func (p *program) withoutRules(err error) {
	safetext.Fprintf(p.err, "git runr: warning: gitleaks' rules for secrets are missing: %v; keys and tokens are guessed "+
		"from how random a text looks, and not looked for in messages of commits; install both programs: %s\n", err,
		build.InstallLine)
}
