package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// LoggedCommit is one commit in a list.
type LoggedCommit struct {
	ID        ID
	Parents   []ID
	When      time.Time // the committer's time, UTC
	Author    string    // name, address and author time in seconds, which a rewrite keeps: "Ada <ada@x> 1767323045"
	Committer string    // name and address
	Subject   string    // the first paragraph of the message in one line
	Message   string    // whole, in UTF-8
	Files     []string  // changed files, sorted, a rename under both names; empty for a merge, and from Commits
}

// CutOff returns the commits whose parents are not in this clone because it is shallow.
func (r *Repo) CutOff() []ID { return r.objects.CutOff() }

// LogMessages lists the commits of to that are not in from, newest first, with their files. If
// from is "" or the empty tree, it lists all commits of to. max limits their number; 0 is no
// limit. It always takes one git process.
func (r *Repo) LogMessages(ctx context.Context, from, to ID, max int) ([]LoggedCommit, error) {
	return r.logBetween(ctx, from, to, max, "--name-only")
}

// Commits is LogMessages without the files.
func (r *Repo) Commits(ctx context.Context, from, to ID, max int) ([]LoggedCommit, error) {
	return r.logBetween(ctx, from, to, max, "--no-patch")
}

func (r *Repo) logBetween(ctx context.Context, from, to ID, max int, files string) ([]LoggedCommit, error) {
	revs := []ID{to}
	if from != "" && from != r.objects.EmptyTreeID() {
		revs = append(revs, "^"+from)
	}
	if max <= 0 {
		max = -1 // 0 would list nothing
	}
	commits, err := r.logMessages(ctx, revs, "--max-count="+strconv.Itoa(max), files)
	if err != nil {
		return nil, fmt.Errorf("list commits of %s..%s: %w", from.Short(), to.Short(), err)
	}
	return commits, nil
}

// LogOnly is LogMessages for the given commits, in their order. It leaves out ids that are
// not commits here.
func (r *Repo) LogOnly(ctx context.Context, ids []ID) ([]LoggedCommit, error) {
	known := r.commitsHere(ctx, ids)
	if len(known) == 0 {
		return nil, nil // git would log HEAD
	}
	commits, err := r.logMessages(ctx, known, "--no-walk=unsorted", "--name-only")
	if err != nil {
		return nil, fmt.Errorf("read %d commits: %w", len(known), err)
	}
	return commits, nil
}

// commitsHere returns those of ids that are commits in this repository.
func (r *Repo) commitsHere(ctx context.Context, ids []ID) []ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool {
		_, err := r.ReadCommit(ctx, id)
		return err != nil
	})
}

// loggedFormat prints seven fields, each after a NUL, and one more NUL.
const loggedFormat = "--format=tformat:%x00%H%x00%P%x00%ct%x00%an <%ae> %at%x00%cn <%ce>%x00%s%x00%B%x00"

func (r *Repo) logMessages(ctx context.Context, revs []ID, choice, files string) ([]LoggedCommit, error) {
	var stdin strings.Builder
	for _, rev := range revs {
		if !r.objects.ValidID(ID(strings.TrimPrefix(string(rev), "^"))) {
			return nil, fmt.Errorf("commit %q: %w", string(rev), ErrNotFound)
		}
		stdin.WriteString(string(rev) + "\n")
	}
	out, err := r.dir.GitIn(ctx, []byte(stdin.String()), "log", "-z", "--stdin", choice, loggedFormat, "--encoding=UTF-8",
		files, "--root", "--no-renames", "--diff-merges=off", "--no-relative", "--no-ext-diff", "--no-textconv",
		"--no-show-signature", "--no-notes", "--no-color", "--no-decorate", "--")
	if err != nil {
		return nil, err
	}
	return r.parseLogged(string(out))
}

// parseLogged parses the output of git log -z with loggedFormat: an empty field, the seven fields,
// an empty field that ends the format, and the files, the first one after a newline.
// No file name is empty, so the next empty field starts the next commit.
func (r *Repo) parseLogged(out string) ([]LoggedCommit, error) {
	var commits []LoggedCommit
	for fields := strings.Split(out, "\x00"); len(fields) > 1; {
		if len(fields) < 9 || fields[0] != "" || !r.objects.ValidID(ID(fields[1])) {
			return nil, fmt.Errorf("read git log: unexpected %.60q", strings.Join(fields[:min(len(fields), 3)], "\x00"))
		}
		commit := LoggedCommit{ID: ID(fields[1]), Parents: odb.Fields([]byte(fields[2])), When: odb.ParseWhen(fields[3:4]),
			Author: fields[4], Committer: fields[5], Subject: fields[6], Message: fields[7]}
		fields = fields[9:]
		for i := 0; len(fields) > 0 && fields[0] != ""; i++ {
			name := fields[0]
			if i == 0 {
				name = strings.TrimPrefix(name, "\n")
			}
			commit.Files = append(commit.Files, name)
			fields = fields[1:]
		}
		slices.Sort(commit.Files)
		commits = append(commits, commit)
	}
	return commits, nil
}
