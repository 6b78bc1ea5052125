package runner

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/checklog"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/workspace"
)

// EvidenceFiles returns the names of the files in which people leave the output of checks, one for each check. The
// files belong in the run's directory.
func EvidenceFiles(checks []runplan.Check) []string {
	names := make([]string, len(checks))
	for i, c := range checks {
		words := strings.Join(prose.Words(c.Name), "_")
		name := cmp.Or(words, "check")
		for n := 2; slices.Contains(names[:i], name+".log"); n++ {
			name = fmt.Sprintf("%s_%d", words, n)
		}
		names[i] = name + ".log"
	}
	return names
}

// Limits of evidence: bytes that are read, lines in the excerpt.
const (
	maxEvidence     = 256 << 10
	evidenceExcerpt = 40
)

// evidenceLeft reads the files that people left in dir since the run stopped and that are not recorded yet.
func evidenceLeft(r record.Run, dir string) ([]record.Evidence, error) {
	if r.Stop == nil {
		return nil, nil
	}
	var found []record.Evidence
	for i, name := range EvidenceFiles(r.Plan.Checks) {
		check := r.Plan.Checks[i]
		text, at, err := readEvidence(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read evidence: %w", err)
		}
		e := record.Evidence{Check: check.Name, Command: check.Command, File: name, WrittenAt: at, Text: text}
		if text == "" || !at.After(r.Stop.At) || r.HasTaken(e) {
			continue
		}
		read(&e)
		found = append(found, e)
	}
	return found, nil
}

// readEvidence returns the end of a plain file, without details of this machine, and the time it was written.
func readEvidence(path string) (text string, at time.Time, err error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", at, err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", at, err
	}
	defer file.Close()
	from := max(info.Size()-maxEvidence, 0)
	data, err := io.ReadAll(io.NewSectionReader(file, from, maxEvidence))
	text, _ = markdown.Clean(string(data), &markdown.Warnings{})
	text = agent.WithoutMachine(strings.TrimSpace(text), "", os.Environ())
	return text, info.ModTime().UTC().Truncate(time.Millisecond), err
}

// read fills in the fields of e that are derived from its text.
func read(e *record.Evidence) {
	passed := checklog.Said(e.Command, e.Text, 0)
	failed := checklog.Said(e.Command, e.Text, 1)
	e.Said, e.Failing = cmp.Or(failed, passed), failed != "" && failed != passed
	e.Excerpt = prose.Tail(e.Text, evidenceExcerpt)
	if over := len(e.Excerpt) - record.OutputInEvent; over > 0 {
		e.Excerpt = strings.ToValidUTF8(e.Excerpt[over:], "")
	}
}

// takeEvidence adds the evidence that people left, and the commit that it is about. Evidence is stale if it is older
// than the newest change of the run's work.
func (t *execution) takeEvidence(iv *record.Intervention) error {
	found, err := evidenceLeft(t.run, workspace.FilesDir(t.Store, t.run.ID))
	if err != nil || len(found) == 0 {
		return err
	}
	on := cmp.Or(iv.Commit, t.run.Head())
	commit, err := t.Store.Repo.ReadCommit(t.ctx, on)
	if err != nil {
		return err
	}
	now, err := t.tree.NormalTree(t.ctx)
	if err != nil {
		return err
	}
	newest, file := t.newestChange(*iv)
	for i := range found {
		e := &found[i]
		e.Tree = on
		switch {
		case now != commit.Tree:
			e.Stale = "the working tree holds more than " + on.Short()
		case e.WrittenAt.Before(newest):
			e.Stale = "it is older than the last change of " + file
		}
	}
	iv.Evidence = found
	return nil
}

// newestChange returns when a person last changed the run's work, and in which file.
func (t *execution) newestChange(iv record.Intervention) (newest time.Time, file string) {
	for _, earlier := range t.run.Interventions {
		if earlier.Commit != "" && earlier.At.After(newest) {
			newest, file = earlier.At, "the run's work"
		}
	}
	if iv.Commit == "" {
		return newest, file
	}
	for _, f := range iv.Files {
		info, err := os.Lstat(filepath.Join(t.tree.Dir, filepath.FromSlash(f)))
		if err == nil && info.ModTime().After(newest) {
			newest, file = info.ModTime(), f
		}
	}
	return newest, file
}

// setEvidenceAside renames evidence files that exist when a run stops, so that they are not taken for what a person
// leaves later.
func (t *execution) setEvidenceAside() {
	dir := workspace.FilesDir(t.Store, t.run.ID)
	for _, name := range EvidenceFiles(t.run.Plan.Checks) {
		path := filepath.Join(dir, name)
		if err := os.Rename(path, path+".before"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Progress.Line(err.Error())
		}
	}
}
