package screen

import (
	"net/url"
	"strconv"
	"strings"
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
