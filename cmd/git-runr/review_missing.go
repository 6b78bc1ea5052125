package main

import (
	"fmt"
	"io"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// scannedJSON is the answer of git runr review --missing.
type scannedJSON struct {
	Range   string           `json:"range"`
	DryRun  bool             `json:"dry_run"`
	Queued  int              `json:"queued"` // reviews that are asked for, or would be
	Commits []intake.Scanned `json:"commits"`
}

// reviewMissing asks for reviews of commits that no hook saw.
func (s *session) reviewMissing(store *store.Store, conf *config.Config) error {
	for _, flag := range []string{"worktree", "staged", "wait", "edit", "again", "require-checks"} {
		if s.Bool(flag) {
			return exit.Problemf(exit.Usage, "--missing is of commits, and waits for nothing: not with --%s", flag)
		}
	}
	request, err := s.asked(conf)
	if err != nil {
		return err
	}
	if s.Int("limit") < 0 {
		return exit.Problemf(exit.Usage, "--limit is not negative; 0 is all")
	}
	doc := scannedJSON{DryRun: s.Bool("dry-run")}
	if !doc.DryRun {
		if _, err := lineage.Follow(s.ctx, store); err != nil { // what was reviewed elsewhere counts
			return err
		}
	}
	commits, err := s.scanSpan(store, &doc)
	if err != nil {
		return err
	}
	branch, err := store.Branch(s.ctx)
	if err != nil {
		return err
	}
	if doc.Commits, err = intake.Scan(s.ctx, store, commits, conf.Hooks.Skip, branch); err != nil {
		return err
	}
	for _, c := range doc.Commits {
		if c.State == intake.ScanQueue {
			doc.Queued++
		}
	}
	if !doc.DryRun && doc.Queued > 0 {
		if err := intake.AskMissing(s.ctx, store, request, doc.Commits); err != nil {
			return err
		}
		if hasAgent(request.Reviewers()) {
			s.startWorker(store.Repo)
		}
	}
	return s.print(doc, func(w io.Writer) { writeScanned(w, doc) })
}

// scanSpan returns the commits to look at, newest first, and names the range in doc.
func (s *session) scanSpan(store *store.Store, doc *scannedJSON) ([]gitstore.LoggedCommit, error) {
	rev, err := s.arg("HEAD")
	if err != nil {
		return nil, err
	}
	doc.Range = rev
	limit := s.Int("limit")
	if s.NArg() > 0 {
		from, to, err := store.Repo.Range(s.ctx, rev)
		if err != nil {
			return nil, err
		}
		return store.Repo.Commits(s.ctx, from, to, limit)
	}
	if _, err := store.Repo.Head(s.ctx); err != nil {
		return nil, err
	}
	commits, against, err := lineage.BranchCommits(s.ctx, store)
	if against != "" {
		doc.Range = against + "..HEAD"
	}
	if limit > 0 && len(commits) > limit {
		commits = commits[:limit]
	}
	return commits, err
}

func writeScanned(w io.Writer, doc scannedJSON) {
	verb := "asked for"
	if doc.DryRun {
		verb = "would be asked for"
	}
	safetext.Fprintf(w, "%s in %s: %s %s.\n", prose.Count(len(doc.Commits), "commit"), doc.Range, prose.Count(doc.Queued, "review"), verb)
	for _, c := range doc.Commits {
		line := fmt.Sprintf("  %s  %-10s %s", c.Commit.Short(), c.State, prose.CutColumns(c.Title, 60))
		if c.Why != "" {
			line += " (skipped: " + c.Why + ")"
		}
		safetext.Fprintf(w, "%s\n", line)
	}
}
