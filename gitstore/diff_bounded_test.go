package gitstore

import (
	"strings"
	"testing"
)

func TestBoundedPatch(t *testing.T) {
	head := func(name string) string { return "diff --git a/" + name + " b/" + name + "\n--- a/x\n+++ b/x\n" }
	small, long := "@@ -0,0 +1 @@\n+a\n", "@@ -0,0 +1 @@\n+"+strings.Repeat("x", 500)+"\n"
	many := "@@ -0,0 +9 @@\n" + strings.Repeat("+diff --git a/x b/x\n", 9)
	all := Bounds{FileLines: 1000, FileBytes: 1000, Lines: 1000, Bytes: 10000}
	for _, c := range []struct {
		name, patch, want string
		bounds            Bounds
	}{
		{"within", head("a") + small + head("b") + long, head("a") + small + head("b") + long, all},
		{"lines of a file", head("a") + many + head("b") + small, head("a") + head("b") + small,
			Bounds{5, 1000, 1000, 10000}},
		{"bytes of a file", head("a") + long + head("b") + small, head("a") + head("b") + small,
			Bounds{1000, 100, 1000, 10000}},
		{"lines of all", head("a") + small + head("b") + small + head("c"), head("a") + small + head("b") + head("c"),
			Bounds{9, 1000, 3, 10000}},
		{"bytes of all", head("a") + small + head("b") + long, head("a") + small + head("b"), Bounds{9, 1000, 99, 300}},
	} {
		for _, step := range []int{1, 3, len(c.patch)} {
			w := &boundedPatch{bounds: c.bounds}
			for rest := c.patch; rest != ""; rest = rest[min(step, len(rest)):] {
				if _, err := w.Write([]byte(rest[:min(step, len(rest))])); err != nil {
					t.Fatal(err)
				}
			}
			if string(w.kept) != c.want {
				t.Errorf("%s, %d bytes at a time: %q, want %q", c.name, step, w.kept, c.want)
			}
		}
	}
}

// TestBoundedPatchMemory has a patch written that is far beyond the bounds: what is kept of it stays within them.
func TestBoundedPatchMemory(t *testing.T) {
	w := &boundedPatch{bounds: Bounds{FileLines: 1000, FileBytes: 1 << 20, Lines: 1000, Bytes: 1 << 20}}
	chunk := []byte(strings.Repeat("+\n", 1<<14))
	for range 1000 {
		if len(w.kept) == 0 {
			_, _ = w.Write([]byte("diff --git a/a b/a\n@@ -0,0 +1,9 @@\n"))
		}
		_, _ = w.Write(chunk)
	}
	if cap(w.kept) > 1<<16 || cap(w.piece) > 1<<16 {
		t.Errorf("%d and %d bytes are held", cap(w.kept), cap(w.piece))
	}
}
