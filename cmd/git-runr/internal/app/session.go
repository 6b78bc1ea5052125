package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/progress"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/hooks"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// program is the environment of the process: its streams, variables and clock.
type program struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
	argv     []string      // the process's command line; nil if this process must not become another program
	shows    screens.Shows // the screens that this program has
	secrets  *builtin.Secrets
}

// session is one command line in execution: its flags and arguments. Commands open the repository and the
// configuration with it and pass them on as parameters.
type session struct {
	*console
	*cli.Command
	ctx  context.Context
	dir  string
	note string // -m of a step on several reviews
}

// console is a command's input and output, and the format of the output.
type console struct {
	*program
	json, quiet, verbose bool
	mu                   sync.Mutex
	told                 map[string]bool // lines that tell has printed
	colours              string          // value of --color
	store                *store.Store    // nil until it is opened
}

// action makes a cli action of do.
func (p *program) action(do func(*session) error) cli.ActionFunc {
	return func(ctx context.Context, c *cli.Command) error {
		if when := c.String("color"); when != "" && !slices.Contains([]string{"auto", "always", "never"}, when) {
			return exit.Problemf(exit.Usage, "--color %q is not auto, always or never", when)
		}
		return do(p.session(c, ctx))
	}
}

// inRepo is action for commands that need the repository.
func (p *program) inRepo(do func(*session, *store.Store) error) cli.ActionFunc {
	return p.action(func(s *session) error {
		store, err := s.open()
		if err != nil {
			return err
		}
		return do(s, store)
	})
}

// withConfig is action for commands that need the repository and its configuration.
func (p *program) withConfig(do func(*session, *store.Store, *config.Config) error) cli.ActionFunc {
	return p.action(func(s *session) error {
		store, conf, err := s.configured()
		if err != nil {
			return err
		}
		return do(s, store, conf)
	})
}

// onRun is action for commands on one run: the one that the argument names, or the newest. Where the configuration
// cannot be read, they work with the defaults, because that must keep no run going, unless needs is true.
func (p *program) onRun(needs func(*session) bool,
	do func(*session, *store.Store, *config.Config, record.Run) error) cli.ActionFunc {
	return p.inRepo(func(s *session, store *store.Store) error {
		conf, err := s.configuration(store)
		if err != nil && needs(s) {
			return err
		}
		if err != nil {
			s.say("the defaults are used: %v", err)
			conf = config.Defaults(s.ctx, store.Repo, s.getenv)
		}
		run, err := store.Run(s.ctx, s.arg(record.Latest))
		if err != nil {
			return err
		}
		return do(s, store, conf, run)
	})
}

func (p *program) session(c *cli.Command, ctx context.Context) *session {
	out := &console{program: p, json: c.Bool("json"), quiet: c.Bool("q"), verbose: c.Bool("v"), told: map[string]bool{},
		colours: c.String("color")}
	if c.Bool("no-color") {
		out.colours = "never"
	}
	return &session{console: out, Command: c, ctx: ctx, dir: cmp.Or(c.String("C"), ".")}
}

// open opens the repository of the directory in which the command was started, or of -C, and sets the store up.
func (s *session) open() (*store.Store, error) {
	dir, err := filepath.Abs(s.dir)
	if err != nil { // the end of a run removes its working tree
		return nil, exit.Problemf(exit.NotFound, "the current directory is gone").
			WithHint("cd into the repository, or: git runr -C DIR …")
	}
	repo, err := gitstore.Open(s.ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := checkStateDir(repo.StateDir()); err != nil {
		return nil, err
	}
	if key, value := screen.BadColour(repo.Config.Get); key != "" && !s.Command.Hidden {
		return nil, exit.Problemf(exit.Usage, "bad boolean config value %q for %q", value, key).
			WithHint("git config " + key + " auto")
	}
	repo.Watched = config.Outside(s.getenv, repo.CommonDir)
	if program, err := build.Program(); err == nil {
		repo.Program = program
		repo.OurHook = func(hook string, was, is []byte) bool { return hooks.Ours(hook, program, was, is) }
	}
	repo.PutTrees(gitstore.TreePlace{Root: config.DefaultTrees(s.getenv), Tell: s.tell})
	store := store.NewStore(repo, s.now)
	store.Redact, store.Tell = s.redact, s.tell
	store.Private = func() (gitstore.Globs, error) {
		conf, err := s.configuration(store)
		if err != nil {
			return nil, err
		}
		return conf.Private()
	}
	s.store = store
	if s.verbose {
		store.Warn = func(id gitstore.ID, why string) { s.say("record %s: %s", id.Short(), why) }
	}
	return store, nil
}

// checkStateDir returns an error if a file, or a link that leads to no directory, is in place of the directory for
// git-runr's files.
func checkStateDir(dir string) error {
	at, err := os.Lstat(dir)
	if err != nil || at.IsDir() { // a missing directory is created later
		return nil
	}
	if led, err := os.Stat(dir); err == nil && led.IsDir() {
		return nil
	}
	what := "is not a directory"
	if to, err := os.Readlink(dir); err == nil {
		what = "is a link to " + to + ", which is not a directory"
	}
	return exit.Problemf(exit.Conflict, "%s %s, and git-runr keeps its files there", dir, what).
		WithHint(safetext.ShellLine("mv", dir, dir+".aside"))
}

// tell prints a line on standard error, unless it has printed the same line before.
func (c *console) tell(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.told[line] {
		c.told[line] = true
		c.say("%s", line)
	}
}

func (p *program) redact(text string) string {
	clean, _ := p.secrets.Redact(text)
	return clean
}

// configured opens the repository and reads its configuration.
func (s *session) configured() (*store.Store, *config.Config, error) {
	store, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	conf, err := s.configuration(store)
	return store, conf, err
}

// configuration reads the configuration of a repository, prints its warnings, and applies its settings to the store.
func (s *session) configuration(store *store.Store) (*config.Config, error) {
	conf, err := config.Read(s.ctx, store.Repo, s.getenv)
	if err != nil {
		return nil, err
	}
	conf.Secrets = s.secrets
	for _, warning := range conf.Warnings {
		s.tell(warning)
	}
	trees, err := conf.Trees(s.ctx, s.getenv)
	trees.Tell = s.tell
	store.Repo.PutTrees(trees)
	if store.Repo.KeepIgnored = conf.Loop.KeepIgnored; conf.Loop.KeepIgnored == 0 {
		store.Repo.KeepIgnored = -1
	}
	store.Repo.Elects(conf.Sync.Remote)
	store.Private = conf.Private
	return conf, err
}

// print writes a result: as a JSON document with a version, or as the text that show writes.
func (c *console) print(doc any, show func(w io.Writer)) error {
	if c.json {
		return stdio.WriteJSON(c.out, doc)
	}
	w := c.screen()
	show(w)
	return w.Flush()
}

// printEnding is print for commands whose result can be bad: then the exit status is status.
func (c *console) printEnding(doc any, bad bool, status exit.Status, show func(w io.Writer)) error {
	if err := c.print(doc, show); err != nil || !bad {
		return err
	}
	return exit.With(status)
}

// printLeaving is print for commands that may leave things alone: if left is not empty, the exit status is 3.
func (c *console) printLeaving(doc any, left []string, show func(w io.Writer)) error {
	return c.printEnding(doc, len(left) > 0, exit.Conflict, show)
}

// say prints a message for people on standard error, except with -q.
func (c *console) say(format string, args ...any) {
	if !c.quiet {
		safetext.Fprintf(talk{c.program}, format+"\n", args...)
	}
}

// terminal opens /dev/tty to ask a person, who answers on standard input; nil if nobody can be asked. Questions do
// not go to standard error, because it may be redirected.
func (c *console) terminal() io.WriteCloser {
	if in, _ := stdio.Terminal(c.in); !in || c.getenv("CI") != "" {
		return nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	return tty
}

// question asks a person at tty and returns the line that they type, or an error when ctx ends, which no read from a
// terminal notices.
func (c *console) question(ctx context.Context, tty io.Writer, question string) (string, error) {
	type answer struct {
		line string
		err  error
	}
	safetext.Fprintf(tty, "%s", question)
	typed := make(chan answer, 1)
	go func() {
		line, err := c.readLine()
		typed <- answer{line, err}
	}()
	select {
	case given := <-typed:
		return given.line, given.err
	case <-ctx.Done():
		fmt.Fprintln(tty)
		return "", ctx.Err()
	}
}

// readLine reads a line byte by byte and nothing beyond it, because the rest may answer the next question.
func (c *console) readLine() (string, error) {
	var line []byte
	var char [1]byte
	for {
		n, err := c.in.Read(char[:])
		if n == 0 && err == nil {
			continue
		}
		if err != nil || char[0] == '\n' {
			return strings.TrimSpace(string(line)), err
		}
		line = append(line, char[0])
	}
}

// requirePerson returns an error if an agent, a check or a hook started this command, because only a person may decide.
// An agent has the rights of its user, so this stops a careless one; what a determined one forges, a signature shows.
func (s *session) requirePerson(store *store.Store) error {
	if depth := s.getenv(agent.DepthVar); depth != "" && depth != "0" {
		return exit.Problemf(exit.Untrusted, "git-runr started this process (%s is set): only a person can do this",
			agent.DepthVar)
	}
	if checking.AgentAbove(store) {
		return exit.Problemf(exit.Untrusted,
			"an agent, a check or a hook that git-runr runs here started this: only a person can do this")
	}
	return nil
}

// askPerson shows what a question is about and asks it; any answer but yes is no. asked is false if no person is at a
// terminal.
func (s *session) askPerson(show func(io.Writer), question string) (yes, asked bool) {
	tty := s.terminal()
	if tty == nil {
		return false, false
	}
	defer tty.Close()
	show(tty)
	answer, _ := s.question(s.ctx, tty, question+" [y/N] ")
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(answer)), true
}

// consent asks for permission to do what show describes, except with --yes. Without --json it runs show on standard
// output first. If nobody says yes it returns an exit.Stopped problem that says that nothing was done, with lines to
// type.
func (s *session) consent(question string, show func(io.Writer), nothing string, lines ...string) error {
	if s.Bool("yes") {
		return nil
	}
	if !s.json {
		show(s.out)
	}
	if yes, _ := s.askPerson(func(io.Writer) {}, question); yes {
		return nil
	}
	return exit.Problemf(exit.Stopped, "%s: nobody confirmed", nothing).WithHint(lines...)
}

// progress returns the display of long work on standard error.
func (c *console) progress() *progress.Display {
	tty, _ := stdio.Terminal(c.err)
	width := func() int { _, w := stdio.Terminal(c.err); return w }
	return progress.New(c.err, tty && c.getenv("TERM") != "dumb", width, c.quiet, c.verbose, time.Now)
}

// arg returns the first argument, or other without arguments.
func (s *session) arg(other string) string { return cmp.Or(s.Args().First(), other) }

// messageFlag returns -m. Given again, it adds a paragraph, as in git commit.
func messageFlag(usage string) cli.Flag {
	return &cli.FlagBase[string, cli.NoConfig, paragraphs]{Name: "m", Usage: usage}
}

// paragraphs is the value of -m: what was given, with an empty line between.
type paragraphs struct{ text *string }

func (paragraphs) Create(text string, to *string, _ cli.NoConfig) cli.Value {
	*to = text
	return &paragraphs{to}
}

func (paragraphs) ToString(text string) string { return text }

func (p *paragraphs) Set(text string) error {
	if *p.text != "" {
		text = *p.text + "\n\n" + text
	}
	*p.text = text
	return nil
}

func (p *paragraphs) Get() any       { return *p.text }
func (p *paragraphs) String() string { return *p.text }

// message returns the text of -m. It reads standard input for "-", and, if piped is true, also if -m is missing and
// standard input is not a terminal.
func (s *session) message(piped bool) (string, error) {
	text := s.String("m")
	terminal, _ := stdio.Terminal(s.in)
	if text == "-" || piped && !s.IsSet("m") && !terminal {
		read, err := io.ReadAll(io.LimitReader(s.in, record.MaxMessage+1))
		if err != nil {
			return "", exit.Problemf(exit.Usage, "read the message: %w", err)
		}
		text = string(read)
	}
	if len(text) > record.MaxMessage {
		return "", exit.Problemf(exit.Usage, "the message is longer than %d bytes", record.MaxMessage)
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")), nil
}

// shortGC is the GC percentage for commands that end within milliseconds: the heap may grow to five times what is in
// use. Listing 10,000 reviews takes 15 ms, of which collecting took 2 ms.
const shortGC = 400

// shortMemory is the memory limit in bytes with shortGC. From there on Go collects more often, because a command that
// reads a million events needs little of it at a time.
const shortMemory = 160 << 20

// longGC is Go's default, for processes that stay or hold much memory.
const longGC = 100

// collect sets how far the heap may grow, unless GOGC is set.
func collect(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
		limit := int64(math.MaxInt64)
		if percent == shortGC && os.Getenv("GOMEMLIMIT") == "" {
			limit = shortMemory
		}
		debug.SetMemoryLimit(limit)
	}
}

// person returns who comments and submits in this session: --as, GIT_RUNR_ACTOR, or git's identity. It is the same in
// every terminal, so that a person finds their drafts in each.
func (s *session) person(store *store.Store) (string, error) {
	if s.IsSet("as") {
		return s.String("as"), record.CheckNamed(s.String("as"))
	}
	if name := s.getenv("GIT_RUNR_ACTOR"); name != "" {
		return name, record.CheckNamed(name)
	}
	id, err := store.Repo.Identity(s.ctx)
	return strings.TrimSpace(safetext.Line(id.String())), err
}

// actor returns who claims reviews in this session: the person and the terminal or chat, so that two chats of one
// person are two actors. --as and GIT_RUNR_ACTOR are used unchanged.
func (s *session) actor(store *store.Store) (string, error) {
	name, err := s.person(store)
	if err != nil || s.IsSet("as") || s.getenv("GIT_RUNR_ACTOR") != "" {
		return name, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s (%s %d)", name, safetext.Line(host), agent.Session()), nil
}

// hold returns the claim under which a step is taken, with --force and --claim.
func (s *session) hold(actor string) record.Hold {
	return record.Hold{Actor: actor, Force: s.Bool("force"), Claim: gitstore.ID(s.String("claim"))}
}

func forceFlag() cli.Flag {
	return &cli.BoolFlag{Name: "force", Usage: "even if somebody else has claimed it"}
}

func claimFlag() cli.Flag {
	return &cli.StringFlag{Name: "claim",
		Usage: "only while the claim `ID` is held; claim --json prints it, 7 digits suffice"}
}

func asFlag() cli.Flag {
	return &cli.StringFlag{Name: "as", Usage: "act as `ACTOR` (default: GIT_RUNR_ACTOR, else you)"}
}

// placeOf returns where this clone keeps the run's working tree and files, as paths that the user can type.
func (c *console) placeOf(store *store.Store, run record.Run) diagnose.Place {
	place := diagnose.Place{Tree: treeDir(store, run.ID), Files: workspace.FilesDir(store, run.ID), Width: c.width()}
	if !onDisk(place.Files) {
		place.Files = ""
	}
	place.Dir = place.Tree
	if run.Plan.InPlace {
		place.Dir = store.Repo.WorkTree
	}
	if here() == place.Dir {
		place.Dir = ""
	}
	rel, err := filepath.Rel(here(), place.Files)
	if err == nil && filepath.IsLocal(rel) && place.Files != "" && place.Tree == "" { // from Tree it would be wrong
		place.Files = filepath.ToSlash(rel)
	}
	return place
}

// treeDir returns the directory of the run's own working tree, "" if it has none in this clone.
func treeDir(store *store.Store, run string) string {
	if dir := workspace.TreeDir(store, run); onDisk(dir) {
		return dir
	}
	return ""
}

func onDisk(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// here returns the current directory without symbolic links, "" if it was removed.
func here() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return dir
}

func writeStop(w io.Writer, s *session, store *store.Store, run record.Run) {
	if run.Stop == nil {
		return
	}
	run, err := s.offered(store, run)
	if err != nil {
		run.Plan.Checks = nil // without the configuration no command of another clone may be offered
	}
	screen.Document(w, "\n"+diagnose.Footer(run, s.placeOf(store, run)))
	if accept := diagnose.Of(run, *run.Stop).Accept; accept != "" {
		safetext.Fprintf(w, "Or accept the result as it is: %s\n", accept)
	}
}

// offered returns run without the commands of checks that must not be suggested here.
func (s *session) offered(store *store.Store, run record.Run) (record.Run, error) {
	run = runner.Heard(s.ctx, store, run)
	return config.Offered(store.Repo, run, func() (*config.Config, error) { return s.configuration(store) })
}

// workHere returns an error if the run's commits are not in this clone, although its log is.
func workHere(ctx context.Context, store *store.Store, run record.Run) error {
	_, err := store.Repo.ReadCommit(ctx, run.Head())
	if !errors.Is(err, gitstore.ErrNotFound) {
		return err
	}
	if store.Repo.Owns(run.Writer) {
		return exit.Problemf(exit.NotFound, "the work of run %s (%s) is not in this clone any more", run.ID,
			run.Head().Short()).WithHint("if its branch was pushed: git fetch origin " + run.Plan.Branch)
	}
	return exit.Problemf(exit.NotFound, "the work of run %s (%s) is not in this clone", run.ID, run.Head().Short()).
		WithHint(
			"where it was made: git push origin "+run.Plan.Branch, "here: git fetch origin "+run.Plan.Branch)
}
