package app

import (
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) guardCommand() *cli.Command {
	all := &cli.BoolFlag{Name: "all", Usage: "also changes that a person may have made"}
	return &cli.Command{
		Name: "guard", Usage: "show what changed in the repository while an agent worked",
		Description: `Lists settings, hooks, refs, indexes and git operations that changed while an agent, a check or a
hook ran, until you accept or restore them. "restore" puts back what stopped the work, unless it changed again since;
it leaves what a person may have changed. While a changed setting remains that git would execute, git-runr makes no git
call that could execute it; lists, show, diagnose and abort work.`,
		Action: p.inRepo(guard),
		Commands: []*cli.Command{
			{Name: "restore", Usage: "put the changes back", Flags: []cli.Flag{all}, Action: p.inRepo(guardRestore)},
			{Name: "accept", Usage: "keep the changes: you made them", Action: p.inRepo(guardAccept)},
		},
	}
}

type guardJSON struct {
	Alterations []alterationJSON `json:"alterations"`
}

type alterationJSON struct {
	gitstore.Alteration
	Diffs map[string][]string `json:"diffs,omitempty"` // by path: removed lines with "-", added lines with "+"
}

func guard(s *session, store *store.Store) error {
	all, err := store.Repo.Alterations(s.ctx)
	if err != nil {
		return err
	}
	doc := guardJSON{Alterations: make([]alterationJSON, 0, len(all))}
	for _, a := range all {
		one := alterationJSON{Alteration: a, Diffs: map[string][]string{}}
		for _, c := range a.Files {
			one.Diffs[c.Path] = c.Diff(s.ctx)
		}
		doc.Alterations = append(doc.Alterations, one)
	}
	return s.print(doc, func(w io.Writer) { s.writeGuard(w, store.Repo, doc) })
}

func (s *session) writeGuard(w io.Writer, repo *gitstore.Repo, doc guardJSON) {
	if len(doc.Alterations) == 0 {
		fmt.Fprintln(w, "Nothing to accept or restore: no change to settings, hooks, refs or an operation of git is "+
			"recorded here.\nFiles of your checkout, and what was unstaged, are never recorded: see git status.")
		return
	}
	for _, a := range doc.Alterations {
		safetext.Fprintf(w, "%s, while %s:\n", a.At.Local().Format("2006-01-02 15:04"), a.While)
		screen.Each(w, "  %s\n", checking.Changes(repo, a.Alteration))
		for _, c := range a.Files {
			safetext.Fprintf(w, "  %s\n", c.Path)
			screen.Each(w, "    %s\n", a.Diffs[c.Path])
		}
	}
	if slices.ContainsFunc(doc.Alterations, func(a alterationJSON) bool { return !a.WithoutPeople().Empty() }) {
		fmt.Fprintln(w, "\nTo put back what stopped the work (everything with --all):\n  git runr guard restore")
	} else {
		fmt.Fprintln(w, "\nNothing of this stopped the work, and a person may have made it. To put it back:\n"+
			"  git runr guard restore --all")
	}
	fmt.Fprintln(w, "To keep the changes:\n  git runr guard accept")
}

// restoredGuardJSON is the result of git runr guard restore: what it put back, and what it left as it is, with why.
type restoredGuardJSON struct {
	Restored []string `json:"restored"`
	Left     []string `json:"left"`
}

func guardAccept(s *session, store *store.Store) error {
	if err := s.requirePerson(store); err != nil {
		return err
	}
	all, err := store.Repo.Alterations(s.ctx)
	if err := store.Repo.AcceptAlterations(s.ctx); err != nil {
		return err
	}
	changes := 0
	for _, a := range all {
		changes += len(checking.Changes(store.Repo, a))
	}
	if s.json {
		return s.print(map[string]any{"accepted": changes}, nil)
	}
	said := "accepted: " + prose.Count(changes, "change")
	if err == nil && len(all) == 0 {
		said = "there was nothing to accept"
	}
	s.say("%s", said)
	return nil
}

func guardRestore(s *session, store *store.Store) error {
	if err := s.requirePerson(store); err != nil {
		return err
	}
	done, err := store.Repo.RestoreAlterations(s.ctx, s.Bool("all"))
	doc := restoredGuardJSON{Restored: []string{}, Left: []string{}}
	for _, back := range done {
		if back.Left != "" {
			doc.Left = append(doc.Left, back.What+": "+back.Left)
			s.say("left alone: %s: %s", back.What, back.Left)
			continue
		}
		doc.Restored = append(doc.Restored, back.What)
		s.say("put back: %s", back.What)
	}
	if err != nil {
		return err
	}
	rest, restErr := store.Repo.Alterations(s.ctx)
	switch {
	case restErr == nil && len(rest) > len(doc.Left) && !s.Bool("all"):
		s.say("a person may have changed the rest, so it was left alone: git runr guard; git runr guard restore --all")
	case len(done) == 0:
		s.say("there was nothing to put back")
	}
	if s.json {
		err = s.print(doc, nil)
	}
	if err == nil && len(doc.Left) > 0 {
		return exit.With(exit.Conflict)
	}
	return err
}
