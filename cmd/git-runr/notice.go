package main

import (
	"fmt"

	"git-runr/cmd/git-runr/internal/render"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// sayCritical tells in one line of critical findings on this branch that nobody has
// answered. It is on the hook's path: the cache alone is read. It is the hook's output, for
// what a hook writes to standard error is left to errors that nobody is to see.
func (s *session) sayCritical(store *record.Store) {
	if store.Repo.Operation() != "" || store.Repo.IsOwnWorktree() {
		return
	}
	if line := s.criticalLine(store); line != "" && !s.quiet {
		safetext.Fprintf(s.out, "git-runr: %s\n", line)
	}
}

// criticalLine is that line; "" where there are no such findings.
func (s *session) criticalLine(store *record.Store) string {
	branch, err := store.Branch(s.ctx)
	if err != nil {
		return ""
	}
	reviews := store.Critical(branch)
	if len(reviews) == 0 {
		return ""
	}
	count, newest := 0, reviews[0]
	for _, r := range reviews {
		count += r.Critical
	}
	line := prose.Count(count, "critical finding")
	if len(reviews) > 1 {
		line += fmt.Sprintf(" in %d reviews, the newest", len(reviews))
	}
	if newest.Commit != "" {
		line += " on " + newest.At().Short()
	}
	return fmt.Sprintf("%s %q: git runr inbox get %s", line, prose.Cut(newest.Title, 60), render.ShortID(newest.ID))
}
