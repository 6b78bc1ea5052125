package worddiff

import "testing"

func TestMark(t *testing.T) {
	const head = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n"
	for _, c := range []struct{ name, patch, want string }{
		{"a word", head + " a\n-the old value\n+the new value\n b\n", head + " a\n~the [-old-]{+new+} value\n b\n"},
		{"two pairs", head + "-one fish\n-two fish\n+one wish\n+two fish!\n",
			head + "~one [-fish-]{+wish+}\n~two fish{+!+}\n"},
		{"unequal counts stay", head + "-a\n+a1\n+a2\n", head + "-a\n+a1\n+a2\n"},
		{"little in common", head + "-completely other\n+1234 5678\n", head + "-completely other\n+1234 5678\n"},
		{"lines that look like headers", head + "--- x\n+++ x y\n", head + "--- x\n+++ x y\n"},
		{"no patch", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Mark(c.patch); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
