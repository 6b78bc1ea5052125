// Package extras installs files outside of the program, such as the manual page, and removes them again. It records
// what it wrote and which directories it made, so that removal restores the machine's state.
package extras

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/safetext"
)

// File is a file to install.
type File struct {
	Path    string // absolute
	What    string // for people
	Content []byte
}

// States of a file; in a dry run, the states that would result.
const (
	Written = "written"
	Present = "present" // exists already with this content
	Removed = "removed"
	Absent  = "absent" // did not exist
	Left    = "left"   // somebody else's, or changed since
)

// Item is the result for one file.
type Item struct {
	Path  string `json:"path"`
	What  string `json:"what,omitempty"`
	State string `json:"state"`
}

// record says what was written: hashes of each file's contents (more than one while a file is being replaced), and the
// directories that were made, outer ones first.
type record struct {
	V     int                 `json:"v"`
	Files map[string][]string `json:"files"`
	Dirs  []string            `json:"dirs"`
}

func readRecord(path string) (record, error) {
	r := record{V: 1, Files: map[string][]string{}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && r.V != 1 {
		err = fmt.Errorf("written by another version of git-runr (%d)", r.V)
	}
	if err != nil {
		return r, fmt.Errorf("read %q: %w", path, err)
	}
	return r, nil
}

func (r record) save(path string) error {
	data, _ := json.MarshalIndent(r, "", "  ") // our own types can be encoded
	return safefile.WriteDurable(path, append(data, '\n'), 0o666)
}

// Install writes the files, unless dry, and returns the state of each. It writes the record first, so that an
// interrupted installation can be removed.
func Install(recordPath string, files []File, dry bool) ([]Item, error) {
	r, err := readRecord(recordPath)
	if err != nil {
		return nil, err
	}
	var items []Item
	var write []File
	for _, f := range files {
		now, err := os.ReadFile(f.Path)
		_, linkErr := os.Lstat(f.Path)
		state := Left
		switch {
		case errors.Is(err, fs.ErrNotExist) && errors.Is(linkErr, fs.ErrNotExist):
			state = Written
		case err == nil && bytes.Equal(now, f.Content):
			state = Present
		case err == nil && slices.Contains(r.Files[f.Path], safefile.Hash(now)):
			state = Written
		}
		if items = append(items, Item{f.Path, f.What, state}); state == Written {
			write = append(write, f)
			r.Files[f.Path] = each.Once(r.Files[f.Path], safefile.Hash(f.Content))
		}
	}
	if dry || len(write) == 0 {
		return items, nil
	}
	dirs := []string{filepath.Dir(recordPath)}
	for _, f := range write {
		dirs = append(dirs, filepath.Dir(f.Path))
	}
	for _, dir := range dirs {
		for _, missing := range missingDirs(dir) {
			r.Dirs = each.Once(r.Dirs, missing)
		}
	}
	if err := r.save(recordPath); err != nil {
		return nil, err
	}
	for i, f := range write {
		if err := safefile.WriteDurable(f.Path, f.Content, 0o666); err != nil {
			return nil, errors.Join(err, r.without(recordPath, write[i:]))
		}
	}
	return items, nil
}

// without removes from the record files that could not be written, and directories that were not made.
func (r record) without(path string, files []File) error {
	for _, f := range files {
		was := slices.DeleteFunc(r.Files[f.Path], func(h string) bool { return h == safefile.Hash(f.Content) })
		if r.Files[f.Path] = was; len(was) == 0 {
			delete(r.Files, f.Path)
		}
	}
	r.Dirs = slices.DeleteFunc(r.Dirs, func(dir string) bool { _, err := os.Lstat(dir); return err != nil })
	return r.tidied(path)
}

// tidied saves the record, or removes it if it has no files any more, and removes the recorded directories that are
// empty.
func (r record) tidied(path string) (err error) {
	if len(r.Files) > 0 {
		err = r.save(path)
	} else {
		err = os.Remove(path)
	}
	for _, dir := range slices.Backward(r.Dirs) {
		os.Remove(dir) // stays if it is not empty
	}
	return err
}

// missingDirs returns dir and its parents as far as they do not exist, outer ones first.
func missingDirs(dir string) (missing []string) {
	for {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			slices.Reverse(missing)
			return missing
		}
		missing = append(missing, dir)
		dir = filepath.Dir(dir)
	}
}

// Remove removes, unless dry, the files that Install wrote below a directory and nobody changed, and directories that
// Install made and that are empty then. below "" means everywhere.
func Remove(recordPath, below string, dry bool) ([]Item, error) {
	r, err := readRecord(recordPath)
	if err != nil {
		return nil, err
	}
	items := []Item{}
	kept := map[string][]string{}
	for path, hashes := range r.Files {
		if below != "" && !strings.HasPrefix(path, below+string(os.PathSeparator)) {
			kept[path] = hashes
			continue
		}
		now, err := os.ReadFile(path)
		item := Item{Path: path, State: Removed}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			item.State = Absent
		case err != nil || !slices.Contains(hashes, safefile.Hash(now)):
			item.State, kept[path] = Left, hashes
		case !dry:
			err = os.Remove(path)
		}
		if item.State == Removed && err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b Item) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
	if dry || len(r.Files) == 0 {
		return items, nil
	}
	r.Files = kept
	return items, r.tidied(recordPath)
}

// Files returns the manual page, to install below the directory pages, and the completion scripts, to install below
// share.
func Files(share, pages string, page []byte, scripts fs.FS) ([]File, error) {
	files := []File{{Path: filepath.Join(pages, "man", "man1", "git-runr.1"), What: "manual page", Content: page}}
	for _, script := range [][3]string{
		{"bash.sh", "bash-completion/completions/git-runr", "completion of bash"},
		{"zsh.sh", "zsh/site-functions/_git-runr", "completion of zsh"},
		{"fish.fish", "fish/vendor_conf.d/git-runr.fish", "completion of fish"},
	} {
		text, err := fs.ReadFile(scripts, script[0])
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: filepath.Join(share, filepath.FromSlash(script[1])), What: script[2], Content: text})
	}
	return files, nil
}

// Notes returns what the user must do so that the files below these directories are found.
func Notes(share, pages string, getenv func(string) string) []string {
	notes := []string{"bash: needs the package bash-completion, and a new shell"}
	if man := filepath.Join(pages, "man"); !strings.HasPrefix(pages, "/usr/") &&
		!slices.Contains(filepath.SplitList(getenv("MANPATH")), man) &&
		!slices.Contains(filepath.SplitList(getenv("PATH")), filepath.Join(filepath.Dir(pages), "bin")) {
		notes = append(notes, "man: in your shell's profile: "+safetext.ShellLine("export", "MANPATH="+man+":"))
	}
	if functions := filepath.Join(share, "zsh", "site-functions"); !strings.HasPrefix(share, "/usr/") {
		notes = append(notes, "zsh: before compinit in ~/.zshrc: fpath=("+safetext.ShellLine(functions)+" $fpath)")
	}
	return notes
}

// PagesBeside returns the share directory in which man looks because of the program's location: for PREFIX/bin on PATH
// it looks in PREFIX/share/man. It returns share if the program is elsewhere or not below home.
func PagesBeside(program, home, share string) string {
	bin := filepath.Dir(program)
	prefix := filepath.Dir(bin)
	if filepath.Base(bin) != "bin" || home == "" ||
		!strings.HasPrefix(prefix+string(os.PathSeparator), filepath.Clean(home)+string(os.PathSeparator)) {
		return share
	}
	return filepath.Join(prefix, "share")
}
