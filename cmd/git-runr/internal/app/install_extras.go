package app

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/complete"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/extras"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/setup"
	"github.com/git-runr/git-runr/loop/safetext"
)

func (p *program) installExtrasCommand() *cli.Command {
	return &cli.Command{
		Name: "install-extras", Usage: "install the manual page and the completions of bash, zsh and fish",
		Description: `git runr --help and git help runr then open the manual page, and Tab completes commands, options
and ids. The files are shown before they are written, after a question; a file that is not ours is left alone (exit
status 3). --remove removes exactly what was written.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "install below `DIR`/share, such as /usr/local (default: ~/.local/share)"},
			&cli.BoolFlag{Name: "remove", Usage: "remove what was written"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would be done, and write nothing"},
			&cli.BoolFlag{Name: "yes", Usage: "write without asking"},
		},
		Action: p.action(installExtras),
	}
}

type extrasJSON struct {
	Files   []extras.Item `json:"files"`
	Written bool          `json:"written"`
	Notes   []string      `json:"notes,omitempty"` // what the user has to do
}

func installExtras(s *session) error {
	record := config.UnderHome(s.getenv, "XDG_STATE_HOME", ".local/state", "git-runr/extras.json")
	if record == "" {
		return exit.Problemf(exit.Usage, "cannot record what is written: neither XDG_STATE_HOME nor HOME is an absolute path")
	}
	if err := s.askWhere(); err != nil {
		return err
	}
	top, err := s.extrasTop()
	if err != nil {
		return err
	}
	do := func(dry bool) ([]extras.Item, error) { return extras.Remove(record, top, dry) }
	doc := extrasJSON{Files: []extras.Item{}}
	if !s.Bool("remove") {
		files, notes, err := s.extraFiles(top)
		if err != nil {
			return err
		}
		do = func(dry bool) ([]extras.Item, error) { return extras.Install(record, files, dry) }
		doc.Notes = notes
	}
	items, err := do(true)
	if err != nil {
		return err
	}
	doc.Files = items
	isChange := func(i extras.Item) bool { return i.State != extras.Present && i.State != extras.Left }
	if slices.ContainsFunc(items, isChange) && !s.Bool("dry-run") { // an absent file is removed from the record
		question, line := "Write these files?", "git runr install-extras --yes"
		if s.Bool("remove") {
			question, line = "Remove these files?", line+" --remove"
		}
		show := func(w io.Writer) { writeExtras(w, extrasJSON{Files: items}) }
		err := s.consent(question, show, "nothing was written", line, "elsewhere: git runr install-extras --dir DIR")
		if err != nil {
			return err
		}
		if doc.Files, err = do(false); err != nil {
			return exit.Problemf(exit.State, "%w", err).WithHint("git runr install-extras --dir DIR")
		}
		doc.Written = true
	}
	left := slices.ContainsFunc(doc.Files, func(i extras.Item) bool { return i.State == extras.Left })
	return s.printEnding(doc, left, exit.Conflict, func(w io.Writer) { writeExtras(w, doc) })
}

// askWhere asks a person for --dir, unless flags make the question unnecessary.
func (s *session) askWhere() error {
	if s.IsSet("dir") || s.Bool("yes") || s.Bool("remove") || s.Bool("dry-run") || s.json {
		return nil
	}
	tty := s.terminal()
	if tty == nil {
		return nil
	}
	defer tty.Close()
	dir, _ := s.question(s.ctx, tty,
		"Install below which directory? (Enter: for you alone; /usr/local: for everybody) ")
	if dir == "" {
		return nil
	}
	if below, ok := strings.CutPrefix(dir, "~/"); ok { // no shell expands it
		dir = filepath.Join(s.getenv("HOME"), below)
	}
	return s.Set("dir", dir)
}

// extrasTop returns --dir as an absolute path, or "" without it.
func (s *session) extrasTop() (string, error) {
	dir := s.String("dir")
	if dir == "" {
		return "", nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.dir, dir)
	}
	top, err := filepath.Abs(dir)
	if err != nil {
		return "", exit.Problemf(exit.Usage, "--dir: %w", err)
	}
	if info, err := os.Stat(top); err == nil && !info.IsDir() || errors.Is(err, syscall.ENOTDIR) {
		return "", exit.Problemf(exit.Usage, "%q is not a directory", top).WithHint("git runr install-extras --dir DIR")
	}
	return top, nil
}

// extraFiles returns the files to install below top, or for "" where the user's programs find them, and notes on what
// the user has to do.
func (s *session) extraFiles(top string) ([]extras.File, []string, error) {
	share := config.UnderHome(s.getenv, "XDG_DATA_HOME", ".local/share", "")
	pages := extras.PagesBeside(setup.Program(s.getenv("PATH")), s.getenv("HOME"), share)
	switch {
	case top != "":
		share = filepath.Join(top, "share")
		pages = share
	case share == "":
		return nil, nil, exit.Problemf(exit.Usage, "no home directory is known").WithHint("git runr install-extras --dir DIR")
	}
	files, err := extras.Files(share, pages, []byte(s.manualPage()), complete.Scripts)
	return files, extras.Notes(share, pages, s.getenv), err
}

func writeExtras(w io.Writer, doc extrasJSON) {
	for _, item := range doc.Files {
		state := item.State
		if to, planned := map[string]string{extras.Written: "to write", extras.Removed: "to remove"}[state]; planned &&
			!doc.Written {
			state = to
		}
		safetext.Fprintf(w, "%-9s %s\n", state, item.Path)
	}
	screen.When(w, len(doc.Files) == 0, "Nothing to do.\n")
	screen.Each(w, "%s\n", doc.Notes)
	screen.When(w, doc.Written && len(doc.Notes) > 0, "Try: git help runr\n")
}
