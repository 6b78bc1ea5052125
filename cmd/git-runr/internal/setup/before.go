package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// before is how a repository was when init first came.
type before struct {
	V          int    `json:"v"`
	Config     []byte `json:"config"`              // its file
	State      bool   `json:"state"`               // there was a directory of ours
	HooksDir   bool   `json:"hooks_dir"`           // there was one for hooks
	ShowsNotes bool   `json:"shows_notes"`         // git log showed them
	Wrote      string `json:"wrote_sha,omitempty"` // of .runr.toml, where init wrote it
}

func beforePath(repo *gitstore.Repo) string { return filepath.Join(repo.StateDir(), "init.json") }

// readBefore is what was remembered; where nothing was, a guess.
func readBefore(repo *gitstore.Repo) (b before, known bool) {
	data, err := os.ReadFile(beforePath(repo))
	if err == nil && json.Unmarshal(data, &b) == nil && b.V == 1 {
		return b, true
	}
	return before{V: 1, HooksDir: true}, false
}

func (b before) save(repo *gitstore.Repo) error {
	data, err := json.Marshal(b)
	if err == nil {
		err = os.MkdirAll(repo.StateDir(), 0o777)
	}
	if err == nil {
		err = safefile.WriteDurable(beforePath(repo), append(data, '\n'), 0o666)
	}
	return err
}

// Remember notes how the repository is before anything is put into it, the first time.
func Remember(repo *gitstore.Repo) error {
	if _, known := readBefore(repo); known {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(repo.CommonDir, "config"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return before{
		V: 1, Config: text, State: isThere(repo.StateDir()), HooksDir: isThere(filepath.Join(repo.CommonDir, "hooks")), ShowsNotes: ShowsNotes(repo),
	}.save(repo)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// putConfigBack makes up for space that git left or added when it changed the file.
func (b before) putConfigBack(repo *gitstore.Repo) error {
	path := filepath.Join(repo.CommonDir, "config")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || len(b.Config) == 0 {
		return err
	}
	now, err := os.ReadFile(path)
	if err != nil || bytes.Equal(now, b.Config) || said(now) != said(b.Config) {
		return err
	}
	return safefile.WriteExact(path, b.Config, info.Mode().Perm())
}

// said is what a file of git's configuration says: without empty lines and sections, which git
// may leave where a comment stands before them.
func said(text []byte) string {
	var b strings.Builder
	section := ""
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = line + "\n"
		default:
			b.WriteString(section + line + "\n")
			section = ""
		}
	}
	return b.String()
}

// emptyOwn removes this clone's own directory but for what is kept of it.
func (b before) emptyOwn(repo *gitstore.Repo, keep []string) error {
	entries, err := os.ReadDir(repo.StateDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if !slices.Contains(keep, entry.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(repo.StateDir(), entry.Name())))
		}
	}
	if len(keep) == 0 && !b.State {
		err = errors.Join(err, os.Remove(repo.StateDir()))
	}
	os.Remove(filepath.Join(repo.CommonDir, "worktrees")) // git's own, which it leaves empty
	if !b.HooksDir {
		os.Remove(filepath.Join(repo.CommonDir, "hooks")) // one with something in it stays
	}
	return err
}
