package screen

import (
	"net/url"
	"strconv"
	"strings"
)

// Place is a line of a file of the repository, as it is told of.
type Place struct {
	File  string // from the top of the repository
	Line  int    // from 1; 0: the file
	Shown string
}

func (p Place) String() string { return p.Shown }

// Links reports whether the terminal that the environment tells of is known to show links
// as such (OSC 8); others may show their bytes.
func Links(getenv func(string) string) bool {
	switch forced := getenv("FORCE_HYPERLINK"); {
	case forced != "":
		return forced != "0"
	case getenv("TMUX") != "" || getenv("STY") != "" || getenv("SSH_CONNECTION") != "": // what is behind is not known, nor whose files are
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

// FileLink is the address of a line of a file of this machine: of the editor whose terminal
// it is, where one has addresses for lines.
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
