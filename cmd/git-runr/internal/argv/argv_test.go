package argv

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
)

// seen is what a command received.
type seen struct {
	command string
	args    []string
	flags   map[string]any
}

// sampleApp has the same kinds of commands and flags as the program: global flags, commands with and without
// subcommands, flags with values, aliases and lists.
func sampleApp(got *seen) *cli.Command {
	record := func(_ context.Context, c *cli.Command) error {
		*got = seen{command: c.Name, args: c.Args().Slice(), flags: map[string]any{}}
		for _, name := range []string{"json", "quiet", "wait", "staged"} {
			if c.Bool(name) {
				got.flags[name] = true
			}
		}
		for _, name := range []string{"C", "message", "as", "max-retries"} {
			if c.IsSet(name) {
				got.flags[name] = c.Value(name)
			}
		}
		if list := c.StringSlice("check"); len(list) > 0 {
			got.flags["check"] = list
		}
		return nil
	}
	str := func(name string, alias ...string) cli.Flag { return &cli.StringFlag{Name: name, Aliases: alias} }
	boolean := func(name string, alias ...string) cli.Flag { return &cli.BoolFlag{Name: name, Aliases: alias} }
	review := &cli.Command{Name: "review", Aliases: []string{"rv"}, ArgsUsage: "[REV] [-- PATH…]", HideHelpCommand: true,
		Action: record, Flags: []cli.Flag{
			str("message", "m"), boolean("wait"), boolean("staged"),
			&cli.IntFlag{Name: "max-retries"}, &cli.StringSliceFlag{Name: "check"},
		}}
	inbox := &cli.Command{Name: "inbox", Action: record, Commands: []*cli.Command{
		{Name: "list", HideHelpCommand: true, Action: record},
		{Name: "claim", HideHelpCommand: true, Action: record, Flags: []cli.Flag{str("as")}},
	}}
	return &cli.Command{
		Name: "git-runr", Action: record, Writer: io.Discard, ErrWriter: io.Discard,
		ExitErrHandler: func(context.Context, *cli.Command, error) {}, HideVersion: true,
		Flags:    []cli.Flag{str("C"), boolean("json"), boolean("quiet", "q")},
		Commands: []*cli.Command{review, inbox},
	}
}

func TestPermuteArgs(t *testing.T) {
	tests := []struct {
		name, in, want string // words separated by spaces
	}{
		{"nothing", "", ""},
		{"command only", "inbox list", "inbox list"},
		{"flags after the argument", "review HEAD --wait -m x", "review --wait -m x -- HEAD"},
		{"flags on both sides", "review --wait HEAD -m=x", "review --wait -m=x -- HEAD"},
		{"one dash is two", "review HEAD -wait", "review -wait -- HEAD"},
		{"global flag at the end", "inbox claim r1 --as ann --json", "--json inbox claim --as ann -- r1"},
		{"global flag with value anywhere", "review HEAD -C dir", "-C dir review -- HEAD"},
		{"global flag between", "inbox -q list", "-q inbox list"},
		{"alias", "rv HEAD --wait", "rv --wait -- HEAD"},
		{"negative value", "review --max-retries -1 HEAD", "review --max-retries -1 -- HEAD"},
		{"value that looks like a flag", "review HEAD -m --wait", "review -m --wait -- HEAD"},
		{"value that is a double dash", "review -m -- HEAD", "review -m -- -- HEAD"},
		{"list keeps its order", "review --check b HEAD --check a", "review --check b --check a -- HEAD"},
		{"paths after a double dash", "review HEAD --wait -- --staged a", "review --wait -- HEAD -- --staged a"},
		{"double dash first", "review -- --wait", "review -- -- --wait"},
		{"lone dash", "review - --wait", "review --wait -- -"},
		{"empty argument", "review \"\" --wait", "review --wait -- \"\""},
		{"command name as an argument", "review inbox --wait", "review --wait -- inbox"},
		{"unknown command", "revew --json x", "--json -- revew x"},
		{"help", "review HEAD --json -h", "review -h"},
		{"help on a subcommand", "review -h HEAD --help", "review -h"},
		{"help on nothing", "revew -h x", "-- revew x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Permute(sampleApp(new(seen)), words(tt.in))
			if err != nil || !slices.Equal(got, words(tt.want)) {
				t.Errorf("got %q, %v, want %q", got, err, words(tt.want))
			}
		})
	}
}

// words splits a line at spaces and puts the program's name first.
func words(line string) []string {
	out := append([]string{"git-runr"}, strings.Fields(line)...)
	for i, w := range out {
		out[i] = strings.ReplaceAll(w, `""`, "")
	}
	return out
}

func TestPermuteArgsErrors(t *testing.T) {
	tests := []struct{ in, msg, hint string }{
		{"review HEAD --wiat", `unknown flag "--wiat"; did you mean "--wait"?`, "git runr review -h"},
		{"review HEAD --jsn", `unknown flag "--jsn"; did you mean "--json"?`, "git runr review -h"},
		{"inbox claim r1 --token=secret", `unknown flag "--token"`, "git runr inbox claim -h"},
		{"--wait review", `unknown flag "--wait"`, "git runr -h"},
		{"review -qm x", `unknown flag "-qm"; write "-q -m"`, "git runr review -h"},
		{"review HEAD -m", `flag "-m" needs a value`, "git runr review -h"},
		{"review --=x", `unknown flag "--"`, "git runr review -h"},
		{"review ---wait", `unknown flag "---wait"; did you mean "--wait"?`, "git runr review -h"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			_, err := Permute(sampleApp(new(seen)), words(tt.in))
			var p *exit.Problem
			if !errors.As(err, &p) || p.Status != exit.Usage || p.Msg != tt.msg || !slices.Equal(p.Hint, []string{tt.hint}) {
				t.Errorf("got %+v, want status 2, %q, hint %q", err, tt.msg, tt.hint)
			}
		})
	}
}

func TestPermutedArgsReachTheCommand(t *testing.T) {
	var got seen
	app := sampleApp(&got)
	args, err := Permute(app, words("review HEAD --wait -m x --json --max-retries -1 -- a --staged"))
	if err == nil {
		err = app.Run(t.Context(), args)
	}
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"HEAD", "--", "a", "--staged"}; got.command != "review" || !slices.Equal(got.args, want) {
		t.Errorf("command %q got arguments %q, want %q", got.command, got.args, want)
	}
	for name, want := range map[string]any{"wait": true, "json": true, "message": "x", "max-retries": -1} {
		if got.flags[name] != want {
			t.Errorf("flag %s is %v, want %v", name, got.flags[name], want)
		}
	}
	if got.flags["staged"] != nil {
		t.Error("a path after -- became a flag")
	}
}

func FuzzPermuteArgs(f *testing.F) {
	for _, s := range []string{"review HEAD --wait -m x", "inbox claim --as a r1 --json", "review -- -- a",
		"-C", "inbox -- list", "review - \"\" --check=a,b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		in := words(line)
		out, err := Permute(sampleApp(new(seen)), in)
		if err != nil {
			var p *exit.Problem
			if !errors.As(err, &p) || p.Status != exit.Usage {
				t.Errorf("%q: %v is not a usage problem", in, err)
			}
			return
		}
		if added := len(out) - len(in); added != 0 && added != 1 {
			t.Fatalf("%q became %q", in, out)
		}
		sortedIn, sortedOut := slices.Sorted(slices.Values(in)), slices.Sorted(slices.Values(out))
		if len(out) > len(in) {
			i, found := slices.BinarySearch(sortedOut, "--")
			if !found {
				t.Fatalf("%q became %q", in, out)
			}
			sortedOut = slices.Delete(sortedOut, i, i+1)
		}
		if !slices.Equal(sortedIn, sortedOut) {
			t.Errorf("tokens changed: %q became %q", in, out)
		}
		var got seen
		if sampleApp(&got).Run(t.Context(), out) == nil && !inOrder(got.args, in) {
			t.Errorf("arguments %q are not in the order of %q", got.args, in)
		}
	})
}

// inOrder reports whether part is a subsequence of whole.
func inOrder(part, whole []string) bool {
	for _, w := range whole {
		if len(part) > 0 && part[0] == w {
			part = part[1:]
		}
	}
	return len(part) == 0
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		usage, args string
		all         bool
		want        string
	}{
		{"", "", false, ""},
		{"", "a", false, `unexpected argument "a"`},
		{"RUN", "", false, "missing argument: RUN"},
		{"ID FINDING fixed|refuted", "1", false, "missing argument: FINDING fixed|refuted"},
		{"[RUN]", "a", false, ""},
		{"[RUN]", "a b", false, `unexpected argument "b"`},
		{"[KEY [VALUE]]", "a b", false, ""},
		{"[NAME…]", "a b c", false, ""},
		{"ID…", "", false, "missing argument: ID…"},
		{"ID… | --all", "a", true, `unexpected argument "a"`},
		{"ID… | --all", "", true, ""},
		{"ID FINDING… | ID --all", "a", true, ""},
		{"ID FINDING… | ID --all", "a", false, "missing argument: FINDING…"},
		{"[RUN] [N..M] [-- PATH…]", "a 1..2 -- x y z", false, ""},
		{"[RUN] [-- PATH…]", "a b -- x", false, `unexpected argument "b"; paths go after --`},
		{"ID [FILE[:LINE]]", "a -- b", false, `unexpected argument "b"`},
		{"ID [FILE[:LINE[-END]]]", "a b", false, ""},
	} {
		got := ""
		if err := Check(c.usage, strings.Fields(c.args), c.all); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("Check(%q, %q, %t): %q, want %q", c.usage, c.args, c.all, got, c.want)
		}
	}
	if Check("ID", []string{""}, false) == nil {
		t.Error("an empty argument was accepted")
	}
}
