package editdiff

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
)

const editPatch = `diff --git a/a.go b/a.go
index 1111111..2222222 100644
--- a/a.go
+++ b/a.go
@@ -1,5 +1,6 @@ package a
 package a
 
-old one
-old two
+new one
+new two
+new three
 
@@ -20,2 +21 @@
 end
--- a comment in SQL
diff --git a/old name.txt "b/new \303\251.txt"
similarity index 90%
rename from old name.txt
rename to "new \303\251.txt"
index 3333333..4444444 100644
--- a/old name.txt	
+++ "b/new \303\251.txt"
@@ -7 +7 @@
-last
\ No newline at end of file
+final
\ No newline at end of file
diff --git a/gone b/gone
deleted file mode 100644
index 5555555..0000000
--- a/gone
+++ /dev/null
@@ -1,2 +0,0 @@
-one
-two
diff --git a/pic.png b/pic.png
new file mode 100644
index 0000000..6666666
Binary files /dev/null and b/pic.png differ
`

// below inserts text after the only line that equals line.
func below(t testing.TB, text, line, added string) string {
	t.Helper()
	parts := strings.Split(text, "\n"+line+"\n")
	if len(parts) != 2 {
		t.Fatalf("%q is there %d times", line, len(parts)-1)
	}
	return parts[0] + "\n" + line + "\n" + added + "\n" + parts[1]
}

func (c Comment) String() string {
	return fmt.Sprintf("%s %s %d-%d: %s", c.Path, c.Side, c.Start, c.End, c.Text)
}

func TestPlaces(t *testing.T) {
	e := newText([]byte(editPatch), nil)
	for _, test := range []struct{ line, added, want string }{
		{"+new two", "why?", "a.go new 4-4: why?"},
		{"+new three", "^3 all", "a.go new 3-5: all"},
		{"-old two", "^2 both", "a.go old 3-4: both"},
		{"-old one", "gone for good?", "a.go old 3-3: gone for good?"},
		{" end", "the end", "a.go new 21-21: the end"},
		{"@@ -1,5 +1,6 @@ package a", "the whole part", "a.go new 1-6: the whole part"},
		{"@@ -1,2 +0,0 @@", "all of it", "gone old 1-2: all of it"},
		{"--- a comment in SQL", "not a header", "a.go old 21-21: not a header"},
		{"diff --git a/a.go b/a.go", "the file", "a.go  0-0: the file"},
		{"+++ b/a.go", "the file", "a.go  0-0: the file"},
		{"similarity index 90%", "renamed", "new é.txt  0-0: renamed"},
		{"-last", "was", "old name.txt old 7-7: was"},
		{"+final", "is", "new é.txt new 7-7: is"},
		{"-two", "^2 both gone", "gone old 1-2: both gone"},
		{"deleted file mode 100644", "good", "gone  0-0: good"},
		{"Binary files /dev/null and b/pic.png differ", "large", "pic.png  0-0: large"},
		{"+new one", "\n\nfirst\n\n- a\n+ b\n  code\n\n", "a.go new 3-3: first\n\n- a\n+ b\n  code"},
		{"+new one", "# not help here\n#! nor this", "a.go new 3-3: # not help here\n#! nor this"},
		{"+new one", "^ and ^x are text", "a.go new 3-3: ^ and ^x are text"},
		{"+new one", "a\n+new two", "a.go new 3-3: a\n+new two"},
	} {
		for _, mangle := range []func(string) string{func(s string) string { return s }, withCRLF, withoutBlanks} {
			got, err := e.Parse(mangle(below(t, e.text, test.line, test.added)))
			if err != nil || len(got.Comments) != 1 || got.Comments[0].String() != test.want || got.Message != "" {
				t.Errorf("below %q: %v, %v; want %s", test.line, got.Comments, err, test.want)
			}
		}
	}
}

func withCRLF(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

// withoutBlanks removes blanks at line ends, as some editors do when they save a file.
func withoutBlanks(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Join(lines, "\n")
}

func TestTop(t *testing.T) {
	e := newText([]byte(editPatch), []string{"a note\nof two lines"})
	top := func(text string) string { return strings.Replace(e.text, "verdict: comment\n", text, 1) }
	for name, test := range map[string]struct {
		text string
		want Written
	}{
		"unchanged":      {e.text, Written{Decision: record.CommentOnly}},
		"empty":          {"", Written{Decision: record.CommentOnly}},
		"emptied":        {"\n \n" + editHelp, Written{Decision: record.CommentOnly}},
		"approved":       {top("verdict: approve\n"), Written{Decision: record.Approve}},
		"in other words": {top("Verdict:  Request-Changes \r\n"), Written{Decision: record.RequestChanges}},
		"a message": {top("verdict: approve\n\nGood.\n\n  # Heading\nverdict would be a word\n"),
			Written{Decision: record.Approve, Message: "Good.\n\n  # Heading\nverdict would be a word"}},
		"no verdict":        {top("Hm.\n"), Written{Decision: record.CommentOnly, Message: "Hm."}},
		"text before it":    {top("Hm.\nverdict: approve\n"), Written{Decision: record.Approve, Message: "Hm."}},
		"an empty verdict":  {top("verdict:\n"), Written{Decision: record.CommentOnly}},
		"no help any more":  {"verdict: approve\n" + editPatch, Written{Decision: record.Approve}},
		"a byte order mark": {"\uFEFF" + top("verdict: approve\n"), Written{Decision: record.Approve}},
	} {
		got, err := e.Parse(test.text)
		if err != nil || got.Decision != test.want.Decision || got.Message != test.want.Message || len(got.Comments) > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRefuses(t *testing.T) {
	e := newText([]byte("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"), nil)
	top := strings.Count(e.text, "\n") - 8
	for name, test := range map[string]struct {
		from, to string
		line     int
		why      string
	}{
		"a changed line":     {"+2\n", "+3\n", top + 7, `this one was "+2"`},
		"a line taken away":  {"-two\n", "", top + 6, `this one was "-two"`},
		"lines exchanged":    {"-two\n+2\n", "+2\n-two\n", top + 8, `this one was "+2"`},
		"the end taken away": {" three\n", "", top + 8, `this one was " three"`},
		"the diff taken away": {"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
			"Good.\n", 1, `this one was "diff --git a/a b/a"`},
		"a line doubled":        {"-two\n", "-two\n-two\n", top + 6, "must not begin like one"},
		"a line made up":        {"+2\n", "+2\n+2.5\n", top + 8, "must not begin like one"},
		"a comment set off":     {"+2\n", "+2\n\n  indented\n", top + 9, "must not begin like one"},
		"too many lines above":  {"+2\n", "+2\n^3 these\n", top + 8, "there are fewer than 3 lines of one side above it"},
		"lines above a heading": {"--- a/a\n", "--- a/a\n^2 these\n", top + 3, "there are fewer than 2 lines"},
		"lines above, no words": {"+2\n", "+2\n^1 \n", top + 8, "is empty"},
		"an unknown verdict":    {"verdict: comment", "verdict: maybe", 1, `unknown verdict "maybe"`},
		"two verdicts":          {"verdict: comment\n", "verdict: comment\nverdict: approve\n", 2, "already a verdict above"},
	} {
		text := strings.Replace(e.text, test.from, test.to, 1)
		if text == e.text {
			t.Fatalf("%s: nothing replaced", name)
		}
		got, err := e.Parse(text)
		var at *lineError
		if !errors.As(err, &at) || at.Line != test.line || !strings.Contains(at.Why, test.why) {
			t.Errorf("%s: %+v, %v; want line %d", name, got, err, test.line)
		}
	}
}

// FuzzParse: no text is lost. The result consists of the diff, the help, one verdict, and all other text in its
// order.
func FuzzParse(f *testing.F) {
	e := newText([]byte(editPatch), nil)
	f.Add(e.text)
	f.Add(withCRLF(below(f, e.text, "+new two", "^2 both\n\n- x")))
	f.Add("verdict: approve\nGood.\n" + withoutBlanks(editPatch))
	f.Add(below(f, e.text, "@@ -1,2 +0,0 @@", "a\n"+editPatch))
	f.Fuzz(func(t *testing.T, saved string) {
		got, err := e.Parse(saved)
		if err != nil {
			var at *lineError
			if !errors.As(err, &at) || at.Line < 1 || at.Line > strings.Count(saved, "\n")+2 {
				t.Fatalf("%v in %q", err, saved)
			}
			return
		}
		if lost, madeUp := e.lost(saved, got); lost != "" || madeUp != "" {
			t.Fatalf("lost %q, made up %q in %q: %+v", lost, madeUp, saved, got)
		}
	})
}

// lost returns a line that was written and is missing in the result, and a line of the result that was not written.
func (e Text) lost(saved string, got Written) (lost, madeUp string) {
	known := map[string]int{}
	count := func(text string) {
		for _, line := range strings.Split(text, "\n") {
			known[strings.TrimRight(line, " \t\r")]++
		}
	}
	count(got.Message)
	for _, c := range got.Comments {
		count(c.Text)
	}
	if strings.Contains(saved, "diff --git") { // otherwise the file was emptied
		count(strings.Join(e.patch, "\n"))
	}
	for _, line := range strings.Split(strings.TrimPrefix(saved, "\uFEFF"), "\n") {
		line = strings.TrimRight(line, " \t\r")
		_, verdict := cutVerdict(line)
		_, text, upwards := cutUpwards(line)
		switch text = strings.TrimRight(text, " \t\r"); {
		case isBlank(line) || known[line] > 0:
			known[line]--
		case upwards && known[text] > 0:
			known[text]--
		case !verdict && !strings.HasPrefix(line, helpMark):
			lost = line
		}
	}
	for line, n := range known {
		if n > 0 && !isBlank(line) {
			madeUp = line
		}
	}
	return lost, madeUp
}
