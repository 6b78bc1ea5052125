package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"git-runr/gitstore"
	"git-runr/hooks"
	"git-runr/loop/builtin"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/reply"
	"git-runr/loop/safetext"
)

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "run the configured checks here and now", ArgsUsage: "[NAME…]",
		Action: p.action(check),
	}
}

type checkJSON struct {
	Checks []record.CheckResult `json:"checks"`
}

func check(s *session) error {
	_, conf, err := s.configured()
	if err != nil {
		return err
	}
	if s.repo.WorkTree == "" {
		return problemf(exitState, "%w", gitstore.ErrBare)
	}
	if len(conf.checks) == 0 {
		return problemf(exitNotFound, "no checks are configured").withHint("git runr init   writes the checks that this project seems to have")
	}
	run, not := s.trustedChecks()
	if len(not) > 0 {
		return notTrusted(not[0])
	}
	if run, err = chosenChecks(run, s.Args().Slice()); err != nil {
		return err
	}
	progress := s.progress()
	defer progress.close()
	doc, failed := checkJSON{Checks: []record.CheckResult{}}, false
	for _, c := range run {
		progress.step("check", c.Name)
		result := checker.Judge(checker.Run(s.ctx, c, s.repo.WorkTree, ""), nil, nil)
		failed = failed || !result.OK()
		doc.Checks = append(doc.Checks, result)
	}
	progress.close()
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	err = s.print(doc, func(w io.Writer) {
		for _, c := range doc.Checks {
			if !c.OK() && c.Output != "" {
				fmt.Fprintf(w, "%s\n", safetext.Text(c.Output))
			}
			fmt.Fprintf(w, "%s: %s\n", safetext.Line(c.Name), c.State())
		}
	})
	if err == nil && failed {
		return endWith(exitNotPassed)
	}
	return err
}

func chosenChecks(all []record.Check, names []string) ([]record.Check, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []record.Check
	for _, name := range names {
		found := false
		for _, c := range all {
			if c.Name == name {
				chosen, found = append(chosen, c), true
			}
		}
		if !found {
			return nil, problemf(exitNotFound, "no check is called %q", name)
		}
	}
	return chosen, nil
}

func (p *program) parseCommand() *cli.Command {
	review := &cli.Command{
		Name: "review", Usage: "what the parser makes of a reviewer's answer, as JSON", ArgsUsage: "[FILE]",
		Flags: []cli.Flag{&cli.StringFlag{Name: "nonce", Usage: "the nonce that a tagged answer must carry"}},
		Action: p.action(func(s *session) error {
			return parse(s, func(text string) any { return reply.ParseReview(text, s.String("nonce")) })
		}),
	}
	executor := &cli.Command{
		Name: "executor", Usage: "what the parser makes of an implementer's report, as JSON", ArgsUsage: "[FILE]",
		Action: p.action(func(s *session) error { return parse(s, func(text string) any { return reply.ParseExecutor(text) }) }),
	}
	return &cli.Command{
		Name: "parse", Usage: "try the parsers on a text", ArgsUsage: "review|executor [FILE]",
		Subcommands: []*cli.Command{review, executor},
		Action: p.action(func(*session) error {
			return problemf(exitUsage, "what to parse is wanted: review or executor").withHint("git runr parse review FILE")
		}),
	}
}

// parse is always JSON: it is for people who look at the parser, and for scripts.
func parse(s *session, read func(string) any) error {
	name, err := s.arg("-")
	if err != nil {
		return err
	}
	text, err := s.readInput(name)
	if err != nil {
		return err
	}
	return writeJSON(s.out, read(string(text)))
}

func (p *program) syncCommand() *cli.Command {
	return &cli.Command{
		Name: "sync", Usage: "exchange runs and reviews with a remote", ArgsUsage: "[REMOTE]",
		Description: "Fetches the logs of others, takes over what only moved forward, and pushes this clone's log and\nthe notes. Nothing else is fetched or pushed. What git or this program refuses of a log is named, the\nrest is taken; what a log has lost in this clone is brought again. Ends with 11 when the remote does\nnot let this clone push its log, and with 75 when it cannot be reached.",
		Action:      p.action(syncWith),
	}
}

func syncWith(s *session) error {
	name, err := s.arg("")
	if err != nil {
		return err
	}
	store, conf, err := s.configured()
	if err != nil {
		return err
	}
	remote, err := s.repo.ElectRemote(cmp.Or(name, conf.Sync.Remote))
	if err != nil {
		return err
	}
	done, err := store.Sync(s.ctx, remote, conf.Sync.Notes)
	if err != nil {
		return err
	}
	if err := s.print(done, func(w io.Writer) { writeSynced(w, done) }); err != nil || done.Refused == nil {
		return err
	}
	if s.json {
		return endWith(exitState)
	}
	return refusedProblem(done.Refused)
}

// unreadableShown is how many of the records that say nothing a sync names.
const unreadableShown = 5

func writeSynced(w io.Writer, done record.Synced) {
	for _, line := range done.Recovered {
		fmt.Fprintf(w, "recovered: %s\n", safetext.Line(line))
	}
	fmt.Fprintf(w, "Synced with %s: %s from %s; %s of ours pushed.\n", done.Remote, prose.Count(done.Taken, "new event"), prose.Count(len(done.Writers), "writer"), prose.Count(done.Pushed, "event"))
	for _, r := range done.Rejected {
		fmt.Fprintf(w, "not taken over from %s: %s\n", safetext.Line(r.Writer), safetext.Line(r.Reason))
	}
	for i, r := range done.Unreadable {
		if i == unreadableShown {
			fmt.Fprintf(w, "and %s more cannot be read: git runr fsck names them\n", prose.Count(len(done.Unreadable)-i, "event"))
			break
		}
		fmt.Fprintf(w, "left out, from %s: %s\n", safetext.Line(r.Writer), safetext.Line(r.Reason))
	}
	for _, r := range done.Missing {
		fmt.Fprintf(w, "damaged here, and the remote does not have it: the log of %s: %s\n", safetext.Line(r.Writer), safetext.Line(r.Reason))
	}
	for _, lost := range done.Lost {
		fmt.Fprintf(w, "not counted: %s\n", safetext.Line(lost))
	}
	if done.NotesWhy != "" {
		fmt.Fprintf(w, "notes not pushed: %s\n", safetext.Line(done.NotesWhy))
	}
	if done.Foreign != "" {
		fmt.Fprintf(w, "notes of somebody else's hand were at %s; they are in the history of %s there: git show %s\n", done.Remote, record.NotesRef, done.Foreign.Short())
	}
	if done.Renewed {
		fmt.Fprintln(w, "This clone was copied with its configuration: it writes under a new id from now on.")
	}
}

func (p *program) fsckCommand() *cli.Command {
	return &cli.Command{
		Name: "fsck", Usage: "check every record; --rebuild makes cache and notes again",
		Description: "Names every record that is missing or damaged, with what is attached to it; the others can be used.\nEnds with 3 when there is one. git runr sync fetches from the remote what is missing or damaged here.",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "rebuild", Usage: "make the cache and the notes again from the logs"}},
		Action:      p.action(fsck),
	}
}

type fsckJSON struct {
	Events     int      `json:"events"`
	Unreadable []string `json:"unreadable"`
	Rebuilt    bool     `json:"rebuilt"`
}

func fsck(s *session) error {
	store, err := s.open()
	if err != nil {
		return err
	}
	events, bad, err := store.Check(s.ctx)
	if err != nil {
		return err
	}
	doc := fsckJSON{Events: events, Unreadable: []string{}, Rebuilt: s.Bool("rebuild")}
	for _, err := range bad {
		doc.Unreadable = append(doc.Unreadable, err.Error())
	}
	if doc.Rebuilt {
		if err := errors.Join(store.Rebuild(s.ctx), store.RebuildNotes(s.ctx)); err != nil {
			return err
		}
	}
	return s.printLeaving(doc, doc.Unreadable, func(w io.Writer) {
		fmt.Fprintf(w, "%s, %d unreadable.\n", prose.Count(doc.Events, "event"), len(doc.Unreadable))
		for _, line := range doc.Unreadable {
			fmt.Fprintf(w, "  %s\n", safetext.Line(line))
		}
	})
}

func (p *program) hooksCommand() *cli.Command {
	command := func(name, usage string, do func(context.Context, *gitstore.Repo) ([]hooks.Status, error)) *cli.Command {
		return &cli.Command{Name: name, Usage: usage, Action: p.action(func(s *session) error { return hookAction(s, do) })}
	}
	install := func(ctx context.Context, repo *gitstore.Repo) ([]hooks.Status, error) {
		return hooks.Install(ctx, repo, installedProgram(p.getenv("PATH")))
	}
	return &cli.Command{
		Name: "hooks", Usage: "install, uninstall or status of the post-commit hook",
		Subcommands: []*cli.Command{
			command("install", "review every commit in the background", install),
			command("uninstall", "take the hook out again", hooks.Uninstall),
			command("status", "whether git would run it", hooks.StatusOf),
			{Name: "run", Hidden: true, Usage: "what the hook calls", ArgsUsage: "HOOK", Action: p.action(hookRun)},
		},
		Action: p.action(func(s *session) error { return hookAction(s, hooks.StatusOf) }),
	}
}

// installedProgram is this program as PATH names it, which outlives an upgrade, or
// else where its file is.
func installedProgram(path string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	own, err := os.Stat(self)
	if err != nil {
		return ""
	}
	for _, dir := range filepath.SplitList(path) {
		name := filepath.Join(dir, "git-runr")
		if info, err := os.Stat(name); err == nil && filepath.IsAbs(name) && os.SameFile(info, own) {
			return name
		}
	}
	return self
}

type hooksJSON struct {
	Hooks []hooks.Status `json:"hooks"`
}

func hookAction(s *session, do func(context.Context, *gitstore.Repo) ([]hooks.Status, error)) error {
	if s.NArg() > 0 {
		return problemf(exitUsage, "hooks knows no %q", s.Args().First()).withHint("git runr hooks install|uninstall|status")
	}
	if _, err := s.open(); err != nil {
		return err
	}
	statuses, err := do(s.ctx, s.repo)
	if errors.Is(err, hooks.ErrByHand) {
		refused := problemf(exitConflict, "%w", err)
		for _, st := range statuses {
			if st.Snippet != "" {
				refused = refused.withHint("add:").withHint(splitLines(st.Snippet)...)
			}
		}
		return refused
	}
	if err != nil {
		return err
	}
	return s.print(hooksJSON{statuses}, func(w io.Writer) {
		for _, st := range statuses {
			fmt.Fprintf(w, "%s: %s  %s\n", st.Hook, st.State, safetext.Line(st.Path))
			if st.Detail != "" {
				fmt.Fprintf(w, "  %s\n", safetext.Line(st.Detail))
			}
			writeWithout(w, st)
		}
	})
}

// writeWithout names the worktrees that a hook does not reach.
func writeWithout(w io.Writer, st hooks.Status) {
	for _, top := range st.Without {
		fmt.Fprintf(w, "  core.hooksPath is relative, so this worktree has hooks of its own, without it: %s\n", safetext.Line(top))
		if line, ok := safetext.CommandLine("git", "-C", top, "runr", "hooks", "install"); ok {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
}

// hookRun is what git's post-commit hook calls. It records the request and starts
// the worker; whatever goes wrong, the commit is made and must not wait.
func hookRun(s *session) error {
	if s.Args().First() != "post-commit" {
		return nil
	}
	store, err := s.open()
	if err != nil {
		return nil
	}
	store.Redact = nil // no free text
	if err := s.postCommit(store); err != nil {
		s.logHook(err)
	}
	return nil
}

func (s *session) postCommit(store *record.Store) error {
	if run, _ := hooks.ShouldRun(s.ctx, s.repo, s.getenv); !run {
		return nil
	}
	_, conf, err := s.configured()
	if err != nil {
		return err
	}
	if conf.Hooks.PostCommit != "review" {
		return nil
	}
	request := record.ReviewRequest{Reviewer: conf.Review.Reviewer}
	if request.Subject, err = store.HeadSubject(s.ctx); err != nil {
		return err
	}
	if _, err := store.RequestReview(s.ctx, request, "hook"); err != nil {
		return err
	}
	if request.Reviewer == record.Human {
		return nil
	}
	return s.startWorker(s.repo)
}

// logHook keeps what went wrong in a hook where a person can find it.
func (s *session) logHook(err error) {
	file, openErr := os.OpenFile(filepath.Join(s.repo.StateDir(), "hook.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if openErr != nil {
		return
	}
	defer file.Close()
	fmt.Fprintf(file, "%s %s\n", s.now().UTC().Format("2006-01-02T15:04:05Z"), safetext.Line(err.Error()))
}

func (p *program) initCommand() *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "set up this repository: .runr.toml, hook and notes",
		Description: "Writes .runr.toml with the checks that the project seems to have (an existing one is kept),\ninstalls the post-commit hook, and lets git log show the notes and carry them over a rebase.\n" +
			"Offers to register git runr mcp with the agent tools that it finds, in their own configuration files.",
		Flags:  append([]cli.Flag{&cli.BoolFlag{Name: "no-hooks", Usage: "leave git's hooks alone"}}, registerFlags()...),
		Action: p.action(initialise),
	}
}

type initJSON struct {
	Config  string         `json:"config"`
	Written bool           `json:"written"`
	Checks  []record.Check `json:"checks"`
	Hooks   []hooks.Status `json:"hooks"`
	Trusted bool           `json:"trusted"`
	MCP     []registration `json:"mcp"`
}

func initialise(s *session) error {
	store, err := s.open()
	if err != nil {
		return err
	}
	if s.repo.WorkTree == "" {
		return problemf(exitState, "%w: run init in a checkout", gitstore.ErrBare)
	}
	doc := initJSON{Config: filepath.Join(s.repo.WorkTree, configName), Checks: []record.Check{}, Hooks: []hooks.Status{}}
	if err := s.writeConfig(&doc); err != nil {
		return err
	}
	if err := s.showNotes(store); err != nil {
		return err
	}
	if !s.Bool("no-hooks") {
		doc.Hooks, err = hooks.Install(s.ctx, s.repo, installedProgram(s.getenv("PATH")))
		if err != nil && !errors.Is(err, hooks.ErrByHand) {
			return err
		}
	}
	doc.MCP = s.register()
	return s.print(doc, func(w io.Writer) { writeInit(w, doc) })
}

// writeConfig makes .runr.toml from what the repository is. What this command
// wrote, the user has asked for: it is trusted.
func (s *session) writeConfig(doc *initJSON) error {
	if _, err := os.Lstat(doc.Config); err == nil {
		return nil
	}
	read := func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(s.repo.WorkTree, filepath.FromSlash(name)))
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(s.repo.WorkTree, filepath.FromSlash(name)))
		return err == nil
	}
	doc.Checks = append(doc.Checks, builtin.DetectAll(exists, read)...)
	text := initialConfig(doc.Checks)
	file, err := os.OpenFile(doc.Config, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	doc.Written = true
	if _, _, err = s.configured(); err != nil {
		return err
	}
	doc.Trusted = s.conf.executables() == nil || s.approve() == nil
	return nil
}

// showNotes lets plain git log show the notes, of which there may be none yet. Nothing
// is added to what git fetches.
func (s *session) showNotes(store *record.Store) error {
	if err := store.BeginNotes(s.ctx); err != nil {
		return err
	}
	for _, v := range s.repo.Config["notes.displayref"] {
		if v == record.NotesRef {
			return nil
		}
	}
	return s.repo.AddConfig(s.ctx, "notes.displayRef", record.NotesRef)
}

func writeInit(w io.Writer, doc initJSON) {
	if doc.Written {
		if len(doc.Checks) == 0 {
			fmt.Fprintf(w, "Wrote %s. No checks were found here: git runr help config tells how they are added.\n", safetext.Line(doc.Config))
		} else {
			fmt.Fprintf(w, "Wrote %s with %s:\n", safetext.Line(doc.Config), prose.Count(len(doc.Checks), "check"))
		}
		for _, c := range doc.Checks {
			fmt.Fprintf(w, "  %s: %s\n", safetext.Line(c.Name), safetext.Line(c.Command))
		}
		if !doc.Trusted {
			fmt.Fprintln(w, "Its commands are not trusted yet; type: git runr trust")
		}
	} else {
		fmt.Fprintf(w, "Kept %s.\n", safetext.Line(doc.Config))
	}
	for _, st := range doc.Hooks {
		fmt.Fprintf(w, "%s hook: %s\n", st.Hook, st.State)
		if st.Snippet != "" {
			fmt.Fprintf(w, "  %s; add:\n%s\n", safetext.Line(st.Detail), safetext.Text(st.Snippet))
		}
		writeWithout(w, st)
	}
	writeRegistrations(w, doc.MCP)
	fmt.Fprintln(w, "git log shows the notes. Try: git runr review --wait")
}
