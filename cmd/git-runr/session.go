package main

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

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/progress"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/hooks"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// program is what the process was started with.
type program struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
}

// session is one command line that is carried out: its flags and arguments. What it works
// on, the repository and the configuration, it opens and hands on.
type session struct {
	*console
	*cli.Context
	ctx  context.Context
	dir  string
	note string // what -m says of a step with reviews
}

// console is where a command reads and writes, and in which form.
type console struct {
	*program
	json, quiet, verbose bool
	mu                   sync.Mutex
	told                 map[string]bool // lines that were told
	colours              string          // what --color says
	store                *store.Store    // nil until it is opened
}

// action makes a command of do.
func (p *program) action(do func(*session) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if when := c.String("color"); when != "" && !slices.Contains([]string{"auto", "always", "never"}, when) {
			return exit.Problemf(exit.Usage, "--color %q is not auto, always or never", when)
		}
		return do(p.session(c, c.Context))
	}
}

// inRepo is action for a command that works on the repository.
func (p *program) inRepo(do func(*session, *store.Store) error) cli.ActionFunc {
	return p.action(func(s *session) error {
		store, err := s.open()
		if err != nil {
			return err
		}
		return do(s, store)
	})
}

// withConfig is action for a command that works on the repository by its configuration.
func (p *program) withConfig(do func(*session, *store.Store, *config.Config) error) cli.ActionFunc {
	return p.action(func(s *session) error {
		store, conf, err := s.configured()
		if err != nil {
			return err
		}
		return do(s, store, conf)
	})
}

// onRun is action for a command on the run that its only argument names, or on the newest.
func (p *program) onRun(do func(*session, *store.Store, *config.Config, record.Run) error) cli.ActionFunc {
	return p.withConfig(func(s *session, store *store.Store, conf *config.Config) error {
		run, err := store.Run(s.ctx, s.arg(record.Latest))
		if err != nil {
			return err
		}
		return do(s, store, conf, run)
	})
}

func (p *program) session(c *cli.Context, ctx context.Context) *session {
	out := &console{program: p, json: c.Bool("json"), quiet: c.Bool("q"), verbose: c.Bool("v"), told: map[string]bool{}, colours: c.String("color")}
	if c.Bool("no-color") {
		out.colours = "never"
	}
	return &session{console: out, Context: c, ctx: ctx, dir: cmp.Or(c.String("C"), ".")}
}

// open finds the repository.
func (s *session) open() (*store.Store, error) {
	dir, err := filepath.Abs(s.dir)
	if err != nil { // a run that is over takes its working tree along
		return nil, exit.Problemf(exit.NotFound, "the current directory is gone").WithHint("cd into the repository, or: git runr -C DIR …")
	}
	repo, err := gitstore.Open(s.ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := checkStateDir(repo.StateDir()); err != nil {
		return nil, err
	}
	if key, value := screen.BadColour(repo.Config.Get); key != "" && !s.Command.Hidden {
		return nil, exit.Problemf(exit.Usage, "bad boolean config value %q for %q", value, key).WithHint("git config " + key + " auto")
	}
	repo.Watched = config.Outside(s.getenv, repo.CommonDir)
	if program, err := os.Executable(); err == nil {
		repo.Program = program
		repo.OurHook = func(hook string, was, is []byte) bool { return hooks.Ours(hook, program, was, is) }
	}
	repo.PutTrees(gitstore.TreePlace{Root: config.DefaultTrees(s.getenv), Tell: s.tell})
	store := store.NewStore(repo, s.now)
	store.Redact, store.Tell = redact, s.tell
	store.Private = func(branch string) bool {
		conf, err := s.configuration(store)
		return err == nil && conf.Private(branch)
	}
	s.store = store
	if s.verbose {
		store.Warn = func(id gitstore.ID, why string) { s.say("record %s: %s", id.Short(), why) }
	}
	return store, nil
}

// checkStateDir refuses a file, or a link that leads to no directory, in place of the directory for git-runr's files.
func checkStateDir(dir string) error {
	at, err := os.Lstat(dir)
	if err != nil || at.IsDir() { // what is missing is made
		return nil
	}
	if led, err := os.Stat(dir); err == nil && led.IsDir() {
		return nil
	}
	what := "is not a directory"
	if to, err := os.Readlink(dir); err == nil {
		what = "is a link to " + to + ", which leads to no directory"
	}
	return exit.Problemf(exit.Conflict, "%s %s, and git-runr keeps its files there", dir, what).WithHint(safetext.ShellLine("mv", dir, dir+".aside"))
}

// tell says a line once, whoever tells it how often.
func (c *console) tell(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.told[line] {
		c.told[line] = true
		c.say("%s", line)
	}
}

func redact(text string) string {
	clean, _ := builtin.RedactSecrets(text)
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

// configuration reads that of a repository, and tells what is odd in it.
func (s *session) configuration(store *store.Store) (*config.Config, error) {
	conf, err := config.Read(s.ctx, store.Repo, s.getenv)
	if err != nil {
		return nil, err
	}
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

// print writes a result: as JSON with a version, or as the text that show writes.
func (c *console) print(doc any, show func(w io.Writer)) error {
	if c.json {
		return stdio.WriteJSON(c.out, doc)
	}
	w := c.screen()
	show(w)
	return w.Flush()
}

// printLeaving is print where something was left alone: that is exit status 3.
func (c *console) printLeaving(doc any, left []string, show func(w io.Writer)) error {
	err := c.print(doc, show)
	if err == nil && len(left) > 0 {
		return exit.With(exit.Conflict)
	}
	return err
}

// say tells people something on standard error, unless -q.
func (c *console) say(format string, args ...any) {
	if !c.quiet {
		safetext.Fprintf(talk{c.program}, format+"\n", args...)
	}
}

// terminal is where a person can be asked, who answers on standard input; nil when
// nobody is there. It is /dev/tty, so that a redirected standard error hides no question.
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

// agrees asks a person at tty; anything but yes is no.
func (c *console) agrees(tty io.Writer, question string) bool {
	answer, _ := c.question(tty, question+" [y/N] ")
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(answer))
}

// question asks a person at tty, and gives the line that is typed. Nothing behind it is read, as it may
// answer the next question.
func (c *console) question(tty io.Writer, question string) (string, error) {
	safetext.Fprintf(tty, "%s", question)
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

// askPerson shows a person at a terminal what a question is about, and asks it. asked is false where nobody is there.
func (c *console) askPerson(show func(io.Writer), question string) (yes, asked bool) {
	tty := c.terminal()
	if tty == nil {
		return false, false
	}
	defer tty.Close()
	show(tty)
	return c.agrees(tty, question), true
}

// consent asks, unless there is --yes, whether what show writes shall be done, which without --json it writes
// before. Where nobody says yes it is exit.Stopped: that nothing was done, and lines to type.
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
	return exit.Problemf(exit.Stopped, "%s: nobody said yes", nothing).WithHint(lines...)
}

// progress shows long work on standard error.
func (c *console) progress() *progress.Display {
	tty, _ := stdio.Terminal(c.err)
	width := func() int { _, w := stdio.Terminal(c.err); return w }
	return progress.New(c.err, tty && c.getenv("TERM") != "dumb", width, c.quiet, c.verbose, time.Now)
}

// arg returns the first argument, or other without arguments.
func (s *session) arg(other string) string { return cmp.Or(s.Args().First(), other) }

// noArguments refuses arguments. checkArguments has done so before, but for bare git runr.
func (s *session) noArguments() error { return checkArguments(s.Context) }

// message is what -m says; standard input for "-", and, where piped allows it, when
// there is no -m and standard input is no terminal.
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

// shortGC lets the heap of a command that ends in milliseconds grow to five times
// what is in use: collecting it took 2 ms of a list of 10,000 reviews, of 15.
const shortGC = 400

// shortMemory is from how many bytes on it is collected more often than that: what reads a million
// events needs little at a time.
const shortMemory = 160 << 20

// longGC is Go's own value, for a process that stays, or that holds much.
const longGC = 100

// collect sets how far the heap may grow, unless the user did.
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

// person is who comments and submits here: --as, GIT_RUNR_ACTOR, or git's identity.
// It is the same in every terminal, as drafts are.
func (s *session) person(store *store.Store) (string, error) {
	if s.IsSet("as") {
		return s.String("as"), nil
	}
	if name := s.getenv("GIT_RUNR_ACTOR"); name != "" {
		return name, nil
	}
	id, err := store.Repo.Identity(s.ctx)
	return strings.TrimSpace(safetext.Line(id.String())), err
}

// actor is who claims here: person, and the terminal or chat that it acts in, so
// that two chats of one person are two.
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

// hold is by whom a step is done, by the flags.
func (s *session) hold(actor string) record.Hold {
	return record.Hold{Actor: actor, Force: s.Bool("force"), Claim: gitstore.ID(s.String("claim"))}
}

func forceFlag() cli.Flag {
	return &cli.BoolFlag{Name: "force", Usage: "although somebody else has claimed it"}
}

func claimFlag() cli.Flag {
	return &cli.StringFlag{Name: "claim", Usage: "only while the claim `ID` stands, which claim --json gives: the first 7 digits will do"}
}

func asFlag() cli.Flag {
	return &cli.StringFlag{Name: "as", Usage: "act as `ACTOR` (default: GIT_RUNR_ACTOR, else you)"}
}

// placeOf is where run keeps its things in this clone, as the user can type it.
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
	if place.Files != "" && place.Tree == "" { // else the command is run there, from where a relative path leads nowhere
		place.Files = fromHere(place.Files)
	}
	return place
}

// treeDir is the working tree that a run has of its own, "" where it has none here.
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

// fromHere is path from where the command was started, when it is below that.
func fromHere(path string) string {
	rel, err := filepath.Rel(here(), path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.ToSlash(rel)
}

// here is the current directory without symbolic links, "" when it is gone.
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
		run.Plan.Checks = nil // without the configuration nothing of another clone's is offered
	}
	screen.Document(w, "\n"+diagnose.Footer(run, s.placeOf(store, run)))
	if accept := diagnose.Of(run, *run.Stop).Accept; accept != "" {
		safetext.Fprintf(w, "Or accept what there is, with its open findings: %s\n", accept)
	}
}

// offered is run with those checks alone that may be shown as something to type here.
func (s *session) offered(store *store.Store, run record.Run) (record.Run, error) {
	return config.Offered(store.Repo.Writer(), run, func() (*config.Config, error) { return s.configuration(store) })
}

// workHere refuses to go on with a run whose commits did not come with its log.
func workHere(ctx context.Context, store *store.Store, run record.Run) error {
	_, err := store.Repo.ReadCommit(ctx, run.Head())
	if !errors.Is(err, gitstore.ErrNotFound) {
		return err
	}
	return exit.Problemf(exit.NotFound, "the work of run %s (%s) is not in this clone", run.ID, run.Head().Short()).WithHint(
		"where it was made: git push origin "+run.Plan.Branch, "here: git fetch origin "+run.Plan.Branch)
}
