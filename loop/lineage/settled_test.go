package lineage

import (
	"testing"

	"github.com/git-runr/git-runr/gitstore"
)

// TestVersion compares files with an edit that replaces the lines a and b by c and d.
func TestVersion(t *testing.T) {
	set := func(lines string) lineSet {
		found := lineSet{}
		for _, line := range lines {
			found[string(line)] = true
		}
		return found
	}
	replaces := edit{old: content{id: "old"}, new: content{id: "new"}, added: set("cd"), removed: set("ab")}
	onlyAdds := edit{old: content{id: "old"}, new: content{id: "new"}, added: set("cd")}
	onlyRemoves := edit{old: content{id: "old"}, new: content{id: "new"}, removed: set("ab")}
	sameLines := edit{old: content{id: "old"}, new: content{id: "new"}} // as a file whose lines are only moved
	for _, c := range []struct {
		name                   string
		e                      edit
		id                     string
		lines                  string
		holds, applies, undoes bool
	}{
		{"as after it", replaces, "new", "cd", true, true, false},
		{"as before it", replaces, "old", "ab", false, false, true},
		{"with other lines", replaces, "x", "cdx", true, true, false},
		{"half of it", replaces, "x", "cx", true, false, false},
		{"neither", replaces, "x", "x", false, false, false},
		{"both", replaces, "x", "abcd", true, false, false},
		{"back, with other lines", replaces, "x", "abx", false, false, true},
		{"no file", replaces, "", "", false, false, false},
		{"added", onlyAdds, "x", "cdx", true, true, false},
		{"added lines gone", onlyAdds, "x", "x", false, false, false},
		{"removed", onlyRemoves, "x", "x", true, true, false},
		{"removed lines back", onlyRemoves, "x", "abx", false, false, true},
		{"moved lines", sameLines, "new", "", true, true, false},
		{"moved lines, changed further", sameLines, "x", "x", false, true, false},
		{"moved lines, as before", sameLines, "old", "", false, false, true},
	} {
		v := version{content: content{id: gitstore.ID(c.id)}, lines: set(c.lines)}
		if v.holds(c.e) != c.holds || v.applies(c.e) != c.applies || v.undoes(c.e) != c.undoes {
			t.Errorf("%s: holds %t, applies %t, undoes %t", c.name, v.holds(c.e), v.applies(c.e), v.undoes(c.e))
		}
	}
}

// TestDifferentLines compares two texts by their lines, wherever these are.
func TestDifferentLines(t *testing.T) {
	old, now := differentLines("a\nb\n}\n", "a\n\tb \nc\n{\n")
	if len(old) != 0 || len(now) != 1 || !now["c"] {
		t.Errorf("a line is added: %v, %v", old, now)
	}
	old, now = differentLines("a\nb\nc", "b\nx\na\n")
	if len(old) != 1 || !old["c"] || len(now) != 1 || !now["x"] {
		t.Errorf("lines are moved and one replaced: %v, %v", old, now)
	}
	old, now = differentLines("a\nb\n", "a\nb\na\n")
	if len(old)+len(now) != 0 {
		t.Errorf("a line is repeated: %v, %v", old, now)
	}
}
