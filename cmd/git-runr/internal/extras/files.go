package extras

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/safetext"
)

// Files are the manual page below the directory pages, and below share what of scripts the shells read.
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

// Notes are what the user has to see to, so that the files below these directories are found.
func Notes(share, pages string, getenv func(string) string) []string {
	notes := []string{"bash: needs the package bash-completion, and a new shell"}
	if man := filepath.Join(pages, "man"); !strings.HasPrefix(pages, "/usr/") && !slices.Contains(filepath.SplitList(getenv("MANPATH")), man) &&
		!slices.Contains(filepath.SplitList(getenv("PATH")), filepath.Join(filepath.Dir(pages), "bin")) {
		notes = append(notes, "man: in your shell's profile: "+safetext.ShellLine("export", "MANPATH="+man+":"))
	}
	if functions := filepath.Join(share, "zsh", "site-functions"); !strings.HasPrefix(share, "/usr/") {
		notes = append(notes, "zsh: before compinit in ~/.zshrc: fpath=("+safetext.ShellLine(functions)+" $fpath)")
	}
	return notes
}

// PagesBeside is the share directory in which man looks because of where the program is: for
// PREFIX/bin on PATH it looks in PREFIX/share/man. For a program elsewhere, or not of this home, it is share.
func PagesBeside(program, home, share string) string {
	bin := filepath.Dir(program)
	prefix := filepath.Dir(bin)
	if filepath.Base(bin) != "bin" || home == "" || !strings.HasPrefix(prefix+string(os.PathSeparator), filepath.Clean(home)+string(os.PathSeparator)) {
		return share
	}
	return filepath.Join(prefix, "share")
}
