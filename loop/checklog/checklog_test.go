package checklog

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/internal/casetest"
	"github.com/git-runr/git-runr/loop/safetext"
)

// saidCase returns the arguments of Said for a case. The case's output has ␛ for ESC.
func saidCase(t testing.TB, c casetest.Case) (command, output string, exit int) {
	exit, err := strconv.Atoi(strings.TrimSpace(c.File("exit")))
	if err != nil {
		t.Fatalf("%s: %v", c.Path, err)
	}
	output = strings.ReplaceAll(c.File("output"), "␛", "\x1b")
	if strings.Contains(c.File("options"), "crlf") {
		output = strings.ReplaceAll(output, "\n", "\r\n")
	}
	return strings.TrimSpace(c.File("command")), output, exit
}

func TestSaidCases(t *testing.T) {
	casetest.Run(t, "said", func(t *testing.T, c casetest.Case) {
		command, output, exit := saidCase(t, c)
		want := strings.TrimSpace(c.File("want"))
		if got := Said(command, output, exit); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := Said(command, strings.ReplaceAll(output, "\n", "\x1b[0m\r\n"), exit); got != want {
			t.Errorf("coloured, with CRLF: got %q, want %q", got, want)
		}
	})
}

func TestWithoutEscapes(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                "plain",
		"\x1b[1;31mred\x1b[0m": "red",
		"\x1b[2K\x1b[1Gagain":  "again",
		"\x1b]0;title\aa":      "a",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1b]0;never ends\nnext":                  "\nnext",
		"\x1b[31\nnext":                            "\nnext",
		"a\x1b":                                    "a",
		"a\x1bcb":                                  "ab",
		"\x1b\x1b[1mb":                             "b",
	} {
		if got := withoutEscapes(in); got != want {
			t.Errorf("withoutEscapes(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzSaid(f *testing.F) {
	for _, c := range casetest.Read(f, "said") {
		command, output, exit := saidCase(f, c)
		f.Add(command, output, exit)
	}
	f.Fuzz(func(t *testing.T, command, output string, exit int) {
		said := Said(command, output, exit)
		if utf8.RuneCountInString(said) > maxSaid || safetext.Line(said) != said {
			t.Fatalf("%q", said)
		}
		if exit != 0 && (strings.HasPrefix(said, "0 ") || strings.Contains(said, " 0 ")) {
			t.Fatalf("failed, and %q", said)
		}
		if again := Said(command, output, exit); again != said {
			t.Fatalf("%q, then %q", said, again)
		}
		for word := range strings.FieldsFuncSeq(said, func(r rune) bool {
			return strings.ContainsRune(" ,.%0123456789", r)
		}) {
			if !slices.Contains(saidWords, word) {
				t.Fatalf("%q is no word of ours: %q", word, said)
			}
		}
	})
}

var saidWords = strings.Fields(
	`of test tests file files failed error errors warning warnings problem problems issue issues offense offenses
	package packages build not formatted need to at least`)
