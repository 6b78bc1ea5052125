package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/overview"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) statusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show open work and what to type next; the default", ArgsUsage: "[RUN|REVIEW|COMMIT]",
		Action: p.inRepo(func(s *session, store *store.Store) error {
			if s.NArg() > 0 {
				return show(s, store)
			}
			return s.showStatus(store)
		}),
	}
}

// showOverview implements `git runr` alone.
func showOverview(s *session) error {
	if s.Bool("version") {
		return showVersion(s)
	}
	if s.NArg() > 0 {
		return unknownCommand(s.Args().First(), s.Root().Commands)
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	return s.showStatus(store)
}

func (s *session) showStatus(store *store.Store) error {
	doc, err := overview.Of(s.ctx, store, s.overviewGiven(store))
	if err != nil {
		return err
	}
	return s.print(doc, func(w io.Writer) { doc.Write(w, s.listStyle()) })
}

func (s *session) overviewGiven(store *store.Store) overview.Given {
	given := overview.Given{Remote: s.electedRemote(store), Say: s.say, Secret: s.secrets.OfMessage}
	given.Actor, _ = s.person(store) // without an identity there are no drafts
	conf, err := s.configuration(store)
	if err != nil {
		given.Config = err.Error()
		return given
	}
	if given.Unsynced, err = share.Unfetched(s.ctx, store, conf.Sync.Remote); err != nil {
		s.say("whether this clone has synced cannot be read: %v", err)
	}
	given.Unshared = unshared(store, conf)
	given.Skip, given.Gate = conf.Hooks.Skip, conf.Hooks.PrePush != "off"
	if conf.ApprovesByRule() {
		given.Bar = func(ctx context.Context, base gitstore.ID) (lineage.Bar, error) {
			bar, broken, err := conf.KnownBar(ctx, conf.Hooks.PrePushRequire, base)
			s.sayBroken(broken)
			return bar, err
		}
	}
	return given
}

// unfetched returns share.Unfetched of the configured remote. If the configuration cannot be read, it takes that of
// git's.
func (s *session) unfetched(ctx context.Context, store *store.Store) (string, error) {
	configured := ""
	if conf, err := s.configuration(store); err == nil {
		configured = conf.Sync.Remote
	}
	return share.Unfetched(ctx, store, configured)
}

// notHere returns share.NotHere of the remote that unfetched returns.
func (s *session) notHere(ctx context.Context, store *store.Store) string {
	remote, err := s.unfetched(ctx, store)
	if err != nil {
		s.say("whether this clone has synced cannot be read: %v", err)
	}
	return share.NotHere(remote)
}

func (p *program) promptCommand() *cli.Command {
	return &cli.Command{
		Name: "prompt", Usage: "print a segment for a shell prompt or status line: ✗2 ●1",
		Description: "✗2 means two unanswered critical findings, ●1 one review that waits for somebody. If there is " +
			"neither, or\noutside a repository, it prints nothing. It prints what the last git-runr command knew: it reads no " +
			"events,\nwrites nothing and reports no errors.\n" +
			"\n   bash      PS1='\\w $(git-runr prompt) \\$ '" +
			"\n   zsh       setopt prompt_subst; PROMPT='%~ $(git-runr prompt) %# '" +
			"\n   fish      function fish_right_prompt; git-runr prompt; end" +
			"\n   starship  [custom.runr]" +
			"\n             command = \"git-runr prompt\"" +
			"\n             when = true" +
			"\n             require_repo = true" +
			"\n   tmux      set -g status-right \\" +
			"\n               '#(git-runr -C \"#{pane_current_path}\" prompt)'",
		Action: p.action(prompt),
	}
}

// prompt prints the segment for a shell's prompt. It never fails, because a prompt has no room for an error.
func prompt(s *session) error {
	s.quiet = true
	records, err := s.open()
	if err != nil {
		return s.print(store.Glance{}, func(io.Writer) {})
	}
	glance := records.Glance()
	return s.print(glance, func(w io.Writer) {
		screen.When(w, s.segment(glance) != "", "%s\n", s.segment(glance))
	})
}

func (p *program) segment(g store.Glance) string {
	critical, waiting := "✗", "●"
	if !p.utf8() {
		critical, waiting = "x", "o"
	}
	var parts []string
	if g.Critical > 0 {
		parts = append(parts, fmt.Sprintf("%s%d", critical, g.Critical))
	}
	if g.Waiting > 0 {
		parts = append(parts, fmt.Sprintf("%s%d", waiting, g.Waiting))
	}
	return strings.Join(parts, " ")
}

// utf8 reports whether the locale uses UTF-8. An unset locale counts as UTF-8, because the rest of the output uses it
// anyway.
func (p *program) utf8() bool {
	locale := cmp.Or(p.getenv("LC_ALL"), p.getenv("LC_CTYPE"), p.getenv("LANG"))
	locale = strings.ToLower(strings.ReplaceAll(locale, "-", ""))
	return locale == "" || strings.Contains(locale, "utf8")
}
