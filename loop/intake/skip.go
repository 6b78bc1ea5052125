package intake

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/store"
)

// Skip says for which commits no review is requested automatically. The zero Skip skips none.
type Skip struct {
	Paths    []string // globs: skip a commit that changes only such files
	Authors  []string // parts of the author's name or address, ignoring case
	Messages []string // parts of the message, ignoring case
	Branches []string // globs of the current branch
	Lines    int      // skip commits with more added and deleted lines; 0: no limit
}

// Why returns the rule by which a commit made on branch is skipped, as a clause, or "". It runs git only for rules
// about paths or lines.
func (k Skip) Why(ctx context.Context, s *store.Store, c gitstore.LoggedCommit, branch string) (string, error) {
	if part := partOf(c.Message, k.Messages); part != "" {
		return fmt.Sprintf("its message has %q", part), nil
	}
	if part := partOf(c.Author, k.Authors); part != "" {
		return fmt.Sprintf("its author is %q", part), nil
	}
	if len(k.Branches) > 0 && gitstore.CompileGlobs(k.Branches).Match(branch) {
		return fmt.Sprintf("branch %s is skipped", branch), nil
	}
	if len(k.Paths) == 0 && k.Lines == 0 || len(c.Parents) > 1 {
		return "", nil
	}
	spec := gitstore.DiffSpec{To: c.ID}
	if len(c.Parents) == 1 {
		spec.From = c.Parents[0]
	}
	stats, err := s.Repo.DiffStat(ctx, spec)
	if err != nil {
		return "", fmt.Errorf("read commit %s: %w", c.ID.Short(), err)
	}
	return k.byChange(stats), nil
}

func (k Skip) byChange(stats []gitstore.FileStat) string {
	lines, all := 0, len(k.Paths) > 0 && len(stats) > 0
	globs := gitstore.CompileGlobs(k.Paths)
	for _, f := range stats {
		lines += f.Added + f.Deleted
		all = all && globs.Match(f.Path) && (f.OldPath == "" || globs.Match(f.OldPath))
	}
	switch {
	case all:
		return "it changes only " + strings.Join(k.Paths, ", ")
	case k.Lines > 0 && lines > k.Lines:
		return fmt.Sprintf("it changes %d lines, more than %d", lines, k.Lines)
	}
	return ""
}

// partOf returns the first of parts that text contains, ignoring case.
func partOf(text string, parts []string) string {
	text = strings.ToLower(text)
	part, _ := each.First(parts, func(part string) bool { return strings.Contains(text, strings.ToLower(part)) })
	return part
}
