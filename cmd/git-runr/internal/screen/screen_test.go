package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
)

// shown returns what write prints on w.
func shown(t *testing.T, w *Writer, write func(w *Writer)) string {
	t.Helper()
	var b strings.Builder
	w.Out = &b
	write(w)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFit(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"short", "a line that fits", "a line that fits"},
		{"plain", "the words of a line are never broken", "the words of a line\n  are never broken"},
		{"one too many", "the words of a line a", "the words of a line\n  a"},
		{"as many", "the words of a lines", "the words of a lines"},
		{"columns", "name  says more than there is", "name  says more than\n      there is"},
		{"far column", "a longer name  says more", "a longer name  says\n  more"},
		{"block", "    what somebody else wrote", "    what somebody\n    else wrote"},
		{"list", " 12. say more than fits", " 12. say more than\n     fits"},
		{"item", "- say more than what fits", "- say more than what\n  fits"},
		{"long word", "see /a/path/that/is/longer/than/all for it", "see\n  /a/path/that/is/longer/than/all\n  for it"},
		{"wide", "見: 長い行を読むときの境界を調べる", "見: 長い行を読むとき\n  の境界を調べる"},
		{"marks", strings.Repeat("e\u0301", 10) + " " + strings.Repeat("e\u0301", 9),
			strings.Repeat("e\u0301", 10) + " " + strings.Repeat("e\u0301", 9)},
		{"command", "  git runr intervene abcdef --note \"x y\"",
			"  git runr \\\n    intervene \\\n    abcdef --note \\\n    \"x y\""},
		{"command with words", "  git runr undo   takes it back", "  git runr undo\n    takes it back"},
		{"colours", "\x1b[1;31mthe words of a line\x1b[m", "\x1b[1;31mthe words of a line\x1b[m"},
	} {
		got := shown(t, &Writer{Columns: 20}, func(w *Writer) { w.Write([]byte(test.in + "\n")) })
		if got != test.want+"\n" {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add("  warning   a.go:1  what is  so\n", 30)
	f.Add("  git runr x --note \"漢字 漢字\"", 9)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		columns = 1 + (columns&0x7f+0x7f)%0x7f
		text = safetext.Text(text)
		got := shown(t, &Writer{Columns: columns}, func(w *Writer) { w.Write([]byte(text)) })
		bare := func(s string) string { return strings.NewReplacer(" ", "", "\t", "", "\n", "", `\`, "").Replace(s) }
		if bare(got) != bare(text) {
			t.Errorf("%q became %q", text, got)
		}
		for line := range strings.Lines(got) {
			line = strings.TrimRight(line, "\n")
			pieces := 0
			for _, word := range strings.Fields(line) {
				pieces += len(prose.Pieces(word))
			}
			// arguments of commands stay whole
			if prose.Columns(line) > columns && pieces > 1 && !strings.Contains(text, "git ") {
				t.Errorf("%q is wider than %d", line, columns)
			}
		}
	})
}

func TestShortIDs(t *testing.T) {
	short := func(ids []string) map[string]string {
		known := map[string]string{}
		for _, id := range ids {
			if id != "20260102030405-zzzzzz" { // another id has the same ending
				known[id] = Suffix(id)
			}
		}
		return known
	}
	const in = "Run 20260102030405-abcdef (20260102030406-ghijkm).\n" +
		"  git runr show 20260102030405-abcdef\n" +
		"\x1b[33m20260102030405-abcdef\x1b[m, 20260102030405-zzzzzz\n" +
		"at /x/20260102030405-abcdef on runr/20260102030405-abcdef 20260102030405-abcdef.txt 120260102030405-abcdef " +
		"20260102030405-abcdefg\n"
	const want = "Run abcdef (ghijkm).\n" +
		"  git runr show abcdef\n" +
		"\x1b[33mabcdef\x1b[m, 20260102030405-zzzzzz\n" +
		"at /x/20260102030405-abcdef on runr/20260102030405-abcdef 20260102030405-abcdef.txt 120260102030405-abcdef " +
		"20260102030405-abcdefg\n"
	if got := shown(t, &Writer{Short: short}, func(w *Writer) { w.Write([]byte(in)) }); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := shown(t, &Writer{}, func(w *Writer) { w.Write([]byte(in)) }); got != in {
		t.Errorf("a pipe got %s", got)
	}
}

func TestPaint(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	all := []any{reply.Critical, reply.Warning, reply.PassWithNotes, record.RunStopped, record.ReviewOpen,
		Strong.Of("x\x1b[2J"), "critical",
		Time(now.Add(-3 * time.Hour)), Place{"a.go", 1, "a.go:1"}}
	text := func(w *Writer) {
		for _, arg := range all {
			safetext.Fprintf(w, "%s|", arg)
		}
	}
	want := "\x1b[1;31mcritical\x1b[m|\x1b[33mwarning\x1b[m|\x1b[32mPASS_WITH_NOTES\x1b[m|\x1b[1;31mstopped\x1b[m|" +
		"\x1b[36mopen\x1b[m|" +
		"\x1b[1mx\\x1b[2J\x1b[m|critical|" +
		"2026-01-02 00:04Z (3h ago)|\x1b]8;;file:///a.go\x1b\\a.go:1\x1b]8;;\x1b\\|"
	if got := shown(t, &Writer{Colours: true, Address: func(p Place) string { return "file:///" + p.File }, Now: now},
		text); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	want = `critical|warning|PASS_WITH_NOTES|stopped|open|x\x1b[2J|critical|2026-01-02 00:04Z|a.go:1|`
	if got := shown(t, &Writer{}, text); got != want {
		t.Errorf("a pipe got %q", got)
	}
}

func TestColours(t *testing.T) {
	for _, test := range []struct {
		name     string
		flag     string
		set      string // NAME=VALUE…, in the environment and the configuration
		terminal bool
		want     bool
	}{
		{"a terminal", "", "", true, true},
		{"a pipe", "", "", false, false},
		{"dumb", "", "TERM=dumb", true, false},
		{"NO_COLOR", "", "NO_COLOR=1", true, false},
		{"NO_COLOR of nothing", "", "NO_COLOR=", true, true},
		{"forced", "", "CLICOLOR_FORCE=1", false, true},
		{"forced by 0", "", "CLICOLOR_FORCE=0", false, false},
		{"NO_COLOR and forced", "", "NO_COLOR=1 CLICOLOR_FORCE=1", false, false},
		{"the flag is stronger", "always", "NO_COLOR=1", false, true},
		{"never", "never", "CLICOLOR_FORCE=1 color.ui=always", true, false},
		{"auto", "auto", "color.ui=always", false, false},
		{"color.ui", "", "color.ui=always", false, true},
		{"color.ui false", "", "color.ui=false", true, false},
		{"color.ui true", "", "color.ui=true", false, false},
		{"color.runr is stronger", "", "color.ui=always color.runr=never", true, false},
		{"variables are stronger", "", "color.ui=always NO_COLOR=1", true, false},
	} {
		set := map[string]string{}
		for _, kv := range strings.Fields(test.set) {
			k, v, _ := strings.Cut(kv, "=")
			set[k] = v
		}
		get := func(key string) string { return set[key] }
		if got := (Wish{test.flag, get, get}).Colours(test.terminal); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

func TestLinks(t *testing.T) {
	for _, test := range []struct {
		set  string
		want bool
	}{
		{"TERM=xterm-256color", false}, {"TERM=xterm-kitty", true}, {"VTE_VERSION=7200", true}, {"VTE_VERSION=4200", false},
		{"TERM_PROGRAM=vscode", true}, {"TERM_PROGRAM=vscode TMUX=x", false}, {"FORCE_HYPERLINK=1 TMUX=x", true},
		{"FORCE_HYPERLINK=0 WT_SESSION=x", false}, {"TERM=foot SSH_CONNECTION=x", false},
	} {
		set := map[string]string{}
		for _, kv := range strings.Fields(test.set) {
			k, v, _ := strings.Cut(kv, "=")
			set[k] = v
		}
		if got := Links(func(key string) string { return set[key] }); got != test.want {
			t.Errorf("%s: %t", test.set, got)
		}
	}
	none := func(string) string { return "" }
	if got := FileLink(none, "box", "/a b/é.go", 7); got != "file://box/a%20b/%C3%A9.go" {
		t.Error(got)
	}
	if got := FileLink(func(string) string { return "vscode" }, "box", "/a.go", 7); got != "vscode://file/a.go:7" {
		t.Error(got)
	}
}

func TestCode(t *testing.T) {
	files := map[string]string{
		"a.go":   "func a() {\n\tif b {\r\n\n\t\tc(\"\x1b[2J and what else makes this line a long one to show\")\n\t}\n}\n",
		"binary": "a\x00b\n",
	}
	file := func(tree gitstore.ID, path string) []byte {
		if tree != "1234" {
			return nil
		}
		return []byte(files[path])
	}
	for _, test := range []struct {
		path    string
		line    int
		columns int
		want    string
	}{
		{"a.go", 2, 80, "              1 | func a() {\n            > 2 |     if b {\n              3 | \n"},
		{"a.go", 4, 40, "      3 | \n    > 4 |         c(\"\\x1b[2J and what e…\n      5 |     }\n"},
		{"a.go", 5, 80,
			"              4 |         c(\"\\x1b[2J and what else makes this line a long one t…\n            > 5 |     }\n" +
				"              6 | }\n"},
		{"a.go", 6, 80, "              5 |     }\n            > 6 | }\n"},
		{"a.go", 7, 80, ""}, {"a.go", 0, 80, ""}, {"a.go", 2, 0, ""}, {"binary", 1, 80, ""}, {"none", 1, 80, ""},
		{"", 1, 80, ""},
	} {
		got := shown(t, &Writer{Columns: test.columns, File: file}, func(w *Writer) { Code(w, "1234", test.path, test.line) })
		if got != test.want {
			t.Errorf("%s:%d at %d columns:\n%swant\n%s", test.path, test.line, test.columns, got, test.want)
		}
	}
	var pipe strings.Builder
	if Code(&pipe, "1234", "a.go", 2); pipe.Len() > 0 {
		t.Errorf("a pipe got %q", pipe.String())
	}
}

// TestDiff: a line has git's colours. If it contains characters that affect a terminal, they are shown instead.
func TestDiff(t *testing.T) {
	plain := "@@ -1 +1 @@\n+a\tb\r\n+\x1b[2J\r\n+\u202e\n"
	coloured := "\x1b[36m@@ -1 +1 @@\x1b[m\n\x1b[32m+a\tb\x1b[m\r\n\x1b[32m+\x1b[2J\x1b[m\r\n\x1b[32m+\u202e\x1b[m\n"
	want := "\x1b[36m@@ -1 +1 @@\x1b[m\n\x1b[32m+a\tb\x1b[m\r\n+\\x1b[2J\n+\\u{202e}\n"
	if got := Diff(plain, coloured); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Diff(plain, "more\n"+coloured); got != "@@ -1 +1 @@\n+a\tb\n+\\x1b[2J\n+\\u{202e}\n" {
		t.Errorf("other lines: %q", got)
	}
}

// TestDocument: headings, verdicts and counted severities of a report are highlighted, and nothing else is changed.
func TestDocument(t *testing.T) {
	text := "Timeline\n  round 1: NEEDS_FIX, 1 warning (72ms)\n  critical a.go:1 a PASS that is\tno\x1b[31m \n" +
		"  0 critical, a warning (unmet: x)\n  Actions:\n    1. x  # was: 3 errors\n"
	var plain strings.Builder
	Document(&plain, text)
	if want := safetext.Text(text); plain.String() != want {
		t.Errorf("into a pipe:\n%q, want\n%q", plain.String(), want)
	}
	got := shown(t, &Writer{Columns: 80, Colours: true}, func(w *Writer) { Document(w, text) })
	for _, want := range []string{
		"\x1b[1mTimeline\x1b[m\n", ": \x1b[33mNEEDS_FIX\x1b[m, 1 \x1b[33mwarning\x1b[m (72ms)\n",
		"\x1b[1;31mcritical\x1b[m a.go:1 a \x1b[32mPASS\x1b[m that",
		"  0 critical, a warning (\x1b[33munmet\x1b[m: x)\n", "\x1b[1m  Actions:\x1b[m\n", "\x1b[2m  # was: 3 errors\x1b[m\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%q", want, got)
		}
	}
}
