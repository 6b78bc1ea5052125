package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/complete"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/extras"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/manual"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/nearest"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/setup"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// topics returns the help texts that are not about one command: the stored ones, and those generated from the
// program's own tables.
func topics() []manual.Topic {
	return append(manual.Written(),
		manual.Topic{Name: "config", Usage: "every configuration key", Title: "CONFIGURATION", Text: config.Help},
		manual.Topic{Name: "exit-status", Usage: "what each exit status means", Text: exit.Help},
		manual.Topic{Name: "stop-reasons", Usage: "why runs stop, and what to do", Text: stopReasonsHelp},
	)
}

func (p *program) helpCommand() *cli.Command {
	return &cli.Command{
		Name: "help", Usage: "show help for a command or a topic, or list the commands", ArgsUsage: "[COMMAND|TOPIC…]",
		Description: "Prints what COMMAND -h prints, or the topic.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "all", Aliases: []string{"a"},
			Usage: "list all commands, options and topics"}},
		Action: p.action(help),
	}
}

// cli has one global help printer. It receives the Writer of the top command, which is a helpWriter.
func init() {
	cli.HelpPrinter = func(w io.Writer, _ string, of any) {
		out := w.(helpWriter).helpScreen()
		manual.Help(out, of.(*cli.Command), out.Columns)
		out.Flush()
	}
}

// helpWriter is the Writer of the top command. It carries the program to cli.HelpPrinter.
type helpWriter struct{ *program }

func (w helpWriter) Write(text []byte) (int, error) { return w.out.Write(text) }

// helpScreen returns the writer for help. Lines are as wide as the terminal and at most 80 columns, which is also the
// width in a pipe, as in git.
func (p *program) helpScreen() *screen.Writer {
	_, width := p.terminalAt(p.out)
	return &screen.Writer{Out: p.out, Columns: min(width, 80)}
}

// help prints a topic, or the help of the command that the arguments name.
func help(s *session) error {
	words := s.Args().Slice()
	app := s.app()
	if s.Bool("all") && len(words) == 0 || slices.Equal(words, []string{"all"}) {
		w := s.helpScreen()
		manual.All(w, app, topics(), w.Columns)
		return w.Flush()
	}
	commands := app.Commands
	for i, name := range words {
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) })
		topic := slices.IndexFunc(topics(), func(t manual.Topic) bool { return t.Name == name })
		switch {
		case at >= 0:
			commands = commands[at].Commands
		case topic >= 0 && i == 0 && len(words) > 1:
			return exit.Problemf(exit.Usage, "unexpected argument %q: %q is a topic", words[1], name).
				WithHint(safetext.ShellLine("git", "runr", "help", name))
		case topic >= 0 && i == 0:
			return s.printTopic(topics()[topic])
		default:
			return unknownCommand(name, commands)
		}
	}
	return s.runSorted(s.ctx, app, append(append([]string{app.Name}, words...), "-h"))
}

// runSorted runs a command line that argv.Permute has sorted. If a topic has the name of the command, -h prints both.
func (p *program) runSorted(ctx context.Context, app *cli.Command, args []string) error {
	app.Before = func(context.Context, *cli.Command) (context.Context, error) {
		return ctx, nil // cli's context names this command, and help's own command line would take it for its parent
	}
	err := app.Run(ctx, args)
	if len(args) != 3 || args[2] != "-h" {
		return err
	}
	at := slices.IndexFunc(topics(), func(t manual.Topic) bool { return t.Name == args[1] })
	if err != nil || at < 0 {
		return err
	}
	safetext.Fprintf(p.out, "\n")
	return p.printTopic(topics()[at])
}

func (p *program) printTopic(topic manual.Topic) error {
	w := p.helpScreen()
	return cmp.Or(manual.Fprint(w, topic.Text(), w.Columns), w.Flush())
}

// unknownCommand returns the error for an unknown command, with the nearest name as a hint.
func unknownCommand(name string, commands []*cli.Command) error {
	if name == "refine" {
		return exit.Problemf(exit.Usage, "%q is a command of roborev; here a run goes on until its review passes", name).
			WithHint("git runr run --review latest", "git runr run -h")
	}
	var names []string
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	unknown := exit.Problemf(exit.Usage, "there is no command %q", name)
	if near := nearest.To(name, names); near != "" {
		return unknown.WithHint("git runr " + near)
	}
	return unknown.WithHint("git runr help")
}

// usageError converts an error of cli's flag parser into a Problem with a hint.
func usageError(_ context.Context, c *cli.Command, err error, _ bool) error {
	help := "git runr help"
	if c != c.Root() {
		help = c.FullName() + " -h"
	}
	var value, flag string
	if n, _ := fmt.Sscanf(err.Error(), "invalid value %q for flag -%s", &value, &flag); n == 2 {
		flag = strings.TrimSuffix(flag, ":")
		return exit.Problemf(exit.Usage, "%s%s does not take %q", strings.Repeat("-", min(len(flag), 2)), flag, value).
			WithHint(help)
	}
	return exit.Problemf(exit.Usage, "%w", err).WithHint(help)
}

func stopReasonsHelp() string {
	var b strings.Builder
	for _, r := range record.Reasons() {
		resumable := "not resumable"
		if r.Resumable {
			resumable = "resumable"
		}
		safetext.Fprintf(&b, "%s (%s)\n    %s (%s, %s, exit status %d)\n", r.Code, r.Title, r.Explanation, r.Family,
			resumable, r.Status)
		for _, step := range r.Next {
			safetext.Fprintf(&b, "    %s\n        %s\n", step.Command, step.What)
		}
	}
	b.WriteString(
		"\nCodes of unmet checks. CHECK is typecheck, test, build, lint, format, docs, security or a check's name:\n")
	for _, u := range diagnose.UnmetCodes() {
		safetext.Fprintf(&b, "%s\n    %s\n", u.Code, u.Meaning)
	}
	return b.String()
}

func splitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }

func (p *program) manCommand() *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "print the manual page, for man(1)",
		Description: `The page contains the commands and the topics of git runr help. git runr install-extras installs
it for git runr --help and git help runr. To read it without installing it: git runr man, piped into man -l -`,
		Action: p.action(func(s *session) error {
			_, err := safetext.Fprintf(s.out, "%s", safetext.Block(s.manualPage()))
			return err
		}),
	}
}

// manualPage returns this program's manual page in roff. A build without a commit date gets today's date.
func (p *program) manualPage() string {
	build := buildNow()
	date, _, _ := strings.Cut(cmp.Or(build.Date, p.now().UTC().Format("2006-01-02")), "T")
	return manual.Page{App: p.app(), Version: build.Name(), Date: date, Topics: topics()}.Roff()
}

// version is set at release: -ldflags "-X main.version=v1.2.3". The commit and its date come from the build
// information of the go command.
var version = ""

func buildNow() build.Build {
	info, _ := debug.ReadBuildInfo()
	return build.Of(version, info)
}

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version; with --json, also its commit and date",
		Action: p.action(showVersion),
	}
}

// showVersion implements git runr version and --version.
func showVersion(s *session) error {
	b := buildNow()
	return s.print(b, func(w io.Writer) { safetext.Fprintf(w, "git-runr %s\n", b) })
}

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a shell's completion script", ArgsUsage: "bash|zsh|fish",
		Description: `bash: eval "$(git-runr completion bash)". zsh: source <(git-runr completion zsh), after compinit.
fish: git-runr completion fish | source. git runr install-extras installs all three.`,
		Action: p.action(func(s *session) error {
			shell := s.Args().First()
			script, err := complete.Scripts.ReadFile(shell + "." + map[bool]string{true: "fish", false: "sh"}[shell == "fish"])
			if err != nil {
				return exit.Problemf(exit.Usage, "name a shell: bash, zsh or fish").WithHint("git runr completion bash")
			}
			_, err = s.out.Write(script)
			return err
		}),
	}
}

// completeCommand returns the hidden command that the shells' completion scripts call.
func (p *program) completeCommand() *cli.Command {
	return &cli.Command{
		Name: "complete", Hidden: true, Usage: "print the completions of the last word", ArgsUsage: "-- WORD…",
		Description: "Prints a line for each word: the word, a tab, its meaning. A line \":files\" or \":dirs\" asks the " +
			"shell for those.",
		Action: p.action(completeWord),
	}
}

// completeWord prints the completions of the last word. It never fails: an error would interrupt somebody who is
// typing.
func completeWord(s *session) error {
	s.quiet = true
	words := s.Args().Slice()
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	want := complete.Of(s.app(), words)
	if want.Dir != "" {
		s.dir = want.Dir
	}
	found := want.Words
	for _, kind := range want.Kinds {
		found = append(found, s.values(want, kind)...)
	}
	told := map[string]bool{}
	for _, word := range found {
		if told[word.Value] {
			continue
		}
		told[word.Value] = true
		if strings.HasPrefix(word.Value, ":") || strings.HasPrefix(word.Value, want.Current) {
			safetext.Fprintf(s.out, "%s", want.Before+word.Value)
			safetext.Fprintf(s.out, "\t%s\n", word.Means)
		}
	}
	return nil
}

// values returns the completions for a kind of argument, or none if they cannot be determined.
func (s *session) values(want complete.Want, kind string) []complete.Word {
	switch kind {
	case "COMMAND":
		return complete.Commands(s.app().Commands)
	case "TOPIC":
		return each.Of(topics(), func(t manual.Topic) complete.Word { return complete.Word{Value: t.Name, Means: t.Usage} })
	}
	if fixed := want.Fixed(kind); len(fixed) > 0 {
		return fixed
	}
	store, err := s.open()
	if err != nil {
		return nil
	}
	return want.In(s.ctx, store, s.getenv, kind)
}

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
