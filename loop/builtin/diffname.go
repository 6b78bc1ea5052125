package builtin

import (
	"errors"
	"fmt"
	"strings"
)

// fileHeader collects the lines between "diff --git" and the content.
type fileHeader struct {
	file    *File
	oldName string // from "---", prefix removed; empty for /dev/null
	newName string // from "+++"
	moved   bool   // rename or copy lines gave both names
}

// line takes one header line; known is false when it is not one.
func (h *fileHeader) line(line string) (known bool, err error) {
	f := h.file
	for _, field := range []struct {
		prefix string
		set    func(value string) error
	}{
		{"old mode ", func(v string) error { f.OldMode = v; return nil }},
		{"new mode ", func(v string) error { f.Mode = v; return nil }},
		{"deleted file mode ", func(v string) error { f.Deleted, f.OldMode = true, v; return nil }},
		{"new file mode ", func(v string) error { f.New, f.Mode = true, v; return nil }},
		{"rename from ", h.movedFrom},
		{"rename to ", h.movedTo},
		{"copy from ", h.movedFrom},
		{"copy to ", h.movedTo},
		{"similarity index ", func(string) error { return nil }},
		{"dissimilarity index ", func(string) error { return nil }},
		{"index ", h.index},
		{"--- ", func(v string) (err error) { h.oldName, err = sideName(v, "a/"); return err }},
		{"+++ ", func(v string) (err error) { h.newName, err = sideName(v, "b/"); return err }},
	} {
		if value, ok := strings.CutPrefix(line, field.prefix); ok {
			return true, field.set(value)
		}
	}
	return false, nil
}

func (h *fileHeader) movedFrom(value string) (err error) {
	h.file.OldPath, err = plainName(value)
	return err
}

func (h *fileHeader) movedTo(value string) (err error) {
	h.moved = true
	h.file.Path, err = plainName(value)
	return err
}

// index reads "old..new mode"; the mode stands there when it did not change.
func (h *fileHeader) index(value string) error {
	if _, mode, ok := strings.Cut(value, " "); ok {
		h.file.Mode, h.file.OldMode = mode, mode
	}
	return nil
}

// settleNames decides on the paths: the rename lines know best, then "---" and
// "+++"; a change of mode, an empty or a binary file has only the first line.
func (h *fileHeader) settleNames(header string) error {
	f := h.file
	if h.moved && f.OldPath != "" {
		return nil
	}
	f.Path = h.newName
	if f.Path == "" {
		f.Path = h.oldName
	}
	if f.Path == "" {
		name, err := headerName(header)
		if err != nil {
			return err
		}
		f.Path = name
	}
	if !f.New {
		f.OldPath = f.Path
	}
	return nil
}

// headerName reads "a/NAME b/NAME", where both names are the same. Unquoted they
// may hold " b/" themselves, so the middle is found by length.
func headerName(header string) (string, error) {
	first, second := header, ""
	if strings.HasPrefix(header, `"`) {
		name, rest, err := unquoteC(header)
		if err != nil {
			return "", err
		}
		if second, err = plainName(strings.TrimPrefix(rest, " ")); err != nil {
			return "", err
		}
		first = name
	} else if half := len(header) / 2; len(header)%2 == 1 && header[half] == ' ' {
		first, second = header[:half], header[half+1:]
	}
	old, ok := strings.CutPrefix(first, "a/")
	name, ok2 := strings.CutPrefix(second, "b/")
	if !ok || !ok2 || old != name || name == "" {
		return "", fmt.Errorf("no path in %q: it needs the prefixes a/ and b/", clip(header, 80))
	}
	return name, nil
}

// sideName reads the name on a "---" or "+++" line. Git puts a tab behind a name
// that holds a space; a tab of the name's own is quoted.
func sideName(value, prefix string) (string, error) {
	if value == "/dev/null" {
		return "", nil
	}
	full, err := plainName(strings.TrimSuffix(value, "\t"))
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(full, prefix)
	if !ok || name == "" {
		return "", fmt.Errorf("path %q does not begin with %s", full, prefix)
	}
	return name, nil
}

// plainName undoes git's quoting, if there is any.
func plainName(value string) (string, error) {
	if !strings.HasPrefix(value, `"`) {
		if value == "" {
			return "", errors.New("empty path")
		}
		return value, nil
	}
	name, rest, err := unquoteC(value)
	if err == nil && (rest != "" || name == "") {
		err = fmt.Errorf("path %q", clip(value, 80))
	}
	return name, err
}

// unquoteC undoes git's C-style quoting of the string that s begins with, and
// returns what follows it.
func unquoteC(s string) (name, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], nil
		case '\\':
			c, n := unescapeC(s[i+1:])
			if n == 0 {
				return "", "", fmt.Errorf("escape in path %q", clip(s, 80))
			}
			b.WriteByte(c)
			i += n
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", fmt.Errorf("path %q has no closing quote", clip(s, 80))
}

// unescapeC reads what follows a backslash; n is the number of bytes, 0 when it is no escape.
func unescapeC(s string) (c byte, n int) {
	if len(s) >= 3 && s[0] >= '0' && s[0] <= '3' && isOctal(s[1]) && isOctal(s[2]) {
		return (s[0]-'0')<<6 | (s[1]-'0')<<3 | (s[2] - '0'), 3
	}
	const letters, values = `abtnvfr"\`, "\a\b\t\n\v\f\r\"\\"
	if s == "" {
		return 0, 0
	}
	if at := strings.IndexByte(letters, s[0]); at >= 0 {
		return values[at], 1
	}
	return 0, 0
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }
