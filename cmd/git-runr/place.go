package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

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
