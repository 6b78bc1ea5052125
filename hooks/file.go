package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxScript is the largest file, in bytes, that is taken for a script.
const maxScript = 1 << 20

// file is a hook file as it was found.
type file struct {
	exists  bool
	text    string // of the target when it is a symbolic link; "" when it was not read
	mode    fs.FileMode
	problem error // why it must not be rewritten, nil when it may be
}

// readFile is an error only when the file is there and cannot be read.
func readFile(path string) (file, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, nil
	}
	if err != nil {
		return file{}, err
	}
	f := file{exists: true, mode: info.Mode().Perm()}
	if info.Mode().Type() == fs.ModeSymlink {
		f.problem = errors.New("it is a symbolic link")
		if info, err = os.Stat(path); err != nil {
			f.problem = errors.New("it is a symbolic link that leads nowhere")
			return f, nil
		}
		f.mode = info.Mode().Perm()
	}
	if !info.Mode().IsRegular() || info.Size() > maxScript {
		f.problem = errors.New("it is not a script")
		return f, nil
	}
	data, err := os.ReadFile(path)
	f.text = string(data)
	if f.problem == nil {
		f.problem = notShell(f.text)
	}
	return f, err
}

// whyDead says why git skips the file; nil when git can run it.
func (f file) whyDead(path string) error {
	if f.mode&0o111 == 0 {
		return fmt.Errorf("%q is not executable, so git skips it", path)
	}
	interpreter, _ := interpreter(f.text)
	if interpreter == "" {
		return nil
	}
	if _, err := os.Stat(interpreter); err != nil {
		return fmt.Errorf("%q asks for the interpreter %q, which does not exist", path, interpreter)
	}
	return nil
}

// ours reports whether the file holds nothing but what we wrote.
func (f file) ours() bool {
	rest, err := withoutBlock(f.text)
	return err == nil && rest == skeleton && rest != f.text
}

// onPath reports whether the shell would find git-runr on PATH.
func onPath() bool {
	return slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		return strings.HasPrefix(dir, "/") && runnable(filepath.Join(dir, "git-runr"))
	})
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
