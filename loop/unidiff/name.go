package unidiff

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// header collects the lines between "diff --git" and the content of a file.
type header struct {
	File
	created, deleted bool
	oldName, newName string // from "---" and "+++", prefix removed; "" for /dev/null
}

// line parses one header line; known is false if it is not one.
func (h *header) line(line string) (known bool, err error) {
	for _, field := range []struct {
		prefix string
		set    func(value string) error
	}{
		{"old mode ", func(v string) error { h.OldMode = v; return nil }},
		{"new mode ", func(v string) error { h.NewMode = v; return nil }},
		{"deleted file mode ", func(v string) error { h.deleted, h.OldMode = true, v; return nil }},
		{"new file mode ", func(v string) error { h.created, h.NewMode = true, v; return nil }},
		{"rename from ", func(v string) (err error) { h.Old, err = Name(v); return err }},
		{"rename to ", func(v string) (err error) { h.New, err = Name(v); return err }},
		{"copy from ", func(v string) (err error) { h.Old, err = Name(v); return err }},
		{"copy to ", func(v string) (err error) { h.New, err = Name(v); return err }},
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

// index parses "old..new mode"; git writes the mode there if it did not change.
func (h *header) index(value string) error {
	ids, mode, ok := strings.Cut(value, " ")
	h.OldID, h.NewID, _ = strings.Cut(ids, "..")
	if ok {
		h.OldMode, h.NewMode = mode, mode
	}
	return nil
}

// settleNames determines the names: from the rename lines if there are any, else from "---" and "+++". For a change of
// mode, an empty file or a binary file only the first line has them.
func (h *header) settleNames(first string) (err error) {
	if h.Old != "" && h.New != "" {
		return nil
	}
	name := cmp.Or(h.newName, h.oldName)
	if name == "" {
		if name, err = headerName(first); err != nil {
			return err
		}
	}
	h.Old, h.New = name, name
	switch {
	case h.created:
		h.Old = ""
	case h.deleted:
		h.New = ""
	}
	return nil
}

// headerName parses "a/NAME b/NAME", where both names are the same. Unquoted names may contain " b/", so it finds the
// middle by length.
func headerName(header string) (string, error) {
	first, second := header, ""
	if strings.HasPrefix(header, `"`) {
		name, rest, err := unquote(header)
		if err != nil {
			return "", err
		}
		if second, err = Name(strings.TrimPrefix(rest, " ")); err != nil {
			return "", err
		}
		first = name
	} else if half := len(header) / 2; len(header)%2 == 1 && header[half] == ' ' {
		first, second = header[:half], header[half+1:]
	}
	old, ok := strings.CutPrefix(first, "a/")
	name, ok2 := strings.CutPrefix(second, "b/")
	if !ok || !ok2 || old != name || name == "" {
		return "", fmt.Errorf("no path in %.80q: it needs the prefixes a/ and b/", header)
	}
	return name, nil
}

// sideName parses the name on a "---" or "+++" line. Git appends a tab to a name that contains a space; it quotes a tab
// in the name itself.
func sideName(value, prefix string) (string, error) {
	if value == "/dev/null" {
		return "", nil
	}
	full, err := Name(strings.TrimSuffix(value, "\t"))
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(full, prefix)
	if !ok || name == "" {
		return "", fmt.Errorf("path %q does not begin with %s", full, prefix)
	}
	return name, nil
}

// Name removes git's quoting, if there is any.
func Name(value string) (string, error) {
	name, rest := value, ""
	if strings.HasPrefix(value, `"`) {
		var err error
		if name, rest, err = unquote(value); err != nil {
			return "", err
		}
	}
	switch {
	case rest != "":
		return "", fmt.Errorf("path %.80q", value)
	case name == "":
		return "", errors.New("empty path")
	}
	return name, nil
}

// unquote removes git's C-style quoting from the string at the start of s, and returns the rest. strconv reads
// everything that git writes except invalid UTF-8, which is first replaced by escapes.
func unquote(s string) (name, rest string, err error) {
	var b strings.Builder
	for i, r := range s {
		if size := utf8.RuneLen(r); r == utf8.RuneError && !strings.HasPrefix(s[i:], string(r)) {
			fmt.Fprintf(&b, `\%03o`, s[i])
		} else {
			b.WriteString(s[i : i+size])
		}
	}
	quoted, err := strconv.QuotedPrefix(b.String())
	if err == nil {
		name, err = strconv.Unquote(quoted)
	}
	if err != nil {
		return "", "", fmt.Errorf("path %.80q is not quoted as git quotes it", s)
	}
	return name, b.String()[len(quoted):], nil
}
