package suggest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestIn(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "[]"},
		{"```suggestion\nx\n```", `[["x"]]`},
		{"```suggestion\r\nx\r\n\r\ny\r\n```\r\n", `[["x" "" "y"]]`},
		{"```suggestion\n```", `[[]]`},
		{"```suggestion\n\n```", `[[""]]`},
		{"~~~suggestion\n```\n~~~", "[[\"```\"]]"},
		{"````suggestion x\n```\n````", "[[\"```\"]]"},
		{"```suggestion\nnever closed", `[["never closed"]]`},
		{"``suggestion\nx\n``", "[]"},
		{"```go\n```suggestion\n```", "[]"},
		{"> ```suggestion\n> x\n> ```", "[]"},
		{"    ```suggestion\n    x\n    ```", "[]"},
		{"- so\n  ```suggestion\n  x\n    y\n z\n  ```", `[["x" "  y" "z"]]`},
		{"```suggestion `x`\ny\n```", "[]"},
		{"a\n```suggestion\nx\n```\nb\n```suggestion\ny\n```", `[["x"] ["y"]]`},
		{"```suggestions\nx\n```", "[]"},
		{"```suggestion\n\tx\n ``` y\n```", `[["\tx" " ` + "``` y" + `"]]`},
	} {
		if got := fmt.Sprintf("%q", In(test.text)); got != test.want {
			t.Errorf("%q: %s, want %s", test.text, got, test.want)
		}
	}
}

func TestReplaced(t *testing.T) {
	for _, test := range []struct {
		text       string
		start, end int
		lines      string
		want       string
	}{
		{"a\nb\nc\n", 2, 2, "x|y", "a\nx\ny\nc\n"},
		{"a\nb\nc\n", 1, 3, "", ""},
		{"a\nb", 2, 2, "x|y", "a\nx\ny"},
		{"a\r\nb\r\n", 1, 1, "x|y", "x\r\ny\r\nb\r\n"},
		{"a\r\nb", 2, 2, "x|y", "a\r\nx\r\ny"},
		{"a\nb", 2, 2, "", "a\n"},
		{"a", 1, 1, "x|y", "x\ny"},
	} {
		c := Change{}
		if test.lines != "" {
			c.Lines = strings.Split(test.lines, "|")
		}
		if got := c.replaced(test.text, test.start, test.end); got != test.want {
			t.Errorf("%q %d-%d by %q: %q, want %q", test.text, test.start, test.end, test.lines, got, test.want)
		}
	}
}

// FuzzIn: each line of a block is a line of the text, and a text without the word "suggestion" has no block.
func FuzzIn(f *testing.F) {
	f.Add("```suggestion\nx\n```\n~~~~ suggestion\r\ny")
	f.Add("- a\n   ```suggestion\n  x")
	f.Fuzz(func(t *testing.T, text string) {
		found := In(text)
		if len(found) > 0 && !strings.Contains(text, language) {
			t.Errorf("%q", found)
		}
		lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
		for _, block := range found {
			for _, line := range block {
				if !slices.ContainsFunc(lines, func(l string) bool {
					return strings.HasSuffix(l, line) && strings.Trim(l[:len(l)-len(line)], " ") == ""
				}) {
					t.Errorf("%q is no line of %q", line, text)
				}
			}
		}
	})
}
