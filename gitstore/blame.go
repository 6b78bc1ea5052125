package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Blame is who wrote a line, and the commit that it came with.
type Blame struct {
	Commit  ID
	Author  string // Name <email>
	When    time.Time
	Summary string // the first line of the commit's message
	OrOlder bool   // history is cut off there: the line may be older
}

// Bounds of what one call of Blame asks git for.
const (
	blameTimeout  = 10 * time.Second
	blameMaxBytes = 32 << 20
)

// Blame tells where the lines of a file as commit has it came from, by their numbers from 1 on, for
// ranges of first and last lines that the file has. Renames are followed, and revisions that the
// user's configuration ignores are passed over, as git blame does. After ten seconds it is a
// context.DeadlineExceeded.
func (r *Repo) Blame(ctx context.Context, commit ID, path string, ranges [][2]int) (map[int]*Blame, error) {
	if !r.objects.ValidID(commit) {
		return nil, fmt.Errorf("blame %q: %q is no commit", path, commit)
	}
	args := []string{"blame", "--porcelain", "--no-textconv", "--no-progress"}
	for _, lines := range ranges {
		args = append(args, fmt.Sprintf("-L%d,%d", lines[0], lines[1]))
	}
	ctx, cancel := context.WithTimeout(ctx, blameTimeout)
	defer cancel()
	out := &gitdir.LimitWriter{Left: blameMaxBytes}
	call := gitdir.Call{Args: append(args, string(commit), "--", path), Dir: r.WorkTree, Stdout: out, Env: r.noAttributes()}
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
		b.OrOlder = b.OrOlder && r.objects.Shallow() // git says it of every first commit
	}
	return lines, nil
}

// parseBlame reads git's porcelain: for each line ID WAS NUMBER and perhaps a count, what is known of
// the commit where it was not told before, and the line itself behind a tab.
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
			fields := strings.Fields(value)
			if len(fields) < 2 {
				return nil, fmt.Errorf("git answered %.80q", line)
			}
			number, err := strconv.Atoi(fields[1])
			if err != nil {
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

// BlameFailure is what git said when it could not tell who wrote the lines, or that it took too long.
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
