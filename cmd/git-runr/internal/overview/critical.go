package overview

import (
	"context"
	"fmt"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// Critical returns one line about unanswered critical findings on this branch, or "". The hook calls it, so it reads
// only the cache.
func Critical(ctx context.Context, store *store.Store) string {
	branch, err := store.Branch(ctx)
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
	line = fmt.Sprintf("%s \"%s\"", line, prose.CutColumns(safetext.Line(newest.Title), 60))
	if newest.Claimed > 0 {
		line += fmt.Sprintf(" (%d claimed fixed)", newest.Claimed)
	}
	return line + ": git runr show " + screen.Suffix(newest.ID)
}
