package web

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
)

// Each directory appears once; a directory that contains only another directory shares its line.
func TestTree(t *testing.T) {
	v := reviewView{PerFile: map[string]int{"a/b/c/y": 2}, Viewed: map[string]bool{"a/b/c/z": true}}
	for _, name := range []string{"a/b/c/y", "a/b/c/z", "a/b/d", "e/f/g/h", "top", "z/1", "z/2/3"} {
		v.Files = append(v.Files, changedFile{FileStat: gitstore.FileStat{Path: name}})
	}
	var lines []string
	var walk func([]*treeNode, string)
	walk = func(nodes []*treeNode, indent string) {
		for _, n := range nodes {
			line := indent + n.Name
			if n.Viewed {
				line += " viewed"
			}
			if n.Comments > 0 {
				line += " commented"
			}
			lines = append(lines, line)
			walk(n.Items, indent+" ")
		}
	}
	walk(v.Tree(), "")
	want := "a/b/| c/|  y commented|  z viewed| d|e/f/g/| h|top|z/| 1| 2/|  3"
	if got := strings.Join(lines, "|"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
