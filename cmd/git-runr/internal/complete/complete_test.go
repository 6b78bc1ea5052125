package complete

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"
)

func testApp() *cli.Command {
	return &cli.Command{
		Flags: []cli.Flag{&cli.StringFlag{Name: "C", Usage: "in `DIR`"}, &cli.BoolFlag{Name: "json"}},
		Commands: []*cli.Command{
			{Name: "inbox", Usage: "reviews", Commands: []*cli.Command{
				{Name: "claim", ArgsUsage: "ID… | --all",
					Flags: []cli.Flag{&cli.StringFlag{Name: "as", Usage: "an `ACTOR`"}, &cli.StringFlag{Name: "old", Hidden: true}}},
				{Name: "answer", ArgsUsage: "ID FINDING fixed|gone"},
			}},
			{Name: "diff", ArgsUsage: "[RUN] [N..M] [-- PATH…]"},
			{Name: "internal", Hidden: true},
		},
	}
}

func TestOf(t *testing.T) {
	for line, want := range map[string]string{
		"":                        "inbox diff",
		"in":                      "inbox diff",
		"--":                      "-C --json --help -h",
		"-C ":                     "<DIR>",
		"-C x diff ":              "<RUN>",
		"diff a ":                 "<N..M>",
		"diff a b ":               "",
		"diff -- ":                "<PATH>",
		"diff a -- b ":            "<PATH>",
		"inbox ":                  "claim answer",
		"inbox claim ":            "<ID>",
		"inbox claim a b ":        "<ID>",
		"inbox claim --as ":       "<ACTOR>",
		"inbox claim --as=":       "<ACTOR>",
		"inbox claim --as x ":     "<ID>",
		"inbox claim --json ":     "<ID>",
		"inbox claim -":           "--as --help -h -C --json",
		"inbox answer a ":         "<FINDING>",
		"inbox answer a b ":       "fixed gone",
		"inbox answer a b fixed ": "",
		"unknown ":                "",
	} {
		got := Of(testApp(), strings.Split(line, " "))
		var words []string
		for _, w := range got.Words {
			words = append(words, w.Value)
		}
		for _, kind := range got.Kinds {
			words = append(words, "<"+kind+">")
		}
		if joined := strings.Join(words, " "); joined != want {
			t.Errorf("%q: %q, want %q", line, joined, want)
		}
	}
	got := Of(testApp(), []string{"-C", "x", "inbox", "claim", "--as=a,b"})
	if got.Dir != "x" || got.Before != "--as=a," || got.Current != "b" ||
		!slices.Equal(got.Path, []string{"inbox", "claim"}) {
		t.Errorf("%+v", got)
	}
}

func FuzzOf(f *testing.F) {
	f.Add("inbox\x00claim\x00--as=\x00-")
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, "\x00")
		got := Of(testApp(), words)
		if last := words[len(words)-1]; got.Before+got.Current != last {
			t.Errorf("%q: %q and %q", last, got.Before, got.Current)
		}
	})
}
