package agenthook

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
)

// handed lists the findings that were handed back, as review/finding, oldest first.
type handed []string

// maxHanded is the maximum number of findings that are remembered.
const maxHanded = 2000

func handedPath(repo *gitstore.Repo) string {
	return filepath.Join(repo.StateDir(), "agents-handed")
}

// readHanded reads the list; it is empty if the file cannot be read.
func readHanded(repo *gitstore.Repo) handed {
	data, _ := os.ReadFile(handedPath(repo))
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func (h handed) add(repo *gitstore.Repo, keys []string) error {
	all := append(slices.Clone(h), keys...)
	all = all[max(0, len(all)-maxHanded):]
	return safefile.WriteFile(handedPath(repo), []byte(strings.Join(all, "\n")+"\n"), 0o666)
}

// findings returns at most max findings of a review, other than notes, that have no answer and were not handed back.
func findings(r record.Review, known handed, max int) (text string, keys []string) {
	var b strings.Builder
	for _, f := range r.Open() {
		key := safetext.Line(r.ID + "/" + f.ID)
		if len(keys) == max || f.Severity == reply.Note || slices.Contains(known, key) {
			continue
		}
		keys = append(keys, key)
		safetext.Fprintf(&b, "\n- [%s] %s, %s: %s", f.ID, f.Severity, cmp.Or(f.Place(), "general"),
			prose.Cut(f.Issue, maxIssue))
		if f.Fix != "" {
			safetext.Fprintf(&b, "\n  fix: %s", prose.Cut(f.Fix, maxFix))
		}
	}
	if len(keys) == 0 {
		return "", nil
	}
	subject := r.Request.Subject
	return fmt.Sprintf("review %s of %s %q:", safetext.Line(r.ID), subject.Commit.Short(),
		prose.CutColumns(safetext.Line(subject.Title), 80)) + b.String(), keys
}
