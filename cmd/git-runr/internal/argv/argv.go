// Package argv sorts the arguments of a command line for urfave/cli, which expects flags before arguments, and checks
// them. It lets users type flags anywhere.
package argv

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/nearest"
)

// Permute reorders args, a command line that begins with the program, so that flags may be anywhere: cli stops at the
// first argument. It moves each flag before the arguments of the innermost command that has it, and adds a "--"
// before the arguments. A command therefore finds in Args exactly its arguments, in their order. The user's own "--"
// stays only if the command's usage has one. If help is requested, only the command and -h remain.
//
// Permute returns a usage problem for a flag that no command on the way has, or that lacks its value. A flag must
// follow the name of its command.
func Permute(app *cli.Command, args []string) ([]string, error) {
	if len(args) < 2 {
		return args, nil
	}
	p := permuter{path: Path{app}, names: args[:1:1], flags: [][]string{nil}, rest: slices.Clone(args[1:])}
	for len(p.rest) > 0 {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	return p.joined(), nil
}

// Path is the commands on the way from the program to the innermost subcommand; it is never empty.
type Path []*cli.Command

// Inner returns the innermost command.
func (p Path) Inner() *cli.Command { return p[len(p)-1] }

// Flag returns the flag called name that the innermost command with such a flag has, and the index of that command, or
// nil.
func (p Path) Flag(name string) (cli.Flag, int) {
	for at, c := range slices.Backward(p) {
		if f := findFlag(Known(c), name); f != nil {
			return f, at
		}
	}
	return nil, 0
}

// Known returns the flags of a command, with -h.
func Known(c *cli.Command) []cli.Flag { return append(slices.Clone(c.Flags), cli.HelpFlag) }

type permuter struct {
	path        Path
	names       []string   // of the commands in path, as typed
	flags       [][]string // flags found for each of them, with their values
	positionals []string
	rest        []string // not examined yet
	help        bool     // help is requested for the innermost command
}

// next consumes one argument, a flag with its value, or everything from "--" on.
func (p *permuter) next() error {
	token := p.rest[0]
	switch {
	case token == "--":
		p.positionals = append(p.positionals, p.rest...)
		p.rest = nil
	case len(token) > 1 && token[0] == '-': // a lone dash is an argument: it means standard input
		return p.takeFlag(token)
	case len(p.positionals) == 0 && p.descend(token):
		p.rest = p.rest[1:]
	default:
		p.positionals = append(p.positionals, token)
		p.rest = p.rest[1:]
	}
	return nil
}

func (p *permuter) descend(name string) bool {
	c := p.path.Inner().Command(name)
	if c != nil {
		p.path, p.names, p.flags = append(p.path, c), append(p.names, name), append(p.flags, nil)
	}
	return c != nil
}

func (p *permuter) takeFlag(token string) error {
	if n := count(token); n != "" && findFlag(p.path.Inner().Flags, "n") != nil {
		token = "-n=" + n
		p.rest[0] = token
	}
	name, _, inline := strings.Cut(flagName(token), "=")
	if flag, at := p.path.Flag(name); flag != nil {
		if slices.Contains(flag.Names(), "help") {
			p.help, p.rest = true, p.rest[1:]
			return nil
		}
		size := 1
		if !inline && TakesValue(flag) {
			size = 2
		}
		if len(p.rest) < size {
			return exit.Problemf(exit.Usage, "flag %q needs a value", token).WithHint(p.helpCommand())
		}
		p.flags[at] = append(p.flags[at], p.rest[:size]...)
		p.rest = p.rest[size:]
		return nil
	}
	typed := token[:len(token)-len(flagName(token))] + name // without its value, which may be a secret
	unknown := p.unknownFlag(typed)
	if !inline && strings.ContainsAny(token, "./") {
		unknown.WithHint("put arguments that are not flags after --: … -- " + token)
	}
	return unknown
}

// count returns N for -N and -nN, which git accepts for the newest N, and "" for anything else.
func count(token string) string {
	n := strings.TrimPrefix(token[1:], "n")
	if n == "" || strings.Trim(n, "0123456789") != "" {
		return ""
	}
	return n
}

func flagName(token string) string {
	return strings.TrimPrefix(strings.TrimPrefix(token, "-"), "-")
}

// findFlag returns the flag called name, or nil.
func findFlag(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

// TakesValue reports whether a flag needs a value.
func TakesValue(f cli.Flag) bool {
	documented, ok := f.(cli.DocGenerationFlag)
	return ok && documented.TakesValue()
}

func (p *permuter) unknownFlag(typed string) *exit.Problem {
	err := exit.Problemf(exit.Usage, "unknown flag %q", typed)
	if apart := p.separated(typed); apart != "" {
		err = exit.Problemf(exit.Usage, "unknown flag %q; write %q", typed, apart)
	} else if near := nearest.To(flagName(typed), p.flagNames()); near != "" {
		err = exit.Problemf(exit.Usage, "unknown flag %q; did you mean %q?", typed,
			strings.Repeat("-", min(len(near), 2))+near)
	}
	return err.WithHint(p.helpCommand())
}

// separated returns joined short flags, such as "-qm", one by one, or "" if typed is anything else.
func (p *permuter) separated(typed string) string {
	if strings.HasPrefix(typed, "--") || len(typed) < 3 {
		return ""
	}
	known := p.flagNames()
	var flags []string
	for _, letter := range typed[1:] {
		if !slices.Contains(known, string(letter)) {
			return ""
		}
		flags = append(flags, "-"+string(letter))
	}
	return strings.Join(flags, " ")
}

// flagNames returns the flags known so far, innermost command first.
func (p *permuter) flagNames() []string {
	var names []string
	for _, c := range slices.Backward(p.path) {
		for _, f := range Known(c) {
			names = append(names, f.Names()...)
		}
	}
	return names
}

// helpCommand returns the command line for help. It uses -h, because git handles --help itself and looks for a manual
// page.
func (p *permuter) helpCommand() string {
	return strings.Join(slices.Concat([]string{"git runr"}, p.names[1:], []string{"-h"}), " ")
}

func (p *permuter) joined() (out []string) {
	for i, name := range p.names {
		out = append(out, name)
		if !p.help {
			out = append(out, p.flags[i]...)
		}
	}
	if p.help && (len(p.path) > 1 || len(p.positionals) == 0) { // otherwise the command is unknown
		return append(out, "-h")
	}
	if at := slices.Index(p.positionals, "--"); at >= 0 && !strings.Contains(p.path.Inner().ArgsUsage, "-- ") {
		p.positionals = slices.Delete(p.positionals, at, at+1)
	}
	if len(p.positionals) > 0 {
		out = append(out, "--")
	}
	return append(out, p.positionals...)
}

// SplitPaths splits arguments at the user's own "--", or a result of Permute at the "--" that ends its flags.
func SplitPaths(args []string) (before, after []string) {
	if at := slices.Index(args, "--"); at >= 0 {
		return args[:at], args[at+1:]
	}
	return args, nil
}

// Check returns an error if args do not match the usage of a command. A word in usage is required unless it is in
// brackets, and may be repeated if it ends with …. Of alternatives separated by " | ", all selects the one with
// --all. Paths after "--" are not counted.
func Check(usage string, args []string, all bool) error {
	for form := range strings.SplitSeq(usage, " | ") {
		if strings.Contains(form, "--all") == all {
			usage = form
			break
		}
	}
	words, many, least := strings.Fields(usage), false, 0
	if at := slices.IndexFunc(words, func(word string) bool { return strings.Contains(word, "--") }); at >= 0 {
		words = words[:at]
	}
	for _, word := range words {
		many = many || strings.HasSuffix(strings.TrimRight(word, "]"), "…")
		if word[0] != '[' {
			least++
		}
	}
	given, paths := args, ""
	if strings.Contains(usage, "-- ") {
		given, _ = SplitPaths(args)
		paths = "; paths go after --"
	}
	switch {
	case slices.Contains(given, ""):
		return exit.Problemf(exit.Usage, "an argument is empty")
	case len(given) < least:
		missing := words[len(given):least]
		return exit.Problemf(exit.Usage, "missing argument: %s", strings.Join(missing, " "))
	case len(given) > len(words) && !many:
		return exit.Problemf(exit.Usage, "unexpected argument %q%s", given[len(words)], paths)
	}
	return nil
}
