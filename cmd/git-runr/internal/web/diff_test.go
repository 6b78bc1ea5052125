package web

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/syntax"
)

const samplePatch = `diff --git a/f b/f
index 1..2 100644
--- a/f
+++ b/f
@@ -1,4 +1,5 @@ func f()
 one
-two
-three
+2
+3
+three and a half
 four
`

func TestCodeHTML(t *testing.T) {
	line := "a <b> := \"x\u202ey\" // &"
	toks := syntax.NewScanner(syntax.Coloured("a.go")).Line(line)
	want := `a &lt;<mark>b</mark>&gt; := <span class="s">&#34;x<span class="iv">\u{202e}</span>y&#34;</span> <span class="c">// &amp;</span>`
	if got := string(codeHTML(line, toks, [][2]int{{3, 4}})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	long := strings.Repeat("é", maxShown/2) + "the <end>"
	if got := string(codeHTML(long, nil, nil)); !strings.HasSuffix(got,
		`é<details class="cut"><summary>… 9 more bytes</summary>the &lt;end&gt;</details>`) {
		t.Errorf("…%s", got[len(got)-120:])
	}
	if got := string(codeHTML(long, nil, [][2]int{{maxShown - 2, maxShown + 3}})); !strings.HasSuffix(got,
		`<mark>é</mark><details class="cut" open><summary>… 9 more bytes</summary><mark>the</mark> &lt;end&gt;</details>`) {
		t.Errorf("…%s", got[len(got)-160:])
	}
	if got := string(codeHTML("⚠\ufe0f\ufe0f a\ufe0f", nil, nil)); got != "⚠\ufe0f"+
		`<span class="iv">\u{fe0f}</span> a<span class="iv">\u{fe0f}</span>` {
		t.Errorf("%q", got)
	}
}

var anyTag = regexp.MustCompile(`</?(span|mark|i)( class="[a-z]+")?>`)

// plainOf returns the text of codeHTML's output; tags that are not its own stay.
func plainOf(code string) string { return html.UnescapeString(anyTag.ReplaceAllString(code, "")) }

// A line is shown completely and without anything that a browser would act on, whatever its language and marked part
// are.
func FuzzCodeHTML(f *testing.F) {
	for _, s := range []string{"", "<script>", "a\u202eb", "\"&lt;\"", "⚠\ufe0f\ufe0f", "\xff\xfe", "\x00\x1b[m",
		"a\tb\r"} {
		f.Add(s, 0, 2)
	}
	f.Fuzz(func(t *testing.T, line string, from, to int) {
		line = strings.ReplaceAll(line, "\n", "")
		inside := func(i int) bool { return i > 0 && i < len(line) && !utf8.RuneStart(line[i]) }
		if len(line) > maxShown || from < 0 || to < from || to > len(line) || inside(from) || inside(to) {
			return
		}
		code := string(codeHTML(line, syntax.NewScanner(syntax.Coloured("a.js")).Line(line), [][2]int{{from, to}}))
		bare := anyTag.ReplaceAllString(code, "")
		if strings.ContainsAny(bare, `<>"'`) {
			t.Fatalf("%q becomes %s", line, code)
		}
		if plain := plainOf(code); safetext.Text(plain) != plain {
			t.Fatalf("%q shows %q", line, plain)
		}
		if safetext.Text(line) == line && plainOf(code) != line {
			t.Fatalf("%q becomes %q", line, plainOf(code))
		}
	})
}

// For every patch that can be read, both views show each line of the new side and each line of the old side once.
func FuzzRows(f *testing.F) {
	f.Add(samplePatch)
	f.Add("diff --git a/f b/f\n@@ -1,2 +1,3 @@\n-a\n-b\n+c\n+d\n+e\n\\ No newline at end of file\n")
	f.Fuzz(func(t *testing.T, patch string) {
		files, err := filesOf([]byte(patch))
		if err != nil {
			return
		}
		for _, h := range files.hunks() {
			var old, new []int
			for _, l := range h.Lines {
				if l.Kind != '+' {
					old = append(old, l.Old)
				}
				if l.Kind != '-' {
					new = append(new, l.New)
				}
			}
			for _, split := range []bool{false, true} {
				maker := rowMaker{split: split, shown: map[shown.Line]bool{}}
				var gotOld, gotNew []int
				for _, row := range maker.hunk(h).Rows {
					if row.Old > 0 {
						gotOld = append(gotOld, row.Old)
					}
					if row.New > 0 {
						gotNew = append(gotNew, row.New)
					}
				}
				positive := func(n int) bool { return n <= 0 }
				if !slices.Equal(gotOld, slices.DeleteFunc(slices.Clone(old), positive)) ||
					!slices.Equal(gotNew, slices.DeleteFunc(slices.Clone(new), positive)) {
					t.Fatalf("split %v: old %v, new %v of %v, %v", split, gotOld, gotNew, old, new)
				}
			}
		}
	})
}
