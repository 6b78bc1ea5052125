package app

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/build"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/checkup"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/setup"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/queue"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) gcCommand() *cli.Command {
	return &cli.Command{
		Name: "gc", Usage: "remove old closed reviews from the lists, and files of old runs",
		Description: `Reviews that were resolved or cancelled longer than inbox.retention ago leave the lists; they can
still be read (inbox list --archived, show ID). For runs that ended as long ago, this clone's worktree,
transcripts and snapshots are removed; for both, drafts that were not submitted. Checkouts that killed reviews left are
removed, unless a process is in them. Worktrees of deleted repositories are removed if they hold no work, and named
otherwise. What undo needs for landings, reverts and restores is kept for 30 days, and for the newest 50 for good. No
event is ever deleted. The worker, and whoever submits or closes a review, does the same once a day, but leaves
worktrees alone.`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "dry-run", Usage: "print what would be done"}},
		Action: p.withConfig(gc),
	}
}

type gcJSON struct {
	loop.Garbage
	DryRun bool `json:"dry_run"`
}

func gc(s *session, store *store.Store, conf *config.Config) (err error) {
	now := s.now()
	doc := gcJSON{DryRun: s.Bool("dry-run")}
	if doc.Garbage, err = loop.FindGarbage(s.ctx, store, now.Add(-time.Duration(conf.Inbox.Retention))); err != nil {
		return err
	}
	if !doc.DryRun {
		err := loop.CollectGarbage(s.ctx, store, doc.Garbage)
		if err != nil && !errors.Is(err, loop.ErrStillListed) {
			return err
		}
		if err != nil && len(doc.Reviews) > 0 {
			s.say("%v", err)
			doc.Reviews = []record.ReviewSummary{}
		}
	}
	return s.print(doc, func(w io.Writer) { writeGarbage(w, doc, now) })
}

func writeGarbage(w io.Writer, doc gcJSON, now time.Time) {
	for _, r := range doc.Reviews {
		safetext.Fprintf(w, "review %s  %s %s ago\n", r.ID, r.Status, age(now.Sub(r.ClosedAt)))
	}
	for _, g := range doc.Runs {
		safetext.Fprintf(w, "run %s  %s %s ago\n", g.Run.ID, render.RunState(g.Run), age(now.Sub(g.Run.UpdatedAt)))
		for _, path := range []string{g.Worktree, g.Files} {
			screen.When(w, path != "", "  %s\n", path)
		}
		screen.When(w, len(g.Snapshots) > 0, "  %s\n", prose.Count(len(g.Snapshots), "snapshot"))
	}
	screen.When(w, len(doc.Undo) > 0, "%s of what can be undone\n", prose.Count(len(doc.Undo), "old record"))
	screen.When(w, len(doc.Typed) > 0, "%s typed for them and not submitted\n", prose.Count(len(doc.Typed), "text"))
	screen.Each(w, "checkout %s\n", doc.Checkouts)
	for _, lost := range doc.Lost {
		safetext.Fprintf(w, "worktree %s of %s, which is gone\n", lost.Dir, lost.Repository)
	}
	for _, kept := range doc.Kept {
		remove := safetext.ShellLine("rm", "-r", "-f", kept.Dir)
		safetext.Fprintf(w,
			"left alone: %s belongs to %s, which is gone; if that was moved, type git runr gc in it, else: %s\n", kept.Dir,
			kept.Repository, remove)
	}
	would := ""
	if doc.DryRun {
		would = "would be "
	}
	screen.When(w, len(doc.Checkouts) > 0, "%s of killed processes %sremoved.\n",
		prose.Count(len(doc.Checkouts), "checkout"), would)
	if len(doc.Reviews)+len(doc.Runs) == 0 {
		screen.When(w, len(doc.Checkouts)+len(doc.Undo)+len(doc.Typed)+len(doc.Lost) == 0, "There is nothing to remove.\n")
		return
	}
	safetext.Fprintf(w, "%s %sdropped from the lists, and what %s left here.\n", prose.Count(len(doc.Reviews), "review"),
		would, prose.Count(len(doc.Runs), "run"))
}

// age formats a duration: in whole days if it is at least one.
func age(d time.Duration) string {
	if days := int(d.Hours() / 24); days > 0 {
		return prose.Count(days, "day")
	}
	return d.Truncate(time.Second).String()
}

func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "check git, hooks, agents and the remote; print what to type",
		Description: `Prints one line for each: ok, warn (something does not work, or will not) or fail (git-runr
cannot work), and what to type. It calls no agent and changes nothing. It asks the remote what it has and whether it
would accept a push, without pushing, for at most 15 s; --offline leaves that out.
Exit status: 1 if a line says fail.`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "offline", Usage: "do not ask the remote"}},
		Action: p.inRepo(doctor),
	}
}

type doctorJSON struct {
	OK     bool             `json:"ok"` // no check failed
	Checks []checkup.Result `json:"checks"`
}

func doctor(s *session, store *store.Store) error {
	s.quiet = true // warnings about the configuration are lines below
	conf, unread := s.configuration(store)
	terms := checkup.Terms{Version: buildNow().Name(), Now: s.now(), Offline: s.Bool("offline")}
	if s.shows.Page == nil {
		_, terms.Screens = build.Screens()
	}
	checks := checkup.Of(s.ctx, store, conf, unread, terms)
	ok := !slices.ContainsFunc(checks, func(c checkup.Result) bool { return c.State == checkup.Fail })
	return s.printEnding(doctorJSON{ok, checks}, !ok, exit.NotPassed, func(w io.Writer) { writeDoctor(w, checks) })
}

func writeDoctor(w io.Writer, checks []checkup.Result) {
	meaning := map[string]screen.Meaning{checkup.OK: screen.Good, checkup.Warn: screen.Warning,
		checkup.Fail: screen.Critical}
	for _, check := range checks {
		safetext.Fprintf(w, "%s%s%-14s %s\n", meaning[check.State].Of(check.State),
			safetext.Block(strings.Repeat(" ", 6-len(check.State))), check.Name, check.Detail)
		screen.Each(w, "      %s\n", check.Type)
	}
}

func (p *program) fsckCommand() *cli.Command {
	return &cli.Command{
		Name: "fsck", Usage: "check every record; --rebuild recreates cache and notes",
		Description: `Names every missing or damaged record, with its attachments; the others can be used. git runr
sync fetches from the remote what is missing or damaged here. fsck also names what sync refused.
Exit status: 3 if a record is missing or damaged.`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "rebuild", Usage: "recreate the cache and the notes from the logs"}},
		Action: p.inRepo(fsck),
	}
}

type fsckJSON struct {
	Events     int      `json:"events"`
	Unreadable []string `json:"unreadable"`
	Rebuilt    bool     `json:"rebuilt"`
	// NotTaken are the logs that git runr sync fetched and did not accept.
	NotTaken []gitstore.Rejection `json:"not_taken,omitempty"`
}

func fsck(s *session, store *store.Store) error {
	collect(longGC) // the text of all notes is held in memory
	events, bad, err := store.Check(s.ctx, s.Bool("rebuild"))
	if err != nil {
		return err
	}
	doc := fsckJSON{Events: events, Unreadable: each.Of(bad, error.Error), Rebuilt: s.Bool("rebuild")}
	for _, remote := range store.Repo.Remotes() {
		left, err := share.Left(s.ctx, store, remote)
		if err != nil {
			return err
		}
		doc.NotTaken = append(doc.NotTaken, left...)
	}
	return s.printLeaving(doc, doc.Unreadable, func(w io.Writer) {
		safetext.Fprintf(w, "%s, %d unreadable.\n", prose.Count(doc.Events, "event"), len(doc.Unreadable))
		screen.Each(w, "  %s\n", doc.Unreadable)
		writeNotTaken(w, doc.NotTaken)
	})
}

func (p *program) uninstallCommand() *cli.Command {
	return &cli.Command{
		Name: "uninstall", Usage: "undo what init did in this repository",
		Description: `Removes the hooks, the notes from git log, what init told agents, this clone's cache and
settings, and the approval of commands and checks; also .runr.toml, if init wrote it and nobody changed or committed it.
Configuration and hooks are then byte for byte as before. Records, drafts and files of runs stay unless --refs is
given.
A committed .runr.toml belongs to the project and stays.
Exit status: 3 if something was left alone because it was changed.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "refs",
				Usage: "also delete every record of this clone: reviews, runs, notes, snapshots; branches of runs stay"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would be done"},
			&cli.BoolFlag{Name: "yes", Usage: "do it without asking"},
		},
		Action: p.inRepo(uninstall),
	}
}

type uninstallJSON struct {
	Done   []string `json:"done"`           // or would be done
	Left   []string `json:"left"`           // left alone, with the reason
	Kept   string   `json:"kept,omitempty"` // what belongs to the project
	DryRun bool     `json:"dry_run"`
}

func uninstall(s *session, store *store.Store) error {
	if queue.AtWork(store) {
		return exit.Problemf(exit.Busy, "reviews are being done in this clone").WithHint("git runr",
			"then again: git runr uninstall")
	}
	conf, _ := config.Read(s.ctx, store.Repo, s.getenv) // nil if it cannot be read: then there is no approval to remove
	todo, left, kept, err := setup.Removals(s.ctx, store, conf, s.Bool("refs"))
	if err != nil {
		return err
	}
	doc := uninstallJSON{Done: each.Of(todo, func(r setup.Removal) string { return r.What }),
		Left: append([]string{}, left...), Kept: kept, DryRun: s.Bool("dry-run")}
	if !doc.DryRun && len(todo) > 0 {
		line, planned := "git runr uninstall --yes", doc
		planned.DryRun = true
		if s.Bool("refs") {
			line += " --refs"
		}
		err := s.consent("Do this?", func(w io.Writer) { writeUninstall(w, planned) }, "nothing was done", line)
		if err != nil {
			return err
		}
		for _, r := range todo {
			if err := r.Do(); err != nil {
				return fmt.Errorf("%s: %w", r.What, err)
			}
		}
	}
	return s.printLeaving(doc, doc.Left, func(w io.Writer) { writeUninstall(w, doc) })
}

func writeUninstall(w io.Writer, doc uninstallJSON) {
	verb := map[bool]string{true: "would be removed", false: "removed"}[doc.DryRun]
	for _, what := range doc.Done {
		safetext.Fprintf(w, "%s: %s\n", verb, what)
	}
	screen.Each(w, "left alone: %s\n", doc.Left)
	screen.When(w, doc.Kept != "", "kept: %s\n", doc.Kept)
	screen.When(w, len(doc.Done)+len(doc.Left)+len(doc.Kept) == 0, "Nothing to do.\n")
}
