package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// found returns the files and directories below dir that names name, relative to dir. "/a/b"
// is a path from the top; anything after a colon is ignored. "NAME" matches at any depth
// except in .git. Symbolic links are not followed: a link on the path is returned instead.
func found(dir string, names []string) ([]string, error) {
	if dir == "" || len(names) == 0 {
		return nil, nil
	}
	var paths, anywhere []string
	for _, name := range names {
		name, _, _ = strings.Cut(name, ":")
		top, is := strings.CutPrefix(name, "/")
		if !is {
			anywhere = append(anywhere, name)
		} else if path := firstLink(dir, filepath.FromSlash(top)); path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if len(anywhere) == 0 {
		return outermost(paths), nil
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(dir, path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case slices.Contains(anywhere, entry.Name()):
			paths = append(paths, rel)
			fallthrough
		case entry.Name() == ".git" || slices.Contains(paths, rel):
			if entry.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	return outermost(paths), err
}

// firstLink returns path, or the first symbolic link on it; "" if path does not exist.
func firstLink(dir, path string) string {
	at := ""
	for _, name := range strings.Split(path, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(filepath.Join(dir, at))
		if err != nil {
			return ""
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			break
		}
	}
	return at
}

// outermost returns the paths, sorted, without those inside other ones.
func outermost(paths []string) []string {
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return slices.ContainsFunc(paths, func(other string) bool {
			return strings.HasPrefix(path, other+string(filepath.Separator))
		})
	})
}

// AsideMark follows a checkout's name in the name of the temporary directory beside it that
// holds the files moved away.
const AsideMark = ".aside-"

// putAside moves the files that names name out of dir, a checkout that nobody else uses, and
// returns a function that moves them back. It removes what was created in their place.
func putAside(dir string, names []string) (back func() error, err error) {
	paths, err := found(dir, names)
	if err != nil || len(paths) == 0 {
		return func() error { return nil }, err
	}
	aside, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+AsideMark)
	if err != nil {
		return nil, fmt.Errorf("put what instructs the agent aside: %w", err)
	}
	moved := 0
	back = func() error {
		var all error
		for i, path := range paths[:moved] {
			to := filepath.Join(dir, path)
			all = errors.Join(all, os.RemoveAll(to), os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(numbered(aside, i), to))
		}
		if all == nil {
			all = os.Remove(aside)
		}
		return all
	}
	for i, path := range paths {
		if err := os.Rename(filepath.Join(dir, path), numbered(aside, i)); err != nil {
			return nil, errors.Join(fmt.Errorf("put %q aside: %w", path, err), back())
		}
		moved++
	}
	return back, nil
}

func numbered(dir string, i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
