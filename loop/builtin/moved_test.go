package builtin

import "testing"

// TestMovedIsNotNew: lines that a change removes and adds again, elsewhere or with another
// indentation, are not new.
func TestMovedIsNotNew(t *testing.T) {
	removes := func(path string, lines ...string) File {
		f := File{Path: path, Mode: "100644"}
		for i, line := range lines {
			f.Removed = append(f.Removed, newLine(i+1, line))
		}
		return f
	}
	comment := newText("a.go", "\t\t// FIXME: leaks\n")
	debug := newText("a.py", "breakpoint()\n")
	skipped := newText("a.test.ts", "xit('adds', () => {})\n")
	secret := newText("b.py", "key = \"AKIAQ3EGRTPQ7WXYZ2KL\"\n")
	wantFound(t, review(comment, debug, skipped), "warning debug 1", "warning skipped-test 1", "warning stub 1")
	wantFound(t, review(comment, debug, skipped,
		removes("old.go", "//FIXME: leaks", "  breakpoint()", "  xit('adds', () => {})")))
	wantFound(t, review(comment, removes("a.go", "// FIXME: drips")), "warning stub 1")
	if before := len(review(secret).Findings); before == 0 ||
		len(review(secret, removes("a.py", secret.Added[0].Text)).Findings) != before {
		t.Error("a secret that was moved is none")
	}
}
