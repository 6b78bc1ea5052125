// Package checkup checks whether git-runr can work in a repository: git itself, the configuration and its trusted
// commands, hooks, agents, the remote, and leftovers and damage. It changes nothing.
package checkup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/hooks"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// States of a result.
const (
	OK   = "ok"
	Warn = "warn" // it does not work now, or will not
	Fail = "fail" // git-runr cannot work
)

// Result is the result of one check.
type Result struct {
	Name   string   `json:"name"`
	State  string   `json:"state"`
	Detail string   `json:"detail"`
	Type   []string `json:"type,omitempty"` // commands to type
}

func ok(name, detail string) Result { return Result{name, OK, detail, nil} }

func warn(name, detail string, lines ...string) Result { return Result{name, Warn, detail, lines} }

func fail(name, detail string, lines ...string) Result { return Result{name, Fail, detail, lines} }

// Limits for slow checks, and for free disk space.
const (
	probeLimit = 15 * time.Second
	checkLimit = 30 * time.Second
	lowDisk    = 200 << 20 // bytes
)

// Terms are inputs that are not in the repository.
type Terms struct {
	Version string    // of this program
	Now     time.Time // to decide what is old
	Offline bool      // do not contact the remote
	Screens error     // why this program cannot start git-runr-serve; nil if it can
}

// Of runs all checks. If unread is not nil, the configuration could not be read: conf is not used and checks that
// depend on it are omitted. Of calls no agent; the checks of the remote and of the records are limited by probeLimit
// and checkLimit.
func Of(ctx context.Context, store *store.Store, conf *config.Config, unread error, terms Terms) []Result {
	if unread != nil {
		conf = nil
	}
	all := append(git(ctx, store.Repo), room(store.Repo.Free()))
	if terms.Screens != nil {
		detail := "serve, tui, mcp and the rules for known secrets need git-runr-serve: " + terms.Screens.Error()
		all = append(all, warn("program", detail, build.InstallLine))
	}
	if who, err := store.Repo.Identity(ctx); err != nil {
		all = append(all, fail("identity", "git does not know who you are: "+err.Error(),
			"git config --global user.name \"Your Name\"", "git config --global user.email you@example.com"))
	} else {
		all = append(all, ok("identity", who.String()))
	}
	switch {
	case unread != nil:
		all = append(all, fail("configuration", unread.Error(), "git runr help config"))
	case len(conf.Warnings) > 0:
		all = append(all, warn("configuration", strings.Join(conf.Warnings, "; "), "git runr config --changed"))
	default:
		all = append(all, ok("configuration", "read; reviewer: "+conf.Review.Reviewer))
	}
	if conf != nil {
		all = append(append(all, broken(ctx, store.Repo, conf)...), trust(conf))
	}
	ofHooks, idle := gitHooks(ctx, store.Repo, conf)
	all = append(all, ofHooks...)
	if conf != nil {
		all = append(all, agents(ctx, conf)...)
	}
	all = append(all, remote(ctx, store, conf, terms.Offline))
	all = append(all, notAccepted(ctx, store)...)
	if conf != nil {
		all = append(all, audiences(ctx, store, conf, idle)...)
	}
	all = append(all, locks(store.Repo)...)
	all = append(all, died(ctx, store)...)
	if err := store.Repo.AlteredForUser(ctx); err != nil {
		all = append(all, warn("guard", err.Error(), checking.GuardLines(err)...))
	}
	if op := store.Repo.Operation(); op != "" {
		all = append(all, warn("git", "in the middle of a "+op+": until it ends, hooks request no reviews", "git status"))
	}
	if conf != nil {
		all = append(all, leftovers(ctx, store, terms.Now.Add(-time.Duration(conf.Inbox.Retention))))
	}
	return append(all, records(ctx, store, terms.Version)...)
}

func git(ctx context.Context, repo *gitstore.Repo) []Result {
	major, minor, err := repo.Version(ctx)
	version := fmt.Sprintf("%d.%d", major, minor)
	place := ok("repository", repo.WorkTree)
	if repo.WorkTree == "" {
		place.Detail = "bare: " + repo.GitDir
	}
	if err := repo.Unwritable(); err != nil {
		place = fail("repository", "nothing can be recorded: "+err.Error())
		if denied := new(fs.PathError); errors.As(err, &denied) {
			look := safetext.ShellLine("ls", "-ld", denied.Path)
			place.Type = []string{look}
		}
	}
	switch {
	case err != nil:
		return []Result{fail("git", err.Error()), place}
	case major < 2 || major == 2 && minor < 39:
		return []Result{fail("git", version+": 2.39 or newer is required"), place}
	case major == 2 && minor < 54:
		version += "; from 2.54 on hooks need no files"
	}
	return []Result{ok("git", version), place}
}

// room checks the free space on the repository's disk.
func room(free int64, known bool) Result {
	const mega = 1 << 20
	left := fmt.Sprintf("%d MB are free", free/mega)
	switch {
	case !known:
		return ok("disk", "free space unknown")
	case free < mega:
		return fail("disk", "full: nothing can be recorded", "git runr gc")
	case free < lowDisk:
		return warn("disk", left, "git runr gc")
	}
	return ok("disk", left)
}

// broken warns if new reviews are compared with a commit whose configuration cannot be understood.
func broken(ctx context.Context, repo *gitstore.Repo, conf *config.Config) []Result {
	head, err := repo.Head(ctx)
	if err != nil {
		return nil
	}
	bases := []gitstore.ID{head}
	if c, err := repo.ReadCommit(ctx, head); err == nil {
		bases = append(bases, c.Parents...)
	}
	if point, _, err := repo.BranchPoint(ctx); err == nil && point != "" {
		bases = append(bases, point)
	}
	for _, base := range bases {
		if err := conf.BrokenAt(ctx, base); err != nil {
			return []Result{warn("base", err.Error()+"; what that file says does not apply to reviews of the commits on it",
				"git runr help config")}
		}
	}
	return nil
}

func trust(conf *config.Config) Result {
	switch state, _ := conf.Trust(); {
	case !conf.Executes():
		return ok("trust", "no commands of "+config.FileName+" wait for it")
	case state == config.Trusted:
		return ok("trust", "the commands of "+config.FileName+" are trusted")
	default:
		lines := prose.Count(len(conf.Commands()), "line")
		return warn("trust", fmt.Sprintf("%s of %s will not run: %s", lines, config.FileName, state),
			"git runr trust --show", "git runr trust")
	}
}

// gitHooks checks the hooks. idle reports that no commits are made in the repository, so that only pre-push would run.
func gitHooks(ctx context.Context, repo *gitstore.Repo, conf *config.Config) (all []Result, idle bool) {
	statuses, err := hooks.StatusOf(ctx, repo, conf != nil && conf.Hooks.PrePush != "off")
	if err != nil {
		return []Result{warn("hooks", err.Error(), "git runr hooks status")}, false
	}
	for _, st := range statuses {
		if st.Idle {
			idle = true
			continue
		}
		detail := string(st.State)
		if st.Detail != "" {
			detail += ": " + st.Detail
		}
		switch {
		case st.Repair != "":
			return []Result{fail("hooks", detail, st.Repair)}, idle
		case st.Fails:
			all = append(all, fail(st.Hook, detail, "git runr hooks install", "git runr hooks status"))
		case st.State == hooks.Absent && !st.Known:
			all = append(all, warn(st.Hook, "not installed", "git runr hooks install"))
		case st.State != hooks.Installed || len(st.Without) > 0:
			all = append(all, warn(st.Hook, detail, "git runr hooks status", "git runr hooks install"))
		default:
			all = append(all, ok(st.Hook, detail))
		}
	}
	if idle && len(all) == 0 {
		all = []Result{ok("hooks", "none: a bare repository makes no commits")}
	}
	return all, idle
}

// agents checks the configured agents, and lists the installed ones.
func agents(ctx context.Context, conf *config.Config) (all []Result) {
	known := map[string]config.Agent{}
	var here []string
	for _, a := range conf.Agents(ctx) {
		known[a.Name] = a
		if a.Path != "" {
			here = append(here, strings.TrimSpace(a.Name+" "+a.Version))
		}
	}
	asked := append(strings.Split(conf.Review.Reviewer, ","), conf.Loop.Implementer, conf.Loop.Reviewer, conf.Review.Judge)
	slices.Sort(asked)
	for _, name := range slices.Compact(asked) {
		if name != "" && !role.Reserved(name) {
			base, _, _ := strings.Cut(name, "@")
			a, there := known[base]
			all = append(all, asksOf(name, base, a, there))
		}
	}
	if len(here) == 0 {
		here = []string{"none installed; the built-in reviewer needs none"}
	}
	return append(all, ok("agents here", strings.Join(here, ", ")))
}

// asksOf checks agent a, which is configured under name.
func asksOf(name, base string, a config.Agent, known bool) Result {
	name = "agent " + name
	switch {
	case !known:
		return fail(name, "configured, but there is no such agent", "git runr agents")
	case a.Problem != "":
		return warn(name, a.Problem)
	case a.Path == "":
		return fail(name, "configured, but not installed", "git runr agents "+base)
	case a.SignedIn == agent.SignedInNo:
		return warn(name, "not signed in", "git runr agents --check "+base)
	}
	said := strings.TrimPrefix(a.Version+", signed in: "+string(a.SignedIn), ", ")
	return ok(name, said)
}

func remote(ctx context.Context, store *store.Store, conf *config.Config, offline bool) Result {
	name, repo := "", store.Repo
	if conf != nil {
		name = conf.Sync.Remote
	}
	remote, err := repo.ElectRemote(name)
	none := new(gitstore.MissingError)
	switch {
	case err != nil && len(repo.Remotes()) == 0:
		return ok("remote", "none: nothing is shared")
	case errors.As(err, &none):
		return warn("remote", err.Error(), none.Try)
	case share.Met(store, remote) != "":
		return warn("remote", fmt.Sprintf("the last sync with %s was incomplete: %s", remote, share.Met(store, remote)),
			"git runr sync")
	case offline:
		return ok("remote", remote+", not asked")
	}
	tip, _ := repo.Head(ctx) // "" before the first commit
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	logs, read, push := repo.Probe(ctx, remote, tip)
	switch {
	case read != nil:
		return warn("remote", read.Error(), "git ls-remote "+remote)
	case push != nil:
		return warn("remote", fmt.Sprintf("%s can be read, but accepts no push: %v", remote, push), "git runr sync")
	}
	return ok("remote", fmt.Sprintf("%s can be read and shows %s; a dry-run push met no objection (no hook there ran)",
		remote, prose.Count(logs, "log")))
}

func locks(repo *gitstore.Repo) (all []Result) {
	for _, lock := range repo.LeftLocks() {
		who, remove := "git", safetext.ShellLine("rm", lock.Path)
		if lock.Ours {
			who, remove = "git-runr", "git runr status"
		}
		all = append(all, fail("locks",
			fmt.Sprintf("%s is %s old%s; if no %s is running:", lock.Path, lock.Age, lock.Holder, who), remove))
	}
	if len(all) == 0 {
		all = append(all, ok("locks", "none is older than 10 seconds"))
	}
	return all
}

// died looks for runs whose process ended before they did.
func died(ctx context.Context, records *store.Store) (all []Result) {
	is := func(r record.RunSummary) bool { return workspace.Status(records, r) == record.RunDied }
	runs, _, err := records.Runs(ctx, store.Filter{Run: is})
	if err != nil {
		return []Result{warn("runs", err.Error(), "git runr fsck")}
	}
	for _, run := range runs {
		all = append(all, warn("runs", run.ID+" died", "git runr resume "+run.ID))
	}
	return all
}

// leftovers looks for what killed and finished runs left before the given time.
func leftovers(ctx context.Context, store *store.Store, before time.Time) Result {
	g, err := loop.FindGarbage(ctx, store, before)
	count := len(g.Runs) + len(g.Checkouts) + len(g.Lost)
	switch {
	case err != nil:
		return warn("leftovers", err.Error(), "git runr gc --dry-run")
	case count > 0:
		return warn("leftovers", prose.Count(count, "thing")+" of finished runs and reviews", "git runr gc --dry-run",
			"git runr gc")
	}
	return ok("leftovers", "none")
}

// records reads every event, within a time limit.
func records(ctx context.Context, records *store.Store, version string) []Result {
	limited, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	events, bad, err := records.Check(limited, false)
	seen := ok("records", prose.Count(events, "event")+", all can be read by this version, "+version)
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		seen = warn("records", "too many to read all of them in "+checkLimit.String(), "git runr fsck")
	case err != nil:
		seen = fail("records", err.Error(), "git runr fsck")
	case len(bad) > 0:
		lost := slices.IndexFunc(bad, func(err error) bool { return errors.As(err, new(*store.LostError)) })
		what := fmt.Sprintf("%d of %s cannot be read: %v", len(bad), prose.Count(events+len(bad), "event"),
			bad[max(lost, 0)])
		seen = warn("records", what+"; the others count", "git runr fsck") // another clone wrote what is not an event
		if lost >= 0 {
			seen = fail("records", what, "git runr fsck", "git runr sync", "git runr fsck --rebuild")
		}
	}
	if _, _, err := records.Reviews(ctx, store.Filter{Limit: 1, Some: true}); err != nil {
		return []Result{seen, fail("cache", err.Error(), "git runr fsck --rebuild")}
	}
	return []Result{seen}
}
