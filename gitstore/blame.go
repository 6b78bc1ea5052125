package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Blame is the commit that last changed a line, and its author.
type Blame struct {
	Commit  ID
	Author  string // Name <email>
	When    time.Time
	Summary string // the first line of the commit's message
	OrOlder bool   // the history of this clone ends at Commit: the line may be older
}

// Limits of one call of Repo.Blame.
const (
	blameTimeout  = 10 * time.Second
	blameMaxBytes = 32 << 20
)

// Blame returns where lines of a file of commit came from, by line number from 1. ranges are
// pairs of a first and a last line, which the file must have. Like git blame, it follows renames
// and skips revisions that the user's configuration ignores. After ten seconds it returns
// context.DeadlineExceeded.
func (r *Repo) Blame(ctx context.Context, commit ID, path string, ranges [][2]int) (map[int]*Blame, error) {
	if !r.objects.ValidID(commit) {
		return nil, fmt.Errorf("blame %q: %q is not a commit", path, commit)
	}
	args := []string{"blame", "--porcelain", "--no-textconv", "--no-progress"}
	for _, lines := range ranges {
		args = append(args, fmt.Sprintf("-L%d,%d", lines[0], lines[1]))
	}
	ctx, cancel := context.WithTimeout(ctx, blameTimeout)
	defer cancel()
	out := &gitdir.LimitWriter{Left: blameMaxBytes}
	call := gitdir.Call{Args: append(args, string(commit), "--", path), Dir: r.WorkTree, Stdout: out,
		Env: r.noAttributes()}
	_, err := r.dir.Call(ctx, call)
	if out.Full {
		err = ErrTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("blame %q in %s: %w", path, commit.Short(), err)
	}
	lines, err := parseBlame(out.Kept.Bytes())
	if err != nil {
		return nil, fmt.Errorf("blame %q in %s: %w", path, commit.Short(), err)
	}
	for _, b := range lines {
		b.OrOlder = b.OrOlder && r.objects.Shallow() // git marks every root commit as a boundary
	}
	return lines, nil
}

// parseBlame parses git's porcelain format. For each line there are ID, old number, new number and
// perhaps a count, then headers of a commit that is new in the output, then a tab and the line.
func parseBlame(text []byte) (map[int]*Blame, error) {
	lines, known := map[int]*Blame{}, map[ID]*Blame{}
	var at *Blame
	for raw := range bytes.Lines(text) {
		line := strings.TrimSuffix(string(raw), "\n")
		if strings.HasPrefix(line, "\t") {
			at = nil
			continue
		}
		key, value, _ := strings.Cut(line, " ")
		if at == nil {
			var was, number int
			if _, err := fmt.Sscan(value, &was, &number); err != nil {
				return nil, fmt.Errorf("git answered %.80q", line)
			}
			if at = known[ID(key)]; at == nil {
				at = &Blame{Commit: ID(key)}
				known[at.Commit] = at
			}
			lines[number] = at
			continue
		}
		switch key {
		case "author":
			at.Author = value
		case "author-mail":
			at.Author += " " + value
		case "author-time":
			at.When = odb.ParseWhen([]string{value})
		case "summary":
			at.Summary = value
		case "boundary":
			at.OrOlder = true
		}
	}
	return lines, nil
}

// BlameFailure returns a line for people about an error of Blame: git's message, or that it took too long.
func BlameFailure(err error) string {
	var git *GitError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("it took git longer than %d seconds", int(blameTimeout.Seconds()))
	case errors.As(err, &git) && git.Stderr != "":
		line, _, _ := strings.Cut(strings.TrimPrefix(git.Stderr, "fatal: "), "\n")
		return line
	}
	return err.Error()
}
