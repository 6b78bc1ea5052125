package screen

import (
	"net/url"
	"slices"
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

// An id is the second in which something began, and letters that distinguish it.
const (
	stampLen  = len("20060102150405")
	suffixLen = len("abcdef")
	idLen     = stampLen + 1 + suffixLen
)

// Suffix returns the part of an id that is usually unique, or the id if it has no such part.
func Suffix(id string) string {
	_, suffix, found := strings.Cut(id, "-")
	if !found {
		return id
	}
	return suffix
}

// shorten replaces ids by their short forms, except in paths, addresses and branch names.
func shorten(text string, short func([]string) map[string]string) string {
	var found []string // alternately the text between ids, and ids
	from := 0
	for at := 0; at+idLen <= len(text); at++ {
		if text[at] != '2' || !idAt(text, at) {
			continue
		}
		found = append(found, text[from:at], text[at:at+idLen])
		from = at + idLen
		at = from - 1
	}
	if len(found) == 0 {
		return text
	}
	var ids []string
	for i := 1; i < len(found); i += 2 {
		ids = append(ids, found[i])
	}
	slices.Sort(ids)
	known := short(slices.Compact(ids))
	for i := 1; i < len(found); i += 2 {
		if s, ok := known[found[i]]; ok {
			found[i] = s
		}
	}
	return strings.Join(append(found, text[from:]), "")
}

// idAt reports whether an id begins at a byte of text, as a word of its own.
func idAt(text string, at int) bool {
	if at > 0 && strings.IndexByte("/.-_", text[at-1]) >= 0 ||
		at > 0 && isDigitOrLetter(text[at-1]) && !endsColour(text[:at]) {
		return false
	}
	for i, c := range []byte(text[at : at+idLen]) {
		switch {
		case i < stampLen && (c < '0' || c > '9'), i == stampLen && c != '-', i > stampLen && !isDigitOrLetter(c):
			return false
		}
	}
	after := text[at+idLen:]
	return after == "" || strings.IndexByte("/-_", after[0]) < 0 && !isDigitOrLetter(after[0]) &&
		(after[0] != '.' || len(after) == 1 || !isDigitOrLetter(after[1]))
}

func isDigitOrLetter(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' }

// endsColour reports whether text ends with the m of a control sequence.
func endsColour(text string) bool {
	at := strings.LastIndexByte(text, '\x1b')
	return at >= 0 && strings.HasSuffix(text, "m") && !strings.ContainsAny(text[at+1:len(text)-1], "m \n")
}
