package editdiff

import (
	"strconv"
	"strings"

	"git-runr/loop/record"
)

// patchFile is a file of a patch; a side that does not have it is "".
type patchFile struct{ old, new string }

// patchPlace is what a line of a patch is about: lines of one side of a file, or, with
// start 0, the file.
type patchPlace struct {
	file       *patchFile
	side       record.Side
	start, end int
	first      int // where the hunk begins on that side
}

// path is the file's name on the place's side.
func (p patchPlace) path() string {
	if p.side == record.SideOld || p.file.new == "" {
		return p.file.old
	}
	return p.file.new
}

// upwards is the place with the n-1 lines above it; false when the hunk does not have
// as many on that side.
func (p patchPlace) upwards(n int) (patchPlace, bool) {
	p.start = p.end - n + 1
	return p, n >= 1 && p.end > 0 && p.start >= p.first
}

// patchReader goes through a unified patch of git.
type patchReader struct {
	file             *patchFile
	places           []patchPlace
	oldLine, newLine int // of the next line in the hunk
	oldLeft, newLeft int // lines that the hunk still has
	oldAt, newAt     int // where the hunk begins
}

// readPatch gives the place of each line of a patch.
func readPatch(lines []string) []patchPlace {
	r := patchReader{file: &patchFile{}}
	for _, line := range lines {
		r.places = append(r.places, r.place(line))
	}
	return r.places
}

func (r *patchReader) place(line string) patchPlace {
	if r.oldLeft > 0 || r.newLeft > 0 {
		return r.hunkLine(line)
	}
	switch {
	case strings.HasPrefix(line, `\`) && len(r.places) > 0:
		return r.places[len(r.places)-1]
	case strings.HasPrefix(line, "@@ "):
		return r.hunk(line)
	case strings.HasPrefix(line, "diff --git "):
		r.file = bothNames(strings.TrimPrefix(line, "diff --git "))
	default:
		r.heading(line)
	}
	return patchPlace{file: r.file}
}

// heading reads the lines that name a file.
func (r *patchReader) heading(line string) {
	for prefix, name := range map[string]*string{"--- ": &r.file.old, "+++ ": &r.file.new} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			*name = sideName(rest)
		}
	}
	for prefix, name := range map[string]*string{"rename from ": &r.file.old, "rename to ": &r.file.new} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			*name = unquoted(rest)
		}
	}
	switch {
	case strings.HasPrefix(line, "new file mode "):
		r.file.old = ""
	case strings.HasPrefix(line, "deleted file mode "):
		r.file.new = ""
	}
}

// hunk reads "@@ -FROM,COUNT +FROM,COUNT @@" and stands for the whole hunk.
func (r *patchReader) hunk(line string) patchPlace {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return patchPlace{file: r.file}
	}
	r.oldLine, r.oldLeft = hunkRange(strings.TrimPrefix(fields[1], "-"))
	r.newLine, r.newLeft = hunkRange(strings.TrimPrefix(fields[2], "+"))
	r.oldAt, r.newAt = r.oldLine, r.newLine
	if r.newLeft > 0 {
		return patchPlace{r.file, record.SideNew, r.newLine, r.newLine + r.newLeft - 1, r.newLine}
	}
	return patchPlace{r.file, record.SideOld, r.oldLine, r.oldLine + r.oldLeft - 1, r.oldLine}
}

func hunkRange(text string) (from, count int) {
	start, size, sized := strings.Cut(text, ",")
	from, _ = strconv.Atoi(start) // git's own answer
	if !sized {
		return from, 1
	}
	count, _ = strconv.Atoi(size)
	return from, count
}

// hunkLine is a line within a hunk. What stays is of the new side.
func (r *patchReader) hunkLine(line string) patchPlace {
	kind := " "
	if line != "" {
		kind = line[:1]
	}
	if kind == `\` {
		return r.places[len(r.places)-1]
	}
	if kind != "+" {
		r.oldLine, r.oldLeft = r.oldLine+1, r.oldLeft-1
	}
	if kind == "-" {
		return patchPlace{r.file, record.SideOld, r.oldLine - 1, r.oldLine - 1, r.oldAt}
	}
	r.newLine, r.newLeft = r.newLine+1, r.newLeft-1
	return patchPlace{r.file, record.SideNew, r.newLine - 1, r.newLine - 1, r.newAt}
}

// sideName reads the name after "--- " or "+++ ".
func sideName(text string) string {
	name := unquoted(strings.TrimSuffix(text, "\t"))
	if name == "/dev/null" {
		return ""
	}
	_, name, _ = strings.Cut(name, "/") // a/ or b/
	return name
}

// unquoted reads a name that git may have quoted as in C.
func unquoted(text string) string {
	if strings.HasPrefix(text, `"`) {
		if name, err := strconv.Unquote(text); err == nil {
			return name
		}
	}
	return text
}

// bothNames reads "a/NAME b/NAME": where the names differ, later lines tell them.
func bothNames(text string) *patchFile {
	half := len(text) / 2
	if len(text)%2 == 0 || text[half] != ' ' {
		return &patchFile{}
	}
	name := sideName(text[:half])
	if sideName(text[half+1:]) != name {
		return &patchFile{}
	}
	return &patchFile{name, name}
}
