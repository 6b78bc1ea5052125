package gitdir

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// ConfigNow reads the configuration again, from the files and without git. ok is false if only git can tell.
func (d *Dir) ConfigNow() (c Config, ok bool) {
	l, ok := readListing(d.Place, os.LookupEnv)
	return l.all, ok
}

// readListing reads the configuration of a repository that look found, from the files and without git. ok is false
// if only git can tell: if the system's file is uncertain, if a file includes others or has unclear syntax, or if a
// worktree may have a file of its own.
func readListing(place *Place, env func(string) (string, bool)) (l listing, ok bool) {
	paths, ok := userConfigs(env)
	if !ok {
		return listing{}, false
	}
	l = listing{Config{}, Config{}}
	for _, path := range paths {
		if !l.all.readFile(path) {
			return listing{}, false
		}
	}
	if !l.local.readFile(filepath.Join(place.CommonDir, "config")) {
		return listing{}, false
	}
	for key, values := range l.local {
		l.all[key] = append(l.all[key], values...)
	}
	unclear := func(key string) bool {
		return strings.HasPrefix(key, "include.") || strings.HasPrefix(key, "includeif.") ||
			key == "extensions.worktreeconfig"
	}
	return l, !slices.ContainsFunc(slices.Collect(maps.Keys(l.all)), unclear)
}

// userConfigs returns the paths of the system's and the user's files, in git's order.
func userConfigs(env func(string) (string, bool)) (paths []string, ok bool) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, false
	}
	system, ownSystem := env("GIT_CONFIG_SYSTEM")
	switch noSystem, _ := env("GIT_CONFIG_NOSYSTEM"); {
	case noSystem == "1" || noSystem == "true":
	case noSystem != "" || !ownSystem && !isDistributed(git):
		return nil, false
	case ownSystem:
		paths = append(paths, system)
	default:
		paths = append(paths, systemConfig)
	}
	global, ownGlobal := env("GIT_CONFIG_GLOBAL")
	home, _ := env("HOME")
	switch xdg, _ := env("XDG_CONFIG_HOME"); {
	case ownGlobal:
		paths = append(paths, global)
	case home == "":
		return nil, false
	default:
		paths = append(paths, filepath.Join(cmp.Or(xdg, filepath.Join(home, ".config")), "git", "config"),
			filepath.Join(home, ".gitconfig"))
	}
	return paths, !slices.ContainsFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
}

// systemConfig is the system's file for every git that was built for the prefix /usr.
const systemConfig = "/etc/gitconfig"

// isDistributed reports whether program is a git that was built for the prefix /usr, as Linux
// distributions build it, and not a wrapper script.
func isDistributed(program string) bool {
	if runtime.GOOS != "linux" {
		return false
	}
	path, err := filepath.EvalSymlinks(program)
	if err != nil || !slices.Contains([]string{"/usr/bin", "/usr/lib/git-core", "/usr/libexec/git-core"},
		filepath.Dir(path)) {
		return false
	}
	file, err := safefile.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	magic := make([]byte, 4)
	_, err = io.ReadFull(file, magic)
	return err == nil && string(magic) == "\x7fELF"
}

// readFile adds the settings of a configuration file. It returns false if the file cannot be read or
// its meaning is in doubt. A missing file has no settings.
func (c Config) readFile(path string) bool {
	data, err := safefile.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && c.parseFile(string(data))
}

// parseFile adds the settings in text, parsed as git's config.c parses them. It returns false for text that
// git refuses, and for text that versions of git parse differently.
func (c Config) parseFile(text string) bool {
	if strings.ContainsAny(text, "\r\x00\ufeff") {
		return false
	}
	section := ""
	for text != "" {
		text = strings.TrimLeft(text, " \t\n")
		ok := true
		switch {
		case text == "":
		case text[0] == '#' || text[0] == ';':
			_, text, _ = strings.Cut(text, "\n")
		case text[0] == '[':
			section, text, ok = cutSection(text[1:])
		default:
			text, ok = c.cutVariable(section, text)
		}
		if !ok {
			return false
		}
	}
	return true
}

// cutSection parses a section header after its bracket. The section ends with a dot, as in keys. ok is false for a
// subsection with quoted characters.
func cutSection(text string) (section, rest string, ok bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return !isKeyRune(r) && r != '.' })
	if end <= 0 {
		return "", "", false
	}
	section, rest = strings.ToLower(text[:end])+".", text[end:]
	if rest[0] == ']' {
		return section, rest[1:], true
	}
	blank, rest, _ := strings.Cut(rest, `"`)
	sub, rest, closed := strings.Cut(rest, `"]`)
	ok = blank != "" && strings.Trim(blank, " \t") == "" && closed && !strings.ContainsAny(sub, "\"\\\n")
	return section + sub + ".", rest, ok
}

// cutVariable parses one variable and adds it.
func (c Config) cutVariable(section, text string) (rest string, ok bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return !isKeyRune(r) })
	if end < 0 {
		end = len(text)
	}
	if section == "" || end == 0 || !isLetter(rune(text[0])) {
		return "", false
	}
	key := section + strings.ToLower(text[:end])
	rest = strings.TrimLeft(text[end:], " \t")
	if rest == "" || rest[0] == '\n' {
		c.add(key)
		return rest, true
	}
	if rest, ok = strings.CutPrefix(rest, "="); !ok {
		return "", false
	}
	value, rest, ok := cutValue(rest)
	c.add(key + "\n" + value)
	return rest, ok
}

// cutValue parses a value up to the end of its line. ok is false if the value contains blanks other than spaces,
// which versions of git parse differently.
func cutValue(text string) (value, rest string, ok bool) {
	var b strings.Builder
	end, quoted, tab := 0, false, false // end is the length of the value without trailing blanks
	for ; text != "" && (quoted || text[0] != '\n'); text = text[1:] {
		char := text[0]
		switch {
		case quoted && char == '\n':
			return "", "", false
		case !quoted && (char == ' ' || char == '\t'):
			if b.Len() > 0 {
				b.WriteByte(' ')
				tab = tab || char == '\t'
			}
			continue
		case !quoted && (char == '#' || char == ';'):
			_, rest, _ = strings.Cut(text, "\n")
			return b.String()[:end], rest, true
		case char == '"':
			quoted = !quoted
		case char == '\\':
			text = text[1:]
			if strings.HasPrefix(text, "\n") {
				break
			}
			if text == "" || !strings.Contains(`tnb"\`, text[:1]) {
				return "", "", false
			}
			b.WriteByte("\t\n\b\"\\"[strings.IndexByte(`tnb"\`, text[0])])
		default:
			b.WriteByte(char)
		}
		if end = b.Len(); tab {
			return "", "", false
		}
	}
	return b.String()[:end], text, !quoted
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func isKeyRune(r rune) bool { return isLetter(r) || r >= '0' && r <= '9' || r == '-' }
