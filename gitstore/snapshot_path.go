package gitstore

import (
	"slices"
	"strings"
)

// unsafePath reports whether a path of a tree must not be written to disk: it has an empty or
// dotted component, or one that some file system treats as .git.
func unsafePath(path string) bool {
	for _, part := range strings.Split(path, "/") {
		if part == "" || part == "." || part == ".." || slices.ContainsFunc(strings.Split(part, `\`), isDotGit) {
			return true
		}
	}
	return strings.Contains(path, "\x00")
}

// isDotGit reports whether some file system treats a name as .git. It folds the name as HFS+ does
// (ignorable code points, case) and as NTFS does (case, short name, what follows a colon, trailing
// dots and spaces). NTFS also separates names with a backslash, see unsafePath.
func isDotGit(name string) bool {
	name = strings.Map(func(r rune) rune {
		if hfsIgnores(r) {
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(name, ":")
	name = strings.ToLower(strings.TrimRight(name, ". "))
	return name == ".git" || name == "git~1"
}

// hfsIgnores reports whether HFS+ ignores a character when it compares names.
func hfsIgnores(r rune) bool {
	return r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff
}
