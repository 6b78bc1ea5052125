package syntax

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// spelled formats the tokens of text, each line on its own, as KIND:text separated by bars;
// plain text has no kind.
func spelled(lang *Language, text string) string {
	scan := NewScanner(lang)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		var parts []string
		begin := 0
		for _, t := range scan.Line(line) {
			piece := line[begin:t.End]
			if t.Kind != Plain {
				piece = string(rune(t.Kind)) + ":" + piece
			}
			parts, begin = append(parts, piece), t.End
		}
		lines = append(lines, strings.Join(parts, "|"))
	}
	return strings.Join(lines, "\n")
}

func TestHighlight(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"a.go", "func f(a int) { return x.type }", "k:func| |f:f|(a |b:int|) { |k:return| x.type }"},
		{"a.go", "a /* b\nc */ d // e", "a |c:/* b\nc:c */| d |c:// e"},
		{"a.go", "s := `a\nb` + \"c\\\"d\" + 'x' + '\\''", "s := |s:`a\ns:b`| + |s:\"c\\\"d\"| + |s:'x'| + |s:'\\''"},
		{"a.go", "x = 0x1F + 1.5e-3 + a1", "x = |n:0x1F| + |n:1.5e-3| + a1"},
		{"a.ts", "const a = /\"[/]/.test(b) / 2", "k:const| a = |s:/\"[/]/|.|f:test|(b) / |n:2"},
		{"a.js", "let s = `a ${b}\n c`", "k:let| s = |s:`a ${b}\ns: c`"},
		{"a.py", "def f(): # x\n  '''a\nb''' + 'c'", "k:def| |f:f|(): |c:# x\n  |s:'''a\ns:b'''| + |s:'c'"},
		{"a.rs", "fn f<'a>(c: char) { r#\"a\"b\"# } /* a /* b */ c */ x",
			"k:fn| f<'a>(c: |b:char|) { |s:r#\"a\"b\"#| } |c:/* a /* b */ c */| x"},
		{"a.cc", "#include <a.h>\nR\"x(a)\" )x\" L", "k:#include| |s:<a.h>\ns:R\"x(a)\" )x\"| L"},
		{"a.h", "int n = 1'000; // x", "b:int| n = |n:1|'|n:000|; |c:// x"},
		{"a.sh", "echo a#b $x # c\ncat <<'EOF'\n$y\nEOF\nls", "b:echo| a#b |b:$x| |c:# c\ncat |s:<<'EOF'\ns:$y\ns:EOF\nls"},
		{"a.rb", "x = <<~SQL\n a\n SQL\nputs :y", "x = |s:<<~SQL\ns: a\ns: SQL\nputs :y"},
		{"a.php", "ECHO $a; # b", "k:ECHO| |b:$a|; |c:# b"},
		{"a.sql", "select 'it''s' -- x", "k:select| |s:'it''s'| |c:-- x"},
		{"a.json", `{"a": "b", "c": [1, true]}`, `{|a:"a"|: |s:"b"|, |a:"c"|: [|n:1|, |b:true|]}`},
		{"a.yaml", "a-b: 'c' # d\n- e: x#y", "a:a-b|: |s:'c'| |c:# d\n- |a:e|: x#y"},
		{"a.toml", "[a.b]\nc = \"d\" # e", "h:[a.b]\na:c| = |s:\"d\"| |c:# e"},
		{"a.css", "a { color: #fff; margin: 0 50% } /* x */", "a { |a:color|: #fff; |a:margin|: |n:0| |n:50%| } |c:/* x */"},
		{"a.html", "<!-- a\nb --><p class='c'>d &lt; e</p>", "c:<!-- a\nc:b -->|h:<p| |a:class|=|s:'c'|h:>|d &lt; e|h:</p>"},
		{"a.xml", "<a b=\"c\nd\">e", "h:<a| |a:b|=|s:\"c\ns:d\"|h:>|e"},
		{"a.md", "# a\n```go\nx\n```\n> b\nc `d` e", "h:# a\ns:```go\ns:x\ns:```\nc:> b\nc |s:`d`| e"},
		{"a.md", "````\n```\n````` \nb", "s:````\ns:```\ns:````` \nb"},
		{"a.php", "#[A] # b", "#[A] |c:# b"},
		{"a.js", `if (a < /x"y/.exec(s)) z("q")`, "k:if| (a < |s:/x\"y/|.|f:exec|(s)) |f:z|(|s:\"q\"|)"},
		{"a.rb", `x = a * /re/ + b++ / 2 / c`, "x = a * |s:/re/| + b++ / |n:2| / c"},
		{"a.tsx", "<b>{log(1)}</b><b>{log(2)}</b>", "<b>{|f:log|(|n:1|)}</b><b>{|f:log|(|n:2|)}</b>"},
		{"Dockerfile", "FROM a # b\n  RUN c", "k:FROM| a |c:# b\n  |k:RUN| c"},
		{"Makefile", "all: a $(B)\n\techo # c", "h:all|: a $(B)\n\techo |c:# c"},
		{"a.txt", "func // x", "func // x"},
	} {
		if got := spelled(Coloured(c.file), c.text); got != c.want {
			t.Errorf("%s: %q\ngot  %q\nwant %q", c.file, c.text, got, c.want)
		}
	}
}

func TestLanguageNames(t *testing.T) {
	for name, same := range map[string]string{
		"x/GNUmakefile": "a.mk", "Dockerfile.dev": "a.dockerfile", "X.TSX": "a.js", "a.b.yml": "a.yaml", "go.mod": "a.go",
		".bashrc": "a.sh",
	} {
		if Coloured(name) == nil || Coloured(name) != Coloured(same) {
			t.Errorf("%s is not the language of %s", name, same)
		}
	}
	for name, file := range map[string]string{"golang": "a.go", "ts": "a.js", "Bash": "a.sh", "py": "a.py", "c++": "a.c"} {
		if Named(name) != Coloured(file) {
			t.Errorf("%s is not the language of %s", name, file)
		}
	}
	if Named("") != nil || Named("suggestion") != nil {
		t.Error("a language of no name")
	}
}

// A quote at the start of a part of a file ends with its line, even if such quotes may span lines.
func TestParts(t *testing.T) {
	for _, parts := range []bool{false, true} {
		scan := NewScanner(Reviewed("a.rb"))
		scan.Parts = parts
		scan.Line("isn't it")
		if open := scan.Open() == String; open == parts {
			t.Errorf("parts %v: open %v", parts, open)
		}
	}
}

func TestReviewed(t *testing.T) {
	for file, id := range map[string]string{"x/A.Dart": "dart", "a.vue": "js", "Podfile": "ruby", "a.tf": "hash",
		"a.html": "", "go.mod": "", "a.lua": "", ".env": ""} {
		if l := Reviewed(file); (l == nil) != (id == "") || l != nil && l.ID != id {
			t.Errorf("%s: %+v", file, l)
		}
	}
}

// FuzzHighlight: the tokens of any text cover it, and none is empty.
func FuzzHighlight(f *testing.F) {
	for _, text := range []string{"", "a /* b", "\"\\", "'", "<<EOF\nx", "<a b='", "r#\"x", "R\"a(", "```\n", "/[",
		"\xff\u202e", "#", "$", "0x.e+", "<!", "a\r"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, lang := range languages() {
			scan := NewScanner(lang)
			for line := range strings.SplitSeq(text, "\n") {
				at := 0
				for _, token := range scan.Line(line) {
					if token.End <= at || token.End > len(line) {
						t.Fatalf("%s: %q: a token from %d to %d", name, line, at, token.End)
					}
					at = token.End
				}
				if at != len(line) {
					t.Fatalf("%s: %q is covered up to %d", name, line, at)
				}
			}
		}
	})
}

// Otherwise a misspelt name in the table would silently disable a feature of a language.
func TestTableNamesFields(t *testing.T) {
	var all map[string]*Language
	d := json.NewDecoder(bytes.NewReader(languagesJSON))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		t.Error(err)
	}
}
