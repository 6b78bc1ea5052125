package screen

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

// Place is a line of a file in the repository, with the text that shows it.
type Place struct {
	File  string // from the top of the repository
	Line  int    // from 1; 0: the whole file
	Shown string
}

func (p Place) String() string { return p.Shown }

// Links reports whether the terminal in the environment is known to support links (OSC 8); others may show their bytes.
func Links(getenv func(string) string) bool {
	switch forced := getenv("FORCE_HYPERLINK"); {
	case forced != "":
		return forced != "0"
	case getenv("TMUX") != "" || getenv("STY") != "" || getenv("SSH_CONNECTION") != "": // unknown terminal or machine
		return false
	}
	switch getenv("TERM") {
	case "xterm-kitty", "xterm-ghostty", "foot", "foot-extra", "alacritty", "contour":
		return true
	}
	switch getenv("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio":
		return true
	}
	vte, _ := strconv.Atoi(getenv("VTE_VERSION"))
	konsole, _ := strconv.Atoi(getenv("KONSOLE_VERSION"))
	return vte >= 5000 || konsole >= 201200 || getenv("WT_SESSION") != ""
}

// FileLink returns the address of a line of a file on this machine. In the terminal of an editor that supports it, the
// address is the editor's.
func FileLink(getenv func(string) string, host, path string, line int) string {
	u := url.URL{Scheme: "file", Host: host, Path: path}
	if !strings.HasPrefix(path, "/") { // C:\…
		u.Path = "/" + strings.ReplaceAll(path, `\`, "/")
	}
	if getenv("TERM_PROGRAM") == "vscode" {
		u.Scheme, u.Host, u.Path = "vscode", "file", u.Path+":"+strconv.Itoa(max(line, 1))
	}
	return u.String()
}

// Suffix returns the part of an id that is usually unique, or the id if it has no such part.
func Suffix(id string) string {
	_, suffix, found := strings.Cut(id, "-")
	if !found {
		return id
	}
	return suffix
}

// tokens matches colour sequences, and words that consist of what ids, paths, addresses and branch names consist of.
var tokens = lazyre.Compile(`\x1b\[[0-9;]*m|[0-9a-z./_-]+`)

// isID matches an id: the second in which something began, and letters that distinguish it.
var isID = lazyre.Compile(`^2[0-9]{13}-[0-9a-z]{6}$`)

// shorten replaces ids by their short forms, except in paths, addresses and branch names.
func shorten(text string, short func([]string) map[string]string) string {
	var ids []string
	for _, word := range tokens().FindAllString(text, -1) {
		if id := strings.TrimRight(word, "."); isID().MatchString(id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return text
	}
	slices.Sort(ids)
	known := short(slices.Compact(ids))
	return tokens().ReplaceAllStringFunc(text, func(word string) string {
		id := strings.TrimRight(word, ".") // the end of a sentence
		return cmp.Or(known[id], id) + word[len(id):]
	})
}
