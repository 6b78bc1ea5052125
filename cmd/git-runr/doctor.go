package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/config"
	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/screen"
	"git-runr/gitstore"
	"git-runr/hooks"
	"git-runr/loop"
	"git-runr/loop/agent"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/role"
	"git-runr/loop/safetext"
)

func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "check git, hooks, trust, agents, the remote and what is recorded, and say what to type",
		Description: "One line for each: ok, warn (something does not work, or will not) or fail (it cannot do its work),\n" +
			"and what to type. No agent is called. The remote is asked what it has and whether it would take a push, which\n" +
			"is not carried out and takes 15 s at most; --offline leaves that out. Nothing is changed.\n" +
			"Exit status: 1 where a line says fail.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "offline", Usage: "do not ask the remote"}},
		Action: p.action(doctor),
	}
}

// The states of a check of the doctor's.
const (
	checkOK   = "ok"
	checkWarn = "warn"
	checkFail = "fail"
)

// checkup is one line of git runr doctor.
type checkup struct {
	Name   string   `json:"name"`
	State  string   `json:"state"`
	Detail string   `json:"detail"`
	Type   []string `json:"type,omitempty"` // what to type
}

type doctorJSON struct {
	OK     bool      `json:"ok"` // no line says fail
	Checks []checkup `json:"checks"`
}

// examination collects lines.
type examination struct {
	*session
	store *record.Store
	conf  *config.Config // nil where it cannot be read
	lines []checkup
}

func (e *examination) say(name, state, detail string, lines ...string) {
	e.lines = append(e.lines, checkup{name, state, detail, lines})
}

// Bounds of what takes longer the more there is, or the farther away it is.
const (
	probeLimit = 15 * time.Second
	checkLimit = 30 * time.Second
)

func doctor(s *session) error {
	if s.NArg() > 0 {
		return exit.Problemf(exit.Usage, "doctor takes no arguments").WithHint("git runr doctor -h")
	}
	s.quiet = true // what configuration says by itself is a line below
	store, err := s.open()
	if err != nil {
		return err
	}
	e := &examination{session: s, store: store}
	for _, look := range []func(){e.git, e.identity, e.configuration, e.trust, e.hooks, e.agents, e.remote, e.locks, e.leftovers, e.records} {
		look()
	}
	ok := !slices.ContainsFunc(e.lines, func(c checkup) bool { return c.State == checkFail })
	err = s.print(doctorJSON{ok, e.lines}, func(w io.Writer) { writeDoctor(w, e.lines) })
	if err == nil && !ok {
		return exit.With(exit.NotPassed)
	}
	return err
}

func writeDoctor(w io.Writer, lines []checkup) {
	meaning := map[string]screen.Meaning{checkOK: screen.Good, checkWarn: screen.Warning, checkFail: screen.Critical}
	for _, line := range lines {
		safetext.Fprintf(w, "%s%s%-14s %s\n", meaning[line.State].Of(line.State), safetext.Block(strings.Repeat(" ", 6-len(line.State))), line.Name, line.Detail)
		for _, command := range line.Type {
			safetext.Fprintf(w, "      %s\n", command)
		}
	}
}

func (e *examination) git() {
	major, minor, err := e.store.Repo.Version(e.ctx)
	version := fmt.Sprintf("%d.%d", major, minor)
	switch {
	case err != nil:
		e.say("git", checkFail, err.Error())
	case major < 2 || major == 2 && minor < 39:
		e.say("git", checkFail, version+": 2.39 or newer is wanted")
	case major == 2 && minor < 54:
		e.say("git", checkOK, version+"; from 2.54 on hooks need no files")
	default:
		e.say("git", checkOK, version)
	}
	if dir := e.store.Repo.WorkTree; dir == "" {
		e.say("repository", checkOK, "bare: "+e.store.Repo.GitDir)
	} else {
		e.say("repository", checkOK, dir)
	}
}

func (e *examination) identity() {
	who, err := e.store.Repo.Identity(e.ctx)
	if err != nil {
		e.say("identity", checkFail, "git does not know who you are: "+err.Error(), "git config --global user.name \"Your Name\"", "git config --global user.email you@example.com")
		return
	}
	e.say("identity", checkOK, who.String())
}

func (e *examination) configuration() {
	conf, err := e.session.configuration(e.store)
	if err != nil {
		e.say("configuration", checkFail, err.Error(), "git runr help config")
		return
	}
	e.conf = conf
	if len(conf.Warnings) > 0 {
		e.say("configuration", checkWarn, strings.Join(conf.Warnings, "; "), "git runr config --changed")
		return
	}
	e.say("configuration", checkOK, "read; reviewer: "+conf.Review.Reviewer)
}

func (e *examination) trust() {
	if e.conf == nil {
		return
	}
	switch state, news := e.conf.Trust(); {
	case !e.conf.Executes():
		e.say("trust", checkOK, config.FileName+" names no commands")
	case state == config.Trusted:
		e.say("trust", checkOK, "the commands of "+config.FileName+" are trusted")
	default:
		e.say("trust", checkWarn, fmt.Sprintf("%s of %s will not run: %s", prose.Count(len(news), "line"), config.FileName, state), "git runr trust --show", "git runr trust")
	}
}

func (e *examination) hooks() {
	statuses, err := hooks.StatusOf(e.ctx, e.store.Repo, e.conf != nil && e.conf.Hooks.PrePush != "off")
	if err != nil {
		e.say("hooks", checkWarn, err.Error(), "git runr hooks status")
		return
	}
	for _, st := range statuses {
		detail := string(st.State)
		if st.Detail != "" {
			detail += ": " + st.Detail
		}
		switch {
		case st.Fails:
			e.say(st.Hook, checkFail, detail, "git runr hooks install", "git runr hooks status")
		case st.State == hooks.Absent && !st.Known:
			e.say(st.Hook, checkWarn, "not installed", "git runr hooks install")
		case st.State != hooks.Installed || len(st.Without) > 0:
			e.say(st.Hook, checkWarn, detail, "git runr hooks status", "git runr hooks install")
		default:
			e.say(st.Hook, checkOK, detail)
		}
	}
}

// agents looks at those that are configured to be asked, and at those that are here.
func (e *examination) agents() {
	if e.conf == nil {
		return
	}
	all := map[string]config.Agent{}
	var here []string
	for _, a := range e.conf.Agents(e.ctx) {
		all[a.Name] = a
		if a.Path != "" {
			here = append(here, a.Name+" "+a.Version)
		}
	}
	asked := append(strings.Split(e.conf.Review.Reviewer, ","), e.conf.Loop.Implementer, e.conf.Loop.Reviewer, e.conf.Review.Judge)
	slices.Sort(asked)
	for _, name := range slices.Compact(asked) {
		if name == "" || role.Reserved(name) {
			continue
		}
		base, _, _ := strings.Cut(name, "@")
		switch a, known := all[base]; {
		case !known:
			e.say("agent "+name, checkFail, "it is configured to be asked, and there is none of that name", "git runr agents")
		case a.Problem != "":
			e.say("agent "+name, checkWarn, a.Problem)
		case a.Path == "":
			e.say("agent "+name, checkFail, "it is configured to be asked, and is not installed", "git runr agents "+base)
		case a.SignedIn == agent.SignedInNo:
			e.say("agent "+name, checkWarn, "nobody is signed in", "git runr agents --check "+base)
		default:
			e.say("agent "+name, checkOK, a.Version+", signed in: "+string(a.SignedIn))
		}
	}
	if len(here) == 0 {
		here = []string{"none; the built-in reviewer needs none"}
	}
	e.say("agents here", checkOK, strings.Join(here, ", "))
}

func (e *examination) remote() {
	name := ""
	if e.conf != nil {
		name = e.conf.Sync.Remote
	}
	remote, err := e.store.Repo.ElectRemote(name)
	switch {
	case err != nil && len(e.store.Repo.Remotes()) == 0:
		e.say("remote", checkOK, "none: nothing is shared")
		return
	case err != nil:
		e.say("remote", checkWarn, err.Error(), "git config runr.remote NAME")
		return
	case e.Bool("offline"):
		e.say("remote", checkOK, remote+", not asked")
		return
	}
	tip, err := e.store.Repo.Head(e.ctx)
	if errors.Is(err, gitstore.ErrUnborn) {
		tip = ""
	}
	ctx, cancel := context.WithTimeout(e.ctx, probeLimit)
	defer cancel()
	logs, read, push := e.store.Repo.Probe(ctx, remote, tip)
	switch {
	case read != nil:
		e.say("remote", checkWarn, read.Error(), "git ls-remote "+remote)
	case push != nil:
		e.say("remote", checkWarn, fmt.Sprintf("%s can be read, and takes no push: %v", remote, push), "git runr sync")
	default:
		e.say("remote", checkOK, fmt.Sprintf("%s can be read and pushed to; it has %s", remote, prose.Count(logs, "log")))
	}
}

func (e *examination) locks() {
	left := e.store.Repo.LeftLocks()
	for _, lock := range left {
		remove, _ := safetext.CommandLine("rm", lock.Path)
		e.say("lock", checkFail, fmt.Sprintf("%s has been there for %s%s; if no git is at work:", lock.Path, lock.Age, lock.Holder), remove)
	}
	if len(left) == 0 {
		e.say("locks", checkOK, "none is left")
	}
}

// leftovers are what killed and old runs left.
func (e *examination) leftovers() {
	if op := e.store.Repo.Operation(); op != "" {
		e.say("git", checkWarn, "in the middle of a "+op+": no hook asks for reviews meanwhile", "git status")
	}
	if e.conf == nil {
		return
	}
	g, err := loop.FindGarbage(e.ctx, e.store, e.now().Add(-time.Duration(e.conf.Inbox.Retention)))
	count := len(g.Runs) + len(g.Checkouts) + len(g.Lost)
	switch {
	case err != nil:
		e.say("leftovers", checkWarn, err.Error(), "git runr gc --dry-run")
	case count > 0:
		e.say("leftovers", checkWarn, prose.Count(count, "thing")+" of runs and reviews that are over", "git runr gc --dry-run", "git runr gc")
	default:
		e.say("leftovers", checkOK, "none")
	}
}

// records reads every event, for so long.
func (e *examination) records() {
	ctx, cancel := context.WithTimeout(e.ctx, checkLimit)
	defer cancel()
	events, bad, err := e.store.Check(ctx, false)
	switch {
	case ctx.Err() != nil && e.ctx.Err() == nil:
		e.say("records", checkWarn, "there are many: not all were read in "+checkLimit.String(), "git runr fsck")
	case err != nil:
		e.say("records", checkFail, err.Error(), "git runr fsck")
	case len(bad) > 0:
		e.say("records", checkFail, fmt.Sprintf("%d of %s cannot be read: %v", len(bad), prose.Count(events+len(bad), "event"), bad[0]), "git runr fsck", "git runr sync", "git runr fsck --rebuild")
	default:
		e.say("records", checkOK, prose.Count(events, "event")+", all can be read by this version, "+buildNow().name())
	}
	if _, _, err := e.store.Reviews(e.ctx, record.Filter{Limit: 1, Some: true}); err != nil {
		e.say("cache", checkFail, err.Error(), "git runr fsck --rebuild")
	}
}
