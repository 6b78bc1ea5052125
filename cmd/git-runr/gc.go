package main

import (
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

func (p *program) gcCommand() *cli.Command {
	return &cli.Command{
		Name: "gc", Usage: "drop what was over long ago from the lists, and what old runs left here",
		Description: "Reviews that were resolved or cancelled longer than inbox.retention ago leave the lists; they can\nstill be read (inbox list --archived, inbox get ID). Of runs that were over so long, this clone's\nworktree, transcripts and snapshots are removed, and of both what was typed and not handed in; so are checkouts that killed reviews left, but\nnone that a process is in. Of repositories that are gone, worktrees that hold nothing are removed, others are named. What landings, reverts and restores can be undone by is kept for 30 days,\nand of the newest 50 for good. No event is ever deleted. The worker, and whoever submits or closes\na review, does the same by itself once a day.",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done"}},
		Action:      p.action(gc),
	}
}

type gcJSON struct {
	loop.Garbage
	DryRun bool `json:"dry_run"`
}

func gc(s *session) error {
	if err := s.noArguments(); err != nil {
		return err
	}
	store, conf, err := s.configured()
	if err != nil {
		return err
	}
	now := s.now()
	doc := gcJSON{DryRun: s.Bool("dry-run")}
	if doc.Garbage, err = loop.FindGarbage(s.ctx, store, now.Add(-time.Duration(conf.Inbox.Retention))); err != nil {
		return err
	}
	if !doc.DryRun {
		if err := loop.CollectGarbage(s.ctx, store, doc.Garbage); err != nil {
			return err
		}
	}
	return s.print(doc, func(w io.Writer) { writeGarbage(w, doc, now) })
}

func writeGarbage(w io.Writer, doc gcJSON, now time.Time) {
	for _, r := range doc.Reviews {
		safetext.Fprintf(w, "review %s  %s %s ago\n", r.ID, r.Status, age(now.Sub(r.ClosedAt)))
	}
	for _, g := range doc.Runs {
		safetext.Fprintf(w, "run %s  %s %s ago\n", g.Run.ID, render.RunState(g.Run, false), age(now.Sub(g.Run.UpdatedAt)))
		for _, path := range []string{g.Worktree, g.Files} {
			if path != "" {
				safetext.Fprintf(w, "  %s\n", path)
			}
		}
		if len(g.Snapshots) > 0 {
			safetext.Fprintf(w, "  %s\n", prose.Count(len(g.Snapshots), "snapshot"))
		}
	}
	if len(doc.Undo) > 0 {
		safetext.Fprintf(w, "%s of what can be undone\n", prose.Count(len(doc.Undo), "old record"))
	}
	if n := len(doc.Typed); n > 0 {
		safetext.Fprintf(w, "%s typed for them and not handed in\n", prose.Count(n, "text"))
	}
	for _, dir := range doc.Checkouts {
		safetext.Fprintf(w, "checkout %s\n", dir)
	}
	for _, lost := range doc.Lost {
		safetext.Fprintf(w, "worktree %s of %s, which is gone\n", lost.Dir, lost.Repository)
	}
	for _, kept := range doc.Kept {
		remove, _ := safetext.CommandLine("rm", "-r", "-f", kept.Dir)
		safetext.Fprintf(w, "left alone: %s is of %s, which is gone: was that moved, type git runr gc in it; else: %s\n", kept.Dir, kept.Repository, remove)
	}
	would := ""
	if doc.DryRun {
		would = "would be "
	}
	if len(doc.Checkouts) > 0 {
		safetext.Fprintf(w, "%s of killed processes %sremoved.\n", prose.Count(len(doc.Checkouts), "checkout"), would)
	}
	safetext.Fprintf(w, "%s %sdropped from the lists, and what %s left here.\n", prose.Count(len(doc.Reviews), "review"), would, prose.Count(len(doc.Runs), "run"))
}

// age is how long ago something was, in whole days where it was days.
func age(d time.Duration) string {
	if days := int(d.Hours() / 24); days > 0 {
		return prose.Count(days, "day")
	}
	return d.Truncate(time.Second).String()
}
